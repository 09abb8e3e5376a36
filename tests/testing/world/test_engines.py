"""Each engine of the world, read by the codec that the product has for it."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

import pytest

from firsthand.errors import ProviderFailed
from firsthand.testing.world import ENGINE_NAMES, World
from firsthand.values import HttpRequest, HttpResponse, Outcome, Query
from firsthand.web.search import Codec, codecs
from tests.testing.asking import ask

KEYED = ("brave", "exa", "tavily", "linkup", "parallel")
READ = ("searxng", "duckduckgo-html", "mediawiki", *KEYED)  # the engines that the product has a codec for
QUERY = Query("harbour noon", max_hits=10)


def codec(world: World, name: str) -> Codec:
    """The product's codec, set up as an operator would, for the engine of the world."""
    found = codecs(
        searxng_url=world.search_url,
        mediawiki_url=world.engine_url("mediawiki") + "/w/api.php",
        keys=dict.fromkeys(KEYED, "sk-world"),
        urls={name: world.engine_url(name) for name in KEYED},
    )
    return found[name]


def sent(world: World, request: HttpRequest) -> HttpResponse:
    """*request*, sent to the world; what the vendor's address keeps from it leads there too."""
    at = request.url.replace("https://html.duckduckgo.com", world.engine_url("duckduckgo-html"))
    body = request.body or None
    headers = {name.replace("-", "_"): value for name, value in request.headers.items()}
    answer = ask(at, body, method=request.method, **headers)
    return HttpResponse(request.url, answer.status, answer.headers, answer.body)


@pytest.mark.parametrize("name", READ)
def test_the_product_reads_what_an_engine_serves(world: World, name: str) -> None:
    hits = codec(world, name).hits(QUERY, sent(world, codec(world, name).request(QUERY)))
    assert {hit.title for hit in hits} == {"Tides", "Dunes", "Harbour: a manual"} and hits.n_dropped == 0
    assert all("harbour" in hit.snippet.lower() for hit in hits)
    manual = next(hit for hit in hits if hit.title == "Harbour: a manual")
    assert "<north>" in manual.snippet and "12 €" in manual.snippet
    assert "Moor at" in ask(manual.url).text
    (search,) = world.requests("search")
    assert (search.engine, search.status) == (name, 200)


@pytest.mark.parametrize("name", READ)
def test_an_engine_that_finds_nothing_says_so_in_a_way_that_is_understood(world: World, name: str) -> None:
    nothing = replace(QUERY, text="glaciers")
    assert codec(world, name).hits(nothing, sent(world, codec(world, name).request(nothing))) == []


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize(
    ("trouble", "outcomes"),
    [
        ("429?retry_after_s=11", {"rate_limited"}),
        ("403", {"refused"}),
        ("503", {"failed"}),
        ("status?code=500", {"failed"}),
        ("202", {"rate_limited", "failed"}),
        ("quota", {"rate_limited", "refused"}),
        ("garbage", {"failed", "refused"}),
        ("redirect", {"failed"}),
        ("redirect-refused", {"failed"}),
        ("bot-wall", {"refused", "bot_wall"}),
    ],
)
def test_a_refusal_is_never_nothing_found(world: World, name: str, trouble: str, outcomes: set[Outcome]) -> None:
    world.misbehave(name, trouble)
    with pytest.raises(ProviderFailed) as caught:
        codec(world, name).hits(QUERY, sent(world, codec(world, name).request(QUERY)))
    assert caught.value.outcome in outcomes, caught.value.code
    if trouble.startswith("429"):
        assert caught.value.retry_after_s == 11
    assert world.requests("search")[0].trouble == trouble


@pytest.mark.parametrize(
    ("name", "trouble", "code"),
    [
        ("searxng", "unresponsive", "provider_all_engines_failed"),
        ("searxng", "403", "provider_json_off"),
        ("duckduckgo-html", "challenge", "provider_challenge"),
    ],
)
def test_an_engine_has_troubles_of_its_own(world: World, name: str, trouble: str, code: str) -> None:
    world.misbehave(name, trouble)
    with pytest.raises(ProviderFailed) as caught:
        codec(world, name).hits(QUERY, sent(world, codec(world, name).request(QUERY)))
    assert caught.value.code == code


@pytest.mark.parametrize("name", READ)
def test_an_empty_list_is_the_engines_own(world: World, name: str) -> None:
    world.misbehave(name, "empty")
    assert codec(world, name).hits(QUERY, sent(world, codec(world, name).request(QUERY))) == []


@pytest.mark.parametrize("name", KEYED)
def test_an_engine_that_needs_a_key_refuses_who_has_none(world: World, name: str) -> None:
    request = codec(world, name).request(QUERY)
    keyless = {key: value for key, value in request.headers.items() if "sk-world" not in value}
    with pytest.raises(ProviderFailed) as caught:
        codec(world, name).hits(QUERY, sent(world, replace(request, headers=keyless)))
    assert caught.value.outcome == "refused"


def test_a_page_of_results_in_html_and_in_the_lite_form_shows_the_same_hits(world: World) -> None:
    pages = [
        ask(world.engine_url("searxng-html") + "/search?q=harbour").text,
        ask(world.engine_url("duckduckgo-lite") + "/lite/", b"q=harbour").text,
    ]
    for page in pages:
        assert all(world.url(path) in page for path in ("tides.html", "dunes.html")) and "result" in page


@pytest.mark.parametrize(
    ("path", "body", "headers", "name"),
    [
        ("/search?q=harbour&format=json", None, {}, "searxng"),
        ("/search?q=harbour", None, {}, "searxng-html"),
        ("/search", {"query": "harbour"}, {"authorization": "Bearer k"}, "tavily"),
        ("/search", {"query": "harbour"}, {"x_api_key": "k"}, "exa"),
        ("/html/", b"q=harbour", {}, "duckduckgo-html"),
        ("/lite/", b"q=harbour", {}, "duckduckgo-lite"),
        ("/res/v1/web/search?q=harbour", None, {"x_subscription_token": "k"}, "brave"),
        ("/w/api.php?action=query&list=search&srsearch=harbour&format=json", None, {}, "mediawiki"),
        ("/v1/search", {"q": "harbour", "depth": "fast", "outputType": "searchResults"}, {"authorization": "Bearer k"}, "linkup"),
        ("/v1/search", {"search_queries": ["harbour"]}, {"x_api_key": "k"}, "parallel"),
    ],
)  # fmt: skip
def test_an_engine_is_also_at_its_own_path_alone(
    world: World, path: str, body: bytes | dict[str, object] | None, headers: dict[str, str], name: str
) -> None:
    answer = ask(world.origin + path, body, **headers)
    assert (answer.status, world.requests()[0].engine) == (200, name)
    assert "dunes" in unquote(answer.text).lower()


@pytest.mark.parametrize(
    ("name", "path", "body", "status"),
    [
        ("brave", f"/res/v1/web/search?q={'x' * 401}", None, 422),
        ("brave", "/res/v1/web/search?q=harbour&count=21", None, 422),
        ("tavily", "/search", {"query": "x" * 401}, 400),
        ("exa", "/search", {"query": "harbour", "numResults": "many"}, 400),
        ("linkup", "/v1/search", {"q": "harbour"}, 400),
        ("parallel", "/v1/search", {"search_queries": ["x" * 201]}, 422),
        ("parallel", "/v1/search", {"search_queries": ["harbour"], "max_results": 3}, 422),
        ("duckduckgo-html", f"/html/?q={'x' * 500}", None, 403),
        ("searxng", "/search?q=&format=json", None, 400),
    ],
)
def test_an_engine_refuses_what_the_real_one_refuses(
    world: World, name: str, path: str, body: dict[str, object] | None, status: int
) -> None:
    keys = (
        {"x_api_key": "k"}
        if name in ("exa", "parallel")
        else {"authorization": "Bearer k", "x_subscription_token": "k"}
    )
    assert ask(world.engine_url(name) + path, body, **keys).status == status


def test_a_wiki_answers_as_a_generator_too(world: World) -> None:
    path = "/w/api.php?action=query&generator=search&gsrsearch=tide&prop=info&inprop=url&format=json"
    pages = ask(world.engine_url("mediawiki") + path).json()["query"]["pages"]
    titles = {page["title"]: page["fullurl"] for page in pages.values()}
    assert set(titles) == {"Tides", "Dunes"} and "turns at noon" in ask(titles["Tides"]).text


@pytest.mark.parametrize("name", READ)
def test_what_a_search_finds_can_be_set(world: World, name: str) -> None:
    lie = {"url": "dunes.html", "snippet": "The dunes are 9999 metres high."}
    world.set(found={"HARBOUR": [lie, "tides.html"], "": []})
    hits = codec(world, name).hits(QUERY, sent(world, codec(world, name).request(QUERY)))
    assert [hit.title for hit in hits] == ["Dunes", "Tides"]
    assert (hits[0].snippet, "turns at noon" in hits[1].snippet) == (lie["snippet"], True)
    assert "move inland" in ask(hits[0].url).text
    other = replace(QUERY, text="tide")
    assert codec(world, name).hits(other, sent(world, codec(world, name).request(other))) == []


def test_a_result_can_be_any_address(world: World) -> None:
    foreign = {"url": "http://169.254.169.254/latest/#one", "title": "Metadata"}
    world.set(found={"": [foreign, "http://127.0.0.2/b"]})
    results = ask(f"{world.search_url}/search?q=x&format=json").json()["results"]
    assert [(row["url"], row["title"]) for row in results] == [
        ("http://169.254.169.254/latest/#one", "Metadata"),
        ("http://127.0.0.2/b", "http://127.0.0.2/b"),
    ]


def test_further_pages_of_results_begin_where_the_last_ended() -> None:
    pages = {f"{n}.html": f"<title>Page {n}</title><p>One harbour of many, number {n}." for n in range(25)}
    with World(pages) as world:
        found = [
            ask(f"{world.search_url}/search?q=harbour&format=json&pageno={n}").json()["results"] for n in (1, 2, 3)
        ]
    assert [len(results) for results in found] == [10, 10, 5]
    assert len({result["url"] for results in found for result in results}) == 25


def test_every_engine_is_tested_here(world: World) -> None:
    assert set(ENGINE_NAMES) == {*READ, "searxng-html", "duckduckgo-lite"}
