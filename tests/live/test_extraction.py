"""Extraction in worker processes: a page that breaks its worker costs itself and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firsthand.errors import ExtractionFailed
from firsthand.live import extraction
from firsthand.live.extraction import Extraction
from firsthand.live.worker import PARSE_LIMITS, ParseLimits
from firsthand.web.extract import drafts, facts, feed, nesting, pdf, tree

ROOT = Path(__file__).parents[2]
PAGE = b"<html><head><title>Tides</title></head><body><p>The tide table lists 31 ports.</p></body></html>"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10
WATCH = ("PYTHONPATH", "SOCKET_WATCH_REPORT")  # given to every child by this suite's watch over sockets
BREAKING = "tests.live.breaking_reader"


@pytest.fixture
def pages() -> Iterator[Extraction]:
    """Two workers whose reader breaks where a page asks for it."""
    made = Extraction(2, reader=BREAKING)
    yield made
    made.close()


async def read(pages: Extraction, payload: bytes) -> str:
    """The title of the page that a worker read, or the code of its failure with the limit that it met."""
    try:
        text, _ = await pages.one(payload, url="https://example.org/", content_type="text/html")
    except ExtractionFailed as error:
        kind = error.facts.get("limit_kind")
        return f"{error.code} {kind}" if kind else error.code
    return text.title


async def read_all(pages: Extraction, payloads: list[bytes]) -> list[str]:
    return list(await asyncio.gather(*(read(pages, payload) for payload in payloads)))


async def test_a_page_is_read_as_the_reader_reads_it(pages: Extraction) -> None:
    text, entry = await pages.one(PAGE, url="https://example.org/", content_type="text/html")
    assert (text.title, text.body, text.charset) == ("Tides", "The tide table lists 31 ports.", "utf-8")
    assert [row["body_terms"] for row in entry.rows] == ["the tide tabl list 31 port"]


async def test_a_page_that_kills_its_worker_costs_itself_alone(pages: Extraction) -> None:
    before = await read(pages, PAGE), pages.pids
    told = await read_all(pages, [b"dies", PAGE, b"dies", PAGE, PAGE])
    assert told == ["parse_limit memory", "Tides", "parse_limit memory", "Tides", "Tides"]
    assert before[0] == "Tides" and set(before[1]).isdisjoint(pages.pids)


async def test_a_worker_killed_while_it_waits_costs_no_page(pages: Extraction) -> None:
    assert await read(pages, PAGE) == "Tides"
    (pid,) = pages.pids
    os.kill(pid, signal.SIGKILL)
    assert is_gone(pid)
    assert await read(pages, PAGE) == "Tides"
    assert pages.pids != (pid,)


async def test_a_page_that_takes_too_long_is_given_up_and_the_others_are_read() -> None:
    pages = Extraction(2, limits=ParseLimits(wall_s=2.0), reader=BREAKING)
    try:
        assert await read_all(pages, [b"waits", PAGE, PAGE]) == ["parse_limit time", "Tides", "Tides"]
    finally:
        pages.close()


async def test_a_page_that_computes_for_ever_is_ended_by_its_cpu_limit() -> None:
    pages = Extraction(2, limits=ParseLimits(cpu_s=1), reader=BREAKING)
    try:
        told = await read_all(pages, [b"computes", PAGE, PAGE])
        assert told == ["parse_limit cpu", "Tides", "Tides"]
    finally:
        pages.close()


async def test_a_page_that_takes_more_memory_than_a_page_may_have_costs_itself(pages: Extraction) -> None:
    assert await read(pages, PAGE) == "Tides"
    before = pages.pids
    too_much = b"takes %d" % (PARSE_LIMITS.memory_bytes + (64 << 20))
    assert await read_all(pages, [too_much, PAGE]) == ["parse_limit memory", "Tides"]
    assert set(before) <= set(pages.pids)  # Python could say so: the worker lives on


async def test_a_reader_that_fails_on_a_page_costs_that_page(pages: Extraction) -> None:
    assert await read_all(pages, [b"raises", b"recurses", PAGE]) == ["parse_error", "parse_limit depth", "Tides"]
    with pytest.raises(ExtractionFailed, match="ZeroDivisionError") as caught:
        await pages.one(b"raises", url="https://example.org/", content_type=None)
    assert caught.value.outcome == "failed"


async def test_a_refusal_leaves_its_worker_alive(pages: Extraction) -> None:
    assert await read(pages, PAGE) == "Tides"
    before = pages.pids
    assert await read_all(pages, [PICTURE, PAGE]) == ["unsupported_type", "Tides"]
    assert pages.pids == before


async def test_a_worker_writes_no_file(pages: Extraction, tmp_path: Path) -> None:
    assert await read(pages, b"writes " + bytes(tmp_path / "file")) != "Tides"
    assert not (tmp_path / "file").exists() or (tmp_path / "file").stat().st_size == 0


async def test_a_worker_has_no_socket_and_no_variable_of_ours(
    pages: Extraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRSTHAND_SECRET", "s3cret")
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    for socket in server.sockets:
        os.set_inheritable(socket.fileno(), True)
    told = await read(pages, b"tells")
    assert told.startswith("0 sockets, ")
    # The first is made by Python itself, the second says that one thread does the sums.
    assert set(told.split()[3:]) <= {"LC_CTYPE", "OPENBLAS_NUM_THREADS", *WATCH}
    assert {opened(pid) for pid in pages.pids} == {("/dev/null", "pipe")}
    server.close()
    await server.wait_closed()


def opened(pid: int) -> tuple[str, ...]:
    """The kinds of files that a process has open."""
    return tuple(sorted({str(fd.readlink()).partition(":")[0] for fd in Path(f"/proc/{pid}/fd").iterdir()}))


async def test_pages_that_must_wait_get_another_worker_and_few_pages_do_not(
    pages: Extraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "PATIENCE_S", 60.0)  # a worker that starts slowly makes nobody impatient
    assert pages.pids == ()  # none before there is a page
    await read_all(pages, [PAGE] * 3)
    assert len(pages.pids) == 1
    assert await read_all(pages, [PAGE] * 40) == ["Tides"] * 40
    assert len(pages.pids) == 2


async def test_a_worker_is_started_ahead_of_its_first_page(pages: Extraction) -> None:
    pages.warm()
    pages.warm()
    assert await read(pages, PAGE) == "Tides"
    assert len(pages.pids) == 1


async def test_a_caller_that_goes_away_leaves_no_worker_behind(pages: Extraction) -> None:
    reading = asyncio.create_task(read(pages, b"waits"))
    await asyncio.sleep(0)
    assert await read(pages, PAGE) == "Tides"  # by a second worker: the first has long begun
    assert len(pages.pids) == 2
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert len(pages.pids) == 1
    assert await read(pages, PAGE) == "Tides"


async def test_closing_ends_every_worker(pages: Extraction) -> None:
    await read_all(pages, [PAGE] * 10)
    workers = pages.pids
    pages.close()
    assert workers and all(is_gone(pid) for pid in workers)


@pytest.mark.parametrize("order", ["waits for a page", "computes"])
def test_workers_end_when_their_parent_is_killed(order: str) -> None:
    given = order.encode() if order == "computes" else PAGE
    program = (
        "import asyncio, sys\n"
        "from firsthand.live.extraction import Extraction\n"
        f"pages = Extraction(1, reader={BREAKING!r})\n"
        "async def main():\n"
        f"    await pages.one({PAGE!r}, url='https://example.org/', content_type='text/html')\n"
        "    print(*pages.pids, flush=True)\n"
        f"    await pages.one({given!r}, url='https://example.org/', content_type=None)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], env={"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}, stdout=subprocess.PIPE
    )
    try:
        assert parent.stdout is not None
        (worker,) = map(int, parent.stdout.readline().split())
        began = cpu_ticks(worker)
        while order == "computes" and cpu_ticks(worker) < began + 20:  # a fifth of a second: it is at work on the page
            os.sched_yield()
        assert is_running(worker)
    finally:
        parent.kill()
        parent.communicate()
    assert is_gone(worker)


def cpu_ticks(pid: int) -> int:
    """The computing time of a process, in hundredths of a second. Source: proc(5), stat."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def is_gone(pid: int, within_s: float = 3) -> bool:
    """Whether a process ends within moments; one that only waits to be reaped has ended."""
    until = time.monotonic() + within_s
    while is_running(pid) and time.monotonic() < until:
        os.sched_yield()
    return not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (OSError, IndexError):
        return False


def test_an_answer_is_read_as_data(tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    answer = pickle.dumps(("ok", Trap(str(trap))))
    with pytest.raises(ValueError, match="not an answer"):
        extraction._as_data(answer)
    assert not trap.exists()


class Trap:
    """Would make a folder wherever it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.path,)


def test_the_reference_names_the_limits_that_are_in_force() -> None:
    page = (ROOT / "docs/reference/what-can-be-read.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.partition("## Limits")[2].splitlines() if line[:1] == "|"]
    told = {row[0]: row[1] for row in rows[2:]}
    depth = told.pop("nesting of HTML")
    assert told == {
        "computing time": f"{PARSE_LIMITS.cpu_s} s",
        "time": f"{PARSE_LIMITS.wall_s:g} s",
        "memory": f"{PARSE_LIMITS.memory_bytes >> 20} MiB beyond what a worker starts with",
        "tags of an HTML page": f"{nesting.MAX_TAGS:,}",
        "blocks": f"{drafts.MAX_BLOCKS:,}",
        "nesting of XML / of JSON": f"{feed.MAX_DEPTH} / {tree.MAX_DEPTH}",
        "digits of a number in JSON": f"{tree.MAX_DIGITS:,}",
        "pages of a PDF": f"{pdf.MAX_PAGES:,}",
        "links taken from a page": f"{facts.MAX_LINKS:,}",
    }
    assert f"deeper than {nesting.MAX_DEPTH}" in depth


def test_the_limits_are_those_of_the_corpora() -> None:
    defaults = json.loads((ROOT / "tests/data/hostile-defaults.json").read_text(encoding="utf-8"))["extract"]
    assert (PARSE_LIMITS.cpu_s, PARSE_LIMITS.memory_bytes) == (defaults["cpu_s"], defaults["memory_mib"] << 20)
    assert (defaults["links_max"], defaults["json_depth_max"]) == (facts.MAX_LINKS, tree.MAX_DEPTH)


def test_an_error_crosses_from_a_worker_as_it_was() -> None:
    error = ExtractionFailed("too_large", "too_large", "It is too large.", retryable=True, limit=3)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.as_json(), str(again)) == (ExtractionFailed, error.as_json(), str(error))
    assert (again.outcome, again.retryable) == ("too_large", True)
