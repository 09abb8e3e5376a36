"""A small site on loopback, walked."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from urllib.parse import urljoin

import pytest

from firsthand.values import Page
from firsthand.web.address import Policy
from firsthand.web.client import Client
from firsthand.web.crawl import Missed, crawl
from firsthand.web.fetch import Allowance, Fetcher
from firsthand.web.pace import Ceiling, Pacer
from tests.web.raw_server import Served, raw_server, response, site


async def links(page: Page) -> tuple[str, ...]:
    return tuple(urljoin(page.url, href) for href in re.findall(r'href="([^"]*)"', page.payload.decode()))


def page(*hrefs: str) -> bytes:
    return response(b"<p>Words.</p>" + b"".join(b'<a href="%b">x</a>' % href.encode() for href in hrefs))


async def walk(served: Served, start: str, max_pages: int, *others: Served) -> list[tuple[str, str]]:
    policy = Policy(allow_private=frozenset(("127.0.0.1", server.port) for server in (served, *others)))
    fetcher = Fetcher(Client(), policy, Pacer(interval_s=0))
    seen = []
    try:
        async for result in crawl(served.url + start, max_pages=max_pages, fetch=fetcher.fetch, links=links):
            code = result.error.code if isinstance(result, Missed) else "ok"
            seen.append((result.url.removeprefix(served.url), code))
    finally:
        await fetcher.aclose()
    return seen


async def test_site_is_walked_breadth_first_each_page_once_and_failures_are_values() -> None:
    pages = {
        "/robots.txt": response(b"User-agent: *\nDisallow: /closed", headers={"content-type": "text/plain"}),
        "/": page(
            "/a#one", "b", "/a#two", "/gone", "/closed", "mailto:x@example.com", "http://example.com/", "/picture"
        ),
        "/a": page("/c", "/"),
        "/b": page("/moved"),
        "/c": page(),
        "/moved": response(b"", 301, {"location": "/c"}),
        "/picture": response(b"\x89PNG", headers={"content-type": "image/png"}),
    }
    async with raw_server(site(pages)) as served:
        seen = await walk(served, "", 50)
    assert seen == [
        ("/", "ok"),
        ("/a", "ok"),
        ("/b", "ok"),
        ("/gone", "http_status"),
        ("/closed", "robots"),
        ("/picture", "unsupported_type"),
        ("/c", "ok"),
    ]
    assert served.paths.count("/robots.txt") == 1
    assert "/closed" not in served.paths
    assert served.paths.count("/a") == 1


async def test_walk_ends_at_its_limit_and_asks_for_no_page_beyond_it() -> None:
    async def endless(head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ")[1].decode()
        writer.write(response(b"", 404) if path == "/robots.txt" else page(path + "/x", path + "/y"))

    async with raw_server(endless) as served:
        seen = await walk(served, "/s", 5)
    assert seen == [(path, "ok") for path in ("/s", "/s/x", "/s/y", "/s/x/x", "/s/x/y")]
    assert len(served.paths) == 6


async def test_page_that_redirects_to_another_site_is_missed_and_its_links_are_not_followed() -> None:
    async with raw_server(site({"/": page("/more")})) as other:
        pages = {"/": page("/out", "/in"), "/out": response(b"", 302, {"location": f"{other.url}/"}), "/in": page()}
        async with raw_server(site(pages)) as served:
            seen = await walk(served, "/", 5, other)
    assert seen == [("/", "ok"), ("/out", "other_origin"), ("/in", "ok")]
    assert "/more" not in other.paths


async def test_walk_ends_when_the_site_has_had_enough_or_the_run_has() -> None:
    pages = {"/": page(*(f"/{n}" for n in range(40)))}
    pages |= {f"/{n}": page() for n in range(5)}
    pages |= {f"/{n}": response(b"busy", 429, {"retry-after": "900"}) for n in range(5, 40)}
    async with raw_server(site(pages)) as served:
        limited = await walk(served, "/", 50)
    async with raw_server(site(pages)) as served:
        policy = Policy(allow_private=frozenset({("127.0.0.1", served.port)}))
        fetcher, run = Fetcher(Client(), policy, Pacer(interval_s=0)), Allowance(ceiling=Ceiling(4))

        async def fetch(url: str) -> Page:
            return await fetcher.fetch(url, allowance=run)

        found = [each async for each in crawl(f"{served.url}/", max_pages=50, fetch=fetch, links=links)]
        await fetcher.aclose()
    assert [code for _, code in limited] == ["ok"] * 6 + ["rate_limited"] * 3
    assert [each.error.code if isinstance(each, Missed) else "ok" for each in found] == ["ok"] * 3 + ["run_ceiling"]
    assert len(served.heads) == 4


async def test_walk_that_is_given_up_leaves_no_fetch_behind() -> None:
    running: set[str] = set()
    both_run = asyncio.Event()

    async def fetch(url: str) -> Page:
        if url == "http://example.com/":
            body = b'<a href="/a">a</a><a href="/b">b</a>'
            return Page(url, url, 200, {}, body, datetime.now(UTC))
        running.add(url)
        if len(running) == 2:
            both_run.set()
        try:
            await asyncio.Event().wait()
        finally:
            running.remove(url)
        raise AssertionError

    async def run() -> None:
        async for _ in crawl("http://example.com/", max_pages=5, fetch=fetch, links=links):
            pass

    task = asyncio.create_task(run())
    await both_run.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not running
