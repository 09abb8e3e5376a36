"""What it costs a page to be read in a worker process rather than in a thread: milliseconds, beside each other.

    python -m benchmarks.parse FOLDER [--rows FILE.jsonl] [--max-pages N]

Every page of FOLDER (``*.html``) is read in turn by both, several times, alternating, so that the machine's other work
falls on both; a page's row holds the medians of its wall times. CPU is the steadier figure: all that this process and
its worker used for a page, the worker's start told apart.

Prints one JSON object; writes a row for each page.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from firsthand.live.extraction import Extraction
from firsthand.live.worker import work

TIMES = 5  # a page is read by each; the medians of fewer swing too much
TINY = b"<p>Words of no page.</p>"
URL = "https://pages.example/"


@dataclass(frozen=True, slots=True)
class Row:
    """One page: median milliseconds of reading it in a thread and in a worker."""

    page: str
    n_bytes: int
    thread_ms: float
    worker_ms: float


@dataclass(slots=True)
class Spent:
    """Milliseconds of CPU: of this process for each way of reading, and of a worker for starting and for reading."""

    thread: float = 0.0
    asking: float = 0.0
    starting: float = 0.0
    worker: float = 0.0


async def measure(pages: list[Path]) -> tuple[list[Row], float, Spent]:
    """A row for each page, how long the first page waited for its worker to start, and the CPU that all this took."""
    spent = Spent()
    extraction = Extraction(1)
    began = time.perf_counter()
    await extraction.one(TINY, url=URL, content_type="text/html")
    started_ms = (time.perf_counter() - began) * 1000
    before = _children_ms()
    extraction.close()  # only what has ended is counted
    spent.starting = _children_ms() - before
    extraction = Extraction(1)
    await extraction.one(TINY, url=URL, content_type="text/html")
    before = _children_ms()
    rows = [await _row(page, extraction, spent) for page in pages]
    extraction.close()
    spent.worker = _children_ms() - before - spent.starting
    return rows, started_ms, spent


def _children_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


async def _row(page: Path, extraction: Extraction, spent: Spent) -> Row:
    payload = await asyncio.to_thread(page.read_bytes)
    in_thread: list[float] = []
    in_worker: list[float] = []
    for _ in range(TIMES):
        at = time.process_time()
        in_thread.append(await _ms(lambda: asyncio.to_thread(work, payload, URL, "text/html")))
        spent.thread += (time.process_time() - at) * 1000
        at = time.process_time()
        in_worker.append(await _ms(lambda: extraction.one(payload, url=URL, content_type="text/html")))
        spent.asking += (time.process_time() - at) * 1000
    return Row(page.name, len(payload), round(statistics.median(in_thread), 3), round(statistics.median(in_worker), 3))


async def _ms(read: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await read()
    return (time.perf_counter() - began) * 1000


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.parse", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=Path, help="write a row for each page here")
    parser.add_argument("--max-pages", type=int, default=100)
    given = parser.parse_args(arguments)
    pages = sorted(given.folder.rglob("*.html"))[: given.max_pages]
    if not pages:
        raise SystemExit(f"parse: there is no *.html in {given.folder}")
    rows, started_ms, spent = asyncio.run(measure(pages))
    if given.rows:
        given.rows.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    thread_ms, worker_ms = sum(row.thread_ms for row in rows), sum(row.worker_ms for row in rows)
    n_reads = len(rows) * TIMES
    figures = {
        "pages": len(rows),
        "bytes_mean": round(sum(row.n_bytes for row in rows) / len(rows)),
        "thread_ms_a_page": round(thread_ms / len(rows), 2),
        "worker_ms_a_page": round(worker_ms / len(rows), 2),
        "thread_cpu_ms_a_page": round(spent.thread / n_reads, 2),
        "worker_cpu_ms_a_page": round((spent.worker + spent.asking) / n_reads, 2),
        "cpu_worker_over_thread": round((spent.worker + spent.asking) / spent.thread, 3),
        "worker_start_ms": round(started_ms),
        "worker_start_cpu_ms": round(spent.starting),
    }
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
