"""What a fetch makes of what servers do; the whole corpus of responses is in tests/trust."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from firsthand.errors import AddressRefused, FetchFailed, OutsideError
from firsthand.values import Page
from firsthand.web.address import Policy
from firsthand.web.client import Client
from firsthand.web.fetch import HOLD_DEFAULT_S, HOLD_MAX_S, Allowance, Fetcher, open_fetcher
from firsthand.web.limits import LIMITS, Limits
from firsthand.web.pace import Ceiling, Pacer
from tests.web.raw_server import GOOD_PAGE, Answer, Served, raw_server, response, send_row, site

DATA = Path(__file__).parents[1] / "data"
ROWS = [json.loads(line) for line in (DATA / "hostile-responses.jsonl").read_text(encoding="utf-8").splitlines()]
SHORT = Limits(connect_s=0.5, first_byte_s=0.4, between_reads_s=0.4, total_s=1.0)


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
    fetcher = Fetcher(Client(limits=limits), policy, pacer, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
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


async def outcome_of_run(fetcher: Fetcher, url: str, run: Allowance) -> tuple[str, Page | OutsideError]:
    try:
        return "ok", await fetcher.fetch(url, allowance=run)
    except OutsideError as error:
        return error.code, error


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
    assert code == "ok"
    assert again == ("robots" if row["id"] == "r120" else "ok")
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


@pytest.mark.parametrize(
    ("status", "retry_after", "code", "waits", "retry_after_s"),
    [
        (503, "7", "rate_limited", [7.0], 7.0),
        (429, "7", "rate_limited", [7.0], 7.0),
        (429, "Thu, 01 Jan 2026 00:00:09 GMT", "rate_limited", [9.0], 9.0),
        (429, None, "rate_limited", [1.0], HOLD_DEFAULT_S),
        (503, None, "http_status", [1.0], None),  # it may be broken rather than busy
        (503, "0", "http_status", [], None),
        (502, "3", "http_status", [3.0], None),
        (429, "31", "rate_limited", [], 31.0),  # longer than a fetch waits
        (503, "3600", "rate_limited", [], HOLD_MAX_S),
        (429, "soon", "rate_limited", [], HOLD_MAX_S),
        (429, "-1", "rate_limited", [], HOLD_MAX_S),
    ],
)
async def test_busy_server_is_asked_once_more_when_it_says_or_left_alone_until_then(
    status: int, retry_after: str | None, code: str, waits: list[float], retry_after_s: float | None
) -> None:
    busy = response(b"busy", status, {"retry-after": retry_after} if retry_after else None)
    noted = Waits()
    async with raw_server(site({"/": busy})) as served, fetching(served, waits=noted) as fetcher:
        got, error = await outcome_of(fetcher, f"{served.url}/")
    assert isinstance(error, FetchFailed)
    assert (got, error.status, error.retryable, error.retry_after_s) == (code, status, True, retry_after_s)
    assert noted.seconds == waits
    assert len(served.heads) == (2 if waits or retry_after == "0" else 1)


async def test_server_that_was_busy_for_a_moment_gives_its_page() -> None:
    answers = [response(b"busy", 429, {"retry-after": "2"}), response()]
    waits = Waits()

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answers.pop(0))

    async with raw_server(answer) as served, fetching(served, waits=waits) as fetcher:
        code, _ = await outcome_of(fetcher, f"{served.url}/")
    assert (code, waits.seconds) == ("ok", [2.0])


async def test_host_that_said_too_many_is_left_alone_by_all_fetches_until_it_may_be_asked() -> None:
    pages = {"/": response(b"busy", 429, {"retry-after": "120"}), "/other": response()}
    waits = Waits()
    async with raw_server(site(pages)) as served, fetching(served, waits=waits) as fetcher:
        first, error = await outcome_of(fetcher, f"{served.url}/")
        waits.now += 80
        second, _ = await outcome_of(fetcher, f"{served.url}/other")
        by_robots, _ = await outcome_of(fetcher, f"{served.url}/other", use_robots=True)
        patient = await fetcher.fetch(f"{served.url}/other", use_robots=False, allowance=Allowance(patience_s=300))
    assert (first, second, by_robots) == ("rate_limited", "rate_limited", "rate_limited")
    assert isinstance(error, FetchFailed) and error.retry_after_s == 120
    assert served.paths == ["/", "/other"]
    assert (patient.status, waits.seconds) == (200, [40.0])


# -- Robots that cannot be had


@pytest.mark.parametrize("how", ["503", "never answers", "is cut", "is no HTTP"])
async def test_robots_file_that_cannot_be_had_shuts_its_site_for_the_run_and_says_why(how: str) -> None:
    """Input 19 of what users suffer; an answer over such sites is in ``tests/live/test_kept.py``."""

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        if not head.startswith(b"GET /robots.txt "):
            writer.write(response())
        elif how == "503":
            writer.write(response(b"", 503))
        elif how == "is cut":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nUser-agent: *")
        elif how == "is no HTTP":
            writer.write(b"SSH-2.0-x\r\n\r\n")
        else:
            await asyncio.Event().wait()

    run = Allowance()
    async with raw_server(answer) as served, fetching(served, limits=SHORT) as fetcher:
        fetches = [fetcher.fetch(f"{served.url}/{n}", allowance=run) for n in range(5)]
        failures = await asyncio.gather(*fetches, return_exceptions=True)
        fetcher._robots._files.clear()  # a day later, in the same run
        again, _ = await outcome_of_run(fetcher, f"{served.url}/x", run)
    assert served.paths == ["/robots.txt"]
    assert {(error.code, error.outcome) for error in failures if isinstance(error, FetchFailed)} == {
        ("robots_unreachable", "robots")
    }
    why = {"503": "status 503", "never answers": "timeout", "is cut": "connection_lost", "is no HTTP": "bad_response"}
    assert all(why[how] in str(error) for error in failures)
    assert again == "robots_unreachable"


async def test_slow_robots_file_does_not_eat_the_time_of_the_page() -> None:
    now = 0.0

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal now
        now += 31.0 if head.startswith(b"GET /robots.txt ") else 25.0
        writer.write(response(b"", 404) if b"robots" in head else response())

    async with raw_server(answer) as served:
        policy = Policy(allow_private=frozenset({("127.0.0.1", served.port)}))
        fetcher = Fetcher(Client(), policy, Pacer(interval_s=0), clock=lambda: now)
        page = await fetcher.fetch(f"{served.url}/")
        await fetcher.aclose()
    assert page.status == 200


# -- No more than a run may send


async def test_not_one_request_more_arrives_once_the_run_has_sent_what_it_may() -> None:
    pages = {f"/{n}": response(b"", 302, {"location": f"/to/{n}"}) for n in range(20)}
    pages |= {f"/to/{n}": response() for n in range(20)}
    ceiling = Ceiling(12)
    async with raw_server(site(pages)) as served, fetching(served) as fetcher:
        run = Allowance(ceiling=ceiling)
        results = await asyncio.gather(*(outcome_of_run(fetcher, f"{served.url}/{n}", run) for n in range(20)))
        late, error = await outcome_of_run(fetcher, f"{served.url}/to/1", run)
        other_run, _ = await outcome_of_run(fetcher, f"{served.url}/to/1", Allowance(ceiling=Ceiling(1)))
    codes = [code for code, _ in results]
    assert len(served.heads) == 13  # a robots file, eleven hops, and the one of another run
    assert set(codes) == {"ok", "run_ceiling"} and codes.count("run_ceiling") >= 9
    assert isinstance(error, FetchFailed) and (late, error.outcome) == ("run_ceiling", "blocked_by_policy")
    assert "FIRSTHAND_RUN_REQUESTS_MAX" in error.message
    assert other_run == "ok"


async def test_ceiling_met_at_a_robots_file_shuts_the_site_for_nobody_else() -> None:
    async with raw_server(site({"/": response()})) as served, fetching(served) as fetcher:
        poor, _ = await outcome_of_run(fetcher, f"{served.url}/", Allowance(ceiling=Ceiling(0)))
        rich, _ = await outcome_of_run(fetcher, f"{served.url}/", Allowance(ceiling=Ceiling(2)))
    assert (poor, rich) == ("run_ceiling", "ok")


async def test_three_hundred_addresses_of_one_host_at_once_arrive_a_second_apart_and_two_at_a_time() -> None:
    waits = Waits()
    arrived: list[float] = []
    n_now = most = 0

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal n_now, most
        n_now += 1
        most = max(most, n_now)
        if head.startswith(b"GET /robots.txt "):
            writer.write(response(b"", 404))
        else:
            arrived.append(waits.now)
            await asyncio.sleep(0)
            writer.write(response())
        n_now -= 1

    async with raw_server(answer) as served:
        policy = Policy(allow_private=frozenset({("127.0.0.1", served.port)}))
        pacer = Pacer(clock=waits.clock, sleep=waits.sleep)  # the defaults: two at a time, a second apart
        fetcher = Fetcher(Client(), policy, pacer)
        run = Allowance(ceiling=Ceiling(300))
        got = await asyncio.gather(*(outcome_of_run(fetcher, f"{served.url}/{n}", run) for n in range(300)))
        await fetcher.aclose()
    assert [code for code, _ in got].count("ok") == 299  # the robots file was the three hundredth request
    assert len(served.heads) == 300 and most <= 2
    # Noted where they arrive: one that was started earlier may arrive when the next one's second has begun.
    assert all(after - before >= 0 for before, after in pairwise(arrived))
    assert arrived[-1] >= 297.0
    assert min(waits.seconds) == 1.0 and len(waits.seconds) >= 298


# -- Asking again


ETAG, DATE = '"v1"', "Sat, 02 May 2026 10:00:00 GMT"


def conditional(etag: str, date: str, body: bytes) -> Answer:
    """A server that knows one version of a page, and says 304 to whoever has it."""

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        lines = head.decode().split("\r\n")
        if f"If-None-Match: {etag}" in lines or (etag == "" and f"If-Modified-Since: {date}" in lines):
            writer.write(response(b"", 304, {"etag": etag, "content-type": "text/plain", "x-new": "1"}))
        else:
            headers = {"etag": etag} if etag else {}
            writer.write(response(body, 200, {**headers, "last-modified": date}))

    return answer


@pytest.mark.parametrize(("etag", "validator"), [(ETAG, f"If-None-Match: {ETAG}"), ("", f"If-Modified-Since: {DATE}")])
async def test_page_that_is_kept_is_asked_for_by_its_validators_and_comes_back_without_its_bytes(
    etag: str, validator: str
) -> None:
    shelf: dict[str, Page] = {}

    async def kept(url: str) -> Page | None:
        return shelf.get(url)

    run = Allowance(kept=kept)
    async with raw_server(conditional(etag, DATE, GOOD_PAGE)) as served, fetching(served) as fetcher:
        first = await fetcher.fetch(f"{served.url}/a", use_robots=False, allowance=run)
        shelf[first.url] = first
        again = await fetcher.fetch(f"{served.url}/a#part", use_robots=False, allowance=run)
        other = await fetcher.fetch(f"{served.url}/b", use_robots=False, allowance=run)
    assert (first.status, first.validator) == (200, "")
    assert (again.status, again.validator, again.payload) == (304, validator, GOOD_PAGE)
    assert (again.headers["content-type"], again.headers["x-new"]) == ("text/html; charset=utf-8", "1")
    assert again.requested_url == f"{served.url}/a#part" and again.url == f"{served.url}/a"
    assert other.status == 200  # validators are an address's own
    asked = [b"If-None-Match" in head or b"If-Modified-Since" in head for head in served.heads]
    assert asked == [False, True, False]


async def test_page_that_changed_comes_whole_and_an_unasked_304_is_no_page() -> None:
    async def kept(url: str) -> Page | None:
        headers = {"etag": '"v0"'} if url.endswith("/a") else {}
        return Page(url, url, 200, headers, b"<p>old</p>", datetime.now(UTC))

    run = Allowance(kept=kept)
    async with raw_server(conditional(ETAG, DATE, GOOD_PAGE)) as served, fetching(served) as fetcher:
        changed = await fetcher.fetch(f"{served.url}/a", use_robots=False, allowance=run)
    async with raw_server(site({"/b": response(b"", 304)})) as served, fetching(served) as fetcher:
        unasked, _ = await outcome_of_run(fetcher, f"{served.url}/b", run)
    assert (changed.status, changed.payload, changed.validator) == (200, GOOD_PAGE, "")
    assert unasked == "http_status"


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
