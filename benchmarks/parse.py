"""What it costs a page to be read in a worker process rather than in a thread: milliseconds, beside each other.

    python -m benchmarks.parse FOLDER [--rows FILE.jsonl] [--max-pages N]

Every page of FOLDER (``*.html``) is read in turn by both, several times, alternating, and the medians are compared: the
machine's other work falls on both. Start-up is told apart: what the first page waits for a worker.

Prints one JSON object; writes a row for each page.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from firsthand.live.extraction import Extraction
from firsthand.live.worker import work

TIMES = 5  # a page is read by each; the medians of fewer swing too much
URL = "https://pages.example/"


@dataclass(frozen=True, slots=True)
class Row:
    """One page: median milliseconds of reading it in a thread and in a worker."""

    page: str
    n_bytes: int
    thread_ms: float
    worker_ms: float


async def measure(pages: list[Path]) -> tuple[list[Row], float]:
    """A row for each page, and how long the first page waited for its worker to start."""
    extraction = Extraction(1)
    try:
        began = time.perf_counter()
        await extraction.one(b"<p>Words of no page.</p>", url=URL, content_type="text/html")
        started_ms = (time.perf_counter() - began) * 1000
        return [await _row(page, extraction) for page in pages], started_ms
    finally:
        extraction.close()


async def _row(page: Path, extraction: Extraction) -> Row:
    payload = await asyncio.to_thread(page.read_bytes)
    in_thread: list[float] = []
    in_worker: list[float] = []
    for _ in range(TIMES):
        in_thread.append(await _ms(lambda: asyncio.to_thread(work, payload, URL, "text/html")))
        in_worker.append(await _ms(lambda: extraction.one(payload, url=URL, content_type="text/html")))
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
    rows, started_ms = asyncio.run(measure(pages))
    if given.rows:
        given.rows.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    thread_ms, worker_ms = sum(row.thread_ms for row in rows), sum(row.worker_ms for row in rows)
    figures = {
        "pages": len(rows),
        "bytes_mean": round(sum(row.n_bytes for row in rows) / len(rows)),
        "thread_ms_a_page": round(thread_ms / len(rows), 2),
        "worker_ms_a_page": round(worker_ms / len(rows), 2),
        "worker_over_thread": round(worker_ms / thread_ms, 3),
        "worker_start_ms": round(started_ms),
    }
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
