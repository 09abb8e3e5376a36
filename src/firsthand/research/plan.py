"""What a question asks: its words as weighted groups, its parts, its names, the site it speaks of, or that it is unclear.

Two steps, because weights need the index. ``needed_terms`` says which terms to count; ``make_plan`` takes the counts.
``lookups`` turns the plan into looks into the index. Nothing here opens a page or a database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast, get_args

from firsthand.evidence.languages import guess_language
from firsthand.evidence.terms import index_terms
from firsthand.ports import Lookup, Site
from firsthand.research import lexicon
from firsthand.research.grouping import (
    Group,
    compound_groups,
    groups_of,
    halves,
    names_of,
    weighed,
    with_spellings,
)
from firsthand.values import Hint

QUESTION_MAX_CHARS = 2_000  # what is read of a question; the rest repeats itself (guess)
MAX_GROUPS = 40
N_PAGES = 12  # pages whose passages are weighed as well; 6 took 15 ms less and lost a question in 50
N_PAGES_OF_PART = 8
SPELLED_MIN_CHARS = 5  # shorter words have too many neighbours
# FTS5 scores every match of a look-up. Terms are taken rarest first until their matches are this share of all passages;
# the words that are left out still count in ranking.
BUDGET_SHARE = 0.12
BUDGET_SHARE_OF_SITE = 0.25  # only a site's own matches are scored
BUDGET_SHARE_OF_PAGES = 0.4  # a page look-up scores a thousand times fewer rows
BUDGET_SHARE_ELSEWHERE = 0.04
BUDGET_MIN = 2_000
# Asking back: recipe, section 6.
CLEAR_RARITY = 0.04
UNCLEAR_MAX_WORDS = 3
UNCLEAR_MAX_WORDS_BESIDE_PRONOUN = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """A question made ready: what to look up, and what a passage must hold to answer it."""

    question: str
    language: str
    groups: tuple[Group, ...]
    kinds: frozenset[str]
    sites: tuple[str, ...] = ()  # named by the question; empty: none is named
    has_sites: bool = False  # whether the scope has more than one site
    site_languages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parts: tuple[Plan, ...] = ()  # sub-questions, if it asks two things
    is_comparison: bool = False
    clarification: str | None = None
    n_passages: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    hints: tuple[Hint, ...] = ()  # where the asker wants to look; see ``hints_of``
    asked: str = ""  # the whole question, without its hints and addresses; empty: nothing was cut off it
    addresses: tuple[str, ...] = ()  # pages that the question names; see ``named.addresses_of``
    is_about_page: bool = False  # nothing is asked but what those pages say

    @property
    def names(self) -> tuple[Group, ...]:
        """The groups that must be met."""
        return tuple(group for group in self.groups if group.is_name and not group.is_site)


_HINT = re.compile(
    # A word of its own: "@github/x" is a package, "me@x.com" an address, `@x` in quotes or ticks a name.
    rf"(?<!\S)@({'|'.join(get_args(Hint))})(?=[?!.,;:]*(?:\s|$))",
    re.IGNORECASE,
)


def hints_of(question: str) -> tuple[str, tuple[Hint, ...]]:
    """*question* without its hints, and the hints, each once, in order.

    A question that is nothing but hints is left as it stands.
    """
    found = dict.fromkeys(cast(Hint, match[1].lower()) for match in _HINT.finditer(question))
    bare = " ".join(_HINT.sub("", question).split())
    bare = re.sub(r" (?=[?!.,;:]+(?:\s|$))", "", bare) if found else question
    return (bare, tuple(found)) if bare.strip("?!.,;: ") else (question, tuple(found))


def question_language(question: str) -> str:
    """The language a question is asked in, two letters; English if nothing tells."""
    return guess_language(question) or "en"


def needed_terms(question: str, sites: Sequence[Site]) -> list[str]:
    """The terms whose counts ``make_plan`` wants to know, each once."""
    language = question_language(question)
    terms: dict[str, None] = {}
    for group in groups_of(question[:QUESTION_MAX_CHARS], language, sites):
        terms.update(dict.fromkeys(group.terms))
        terms.update(dict.fromkeys(group.soft))
        terms.update(dict.fromkeys(part for halves in halves(group, language) for part in halves))
    return list(terms)


def unknown_terms(question: str, sites: Sequence[Site], rarity: tuple[int, Mapping[str, int]]) -> list[str]:
    """The question's own terms that no passage holds: candidates for another spelling."""
    language = question_language(question)
    return [
        group.terms[0]
        for group in groups_of(question[:QUESTION_MAX_CHARS], language, sites)
        if group.kind == "word"  # "JSONB" is another thing than "JSON"; a name is met or it is not
        and group.terms
        and len(group.terms[0]) >= SPELLED_MIN_CHARS
        and not any(rarity[1].get(term) for term in group.terms)
    ]


def make_plan(
    question: str,
    rarity: tuple[int, Mapping[str, int]],
    sites: Sequence[Site],
    similar: Mapping[str, Sequence[str]] | None = None,
) -> Plan:
    """The plan of *question*, given how many passages hold each of its terms, and the sites in scope.

    *similar* holds, for terms that no passage holds, the nearest terms of the index.
    """
    question = question[:QUESTION_MAX_CHARS]
    language = question_language(question)
    n_passages, counts = rarity
    groups = groups_of(question, language, sites)
    groups = with_spellings(groups, counts, similar or {})
    groups = [*groups, *compound_groups(groups, counts, language)]
    named = _named_sites(groups, sites)
    groups = [weighed(group, n_passages, counts) for group in groups]
    plan = Plan(
        question=question,
        language=language,
        groups=tuple(groups[:MAX_GROUPS]),
        kinds=lexicon.kinds_of(question),
        sites=named,
        has_sites=len(sites) > 1,
        site_languages={site.site: site.languages for site in sites},
        n_passages=n_passages,
        counts=dict(counts),
    )
    plan = replace(plan, clarification=_clarification(plan))
    return replace(plan, **_split(plan, sites))  # type: ignore[arg-type]


def lookups(plan: Plan) -> list[Lookup]:
    """The looks into the index for *plan* and its parts. Names are ``<part>.<kind>``; part 0 is the whole question."""
    made = _lookups_of(plan, "0", N_PAGES)
    for number, part in enumerate(plan.parts, 1):
        made += _lookups_of(part, str(number), N_PAGES_OF_PART)
    return made


# -- Sites


def _named_sites(groups: Sequence[Group], sites: Sequence[Site]) -> tuple[str, ...]:
    """The sites whose name stands in the question, in the order of their names there."""
    if len(sites) < 2:
        return ()
    by_name: dict[str, list[str]] = {}
    for site in sites:
        for name in names_of(site):
            by_name.setdefault(name, []).append(site.site)
    named: dict[str, None] = {}
    for group in groups:
        for term in group.terms:
            # A plain word names a site only if its address has it: every page of a web server is titled "server".
            is_said = group.is_name or group.kind in ("identifier", "name", "quoted")
            owners = [site for site in by_name.get(term, ()) if is_said or term in site.lower()]
            if owners and len(owners) <= max(1, len(sites) // 2):
                named.update(dict.fromkeys(owners))
    return tuple(named)


# -- Asking back


def _clarification(plan: Plan) -> str | None:
    """A sentence that asks what is meant, if nothing in the question tells."""
    words = [group for group in plan.groups if group.position >= 0]
    if any(group.kind in ("identifier", "name", "number", "quoted") for group in words) or plan.sites:
        return None
    n_words = _n_words(words)
    if plan.language in lexicon.UNSPACED:
        # Pairs of characters cannot be told to be vague; there, few words that are all common mean the same.
        n_rare = max(1.0, plan.n_passages * CLEAR_RARITY)
        is_vague = n_words <= UNCLEAR_MAX_WORDS and all(_n_with(plan, group) > n_rare for group in words)
        is_vague = is_vague or (n_words <= UNCLEAR_MAX_WORDS_BESIDE_PRONOUN and lexicon.has_pronoun(plan.question))
    else:
        is_vague = all(any(lexicon.is_vague(term, plan.language) for term in group.terms) for group in words)
    return lexicon.say("clarify", plan.language) if is_vague or not words else None


def _n_with(plan: Plan, group: Group) -> int:
    """How many passages hold the group's most frequent term."""
    return max((plan.counts.get(term, 0) for term in group.terms), default=0)


def _n_words(groups: Sequence[Group]) -> int:
    """How many words the groups are; overlapping pairs of one run count as one word for every two."""
    n_pairs = sum(group.kind == "pair" for group in groups)
    return len(groups) - n_pairs + (n_pairs + 1) // 2


# -- Sub-questions

_AND_ASKS = re.compile(
    r"[,;]?\s+(?:and|und|et|y|e|и|ve)\s+(?=(?:(?:with|from|in|to|at|on|for|by|mit|aus|von|de|en|dans|con|da|с|из|в)\s+)?"
    r"(?:how|what|which|where|when|why|who|does|do|did|is|are|can|could|will|would|has|wie|was|welche\w*|wo|wann|warum|kann|combien|comment|quel\w*|où|"
    r"quand|cómo|cuánt\w+|cuál\w*|qué|dónde|come|quant\w+|quale|quali|dove|como|qual|quais|onde|как\w*|сколько|где|когда|почему|"
    r"nasıl|kaç|hangi|nerede)\b)",
    re.IGNORECASE,
)
_AND_UNSPACED = re.compile(
    r"[，、；,](?=[^，、；,]*(?:多少|怎样|怎么|如何|什么|哪|几|何|いくつ|どの|どう|なに|몇|무엇|어떻게|얼마))"
)
_PART_MIN_CHARS = 12


def _split(plan: Plan, sites: Sequence[Site]) -> dict[str, object]:
    """The parts of a question that asks two things, or that compares two names."""
    pattern = _AND_UNSPACED if plan.language in ("zh", "ja") else _AND_ASKS
    cut = next((m for m in pattern.finditer(plan.question) if m.start() >= _PART_MIN_CHARS), None)
    is_comparison = "compare" in plan.kinds
    if is_comparison:
        halves = _by_names(plan)
        if halves:
            return {"parts": halves, "is_comparison": True}
    if cut is None or len(plan.question) - cut.end() < _PART_MIN_CHARS:
        return {"is_comparison": is_comparison}
    first = _part(plan, 0, cut.start())
    second = _part(plan, cut.end(), len(plan.question))
    if not any(g.position >= 0 for g in first.groups) or not any(g.position >= 0 for g in second.groups):
        return {"is_comparison": is_comparison}
    return {"parts": (first, second), "is_comparison": is_comparison}


def _part(plan: Plan, start: int, end: int) -> Plan:
    """The part of a question between two places; it inherits the names and identifiers of what came before."""
    words = plan.question[start:end]
    held = set(index_terms(words, plan.language)) | set(words.split())
    lowered = words.lower()
    groups = []
    for group in plan.groups:
        stands = any(term in held for term in group.terms) or (group.position >= 0 and group.word.lower() in lowered)
        inherited = start > 0 and (group.is_name or group.is_site or group.kind == "identifier")
        if group.kind == "phrase":
            stands = group.word in lowered
        if group.kind == "implied":
            implied = {
                t
                for w in lexicon.implied_words(words)
                for t in index_terms(w, "en" if w.isascii() else plan.language)[:1]
            }
            soft = {term: quality for term, quality in group.soft.items() if term in implied}
            if soft:
                groups.append(replace(group, soft=soft))
        elif stands:
            groups.append(group)
        elif inherited:
            groups.append(replace(group, weight=round(group.weight * 0.6, 4)))
    sites = tuple(s for s in plan.sites)
    return replace(plan, question=words, groups=tuple(groups), kinds=lexicon.kinds_of(words), sites=sites, parts=())


def _by_names(plan: Plan) -> tuple[Plan, ...]:
    """A comparison of two sites, or of two names beside each other, as one question for each."""
    if len(plan.sites) >= 2:
        return tuple(_about(plan, site) for site in plan.sites[:2])
    pair = re.search(
        r"([\w.@$()-]+)\s+(?:and|or|vs\.?|versus|und|oder|et|ou|y|o|e|и|или|ve|veya|with|from|than)\s+([\w.@$()-]+)",
        plan.question,
    )
    if pair is None:
        return ()
    left, right = ([t for t in index_terms(pair[i], plan.language)[:1]] for i in (1, 2))
    sides = [group for group in plan.groups if group.terms and group.terms[0] in (*left, *right)]
    if len(sides) != 2 or not all(g.is_name or g.kind in ("identifier", "name") for g in sides):
        return ()
    parts = []
    for drop in (sides[1], sides[0]):
        kept = (g for g in plan.groups if g is not drop and "compare" not in lexicon.kinds_of(g.word))
        parts.append(replace(plan, groups=tuple(kept), parts=()))
    return tuple(parts)


def _about(plan: Plan, site: str) -> Plan:
    """The same question about one site: the other sites' names left out."""
    kept = tuple(g for g in plan.groups if not g.is_site and "compare" not in lexicon.kinds_of(g.word))
    return replace(plan, groups=kept, sites=(site,), parts=())


# -- Look-ups


def _lookups_of(plan: Plan, part: str, n_pages: int) -> list[Lookup]:
    """Exact words, words with expansions, and pages; within the site if the question names one, and beside it a short
    look at all the others."""
    exact = {term: plan.counts.get(term, 0) for group in plan.groups if not group.is_site for term in group.terms}
    exact = exact or {term: plan.counts.get(term, 0) for group in plan.groups for term in group.terms}
    soft = {t: plan.counts.get(t, 0) for group in plan.groups for t in group.soft if t not in exact}
    if not exact and not soft:
        return []
    made: list[Lookup] = []
    places: tuple[str | None, ...] = plan.sites[:2] or (None,)
    for number, site in enumerate(places):
        share = BUDGET_SHARE if site is None else BUDGET_SHARE_OF_SITE
        words = _affordable(exact, plan.n_passages * share)
        wide = _as_groups({**words, **_affordable(soft, plan.n_passages * share)})
        pages = _as_groups(
            _affordable(exact, plan.n_passages * BUDGET_SHARE_OF_PAGES) or _affordable(soft, plan.n_passages)
        )
        if words and site is None:
            made.append(Lookup(f"{part}.exact", _as_groups(words), limit=120))
        made.append(Lookup(f"{part}.wide{number}", wide, limit=140, site=site))
        made.append(Lookup(f"{part}.pages{number}", pages, of="pages", limit=n_pages, site=site))
    if plan.sites and exact and part == "0":
        words = _affordable(exact, plan.n_passages * BUDGET_SHARE_ELSEWHERE)
        made.append(Lookup(f"{part}.elsewhere", _as_groups(words), limit=60))
    return made


def _affordable(counts: Mapping[str, int], budget: float) -> dict[str, int]:
    """The rarest terms, as many as the budget of matches allows, three at least: every match of a look-up is scored."""
    budget = max(BUDGET_MIN, budget)
    known = sorted((n, term) for term, n in counts.items() if n > 0)
    kept: dict[str, int] = {}
    spent = 0
    for n, term in known:
        if len(kept) >= 3 and spent + n > budget:
            break
        if kept and n > budget:
            break
        kept[term] = n
        spent += n
    return kept


def _as_groups(terms: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    return tuple((term,) for term in terms)
