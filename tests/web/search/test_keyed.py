"""The providers that need a key, beyond the contract: what becomes of the key, of dates, of sites and of costs."""

from __future__ import annotations

import json
import traceback
from datetime import UTC, datetime

import pytest

from firsthand.errors import InvalidInput, ProviderFailed
from firsthand.values import HttpResponse, JsonValue, Query
from firsthand.web.search.brave import Brave
from firsthand.web.search.codec import Codec, Secret
from firsthand.web.search.exa import Exa
from firsthand.web.search.facts import FACTS
from firsthand.web.search.linkup import Linkup
from firsthand.web.search.parallel import MAX_OBJECTIVE_CHARS, Parallel
from firsthand.web.search.tavily import Tavily
from tests.web.search.json_adapters import KEY, now
from tests.web.search.test_contract import LONG

KINDS = (Brave, Exa, Tavily, Linkup, Parallel)
CODECS: list[Codec] = [kind(KEY) for kind in KINDS]
BY_SITE = [Exa(KEY, clock=now), Tavily(KEY), Linkup(KEY, clock=now), Parallel(KEY, clock=now)]
named = pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)


def sent(codec: Codec, query: Query) -> dict[str, JsonValue]:
    value: dict[str, JsonValue] = json.loads(codec.request(query).body)
    return value


def answer(codec: Codec, value: JsonValue, status: int = 200) -> HttpResponse:
    return HttpResponse(codec.request(Query("q")).url, status, {}, json.dumps(value).encode())


@named
def test_the_key_stands_in_one_header_and_in_no_representation(codec: Codec) -> None:
    request = codec.request(Query("q"))
    assert [value for value in request.headers.values() if KEY in value] in ([KEY], [f"Bearer {KEY}"])
    assert KEY not in request.url and KEY.encode() not in request.body
    assert KEY not in repr(request) and KEY not in repr(codec) and KEY not in repr(vars(codec))


@named
def test_no_refusal_holds_the_key_even_if_the_provider_echoes_it(codec: Codec) -> None:
    for status in (200, 400, 401, 402, 403, 422, 429, 432, 500):
        with pytest.raises(ProviderFailed) as caught:
            codec.hits(Query("q"), answer(codec, {"error": {"code": KEY, "message": KEY}, "detail": KEY}, status))
        assert KEY not in "".join(traceback.format_exception(caught.value))
        assert KEY not in repr(caught.value.facts)


@named
def test_a_key_that_is_not_accepted_names_the_setting_to_look_at(codec: Codec) -> None:
    with pytest.raises(ProviderFailed, match=f"FIRSTHAND_{codec.name.upper()}_API_KEY") as caught:
        codec.hits(Query("q"), answer(codec, {}, 401))
    assert (caught.value.outcome, caught.value.retryable) == ("refused", False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ["", "  ", "two words", "line\nbreak", "schlüssel", "nul\0"])
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(kind: type[Brave], key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        kind(key)
    assert caught.value.code == "invalid_api_key" and (not key.strip() or key not in str(caught.value))


def test_a_secret_is_sent_as_it_is_and_shown_as_nothing() -> None:
    secret = Secret("abc")
    assert (f"{secret}", secret.encode(), repr(secret), repr({"key": secret})) == (
        "abc",
        b"abc",
        "'***'",
        "{'key': '***'}",
    )


@pytest.mark.parametrize("codec", BY_SITE, ids=lambda codec: codec.name)
def test_sites_leave_the_text_for_the_field_that_takes_them(codec: Codec) -> None:
    payload = sent(codec, Query("site:github.com tokio runtime site:Docs.rs/tokio/ website:x.com"))
    wire = json.dumps(payload)
    assert '["github.com", "docs.rs/tokio"]' in wire and '"tokio runtime website:x.com"' in wire


@pytest.mark.parametrize("codec", BY_SITE, ids=lambda codec: codec.name)
def test_a_query_of_nothing_but_a_site_still_asks_for_something(codec: Codec) -> None:
    assert '"github.com"' in json.dumps(sent(codec, Query("site:github.com"))).replace('["github.com"]', "", 1)


@pytest.mark.parametrize("kind", [Exa, Linkup, Parallel])
def test_without_a_clock_no_time_filter_is_sent_and_none_is_reported(kind: type[Exa]) -> None:
    codec, query = kind(KEY), Query("q", time_filter="week")
    assert codec.time_filter(query) is None
    assert sent(codec, query) == sent(codec, Query("q"))


@pytest.mark.parametrize("kind", [Exa, Linkup, Parallel])
def test_a_time_filter_is_a_day_on_the_clock_that_was_given(kind: type[Exa]) -> None:
    codec = kind(KEY, clock=lambda: datetime(2027, 3, 1, 0, 30, tzinfo=UTC))
    assert '"2027-02-22' in json.dumps(sent(codec, Query("q", time_filter="week")))


def test_parallel_gets_the_whole_question_beside_the_query_that_is_cut() -> None:
    payload = sent(Parallel(KEY), Query(LONG))
    assert payload["objective"] == LONG and len(LONG) <= MAX_OBJECTIVE_CHARS
    queries = payload["search_queries"]
    assert isinstance(queries, list) and len(queries) == 1
    assert len(str(queries[0])) <= 200 and "pg_wal_flush" in str(queries[0])


def test_linkup_that_found_nothing_says_so_with_an_error_and_that_is_empty() -> None:
    codec = Linkup(KEY)
    assert codec.hits(Query("q"), answer(codec, {"error": {"code": "SEARCH_QUERY_NO_RESULT"}}, 400)) == []


def test_brave_that_found_nothing_leaves_the_web_part_out_and_that_is_empty() -> None:
    codec = Brave(KEY)
    assert codec.hits(Query("q"), answer(codec, {"type": "search", "query": {"original": "q"}})) == []


@pytest.mark.parametrize(
    ("codec", "said", "cost"),
    [
        (Exa(KEY), {"costDollars": {"total": 0.007}}, 7_000),
        (Exa(KEY), {"costDollars": {"total": "0.007"}}, None),
        (Exa(KEY), {"costDollars": {"total": -1}}, None),
        (Exa(KEY), {"costDollars": {"total": 1e300}}, None),
        (Exa(KEY), {"costDollars": None}, None),
        (Tavily(KEY), {"usage": {"credits": 1}}, 8_000),
        (Tavily(KEY), {"usage": {"credits": 0}}, 0),
        (Tavily(KEY), {"usage": {"credits": True}}, None),
        (Linkup(KEY), {}, None),
        (Parallel(KEY), {"usage": [{"name": "sku_search", "count": 1}]}, None),
    ],
)
def test_what_a_search_cost_is_what_the_provider_says(
    codec: Codec, said: dict[str, JsonValue], cost: int | None
) -> None:
    assert codec.hits(Query("q"), answer(codec, {"results": [], **said})).cost_microusd == cost


@named
def test_the_worst_case_of_a_call_is_known_before_it_is_made(codec: Codec) -> None:
    facts = FACTS[codec.name]
    assert facts.cost_microusd(10) == facts.price_microusd > 0
    assert facts.cost_microusd(1000) >= facts.price_microusd


def test_a_category_is_sent_to_exa_in_its_own_word() -> None:
    assert sent(Exa(KEY), Query("q", category="academic"))["category"] == "publication"
    assert "category" not in sent(Exa(KEY), Query("q"))


@pytest.mark.parametrize(
    ("codec", "page"),
    [
        (Exa(KEY), {"url": "https://example.org/", "title": "T", "highlights": ["short"], "text": "whole page " * 999}),
        (
            Tavily(KEY),
            {"url": "https://example.org/", "title": "T", "content": "short", "raw_content": "whole page " * 999},
        ),
        (Linkup(KEY), {"url": "https://example.org/", "name": "T", "content": "short " * 999}),
        (Parallel(KEY), {"url": "https://example.org/", "title": "T", "excerpts": ["short", "short " * 999]}),
    ],
    ids=lambda value: value.name if isinstance(value, (Exa, Tavily, Linkup, Parallel)) else "",
)
def test_what_a_provider_sends_of_a_page_is_a_snippet_and_never_the_page(
    codec: Codec, page: dict[str, JsonValue]
) -> None:
    (hit,) = codec.hits(Query("q"), answer(codec, {"results": [page]}))
    assert hit.snippet.startswith("short") and len(hit.snippet) <= 2048 and "whole page" not in repr(hit)
