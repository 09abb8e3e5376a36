"""The index over kept text: its tables, how rows get in and out, and the one question it answers, *who holds these terms*.

Rows commit with the text they index. Terms are made by ``evidence.terms`` and nothing else, so both databases hold the
same; SQLite ranks by BM25 (FTS5), PostgreSQL by ``ts_rank`` over the same sets. The terms of a passage are kept in
reading order beside it: a candidate is ranked without being read, folded and stemmed again.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import sqlalchemy as sa

from firsthand.db import Connection, metadata
from firsthand.evidence.entry import Entry, prepare
from firsthand.evidence.passages import PASSAGES_VERSION
from firsthand.evidence.terms import is_term
from firsthand.values import Text

VECTOR_MAX_POSITION = 16_383  # PostgreSQL's limits for a tsvector: position, positions a lexeme, bytes in all
VECTOR_MAX_POSITIONS = 255
VECTOR_MAX_BYTES = 900_000
IN_MAX = 500  # values in one IN list

_term_type = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")  # code-point order, as SQLite's

page = sa.Table(
    "page",
    metadata,
    sa.Column("text_id", sa.Integer, sa.ForeignKey("text.text_id"), primary_key=True),
    sa.Column("language", sa.Text),
    sa.Column("title_terms", sa.Text, nullable=False),
    sa.Column("first_passage_id", sa.Integer, nullable=False),
    sa.Column("n_passages", sa.Integer, nullable=False),
    sa.Column("passages_version", sa.Integer, nullable=False),  # the rule by which they were cut
)
passage = sa.Table(
    "passage",
    metadata,
    sa.Column("passage_id", sa.Integer, primary_key=True),
    sa.Column("text_id", sa.Integer, sa.ForeignKey("page.text_id"), nullable=False),
    sa.Column("seq", sa.Integer, nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("headings", sa.Text, nullable=False),
    sa.Column("header", sa.Text),
    sa.Column("caption", sa.Text, nullable=False),
    sa.Column("group_no", sa.Integer, nullable=False),
    sa.Column("lead", sa.Text, nullable=False),
    sa.Column("heading_terms", sa.Text, nullable=False),
    sa.Column("body_terms", sa.Text, nullable=False),
    sa.Column("context_terms", sa.Text, nullable=False),
    sa.Column("is_main", sa.Boolean, nullable=False),
    sa.Index("ix_passage_text_id", "text_id", "seq"),
)
term = sa.Table(
    "term",
    metadata,
    sa.Column("term", _term_type, primary_key=True),
    sa.Column("n_passages", sa.Integer, nullable=False),
    sqlite_with_rowid=False,
)

T = TypeVar("T", int, str)
Groups = Sequence[Sequence[str]]
Match = tuple[float, int]  # rank (lower is better) and id: the order of tuples is the order of hits
Columns = tuple[str, ...]  # the terms of each indexed column, separated by spaces


@dataclass(frozen=True, slots=True)
class Within:
    """Where to look: texts by id and, on SQLite, the passage ids they cover as sorted, disjoint, inclusive ranges."""

    text_ids: frozenset[int]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def holds(self, passage_id: int) -> bool:
        """Whether the passage belongs to one of the texts."""
        at = bisect_right(self.starts, passage_id) - 1
        return at >= 0 and passage_id <= self.ends[at]


# -- Writing


def index_text(connection: Connection, text_id: int, text: Text | Entry) -> int:
    """Index a kept text in the caller's transaction and return the number of its passages; indexed again, it is replaced."""
    remove_text(connection, text_id)
    entry = text if isinstance(text, Entry) else prepare(text)
    language, title = entry.language, entry.title
    rows = [dict(row) for row in entry.rows]
    first = 1 + (connection.execute(sa.select(sa.func.max(passage.c.passage_id))).scalar() or 0)
    if not _is_sqlite(connection):  # several processes may write: the sequence decides, so ids need not be dense
        first = _take_ids(connection)
    for passage_id, row in enumerate(rows, first):
        row["passage_id"] = passage_id
        row["text_id"] = text_id
    connection.execute(
        page.insert(),
        {
            "text_id": text_id,
            "language": language,
            "title_terms": title,
            "first_passage_id": first,
            "n_passages": len(rows),
            "passages_version": PASSAGES_VERSION,
        },
    )
    if rows:
        connection.execute(passage.insert(), rows)
        _count_terms(connection, title, rows, 1)
    _write_index(connection, "passage_index", _passage_entries(title, rows))
    _write_index(connection, "page_index", [(text_id, _page_columns(title, rows))])
    return len(rows)


def is_indexed(connection: Connection, text_id: int) -> bool:
    """Whether the text can be found, by passages that this release would cut."""
    query = sa.select(page.c.text_id).where(page.c.text_id == text_id, page.c.passages_version == PASSAGES_VERSION)
    return connection.execute(query).first() is not None


def remove_text(connection: Connection, text_id: int) -> None:
    """Take a text out of the index, in the caller's transaction. A text that is not in it is left alone."""
    title = connection.execute(sa.select(page.c.title_terms).where(page.c.text_id == text_id)).scalar()
    if title is None:
        return
    _alone(connection)
    query = sa.select(passage).where(passage.c.text_id == text_id).order_by(passage.c.seq)
    rows = [dict(row) for row in connection.execute(query).mappings()]
    _erase_index(connection, "passage_index", _passage_entries(title, rows))
    _erase_index(connection, "page_index", [(text_id, _page_columns(title, rows))])
    if rows:
        _count_terms(connection, title, rows, -1)
    connection.execute(passage.delete().where(passage.c.text_id == text_id))
    connection.execute(page.delete().where(page.c.text_id == text_id))


def _passage_entries(title: str, rows: Sequence[dict[str, object]]) -> list[tuple[int, Columns]]:
    return [
        (int(str(r["passage_id"])), (title, str(r["heading_terms"]), str(r["body_terms"]), str(r["context_terms"])))
        for r in rows
    ]


def _page_columns(title: str, rows: Sequence[dict[str, object]]) -> Columns:
    headings = " ".join(dict.fromkeys(str(row["heading_terms"]) for row in rows))  # each section once
    return title, headings, " ".join(str(row["body_terms"]) for row in rows)


def _count_terms(connection: Connection, title: str, rows: Sequence[dict[str, object]], by: int) -> None:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update({*title.split(), *f"{row['heading_terms']} {row['body_terms']} {row['context_terms']}".split()})
    # Sorted, so that two writers take PostgreSQL's row locks in one order.
    values = [(each, n * by) for each, n in sorted(counts.items())]
    mark = "?" if _is_sqlite(connection) else "%s"
    connection.exec_driver_sql(
        f"INSERT INTO term (term, n_passages) VALUES ({mark}, {mark})"
        " ON CONFLICT (term) DO UPDATE SET n_passages = term.n_passages + excluded.n_passages",
        values,
    )
    if by < 0:
        # Past the statement builder, which took longer over some 300 terms than the database: taking a page out cost 2.3
        # times what putting it in costs, and 1.6 times without (147 pages of PostgreSQL's manual).
        gone = [(each,) for each in sorted(counts)]
        connection.exec_driver_sql(f"DELETE FROM term WHERE term = {mark} AND n_passages <= 0", gone)


def _alone(connection: Connection) -> None:
    """Until this transaction ends nobody else writes the index.

    On PostgreSQL two writers could take the same ids, or, taking one text out and another one in, each other's row locks.
    """
    if not _is_sqlite(connection):
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(0x7061737361676573)))


def _take_ids(connection: Connection) -> int:
    """The first of the ids that are free."""
    _alone(connection)
    return 1 + (connection.execute(sa.select(sa.func.max(passage.c.passage_id))).scalar() or 0)


# -- The two full-text engines


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


_COLUMNS = {"passage_index": ("title", "headings", "body", "context"), "page_index": ("title", "headings", "body")}
_KEYS = {"passage_index": "passage_id", "page_index": "text_id"}
_LETTERS = {"passage_index": "ABCD", "page_index": "ABC"}
_RANK = {"passage_index": "{0.5, 1, 1, 1}", "page_index": "{0, 0.33, 0.67, 1}"}  # weights of D, C, B, A


def _write_index(connection: Connection, name: str, entries: Sequence[tuple[int, Columns]]) -> None:
    if not entries:
        return
    if _is_sqlite(connection):
        columns = _COLUMNS[name]
        marks = ", ".join("?" * (len(columns) + 1))
        connection.exec_driver_sql(
            f"INSERT INTO {name}(rowid, {', '.join(columns)}) VALUES ({marks})",
            [(key, *texts) for key, texts in entries],
        )
    else:
        connection.exec_driver_sql(
            f"INSERT INTO {name} VALUES (%s, %s::tsvector)",
            [(key, _vector(texts, _LETTERS[name])) for key, texts in entries],
        )


def _erase_index(connection: Connection, name: str, entries: Sequence[tuple[int, Columns]]) -> None:
    if not entries:
        return
    if _is_sqlite(connection):  # a contentless index forgets a row when it is told again what the row held
        columns = _COLUMNS[name]
        marks = ", ".join("?" * (len(columns) + 1))
        connection.exec_driver_sql(
            f"INSERT INTO {name}({name}, rowid, {', '.join(columns)}) VALUES ('delete', {marks})",
            [(key, *texts) for key, texts in entries],
        )
    else:
        connection.exec_driver_sql(f"DELETE FROM {name} WHERE {_KEYS[name]} = %s", [(key,) for key, _ in entries])


def _vector(texts: Columns, letters: str) -> str:
    """A tsvector's own spelling of the columns: each term quoted, with positions and weights, within PostgreSQL's limits."""
    positions: dict[str, list[str]] = {}
    at = 0
    for letter, text in zip(letters, texts, strict=True):
        for each in text.split():
            at += 1
            held = positions.setdefault(each, [])
            if len(held) < VECTOR_MAX_POSITIONS and (at <= VECTOR_MAX_POSITION or not held):
                held.append(f"{min(at, VECTOR_MAX_POSITION)}{letter}")
    parts: list[str] = []
    n_bytes = 0
    for each, held in positions.items():
        n_bytes += len(each.encode()) + 4 + 2 * len(held)
        if n_bytes > VECTOR_MAX_BYTES:
            break  # only pages of several MiB; their passages are indexed whole
        parts.append(f"'{each}':{','.join(held)}")
    return " ".join(parts)


# -- Matching


def match_expression(groups: Groups, require_all: bool, is_sqlite: bool) -> str:
    """The groups in the query language of the database; empty if no term is one. Terms are quoted, operators are ours."""
    quote = '"' if is_sqlite else "'"
    either, both = (" OR ", " AND ") if is_sqlite else (" | ", " & ")
    if not require_all:
        groups = [[each for group in groups for each in group]]
    said = []
    for group in groups:
        terms = [f"{quote}{each}{quote}" for each in dict.fromkeys(group) if is_term(each)]
        if terms:
            said.append(f"({either.join(terms)})")
        elif require_all:
            return ""  # a group that nothing can meet
    return both.join(said)


def matches(
    connection: Connection, name: str, expression: str, within: Within | None, limit: int
) -> list[tuple[int, float]]:
    """Ids and scores (higher is better) of what matches, best first, ties by id; at most *limit* that are *within*."""
    if not _is_sqlite(connection):
        return _matches_postgresql(connection, name, expression, within, limit)
    return best(every_match(connection, name, expression, within), limit)


def best(rows: Iterable[Match], limit: int) -> list[tuple[int, float]]:
    """Ids and scores of the *limit* best rows, best first, ties by id."""
    return [(key, -rank) for rank, key in heapq.nsmallest(limit, rows)]


def every_match(connection: Connection, name: str, expression: str, within: Within | None) -> list[Match]:
    """All that matches, in no order.

    Cost: on SQLite proportional to the matches, whatever the scope. FTS5 is not asked to sort: with that it took 160 ms
    for 31,000 matches, and 65 without (benchmarks/recall.py, a busy machine).
    """
    if not expression or (within is not None and not within.text_ids):
        return []
    if not _is_sqlite(connection):
        found = _matches_postgresql(connection, name, expression, within, None)
        return [(-score, key) for key, score in found]
    sql = f"SELECT rank, rowid FROM {name} WHERE {name} MATCH ?"
    if within is None:
        return raw_rows(connection, sql, (expression,))
    if name == "page_index":
        return [row for row in raw_rows(connection, sql, (expression,)) if row[1] in within.text_ids]
    bounds = (within.starts[0], within.ends[-1])
    rows = raw_rows(connection, sql + " AND rowid BETWEEN ? AND ?", (expression, *bounds))
    return rows if len(within.starts) == 1 else [row for row in rows if within.holds(row[1])]


def raw_rows(connection: Connection, sql: str, values: tuple[object, ...]) -> list[Any]:
    """The rows of a statement as the driver gives them: wrapping tens of thousands would cost as much as finding them."""
    return _fetched(connection.exec_driver_sql(sql, values))


def driver_rows(connection: Connection, query: sa.Select[Any]) -> list[Any]:
    """The rows of *query*, whose columns are plain text and numbers, as the driver gives them."""
    return _fetched(connection.execute(query))


def _fetched(result: sa.CursorResult[Any]) -> list[Any]:
    cursor = result.cursor
    try:
        return cast(list[Any], cursor.fetchall())
    finally:
        cursor.close()


def _matches_postgresql(
    connection: Connection, name: str, expression: str, within: Within | None, limit: int | None
) -> list[tuple[int, float]]:
    if not expression or (within is not None and not within.text_ids):
        return []
    key = _KEYS[name]
    scoped = ""
    values: dict[str, object] = {"expression": expression, "weights": _RANK[name], "limit": limit}
    if within is not None:
        values["texts"] = sorted(within.text_ids)
        scoped = " AND text_id = ANY(:texts)"
    join = " JOIN passage USING (passage_id)" if within is not None and name == "passage_index" else ""
    sql = (
        f"SELECT {key}, ts_rank(CAST(:weights AS real[]), vector, CAST(:expression AS tsquery)) AS score"
        f" FROM {name}{join} WHERE vector @@ CAST(:expression AS tsquery){scoped}"
        f" ORDER BY score DESC, {key} LIMIT :limit"
    )
    return [(int(row[0]), float(row[1])) for row in connection.execute(sa.text(sql), values)]


def optimize(connection: Connection) -> None:
    """Merge the pieces that adding left behind; worth calling after many pages were added (a second for 200,000 passages)."""
    if _is_sqlite(connection):
        for name in _COLUMNS:
            connection.exec_driver_sql(f"INSERT INTO {name}({name}) VALUES ('optimize')")


def in_parts(values: Iterable[T]) -> Iterator[list[T]]:
    """*values* sorted, each once, in lists short enough for one statement."""
    rest = sorted(set(values))
    for at in range(0, len(rest), IN_MAX):
        yield rest[at : at + IN_MAX]
