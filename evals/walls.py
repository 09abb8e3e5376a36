"""Judges the rows of ``tests/data/walls.jsonl`` and counts, by outcome, how many walls and pages are told apart.

    python -m evals.walls [--floors evals/floors-walls.json] [--set dev|held] [--out FILE.jsonl] [--misses]

A row is a reply: address, status, headers, body. Walls are reconstructed from public descriptions (each with its date and
note), good pages are made here or taken from ``demo/``. ``held`` rows were written before the rules were tuned and not
looked at while they were. Prints one JSON object: precision and recall of each outcome, of both halves. With --floors the
exit code is 1 if a figure is below its floor.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firsthand.errors import FetchFailed
from firsthand.values import HttpResponse
from firsthand.web import reply

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


def main() -> int:
    """Exit code 1 if a figure is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--floors", type=Path)
    parser.add_argument("--set", choices=("dev", "held"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--misses", action="store_true", help="print each wrong row on stderr")
    given = parser.parse_args()
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


if __name__ == "__main__":
    sys.exit(main())
