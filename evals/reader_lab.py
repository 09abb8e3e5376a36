"""The reader without a command line: index the packages once, answer a question file in process, score it.

    python -m evals.reader_lab --home DIR [--questions FILE] [--k 5] [--out FILE] [--misses] [--constants] [--only ID…]

Prints one JSON object. The index is reused while it is there; delete the folder after a change of extraction.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals import score as scorer
from evals.check import Root, gather_roots
from firsthand import migrations
from firsthand.db import Connection, Database, open_database
from firsthand.errors import ExtractionFailed
from firsthand.evidence.index import index_text
from firsthand.evidence.recall import SqlShelf
from firsthand.evidence.store import hold, keep_page, keep_text
from firsthand.ports import Scope, Shelf, Site
from firsthand.research import decline as declining
from firsthand.research import plan as planning
from firsthand.research import rank as ranking
from firsthand.research import read as reading
from firsthand.research import write as writing
from firsthand.values import Page, Text
from firsthand.web.extract import extract

HERE = Path(__file__).parent
HOST = "http://127.0.0.1:8000"
RETRIEVED_AT = datetime(2020, 1, 1, tzinfo=UTC)
PAGES_A_WRITE = 40


def build(database: Database, roots: dict[str, Root]) -> int:
    """Keep and index every page under every root; the number of pages."""
    n_pages = 0
    for package, root in roots.items():
        files = sorted(
            file for file in root.directory.rglob("*") if file.suffix in (".html", ".htm") and file.is_file()
        )
        for at in range(0, len(files), PAGES_A_WRITE):
            made = [(page, text) for file in files[at : at + PAGES_A_WRITE] for page, text in _read(file, root)]
            database.write_now(_keep, package, made)
            n_pages += len(made)
        print(f"{package}: {len(files)} pages", file=sys.stderr)
    return n_pages


def _read(file: Path, root: Root) -> Iterable[tuple[Page, Text]]:
    url = HOST + root.path + file.relative_to(root.directory).as_posix()
    payload = file.read_bytes()
    page = Page(url, url, 200, {"content-type": "text/html"}, payload, RETRIEVED_AT)
    try:
        yield page, extract(payload, url=url, content_type="text/html")
    except ExtractionFailed as error:
        print(f"{url}: {error.code}", file=sys.stderr)


def _keep(connection: Connection, package: str, made: Sequence[tuple[Page, Text]]) -> None:
    for page, text in made:
        kept = keep_page(connection, page)
        text_id, _ = keep_text(connection, kept.snapshot, text)
        hold(connection, package, page.url, text_id, kept.capture_id)
        index_text(connection, text_id, text)


async def answer(shelf: Shelf, sites: Sequence[Site], question: str, k: int) -> dict[str, Any]:
    """One question answered by the reader, as a line of ``batch`` would be."""
    began = time.perf_counter()
    scope = Scope()
    terms = planning.needed_terms(question, sites)
    rarity = await shelf.rarity(terms)
    plan = planning.make_plan(question, rarity, sites)
    row: dict[str, Any] = {"status": "needs_clarification", "text": plan.clarification or "", "claims": []}
    steps = {"plan": time.perf_counter() - began}
    if plan.clarification is None:
        candidates = await shelf.lookup(planning.lookups(plan), scope)
        steps["lookup"] = time.perf_counter() - began
        ranked = ranking.rank(plan, candidates)
        steps["rank"] = time.perf_counter() - began
        missing = declining.decline(plan, ranked)
        texts = await shelf.passages(reading.wanted(plan, ranked))
        evidence = reading.choose(plan, ranked, texts, max_passages=k)
        steps["read"] = time.perf_counter() - began
        pages = {each.page.text_id: each.page for each in evidence}
        draft = writing.write(plan, evidence, pages)
        row = {
            "status": "insufficient_evidence" if missing else "answered",
            "text": "" if missing else draft.text,
            "claims": []
            if missing
            else [
                {
                    "text": claim.text,
                    "citations": [{"url": pages[q.text_id].url, "quote": q.text} for q in claim.quotes],
                }
                for claim in draft.claims
            ],
            "missing": list(missing or ()),
            "best": ranked[0].score if ranked else None,
        }
    row["elapsed_ms"] = round((time.perf_counter() - began) * 1000, 1)
    row["steps"] = {name: round(value * 1000) for name, value in steps.items()}
    return row


async def run(database: Database, questions: Sequence[dict[str, Any]], k: int) -> list[dict[str, Any]]:
    """All questions, one after another."""
    shelf = SqlShelf(database)
    sites = await shelf.sites(Scope())
    rows = []
    for each in questions:
        rows.append({"id": each["id"], **await answer(shelf, sites, each["question"], k)})
    return rows


async def constants(database: Database, questions: Sequence[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Mean and deviation of each feature over the candidates of all questions."""
    shelf = SqlShelf(database)
    sites = await shelf.sites(Scope())
    values: dict[str, list[float]] = {name: [] for name in ranking.FEATURES}
    for each in questions:
        rarity = await shelf.rarity(planning.needed_terms(each["question"], sites))
        plan = planning.make_plan(each["question"], rarity, sites)
        for ranked in ranking.rank(plan, await shelf.lookup(planning.lookups(plan), Scope())):
            for name, value in ranked.features.items():
                values[name].append(value)
    return {name: (round(statistics.fmean(v), 3), round(statistics.pstdev(v) or 1.0, 3)) for name, v in values.items()}


def main(arguments: Sequence[str]) -> int:
    """Build what is missing, answer, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=Path, default=HERE / "questions-open.jsonl")
    parser.add_argument("--roots", type=Path, default=HERE / "README.md")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--constants", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args(arguments)
    roots = gather_roots([str(options.roots)], [])
    file = options.home / "lab.db"
    is_new = not file.exists()
    database = open_database(f"sqlite:///{file}")
    try:
        migrations.upgrade(database)
        if is_new:
            began = time.perf_counter()
            n_pages = build(database, roots)
            print(f"{n_pages} pages in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        questions = scorer.read_lines(str(options.questions))
        questions = [each for each in questions if not options.only or each["id"] in options.only]
        if options.constants:
            print(json.dumps(asyncio.run(constants(database, questions))))
            return 0
        rows = asyncio.run(run(database, questions, options.k))
    finally:
        database.close()
    if options.out:
        options.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    result = scorer.score(questions, rows, roots, with_misses=options.misses)
    print(json.dumps(_short(result), ensure_ascii=False, indent=1))
    return 0


def _short(result: dict[str, Any]) -> dict[str, Any]:
    kept = ("answer_recall", "answer_recall_from_gold", "answer_recall_first_quote", "page_recall")
    return {
        "overall": result["overall"],
        "by_package": {name: [row[key] for key in kept] for name, row in result["by_package"].items()},
        "by_type": {name: [row[key] for key in kept] for name, row in result["by_type"].items()},
        **({"misses": result["misses"]} if "misses" in result else {}),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
