"""Codecs over real HTTP: look-alikes of SearXNG and DuckDuckGo on this machine, asked through a plain sender."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import aiohttp
from aiohttp import web

from firsthand.errors import FetchFailed
from firsthand.ports import Searched
from firsthand.values import HttpRequest, HttpResponse, Query
from firsthand.web.search import Chain, Ddgs, Providers, Send, codecs, merge

DATA = Path(__file__).parents[2] / "data" / "search"
EXPECTED = [row[0] for row in json.loads((DATA / "expected.json").read_text())["rows"]]


class LookAlikes:
    """Both services in one server; what they answer is set by the test."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        self.duckduckgo = web.Response(status=202, text="slow down")
        self.has_json = True
        self.base = ""

    async def html(self, request: web.Request) -> web.Response:
        self.asked.append(("duckduckgo", parse_qs(await request.text())))
        return self.duckduckgo

    async def search(self, request: web.Request) -> web.Response:
        parameters = {name: request.query.getall(name) for name in request.query}
        self.asked.append(("searxng", parameters))
        if parameters.get("format") != ["json"] or not self.has_json:
            return web.Response(status=403, body=(DATA / "searxng/json_off.html").read_bytes())
        return web.Response(body=(DATA / "searxng/results.json").read_bytes(), content_type="application/json")

    async def send(self, request: HttpRequest) -> HttpResponse:
        """A sender as the composition's: DuckDuckGo's address leads here, redirects are not followed."""
        asked_url = request.url
        if urlsplit(asked_url).hostname == "html.duckduckgo.com":
            request = replace(request, url=self.base + "/html/")
        try:
            async with (
                aiohttp.ClientSession(trust_env=False) as client,
                client.request(
                    request.method,
                    request.url,
                    headers=dict(request.headers),
                    data=request.body or None,
                    allow_redirects=False,
                ) as response,
            ):
                headers = {name.lower(): value for name, value in response.headers.items()}
                return HttpResponse(asked_url, response.status, headers, await response.read())
        except aiohttp.ClientError as error:
            raise FetchFailed("failed", "connection_failed", "The provider could not be reached.") from error


@asynccontextmanager
async def look_alikes() -> AsyncIterator[LookAlikes]:
    services = LookAlikes()
    app = web.Application()
    app.router.add_post("/html/", services.html)
    app.router.add_get("/search", services.search)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    services.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield services
    finally:
        await runner.cleanup()


def providers_at(base: str) -> Providers:
    return Providers(codecs(searxng_url=base), Ddgs({}, python="/nonexistent/python"))


def chain_of() -> Chain:
    loop = asyncio.get_running_loop()
    return Chain(clock=loop.time, sleep=asyncio.sleep)


def calls(providers: Providers, services: LookAlikes) -> Callable[[str, Query], Awaitable[Searched]]:
    async def search_one(name: str, query: Query) -> Searched:
        return await providers.search_one(name, query, services.send)

    return search_one


async def test_the_keyless_chain_goes_on_until_somebody_answers_and_shows_every_refusal() -> None:
    async with look_alikes() as services:
        providers = providers_at(services.base)
        query = Query("größe & mehr 東京", time_filter="hour")
        searched = await chain_of().ask(providers.orders(["duckduckgo"])[0], query, calls(providers, services))
    assert [(s.provider, s.outcome) for s in searched] == [
        ("ddgs", "failed"),
        ("duckduckgo-html", "rate_limited"),
        ("searxng", "ok"),
    ]
    assert [hit.url for hit in merge([s.hits for s in searched], 10)] == EXPECTED
    (_, form), (_, parameters) = services.asked
    assert (form["q"], form["df"]) == (["größe & mehr 東京"], ["d"])
    assert (parameters["q"], parameters["time_range"]) == (["größe & mehr 東京"], ["day"])


async def test_a_page_of_results_ends_the_chain() -> None:
    async with look_alikes() as services:
        services.duckduckgo = web.Response(
            body=(DATA / "duckduckgo-html/results.html").read_bytes(), content_type="text/html"
        )
        providers = providers_at(services.base)
        searched = await chain_of().ask(["duckduckgo-html", "searxng"], Query("q"), calls(providers, services))
    assert [s.outcome for s in searched] == ["ok"] and [hit.url for hit in searched[0].hits] == EXPECTED


async def test_a_redirect_is_not_followed() -> None:
    async with look_alikes() as services:
        services.duckduckgo = web.Response(status=302, headers={"location": services.base + "/search?format=json"})
        searched = await providers_at(services.base).search_one("duckduckgo-html", Query("q"), services.send)
    assert searched.code == "provider_redirected"
    assert [name for name, _ in services.asked] == ["duckduckgo"]


async def test_an_instance_without_json_is_a_refusal_with_a_hint() -> None:
    async with look_alikes() as services:
        services.has_json = False
        searched = await providers_at(services.base).search_one("searxng", Query("q"), services.send)
    assert searched.outcome == "refused" and "settings.yml" in searched.detail


async def test_an_instance_that_is_gone_is_a_failure_of_the_sender() -> None:
    async with look_alikes() as services:
        providers = providers_at(services.base)
        send: Send = services.send
    searched = await providers.search_one("searxng", Query("q"), send)
    assert (searched.outcome, searched.code) == ("failed", "connection_failed")
