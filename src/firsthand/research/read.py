"""Chooses the passages that answer: the reader that needs no model.

``wanted`` names the texts whose passages are needed for context, and ``choose`` makes evidence of it all: the passage that
answers best first, each with the quotes that a reader needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from firsthand.ports import Candidate, PageRef
from firsthand.research.plan import Plan
from firsthand.research.quoting import Cut, quotes_of
from firsthand.research.rank import Ranked, numbers_in
from firsthand.values import Passage, Span

MAX_PASSAGES = 5
PART_PASSAGES = 3  # of each half of a question that asks two things
PAGE_MAX = 4  # passages of one page; single facts want no cap, comparisons want one (recipe, section 5)
PAGE_MAX_OF_PARTS = 2
SECOND_VALUE_DEPTH = 15  # how far down a page that gives another value is looked for

SAME_SUBJECT_SHARE = 0.75  # of the first passage's words that another value must meet as well (guess)
SAME_SHARE = 0.85  # of the words of two passages that are one text in two editions (guess)
SAME_MIN_TERMS = 6
SPARE = 5  # passages beyond the limit, for those that were quoted with others already

Role = Literal["answer", "support", "other_value"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage judged to answer, with the quotes cut from it and around it; the first quote is the one that answers."""

    page: PageRef
    passage: Passage
    quotes: tuple[Cut, ...]
    score: float
    reasons: tuple[str, ...] = ()
    role: Role = "answer"
    part: int = 0  # of the question: 0 the whole, else the number of the sub-question


@dataclass(frozen=True, slots=True)
class _Chosen:
    ranked: Ranked
    part: int
    role: Role = "answer"


# -- Choosing


def wanted(plan: Plan, ranked: Sequence[Ranked], max_passages: int = MAX_PASSAGES) -> dict[int, list[int]]:
    """The texts whose passages ``choose`` may need, in the order of their use, with the places to look around."""
    places: dict[int, list[int]] = {}
    for each in _queue(plan, ranked, max_passages):
        candidate = each.ranked.candidate
        places.setdefault(candidate.page.text_id, []).append(candidate.passage.seq)
    return places


def choose(
    plan: Plan,
    ranked: Sequence[Ranked],
    texts: Mapping[int, Sequence[Candidate]],
    max_passages: int = MAX_PASSAGES,
) -> list[Evidence]:
    """At most *max_passages* passages with their quotes, the best answer first.

    *texts* holds the passages of each wanted text. No word is quoted twice: a passage that an earlier one has quoted
    already gives its place to the next. Parts of one paragraph share a place.
    """
    taken: dict[int, list[Span]] = {}
    made: list[Evidence] = []
    for each in _queue(plan, ranked, max_passages):
        if len(made) == max_passages:
            break
        candidate = each.ranked.candidate
        asked = plan.parts[each.part - 1] if each.part else plan
        quotes = list(quotes_of(asked, candidate, texts.get(candidate.page.text_id, ())))
        spans = taken.setdefault(candidate.page.text_id, [])
        fresh = _not_yet_quoted(quotes, spans)
        if not fresh or fresh[0] is not quotes[0]:
            continue
        spans += [cut.span for cut in fresh]
        beside = next((i for i, one in enumerate(made) if _is_next_to(one, candidate)), None)
        if beside is not None and not each.part:
            made[beside] = replace(made[beside], quotes=(*made[beside].quotes, *fresh))
            continue
        role: Role = each.role if made else "answer"
        reasons = each.ranked.reasons
        made.append(Evidence(candidate.page, candidate.passage, fresh, each.ranked.score, reasons, role, each.part))
    return made


def _is_next_to(one: Evidence, candidate: Candidate) -> bool:
    """Whether *candidate* is the part of the same paragraph that stands right before or after what was chosen."""
    chosen, span = one.passage.span, candidate.passage.span
    is_one_text = one.page.text_id == candidate.page.text_id
    return is_one_text and (chosen.end == span.start or span.end == chosen.start)


def _not_yet_quoted(quotes: Sequence[Cut], spans: Sequence[Span]) -> tuple[Cut, ...]:
    fresh: list[Cut] = []
    for cut in quotes:
        held = [*spans, *(each.span for each in fresh)]
        n_shared = max((min(s.end, cut.span.end) - max(s.start, cut.span.start) for s in held), default=0)
        if 2 * n_shared < cut.span.end - cut.span.start:
            fresh.append(cut)
    return tuple(fresh)


def _queue(plan: Plan, ranked: Sequence[Ranked], k: int) -> list[_Chosen]:
    """The passages to quote, in order; more than *k*, because some will have been quoted with others."""
    if plan.parts:
        return _queue_of_parts(plan, ranked)
    chosen = [_Chosen(each, 0) for each in _spread(ranked, k + SPARE, PAGE_MAX + 1)]
    return _with_other_value(plan, ranked, chosen, k)


def _queue_of_parts(plan: Plan, ranked: Sequence[Ranked]) -> list[_Chosen]:
    """The parts in turn, best first; a passage that serves both counts once."""
    queues = []
    for number in range(len(plan.parts)):
        pool = sorted(ranked, key=lambda each: -each.parts[number])
        queues.append([_Chosen(each, number + 1) for each in _spread(pool, PART_PASSAGES, PAGE_MAX_OF_PARTS)])
    chosen: list[_Chosen] = []
    held: set[str] = set()
    for place in range(PART_PASSAGES):
        for queue in queues:
            if place < len(queue) and (key := _key(queue[place].ranked)) not in held:
                held.add(key)
                chosen.append(queue[place])
    return chosen


def _key(ranked: Ranked) -> str:
    return " ".join(ranked.candidate.body.split())


def _spread(pool: Sequence[Ranked], k: int, page_max: int) -> list[Ranked]:
    """The best *k*, what says the same once, at most *page_max* of one page."""
    of_page: Counter[int] = Counter()
    said: list[frozenset[str]] = []
    chosen: list[Ranked] = []
    for each in pool:
        page = each.candidate.page.text_id
        terms = frozenset(each.candidate.fields.body)
        if of_page[page] >= page_max or any(_says_the_same(terms, other) for other in said):
            continue
        said.append(terms)
        of_page[page] += 1
        chosen.append(each)
        if len(chosen) == k:
            break
    return chosen


def _says_the_same(terms: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two passages have nearly all words in common, and the same numbers."""
    if terms == other:
        return True
    n_least, n_most = sorted((len(terms), len(other)))
    if n_least < SAME_MIN_TERMS or n_least < SAME_SHARE * n_most or len(terms & other) < SAME_SHARE * n_most:
        return False
    return not any(term[0].isdigit() for term in terms ^ other)


def _with_other_value(plan: Plan, pool: Sequence[Ranked], chosen: list[_Chosen], k: int) -> list[_Chosen]:
    """The last place goes to a page not yet chosen that gives another value for the same subject, if one is near."""
    if k < 3 or len(chosen) < 2 or not plan.kinds & {"number", "default", "date"}:
        return chosen
    first = chosen[0].ranked
    asked = frozenset(term for group in plan.groups for term in group.terms if term[:1].isdigit())
    pages = {each.ranked.candidate.page.text_id for each in chosen[:k]}
    said = set(numbers_in(first.candidate.body, asked))
    for each in pool[:SECOND_VALUE_DEPTH]:
        other = each.candidate
        if other.page.text_id in pages or _key(each) == _key(first) or other.page.site != first.candidate.page.site:
            continue
        values = set(numbers_in(other.body, asked))
        differs = bool(values - said) if "number" in plan.kinds else each.features["default"] > 0
        if differs and each.features["body"] >= SAME_SUBJECT_SHARE * first.features["body"]:
            return [*chosen[: k - 1], _Chosen(each, 0, "other_value"), *chosen[k - 1 :]]
    return chosen
