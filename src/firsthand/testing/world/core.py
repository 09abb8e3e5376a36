"""What all parts of a world share: its settings, its pages, its journal, its waits, and whose turn it is to misbehave."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Callable, Sequence
from urllib.parse import quote

from firsthand.testing.world.http import Reply, Request
from firsthand.testing.world.journal import Journal, Open, Seen
from firsthand.testing.world.library import Library
from firsthand.testing.world.settings import Settings
from firsthand.testing.world.trouble import ONWARD, Schedule, Trouble

SERVICES_HOST = "127.0.0.1"
STATUSES = frozenset({"401", "402", "404", "429", "503", "status"})  # that a service says in its own words
_RETRY_AFTER = frozenset({"429", "503"})
_REASONS = {401: "Invalid API key.", 402: "No more credits.", 429: "Rate limit exceeded.", 503: "Service unavailable."}


class Core:
    """The state of one world. Its methods run on one event loop."""

    def __init__(
        self, library: Library, settings: Settings, journal: Journal, *, hosts: Sequence[str], port: int
    ) -> None:
        """*hosts* are the addresses that pages are spread over; the services are on 127.0.0.1."""
        self.library = library
        self.journal = journal
        self.hosts = tuple(hosts)
        self.port = port
        self.settings = settings
        self._schedule = Schedule(settings.trouble)
        self._released = asyncio.Event()

    def set(self, settings: Settings) -> None:
        """Go on with other settings."""
        self.settings = settings
        self._schedule = Schedule(settings.trouble)

    def release(self) -> None:
        """Let everything that is held go on."""
        self._released.set()
        self._released = asyncio.Event()

    def url(self, path: str, *, host: int | None = None) -> str:
        """The address of a page; pages are spread over the hosts as a real list of results is."""
        if path.startswith("//"):  # it names its host
            name, _, rest = path[2:].partition("/")
            return f"http://{name}:{self.port}/{quote(rest)}"
        n = zlib.crc32(path.encode()) if host is None else host
        return f"http://{self.hosts[n % len(self.hosts)]}:{self.port}/site/{quote(path)}"

    def trouble(self, request: Request, seen: Seen) -> Trouble | None:
        """The trouble that the settings have for a request."""
        host = request.host.rpartition(":")[0] or request.host
        places = (f"{host}{request.path}", request.path, seen.engine, host, seen.kind)
        found = self._schedule.next(place for place in places if place)
        seen.trouble = str(found or "")
        return found

    async def is_good(self, here: Open | None, found: Trouble | None) -> bool:
        """Whether the right answer comes after all: there is no trouble, or only a wait, which is over now."""
        if found is None or found.name not in ONWARD:
            return found is None
        if found.name == "hold":
            await self._released.wait()
            return True
        if here is not None:
            here.wait_s += found.seconds("ms")
        await asyncio.sleep(found.seconds("ms"))
        return True

    async def wait(self, here: Open, seconds: float) -> None:
        """Return when *seconds* have passed since the request began; they are what the trace counts."""
        here.own_s = time.perf_counter() - here.begun
        here.wait_s = seconds
        await until(here.start + seconds)


def refusal(found: Trouble, refuse: Callable[[int, str], Reply]) -> Reply:
    """A status in somebody's own words, with Retry-After if the trouble has one."""
    status = int(found.option("code")) if found.name == "status" else int(found.name)
    waits = found.option("retry_after_s") if found.name in _RETRY_AFTER else ""
    made = refuse(status, _REASONS.get(status, f"HTTP {status}"))
    headers = {**made.headers, "Retry-After": waits} if waits else made.headers
    return Reply(made.body, made.status, made.content_type, headers)


async def until(due: float) -> None:
    """Return at the instant *due*, seconds since the epoch."""
    left = due - time.time()
    if left > 0:
        await asyncio.sleep(left)
