"""Politeness: how many requests a host gets at a time and how far apart, and how many one run may send at all.

Clock and sleep are passed in. One pacer serves the whole process: the turns of several questions at one host stand in
one line.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext

from firsthand.web.reply import failed

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
        self._concurrency = max(1, concurrency)
        self._clock = clock
        self._sleep = sleep
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def turn(
        self, host: str, *, delay_s: float = 0.0, at_once: bool = False, patience_s: float = float("inf")
    ) -> AsyncIterator[None]:
        """A turn at *host*, held until the block ends. Order: first come, first served.

        *delay_s* is what the host's robots file asks for; the longer of it and our interval counts. *at_once* skips the
        interval (the next hop of a fetch that just had a turn there, a robots file), neither the limit of how many at a
        time nor a time for which the host is held off; whoever comes after it waits the interval from it.

        Raises: FetchFailed (``rate_limited``) if the host is held off for longer than *patience_s*.
        """
        line = self._line(host)
        line.n_users += 1
        try:
            await self._start(line, host, max(self._interval_s, delay_s), at_once, patience_s)
            try:
                yield
            finally:
                line.slots.release()
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

    async def _start(self, line: _Line, host: str, interval_s: float, at_once: bool, patience_s: float) -> None:
        """Come to the front of the line, take one of the host's slots, and wait until it may be asked."""
        async with nullcontext() if at_once else line.front:
            await self._take_slot(line, host, at_once, patience_s)
            line.next_at = max(line.next_at, self._clock() + interval_s)

    async def _take_slot(self, line: _Line, host: str, at_once: bool, patience_s: float) -> None:
        await line.slots.acquire()
        try:
            # Looked at again after each sleep: the start may have been put off.
            while (wait_s := line.start_at(at_once) - self._clock()) > 0:
                if (held_s := line.not_before - self._clock()) > patience_s:
                    raise failed("rate_limited", f"{host} asked to be left alone for a while.", retry_after_s=held_s)
                await self._sleep(wait_s)
        except BaseException:
            line.slots.release()
            raise

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


class Ceiling:
    """How many requests one run may still send to sites: pages, redirects, retries and robots files."""

    def __init__(self, limit: int, *, n_sent: int = 0) -> None:
        """*n_sent* is what an earlier run of the same turn has sent: killing it makes the ceiling no higher."""
        self.limit = limit
        self.n_sent = n_sent

    def check(self) -> None:
        """Return if there is one left. Raises: FetchFailed (``run_ceiling``)."""
        if self.n_sent >= self.limit:
            raise failed(
                "run_ceiling",
                f"This run has sent its {self.limit:,} requests; FIRSTHAND_RUN_REQUESTS_MAX sets how many it may.",
            )

    def spend(self) -> None:
        """Count one request, just before it is sent. Raises: FetchFailed (``run_ceiling``)."""
        self.check()
        self.n_sent += 1


class _Line:
    """One host's queue. Instants are the clock's."""

    __slots__ = ("front", "n_users", "next_at", "not_before", "slots")

    def __init__(self, concurrency: int) -> None:
        self.front = asyncio.Lock()
        self.slots = asyncio.Semaphore(concurrency)
        self.next_at = float("-inf")
        self.not_before = float("-inf")
        self.n_users = 0

    def start_at(self, at_once: bool) -> float:
        """When the next turn may start; *at_once* need not wait for the interval."""
        return self.not_before if at_once else max(self.next_at, self.not_before)
