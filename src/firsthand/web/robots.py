"""What a site's robots file lets us read, by RFC 9309, with ``protego`` as its reader.

A file that is not there (4xx) allows everything; one that cannot be reached (5xx, no answer) forbids everything for a
while. Answers are kept for a day, in this process. Getting is the caller's: this module opens nothing.

``protego`` takes a group's name for ours if ours begins with it ("first" would speak to "firsthand"); the standard
wants the whole product token. So names are rewritten before it reads the file: ours is ``us``, every other ``other``.
What it then does (longest match, ties to *allow*, wild cards without a pattern engine) is the standard's.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from protego import Protego

from firsthand.errors import OutsideError
from firsthand.values import HttpResponse
from firsthand.web import limits
from firsthand.web.address import Policy, Target, follow, judge
from firsthand.web.reply import REDIRECTS, failed

Get = Callable[[Target], Awaitable[HttpResponse]]
"""Bring a robots file with one request, without following redirects. Raises OutsideError."""

FILES_MAX = 10_000  # files remembered; bounds memory in a long process
_AGENT_LINE = re.compile(r"\s{0,20}user[- ]?agent[ \t]{0,20}(?:[:\s])(.*)", re.IGNORECASE)  # bounded: cannot run away
_NOT_THE_SITES_WORD = frozenset({"run_ceiling", "rate_limited"})  # why *we* did not ask; says nothing of the file


class Robots:
    """The rules of many sites, each file brought once a day, and once for all who wait for it."""

    def __init__(self, policy: Policy, user_agent: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy
        self._token = product_token(user_agent)
        self._clock = clock
        self._files: dict[tuple[Policy, str], _File] = {}
        self._locks: dict[tuple[Policy, str], asyncio.Lock] = {}

    async def permit(self, target: Target, get: Get, policy: Policy | None = None) -> float:
        """The crawl delay in seconds (0 if none is asked for), if *target* may be read.

        *policy* is the one that *target* was judged by, if it is not this object's: a stricter one may not follow
        where another could.

        Raises: FetchFailed (``robots``: a rule forbids it; ``robots_unreachable``: the file cannot be had now); what
        *get* raises because of us, not of the site (``run_ceiling``, ``rate_limited``).
        """
        file = await self._file(target, get, self._policy if policy is None else policy)
        if file.rules is None:
            raise failed(
                "robots_unreachable",
                f"The robots file of {target.authority} cannot be read now ({file.why}), so the site is left alone.",
            )
        if not file.rules.can_fetch(target.url, _US):
            raise failed("robots", f"The robots file of {target.authority} asks not to read this address.")
        return min(float(file.rules.crawl_delay(_US) or 0.0), limits.CRAWL_DELAY_MAX_S)

    async def _file(self, target: Target, get: Get, policy: Policy) -> _File:
        site = (policy, target.origin)
        file = self._files.get(site)
        if file is not None and file.good_until > self._clock():
            return file
        lock = self._locks.setdefault(site, asyncio.Lock())
        async with lock:
            file = self._files.get(site)
            if file is None or file.good_until <= self._clock():
                rules, why = await self._bring(target, get, policy)
                kept_s = limits.ROBOTS_RETRY_S if rules is None else limits.ROBOTS_CACHE_S
                if len(self._files) >= FILES_MAX:
                    oldest = next(iter(self._files))
                    del self._files[oldest]
                    self._locks.pop(oldest, None)
                file = self._files[site] = _File(rules, why, self._clock() + kept_s)
            return file

    async def _bring(self, target: Target, get: Get, policy: Policy) -> tuple[Protego | None, str]:
        """The rules; or None and why the site could not say."""
        try:
            at = judge(target.origin + "/robots.txt", policy)
            for _ in range(limits.ROBOTS_REDIRECTS + 1):
                response = await get(at)
                if response.status not in REDIRECTS:
                    return _rules(response, self._token)
                at = follow(response.headers.get("location", ""), at, policy)
        except OutsideError as error:
            if error.code in _NOT_THE_SITES_WORD:
                raise
            return None, error.code
        return Protego.parse(""), ""  # RFC 9309, section 2.3.1.2: too many redirects, taken as absent


@dataclass(frozen=True, slots=True)
class _File:
    rules: Protego | None
    why: str  # there are no rules: a code, or a status
    good_until: float


def product_token(user_agent: str) -> str:
    """The name that robots files know us by: the first product of the user agent, without its version."""
    return user_agent.split("/", 1)[0].split(" ", 1)[0] or "*"


_US, _OTHER = "us", "other"


def _rules(response: HttpResponse, token: str) -> tuple[Protego | None, str]:
    if response.status == 429 or response.status >= 500 or response.status < 200:
        return None, f"status {response.status}"
    if response.status >= 300:
        return Protego.parse(""), ""
    return parse(response.body, token), ""


def parse(body: bytes, token: str) -> Protego:
    """The rules in *body*, as far as we read it, in which the groups of *token* are called ``us``.

    Cost: linear; never more than the first ``ROBOTS_BYTES``. A line that is cut by that limit is no line.
    """
    if len(body) >= limits.ROBOTS_BYTES:
        body = body[: limits.ROBOTS_BYTES].rpartition(b"\n")[0]
    is_utf16 = body.startswith((b"\xff\xfe", b"\xfe\xff"))  # not the standard's; such files are seen
    text = body.decode("utf-16" if is_utf16 else "utf-8-sig", "replace")
    return Protego.parse("\n".join(_renamed(line, token) for line in text.splitlines()))


def _renamed(line: str, token: str) -> str:
    """*line*; if it names a user agent, with the name that we gave it. RFC 9309, section 2.2.1."""
    found = _AGENT_LINE.match(line.partition("#")[0])
    if found is None:
        return line
    words = re.split(r"[\s/]", found[1].strip(), maxsplit=1)
    named = _US if words[0].casefold() == token.casefold() else "*" if words[0] == "*" else _OTHER
    return f"User-agent: {named}"
