"""The MediaWiki codec, beyond the contract."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from firsthand.errors import InvalidInput
from firsthand.values import HttpResponse, JsonValue, Query
from firsthand.web.search.mediawiki import MediaWiki
from tests.web.search.adapter import DATA

WIKI = MediaWiki("https://wiki.test/w/api.php")


def answer(value: JsonValue) -> HttpResponse:
    return HttpResponse("https://wiki.test/w/api.php?x", 200, {}, json.dumps(value).encode())


def found(title: str, general: JsonValue = None) -> JsonValue:
    return {"query": {"search": [{"title": title, "snippet": ""}], "general": general}}


@pytest.mark.parametrize(
    ("language", "host"), [("de", "de.wikipedia.org"), (None, "en.wikipedia.org"), ("xx", "en.wikipedia.org")]
)
def test_wikipedia_is_asked_in_the_questions_language(language: str | None, host: str) -> None:
    url = urlsplit(MediaWiki().request(Query("q", language=language)).url)
    assert (url.scheme, url.hostname, url.path) == ("https", host, "/w/api.php")


@pytest.mark.parametrize("base", ["https://wiki.test/w/api.php", "https://wiki.test/w/", " https://wiki.test/w"])
def test_a_wiki_of_ones_own_is_named_by_its_script_or_its_folder(base: str) -> None:
    request = MediaWiki(base).request(Query("größe & mehr", max_hits=500, language="de"))
    assert request.url.split("?")[0] == "https://wiki.test/w/api.php"
    parameters = parse_qs(urlsplit(request.url).query)
    assert (parameters["srsearch"], parameters["srlimit"], parameters["list"]) == (["größe & mehr"], ["50"], ["search"])


def test_an_address_that_is_no_plain_one_is_refused_without_repeating_it() -> None:
    with pytest.raises(InvalidInput) as caught:
        MediaWiki("https://user:secret@wiki.test/w/api.php")
    assert caught.value.code == "invalid_mediawiki_url" and "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("general", "url"),
    [
        ({"server": "//wiki.test", "articlepath": "/wiki/$1"}, "https://wiki.test/wiki/A_%26_B"),
        ({"server": "http://other.test", "articlepath": "/$1"}, "http://other.test/A_%26_B"),
        ({"server": "https://wiki.test", "articlepath": "/index.php?title=$1"}, "https://wiki.test/index.php?title=A_%26_B"),
        ({"server": "//wiki.test", "articlepath": "/wiki/"}, "https://wiki.test/w/index.php?title=A_%26_B"),
        ({"server": "//wiki.test"}, "https://wiki.test/w/index.php?title=A_%26_B"),
        ({"server": 7, "articlepath": []}, "https://wiki.test/w/index.php?title=A_%26_B"),
        (None, "https://wiki.test/w/index.php?title=A_%26_B"),
    ],
)  # fmt: skip
def test_the_address_of_an_article_is_made_as_the_wiki_says(general: JsonValue, url: str) -> None:
    assert [hit.url for hit in WIKI.hits(Query("q"), answer(found("A & B", general)))] == [url]


def test_a_wiki_that_does_not_describe_itself_is_read_by_the_script_that_is_always_there() -> None:
    body = (DATA / "mediawiki" / "no_site.json").read_bytes()
    (hit,) = WIKI.hits(Query("q"), HttpResponse("https://wiki.test/w/api.php", 200, {}, body))
    assert hit.url == "https://wiki.test/w/index.php?title=Installing_software"


def test_a_title_cannot_leave_its_place_in_the_address() -> None:
    general: JsonValue = {"server": "//wiki.test", "articlepath": "/wiki/$1"}
    (hit,) = WIKI.hits(Query("q"), answer(found("?action=delete&x=#top%2e\\", general)))
    assert hit.url == "https://wiki.test/wiki/%3Faction%3Ddelete%26x%3D%23top%252e%5C"
