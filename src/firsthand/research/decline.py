"""Says what is missing when no passage answers: names that stand nowhere, another site, too little in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firsthand.research import lexicon
from firsthand.research.grouping import Group
from firsthand.research.plan import Plan
from firsthand.research.rank import Ranked

TOP = 5  # passages that are looked at
# Below this no passage answers. Three of the 12 unanswerable open questions lie below it, and no answerable English one
# (7.1 is the least); chosen with room to spare, because twelve are few.
SCORE_FLOOR = 6.4
# Of the question's weight, in the best passage with its headings: below it only a few chance words are met. Four of the 12
# lie below it, the least answerable English question of three sets at 0.28. Pairs of characters across words count too in
# scripts without spaces, and no page can meet those.
COVERAGE_FLOOR = 0.27
COVERAGE_FLOOR_FOREIGN = 0.2
COVERAGE_FLOOR_UNSPACED = 0.12
COMMON_NAME_SHARE = 0.04  # a name in more passages than this is what the library is about, and says nothing
WHOLE_VOCABULARY = 20_000  # passages from which an index holds nearly every ordinary word of its language
UNKNOWN_MIN_CHARS = 6
_BRITISH = re.compile(r"is(?:e[dsr]?|ing|ations?)$|ou?r|tre$|ll")  # spelt otherwise by most manuals
OFF_SITE_MAX = 0.7


def decline(plan: Plan, ranked: Sequence[Ranked]) -> tuple[str, ...] | None:
    """What is missing, a sentence each in the question's language; None if the passages may answer."""
    pool = ranked
    if not pool:
        return (lexicon.say("missing_answer", plan.language, question=plan.question),)
    missing = _missing_names(plan, pool)
    if missing:
        return tuple(lexicon.say("missing_name", plan.language, name=name) for name in missing)
    top = pool[:TOP]
    if plan.sites and _site_speaks(plan):
        off = sum(each.candidate.page.site not in plan.sites for each in top) / len(top)
        if off >= OFF_SITE_MAX:
            return (lexicon.say("missing_answer", plan.language, question=plan.question),)
    coverage = max(each.features["any"] for each in top)
    if top[0].score < SCORE_FLOOR or coverage < _coverage_floor(plan.language):
        return (lexicon.say("missing_answer", plan.language, question=plan.question),)
    return None


def _coverage_floor(language: str) -> float:
    if language == "en":
        return COVERAGE_FLOOR
    return COVERAGE_FLOOR_UNSPACED if language in lexicon.UNSPACED else COVERAGE_FLOOR_FOREIGN


def _site_speaks(plan: Plan) -> bool:
    """Whether a site that is named has pages in the question's language."""
    return any(plan.language in plan.site_languages.get(site, ()) for site in plan.sites)


def _missing_names(plan: Plan, pool: Sequence[Ranked]) -> list[str]:
    """The names that no section of a top passage holds; for a named site, sections of that site count only.

    Each part of a question has top passages of its own: what one part is about need not stand where the other is answered.
    """
    top = list(pool[:TOP])
    for number in range(len(plan.parts)):
        top += sorted(pool, key=lambda each: -each.parts[number])[:TOP]
    in_site = (
        [each for each in top if each.candidate.page.site in plan.sites] if plan.sites and _site_speaks(plan) else top
    )
    sections = {(each.candidate.page.text_id, each.candidate.passage.headings) for each in in_site}
    met = {
        i
        for each in pool
        if (each.candidate.page.text_id, each.candidate.passage.headings) in sections
        for i in each.around
    }
    return [
        group.word
        for i, group in enumerate(plan.groups)
        if i not in met and not group.is_site and (_must_be_met(plan, group) or _is_unheard_of(plan, group))
    ]


def _must_be_met(plan: Plan, group: Group) -> bool:
    """Whether *group* is a name that tells pages apart."""
    n_with = max((plan.counts.get(term, 0) for term in group.terms), default=0)
    return group.is_name and n_with <= plan.n_passages * COMMON_NAME_SHARE


def _is_unheard_of(plan: Plan, group: Group) -> bool:
    """Whether *group* is an English word that a large index holds in no spelling and no other words: a name in lower case."""
    return (
        plan.language == "en"
        and group.kind == "word"
        and plan.n_passages >= WHOLE_VOCABULARY
        and len(group.word) >= UNKNOWN_MIN_CHARS
        and not _BRITISH.search(group.word)
        and not any(plan.counts.get(term) for term in (*group.terms, *group.soft))
    )
