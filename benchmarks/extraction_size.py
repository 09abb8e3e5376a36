"""How time and memory of extraction grow with a page: 20 kB to 20 MB, made of blocks of real documentation.

    python -m benchmarks.extraction_size FOLDER... [--rows FILE.jsonl] [--sizes 20000,...] [--shapes]

The blocks (headings, paragraphs, lists, code, tables, definition lists) come from the pages of the FOLDERs that
``evals.extraction --set docs`` samples, shuffled with a fixed seed so that every size has the same mix, over and over
until a page has its size. Each size is read in a process of its own, which reads a small page first; its time is CPU,
the best of several readings, its memory the growth of the process's resident size at its peak (Linux).

Prints one JSON object: a row for each size, and how far the nanoseconds a byte swing between sizes. With ``--shapes``
it also reads pages that no author writes (``SHAPES``), each in two sizes, one four times the other: the growth of the
time over that of the bytes is near 1 where the cost is linear, near 4 where it is quadratic.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from evals.extraction_docs import sample
from firsthand.web.extract import EXTRACTOR_VERSION, extract

SIZES = (20_000, 50_000, 200_000, 1_000_000, 5_000_000, 20_000_000)  # bytes
_BLOCKS = frozenset(["h2", "h3", "p", "pre", "ul", "ol", "dl", "table", "blockquote"])
_MAX_BLOCK_BYTES = 4_000  # an index of a megabyte would be a page of its own
_URL = "https://docs.example/page.html"
_TINY = b"<!doctype html><title>Warm</title><main><h1>Warm</h1><p>Words enough to be a page of its own kind.</p></main>"
_READ_S = 3.0  # a small page is read again and again for this long, a large one at least twice


_ARTICLE = '<!doctype html><title>Some words</title><meta property="og:type" content="article"><body><main>'


def _some(n_words: int, seed: int = 0) -> str:
    made = random.Random(seed)
    return " ".join("".join(made.choices("abcdefghijklm", k=6)) for _ in range(n_words))


def _each(n_parts: int, part: Callable[[int], str]) -> str:
    return "".join(map(part, range(n_parts)))


# A page of size n, by the name of what it tries.
SHAPES: dict[str, Callable[[int], str]] = {
    "an article of twenty huge blocks and many small": lambda n: (
        _each(20, lambda i: f"<p>{_some(12_000 * n, i)}</p>") + _each(1000 * n, lambda i: f"<p>{_some(13, i)}</p>")
    ),
    "hidden in hidden": lambda n: (
        _each(100 * n, lambda i: f"<div hidden><p>{_some(3, i)}</p>")
        + _each(1000 * n, lambda i: f"<p>{_some(13, i)}</p>")
    ),
    "deep": lambda n: _each(800 * n, lambda i: f"<div>{_some(3, i)}"),
    "lists in lists": lambda n: _each(300 * n, lambda i: f"<ul><li>{_some(3, i)}"),
    "tables in tables": lambda n: _each(100 * n, lambda i: f"<table><tr><td>{_some(3, i)}"),
    "rows": lambda n: f"<table>{_each(1000 * n, lambda i: f'<tr><td>{_some(1, i)}</td><td>{i}</td></tr>')}</table>",
    "links": lambda n: _each(2000 * n, lambda i: f"<p><a href=/{i}>{_some(3, i)}</a></p>"),
    "links in one paragraph": lambda n: f"<p>{_each(2000 * n, lambda i: f'<a href=/{i}>{_some(3, i)}</a> ')}</p>",
    "classes": lambda n: _each(1000 * n, lambda i: f'<div class="{_some(3, i)}" id=i{i}><p>{_some(5, i)}</p></div>'),
    "headings": lambda n: _each(1000 * n, lambda i: f"<h{1 + i % 6}>{_some(5, i)}</h{1 + i % 6}><p>{_some(9, i)}</p>"),
    "the same text": lambda n: "<p>The same words as everywhere else on this page.</p>" * (1000 * n),
    "controls": lambda n: _each(
        1000 * n,
        lambda i: f"<button aria-controls=c{i}>Open</button><div id=c{i} style=display:none>{_some(8, i)}</div>",
    ),
    "style sheets": lambda n: (
        f"<style>{_each(1000 * n, lambda i: f'.c{i} {{ display: none }}')}</style>"
        + _each(1000 * n, lambda i: f"<p class=d{i}>{_some(8, i)}</p>")
    ),
}


def growth(shape: Callable[[int], str]) -> float:
    """How much faster than its bytes the time of a page of this shape grows."""
    small, large = (measure((_ARTICLE + shape(n)).encode()) for n in (1, 4))
    return round(float(large["ns_per_byte"] / small["ns_per_byte"]), 2)


def blocks(folders: Sequence[Path]) -> list[bytes]:
    """The outermost blocks of the sample's pages, as markup, in a fixed order that mixes the pages."""
    found: list[bytes] = []
    for case in sample(folders):
        body = LexborHTMLParser(case.payload()).body
        stack = [] if body is None else [body]
        while stack:
            node = stack.pop()
            if node.tag not in _BLOCKS:
                stack.extend(reversed(list(node.iter(include_text=False))))
                continue
            piece = (node.html or "").encode()
            if len(piece) <= _MAX_BLOCK_BYTES:
                found.append(piece)
    random.Random(0).shuffle(found)
    return found


def page(pieces: Sequence[bytes], n_bytes: int) -> bytes:
    """A page of at least *n_bytes*, less than one block above that."""
    made = [b"<!doctype html><html lang=en><head><meta charset=utf-8><title>All of it</title></head><body><main>"]
    size = len(made[0])
    for piece in cycle(pieces):
        if size >= n_bytes:
            break
        made.append(piece)
        size += len(piece) + 1
    return b"\n".join(made) + b"</main></body></html>"


def measure(payload: bytes) -> dict[str, Any]:
    """Time and memory of reading one page in this process."""
    extract(_TINY, url=_URL, content_type="text/html")
    with contextlib.suppress(OSError):  # where that is not allowed, the start's own peak counts
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts here
    before_bytes = _resident("VmRSS")
    taken: list[float] = []
    until = time.process_time() + _READ_S
    text = None
    while len(taken) < 2 or time.process_time() < until:
        del text
        gc.collect()
        began = time.process_time()
        text = extract(payload, url=_URL, content_type="text/html")
        taken.append(time.process_time() - began)
    assert text is not None
    grown_bytes = _resident("VmHWM") - before_bytes
    return {
        "n_bytes": len(payload),
        "n_blocks": len(text.blocks),
        "text_chars": len(text.body),
        "ms": round(min(taken) * 1000, 2),
        "ns_per_byte": round(min(taken) * 1e9 / len(payload), 1),
        "peak_mb": round(grown_bytes / 1e6, 1),
        "peak_bytes_per_byte": round(grown_bytes / len(payload), 1),
    }


def _resident(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def rows(folders: Sequence[Path], sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """A row for each size, from a process of its own."""
    pieces = blocks(folders)
    for n_bytes in sizes:
        made = page(pieces, n_bytes)
        command = [sys.executable, "-m", "benchmarks.extraction_size", "--one"]
        yield json.loads(subprocess.run(command, input=made, stdout=subprocess.PIPE, check=True).stdout)


def summary(measured: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The rows, and the largest nanoseconds a byte over the smallest."""
    costs = [row["ns_per_byte"] for row in measured]
    return {
        "extractor_version": EXTRACTOR_VERSION,
        "sizes": list(measured),
        "max_over_min_ns_per_byte": round(max(costs) / min(costs), 2),
        "max_peak_bytes_per_byte": max(row["peak_bytes_per_byte"] for row in measured),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every size and print the figures."""
    parser = argparse.ArgumentParser(prog="benchmarks.extraction_size", description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="write a row for each size")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="bytes, with commas between")
    parser.add_argument("--shapes", action="store_true", help="read pages that no author writes, too")
    parser.add_argument("--one", action="store_true", help="measure the page on standard input, in this process")
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(sys.stdin.buffer.read())))
        return 0
    if not options.folders:
        parser.error("name the folders of documentation")
    measured = list(rows(options.folders, [int(size) for size in options.sizes.split(",")]))
    if options.rows:
        options.rows.write_text("".join(f"{json.dumps(row)}\n" for row in measured), encoding="utf-8")
    told = summary(measured)
    if options.shapes:
        told["growth_by_shape"] = {name: growth(shape) for name, shape in SHAPES.items()}
    print(json.dumps(told, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
