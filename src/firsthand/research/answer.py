"""The main path, on one screen: from a question to a cited answer, seeing the world only through ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from firsthand import __version__
from firsthand.events import Event
from firsthand.evidence.corroborate import Conflict, site_of
from firsthand.ports import Candidate, Finder, Operations, PageRef, Scope, Shelf
from firsthand.research import lexicon
from firsthand.research.cite import Cited, cite, is_order, second_sites
from firsthand.research.decline import decline
from firsthand.research.named import addresses_of, asks_for_whole_page, beginning, lead, without_sites
from firsthand.research.plan import Plan, hints_of, lookups, make_plan, needed_terms, unknown_terms
from firsthand.research.profile import Profile
from firsthand.research.rank import Ranked, rank
from firsthand.research.reach import Reached, is_allowed, look_up_named, reach_out
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
    said, hints = hints_of(question)
    asked, addresses = addresses_of(said)
    plan = replace(await _plan(asked, shelf, Scope(profile.libraries)), hints=hints, asked=asked, addresses=addresses)
    plan = replace(plan, is_about_page=bool(addresses) and asks_for_whole_page(asked))

    def answer(status: Status, draft: Draft, cited: Cited | None = None, pages: Pages | None = None) -> Answer:
        unread = (lexicon.say("address_unread", plan.language, url=url) for url in reached.unread)
        draft = replace(draft, missing=(*unread, *draft.missing))
        made = _answer(answer_id, plan, profile, reached, status, draft, cited, pages or {}, elapsed_ms())
        return replace(made, question=question)  # as it was asked: with its hints, and whole

    await operations.say(
        Event("QuestionPlanned", "planned", {"language": plan.language, "kinds": [*sorted(plan.kinds)]})
    )
    if plan.clarification and not addresses:  # a page that is named is a subject
        return answer("needs_clarification", Draft(plan.clarification))
    if profile.providers:
        reached = await reach_out(plan, profile, operations, finder)
        known = await _plan(asked, shelf, reached.scope(profile))  # now the index knows which words are rare
        plan = replace(known, addresses=addresses, is_about_page=plan.is_about_page)
    elif addresses:
        reached = await look_up_named(plan, profile, shelf)
    plan = without_sites(plan) if reached.named else plan
    found = await _found(plan, profile, reached, shelf)
    orders = {each.passage_id: each.page.text_id for each in found if is_order(each.body, asked)}
    kept = [each for each in found if each.passage_id not in orders]
    read = await _read(plan, profile, reached, kept, said, shelf)
    await operations.say(Event("PassagesRanked", "ranked", {"n_passages": len(read.ranked)}))
    if read.missing is not None and reached.is_cut_off and not found:
        return answer("failed", Draft(lexicon.say("nothing_reached", plan.language)))
    if read.missing is not None:
        return answer("insufficient_evidence", nothing(plan, read.missing))
    pages = {each.page.text_id: each.page for each in found}
    draft, cited = await _cited(plan, profile, read.evidence, read.ranked, pages, shelf, operations)
    named = (pages[id].url for id in draft.text_ids if id in orders.values())
    obeyed_not = [lexicon.say("order_left_out", plan.language, url=url) for url in named]
    not_there = (lexicon.say("address_silent", plan.language, url=url) for url in read.silent)
    draft = replace(draft, limitations=(*draft.limitations, *obeyed_not), missing=(*draft.missing, *not_there))
    if not cited.claims:
        return answer("insufficient_evidence", nothing(plan, (lexicon.say("no_evidence", plan.language),)))
    return answer(_status(profile, cited), draft, cited, pages)


Pages = Mapping[int, PageRef]


async def _found(plan: Plan, profile: Profile, reached: Reached, shelf: Shelf) -> list[Candidate]:
    """The passages that the plan's look-ups find, also in the pages that the question names alone.

    If nothing else is asked, all that stands near the top of those pages.
    """
    if plan.is_about_page:
        tops = await shelf.passages({text_id: [0] for text_id in reached.named.values()})
        found = [each for some in tops.values() for each in some]
    else:
        looks = lookups(plan)
        found = await shelf.lookup(looks, reached.scope(profile))
        if reached.named:
            held = {each.passage_id for each in found}
            own = await shelf.lookup(looks, Scope((), tuple(reached.named.values())))
            refs = {each.page.text_id: each.page for each in found}
            more = (replace(each, page=refs.get(each.page.text_id, each.page)) for each in own)
            found += [each for each in more if each.passage_id not in held]
    return [each for each in found if is_allowed(each.page.url, profile.allow_origins)]


@dataclass(frozen=True, slots=True)
class _Read:
    """What the passages say to the question; ``missing`` is what they do not say, None if they answer it."""

    evidence: list[Evidence]
    ranked: list[Ranked]
    missing: tuple[str, ...] | None = None
    silent: tuple[str, ...] = ()  # addresses in the question whose pages do not answer it


async def _read(
    plan: Plan, profile: Profile, reached: Reached, kept: Sequence[Candidate], said: str, shelf: Shelf
) -> _Read:
    """Order the passages that were kept, the pages that the question names before others, and choose from them."""
    ranked = rank(plan, kept)
    if plan.is_about_page:
        evidence = await _beginnings(kept, reached.named.values(), profile.max_passages, shelf)
        said_missing = () if reached.unread else (lexicon.say("missing_answer", plan.language, question=said),)
        return _Read(evidence, ranked, None if evidence else said_missing)
    led = lead(plan, ranked, reached.named.values())
    missing = decline(replace(plan, question=said), ranked) if led is None else None
    if missing is not None:
        return _Read([], ranked, missing)
    ranked = ranked if led is None else led
    around = await shelf.passages(wanted(plan, ranked, profile.max_passages))
    around = {id: [each for each in some if not is_order(each.body, plan.question)] for id, some in around.items()}
    evidence = choose(plan, ranked, around, profile.max_passages)
    return _Read(evidence, ranked, silent=tuple(reached.named) if led is None else ())


async def _beginnings(found: Sequence[Candidate], text_ids: Iterable[int], limit: int, shelf: Shelf) -> list[Evidence]:
    """How each of the pages begins, a fair share of the *limit* each."""
    once = dict.fromkeys(text_ids)
    share = max(1, limit // max(1, len(once)))
    made = []
    for text_id in once:
        own = [each for each in found if each.page.text_id == text_id]
        made += beginning(await shelf.text(text_id), own, share)
    return made[:limit]


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
