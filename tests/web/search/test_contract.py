"""What every search provider owes, whatever it is made of. A provider joins as a row of ``adapters.ADAPTERS``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from firsthand.errors import InvalidInput
from firsthand.values import Query, TimeFilter
from firsthand.web.search.facts import FACTS
from tests.web.search.adapter import Adapter
from tests.web.search.adapters import ADAPTERS

UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
SECRET = "sk-live-5up3r53cr3t"
LONG = (
    "Please tell me, as thoroughly as you possibly can and with everything that might matter, "
    + "which of the many settings and options that people usually discuss in this context " * 29
    + 'decides in PostgreSQL 17.2 whether "synchronous commit off" loses rows when pg_wal_flush fails in Reykjavík?'
)


def make(kind: type[Adapter], folder: Path) -> Adapter:
    return kind(folder)  # type: ignore[call-arg]


@pytest.fixture(params=ADAPTERS, ids=lambda kind: kind.__name__)
def adapter(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Adapter]:
    yield make(request.param, tmp_path)


def needs(adapter: Adapter, scenario: str) -> None:
    if scenario in adapter.not_possible:
        pytest.skip(f"{adapter.name} cannot be in scenario {scenario}")
    adapter.set_up(scenario)


async def test_results_are_hits_in_the_providers_order_with_clean_addresses_and_titles(adapter: Adapter) -> None:
    needs(adapter, "results")
    searched = await adapter.search(Query("how to install"))
    assert (searched.provider, searched.outcome, searched.code) == (adapter.name, "ok", "")
    assert [(hit.url, hit.title) for hit in searched.hits] == adapter.expected()
    assert [hit.rank for hit in searched.hits] == list(range(1, len(searched.hits) + 1))
    assert {hit.provider for hit in searched.hits} == {adapter.name}
    assert adapter.n_asked() == 1


async def test_snippets_are_one_line_without_markup(adapter: Adapter) -> None:
    needs(adapter, "results")
    searched = await adapter.search(Query("how to install"))
    assert searched.hits[0].snippet == "Unpack the archive, then run make install."
    assert all("\n" not in hit.snippet and "  " not in hit.snippet for hit in searched.hits)


async def test_nothing_found_is_empty_and_no_failure(adapter: Adapter) -> None:
    needs(adapter, "empty")
    searched = await adapter.search(Query("xqzzy"))
    assert (searched.outcome, searched.hits, searched.code) == ("empty", (), "")


@pytest.mark.parametrize(
    ("kind", "scenario"), [(kind, scenario) for kind in ADAPTERS for scenario in kind.failures], ids=lambda p: str(p)
)
async def test_a_failure_has_its_outcome_and_code_and_never_echoes_the_provider(
    kind: type[Adapter], scenario: str, tmp_path: Path
) -> None:
    adapter = make(kind, tmp_path)
    adapter.set_up(scenario)
    searched = await adapter.search(Query("how to install"))
    assert (searched.outcome, searched.code) == adapter.failures[scenario]
    assert searched.hits == ()
    assert SECRET not in repr(searched)
    assert adapter.name not in searched.detail[:20] and searched.detail.endswith((".", "'"))
    assert adapter.n_asked() == 1


async def test_retry_after_travels_with_the_refusal(adapter: Adapter) -> None:
    needs(adapter, "retry_after")
    assert (await adapter.search(Query("how to install"))).retry_after_s == 120


async def test_a_provider_that_never_answers_is_a_timeout(adapter: Adapter) -> None:
    needs(adapter, "hang")
    searched = await adapter.search(Query("how to install"))
    assert (searched.outcome, searched.code) == ("timeout", "provider_timeout")


async def test_one_malformed_hit_is_dropped_and_counted_and_the_others_stay(adapter: Adapter) -> None:
    needs(adapter, "malformed_hit")
    searched = await adapter.search(Query("how to install"))
    assert [hit.rank for hit in searched.hits] == [1, 2, 4, 5, 6]
    assert searched.detail == "1 row had no usable address and was left out."


async def test_a_body_that_ends_in_the_middle_never_invents_a_hit(adapter: Adapter) -> None:
    needs(adapter, "truncated")
    searched = await adapter.search(Query("how to install"))
    whole = adapter.expected()
    assert all((hit.url, hit.title) in whole for hit in searched.hits if hit.title)
    assert searched.outcome in ("ok", "failed") and len(searched.hits) < len(whole)


async def test_long_titles_and_snippets_are_cut_to_whole_characters(adapter: Adapter) -> None:
    needs(adapter, "long_hit")
    hit = (await adapter.search(Query("tower"))).hits[0]
    assert (hit.title, hit.snippet) == ("🗼" * 256, "x" * 2048)


async def test_no_more_hits_than_asked_for(adapter: Adapter) -> None:
    needs(adapter, "results")
    searched = await adapter.search(Query("how to install", max_hits=2))
    assert [hit.url for hit in searched.hits] == [url for url, _ in adapter.expected()[:2]]


async def test_any_script_reaches_the_provider_as_it_was_written(adapter: Adapter) -> None:
    needs(adapter, "results")
    await adapter.search(Query('  東京 "größte Höhe"\n& 50% = +🗼 '))
    assert adapter.asked_text() == '東京 "größte Höhe" & 50% = +🗼'


async def test_characters_that_no_wire_can_carry_are_left_out(adapter: Adapter) -> None:
    needs(adapter, "results")
    assert (await adapter.search(Query("nul\x00 half\ud83d pair"))).outcome == "ok"
    assert adapter.asked_text() == "nul half pair"


async def test_a_long_query_is_cut_at_word_borders_and_keeps_what_names_the_subject(adapter: Adapter) -> None:
    needs(adapter, "results")
    assert len(LONG) >= 2500
    query = Query(LONG)
    await adapter.search(query)
    asked, facts = adapter.asked_text(), FACTS[adapter.name]
    assert len(asked) <= facts.max_query_chars
    assert facts.max_query_words is None or len(asked.split()) <= facts.max_query_words
    assert query.text == LONG
    for name in ("PostgreSQL", "17.2", '"synchronous commit off"', "pg_wal_flush", "Reykjavík"):
        assert name in asked
    assert set(asked.replace('"', "").split()) <= set(LONG.replace('"', "").replace(",", "").replace("?", "").split())


@pytest.mark.parametrize(
    ("asked", "applied"), [("hour", "day"), ("day", "day"), ("week", "week"), ("month", "month"), ("year", "year")]
)
async def test_the_time_filter_is_sent_and_the_one_that_applies_is_reported(
    adapter: Adapter, asked: TimeFilter, applied: str
) -> None:
    needs(adapter, "time_filter" if "time_filter" in adapter.not_possible else "results")
    searched = await adapter.search(Query("news", time_filter=asked))
    assert searched.applied_time_filter == applied
    assert adapter.asked_filter() in (applied, applied[0])


async def test_without_a_time_filter_none_is_sent(adapter: Adapter) -> None:
    needs(adapter, "results")
    assert (await adapter.search(Query("news"))).applied_time_filter is None
    assert adapter.asked_filter() is None


@pytest.mark.parametrize("query", [Query(""), Query(" \n\x00 "), Query("x", max_hits=0)])
async def test_a_query_that_asks_nothing_is_refused_before_the_provider_is_called(
    adapter: Adapter, query: Query
) -> None:
    needs(adapter, "results")
    with pytest.raises(InvalidInput):
        await adapter.search(query)
    assert adapter.n_asked() == 0


async def test_hostile_rows_leave_plain_words_and_web_addresses(adapter: Adapter) -> None:
    needs(adapter, "hostile")
    searched = await adapter.search(Query("how to install"))
    assert searched.outcome == "ok" and len(searched.hits) >= 2
    for hit in searched.hits:
        assert hit.url.startswith(("http://", "https://")) and "@" not in hit.url.split("/")[2]
        for words in (hit.title, hit.snippet):
            assert "\n" not in words and not UNSEEN.search(words)
    first = searched.hits[0]
    assert (first.title, first.snippet) == (
        "<script>alert(1)</script>evil[31m title", "abcde f <img src=x onerror=alert(1)>",
    )  # fmt: skip


async def test_dates_are_moments_with_a_zone(adapter: Adapter) -> None:
    needs(adapter, "results")
    searched = await adapter.search(Query("how to install"))
    given = [hit.published_at for hit in searched.hits]
    assert given[:5] == [None] * 5
    assert given[5] is None or (given[5].date().isoformat(), given[5].utcoffset()) == ("2026-11-29", timedelta(0))
