"""What a world saw: every request for its tests, and every priced one (page, search, model) as an event for its log.

Events are traced when somebody asks, so that it costs no run any time; with a log each is traced and written when it
ends, for somebody who watches. That takes the world some milliseconds for each page it shows for the first time.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO
from urllib.parse import urljoin

from firsthand.testing.world import trace
from firsthand.testing.world.http import Reply
from firsthand.testing.world.library import read_html

MAX_LINKED_CHARS = 300_000  # of a page's HTML that is searched for links


@dataclass(slots=True)
class Seen:
    """A request that the world got; ``status`` is 0 until its answer has begun, and for an answer that is no HTTP."""

    method: str
    host: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    kind: str = ""  # page, search, model, embed, robots or other
    engine: str = ""
    trouble: str = ""
    status: int = 0


@dataclass(slots=True)
class Open:
    """A priced request in flight. ``asked`` and ``gave`` are texts that the trace samples."""

    id: int
    run: str
    kind: trace.Kind
    concurrency: int
    start: float
    begun: float  # on the clock that counts the world's own work
    wait_s: float = 0.0
    own_s: float = 0.0
    end: float = 0.0
    asked: str = ""
    gave: str = ""
    url: str = ""
    path: str = ""
    urls: tuple[str, ...] = ()
    query: str = ""
    said: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


class Journal:
    """The requests and events of one world. Requests may be read from another thread."""

    def __init__(self, page: Callable[[str], Reply | None], log: TextIO | None, *, keep_prompts: bool = False) -> None:
        self._page = page
        self._log = log
        self._keep_prompts = keep_prompts
        self._n_events = 0
        self._in_flight: dict[str, int] = {}
        self._ended: list[Open] = []
        self._settled: list[trace.Event] = []
        self._prints: dict[tuple[str, str], tuple[frozenset[int], tuple[str, ...]]] = {}
        self._seen: list[Seen] = []
        self.changed = threading.Condition()

    def note(self, seen: Seen) -> None:
        """Remember that a request came, and wake those who wait for one."""
        with self.changed:
            self._seen.append(seen)
            self.changed.notify_all()

    def seen(self) -> tuple[Seen, ...]:
        """The requests since the run began, in order."""
        with self.changed:
            return tuple(self._seen)

    def wait_for(self, is_it: Callable[[Seen], bool], timeout_s: float) -> Seen | None:
        """The first request that *is_it*, as soon as there is one; None if none came in time."""
        with self.changed:
            self.changed.wait_for(lambda: any(map(is_it, self._seen)), timeout_s)
            return next(filter(is_it, self._seen), None)

    @contextmanager
    def event(self, kind: trace.Kind, run: str) -> Iterator[Open]:
        """A priced request, from here to the end of the block, however it ends."""
        self._n_events += 1
        self._in_flight[kind] = self._in_flight.get(kind, 0) + 1
        here = Open(self._n_events, run, kind, self._in_flight[kind], time.time(), time.perf_counter())
        try:
            yield here
        finally:
            self._in_flight[kind] -= 1
            here.end = time.time()
            self._ended.append(here)
            if self._log is not None:
                self._trace_ended()

    def settle(self, run: str) -> list[trace.Event]:
        """The events of *run*, traced."""
        self._trace_ended()
        return [event for event in self._settled if event.run == run]

    def _trace_ended(self) -> None:
        """Trace what has ended since the last time, and log it."""
        fresh = [self._traced(here) for here in self._ended]
        self._ended.clear()
        if self._log is not None:
            self._log.writelines(json.dumps(event.row()) + "\n" for event in fresh)
            self._log.flush()
        self._settled += fresh

    def forget(self) -> None:
        """A new run begins."""
        self.settle("")
        self._settled.clear()
        with self.changed:
            self._seen.clear()

    def _traced(self, here: Open) -> trace.Event:
        facts, urls = dict(here.facts), here.urls
        needs, gives = frozenset[int](), trace.shingles(here.gave)
        if here.kind == "page":
            gives, urls = self._print(here.path, here.url)
        else:
            needs = trace.shingles(here.asked)
        if here.kind == "model" and self._keep_prompts:
            facts["prompt"] = here.asked
        return trace.Event(
            here.id,
            here.run,
            here.kind,
            here.start,
            here.end,
            here.wait_s,
            here.own_s,
            here.concurrency,
            needs,
            gives,
            here.url,
            urls,
            here.query,
            here.said,
            trace.plain(here.said),
            facts,
        )

    def _print(self, path: str, address: str) -> tuple[frozenset[int], tuple[str, ...]]:
        """The shingles of a page, and the pages of the world that it links to."""
        if (path, address) not in self._prints:
            reply = self._page(path)
            is_html = reply is not None and "html" in reply.content_type
            html = reply.body.decode("utf-8", "replace") if reply is not None and is_html else ""
            hrefs = re.findall(r'href="([^"]+)"', html[:MAX_LINKED_CHARS])
            links = {_joined(address, href) for href in hrefs}
            gives = trace.shingles(read_html(html)[1])
            self._prints[path, address] = gives, tuple(sorted(link for link in links if "/site/" in link))
        return self._prints[path, address]


def _joined(address: str, href: str) -> str:
    try:
        return urljoin(address, href).split("#")[0]
    except ValueError:
        return ""
