"""The main path, on one screen: from a question to a cited answer, seeing the world only through ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from firsthand import __version__
from firsthand.events import Event
from firsthand.evidence.corroborate import Conflict, site_of
from firsthand.ports import Finder, Operations, PageRef, Scope, Shelf
from firsthand.research import lexicon
from firsthand.research.cite import Cited, cite, is_order, second_sites
from firsthand.research.decline import decline
from firsthand.research.plan import Plan, hints_of, lookups, make_plan, needed_terms, unknown_terms
from firsthand.research.profile import Profile
from firsthand.research.rank import Ranked, rank
from firsthand.research.reach import Reached, is_allowed, reach_out
from firsthand.research.read import Evidence, choose, wanted
from firsthand.research.write import Draft, nothing, write
from firsthand.values import Answer, Engine, Source, Status


async def answer_question(
    question: str,
    profile: Profile,
    operations: Operations,
    finder: Finder,
    shelf: Shelf,
    *,
    answer_id: str,
    elapsed_ms: Callable[[], int],
) -> Answer:
    """Answer *question* from the libraries and the web, as *profile* says; always an answer with a status.

    Raises: what a port raises beyond a refusal (StoreFailed, BrokenPromise): nothing is published then.
    """
    await operations.say(Event("TurnStarted", "started", {"question": question}))
    reached = Reached()
    asked, hints = hints_of(question)
    plan = replace(await _plan(asked, shelf, Scope(profile.libraries)), hints=hints, asked=asked)

    def answer(status: Status, draft: Draft, cited: Cited | None = None, pages: Pages | None = None) -> Answer:
        made = _answer(answer_id, plan, profile, reached, status, draft, cited, pages or {}, elapsed_ms())
        return replace(made, question=question)  # as it was asked: with its hints, and whole

    await operations.say(
        Event("QuestionPlanned", "planned", {"language": plan.language, "kinds": [*sorted(plan.kinds)]})
    )
    if plan.clarification:
        return answer("needs_clarification", Draft(plan.clarification))
    if profile.providers:
        reached = await reach_out(plan, profile, operations, finder)
        plan = await _plan(asked, shelf, reached.scope(profile))  # now the index knows which words are rare
    found = await shelf.lookup(lookups(plan), reached.scope(profile))
    found = [each for each in found if is_allowed(each.page.url, profile.allow_origins)]
    orders = {each.passage_id: each.page.text_id for each in found if is_order(each.body, asked)}
    ranked = rank(plan, [each for each in found if each.passage_id not in orders])
    await operations.say(Event("PassagesRanked", "ranked", {"n_passages": len(ranked)}))
    missing = decline(plan, ranked)
    if missing is not None and reached.is_cut_off and not found:
        return answer("failed", Draft(lexicon.say("nothing_reached", plan.language)))
    if missing is not None:
        return answer("insufficient_evidence", nothing(plan, missing))
    places = wanted(plan, ranked, profile.max_passages)
    around = await shelf.passages(places)
    around = {id: [each for each in some if not is_order(each.body, asked)] for id, some in around.items()}
    evidence = choose(plan, ranked, around, profile.max_passages)
    pages = {each.page.text_id: each.page for each in found}
    draft, cited = await _cited(plan, profile, evidence, ranked, pages, shelf, operations)
    named = (pages[id].url for id in draft.text_ids if id in orders.values())
    obeyed_not = [lexicon.say("order_left_out", plan.language, url=url) for url in named]
    draft = replace(draft, limitations=(*draft.limitations, *obeyed_not))
    if not cited.claims:
        return answer("insufficient_evidence", nothing(plan, (lexicon.say("no_evidence", plan.language),)))
    return answer(_status(profile, cited), draft, cited, pages)


Pages = Mapping[int, PageRef]


async def _plan(question: str, shelf: Shelf, scope: Scope) -> Plan:
    """The plan of *question* for what the scope holds."""
    sites = await shelf.sites(scope)
    rarity = await shelf.rarity(needed_terms(question, sites))
    unknown = unknown_terms(question, sites, rarity)
    if not unknown:
        return make_plan(question, rarity, sites)
    similar = await shelf.similar(unknown)
    more = await shelf.rarity([near for found in similar.values() for near in found])
    return make_plan(question, (rarity[0], {**rarity[1], **more[1]}), sites, similar)


async def _cited(
    plan: Plan,
    profile: Profile,
    evidence: Sequence[Evidence],
    ranked: Sequence[Ranked],
    pages: Pages,
    shelf: Shelf,
    operations: Operations,
) -> tuple[Draft, Cited]:
    """The draft of what holds. What does not is dropped, said, and the rest written again."""
    kept = list(evidence)
    while True:
        draft = write(plan, kept, pages)
        seconds = second_sites(draft, ranked, pages) if profile.cross_check else {}
        also = [second.text_id for second in seconds.values() if second.text_id not in draft.text_ids]
        draft = replace(draft, text_ids=(*draft.text_ids, *dict.fromkeys(also)))
        texts = {text_id: await shelf.text(text_id) for text_id in draft.text_ids}
        cited = cite(plan, draft, pages, texts, profile.verify, seconds)
        if not cited.dropped:
            break
        for index in cited.dropped:
            key = f"dropped:{kept[index].page.text_digest}:{kept[index].quotes[0].span.start}"
            await operations.say(Event("ClaimDropped", key, {"url": kept[index].page.url}))
        kept = [each for index, each in enumerate(kept) if index not in cited.dropped]
    for number, claim in enumerate(cited.claims):
        await operations.say(Event("ClaimWritten", f"claim:{number}", {"url": claim.citations[0].url}))
    return draft, cited


def _status(profile: Profile, cited: Cited) -> Status:
    if cited.claims and cited.claims[0].corroboration == "disputed":
        return "conflicting_evidence"
    if profile.cross_check and any(claim.corroboration != "corroborated" for claim in cited.claims[:1]):
        return "insufficient_evidence"
    return "answered"


def _answer(
    answer_id: str,
    plan: Plan,
    profile: Profile,
    reached: Reached,
    status: Status,
    draft: Draft,
    cited: Cited | None,
    pages: Pages,
    elapsed_ms: int,
) -> Answer:
    refs = [pages[text_id] for text_id in draft.text_ids]
    searched = dict.fromkeys(name for names in profile.providers for name in names.split("/"))
    limitations = [*draft.limitations]
    if profile.cross_check and status == "insufficient_evidence" and draft.claims:
        limitations.append(lexicon.say("one_source", plan.language))
    limitations += [lexicon.say("one_copy", plan.language, url=url) for url in reached.duplicates]
    return Answer(
        id=answer_id,
        question=plan.question,
        language=plan.language,
        mode=profile.mode,
        verify=profile.verify,
        status=status,
        text=draft.text,
        claims=cited.claims if cited else (),
        sources=tuple(_source(n, page, refs) for n, page in enumerate(refs, 1)),
        missing=draft.missing,
        conflicts=(*draft.conflicts, *(_conflict(each, plan) for each in (cited.conflicts if cited else ()))),
        limitations=tuple(limitations),
        failures=reached.failures,
        omitted=reached.omitted,
        follow_ups=draft.follow_ups,
        usage=reached.usage,
        elapsed_ms=elapsed_ms,
        engine=Engine(__version__, None, refs[0].extractor if refs else "", tuple(searched) or ("library",)),
    )


def _source(n: int, page: PageRef, all_pages: Iterable[PageRef]) -> Source:
    hosts = {urlsplit(each.url).hostname for each in all_pages}
    host = urlsplit(page.url).hostname or ""
    # One host needs no list of public suffixes to be told from itself.
    site = host.removeprefix("www.") if len(hosts) == 1 or not host else site_of(page.url)
    return Source(n, page.url, page.title, site, page.retrieved_at, page.published_at, page.snapshot, page.media_type)


def _conflict(conflict: Conflict, plan: Plan) -> str:
    return lexicon.say("conflict", plan.language, values=" ≠ ".join(conflict.values))
