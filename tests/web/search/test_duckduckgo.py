"""The DuckDuckGo codec, beyond the contract."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from firsthand.errors import ProviderFailed
from firsthand.values import HttpResponse, Query
from firsthand.web.search.duckduckgo import URL, DuckDuckGoHtml

DUCKDUCKGO = DuckDuckGoHtml()


def page(body: str) -> HttpResponse:
    return HttpResponse(URL, 200, {}, f"<html><body>{body}</body></html>".encode())


def block(href: str) -> str:
    return f'<div class="web-result"><h2><a class="result__a" href="{href}">T</a></h2></div>'


def test_the_query_is_posted_as_the_form_of_the_page() -> None:
    request = DUCKDUCKGO.request(Query("größe & mehr", language="de", time_filter="week"))
    assert (request.method, request.url) == ("POST", "https://html.duckduckgo.com/html/")
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    form = parse_qs(request.body.decode("ascii"), keep_blank_values=True)
    assert form == {"q": ["größe & mehr"], "b": [""], "kl": ["de-de"], "df": ["w"]}


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa%3Fb%3Dc%2526d&amp;rut=1", "https://example.org/a?b=c%26d"),
        ("/l/?kh=-1&amp;uddg=https%3A%2F%2Fexample.org%2F", "https://example.org/"),
        ("https://example.org/l/?uddg=https%3A%2F%2Felsewhere.example%2F", "https://example.org/l/?uddg=https%3A%2F%2Felsewhere.example%2F"),
        ("https://example.org/y.js", "https://example.org/y.js"),
        ("https://notduckduckgo.com/y.js", "https://notduckduckgo.com/y.js"),
    ],
)  # fmt: skip
def test_only_duckduckgos_own_redirects_are_unwrapped(href: str, url: str) -> None:
    hits = DUCKDUCKGO.hits(Query("q"), page(f'<div id="links">{block(href)}</div>'))
    assert [hit.url for hit in hits] == [url]


def test_a_page_of_nothing_but_advertisements_is_nothing_found() -> None:
    advertisement = '<div class="web-result result--ad"><h2><a class="result__a" href="/y.js?x">Buy</a></h2></div>'
    assert DUCKDUCKGO.hits(Query("q"), page(f'<div id="links">{advertisement}</div>')) == []


def test_an_advertisement_that_is_not_marked_is_known_by_its_address() -> None:
    links = block("https://duckduckgo.com/y.js?ad_domain=shop.example") + block("https://example.org/")
    assert [(hit.url, hit.rank) for hit in DUCKDUCKGO.hits(Query("q"), page(f'<div id="links">{links}</div>'))] == [
        ("https://example.org/", 1)
    ]


@pytest.mark.parametrize("inside", ["", '<div class="web-result"><h3>a new layout</h3></div>'])
def test_a_list_that_neither_holds_results_nor_says_it_is_empty_is_a_failure(inside: str) -> None:
    with pytest.raises(ProviderFailed) as caught:
        DUCKDUCKGO.hits(Query("q"), page(f'<div id="links">{inside}</div>'))
    assert caught.value.outcome == "failed"
