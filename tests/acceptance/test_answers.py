"""What an answer says in the test world: the rows of the reference that end in an answer (web-qa 6.3)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from firsthand.values import Answer
from tests.acceptance.world import (
    AGREEING,
    DISPUTED,
    ENTERPRISE,
    HOSTILE,
    QUESTION,
    STANDARD,
    World,
    options,
    words_of,
)
from tests.commands import Reply, page

BUSY = Reply(b"busy", 503, {"content-type": "text/plain", "retry-after": "0"})
WAIT = Reply(b"wait", 429, {"content-type": "text/plain", "retry-after": "0"})


def rule_of_the_world(answer: Answer) -> None:
    """What holds after every case (web-qa 6.2): the snippet's number is in no claim, each quote is found exactly."""
    assert "9999" not in words_of(answer)
    assert all(citation.verdict == "exact" for claim in answer.claims for citation in claim.citations)


async def test_a03_the_page_is_believed_and_the_snippet_is_not(orchid: World, home: Path) -> None:
    answer = await orchid.ask(home)
    rule_of_the_world(answer)
    assert answer.status == "answered"
    assert "25 members" in answer.claims[0].text
    assert {citation.url for claim in answer.claims for citation in claim.citations} == {orchid.primary}


async def test_a04_two_sites_that_say_the_same_corroborate(orchid: World, home: Path) -> None:
    orchid.web.one.replies["/plans"] = page("Orchid plans", STANDARD)
    orchid.web.other.replies["/review"] = page("Orchid, a review", AGREEING)
    orchid.hits = [orchid.primary, orchid.secondary]
    answer = await orchid.ask(home, cross_check=True)
    rule_of_the_world(answer)
    assert (answer.status, answer.claims[0].corroboration) == ("answered", "corroborated")
    assert {citation.url for citation in answer.claims[0].citations} == {orchid.primary, orchid.secondary}


HARBOUR = "The harbour of Zamora is eleven metres deep, and ships wait for the tide before they leave it."
FERRY = "Ferries cross the bay every hour; a crossing takes forty minutes and costs nothing for children."


async def test_a04_a_page_that_the_question_names_is_a_source_beside_what_the_search_found(
    orchid: World, home: Path
) -> None:
    orchid.web.one.replies["/plans"] = page("Orchid plans", STANDARD)
    orchid.web.other.replies["/review"] = page("Orchid, a review", AGREEING)
    orchid.hits = [orchid.primary, f"{orchid.secondary}#plans"]
    answer = await orchid.ask(home, f"{QUESTION} ({orchid.secondary})", cross_check=True)
    rule_of_the_world(answer)
    assert (answer.status, answer.claims[0].corroboration) == ("answered", "corroborated")
    assert answer.claims[0].citations[0].url == orchid.secondary
    assert {citation.url for citation in answer.claims[0].citations} == {orchid.primary, orchid.secondary}
    assert (orchid.web.other.count("/review"), orchid.web.questions) == (1, [QUESTION.replace("?", "") + "?"])
    assert (answer.usage.fetches, answer.omitted) == (2, ())


async def test_a_page_that_the_question_names_is_read_first_and_its_letters_are_not_searched(
    orchid: World, home: Path
) -> None:
    orchid.web.one.replies["/harbour"] = page("Port notes", FERRY, HARBOUR)
    orchid.web.one.replies["/plans"] = page("http", "What http is: http says what a harbour pdf of 127.0.0.1 is about.")
    named = orchid.web.one.url("/harbour")
    answer = await orchid.ask(home, f"What does {named} say about the depth of the Orchid harbour?", max_sources=1)
    assert orchid.web.questions == ["What does say about the depth of the Orchid harbour?"]
    assert [path for path in orchid.web.one.asked if path != "/robots.txt"] == ["/harbour"]
    assert orchid.primary in answer.omitted
    assert answer.missing  # the page says nothing of an Orchid
    answer = await orchid.ask(home, f"What does {named} say about how deep the harbour is?")
    assert (answer.status, answer.claims[0].citations[0].url) == ("answered", named)
    assert "eleven metres" in answer.claims[0].text


@pytest.mark.parametrize("words", ["{}", "What is {} about?", "总结一下 {}。"])
async def test_an_address_alone_is_answered_by_how_its_page_begins(orchid: World, home: Path, words: str) -> None:
    orchid.web.one.replies["/harbour"] = page("Port notes", FERRY, HARBOUR)
    named = orchid.web.one.url("/harbour")
    answer = await orchid.ask(home, words.format(named))
    assert (answer.status, answer.missing, orchid.web.questions) == ("answered", (), [])
    assert [claim.citations[-1].quote for claim in answer.claims] == [FERRY, HARBOUR]
    assert {citation.url for claim in answer.claims for citation in claim.citations} == {named}
    assert all(citation.verdict == "exact" for claim in answer.claims for citation in claim.citations)
    assert orchid.n_requests == 1 + orchid.web.one.count("/robots.txt")


async def test_a_named_page_that_cannot_be_read_is_a_failure_and_said_to_be_missing(orchid: World, home: Path) -> None:
    orchid.web.one.replies["/harbour"] = BUSY
    named = orchid.web.one.url("/harbour")
    answer = await orchid.ask(home, f"{QUESTION} {named}")
    assert (answer.status, "25 members" in answer.claims[0].text) == ("answered", True)
    assert [(one.stage, one.target, one.outcome) for one in answer.failures] == [("fetch", named, "failed")]
    assert [named in said for said in answer.missing] == [True]
    alone = await orchid.ask(home, named)
    assert (alone.status, alone.claims, [named in said for said in alone.missing]) == ("failed", (), [True])


@pytest.mark.parametrize("named", ["http://[bad", "http://a:99999999/", "http://u:p@a.example/", "http://10.0.0.1/x"])
async def test_a_named_address_that_is_refused_is_said_and_nothing_is_sent_to_it(
    orchid: World, home: Path, named: str
) -> None:
    answer = await orchid.ask(home, f"{QUESTION} {named}")
    assert answer.status == "answered"
    assert [(one.target, one.outcome) for one in answer.failures] == [(named, "blocked_by_policy")]
    assert [named in said for said in answer.missing] == [True]


async def test_a28_a_named_page_off_the_list_is_refused_and_nothing_is_sent_to_it(orchid: World, home: Path) -> None:
    origins = (orchid.web.one.url(""),)
    answer = await orchid.ask(home, f"{QUESTION} {orchid.secondary}", allow_origins=origins)
    assert [(one.target, one.outcome) for one in answer.failures] == [(orchid.secondary, "blocked_by_policy")]
    assert any(orchid.secondary in said for said in answer.missing)
    assert orchid.web.other.asked == []
    assert answer.status == "answered"


async def test_a_named_page_that_says_nothing_on_it_is_said_beside_what_others_answer(
    orchid: World, home: Path
) -> None:
    orchid.web.other.replies["/ferry"] = page("Ferries", FERRY)
    named = orchid.web.other.url("/ferry")
    answer = await orchid.ask(home, f"{QUESTION} {named}")
    assert (answer.status, answer.claims[0].citations[0].url) == ("answered", orchid.primary)
    assert [named in said for said in answer.missing] == [True]


async def test_a_library_is_asked_for_the_named_page_and_nothing_is_sent(orchid: World, home: Path) -> None:
    orchid.web.one.replies["/harbour"] = page("Port notes", FERRY, HARBOUR)
    named, elsewhere = orchid.web.one.url("/harbour"), orchid.web.one.url("/elsewhere")
    async with orchid.app(home) as app:
        for url in (named, orchid.primary):
            await app.add([url], "mine", base_url=None, max_pages=1, watch=lambda *_: None)
        n_sent = orchid.n_requests
        only = options(libraries=("mine",))
        begins = await app.ask(f"{named.replace('http', 'HTTP')}#deep", only)
        answers = await app.ask(f"How deep is the harbour, says {named}?", only)
        absent = await app.ask(f"How deep is the harbour, says {elsewhere}?", only)
        alone = await app.ask(elsewhere, only)
    assert orchid.n_requests == n_sent
    assert [claim.citations[-1].quote for claim in begins.claims] == [FERRY, HARBOUR]
    assert (answers.status, answers.claims[0].citations[0].url, answers.missing) == ("answered", named, ())
    assert absent.status == "answered"
    for answer in (absent, alone):
        assert [(one.target, "only libraries" in one.detail) for one in answer.failures] == [(elsewhere, True)]
        assert [elsewhere in said for said in answer.missing] == [True]
    assert (alone.status, alone.claims) == ("insufficient_evidence", ())


async def test_a05_pages_that_differ_are_both_cited_and_none_wins(orchid: World, home: Path) -> None:
    orchid.web.other.replies["/review"] = page("Orchid, a review", DISPUTED)
    orchid.hits = [orchid.primary, orchid.secondary]
    answer = await orchid.ask(home)
    rule_of_the_world(answer)
    assert answer.status == "conflicting_evidence"
    quotes = {citation.url: citation.quote for claim in answer.claims for citation in claim.citations}
    assert "25 members" in quotes[orchid.primary] and "40 members" in quotes[orchid.secondary]
    assert len(answer.conflicts) == 1 and "25" in answer.conflicts[0] and "40" in answer.conflicts[0]


async def test_a06_an_order_on_a_page_is_not_obeyed(orchid: World, home: Path) -> None:
    orchid.web.one.replies["/plans"] = page("Orchid plans", STANDARD, HOSTILE, ENTERPRISE)
    answer = await orchid.ask(home)
    assert answer.status == "answered"
    assert "25 members" in answer.claims[0].text
    rule_of_the_world(answer)
    assert any(orchid.primary in limitation and "Left out" in limitation for limitation in answer.limitations)


async def test_a07_nothing_found_is_insufficient_and_no_failure(orchid: World, home: Path) -> None:
    answer = await orchid.ask(home, "How many floors does the Zamora library have?")
    assert (answer.status, answer.claims, answer.failures) == ("insufficient_evidence", (), ())
    assert "Zamora" in answer.missing[0]
    assert orchid.web.one.asked == []


async def test_a08_a_question_without_a_subject_is_asked_back_and_nothing_is_sent(orchid: World, home: Path) -> None:
    answer = await orchid.ask(home, "What about that?")
    assert (answer.status, answer.claims) == ("needs_clarification", ())
    assert answer.text.endswith(".")
    assert orchid.n_requests == 0


async def test_a09_a_dead_page_is_listed_beside_the_answer(orchid: World, home: Path) -> None:
    orchid.web.one.replies["/botany"] = BUSY
    answer = await orchid.ask(home)
    rule_of_the_world(answer)
    assert answer.status == "answered"
    assert [(one.stage, one.target, one.outcome) for one in answer.failures] == [("fetch", orchid.botany, "failed")]


async def test_a10_all_pages_dead_is_a_failure_and_the_next_ask_succeeds(orchid: World, home: Path) -> None:
    good = orchid.web.one.replies["/plans"]
    orchid.web.one.replies |= {"/plans": BUSY, "/botany": BUSY}
    failed = await orchid.ask(home)
    assert (failed.status, failed.claims) == ("failed", ())
    assert {one.target for one in failed.failures} == {orchid.primary, orchid.botany}
    orchid.web.one.replies["/plans"] = good
    assert (await orchid.ask(home)).status == "answered"


async def test_a11_a_dead_search_is_a_failure_and_the_next_ask_succeeds(orchid: World, home: Path) -> None:
    orchid.web.searxng.replies["/search"] = BUSY
    failed = await orchid.ask(home)
    assert (failed.status, failed.claims, failed.sources) == ("failed", (), ())
    assert [(one.stage, one.target) for one in failed.failures] == [("search", "searxng")]
    orchid.web.searxng.replies["/search"] = orchid.found
    assert (await orchid.ask(home)).status == "answered"


async def test_a12_a_search_that_asks_to_wait_is_never_taken_for_an_empty_one(orchid: World, home: Path) -> None:
    orchid.web.searxng.replies["/search"] = WAIT
    refused = await orchid.ask(home)
    assert refused.status == "failed"
    assert [(one.target, one.outcome) for one in refused.failures] == [("searxng", "rate_limited")]
    orchid.web.searxng.replies["/search"] = orchid.found
    assert (await orchid.ask(home)).status == "answered"


async def test_a13_a_page_that_asks_to_wait_is_asked_again(orchid: World, home: Path) -> None:
    orchid.in_turn(orchid.web.one, "/plans", WAIT, page("Orchid plans", STANDARD))
    answer = await orchid.ask(home)
    rule_of_the_world(answer)
    assert (answer.status, answer.failures) == ("answered", ())
    assert orchid.web.one.count("/plans") == 2


async def test_a14_a_redirect_off_the_list_is_never_followed(orchid: World, home: Path) -> None:
    away = Reply(b"", 302, {"location": orchid.secondary})
    orchid.web.one.replies["/plans"] = away
    answer = await orchid.ask(home, allow_origins=(orchid.web.one.url(""),))
    assert (answer.status, answer.claims) == ("insufficient_evidence", ())
    assert [(one.target, one.outcome) for one in answer.failures] == [(orchid.primary, "blocked_by_policy")]
    assert orchid.web.other.asked == []


async def test_a31_a_private_page_on_the_list_is_still_refused(orchid: World, home: Path) -> None:
    async with orchid.app(home, allow_private="") as app:
        answer = await app.ask(QUESTION, options(allow_origins=(orchid.web.one.url(""),)))
    assert answer.status == "failed"
    assert {one.outcome for one in answer.failures} == {"blocked_by_policy"}
    assert orchid.web.one.asked == []


async def test_a34_hits_that_differ_by_fragment_are_one_page(orchid: World, home: Path) -> None:
    elsewhere = "http://127.0.0.1:9/plans"
    orchid.hits = [f"{orchid.primary}#one", f"{orchid.primary}#two", elsewhere]
    answer = await orchid.ask(home, max_sources=1, allow_origins=(orchid.web.one.url(""),))
    assert [source.url for source in answer.sources] == [orchid.primary]
    assert orchid.web.one.count("/plans") == 1
    assert answer.omitted == (elsewhere,)


async def test_a36_cancelling_ends_a_page_that_never_does(orchid: World, home: Path) -> None:
    orchid.stall(orchid.web.one, "/plans")
    async with orchid.app(home) as app:
        asked = asyncio.create_task(app.ask(QUESTION, options()))
        await asyncio.to_thread(orchid.web.one.wait_for, "/plans")
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asked, 5)
    orchid.release()
    assert (await orchid.ask(home)).status == "answered"


async def test_a37_a_search_is_trimmed_and_cut_to_its_limit(orchid: World, home: Path) -> None:
    orchid.hits = [orchid.primary, orchid.botany, orchid.secondary]
    async with orchid.app(home) as app:
        done = await app.search("  orchid plans  ", (), None, limit=2, time_filter=None)
    assert orchid.web.questions == ["orchid plans"]
    assert [hit.url for hit in done.hits] == [orchid.primary, orchid.botany]
