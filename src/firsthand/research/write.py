"""Writes an answer from evidence: Markdown with numbered links, one claim a passage, in the question's language.

The words of a claim are the page's own words. Only fixed sentences of ours stand beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firsthand.ports import PageRef
from firsthand.research import lexicon
from firsthand.research.plan import Plan
from firsthand.research.quoting import Cut
from firsthand.research.read import Evidence

MAX_FOLLOW_UPS = 3
TOPIC_MAX_CHARS = 90
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$])")
_LINE_START = re.compile(r"^(\s*)([#>+\-]|\d+[.)])(?=\s|$)")
_URL_UNSAFE = {"(": "%28", ")": "%29", " ": "%20", "<": "%3C", ">": "%3E", "\n": "", "\r": "", "\\": "%5C"}
_NUMBERING = re.compile(r"^(?:(?:chapter|appendix|section|part)\s+)?(?:[A-Z]|\d+)(?:\.\d+)*\.?\s+(?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """One statement: ``text`` stands at ``start`` to ``end`` of the draft's text, borne by the quotes."""

    text: str
    start: int
    end: int
    quotes: tuple[Cut, ...]
    part: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before its citations are checked. ``text_ids`` are the sources in order: number 1 first."""

    text: str = ""
    claims: tuple[DraftClaim, ...] = ()
    text_ids: tuple[int, ...] = ()
    limitations: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    follow_ups: tuple[str, ...] = ()


def write(plan: Plan, evidence: Sequence[Evidence], pages: Mapping[int, PageRef]) -> Draft:
    """The answer that *evidence* gives, the best claim first. *pages* names the page behind each text."""
    numbers: dict[int, int] = {}
    text = ""
    claims: list[DraftClaim] = []
    for each in evidence:
        number = numbers.setdefault(each.page.text_id, len(numbers) + 1)
        words = _claim_text(each)
        lead = "" if not text else "\n\n"
        start = len(text) + len(lead)
        claims.append(DraftClaim(words, start, start + len(words), each.quotes, each.part))
        text += f"{lead}{words} [{number}]({link(pages[each.page.text_id].url)})"
    return Draft(
        text=text,
        claims=tuple(claims),
        text_ids=tuple(numbers),
        limitations=_limitations(plan, evidence),
        missing=_missing_parts(plan, evidence),
        follow_ups=_follow_ups(plan, evidence),
    )


def nothing(plan: Plan, missing: Sequence[str]) -> Draft:
    """What is said when nothing was found: one sentence, and what is missing."""
    return Draft(lexicon.say("no_evidence", plan.language), (), (), missing=tuple(missing))


def escape(words: str) -> str:
    """*words* so that Markdown shows them as they are: one line, nothing formatted, no link, no HTML."""
    line = " ".join(words.split())
    line = _SPECIAL.sub(r"\\\1", line).replace("&", "&amp;")
    return _LINE_START.sub(lambda match: f"{match[1]}{match[2][:-1]}\\{match[2][-1]}", line)


def link(url: str) -> str:
    """*url* so that it ends where a Markdown link ends."""
    return "".join(_URL_UNSAFE.get(char, char) for char in url)


def _claim_text(evidence: Evidence) -> str:
    return " … ".join(escape(quote.text) for quote in evidence.quotes)


def _limitations(plan: Plan, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    made = [lexicon.say("by_rule", plan.language)]
    foreign = sorted({e.page.language for e in evidence if e.page.language and e.page.language != plan.language})
    if foreign:
        made.append(lexicon.say("quotes_language", plan.language, languages=", ".join(foreign)))
    sites = {each.page.site for each in evidence}
    if len(sites) == 1 and len(evidence) > 1:
        made.append(lexicon.say("one_site", plan.language, site=next(iter(sites))))
    return tuple(made)


def _missing_parts(plan: Plan, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The parts of the question that no passage was chosen for."""
    served = {each.part for each in evidence}
    return tuple(
        lexicon.say("missing_answer", plan.language, question=part.question.strip())
        for number, part in enumerate(plan.parts, 1)
        if number not in served and 0 not in served
    )


def _follow_ups(plan: Plan, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Questions about the sections that were quoted beside the first."""
    topics: dict[str, None] = {}
    for each in evidence:
        for heading in each.passage.headings[-1:]:
            topic = _NUMBERING.sub("", " ".join(heading.split())).strip(" ¶#:")
            if 3 < len(topic) <= TOPIC_MAX_CHARS and topic.lower() not in plan.question.lower():
                topics[topic] = None
    first = evidence[0].passage.headings[-1:] if evidence else ()
    kept = [topic for topic in topics if not first or not first[0].endswith(topic)]
    return tuple(lexicon.say("follow_up", plan.language, topic=topic) for topic in kept[:MAX_FOLLOW_UPS])
