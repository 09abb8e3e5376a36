"""The critical path on runs that were worked out by hand, from values and from a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firsthand.testing.world import trace
from firsthand.testing.world.trace import Event, critical_path, plain, shingles, summary

PROSE = "The write ahead log lets many readers go on while one writer appends new frames to the log file. " * 3
OTHER_PROSE = PROSE.upper().replace("LOG", "JOURNAL")
A, B = "http://127.0.0.2/site/a", "http://127.0.0.2/site/b"


def event(n: int, kind: trace.Kind, start: float, wait: float, asked: str = "", gave: str = "", **more: Any) -> Event:
    return Event(n, "t", kind, start, start + wait, wait, needs=shingles(asked), gives=shingles(gave), **more)


def model(n: int, start: float, wait: float, asked: str, said: str) -> Event:
    return event(n, "model", start, wait, asked, said, said=said, said_plain=plain(said))


SERIAL = [
    event(1, "search", 0.0, 0.4, query="wal mode", urls=(A, B)),
    event(2, "page", 0.4, 0.3, gave=PROSE, url=A),
    event(3, "page", 0.7, 0.3, gave=OTHER_PROSE, url=B),  # could have run beside 2
    model(4, 1.0, 5.0, PROSE, "Answer m00000001."),
]


def test_a_serial_run_whose_parts_were_independent_could_have_been_shorter() -> None:
    found = critical_path(SERIAL)
    assert (found["serial_s"], found["critical_path_s"]) == (pytest.approx(6.0), pytest.approx(5.7))
    assert found["critical_chain"] == ["search#1 0.40s", "page#2 0.30s", "model#4 5.00s"]


def test_a_search_waits_for_the_model_that_wrote_its_query() -> None:
    events = [model(1, 0.0, 1.0, "", '["wal readers"]'), event(2, "search", 1.0, 0.4, query="wal readers")]
    assert critical_path(events)["critical_path_s"] == pytest.approx(1.4)


def test_a_page_that_two_searches_showed_waits_for_one_or_for_both() -> None:
    events = [
        event(1, "search", 0.0, 0.4, query="x", urls=(A,)),
        event(2, "search", 0.0, 0.9, query="y", urls=(A,)),
        event(3, "page", 1.0, 0.3, url=A),
    ]
    found = critical_path(events)
    assert found["critical_path_s"] == pytest.approx(0.9)  # the slower search stands alone
    assert found["merged_path_s"] == pytest.approx(1.2)


def test_a_page_whose_address_a_model_wrote_waits_for_the_model() -> None:
    events = [
        event(1, "search", 0.0, 0.4, query="x", urls=(A,)),
        model(2, 0.4, 2.0, "", f"read {A}"),
        event(3, "page", 2.5, 0.3, url=A),
    ]
    assert critical_path(events)["critical_path_s"] == pytest.approx(2.3)


def test_a_model_that_quotes_embedded_text_waits_for_the_embedding() -> None:
    page = event(1, "page", 0.0, 0.3, gave=PROSE, url=A)
    embedded = event(2, "embed", 0.4, 0.2, asked=PROSE, gave=PROSE)
    asked = model(3, 1.0, 1.0, PROSE, "so it is")
    assert critical_path([page, embedded, asked])["critical_path_s"] == pytest.approx(1.5)
    assert critical_path([page, asked])["critical_path_s"] == pytest.approx(1.3)


def test_a_signature_alone_shows_that_one_model_read_the_other() -> None:
    events = [model(1, 0.0, 1.0, "", "yes m0123abcd"), model(2, 1.0, 1.0, "notes: m0123abcd", "done")]
    assert critical_path(events)["critical_path_s"] == pytest.approx(2.0)


def test_what_had_not_ended_gave_nothing() -> None:
    events = [event(1, "search", 0.0, 0.4, query="x", urls=(A,)), event(2, "page", 0.2, 0.3, url=A)]
    assert critical_path(events)["critical_path_s"] == pytest.approx(0.4)  # 0.7 if the page had waited


def test_the_time_in_flight_counts_overlaps_once() -> None:
    events = [event(1, "page", 0.0, 1.0), event(2, "page", 0.5, 1.0), event(3, "page", 4.0, 0.5)]
    assert summary(events)["in_flight_s"] == pytest.approx(2.0)


def test_a_run_without_requests_has_no_path() -> None:
    found = summary([])
    assert (found["events"], found["critical_path_s"], found["critical_chain"]) == (0, 0.0, [])


def test_a_log_gives_the_same_path_for_each_of_its_runs(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    rows = [one.row() for one in SERIAL] + [{**SERIAL[0].row(), "run": "u"}]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = trace.runs(log)
    assert first == {"run": "t", **summary(SERIAL)}
    assert (second["run"], second["critical_path_s"]) == ("u", 0.4)


def test_a_log_of_the_first_form_is_read() -> None:
    row = {
        "run": "a/real/1/0", "id": 7, "kind": "page", "start": 1.0, "end": 1.5, "wait_s": 0.3, "own_s": 0.001,
        "concurrency": 2, "needs": [], "gives": [4, 8], "urls": [B], "url": A, "path": "a", "method": "GET",
        "status": 200, "bytes": 120, "agent": "x",
    }  # fmt: skip
    found = trace.from_row(row)
    assert (found.gives, found.urls, found.facts["bytes"]) == (frozenset({4, 8}), (B,), 120)
    assert trace.from_row(found.row()) == found
