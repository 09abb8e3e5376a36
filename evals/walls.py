"""Judges the rows of ``tests/data/walls.jsonl`` and counts, by outcome, how many walls and pages are told apart.

    python -m evals.walls [--floors evals/floors-walls.json] [--set dev|held] [--out FILE.jsonl] [--misses]
    python -m evals.walls --pages FOLDER [--out FILE.jsonl] [--misses]

A row is a reply: address, status, headers, body. Walls are reconstructed from public descriptions (each with its date and
note), good pages are made here or taken from ``demo/``. ``held`` rows were written before the rules and not looked at
while they were tuned; both halves have one author, so they show less than pages of others do. When they were first
measured, all 51 walls of that half had their outcome and 1 of its 46 pages was a false wall; its kind was mended
afterwards. Prints one JSON object: precision and recall of each outcome, of both halves. With --floors the exit code is 1
if a figure is below its floor.

With --pages every HTML file of a folder (packed ones, too) is judged as a page with a good status: how many would be lost,
which (--misses), and the CPU time of a page. Whether a page that is named there is one must be looked at by hand.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firsthand.errors import FetchFailed
from firsthand.values import HttpResponse
from firsthand.web import reply
from firsthand.web.recognise import recognise

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "tests" / "data" / "walls.jsonl"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """One row and what was made of it."""

    id: str
    kind: str
    set: str
    expected: str
    found: str
    code: str

    @property
    def is_right(self) -> bool:
        """Whether the outcome is the stated one."""
        return self.found == self.expected


def read_rows(path: Path = ROWS) -> list[Row]:
    """The rows, in order."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def body_of(row: Row) -> bytes:
    """The bytes of a row: strings, repeated strings and files of the project, one after the other."""
    return b"".join(_part(part) for part in row["body"])


def _part(part: str | dict[str, Any]) -> bytes:
    if isinstance(part, str):
        return part.encode()
    if "file" in part:
        return (ROOT / str(part["file"])).read_bytes()
    return str(part["repeat"]).encode() * int(part["times"])


def response_of(row: Row) -> HttpResponse:
    """The reply that a row describes."""
    return HttpResponse(row["url"], row["status"], row["headers"], body_of(row))


def judge(row: Row) -> Judged:
    """What the rules make of one row: the same calls as a fetch makes."""
    response = response_of(row)
    found, code = "ok", ""
    try:
        reply.check_status(response)
        reply.check_type(response)
        reply.check_walls(response, asked=str(row.get("asked", row["url"])))
    except FetchFailed as error:
        found, code = error.outcome, error.code
    return Judged(row["id"], row["kind"], row["set"], row["expect"], found, code)


def figures(judged: Iterable[Judged]) -> dict[str, Any]:
    """Counts, and precision and recall of each outcome."""
    rows = list(judged)
    expected = Counter(row.expected for row in rows)
    found = Counter(row.found for row in rows)
    right = Counter(row.expected for row in rows if row.is_right)
    outcomes = {
        outcome: {
            "n": expected[outcome],
            "precision": _share(right[outcome], found[outcome]),
            "recall": _share(right[outcome], expected[outcome]),
        }
        for outcome in sorted(expected | found)
    }
    walls = [row for row in rows if row.expected != "ok"]
    pages = [row for row in rows if row.expected == "ok"]
    return {
        "n_walls": len(walls),
        "n_pages": len(pages),
        "walls_caught": _share(sum(row.found != "ok" for row in walls), len(walls)),
        "false_walls": _share(sum(not row.is_right for row in pages), len(pages)),
        "outcome_right": _share(sum(row.is_right for row in rows), len(rows)),
        "outcomes": outcomes,
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def below(result: dict[str, Any], floors: dict[str, dict[str, float]]) -> Iterator[str]:
    """What is below its floor (above it, for ``false_walls``)."""
    for name, limits in floors.items():
        for measure, floor in limits.items():
            value = result[name][measure]
            if value > floor if measure.startswith("false_") else value < floor:
                yield f"{name}.{measure} is {value}, the floor is {floor}"


def judge_folder(folder: Path) -> Iterator[tuple[Path, str, float]]:
    """Each HTML file, the code of the wall it is taken for (empty: none), and the CPU milliseconds that took."""
    for path in sorted((*folder.rglob("*.html"), *folder.rglob("*.html.gz"))):
        if not path.is_file():
            continue
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        url = f"https://site.example/{path.relative_to(folder)}"
        response = HttpResponse(url, 200, {"content-type": "text/html"}, body)
        began = time.process_time()
        wall = recognise(response, asked=url)
        yield path, wall.code if wall else "", (time.process_time() - began) * 1000


def pages_figures(rows: list[tuple[Path, str, float]]) -> dict[str, Any]:
    """How many pages were taken for walls, by code, and percentiles of the time."""
    times = sorted(ms for _, _, ms in rows) or [0.0]
    return {
        "n_pages": len(rows),
        "taken_for_walls": dict(Counter(code for _, code, _ in rows if code)),
        **{f"p{share}_ms": round(times[len(times) * share // 100], 2) for share in (50, 90, 99)},
    }


def main() -> int:
    """Exit code 1 if a figure is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--floors", type=Path)
    parser.add_argument("--set", choices=("dev", "held"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--misses", action="store_true", help="print each wrong row on stderr")
    parser.add_argument("--pages", type=Path)
    given = parser.parse_args()
    if given.pages:
        return _main_pages(given.pages, given.out, given.misses)
    judged = [judge(row) for row in read_rows() if given.set in (None, row["set"])]
    result = {name: figures(row for row in judged if row.set == name) for name in ("dev", "held")}
    if given.out:
        lines = [
            json.dumps(
                {"id": r.id, "kind": r.kind, "set": r.set, "expected": r.expected, "found": r.found, "code": r.code}
            )
            for r in judged
        ]
        given.out.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    if given.misses:
        for row in judged:
            if not row.is_right:
                print(f"{row.id} {row.kind}: {row.found} instead of {row.expected}", file=sys.stderr)
    print(json.dumps(result))
    wrong = list(below(result, json.loads(given.floors.read_text(encoding="utf-8")))) if given.floors else []
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def _main_pages(folder: Path, out: Path | None, names_misses: bool) -> int:
    rows = list(judge_folder(folder))
    if out:
        lines = [json.dumps({"page": str(path), "code": code, "ms": round(ms, 3)}) for path, code, ms in rows]
        out.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    if names_misses:
        for path, code, _ in rows:
            if code:
                print(f"{code} {path}", file=sys.stderr)
    print(json.dumps(pages_figures(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
