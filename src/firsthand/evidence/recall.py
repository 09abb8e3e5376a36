"""Recall: find kept passages again, and read on from there.

``SqlShelf`` is the reader's shelf; ``search_kept`` answers a person's few words, and ``slice_text`` reads on. User text
becomes index terms first and never reaches a query parser, so no input is a syntax error.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from firsthand.db import Connection, Database
from firsthand.errors import InvalidInput
from firsthand.evidence.entry import Entry, prepare
from firsthand.evidence.index import (
    Within,
    in_parts,
    index_text,
    is_indexed,
    match_expression,
    matches,
    page,
    passage,
    remove_text,
)
from firsthand.evidence.index import term as term_table
from firsthand.evidence.lookups import (
    GROUPS_MAX,
    candidates,
    held,
    holdings_state,
    lookup,
    pages_of,
    rarity,
    scope_within,
    sites,
    text_passages,
    without_common,
)
from firsthand.evidence.spelling import slips
from firsthand.evidence.store import load_body, load_text, page_by_handle
from firsthand.evidence.terms import index_terms, language_of, query_groups
from firsthand.ports import Candidate, Lookup, Scope, Site
from firsthand.values import Text

__all__ = [
    "Entry",
    "KeptHit",
    "KeptHits",
    "KeptSlice",
    "SqlShelf",
    "index_text",
    "is_indexed",
    "lookup",
    "prepare",
    "rarity",
    "remove_text",
    "search_kept",
    "sites",
    "slice_text",
    "text_passages",
]

HITS_A_URL = 3
SIMILAR_MAX = 3
SNIPPET_CHARS = 300
ALTERNATIVES_MAX = 60  # pairs of characters that hold the one character asked for
MATCHES_A_PAGE = 1_000  # matches looked at for one page of hits, behind those of earlier pages
EVERYTHING = Scope()

_WORD = re.compile(r"\S+")
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003fffd]"


class SqlShelf:
    """``ports.Shelf`` over a database: each method is one read transaction on a reader thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sites: dict[Scope, tuple[object, list[Site]]] = {}

    async def lookup(self, lookups: Sequence[Lookup], scope: Scope) -> list[Candidate]:
        """See ``lookup``."""
        return await self._database.read(lookup, lookups, scope)

    async def rarity(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """See ``rarity``."""
        return await self._database.read(rarity, terms)

    async def similar(self, terms: Sequence[str]) -> dict[str, list[str]]:
        """See ``similar``."""
        return await self._database.read(similar, terms)

    async def held(self, url: str, scope: Scope) -> int | None:
        """See ``held``."""
        return await self._database.read(held, url, scope)

    async def sites(self, scope: Scope) -> list[Site]:
        """See ``sites``; read again only when a library changed: 3,000 titles take some 20 ms."""
        if scope.text_ids:
            return await self._database.read(sites, scope)
        state = await self._database.read(holdings_state)
        known = self._sites.get(scope)
        if known is None or known[0] != state:
            known = self._sites[scope] = (state, await self._database.read(sites, scope))
        return known[1]

    async def passages(self, wanted: Mapping[int, Sequence[int] | None]) -> dict[int, list[Candidate]]:
        """See ``text_passages``."""
        return await self._database.read(text_passages, wanted)

    async def text(self, text_id: int) -> Text:
        """One text, checked against its digest."""
        return await self._database.read(load_text, text_id)


def similar(connection: Connection, terms: Sequence[str]) -> dict[str, list[str]]:
    """For each of *terms*, at most three terms of the index that are a slip of the finger away, most frequent first."""
    found: dict[str, list[str]] = {}
    for each in terms:
        near: list[tuple[int, str]] = []
        for part in in_parts(sorted(slips(each))):
            rows = connection.execute(
                sa.select(term_table.c.n_passages, term_table.c.term).where(term_table.c.term.in_(part))
            )
            near += [(row.n_passages, row.term) for row in rows]
        if near:
            found[each] = [term for _, term in sorted(near, key=lambda row: (-row[0], row[1]))[:SIMILAR_MAX]]
    return found


# -- For people


@dataclass(frozen=True, slots=True)
class KeptHit:
    """A kept passage that answers a recall; ``offset`` is where its best match stands in the page's text."""

    handle: str
    title: str
    url: str
    snippet: str
    score: float
    text_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class KeptHits:
    """One page of hits. ``is_loose`` says that no passage held all the words, so any word counted."""

    items: tuple[KeptHit, ...]
    cursor: str | None = None
    is_loose: bool = False


@dataclass(frozen=True, slots=True)
class KeptSlice:
    """A bounded part of a kept text; ``next_offset`` is None at its end."""

    handle: str
    title: str
    url: str
    retrieved_at: str
    text: str
    offset: int
    next_offset: int | None
    total_chars: int


def search_kept(
    connection: Connection, query_text: str, scope: Scope = EVERYTHING, limit: int = 10, cursor: str | None = None
) -> KeptHits:
    """Kept passages that hold all words of *query_text*, best first; any of the words if none holds all.

    At most three hits of one text. The next page leaves out what was added since the first one.

    Raises: InvalidInput for a cursor that is not one of ours, or a limit below 1.
    """
    if limit < 1:
        raise InvalidInput("invalid_limit", "The limit must be at least 1.", limit=limit)
    groups = _recall_groups(connection, query_text)
    if not groups:
        return KeptHits(())
    within = scope_within(connection, scope)
    position = _Position.read(cursor) if cursor else _Position(_newest(connection), 0, False)
    ranked, is_loose = _ranked(connection, groups, within, position)
    taken, position = _take(connection, ranked, position, is_loose, limit)
    wanted = {each for group in groups for each in group}
    found = {each.passage_id: each for each in candidates(connection, passage.c.passage_id, taken, scope, taken, {})}
    items = tuple(_hit(found[passage_id], wanted) for passage_id in taken if passage_id in found)
    if not items and not cursor:
        return KeptHits(_title_hits(connection, groups, within, scope, limit))
    return KeptHits(items, position.write() if position.has_more else None, is_loose)


def slice_text(connection: Connection, handle: str, offset: int = 0, limit: int = 4_000) -> KeptSlice:
    """The text behind *handle* from *offset*, at most *limit* characters, ending at a paragraph or a word's end.

    Joining all slices gives the text. A word is cut only if it is longer than the limit, or the script has no spaces.

    Raises: NotFound for an unknown handle; InvalidInput for an offset beyond the end or a limit below 1.
    """
    ref = page_by_handle(connection, handle)
    body = load_body(connection, ref.text_id)
    if limit < 1 or not 0 <= offset <= len(body):
        raise InvalidInput(
            "invalid_slice",
            f"The offset must be between 0 and {len(body)}, the limit at least 1.",
            offset=offset,
            limit=limit,
            total_chars=len(body),
        )
    end = _slice_end(body, offset, limit)
    return KeptSlice(
        handle=handle,
        title=ref.title,
        url=ref.url,
        retrieved_at=ref.retrieved_at,
        text=body[offset:end],
        offset=offset,
        next_offset=end if end < len(body) else None,
        total_chars=len(body),
    )


# -- Hits


@dataclass(frozen=True, slots=True)
class _Position:
    """Where a recall goes on: what was newest when it began, how many matches are behind, whether it was loose."""

    newest: int
    n_behind: int
    is_loose: bool
    has_more: bool = field(default=False, compare=False)

    def write(self) -> str:
        packed = json.dumps([self.newest, self.n_behind, int(self.is_loose)])
        return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")

    @staticmethod
    def read(cursor: str) -> _Position:
        try:
            packed = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
            newest, n_behind, is_loose = (int(each) for each in packed)
        except (ValueError, TypeError, binascii.Error, RecursionError) as error:
            raise InvalidInput(
                "invalid_cursor", "This cursor was not given out here; start the recall again."
            ) from error
        return _Position(newest, max(0, n_behind), bool(is_loose))


def _recall_groups(connection: Connection, query_text: str) -> tuple[tuple[str, ...], ...]:
    """The words as groups, stemmed for every language that is kept; a lone character stands for the pairs holding it."""
    languages = connection.execute(sa.select(page.c.language).distinct()).scalars().all()
    also = tuple(sorted({each or "en" for each in languages} | {"en"}))
    groups = query_groups(query_text, language_of(query_text, None), also)
    return tuple(_with_pairs(connection, group) for group in groups[:GROUPS_MAX])


def _with_pairs(connection: Connection, group: tuple[str, ...]) -> tuple[str, ...]:
    if len(group) != 1 or len(group[0]) != 1 or not re.match(_UNSPACED, group[0]):
        return group
    pairs = connection.execute(
        sa.select(term_table.c.term)
        .where(term_table.c.term.contains(group[0], autoescape=True), sa.func.length(term_table.c.term) == 2)
        .order_by(term_table.c.n_passages.desc(), term_table.c.term)
        .limit(ALTERNATIVES_MAX)
    )
    return (*group, *pairs.scalars())


def _newest(connection: Connection) -> int:
    return connection.execute(sa.select(sa.func.max(passage.c.passage_id))).scalar() or 0


def _ranked(
    connection: Connection, groups: Sequence[tuple[str, ...]], within: Within | None, position: _Position
) -> tuple[list[tuple[int, float]], bool]:
    """What matches all groups, or any if nothing does, best first; and whether it was any."""
    is_sqlite = connection.dialect.name == "sqlite"
    limit = position.n_behind + MATCHES_A_PAGE
    if not position.is_loose:
        ranked = matches(connection, "passage_index", match_expression(groups, True, is_sqlite), within, limit)
        if ranked or position.n_behind:
            return ranked, False
    n_passages, counts = rarity(connection, [each for group in groups for each in group])
    groups = without_common(groups, n_passages, counts)
    return matches(connection, "passage_index", match_expression(groups, False, is_sqlite), within, limit), True


def _take(
    connection: Connection, ranked: Sequence[tuple[int, float]], position: _Position, is_loose: bool, limit: int
) -> tuple[dict[int, dict[str, float]], _Position]:
    """The next hits, at most three a text, and the position behind them."""
    owners: dict[int, int] = {}
    rest = [each for each in ranked[position.n_behind :] if each[0] <= position.newest]
    for some in in_parts(each[0] for each in rest):
        rows = connection.execute(
            sa.select(passage.c.passage_id, passage.c.text_id).where(passage.c.passage_id.in_(some))
        )
        owners.update({row[0]: row[1] for row in rows})
    taken: dict[int, dict[str, float]] = {}
    of_text: Counter[int] = Counter()
    n_behind = position.n_behind
    for passage_id, score in ranked[position.n_behind :]:
        if len(taken) == limit:
            return taken, _Position(position.newest, n_behind, is_loose, has_more=True)
        n_behind += 1
        text_id = owners.get(passage_id)
        if text_id is not None and of_text[text_id] < HITS_A_URL:
            of_text[text_id] += 1
            taken[passage_id] = {"recall": score}
    return taken, _Position(position.newest, n_behind, is_loose)


def _title_hits(
    connection: Connection, groups: Sequence[tuple[str, ...]], within: Within | None, scope: Scope, limit: int
) -> tuple[KeptHit, ...]:
    """Pages whose title holds the words although none of their passages do, such as pages without text."""
    expression = match_expression(groups, True, connection.dialect.name == "sqlite")
    found = dict(matches(connection, "page_index", expression, within, limit))
    refs, _, bodies = pages_of(connection, set(found), scope)
    return tuple(
        KeptHit(
            handle=refs[text_id].handle,
            title=refs[text_id].title,
            url=refs[text_id].url,
            snippet=snippet(bodies[text_id][: 4 * SNIPPET_CHARS], set(), None)[0],
            score=round(score, 4),
            text_id=text_id,
            offset=0,
        )
        for text_id, score in found.items()
    )


def _hit(candidate: Candidate, wanted: set[str]) -> KeptHit:
    words, at = snippet(candidate.body, wanted, candidate.page.language)
    return KeptHit(
        handle=candidate.page.handle,
        title=candidate.page.title or candidate.page.url,
        url=candidate.page.url,
        snippet=words,
        score=round(candidate.scores["recall"], 4),
        text_id=candidate.page.text_id,
        offset=candidate.passage.span.start + at,
    )


def snippet(body: str, wanted: set[str], language: str | None) -> tuple[str, int]:
    """At most 300 characters of *body* around the most different wanted terms, and where the first of them stands."""
    marks: list[tuple[int, str]] = []
    for word in _WORD.finditer(body):
        for each in wanted.intersection(index_terms(word[0], language)):
            inside = word[0].casefold().find(each) if len(each) <= 2 else 0
            marks.append((word.start() + max(0, inside), each))
    marks.sort()
    room = SNIPPET_CHARS - 2  # for an ellipsis on either side
    at = max(
        (mark[0] for mark in marks),
        key=lambda start: (len({each for there, each in marks if start <= there < start + room * 2 // 3}), -start),
        default=0,
    )
    start = max(0, min(at - room // 4, len(body) - room))
    if start:
        space = body.find(" ", start, at)
        start = space + 1 if space >= 0 else start
    end = min(len(body), start + room)
    if end < len(body):
        space = body.rfind(" ", at + 1, end)
        end = space if space > 0 else end
    words = " ".join(body[start:end].split())
    return ("…" if start else "") + words + ("…" if end < len(body) else ""), at


def _slice_end(body: str, offset: int, limit: int) -> int:
    end = offset + limit
    if end >= len(body):
        return len(body)
    floor = offset + limit - limit // 5
    paragraph = body.rfind("\n\n", floor, end)
    if paragraph > offset:
        return paragraph + 2 if paragraph + 2 <= end else paragraph
    if body[end - 1].isspace() or body[end].isspace():
        return end
    for low in (floor, offset):
        for at in range(end - 1, low, -1):
            if body[at - 1].isspace() or (low == floor and re.match(_UNSPACED, body[at]) and _is_cut_ok(body, at)):
                return at
    while end > offset + 1 and not _is_cut_ok(body, end):
        end -= 1
    return end


def _is_cut_ok(body: str, at: int) -> bool:
    """Whether nothing that belongs to the character before *at* follows it: no accent, joiner, selector."""
    return unicodedata.category(body[at]) not in ("Mn", "Mc", "Me", "Cf", "Sk") and body[at - 1] != "\u200d"
