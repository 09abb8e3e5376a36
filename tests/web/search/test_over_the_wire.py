"""Codecs through our own client: what really arrives at a provider, and what is made of what it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from firsthand.errors import OutsideError
from firsthand.values import Query
from firsthand.web.address import operator_policy
from firsthand.web.client import Client
from firsthand.web.search.brave import Brave
from firsthand.web.search.codec import Codec
from firsthand.web.search.exa import Exa
from firsthand.web.search.linkup import Linkup
from firsthand.web.search.mediawiki import MediaWiki
from firsthand.web.search.parallel import Parallel
from firsthand.web.search.tavily import Tavily
from tests.web.search.adapter import DATA
from tests.web.search.json_adapters import KEY

MAKES: dict[str, Callable[[str], Codec]] = {
    "mediawiki": lambda base: MediaWiki(base + "/w"),
    "brave": lambda base: Brave(KEY, base_url=base),
    "exa": lambda base: Exa(KEY, base_url=base),
    "tavily": lambda base: Tavily(KEY, base_url=base),
    "linkup": lambda base: Linkup(KEY, base_url=base),
    "parallel": lambda base: Parallel(KEY, base_url=base),
}
KEY_HEADER = {
    "brave": ("x-subscription-token", KEY),
    "exa": ("x-api-key", KEY),
    "tavily": ("authorization", f"Bearer {KEY}"),
    "linkup": ("authorization", f"Bearer {KEY}"),
    "parallel": ("x-api-key", KEY),
}


@dataclass
class Service:
    """One provider on loopback: answers everything with one body, or redirects, and keeps the headers it got."""

    body: bytes
    redirects: bool = False
    base: str = ""
    asked: list[tuple[str, str, list[tuple[str, str]], bytes]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        headers = [(name.decode().lower(), value.decode()) for name, value in request.raw_headers]
        self.asked.append((request.method, request.path, headers, await request.read()))
        if self.redirects:
            return web.Response(status=307, headers={"location": self.base + "/elsewhere"})
        return web.Response(body=self.body, content_type="application/json")


@asynccontextmanager
async def serving(service: Service) -> AsyncIterator[Client]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", service.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    service.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    client = Client()
    try:
        yield client
    finally:
        await client.aclose()
        await runner.cleanup()


@pytest.mark.parametrize("name", MAKES)
async def test_a_search_arrives_with_its_key_once_and_its_answer_is_read(name: str) -> None:
    service = Service((DATA / name / "results.json").read_bytes())
    async with serving(service) as client:
        codec, query = MAKES[name](service.base), Query("größe & mehr 東京")
        request = codec.request(query)
        response = await client.send(request, operator_policy(operator_urls=(service.base,)))
        hits = codec.hits(query, response)
    assert len(hits) == 6
    ((method, path, headers, body),) = service.asked
    assert (method, body) == (request.method, request.body) and request.url.startswith(service.base + path)
    assert [pair for pair in headers if KEY in pair[1]] == ([KEY_HEADER[name]] if name in KEY_HEADER else [])
    assert [value for header, value in headers if header == "accept"] == ["application/json"]
    is_post = method == "POST"
    assert [value for header, value in headers if header == "content-type"] == ["application/json"] * is_post


@pytest.mark.parametrize("name", KEY_HEADER)
async def test_a_redirect_never_takes_a_key_along(name: str) -> None:
    service = Service(b"", redirects=True)
    async with serving(service) as client:
        codec, query = MAKES[name](service.base), Query("q")
        response = await client.send(codec.request(query), operator_policy(operator_urls=(service.base,)))
        with pytest.raises(OutsideError, match="redirects are not followed"):
            codec.hits(query, response)
    assert len(service.asked) == 1
