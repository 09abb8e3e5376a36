"""Look-ups: what the reader asks of kept text, answered with everything that ranking needs.

Each look-up is one full-text query over terms that ``evidence.terms`` made. The scope is a set of texts; on SQLite it is
checked against id ranges, because a library that was added at once is one range.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import sqlalchemy as sa

from firsthand.db import Connection
from firsthand.evidence.index import (
    Match,
    Within,
    best,
    every_match,
    in_parts,
    match_expression,
    matches,
    page,
    passage,
)
from firsthand.evidence.index import term as term_table
from firsthand.evidence.store import page_refs
from firsthand.evidence.tables import holding, library
from firsthand.evidence.tables import text as text_table
from firsthand.evidence.terms import index_terms, is_term, stop_terms
from firsthand.ports import Candidate, Fields, Lookup, PageRef, Scope, Site
from firsthand.values import BlockKind, Passage, Span

PASSAGES_A_PAGE = 25  # recipe, section 3: the best passages of each page that a page look-up found
COMMON_SHARE = 0.10  # a term in more passages than this is left out of an "any" look-up (measurements, D)
SMALL_INDEX = 5_000  # passages; below this nothing is left out: every match is ranked in a millisecond
GROUPS_MAX = 64
LANGUAGE_SHARE = (
    0.05  # below it a language is a wrong guess about a page of names or numbers (1 page in 766 of SQLite's)
)
NAME_SHARE = 0.4  # recipe, section 3: a word in this share of a site's titles names the site


def lookup(connection: Connection, lookups: Sequence[Lookup], scope: Scope) -> list[Candidate]:
    """The passages that the look-ups found in the scope, each once, with all its scores; best first by its best score.

    Cost: every match of an expression is ranked, so common terms are left out of "any" look-ups when rarer ones are
    there, and look-ups that ask for the same terms (everywhere, on one site, in the best pages) share one pass over the matches.
    """
    within = scope_within(connection, scope)
    n_passages, counts = rarity(connection, [each for one in lookups for group in one.groups for each in group])
    page_scores: dict[int, float] = {}
    wants: list[_Want] = []
    for one in lookups:
        where = within if one.site is None else _site_within(connection, scope, one.site)
        groups = list(one.groups[:GROUPS_MAX])
        if one.require == "any":
            groups = without_common(groups, n_passages, counts)
        expression = match_expression(groups, one.require == "all", connection.dialect.name == "sqlite")
        if one.of == "passages":
            wants.append(_Want(one.name, expression, where, one.limit))
            continue
        found = dict(matches(connection, "page_index", expression, where, one.limit))
        for text_id, score in found.items():
            page_scores[text_id] = max(score, page_scores.get(text_id, 0.0))
        in_pages = match_expression(groups, False, connection.dialect.name == "sqlite")
        wants.append(_Want(one.name, in_pages, within, one.limit, tuple(found)))
    scores: dict[int, dict[str, float]] = defaultdict(dict)
    n_uses = Counter(want.expression for want in wants)
    shared = {
        expression: every_match(connection, "passage_index", expression, within)
        for expression, n in n_uses.items()
        if n > 1
    }
    for want in wants:
        for passage_id, score in _best(connection, want, shared.get(want.expression), within):
            scores[passage_id][want.name] = score
    made = candidates(connection, passage.c.passage_id, scores, scope, scores, page_scores)
    return sorted(made, key=lambda each: (-max(each.scores.values()), each.passage_id))


def rarity(connection: Connection, terms: Iterable[str]) -> tuple[int, dict[str, int]]:
    """How many passages the index holds, and how many of them hold each term; a term that none holds counts 0."""
    total = connection.execute(sa.select(sa.func.sum(page.c.n_passages))).scalar() or 0
    counts = dict.fromkeys(terms, 0)
    wanted = [each for each in counts if is_term(each)]
    for at in range(0, len(wanted), 500):
        some = wanted[at : at + 500]
        rows = connection.execute(
            sa.select(term_table.c.term, term_table.c.n_passages).where(term_table.c.term.in_(some))
        )
        counts.update({row[0]: row[1] for row in rows})
    return int(total), counts


def sites(connection: Connection, scope: Scope) -> list[Site]:
    """The sites in the scope, by address, each with the words that name it."""
    rows: list[tuple[str, str, str | None]] = [
        (row[0], row[1], row[2])
        for row in connection.execute(
            sa.select(holding.c.site, page.c.title_terms, page.c.language)
            .join_from(holding, page, page.c.text_id == holding.c.text_id)
            .where(_in_libraries(scope))
        )
    ]
    if scope.text_ids:
        refs = page_refs(connection, scope.text_ids)
        for some in in_parts(scope.text_ids):
            for row in connection.execute(sa.select(page).where(page.c.text_id.in_(some))):
                if row.text_id in refs:
                    rows.append((refs[row.text_id].site, row.title_terms, row.language))
    by_site: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for site, title, language in rows:
        by_site[site].append((title, language))
    return [_site(site, pages) for site, pages in sorted(by_site.items())]


def holdings_state(connection: Connection) -> tuple[int, int | None]:
    """A value that changes whenever a library gains, loses or replaces a page."""
    row = connection.execute(sa.select(sa.func.count(), sa.func.max(holding.c.capture_id)).select_from(holding)).one()
    return int(row[0]), row[1]


def text_passages(connection: Connection, text_id: int) -> list[Candidate]:
    """All passages of one text, in reading order, without scores; none if it is not indexed."""
    made = candidates(connection, passage.c.text_id, [text_id], Scope(text_ids=(text_id,)), {}, {})
    return sorted(made, key=lambda each: each.passage.seq)


# -- Scope


def scope_within(connection: Connection, scope: Scope) -> Within | None:
    """The texts of the scope; None if that is every text in the index.

    Cost: nothing that grows with the passages; one pass over the pages.
    """
    if _is_everything(connection, scope):
        return None
    held = sa.select(holding.c.text_id).where(_in_libraries(scope))
    return _within(connection, held, scope.text_ids)


def _is_everything(connection: Connection, scope: Scope) -> bool:
    held = sa.select(holding.c.text_id).where(holding.c.text_id == page.c.text_id, _in_libraries(scope))
    outside = sa.select(page.c.text_id).where(~held.exists()).limit(len(scope.text_ids) + 1)
    return set(connection.execute(outside).scalars()) <= set(scope.text_ids)


def _in_libraries(scope: Scope) -> sa.ColumnElement[bool]:
    if scope.libraries is None:
        return sa.true()
    names = [name for name in scope.libraries if name.isprintable()]  # as store.hold wants them; a NUL is an error
    named = sa.select(library.c.library_id).where(library.c.name.in_(names))
    return holding.c.library_id.in_(named)


def _site_within(connection: Connection, scope: Scope, site: str) -> Within:
    held = sa.select(holding.c.text_id).where(holding.c.site == site, _in_libraries(scope))
    turn = [text_id for text_id, ref in page_refs(connection, scope.text_ids).items() if ref.site == site]
    return _within(connection, held, turn)


def _within(connection: Connection, held: sa.Select[tuple[int]], text_ids: Iterable[int]) -> Within:
    columns = (page.c.text_id, page.c.first_passage_id, page.c.n_passages)
    rows = {row[0]: row for row in connection.execute(sa.select(*columns).where(page.c.text_id.in_(held)))}
    for some in in_parts(text_ids):
        rows.update({r[0]: r for r in connection.execute(sa.select(*columns).where(page.c.text_id.in_(some)))})
    return _covering(frozenset(rows), ((row[1], row[1] + row[2] - 1) for row in rows.values()))


def _covering(text_ids: frozenset[int], ranges: Iterable[tuple[int, int]]) -> Within:
    """Neighbouring ranges become one: a library that was added at once is a single range."""
    starts: list[int] = []
    ends: list[int] = []
    for first, last in sorted(ranges):
        if last < first:
            continue
        if ends and first <= ends[-1] + 1:
            ends[-1] = max(ends[-1], last)
        else:
            starts.append(first)
            ends.append(last)
    return Within(text_ids if starts else frozenset(), tuple(starts), tuple(ends))


# -- Look-ups


def without_common(
    groups: Sequence[tuple[str, ...]], n_passages: int, counts: Mapping[str, int]
) -> list[tuple[str, ...]]:
    """The groups without terms that a tenth of all passages hold; the two rarest groups stay if all are common."""
    if n_passages < SMALL_INDEX:
        return list(groups)
    most = n_passages * COMMON_SHARE
    kept = [tuple(each for each in group if counts.get(each, 0) <= most) for group in groups]
    kept = [group for group in kept if any(counts.get(each, 0) for each in group)]
    if kept:
        return kept
    return sorted(groups, key=lambda group: max((counts.get(each, 0) for each in group), default=0))[:2]


@dataclass(frozen=True, slots=True)
class _Want:
    """What one look-up takes from the matches of an expression: the best, or the best of each of some pages."""

    name: str
    expression: str
    within: Within | None
    limit: int
    pages: tuple[int, ...] | None = None


def _best(
    connection: Connection, want: _Want, shared: Sequence[Match] | None, within: Within | None
) -> Iterable[tuple[int, float]]:
    """The wanted passages with their scores; *shared* is every match within the scope, if they were made already."""
    if want.pages is not None:
        return _best_in_pages(connection, want, shared)
    if shared is None:
        return matches(connection, "passage_index", want.expression, want.within, want.limit)
    where = want.within
    if where is None or where is within:
        return best(shared, want.limit)
    return best((each for each in shared if where.holds(each[1])), want.limit)


def _best_in_pages(connection: Connection, want: _Want, shared: Sequence[Match] | None) -> list[tuple[int, float]]:
    if not want.pages or not want.expression:
        return []
    rows = connection.execute(
        sa.select(page.c.first_passage_id, page.c.n_passages, page.c.text_id).where(page.c.text_id.in_(want.pages))
    ).all()
    owners = {first + i: text_id for first, n, text_id in rows for i in range(n)}
    if shared is None:
        within = _covering(frozenset(want.pages), ((first, first + n - 1) for first, n, _ in rows))
        shared = every_match(connection, "passage_index", want.expression, within)
    of_page: dict[int, list[Match]] = defaultdict(list)
    for each in shared:
        if each[1] in owners:
            of_page[owners[each[1]]].append(each)
    return [each for text_id in want.pages for each in best(of_page[text_id], PASSAGES_A_PAGE)]


def candidates(
    connection: Connection,
    key: sa.Column[int],
    keys: Iterable[int],
    scope: Scope,
    scores: Mapping[int, Mapping[str, float]],
    page_scores: Mapping[int, float],
) -> list[Candidate]:
    rows = [row for some in in_parts(keys) for row in connection.execute(sa.select(passage).where(key.in_(some))).all()]
    refs, titles, bodies = pages_of(connection, {row[1] for row in rows}, scope)
    made = []
    for row in rows:
        (passage_id, text_id, seq, start, end, kind, headings, header, caption, group, lead, under, body, context) = row
        made.append(
            Candidate(
                passage_id=passage_id,
                page=refs[text_id],
                passage=Passage(
                    seq=seq,
                    span=Span(start, end),
                    kind=cast(BlockKind, kind),
                    headings=tuple(json.loads(headings)),
                    header=tuple(json.loads(header)) if header else (),
                    caption=caption,
                    group=group,
                    lead=lead,
                ),
                body=bodies[text_id][start:end],
                fields=Fields(titles[text_id], tuple(under.split()), tuple(body.split()), tuple(context.split())),
                scores=scores.get(passage_id, {}),
                page_score=page_scores.get(text_id, 0.0),
            )
        )
    return made


def pages_of(
    connection: Connection, text_ids: set[int], scope: Scope
) -> tuple[dict[int, PageRef], dict[int, tuple[str, ...]], dict[int, str]]:
    """References, title terms and bodies of the texts."""
    refs = page_refs(connection, text_ids, scope.libraries)
    titles: dict[int, tuple[str, ...]] = {}
    bodies: dict[int, str] = {}
    for some in in_parts(text_ids):
        for row in connection.execute(
            sa.select(page.c.text_id, page.c.language, page.c.title_terms, text_table.c.body)
            .join_from(page, text_table, text_table.c.text_id == page.c.text_id)
            .where(page.c.text_id.in_(some))
        ):
            titles[row[0]] = tuple(row[2].split())
            bodies[row[0]] = row[3]
            refs[row[0]] = replace(refs[row[0]], language=row[1])
    return refs, titles, bodies


def _site(site: str, pages: Sequence[tuple[str, str | None]]) -> Site:
    counts: Counter[str] = Counter()
    for title, language in pages:
        counts.update(set(title.split()) - stop_terms(language))
    named = [each for each, n in counts.most_common() if n >= NAME_SHARE * len(pages)]
    folder = site.rstrip("/").partition("://")[2].partition("/")[2]
    names = dict.fromkeys((*index_terms(folder, "en"), *sorted(named)))
    spoken = Counter(language for _, language in pages if language)
    languages = sorted(each for each, n in spoken.items() if n >= LANGUAGE_SHARE * len(pages))
    return Site(site=site, names=tuple(names), n_pages=len(pages), languages=tuple(languages))
