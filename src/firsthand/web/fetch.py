"""From an address to a page: judge, ask robots, wait for our turn, exchange, follow, judge what came.

Redirects are a loop here, and every hop goes through the gate again. Nothing but a whole page of a type that can be
read, with words of its own, is returned; everything else raises with one outcome and a finer code. A page that is kept
is asked for only if it changed; a server that says it did not (304) gives the kept page again.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from firsthand.errors import AddressRefused, FetchFailed
from firsthand.values import HttpRequest, HttpResponse, Page
from firsthand.web import reply
from firsthand.web.address import Policy, Target, follow, host_port_pairs, judge
from firsthand.web.client import Client, Reading
from firsthand.web.conditional import NOT_MODIFIED, conditions, freshened, validator_of
from firsthand.web.limits import (
    LIMITS,
    MAX_REDIRECTS,
    MAX_RETRIES,
    PATIENCE_S,
    RETRY_DEFAULT_S,
    ROBOTS_BYTES,
    Limits,
)
from firsthand.web.pace import Ceiling, Pacer
from firsthand.web.robots import Robots

if TYPE_CHECKING:
    from firsthand.web.gate import Admitted, Gate

ERROR_PAGE_BYTES = 65_536  # enough to recognise a wall
HOLD_MAX_S = 300.0  # a host's Retry-After parks it no longer than this; source: the hostile corpus, row r067
HOLD_DEFAULT_S = 60.0  # guess: how long a host that said 429 twice, and not until when, is left alone
ROBOTS_TOTAL_S = 10.0  # guess: a site that takes longer for its robots file, all its redirects together, cannot say

Kept = Callable[[str], Awaitable[Page | None]]
"""The newest page that is kept of an address, as a fetch brought it; None if there is none."""


RENDERED_HEADER = "firsthand-rendered"  # of a page that is not as it came; what made it, and how
Load = Callable[[str, Mapping[str, str]], Awaitable[HttpResponse]]
"""Bring one address with these request headers, through the gate, redirects followed."""


class Renderer(Protocol):
    """Runs the scripts of a page that is empty without them (``web.browser``)."""

    async def render(self, shell: HttpResponse, load: Load) -> HttpResponse:
        """What *shell* is when its scripts have run; *load* brings all that they ask for. Raises: FetchFailed."""
        ...

    async def aclose(self) -> None:
        """End the browser."""
        ...


class Transport(Protocol):
    """What a fetch needs of a client: the gate, and one exchange with an admitted target."""

    gate: Gate
    limits: Limits
    user_agent: str

    async def exchange(
        self, admitted: Admitted, request: HttpRequest, *, total_s: float | None = None, reading: Reading = ...
    ) -> HttpResponse:
        """Send *request* to an address of *admitted*; what came back, or FetchFailed."""
        ...

    async def aclose(self) -> None:
        """Let go of everything open."""
        ...


@dataclass(slots=True)
class Allowance:
    """What one run may ask of the world, and on which terms; shared by all its fetches.

    ``shut`` holds the sites whose robots file could not be had: they stay shut for the run, whatever they say later.
    """

    ceiling: Ceiling | None = None  # None: whoever calls counts
    policy: Policy | None = None  # None: the fetcher's own
    kept: Kept | None = None  # None: every page is asked for as if it had never been seen
    patience_s: float = PATIENCE_S  # how long one fetch waits because a host asked for it
    n_sent: int = 0  # requests that were sent under it
    shut: dict[str, FetchFailed] = field(default_factory=dict)


class Fetcher:
    """Brings pages. One for the process: it holds the client, the robots files and the hosts' turns."""

    def __init__(
        self,
        transport: Transport,
        policy: Policy,
        pacer: Pacer,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        renderer: Renderer | None = None,
    ) -> None:
        self._transport = transport
        self._policy = policy
        self._pacer = pacer
        self._robots = Robots(policy, transport.user_agent, clock=clock)
        self._clock = clock
        self._now = now
        self._renderer = renderer  # None: a page that needs its scripts is refused

    def judged(self, url: str, allowance: Allowance | None = None) -> str:
        """*url* in its canonical form, if it may be asked at all. Nothing is sent.

        Raises: AddressRefused.
        """
        return judge(url, self._policy_of(allowance)).url

    async def fetch(self, url: str, *, use_robots: bool = True, allowance: Allowance | None = None) -> Page:
        """The page at *url*, redirects followed. *use_robots* is False only for what a person asked for by address.

        A page with status 304 is one that *allowance* knew and the server confirmed; its ``validator`` says by what.

        Raises: AddressRefused if it, or a hop, may not be asked; FetchFailed if no readable page came, if the run has
        asked enough (``run_ceiling``), or if the host wants to be left alone for longer than we wait (``rate_limited``).
        """
        allowance = allowance or Allowance()
        target = judge(url, self._policy_of(allowance))
        visit = _Visit(allowance, self._transport.limits.total_s, allowance.patience_s)
        while True:
            known = await allowance.kept(target.url) if allowance.kept is not None else None
            asked = conditions(known.headers) if known is not None else {}
            response = await self._ask(target, visit, use_robots, asked)
            if response.status not in reply.REDIRECTS:
                break
            if len(visit.hops) == MAX_REDIRECTS:
                raise AddressRefused("redirect-limit", f"The address redirects more than {MAX_REDIRECTS} times.")
            visit.hops.append(target.url)
            target = self._next_hop(response, target, allowance)
        if response.status == NOT_MODIFIED and known is not None and asked:
            headers, payload, validator = freshened(known.headers, response.headers), known.payload, validator_of(asked)
        else:
            reply.check_status(response)
            reply.check_type(response)
            response = await self._shown(response, url, visit, use_robots)
            headers, payload, validator = dict(response.headers), response.body, ""
        return Page(
            requested_url=url,
            url=target.url,
            status=response.status,
            headers=headers,
            payload=payload,
            retrieved_at=self._now(),
            redirects=tuple(visit.hops),
            validator=validator,
        )

    async def rendered(self, page: Page, *, use_robots: bool = True, allowance: Allowance | None = None) -> Page | None:
        """*page* with its scripts run, for one whose text turned out to be hidden until then; None if none is rendered.

        Raises: FetchFailed.
        """
        if self._renderer is None or RENDERED_HEADER in page.headers:
            return None
        allowance = allowance or Allowance()
        visit = _Visit(allowance, self._transport.limits.total_s, allowance.patience_s)
        shell = HttpResponse(page.url, page.status, page.headers, page.payload)
        shown = await self._render(shell, page.requested_url, visit, use_robots)
        return replace(page, headers=shown.headers, payload=shown.body, retrieved_at=self._now(), validator="")

    async def aclose(self) -> None:
        """Close the client. A second call does nothing."""
        await self._transport.aclose()
        if self._renderer is not None:
            await self._renderer.aclose()

    async def _shown(self, response: HttpResponse, url: str, visit: _Visit, use_robots: bool) -> HttpResponse:
        """*response*, or what its scripts make of it. Raises: FetchFailed if a wall stands there instead of a page."""
        try:
            reply.check_walls(response, asked=url)
            return response
        except FetchFailed as error:
            if self._renderer is None or error.outcome != "needs_javascript":
                raise
        return await self._render(response, url, visit, use_robots)

    async def _render(self, response: HttpResponse, url: str, visit: _Visit, use_robots: bool) -> HttpResponse:
        assert self._renderer is not None
        rendered = await self._renderer.render(response, self._loader(visit, use_robots))
        try:
            reply.check_walls(rendered, asked=url)
        except FetchFailed as missed:
            if missed.outcome != "empty":
                raise
            message = "The page stays empty when its scripts run here."
            raise reply.failed("needs_javascript", message, status=response.status) from missed
        return rendered

    def _loader(self, visit: _Visit, use_robots: bool) -> Load:
        """Brings what a page's scripts ask for: judged, permitted and paced as pages are, of any type, never retried."""

        async def load(url: str, headers: Mapping[str, str]) -> HttpResponse:
            target = judge(url, self._policy_of(visit.allowance))
            part = _Visit(visit.allowance, self._transport.limits.total_s, visit.patience_s, known=visit.known)
            for _ in range(MAX_REDIRECTS + 1):
                admitted = await self._admit(target, part)
                if use_robots:
                    await self._permitted(target, part)
                async with self._pacer.turn(self._line(target, part), at_once=True, patience_s=part.patience_s):
                    response = await self._exchange(admitted, part, _PART, headers)
                if response.status not in reply.REDIRECTS:
                    return response
                target = self._next_hop(response, target, visit.allowance)
            raise AddressRefused("redirect-limit", f"The address redirects more than {MAX_REDIRECTS} times.")

        return load

    async def _ask(self, target: Target, visit: _Visit, use_robots: bool, asked: Mapping[str, str]) -> HttpResponse:
        """The response of one hop, after the retry that it is worth."""
        host = self._line(target, visit)
        if visit.allowance.ceiling is not None:
            visit.allowance.ceiling.check()  # before anybody waits for a turn that cannot be used
        # Before its robots file is asked for: a refused address is said to be that, not a site whose file cannot be had.
        admitted = await self._admit(target, visit)
        delay_s = await self._permitted(target, visit) if use_robots else 0.0
        is_retry = False
        while True:
            at_once = host == visit.last_host and not is_retry
            held_s = self._pacer.held_for_s(host)
            async with self._pacer.turn(host, delay_s=delay_s, at_once=at_once, patience_s=visit.patience_s):
                visit.patience_s = max(0.0, visit.patience_s - held_s)
                response = await self._exchange(admitted, visit, _PAGE, asked)
            visit.last_host = host
            if response.status not in reply.RETRIED or not self._will_retry(response, host, visit):
                return response
            is_retry = True

    def _will_retry(self, response: HttpResponse, host: str, visit: _Visit) -> bool:
        """True if the host is held off for a moment and then asked again; False if its answer stands.

        A host that says *too many* is held off in any case: the other fetches of the process leave it alone, too.

        Raises: FetchFailed (``rate_limited``) if it was asked often enough, or wants a longer pause than we wait.
        """
        said_s = self._said_wait_s(response)
        is_too_many = response.status == 429 or (response.status == 503 and bool(said_s))
        is_wall = reply.wall_of_refusal(response) is not None
        wait_s = RETRY_DEFAULT_S if said_s is None else said_s
        if visit.n_retries < MAX_RETRIES and wait_s <= visit.patience_s and not is_wall:
            visit.n_retries += 1
            self._pacer.hold_off(host, wait_s)
            return True
        if not is_too_many and wait_s <= visit.patience_s:
            return False
        hold_s = self._hold_off(host, said_s)
        if is_wall:
            return False
        raise reply.failed(
            "rate_limited",
            "The server asks to be left alone for a while.",
            status=response.status,
            retry_after_s=hold_s,
        )

    def _said_wait_s(self, response: HttpResponse) -> float | None:
        try:
            return reply.retry_wait_s(response, self._now())
        except (ValueError, OverflowError):  # words, or a date beyond the calendar
            return float("inf")

    def _hold_off(self, host: str, said_s: float | None) -> float:
        """Leave *host* alone for as long as it said, within reason; how long that is."""
        hold_s = min(said_s or HOLD_DEFAULT_S, HOLD_MAX_S)
        self._pacer.hold_off(host, hold_s)
        return hold_s

    async def _permitted(self, target: Target, visit: _Visit) -> float:
        """The site's crawl delay, if its robots file lets us read *target*. Raises: FetchFailed."""
        shut = visit.allowance.shut.get(target.origin)
        if shut is not None:
            raise reply.failed(shut.code, shut.message)
        if visit.robots_left_s <= 0:
            raise reply.failed("timeout", "The robots files of the sites that this address leads to took too long.")
        try:
            return await self._robots.permit(target, self._get_robots(visit), self._policy_of(visit.allowance))
        except FetchFailed as error:
            if error.code == "robots_unreachable":
                visit.allowance.shut[target.origin] = error
            raise

    def _get_robots(self, visit: _Visit) -> Callable[[Target], Awaitable[HttpResponse]]:
        """Brings robots files, in a time of their own: a slow one does not eat the page's."""
        own = _Visit(visit.allowance, ROBOTS_TOTAL_S, visit.patience_s, known=visit.known)

        async def get(target: Target) -> HttpResponse:
            before_s = own.left_s
            try:
                admitted = await self._admit(target, own)
                async with self._pacer.turn(self._line(target, own), at_once=True, patience_s=own.patience_s):
                    response = await self._exchange(admitted, own, _ROBOTS, {})
            finally:
                visit.robots_left_s -= before_s - own.left_s
            if response.status == 429:
                self._hold_off(self._line(target, own), self._said_wait_s(response))
            return response

        return get

    async def _admit(self, target: Target, visit: _Visit) -> Admitted:
        """*target* through the gate; a slow look-up counts as time on the network."""
        began = self._clock()
        try:
            return await self._transport.gate.admit(target, self._policy_of(visit.allowance), visit.known)
        finally:
            visit.left_s -= self._clock() - began

    async def _exchange(
        self, admitted: Admitted, visit: _Visit, reading: Reading, headers: Mapping[str, str]
    ) -> HttpResponse:
        if visit.left_s <= 0:
            raise reply.failed("timeout", "The redirects and retries of this address took too long.")
        if visit.allowance.ceiling is not None:
            visit.allowance.ceiling.spend()
        visit.allowance.n_sent += 1
        request = HttpRequest("GET", admitted.target.url, headers)
        began = self._clock()
        try:
            return await self._transport.exchange(admitted, request, total_s=visit.left_s, reading=reading)
        finally:
            visit.left_s -= self._clock() - began

    def _line(self, target: Target, visit: _Visit) -> str:
        """Whose turns *target* waits for: its host's, whatever scheme and port, so that nobody can be asked four times as
        often by links to four ports. A pair that the operator named, such as a port of this machine, is one of its own.
        """
        is_named = (target.host, target.port) in self._policy_of(visit.allowance).allow_private
        return target.authority if is_named else target.host

    def _policy_of(self, allowance: Allowance | None) -> Policy:
        return self._policy if allowance is None or allowance.policy is None else allowance.policy

    def _next_hop(self, response: HttpResponse, target: Target, allowance: Allowance) -> Target:
        location = response.headers.get("location", "")
        if not location.strip():
            raise reply.failed("bad_redirect", "The server redirects without saying where to.", status=response.status)
        return follow(location, target, self._policy_of(allowance))


@dataclass(slots=True)
class _Visit:
    """What one fetch remembers over its hops."""

    allowance: Allowance
    left_s: float  # time on the network that is left
    patience_s: float  # time to wait because a host asks for it that is left
    robots_left_s: float = ROBOTS_TOTAL_S  # for the robots files of all its hops; one begun in time is waited for
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    hops: list[str] = field(default_factory=list)
    last_host: str = ""
    n_retries: int = 0


def open_fetcher(
    *,
    allow_private: str = "",
    user_agent: str = "",
    host_interval_s: float = 1.0,
    host_concurrency: int = 2,
    client: Client | None = None,
    limits: Limits = LIMITS,
) -> Fetcher:
    """A fetcher over the real network, from the settings of the same names. Nothing is opened before the first fetch.

    Raises: InvalidInput if *allow_private* is not a list of host:port pairs.
    """
    policy = Policy(allow_private=host_port_pairs(allow_private))
    pacer = Pacer(interval_s=host_interval_s, concurrency=host_concurrency)
    return Fetcher(client or Client(limits=limits, user_agent=user_agent), policy, pacer)


def _check_page_head(status: int, head: Mapping[str, str]) -> None:
    if status in reply.WHOLE:
        reply.check_declared_type(head)


def _cut_page(status: int) -> int | None:
    if status in reply.WHOLE:
        return None
    return ERROR_PAGE_BYTES if status >= 400 or status == 202 else 0  # 202: some guards answer so


_PAGE = Reading(_check_page_head, _cut_page)
_PART = Reading(lambda status, head: None, lambda status: None if status in reply.WHOLE else ERROR_PAGE_BYTES)
_ROBOTS = Reading(lambda status, head: None, lambda status: ROBOTS_BYTES if 200 <= status < 300 else 0)
