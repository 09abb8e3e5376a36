"""The SearXNG codec, beyond the contract."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from firsthand.errors import InvalidInput, ProviderFailed
from firsthand.values import HttpResponse, Query
from firsthand.web.search.searxng import SearXNG

DATA = Path(__file__).parents[2] / "data" / "search" / "searxng"
SEARXNG = SearXNG("http://127.0.0.1:8888")
URL = "http://127.0.0.1:8888/search"


def response(file: str, status: int = 200) -> HttpResponse:
    return HttpResponse(URL, status, {}, (DATA / file).read_bytes())


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://127.0.0.1:8888", URL),
        ("http://127.0.0.1:8888/", URL),
        ("http://127.0.0.1:8888/search", URL),
        (" https://Host.example/searx/ ", "https://host.example/searx/search"),
    ],
)
def test_the_search_path_stands_under_the_base_address(base: str, url: str) -> None:
    request = SearXNG(base).request(Query("a b"))
    assert (request.method, request.url) == ("GET", url + "?q=a+b&format=json&pageno=1")


@pytest.mark.parametrize(
    "base", ["", "127.0.0.1:8888", "file:///x", "http://u:p@h/", "http://h/?a=1", "http://h/#x", "http://"]
)
def test_an_address_that_is_no_plain_base_is_refused_without_repeating_it(base: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        SearXNG(base)
    assert "u:p" not in str(caught.value)


def test_words_that_searxng_takes_for_commands_lose_their_sign() -> None:
    query = Query("!!g :de <3000 what", language="de")
    parameters = parse_qs(urlsplit(SEARXNG.request(query).url).query)
    assert (parameters["q"], parameters["language"]) == (["g de 3000 what"], ["de"])


def test_json_switched_off_names_the_setting_to_change() -> None:
    with pytest.raises(ProviderFailed, match=r"add 'json' to search\.formats") as caught:
        SEARXNG.hits(Query("q"), response("json_off.html", 403))
    assert (caught.value.outcome, caught.value.status) == ("refused", 403)


def test_nothing_found_because_engines_failed_names_the_engines_and_not_their_words() -> None:
    with pytest.raises(ProviderFailed) as caught:
        SEARXNG.hits(Query("q"), response("engines_failed.json"))
    assert str(caught.value).endswith("did not answer: brave, duckduckgo, google, startpage.")


def test_results_count_although_some_engines_failed() -> None:
    assert len(SEARXNG.hits(Query("q"), response("results.json"))) == 6


def test_a_date_is_an_instant_in_utc() -> None:
    hits = SEARXNG.hits(Query("q"), response("results.json"))
    assert [hit.published_at for hit in hits] == [None] * 5 + [datetime(2026, 11, 29, 8, 30, tzinfo=UTC)]
