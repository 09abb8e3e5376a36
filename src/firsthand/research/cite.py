"""Citations from a draft: each quote is looked up again in its text, judged, and counted; what does not hold is named.

The verdict and the support are two fields. Neither is ever made from the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from firsthand.evidence.corroborate import (
    Conflict,
    Said,
    candidate_conflicts,
    corroboration,
    is_disputed,
    near_duplicate,
    same_site,
)
from firsthand.evidence.quotes import cut
from firsthand.evidence.support import support
from firsthand.evidence.verify import verify_citation
from firsthand.ports import PageRef
from firsthand.research.plan import Plan
from firsthand.research.quoting import Cut
from firsthand.research.rank import Ranked
from firsthand.research.write import Draft, DraftClaim
from firsthand.values import Citation, Claim, Span, Text, Verify

SECOND_SITE_DEPTH = 40  # how far down the ranking another site's word for the same thing is looked for (guess)
NOT_BORNE = ("unsupported", "contradicted")
VALUE_KINDS = frozenset({"number", "default", "date"})
_VERSION = re.compile(r"\d\.\d+\.\d")  # versions differ between pages without disagreeing
# What pages say to machines that answer. The usual wordings, no more (guess): nothing here obeys them anyway; they are
# only kept out of what is quoted. Each repetition is bounded, so a page cannot make this slow.
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s(?:(?:all|any|of|the|your|my|these|previous|prior|earlier|above)\s){0,4}"
    r"(?:instructions?|prompts?|directions|what you (?:were|are|have been) (?:asked|told))\b"
    r"|\byou (?:must|should|will|shall) (?:now |only ){0,2}(?:answer|reply|respond|say|state|claim|report) that\b"
)
# Looked for first: the pattern alone took 14 ms for the 600 passages of one answer, a tenth of what it may cost.
_ORDER_BEGINS = ("ignore", "disregard", "forget", "override", "you must", "you should", "you will", "you shall")
_ABOUT_ORDERS = re.compile(r"instruction|prompt|inject|jailbreak|ignore|disregard", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cited:
    """The claims of a draft with their citations, and what was found wrong.

    ``dropped`` holds the numbers of claims that must not be published; then the draft is written again without them.
    """

    claims: tuple[Claim, ...]
    dropped: tuple[int, ...]
    conflicts: tuple[Conflict, ...]


def cite(
    plan: Plan,
    draft: Draft,
    pages: Mapping[int, PageRef],
    texts: Mapping[int, Text],
    verify: Verify,
    seconds: Mapping[int, Cut],
) -> Cited:
    """Check every claim of *draft* against *texts*. *seconds* has, by claim, another site's words for the same.

    A claim with a missing quote is dropped always; one that its quotes do not bear is dropped when *verify* is strict.
    """
    numbers = {text_id: n for n, text_id in enumerate(draft.text_ids, 1)}
    cited: list[tuple[DraftClaim, tuple[Citation, ...]]] = []
    dropped: list[int] = []
    for index, claim in enumerate(draft.claims):
        second = (seconds[index],) if index in seconds else ()
        citations = _citations(plan, claim, (*claim.quotes, *second), pages, texts, numbers, verify)
        is_missing = any(citation.verdict == "missing" for citation in citations)
        is_borne = not any(citation.support in NOT_BORNE for citation in citations)
        if is_missing or (verify == "strict" and not is_borne):
            dropped.append(index)
        cited.append((claim, citations))
    conflicts = _conflicts(plan, [claim for claim, _ in cited], pages)
    claims = []
    for claim, citations in cited:
        plain = Claim(claim.text, claim.start, claim.end, citations)
        disputed = is_disputed(plain, conflicts, plan.language)
        claims.append(Claim(claim.text, claim.start, claim.end, citations, corroboration(citations, disputed)))
    return Cited(tuple(claims), tuple(dropped), conflicts)


def is_order(words: str, question: str) -> bool:
    """Whether *words* tell whoever answers what to say, and *question* does not ask about such words (A06)."""
    words = words.lower()
    if not any(begin in words for begin in _ORDER_BEGINS):
        return False
    return _ORDER.search(words) is not None and _ABOUT_ORDERS.search(question) is None


def second_sites(draft: Draft, ranked: Sequence[Ranked], pages: Mapping[int, PageRef]) -> dict[int, Cut]:
    """For each claim, the best passage of another site that bears the claim's leading quote, if there is one.

    The same text under another address is no second word (N23).
    """
    found: dict[int, Cut] = {}
    for index, claim in enumerate(draft.claims):
        lead = claim.quotes[0]
        url = pages[lead.text_id].url
        for each in ranked[:SECOND_SITE_DEPTH]:
            other = each.candidate
            if same_site(other.page.url, url) or near_duplicate(other.body, lead.text):
                continue
            judged = support(lead.text, [other.body], language=other.page.language, quote_language=other.page.language)
            if judged.support == "supported":
                found[index] = Cut(other.page.text_id, other.passage.span, other.body)
                break
    return found


def _citations(
    plan: Plan,
    claim: DraftClaim,
    cuts: Sequence[Cut],
    pages: Mapping[int, PageRef],
    texts: Mapping[int, Text],
    numbers: Mapping[int, int],
    verify: Verify,
) -> tuple[Citation, ...]:
    own = [each.text for each in claim.quotes]
    made = []
    for each in cuts:
        page = pages[each.text_id]
        body = texts[each.text_id].body
        quote = cut(body, each.span)
        citation = Citation(
            source=numbers[each.text_id],
            url=page.url,
            quote=quote.text,
            prefix=quote.prefix,
            suffix=quote.suffix,
            snapshot=page.snapshot,
            text_digest=page.text_digest,
            start=each.span.start,
            end=each.span.end,
            verdict="missing",
        )
        citation = replace(citation, verdict=verify_citation(citation, True, body))
        if verify != "off":
            quotes = own if each in claim.quotes else [quote.text]
            judged = support(claim.text, quotes, language=page.language, quote_language=page.language)
            citation = replace(citation, support=judged.support, score=judged.score, method=judged.method)
        made.append(citation)
    return tuple(made)


def _conflicts(plan: Plan, claims: Sequence[DraftClaim], pages: Mapping[int, PageRef]) -> tuple[Conflict, ...]:
    """Where two pages give other values for what was asked. Only a question for a value can have such an answer."""
    if not plan.kinds & VALUE_KINDS:
        return ()
    found = candidate_conflicts([_said(claim, pages) for claim in claims])
    return tuple(
        conflict
        for conflict in found
        if conflict.one.text_digest != conflict.other.text_digest
        and not any(_VERSION.search(value) for value in conflict.values)
        and not _says_both(conflict)
    )


def _says_both(conflict: Conflict) -> bool:
    """Whether each side also says the other's value, of something else: then they agree (25 and 200 on both pages)."""
    one, other = (re.compile(rf"(?<!\w){re.escape(value)}(?!\w)") for value in conflict.values)
    return other.search(conflict.one.text) is not None and one.search(conflict.other.text) is not None


def _said(claim: DraftClaim, pages: Mapping[int, PageRef]) -> Said:
    lead = claim.quotes[0]
    page = pages[lead.text_id]
    return Said(lead.text, page.text_digest, Span(lead.span.start, lead.span.end), page.language)
