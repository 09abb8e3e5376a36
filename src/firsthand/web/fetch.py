"""From an address to a page: judge, ask robots, wait for our turn, exchange, follow, judge what came.

Redirects are a loop here, and every hop goes through the gate again. Nothing but a whole page of a type that can be
read, with words of its own, is returned; everything else raises with one outcome and a finer code.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from firsthand.errors import AddressRefused
from firsthand.values import HttpRequest, HttpResponse, Page
from firsthand.web import reply
from firsthand.web.address import Policy, Target, follow, host_port_pairs, judge
from firsthand.web.client import Client, Reading
from firsthand.web.limits import (
    LIMITS,
    MAX_REDIRECTS,
    MAX_RETRIES,
    RETRY_AFTER_MAX_S,
    RETRY_DEFAULT_S,
    ROBOTS_BYTES,
    Limits,
)
from firsthand.web.pace import Pacer
from firsthand.web.robots import Robots

if TYPE_CHECKING:
    from firsthand.web.gate import Admitted, Gate

ERROR_PAGE_BYTES = 65_536  # enough to recognise a wall
HOLD_MAX_S = 300.0  # a host's Retry-After parks it no longer than this; source: the hostile corpus, row r067
ROBOTS_TOTAL_S = 10.0  # guess: a site that takes longer for its robots file cannot say


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
    ) -> None:
        self._transport = transport
        self._policy = policy
        self._pacer = pacer
        self._robots = Robots(policy, transport.user_agent, clock=clock)
        self._clock = clock
        self._now = now

    async def fetch(self, url: str, *, use_robots: bool = True) -> Page:
        """The page at *url*, redirects followed. *use_robots* is False only for what a person asked for by address.

        Raises: AddressRefused if it, or a hop, may not be asked; FetchFailed if no readable page came.
        """
        target = judge(url, self._policy)
        visit = _Visit(left_s=self._transport.limits.total_s)
        while True:
            response = await self._ask(target, visit, use_robots)
            if response.status not in reply.REDIRECTS:
                break
            if len(visit.hops) == MAX_REDIRECTS:
                raise AddressRefused("redirect-limit", f"The address redirects more than {MAX_REDIRECTS} times.")
            visit.hops.append(target.url)
            target = self._next_hop(response, target)
        reply.check_status(response)
        reply.check_type(response)
        reply.check_walls(response)
        return Page(
            requested_url=url,
            url=target.url,
            status=response.status,
            headers=response.headers,
            payload=response.body,
            retrieved_at=self._now(),
            redirects=tuple(visit.hops),
        )

    async def aclose(self) -> None:
        """Close the client. A second call does nothing."""
        await self._transport.aclose()

    async def _ask(self, target: Target, visit: _Visit, use_robots: bool) -> HttpResponse:
        """The response of one hop, after the retries that it is worth."""
        host = target.authority
        self._check_held(host)
        delay_s = await self._robots.permit(target, self._get_robots(visit)) if use_robots else 0.0
        admitted = await self._transport.gate.admit(target, self._policy, visit.known)
        is_retry = False
        while True:
            at_once = host == visit.last_host and not is_retry
            async with self._pacer.turn(host, delay_s=delay_s, at_once=at_once):
                response = await self._exchange(admitted, visit, _PAGE)
            visit.last_host = host
            if response.status not in reply.RETRIED or not self._will_retry(response, host, visit):
                return response
            is_retry = True

    def _will_retry(self, response: HttpResponse, host: str, visit: _Visit) -> bool:
        """True if the host is held off for a moment and then asked again; False if its answer stands.

        Raises: FetchFailed (``rate_limited``) if it asks for a longer pause than a fetch can wait.
        """
        try:
            wait_s = reply.retry_wait_s(response, self._now())
        except (ValueError, OverflowError):  # words, or a date beyond the calendar
            wait_s = float("inf")
        if wait_s is not None and wait_s > RETRY_AFTER_MAX_S:
            hold_s = min(wait_s, HOLD_MAX_S)
            self._pacer.hold_off(host, hold_s)
            raise reply.failed(
                "rate_limited",
                "The server asks to be left alone for longer than a fetch waits.",
                status=response.status,
                retry_after_s=hold_s,
            )
        if visit.n_retries == MAX_RETRIES or reply.wall_of_refusal(response):
            return False
        visit.n_retries += 1
        self._pacer.hold_off(host, RETRY_DEFAULT_S if wait_s is None else wait_s)
        return True

    def _check_held(self, host: str) -> None:
        held_s = self._pacer.held_for_s(host)
        if held_s > RETRY_AFTER_MAX_S:
            raise reply.failed("rate_limited", f"{host} asked to be left alone for a while.", retry_after_s=held_s)

    def _get_robots(self, visit: _Visit) -> Callable[[Target], Awaitable[HttpResponse]]:
        async def get(target: Target) -> HttpResponse:
            admitted = await self._transport.gate.admit(target, self._policy, visit.known)
            async with self._pacer.turn(target.authority, at_once=True):
                return await self._exchange(admitted, visit, _ROBOTS, most_s=ROBOTS_TOTAL_S)

        return get

    async def _exchange(
        self, admitted: Admitted, visit: _Visit, reading: Reading, most_s: float = float("inf")
    ) -> HttpResponse:
        if visit.left_s <= 0:
            raise reply.failed("timeout", "The redirects and retries of this address took too long.")
        began = self._clock()
        try:
            return await self._transport.exchange(
                admitted, HttpRequest("GET", admitted.target.url), total_s=min(visit.left_s, most_s), reading=reading
            )
        finally:
            visit.left_s -= self._clock() - began

    def _next_hop(self, response: HttpResponse, target: Target) -> Target:
        location = response.headers.get("location", "")
        if not location.strip():
            raise reply.failed("bad_redirect", "The server redirects without saying where to.", status=response.status)
        return follow(location, target, self._policy)


@dataclass(slots=True)
class _Visit:
    """What one fetch remembers over its hops."""

    left_s: float  # time on the network that is left
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
    return 0 if status < 400 else ERROR_PAGE_BYTES


_PAGE = Reading(_check_page_head, _cut_page)
_ROBOTS = Reading(lambda status, head: None, lambda status: ROBOTS_BYTES if 200 <= status < 300 else 0)
