"""Best passages for any of some terms, on SQLite, without scoring every match.

FTS5's ``bm25()`` takes 2.7 µs a match, the ids alone 0.27 µs when SQLite hands them over as one JSON text (195,000
passages, 60 terms of 2,000 to 8,000 matches). So the ids of each term are read once a question, passages are picked by
the rarity of what they hold, and only those are scored by BM25, from the terms that stand beside them.
"""

from __future__ import annotations

import heapq
import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from firsthand.db import Connection
from firsthand.evidence.index import Match, Within, best, in_parts, raw_rows
from firsthand.evidence.terms import is_term

K1 = 1.2  # BM25's constants and weights are those of FTS5 and of the index: see migration 0002
B = 0.75
CONTEXT_WEIGHT = 0.5
AVERAGE_TERMS = 51.6  # terms of a passage with title and headings; 51.6 and 51.8 in two indexes of 195,000 and 135,000
PICKED_SHARE = 3  # passages scored for each that is wanted
PICKED_SHARE_OF_PAGE = 2
WEIGHED_SHARE = 3  # passages whose length is looked at for each that is picked
N_COLUMNS = 4
FEW = 2_000  # matches of a term that cost less to read than to think about
LAST_ID = 2**63 - 1


def idf(n_passages: int, n_with: int) -> float:
    """FTS5's inverse document frequency: next to nothing for a term that half of all passages hold."""
    return max(1e-6, math.log((n_passages - n_with + 0.5) / (n_with + 0.5))) if n_with < n_passages else 1e-6


class Postings:
    """Which passages hold a term, each term read once; made for the look-ups of one question."""

    def __init__(self, connection: Connection, n_passages: int, counts: Mapping[str, int]) -> None:
        self._connection = connection
        self._counts = counts
        self._n_passages = n_passages
        self._held: dict[tuple[str, int, int], list[int]] = {}
        self._weights: dict[int, float] = {}

    def known(self, groups: Iterable[Iterable[str]]) -> dict[str, float]:
        """The terms of *groups* that some passage holds, with their idf, rarest first."""
        terms = {each for group in groups for each in group if is_term(each) and self._counts.get(each, 0) > 0}
        ordered = sorted(terms, key=lambda each: (self._counts[each], each))
        return {each: idf(self._n_passages, self._counts[each]) for each in ordered}

    def ids(self, term: str, within: Within | None) -> list[int]:
        """The passages that hold *term*, in the order of ids."""
        if within is None:
            return self._read(term, 0, LAST_ID)
        first, last = within.starts[0], within.ends[-1]
        found = self._held.get((term, 0, LAST_ID)) or self._read(term, first, last)
        if len(within.starts) == 1:
            return found[bisect_left(found, first) : bisect_right(found, last)]
        kept: list[int] = []
        for start, end in zip(within.starts, within.ends, strict=True):
            at = bisect_left(found, start)
            if at < len(found) and found[at] <= end:
                kept += found[at : bisect_right(found, end, at)]
        return kept

    def pick(self, terms: Mapping[str, float], within: Within | None, limit: int) -> list[int]:
        """At least the *limit* passages that hold the rarest of *terms*, if so many hold any.

        When a term, and all that are more common, could not lift a new passage among the picked, they count for the
        passages that are known only.
        """
        if within is not None and not within.starts:
            return []
        sums: dict[int, float] = {}
        rest = sum(terms.values())
        wanted = limit * PICKED_SHARE
        is_closed = False
        for term, weight in terms.items():
            if not is_closed and self._counts[term] > FEW and len(sums) > wanted:
                is_closed = _nth(sums.values(), wanted) >= rest
            found: Iterable[int] = self.ids(term, within)
            for each in sums.keys() & found if is_closed else found:
                sums[each] = sums.get(each, 0.0) + weight
            rest -= weight
        return self._rarest(sums, wanted)

    def pick_in(self, ranges: Sequence[tuple[int, int]], terms: Mapping[str, float], limit: int) -> list[list[int]]:
        """For each range of ids, such as a page's, the passages that ``pick`` would pick."""
        found = []
        for first, last in ranges:
            within = Within(frozenset(), (first,), (last,))
            sums: dict[int, float] = {}
            for term, weight in terms.items():
                for each in self.ids(term, within):
                    sums[each] = sums.get(each, 0.0) + weight
            found.append(self._rarest(sums, limit * PICKED_SHARE_OF_PAGE))
        return found

    def _rarest(self, sums: dict[int, float], limit: int) -> list[int]:
        """The *limit* ids with the highest sums; among the first of them the shorter passage counts more, as in BM25."""
        if len(sums) <= limit:
            return list(sums)
        rough = sorted(sums, key=sums.__getitem__, reverse=True)[: limit * WEIGHED_SHARE]
        self._weigh(rough)
        weights = self._weights
        return heapq.nsmallest(limit, rough, key=lambda each: (-sums[each] * weights[each], each))

    def _weigh(self, passage_ids: Iterable[int]) -> None:
        """Learn what BM25 makes of the length of each passage. FTS5 keeps it: one varint a column."""
        new = [each for each in passage_ids if each not in self._weights]
        if new:
            sql = "SELECT id, sz FROM passage_index_docsize WHERE id IN (SELECT value FROM json_each(?))"
            for key, sizes in raw_rows(self._connection, sql, (json.dumps(new),)):
                n_terms = sum(sizes) if len(sizes) == N_COLUMNS else sum(_varints(sizes))
                self._weights[key] = (K1 + 1) / (1 + _damping(n_terms))

    def _read(self, term: str, first: int, last: int) -> list[int]:
        found = self._held.get((term, first, last))
        if found is None:
            sql = "SELECT json_group_array(rowid) FROM passage_index WHERE passage_index MATCH ?"
            values: tuple[object, ...] = (f'"{term}"',)
            if last != LAST_ID:
                sql += " AND rowid BETWEEN ? AND ?"
                values = (*values, first, last)
            (row,) = raw_rows(self._connection, sql, values)
            found = self._held[term, first, last] = json.loads(row[0])
        return found


def _nth(values: Iterable[float], n: int) -> float:
    return sorted(values, reverse=True)[n - 1]


def _damping(n_terms: int) -> float:
    return K1 * (1 - B + B * n_terms / AVERAGE_TERMS)


def _varints(packed: bytes) -> Iterator[int]:
    """SQLite's variable-length integers: seven bits a byte, the highest bit says that more follow."""
    value = 0
    for byte in packed:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value = 0


def score(
    connection: Connection, passage_ids: Iterable[int], terms: Mapping[str, float]
) -> dict[int, dict[str, float]]:
    """For each passage what each of *terms* that it holds adds to its BM25."""
    wanted = set(terms)
    scores: dict[int, dict[str, float]] = {}
    for some in in_parts(passage_ids):
        sql = (
            "SELECT passage_id, title_terms, heading_terms, body_terms, context_terms FROM passage"
            f" JOIN page USING (text_id) WHERE passage_id IN ({','.join(map(str, some))})"
        )
        for key, title, headings, body, context in raw_rows(connection, sql, ()):
            words = f"{title} {headings} {body}".split()
            beside = context.split()
            damping = _damping(len(words) + len(beside))
            held: dict[str, float] = {}
            for each in wanted.intersection(words) | wanted.intersection(beside):
                n = words.count(each) + CONTEXT_WEIGHT * beside.count(each)
                held[each] = terms[each] * n * (K1 + 1) / (n + damping)
            scores[key] = held
    return scores


def best_of(
    passage_ids: Iterable[int], terms: Mapping[str, float], scores: Mapping[int, Mapping[str, float]], limit: int
) -> list[tuple[int, float]]:
    """The best *limit* of the passages by what *terms* add to them."""
    rows: list[Match] = []
    for each in passage_ids:
        held = scores.get(each, {})
        rows.append((-sum(value for term, value in held.items() if term in terms), each))
    return best(rows, limit)
