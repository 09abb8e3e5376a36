"""What a run had to wait for: the critical path of its requests, worked out from what the requests contain.

Every request is an event with a simulated wait ``wait_s`` (latency, transfer, model tokens; never the machine's own
speed). Event B *depends on* an earlier event A that had ended when B started and that gave B something:

* a page's address, or a search's query, written by a model call: the first-finishing such model call;
  an address that no model wrote: the first-finishing search or page that showed it;
* text in a model call's or an embedding call's input (sampled five-word shingles): for each shingle the
  first-finishing event that gave it. A chat call that quotes text which was embedded before waits for that
  embedding, because the vectors chose the text.

finish(B) = wait(B) + max over what B needs of min over who gave it of finish(A).
``critical_path_s`` is the largest finish: the wall time if this very set of requests had run with every independent
pair in parallel and the machine itself had cost no time. It is a lower bound: a choice that a program makes *between*
answers (merging three result lists before it reads) leaves no mark in the requests and is not counted.
``merged_path_s`` is the same with max in place of min: whoever needs something waits for all who had given it, so
such merges count as far as they show. A well-built program lies between the two. ``serial_s`` is the sum of all waits,
``in_flight_s`` the time with at least one request open.
All describe the calls a run chose to make: a run that asks for less has a shorter path, so compare wall times too.

    python -m firsthand.testing.world --trace LOG        one line a run: counts, waits, critical path
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

SAMPLE = 4  # one shingle in four is kept
SHINGLE_WORDS = 5
MIN_SHARED = 3  # fewer common shingles than this are taken for chance
TOLERANCE_S = 0.005
MARK = re.compile(r"(?<![0-9a-zA-Z])m[0-9a-f]{8}(?![0-9a-zA-Z])")  # the model double signs each output with one

Kind = Literal["search", "page", "model", "embed"]
KINDS: tuple[Kind, ...] = ("search", "page", "model", "embed")


@dataclass(frozen=True, slots=True)
class Event:
    """One request, as far as the path needs it. ``facts`` is all else that its line in the log says."""

    id: int
    run: str
    kind: Kind
    start: float  # seconds since the epoch
    end: float
    wait_s: float
    own_s: float = 0.0  # what the world itself took to decide
    concurrency: int = 1
    needs: frozenset[int] = frozenset()
    gives: frozenset[int] = frozenset()
    url: str = ""  # of a page
    urls: tuple[str, ...] = ()  # that a page links to, or a search showed
    query: str = ""  # of a search
    said: str = ""  # by a model
    said_plain: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The event's line in the log."""
        own = {name: getattr(self, name) for name in _FIELDS}
        sets = {"needs": sorted(self.needs), "gives": sorted(self.gives), "urls": list(self.urls)}
        return {name: value for name, value in {**own, **sets}.items() if value not in ("", [])} | dict(self.facts)


_FIELDS = tuple(name for name in Event.__slots__ if name != "facts")


def from_row(row: Mapping[str, Any]) -> Event:
    """The event that a line of the log holds."""
    own = {name: row[name] for name in _FIELDS if name in row}
    sets = {name: frozenset(row.get(name, ())) for name in ("needs", "gives")}
    facts = {name: value for name, value in row.items() if name not in _FIELDS}
    return Event(**{**own, **sets, "urls": tuple(row.get("urls", ())), "facts": facts})


def shingles(text: str) -> frozenset[int]:
    """Sampled hashes of the five-word runs of *text*, and of every signature in it."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    runs = (" ".join(words[n : n + SHINGLE_WORDS]) for n in range(len(words) - SHINGLE_WORDS + 1))
    found = {hashed for run in runs if not (hashed := zlib.crc32(run.encode())) % SAMPLE}
    return frozenset(found | {-zlib.crc32(mark.encode()) for mark in MARK.findall(text)})


def plain(text: str) -> str:
    """*text* as words only, for finding a query in what a model said."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def critical_path(events: Sequence[Event]) -> dict[str, Any]:
    """Both bounds, the serial sum, and the chain of events that makes the lower bound."""
    path_s, chain = _longest(events, min)
    by_id = {event.id: event for event in events}
    return {
        "critical_path_s": round(path_s, 3),
        "merged_path_s": round(_longest(events, max)[0], 3),
        "serial_s": round(sum(event.wait_s for event in events), 3),
        "critical_chain": [f"{by_id[i].kind}#{i} {by_id[i].wait_s:.2f}s" for i in chain],
    }


def in_flight_s(events: Iterable[Event]) -> float:
    """Seconds in which at least one request was in flight."""
    total = reach = 0.0
    for event in sorted(events, key=lambda event: event.start):
        total += max(0.0, event.end - max(event.start, reach))
        reach = max(reach, event.end)
    return total


def summary(events: Sequence[Event]) -> dict[str, Any]:
    """Counts and times of *events*, with the critical path."""
    out: dict[str, Any] = {"events": len(events)}
    for kind in KINDS:
        mine = [event for event in events if event.kind == kind]
        out[kind] = {
            "count": len(mine),
            "wait_s": round(sum(event.wait_s for event in mine), 3),
            "peak_concurrency": max((event.concurrency for event in mine), default=0),
        }
        if kind == "page":
            out[kind]["distinct"] = len({event.url for event in mine})
            out[kind]["bytes"] = sum(event.facts.get("bytes", 0) for event in mine)
            out[kind]["failed"] = sum(event.facts.get("status", 200) >= 400 for event in mine)
        if kind in ("model", "embed"):
            out[kind]["prompt_tokens"] = sum(event.facts.get("prompt_tokens", 0) for event in mine)
        if kind == "model":
            out[kind]["output_tokens"] = sum(event.facts.get("output_tokens", 0) for event in mine)
    out["world_cpu_s"] = round(sum(event.own_s for event in events), 3)
    out["in_flight_s"] = round(in_flight_s(events), 3)
    return out | critical_path(events)


Pick = Callable[[Iterable[float]], float]


class _Path:
    """The longest chain of waits through one run, built in the order in which its requests began."""

    def __init__(self, pick: Pick) -> None:
        """*pick* chooses among those who gave the same thing: ``min`` the first to finish, ``max`` the last."""
        self._pick = pick
        self.finish: dict[int, float] = {}
        self.parent: dict[int, int | None] = {}
        self._of_text: dict[int, list[Event]] = {}
        self._of_url: dict[str, list[Event]] = {}
        self._models: list[Event] = []

    def ended(self, event: Event) -> None:
        """What *event* gave can be needed from now on."""
        for hashed in event.gives:
            self._of_text.setdefault(hashed, []).append(event)
        for url in event.urls:
            self._of_url.setdefault(url, []).append(event)
        if event.kind == "model":
            self._models.append(event)

    def begun(self, event: Event) -> None:
        """Place *event* behind the last of those it needed."""
        needed = [giver for giver in self._needed(event) if giver is not None]
        last = max(needed, key=lambda giver: self.finish[giver.id], default=None)
        self.finish[event.id] = event.wait_s + (self.finish[last.id] if last else 0.0)
        self.parent[event.id] = last.id if last else None

    def _needed(self, event: Event) -> list[Event | None]:
        if event.kind == "page":
            wrote = [model for model in self._models if event.url and event.url in model.said]
            return [self._giver(wrote or self._of_url.get(event.url, []))]
        if event.kind == "search":
            query = plain(event.query)
            return [self._giver([model for model in self._models if query and query in model.said_plain])]
        shared: dict[int, tuple[int, Event]] = {}
        for hashed in event.needs:
            givers = self._of_text.get(hashed, [])
            if event.kind == "model":
                givers = [giver for giver in givers if giver.kind == "embed"] or givers
            giver = self._giver(givers)
            if giver is not None:
                count = MIN_SHARED if hashed < 0 else 1  # one signature is proof enough
                shared[giver.id] = (shared.get(giver.id, (0, giver))[0] + count, giver)
        return [giver for count, giver in shared.values() if count >= MIN_SHARED]

    def _giver(self, candidates: Sequence[Event]) -> Event | None:
        if not candidates:
            return None
        chosen = self._pick(self.finish[event.id] for event in candidates)
        return next(event for event in candidates if self.finish[event.id] == chosen)


def _longest(events: Sequence[Event], pick: Pick) -> tuple[float, list[int]]:
    path = _Path(pick)
    ends = sorted(events, key=lambda event: event.end)
    n_ended = 0
    for event in sorted(events, key=lambda event: event.start):
        while n_ended < len(ends) and ends[n_ended].end <= event.start + TOLERANCE_S:
            if ends[n_ended].id in path.finish:
                path.ended(ends[n_ended])
            n_ended += 1
        path.begun(event)
    tip = max(path.finish, key=lambda event_id: path.finish[event_id], default=None)
    path_s = path.finish[tip] if tip is not None else 0.0
    chain: list[int] = []
    while tip is not None:
        chain.append(tip)
        tip = path.parent[tip]
    return path_s, chain[::-1]


def runs(log: Path) -> Iterator[dict[str, Any]]:
    """The summary of each run in a log, in order."""
    events = [from_row(json.loads(line)) for line in log.read_text("utf-8").splitlines()]
    for run in dict.fromkeys(event.run for event in events):
        yield {"run": run, **summary([event for event in events if event.run == run])}
