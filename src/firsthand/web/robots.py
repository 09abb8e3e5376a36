"""What a site's robots file lets us read, by RFC 9309, with ``protego`` as its reader.

A file that is not there (4xx) allows everything; one that cannot be reached (5xx, no answer) forbids everything for a
while. Answers are kept for a day. Getting is the caller's: this module opens nothing.
"""

from __future__ import annotations

import asyncio
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
STARS_MAX = 32  # wild cards in one rule; a real rule has one or two, a regex engine stalls on thousands


class Robots:
    """The rules of many sites, each file brought once a day, and once for all who wait for it."""

    def __init__(self, policy: Policy, user_agent: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy
        self._token = product_token(user_agent)
        self._clock = clock
        self._files: dict[str, _File] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def permit(self, target: Target, get: Get) -> float:
        """The crawl delay in seconds (0 if none is asked for), if *target* may be read.

        Raises: FetchFailed (``robots``: a rule forbids it; ``robots_unreachable``: the file cannot be had now).
        """
        file = await self._file(target, get)
        if file.rules is None:
            raise failed("robots_unreachable", f"The robots file of {target.authority} cannot be read now; try later.")
        if not file.rules.can_fetch(target.url, self._token):
            raise failed("robots", f"The robots file of {target.authority} asks not to read this address.")
        return min(float(file.rules.crawl_delay(self._token) or 0.0), limits.CRAWL_DELAY_MAX_S)

    async def _file(self, target: Target, get: Get) -> _File:
        site = target.origin
        lock = self._locks.setdefault(site, asyncio.Lock())
        async with lock:
            file = self._files.get(site)
            if file is None or file.good_until <= self._clock():
                rules = await self._bring(target, get)
                kept_s = limits.ROBOTS_RETRY_S if rules is None else limits.ROBOTS_CACHE_S
                if len(self._files) >= FILES_MAX:
                    oldest = next(iter(self._files))
                    del self._files[oldest]
                    self._locks.pop(oldest, None)
                file = self._files[site] = _File(rules, self._clock() + kept_s)
            return file

    async def _bring(self, target: Target, get: Get) -> Protego | None:
        """The rules, or None if the site could not say."""
        try:
            at = judge(target.origin + "/robots.txt", self._policy)
            for _ in range(limits.ROBOTS_REDIRECTS + 1):
                response = await get(at)
                if response.status not in REDIRECTS:
                    return _rules(response)
                at = follow(response.headers.get("location", ""), at, self._policy)
        except OutsideError:
            return None
        return Protego.parse("")  # RFC 9309, section 2.3.1.2: too many redirects, taken as absent


@dataclass(frozen=True, slots=True)
class _File:
    rules: Protego | None
    good_until: float


def product_token(user_agent: str) -> str:
    """The name that robots files know us by: the first product of the user agent, without its version."""
    return user_agent.split("/", 1)[0].split(" ", 1)[0] or "*"


def _rules(response: HttpResponse) -> Protego | None:
    if response.status == 429 or response.status >= 500 or response.status < 200:
        return None
    if response.status >= 300:
        return Protego.parse("")
    text = response.body[: limits.ROBOTS_BYTES].decode("utf-8-sig", "replace")
    return Protego.parse("\n".join(map(_tamed, text.splitlines())))


def _tamed(line: str) -> str:
    """*line*, or a shorter rule in its place if it has more wild cards than a pattern matcher should meet.

    A prohibition is cut to what stands before its first wild card, which forbids more; a permission is dropped.
    """
    if line.count("*") <= STARS_MAX:
        return line
    name, _, path = line.partition(":")
    return f"{name}:{path.split('*', 1)[0]}" if name.strip().lower() == "disallow" else ""
