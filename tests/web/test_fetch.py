"""The response corpus, served byte for byte on loopback, and what a fetch makes of it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from firsthand.errors import AddressRefused, FetchFailed, OutsideError
from firsthand.values import Page
from firsthand.web.address import Policy
from firsthand.web.client import Client
from firsthand.web.fetch import Fetcher, open_fetcher
from firsthand.web.limits import LIMITS, Limits
from firsthand.web.pace import Pacer
from tests.web.raw_server import GOOD_PAGE, Served, raw_server, ready, response, send_row, site

DATA = Path(__file__).parents[1] / "data"
ROWS = [json.loads(line) for line in (DATA / "hostile-responses.jsonl").read_text(encoding="utf-8").splitlines()]
SHORT = Limits(connect_s=0.5, first_byte_s=0.4, between_reads_s=0.4, total_s=1.0)
EXTRACTORS = {"parse_error", "parse_limit"}  # outcomes that the next room decides; here the bytes must arrive whole
PATIENT = {"r032", "r034"}  # rows that must be waited for, under the product's own limits


class Waits:
    """A sleep that only notes how long it was asked to be."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@asynccontextmanager
async def fetching(*servers: Served, limits: Limits = LIMITS, waits: Waits | None = None) -> AsyncIterator[Fetcher]:
    policy = Policy(allow_private=frozenset(("127.0.0.1", served.port) for served in servers))
    waits = waits or Waits()
    pacer = Pacer(interval_s=0, clock=waits.clock, sleep=waits.sleep)
    fetcher = Fetcher(Client(limits=limits), policy, pacer)
    try:
        yield fetcher
    finally:
        await fetcher.aclose()


async def outcome_of(fetcher: Fetcher, url: str, *, use_robots: bool = False) -> tuple[str, Page | OutsideError]:
    try:
        page = await fetcher.fetch(url, use_robots=use_robots)
    except OutsideError as error:
        return error.code, error
    return "ok", page


def is_runnable(row: dict[str, Any]) -> bool:
    return "builder" not in row["body"] and "as_path" not in row and not row.get("wire", {}).get("tls_stall")


@pytest.mark.parametrize("row", [row for row in ROWS if is_runnable(row)], ids=lambda row: row["id"])
async def test_hostile_response_has_its_stated_outcome_and_the_next_fetch_is_good(row: dict[str, Any]) -> None:
    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith(b"GET /good "):
            writer.write(response())
        else:
            await send_row(row, writer)

    row = ready(row)
    limits = SHORT if row["class"] == "time" and row["id"] not in PATIENT else LIMITS
    allowed = {row["expect"].get("code", row["expect"]["outcome"]), *row.get("also", [])}
    if allowed & EXTRACTORS:
        allowed.add("ok")
    async with (
        raw_server(answer) as served,
        raw_server(answer) as other,
        fetching(served, other, limits=limits) as fetcher,
    ):
        began = time.monotonic()
        code, result = await outcome_of(fetcher, f"{served.url}/row")
        assert code in allowed
        assert time.monotonic() - began < row["expect"].get("max_seconds", 35)
        if isinstance(result, Page):
            _check_payload(row, result)
        elif code == "rate_limited":
            assert (result.retry_after_s or 0) <= row["expect"].get("max_wait_s", 300)
        next_server = other if code == "rate_limited" else served  # a host that asked for a pause is left alone
        n_connections = next_server.n_connections
        good = await fetcher.fetch(f"{next_server.url}/good", use_robots=False)
    assert good.payload == GOOD_PAGE
    assert next_server.n_connections == n_connections + 1
    assert all(b"cookie" not in head.lower() and b"authorization" not in head.lower() for head in served.heads)


def _check_payload(row: dict[str, Any], page: Page) -> None:
    if row["class"] != "charset":
        assert row["expect"].get("contains", "").encode() in page.payload
        assert row["class"] == "parse" or row["expect"].get("never", "\0").encode() not in page.payload
    assert "set-cookie" not in page.headers
    assert all("\x1b" not in value for value in page.headers.values())


async def test_stalled_tls_handshake_is_a_timeout() -> None:
    async with raw_server(site({})) as served, fetching(served, limits=SHORT) as fetcher:
        code, _ = await outcome_of(fetcher, served.url.replace("http:", "https:"))
    assert code == "timeout"
    assert served.n_connections == 1


async def test_redirect_to_a_private_address_is_refused_before_dialling() -> None:
    async with raw_server(site({"/": response()})) as trap:
        redirect = response(b"", 302, {"location": f"{trap.url}/"})
        async with raw_server(site({"/go": redirect})) as served, fetching(served) as fetcher:
            with pytest.raises(AddressRefused) as refused:
                await fetcher.fetch(f"{served.url}/go", use_robots=False)
    assert refused.value.outcome == "blocked_by_policy"
    assert trap.n_connections == 0


async def test_page_carries_its_hops_and_final_address() -> None:
    pages = {
        "/a": response(b"", 301, {"location": "/b?x=1#part"}),
        "/b?x=1": response(b"", 307, {"location": "c"}),
        "/c": response(headers={"set-cookie": "a=b", "x-kept": "yes"}),
    }
    async with raw_server(site(pages)) as served, fetching(served) as fetcher:
        page = await fetcher.fetch(f"{served.url}/a#top", use_robots=False)
    assert page.requested_url == f"{served.url}/a#top"
    assert page.url == f"{served.url}/c"
    assert page.redirects == (f"{served.url}/a", f"{served.url}/b?x=1")
    assert page.headers["x-kept"] == "yes"
    assert "set-cookie" not in page.headers


async def test_robots_file_that_forbids_a_page_keeps_it_from_being_asked_for() -> None:
    rules = response(b"User-agent: firsthand\nDisallow: /private\n", headers={"content-type": "text/plain"})
    async with (
        raw_server(site({"/robots.txt": rules, "/private/x": response(), "/open": response()})) as served,
        fetching(served) as fetcher,
    ):
        refused, _ = await outcome_of(fetcher, f"{served.url}/private/x", use_robots=True)
        allowed, _ = await outcome_of(fetcher, f"{served.url}/open", use_robots=True)
        by_hand, _ = await outcome_of(fetcher, f"{served.url}/private/x", use_robots=False)
    assert (refused, allowed, by_hand) == ("robots", "ok", "ok")
    assert served.paths == ["/robots.txt", "/open", "/private/x"]


@pytest.mark.parametrize("row", [row for row in ROWS if "as_path" in row], ids=lambda row: row["id"])
async def test_hostile_robots_file_stops_neither_us_nor_its_own_rules(row: dict[str, Any]) -> None:
    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith(b"GET /robots.txt "):
            await send_row(row, writer)
        else:
            writer.write(response())

    waits = Waits()
    async with raw_server(answer) as served, fetching(served, waits=waits) as fetcher:
        began = time.monotonic()
        code, _ = await outcome_of(fetcher, f"{served.url}/aaaaaaaaaaaaaaaaaaaaaaaaaaab", use_robots=True)
        again, _ = await outcome_of(fetcher, f"{served.url}/private", use_robots=True)
    assert time.monotonic() - began < row["expect"].get("max_seconds", 10)
    assert code == ("ok" if row["id"] != "r121" else "robots")  # cut at its first wild card, that rule is "Disallow: /"
    assert again == ("robots" if row["id"] in ("r120", "r121") else "ok")
    assert all(seconds <= row["expect"].get("max_wait_s", 60) for seconds in waits.seconds)


async def test_fetcher_made_from_settings_asks_for_robots_under_its_own_name() -> None:
    rules = response(b"User-agent: acme\nDisallow: /x", headers={"content-type": "text/plain"})
    async with raw_server(site({"/robots.txt": rules, "/x": response(), "/y": response()})) as served:
        fetcher = open_fetcher(allow_private=f"127.0.0.1:{served.port}", user_agent="Acme/2", host_interval_s=0)
        refused, _ = await outcome_of(fetcher, f"{served.url}/x", use_robots=True)
        page = await fetcher.fetch(f"{served.url}/y")
        await fetcher.aclose()
    assert (refused, page.status) == ("robots", 200)
    assert all(b"User-Agent: Acme/2\r\n" in head for head in served.heads)


async def test_busy_server_is_asked_three_times_as_far_apart_as_it_says() -> None:
    busy = response(b"busy", 503, {"retry-after": "7"})
    waits = Waits()
    async with raw_server(site({"/": busy})) as served, fetching(served, waits=waits) as fetcher:
        code, error = await outcome_of(fetcher, f"{served.url}/")
    assert code == "http_status"
    assert isinstance(error, FetchFailed) and error.retryable and error.status == 503
    assert len(served.heads) == 3
    assert waits.seconds == [7.0, 7.0]


async def test_server_that_asks_for_an_hour_is_left_alone_and_not_asked_again() -> None:
    async with (
        raw_server(site({"/": response(b"busy", 429, {"retry-after": "3600"}), "/other": response()})) as served,
        fetching(served) as fetcher,
    ):
        first, error = await outcome_of(fetcher, f"{served.url}/")
        second, _ = await outcome_of(fetcher, f"{served.url}/other")
    assert (first, second) == ("rate_limited", "rate_limited")
    assert isinstance(error, FetchFailed) and error.outcome == "rate_limited" and error.retry_after_s
    assert len(served.heads) == 1


CHALLENGE = b"<html><title>Just a moment...</title><body>Checking<script>window._cf_chl_opt={}</script></body></html>"
SHELL = b"<html><body><div id=app>Loading app.</div><script>" + b"var a=1;" * 11_000 + b"</script></body></html>"
ARTICLE = b"<html><body><article><p>" + b"word " * 2000 + b"</p></article>%b</body></html>"
CONSENT = b"<html><body><h1>Cookies</h1><button>Accept all cookies</button></body></html>"
LOGIN = b"<html><body><form><input name=u><input type=password name=p><button>Sign in</button></form></body></html>"


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        (CHALLENGE, 200, "bot_wall"),
        (CHALLENGE, 403, "bot_wall"),
        (SHELL, 200, "needs_javascript"),
        (CONSENT, 403, "cookie_wall"),
        (LOGIN, 200, "refused"),
        (b"gone", 410, "not_found"),
        (b"no", 403, "refused"),
        (b"pay", 402, "paywall"),
        (ARTICLE % b"<script src=https://www.google.com/recaptcha/api.js></script>", 200, "ok"),
        (b"<html><script></script><p>" + "日本語の記事です。".encode() * 99 + b"</p></html>", 200, "ok"),
        (ARTICLE % b"<p>It saw unusual traffic from your network and asked: are you a robot?</p>", 200, "ok"),
        (ARTICLE % b"<div>Accept all cookies</div><footer>Subscribe</footer>", 200, "ok"),
    ],
)
async def test_walls_and_refusals_are_told_from_pages(body: bytes, status: int, expected: str) -> None:
    async with raw_server(site({"/": response(body, status)})) as served, fetching(served) as fetcher:
        code, result = await outcome_of(fetcher, f"{served.url}/")
    assert expected == ("ok" if isinstance(result, Page) else result.outcome), code


async def test_cancelled_fetch_ends_at_once_and_closes_its_connection() -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def never_finish(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<p>begun")
        await writer.drain()
        asked.set()
        await writer.wait_closed()
        closed.set()

    async with raw_server(never_finish) as served, fetching(served) as fetcher:
        task = asyncio.create_task(fetcher.fetch(f"{served.url}/", use_robots=False))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
