"""Look-ups: what the reader asks of kept text, answered with everything that ranking needs.

Each look-up is one full-text query over terms that ``evidence.terms`` made. The scope is a set of texts; on SQLite it is
checked against id ranges, because a library that was added at once is one range.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

import sqlalchemy as sa

from firsthand.db import Connection
from firsthand.evidence.index import (
    Match,
    Within,
    best,
    driver_rows,
    every_match,
    in_parts,
    match_expression,
    matches,
    page,
    passage,
)
from firsthand.evidence.index import term as term_table
from firsthand.evidence.postings import Postings, best_of
from firsthand.evidence.postings import score as score_passages
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
NEAR_PASSAGES = 40  # more than any list that is quoted whole
NAME_SHARE = 0.4  # recipe, section 3: a word in this share of a site's titles names the site


def lookup(connection: Connection, lookups: Sequence[Lookup], scope: Scope) -> list[Candidate]:
    """The passages that the look-ups found in the scope, each once, with all its scores; best first by its best score.

    Cost: proportional to the matches of each term, so common terms are left out of "any" look-ups when rarer ones are
    there. On SQLite a term is read once, whatever the number of look-ups that ask for it.
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
        if one.of == "passages":
            wants.append(_Want(one.name, groups, one.require == "all", where, one.limit))
            continue
        expression = match_expression(groups, one.require == "all", connection.dialect.name == "sqlite")
        found = dict(matches(connection, "page_index", expression, where, one.limit))
        for text_id, score in found.items():
            page_scores[text_id] = max(score, page_scores.get(text_id, 0.0))
        wants.append(_Want(one.name, groups, False, within, one.limit, tuple(found)))
    scores: dict[int, dict[str, float]] = defaultdict(dict)
    postings = Postings(connection, n_passages, counts) if connection.dialect.name == "sqlite" else None
    for name, passage_id, score in _found(connection, wants, postings):
        scores[passage_id][name] = score
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


def held(connection: Connection, url: str, scope: Scope) -> int | None:
    """The text that the libraries of the scope hold under *url*, the one added last; None if they hold none."""
    if not url.isprintable():
        return None
    query = sa.select(holding.c.text_id).where(holding.c.url == url, _in_libraries(scope))
    return connection.execute(query.order_by(holding.c.capture_id.desc()).limit(1)).scalar()


def holdings_state(connection: Connection) -> tuple[int, int | None]:
    """A value that changes whenever a library gains, loses or replaces a page."""
    row = connection.execute(sa.select(sa.func.count(), sa.func.max(holding.c.capture_id)).select_from(holding)).one()
    return int(row[0]), row[1]


def text_passages(connection: Connection, wanted: Mapping[int, Sequence[int] | None]) -> dict[int, list[Candidate]]:
    """The passages of each text, in reading order, without scores; none of a text that is not indexed.

    Only those at most ``NEAR_PASSAGES`` places from one of the places that are named: a manual on one page has
    thousands. None in their stead means all of them.
    """
    ids: list[int] = []
    for text_id, (first, last) in _ranges(connection, list(wanted)).items():
        near = wanted[text_id]
        places = (
            {i for seq in near for i in range(seq - NEAR_PASSAGES, seq + NEAR_PASSAGES)} if near is not None else None
        )
        ids += [each for each in range(first, last + 1) if places is None or each - first in places]
    found: dict[int, list[Candidate]] = {text_id: [] for text_id in wanted}
    made = candidates(connection, passage.c.passage_id, ids, Scope(text_ids=tuple(wanted)), {}, {})
    for each in sorted(made, key=lambda each: each.passage.seq):
        found[each.page.text_id].append(each)
    return found


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
    rows = {row[0]: row for row in driver_rows(connection, sa.select(*columns).where(page.c.text_id.in_(held)))}
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
    """What one look-up takes from the passages that meet its groups: the best, or the best of each of some pages."""

    name: str
    groups: Sequence[tuple[str, ...]]
    require_all: bool
    within: Within | None
    limit: int
    pages: tuple[int, ...] | None = None


def _found(
    connection: Connection, wants: Sequence[_Want], postings: Postings | None
) -> Iterator[tuple[str, int, float]]:
    """The wanted passages with their scores, by look-up: through *postings*, or as the database ranks its matches."""
    picked: list[tuple[_Want, dict[str, float], list[list[int]]]] = []
    for want in wants:
        if postings is None or want.require_all:
            for passage_id, score in _ranked_by_database(connection, want):
                yield want.name, passage_id, score
            continue
        terms = postings.known(want.groups)
        if want.pages is None:
            ids = [postings.pick(terms, want.within, want.limit)]
        else:
            ids = postings.pick_in([*_ranges(connection, want.pages).values()], terms, PASSAGES_A_PAGE)
        picked.append((want, terms, ids))
    every_term = {term: value for _, terms, _ in picked for term, value in terms.items()}
    held = score_passages(connection, {each for _, _, ids in picked for some in ids for each in some}, every_term)
    for want, terms, ids in picked:
        limit = want.limit if want.pages is None else PASSAGES_A_PAGE
        for some in ids:
            for passage_id, score in best_of(some, terms, held, limit):
                yield want.name, passage_id, score


def _ranked_by_database(connection: Connection, want: _Want) -> Iterable[tuple[int, float]]:
    expression = match_expression(want.groups, want.require_all, connection.dialect.name == "sqlite")
    if want.pages is None:
        return matches(connection, "passage_index", expression, want.within, want.limit)
    if not want.pages or not expression:
        return []
    ranges = _ranges(connection, want.pages)
    owners = {each: text_id for text_id, (first, last) in ranges.items() for each in range(first, last + 1)}
    of_page: dict[int, list[Match]] = defaultdict(list)
    for match in every_match(connection, "passage_index", expression, _covering(frozenset(ranges), ranges.values())):
        of_page[owners[match[1]]].append(match)
    return [each for text_id in want.pages for each in best(of_page[text_id], PASSAGES_A_PAGE)]


def _ranges(connection: Connection, text_ids: Sequence[int]) -> dict[int, tuple[int, int]]:
    """First and last passage of each text, in their order; texts without passages are left out."""
    query = sa.select(page.c.text_id, page.c.first_passage_id, page.c.n_passages).where(page.c.text_id.in_(text_ids))
    found = {row[0]: (row[1], row[1] + row[2] - 1) for row in connection.execute(query) if row[2]}
    return {each: found[each] for each in text_ids if each in found}


def candidates(
    connection: Connection,
    key: sa.Column[int],
    keys: Iterable[int],
    scope: Scope,
    scores: Mapping[int, Mapping[str, float]],
    page_scores: Mapping[int, float],
) -> list[Candidate]:
    rows = [row for some in in_parts(keys) for row in driver_rows(connection, sa.select(passage).where(key.in_(some)))]
    refs, titles, bodies = pages_of(connection, {row[1] for row in rows}, scope)
    made = []
    for row in rows:
        passage_id, text_id, seq, start, end, kind, headings, header, caption, group, lead, *terms, is_main = row
        under, body, context = (tuple(each.split()) for each in terms)
        made.append(
            Candidate(
                passage_id=passage_id,
                page=refs[text_id],
                passage=Passage(
                    seq=seq,
                    span=Span(start, end),
                    kind=cast(BlockKind, kind),
                    headings=_strings(headings),
                    header=_strings(header) if header else (),
                    caption=caption,
                    group=group,
                    lead=lead,
                    main=bool(is_main),
                ),
                body=bodies[text_id][start:end],
                fields=Fields(titles[text_id], under, body, context),
                scores=scores.get(passage_id, {}),
                page_score=page_scores.get(text_id, 0.0),
            )
        )
    return made


@lru_cache(maxsize=4_096)
def _strings(packed: str) -> tuple[str, ...]:
    """A list of strings as its column holds it; the passages of a section share theirs."""
    return tuple(json.loads(packed))


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
