"""Index folders of real pages and measure finding in them; prints one JSON object.

    python benchmarks/recall.py HOME --root /usr/share/doc/sqlite3=http://docs.test/sqlite3-doc/ … --questions FILE.jsonl

HOME is the data folder; what is in it already is not indexed again. A question is one JSON object a line with
``question``; without a file, the titles of the pages are asked.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from firsthand import migrations
from firsthand.db import Connection, Database, open_database
from firsthand.errors import ExtractionFailed
from firsthand.evidence.index import optimize, page
from firsthand.evidence.recall import index_text, lookup, search_kept
from firsthand.evidence.store import hold, keep_page, keep_text
from firsthand.evidence.tables import text as text_table
from firsthand.evidence.terms import language_of, query_groups
from firsthand.ports import Lookup, Scope
from firsthand.values import Page, Text
from firsthand.web.extract import extract

LIBRARY = "benchmark"
AT = datetime(2026, 1, 1, tzinfo=UTC)
PAGES_A_COMMIT = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("home", type=Path)
    parser.add_argument("--root", action="append", default=[], metavar="DIR=URL")
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--n-questions", type=int, default=120)
    args = parser.parse_args()
    database = open_database(f"sqlite:///{args.home / 'firsthand.db'}")
    try:
        migrations.upgrade(database)
        figures: dict[str, object] = build(database, args.root)
        figures |= ask(database, read_questions(database, args.questions)[: args.n_questions])
    finally:
        database.close()
    print(json.dumps(figures))


def build(database: Database, roots: Sequence[str]) -> dict[str, object]:
    """Keep and index every HTML page below the roots; a library that has pages already is left as it is."""
    spent = {"extract_s": 0.0, "keep_s": 0.0, "index_s": 0.0}
    if not database.read_now(lambda connection: connection.execute(sa.select(page.c.text_id).limit(1)).first()):
        began = time.perf_counter()
        batch: list[tuple[str, bytes, Text]] = []
        for url, payload in pages_below(roots):
            at = time.perf_counter()
            try:
                text = extract(payload, url=url, content_type="text/html")
            except ExtractionFailed:
                continue
            finally:
                spent["extract_s"] += time.perf_counter() - at
            batch.append((url, payload, text))
            if len(batch) >= PAGES_A_COMMIT:
                database.write_now(keep_all, batch, spent)
                batch = []
        database.write_now(keep_all, batch, spent)
        database.write_now(optimize)
        spent["build_s"] = time.perf_counter() - began
    counts = database.read_now(sizes)
    if spent["index_s"]:
        counts["passages_a_second"] = round(int(str(counts["passages"])) / spent["index_s"])
    return {**counts, **{name: round(value, 2) for name, value in spent.items()}}


def pages_below(roots: Sequence[str]) -> Iterable[tuple[str, bytes]]:
    for root in roots:
        folder, _, base = root.partition("=")
        for file in sorted(Path(folder).rglob("*.html")):
            yield base + file.relative_to(folder).as_posix(), file.read_bytes()


def keep_all(connection: Connection, batch: Sequence[tuple[str, bytes, Text]], spent: dict[str, float]) -> None:
    for url, payload, text in batch:
        at = time.perf_counter()
        kept = keep_page(connection, Page(url, url, 200, {"content-type": "text/html"}, payload, AT))
        text_id, is_new = keep_text(connection, kept.snapshot, text)
        hold(connection, LIBRARY, url, text_id, kept.capture_id)
        spent["keep_s"] += time.perf_counter() - at
        if is_new:
            at = time.perf_counter()
            index_text(connection, text_id, text)
            spent["index_s"] += time.perf_counter() - at


def sizes(connection: Connection) -> dict[str, object]:
    n_passages, n_pages = connection.execute(sa.select(sa.func.sum(page.c.n_passages), sa.func.count())).one()
    text_bytes = connection.execute(sa.text("SELECT sum(length(CAST(body AS BLOB))) FROM text")).scalar() or 0
    by_table: dict[str, int] = {}
    for name, size in connection.execute(sa.text("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")):
        kind = "index" if name.startswith(("passage_index", "page_index")) else name
        by_table[kind] = by_table.get(kind, 0) + size
    return {
        "pages": n_pages,
        "passages": n_passages,
        "text_mb": mb(text_bytes),
        "tables_mb": {name: mb(size) for name, size in sorted(by_table.items()) if size > 100_000},
    }


def read_questions(database: Database, file: Path | None) -> list[str]:
    if file:
        return [json.loads(line)["question"] for line in file.read_text(encoding="utf-8").splitlines() if line]
    titles = sa.select(text_table.c.title).where(text_table.c.title != "").order_by(text_table.c.text_digest)
    return list(database.read_now(lambda connection: connection.execute(titles).scalars().all()))


def ask(database: Database, questions: Sequence[str]) -> dict[str, object]:
    """Ask every question twice as the reader does, five look-ups, and measure the second time; then recall it."""
    scopes = {"everything": Scope(), "library": Scope(libraries=(LIBRARY,))}
    site = database.read_now(largest_site)
    figures: dict[str, object] = {}
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, scope in scopes.items():
        timed: list[float] = []
        cpu: list[float] = []
        found = 0
        for is_timed in (False, True):
            for question in questions:
                lookups = five_lookups(question, site)
                at, cpu_at = time.perf_counter(), time.thread_time()
                found += len(database.read_now(lookup, lookups, scope))
                if is_timed:
                    timed.append(time.perf_counter() - at)
                    cpu.append(time.thread_time() - cpu_at)
        figures[f"lookup_{name}_ms"] = percentiles(timed)
        figures[f"lookup_{name}_cpu_ms"] = percentiles(cpu)
        figures["candidates_mean"] = round(found / 2 / max(1, len(questions)))
    timed = []
    for question in questions:
        words = " ".join(question.split()[-3:])
        at = time.perf_counter()
        database.read_now(search_kept, words, Scope(), 10)
        timed.append(time.perf_counter() - at)
    figures["recall_ms"] = percentiles(timed)
    figures["memory_grown_mb"] = round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb) / 1024, 1)
    return figures


def largest_site(connection: Connection) -> str | None:
    return connection.execute(sa.text("SELECT site FROM holding GROUP BY site ORDER BY count(*) DESC, site")).scalar()


def five_lookups(question: str, site: str | None) -> list[Lookup]:
    """What the extractive reader asks: all words, any word, any word or its translation, one site, pages."""
    language = language_of(question, None)
    groups = query_groups(question, language, ())
    wide = query_groups(question, language, ("en", "de", "ru"))
    return [
        Lookup("all", groups, "all"),
        Lookup("any", groups),
        Lookup("wide", wide),
        Lookup("site", groups, site=site),
        Lookup("pages", groups, of="pages", limit=6),
    ]


def percentiles(timed: Sequence[float]) -> dict[str, float]:
    if not timed:
        return {}
    ordered = sorted(timed)
    return {
        "p50": round(statistics.median(ordered) * 1000, 1),
        "p95": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] * 1000, 1),
    }


def mb(n_bytes: int) -> float:
    return round(n_bytes / 1e6, 1)


if __name__ == "__main__":
    main()
