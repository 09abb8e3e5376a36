"""Politeness: how many requests a host gets at a time, and how far apart. Clock and sleep are passed in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

LINES_MAX = 10_000  # hosts remembered; bounds memory in a long process


class Pacer:
    """Gives out turns, host by host. Starts of turns are at least the interval apart."""

    def __init__(
        self,
        *,
        interval_s: float = 1.0,
        concurrency: int = 2,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._interval_s = interval_s
        self._concurrency = concurrency
        self._clock = clock
        self._sleep = sleep
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def turn(self, host: str, *, delay_s: float = 0.0, at_once: bool = False) -> AsyncIterator[None]:
        """A turn at *host*, held until the block ends.

        *delay_s* is what the host's robots file asks for; the longer of it and our interval counts. *at_once* skips the
        interval (the next hop of a fetch that just had a turn there, a robots file), not the limit of how many at a time.
        """
        line = self._line(host)
        line.n_users += 1
        try:
            async with line.slots:
                if not at_once:
                    await self._wait(line, max(self._interval_s, delay_s))
                yield
        finally:
            line.n_users -= 1

    def hold_off(self, host: str, wait_s: float) -> None:
        """Give out no turn at *host* for *wait_s* seconds from now."""
        line = self._line(host)
        line.not_before = max(line.not_before, self._clock() + wait_s)

    def held_for_s(self, host: str) -> float:
        """How long *host* is held off, from now; 0 if it is not."""
        line = self._lines.get(host)
        return 0.0 if line is None else max(0.0, line.not_before - self._clock())

    async def _wait(self, line: _Line, interval_s: float) -> None:
        start = max(self._clock(), line.next_at, line.not_before)
        line.next_at = start + interval_s  # taken before we sleep: whoever comes next waits behind us
        while (wait_s := max(start, line.not_before) - self._clock()) > 0:
            await self._sleep(wait_s)

    def _line(self, host: str) -> _Line:
        line = self._lines.get(host)
        if line is None:
            if len(self._lines) >= LINES_MAX:
                self._forget_idle()
            line = self._lines[host] = _Line(self._concurrency)
        return line

    def _forget_idle(self) -> None:
        now = self._clock()
        for host, line in list(self._lines.items()):
            if not line.n_users and line.next_at <= now and line.not_before <= now:
                del self._lines[host]


class _Line:
    """One host's queue. Instants are the clock's."""

    __slots__ = ("n_users", "next_at", "not_before", "slots")

    def __init__(self, concurrency: int) -> None:
        self.slots = asyncio.Semaphore(concurrency)
        self.next_at = float("-inf")
        self.not_before = float("-inf")
        self.n_users = 0
