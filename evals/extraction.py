"""How good and how fast the main text of a page is, beside the libraries one would otherwise take.

    python -m evals.extraction --set articles|wcxb-dev|wcxb-test|golden FOLDER [--rows FILE.jsonl] [--ours-only] [--limit N]
    python -m evals.extraction --set docs FOLDER... [the same]

FOLDER is the local clone of a set (``extraction_sets`` names them), for ``docs`` the folders of HTML of four Debian
packages (``extraction_docs``). Every page goes through every reader in turn, in an order that rotates, so that the
machine's other work falls on all of them; time is CPU of this process, after one page for warming up. After another
reader's page the processor's caches are cold; ``--in-a-row 20`` measures as a worker works, which reads page after page.

Prints one JSON object; writes a row for each page and reader.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from evals import extraction_docs as docs
from evals import extraction_readers as readers
from evals.extraction_score import (
    Shingles,
    match,
    mean,
    quantile,
    shingle_match,
    shingles,
    snippet_share,
    standard_error,
)
from evals.extraction_sets import SETS, Case, every, load

Row = dict[str, Any]


def measure(
    cases: Sequence[Case], *, ours_only: bool = False, is_docs: bool = False, in_a_row: int = 1
) -> Iterator[Row]:
    """A row for each page and reader; a reader takes *in_a_row* pages before the next one has its turn."""
    logging.disable(logging.CRITICAL)  # the others log pages that they cannot read
    others = {} if ours_only else readers.installed()
    names = [readers.OURS, *others]
    for name in names if cases else ():
        _timed(name, cases[0].payload(), cases[0].url, others)
    gc.collect()
    gc.freeze()
    for number, first in enumerate(range(0, len(cases), in_a_row)):
        some = [(case, case.payload()) for case in cases[first : first + in_a_row]]
        for turn in range(len(names)):
            name = names[(number + turn) % len(names)]
            gc.collect()  # no reader clears away what another left
            found = [_timed(name, payload, case.url, others) for case, payload in some]
            for (case, payload), (text, outcome, taken_ms) in zip(some, found, strict=True):
                row: Row = {"page": case.page, "reader": name, "outcome": outcome, "ms": round(taken_ms, 3)}
                row |= {"n_bytes": len(payload), "kind": case.kind}
                yield row | (docs.kept(docs.gold(payload), text) if is_docs else _scores(case, text))


def _timed(name: str, payload: bytes, url: str, others: dict[str, readers.Reader]) -> tuple[Any, str, float]:
    if name == readers.OURS:
        began = time.process_time()
        text, outcome = readers.ours(payload, url)
        return text, outcome, (time.process_time() - began) * 1000
    began = time.process_time()
    try:
        found = others[name](payload)
        outcome = "ok" if found.strip() else "empty"
    except Exception as error:  # whatever another library raises: no text of this page, and the row says so
        found, outcome = "", type(error).__name__
    return found, outcome, (time.process_time() - began) * 1000


def _scores(case: Case, found: Any) -> Row:
    text = found if isinstance(found, str) else readers.main_text(found)
    told = match(text, case.gold)
    same = shingles(text, case.gold)
    row: Row = {"domain": case.domain, "is_seen": case.is_seen, "f1": told.f1}
    row |= {"precision": told.precision, "recall": told.recall, "shingles": [same.both, same.extra, same.missed]}
    if case.domain:  # of WCXB alone; a page without snippets counts as 1 there
        row |= {"with": snippet_share(text, case.snippets), "without": snippet_share(text, case.furniture)}
    row |= {"is_empty": not text.strip(), "is_gold_empty": not case.gold.strip()}
    if not isinstance(found, str):
        row["f1_without_collapsed"] = match(readers.main_text(found, collapsed=False), case.gold).f1
        row["f1_with_hidden"] = match(readers.main_text(found, hidden=True), case.gold).f1
        row["f1_all_blocks"] = match(readers.all_text(found), case.gold).f1
    return row


def report(rows: Sequence[Row], *, is_docs: bool = False) -> Row:
    """The figures of each reader, from its rows."""
    by_reader: dict[str, list[Row]] = {}
    for row in rows:
        by_reader.setdefault(row["reader"], []).append(row)
    told: dict[str, Row] = {}
    for name, own in by_reader.items():
        told[name] = docs.figures(own) if is_docs else _quality(own)
        told[name]["speed"] = _speed(own, by_reader.get(readers.DEFAULT, []))
    return {"pages": max(map(len, by_reader.values()), default=0), "versions": readers.versions(), "readers": told}


def _quality(rows: Sequence[Row]) -> Row:
    by_shingles = shingle_match([Shingles(*row["shingles"]) for row in rows])
    told: Row = {
        "f1": _mean(rows, "f1"),
        "f1_standard_error": round(standard_error([row["f1"] for row in rows]), 4),
        "precision": _mean(rows, "precision"),
        "recall": _mean(rows, "recall"),
        "shingle_f1": round(by_shingles.f1, 4),
        "shingle_precision": round(by_shingles.precision, 4),
        "shingle_recall": round(by_shingles.recall, 4),
        "empty_pages": sum(row["is_empty"] for row in rows),
        "pages_without_gold": sum(row["is_gold_empty"] for row in rows),
        "empty_as_it_should_be": sum(row["is_gold_empty"] and row["is_empty"] for row in rows),
    }
    for key in ("with", "without", "f1_without_collapsed", "f1_with_hidden", "f1_all_blocks"):
        if key in rows[0]:
            told[f"{key}_snippets" if key.startswith("with") else key] = _mean(rows, key)
    kinds = sorted({row["kind"] for row in rows})
    if len(kinds) > 1:
        told["by_kind"] = {kind: _part([row for row in rows if row["kind"] == kind]) for kind in kinds}
    if any(row["is_seen"] is not None for row in rows):
        told["domains_not_in_dev"] = _part([row for row in rows if not row["is_seen"]])
        told["domains_in_dev"] = _part([row for row in rows if row["is_seen"]])
    return told


def _part(rows: Sequence[Row]) -> Row:
    return {"pages": len(rows)} | {key: _mean(rows, key) for key in ("f1", "precision", "recall")}


def _mean(rows: Iterable[Row], key: str) -> float:
    return round(mean(row[key] for row in rows), 4)


def _speed(rows: Sequence[Row], default: Sequence[Row]) -> Row:
    taken = [row["ms"] for row in rows]
    told: Row = {
        "pages_per_s": round(len(taken) * 1000 / max(sum(taken), 1e-9), 1),
        "p50_ms": round(quantile(taken, 0.50), 2),
        "p95_ms": round(quantile(taken, 0.95), 2),
        "max_ms": round(max(taken), 1),
    }
    if default:
        told["times_trafilatura"] = round(sum(row["ms"] for row in default) / max(sum(taken), 1e-9), 2)
    return told


def _share(cases: Sequence[Case], ours_only: bool, is_docs: bool, in_a_row: int) -> list[Row]:
    return list(measure(cases, ours_only=ours_only, is_docs=is_docs, in_a_row=in_a_row))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the rows, print the figures."""
    parser = argparse.ArgumentParser(prog="evals.extraction", description=__doc__.partition("\n")[0])
    parser.add_argument("--set", required=True, choices=SETS, dest="name")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="write a row for each page and reader")
    parser.add_argument("--ours-only", action="store_true", help="leave the other readers out")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N pages, evenly spread")
    parser.add_argument("--in-a-row", type=int, default=1, metavar="N", help="pages that a reader takes in a turn")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; times are steadiest with one")
    options = parser.parse_args(arguments)
    is_docs = options.name == "docs"
    if not is_docs and len(options.folders) > 1:
        parser.error("only docs takes several folders")
    cases = docs.sample(options.folders) if is_docs else load(options.name, options.folders[0])
    cases = every(cases, options.limit)
    if options.jobs > 1:
        parts = [cases[i :: options.jobs] for i in range(options.jobs)]
        with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
            work = [pool.submit(_share, part, options.ours_only, is_docs, options.in_a_row) for part in parts]
            rows = [row for part in work for row in part.result()]
        rows.sort(key=lambda row: row["page"])
    else:
        rows = _share(cases, options.ours_only, is_docs, options.in_a_row)
    if options.rows:
        lines = (json.dumps({"set": options.name} | row, ensure_ascii=False) for row in rows)
        options.rows.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(json.dumps({"set": options.name} | report(rows, is_docs=is_docs), indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
