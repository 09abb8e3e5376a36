"""The Brave codec, beyond the contract."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from firsthand.errors import ProviderFailed
from firsthand.values import HttpResponse, JsonValue, Query
from firsthand.web.search.brave import Brave
from tests.web.search.adapter import DATA

BRAVE = Brave("key")
URL = BRAVE.request(Query("q")).url


def answer(value: JsonValue, status: int = 200, **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return HttpResponse(URL, status, named, json.dumps(value).encode())


def test_the_request_is_a_get_with_the_key_in_its_own_header() -> None:
    request = BRAVE.request(Query("größe & mehr", max_hits=50, time_filter="week", language="ja"))
    assert (request.method, request.url.split("?")[0]) == ("GET", "https://api.search.brave.com/res/v1/web/search")
    assert parse_qs(urlsplit(request.url).query) == {
        "q": ["größe & mehr"], "count": ["20"], "safesearch": ["moderate"], "text_decorations": ["false"],
        "result_filter": ["web"], "search_lang": ["jp"], "freshness": ["pw"],
    }  # fmt: skip
    assert request.headers["x-subscription-token"] == "key"


@pytest.mark.parametrize(("ours", "theirs"), [("pt", "pt-br"), ("zh", "zh-hans"), ("de", "de"), ("tlh", None)])
def test_a_language_that_brave_does_not_know_is_not_sent(ours: str, theirs: str | None) -> None:
    parameters = parse_qs(urlsplit(BRAVE.request(Query("q", language=ours)).url).query)
    assert parameters.get("search_lang", [None]) == [theirs]


def test_emphasis_is_taken_off_and_entities_are_read_once() -> None:
    row: JsonValue = {
        "url": "https://example.org/",
        "title": "&amp;lt; and <b>bold</b>",
        "description": "a <strong class='x'>b</strong> &lt;i&gt; 1 < 2",
    }
    (hit,) = BRAVE.hits(Query("q"), answer({"web": {"results": [row]}}))
    assert (hit.title, hit.snippet) == ("&lt; and bold", "a b <i> 1 < 2")


def test_the_day_of_a_page_is_a_moment_and_its_age_in_words_is_none() -> None:
    hits = BRAVE.hits(Query("q"), HttpResponse(URL, 200, {}, (DATA / "brave" / "results.json").read_bytes()))
    assert [hit.published_at for hit in hits] == [None] * 5 + [datetime(2026, 11, 29, 8, 30, tzinfo=UTC)]


@pytest.mark.parametrize(
    ("remaining", "reset", "code", "wait_s"),
    [
        ("0, 1200", "1, 1419704", "provider_rate_limited", 1.0),
        ("1, 0", "1, 1419704", "provider_quota", 1419704.0),
        ("0, 0", "1, 1419704", "provider_quota", 1419704.0),
        ("1, 1200", "1, 1419704", "provider_rate_limited", None),
        ("0", "soon", "provider_rate_limited", None),
        ("", "", "provider_rate_limited", None),
        ("0, " + "9" * 5000, "1, 2", "provider_rate_limited", None),
    ],
)
def test_the_window_that_is_used_up_says_when_it_opens_again(
    remaining: str, reset: str, code: str, wait_s: float | None
) -> None:
    refused = answer({}, 429, x_ratelimit_remaining=remaining, x_ratelimit_reset=reset)
    with pytest.raises(ProviderFailed) as caught:
        BRAVE.hits(Query("q"), refused)
    assert (caught.value.code, caught.value.retry_after_s) == (code, wait_s)
