"""Asking again for what was fetched before: who is asked, with what, what is kept of it, and what old answers say then.

Requests are counted where they arrive.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from firsthand.app import App, AskOptions, ask_options, open_app
from firsthand.db import Connection, Database
from firsthand.durable.operations import fetched_of
from firsthand.evidence import store, tables
from firsthand.live.extraction import Extraction
from firsthand.live.kept import KeptPages, MaxAge
from firsthand.live.reach import Reach
from firsthand.ports import Fetched
from firsthand.settings import Settings
from firsthand.values import Page
from tests.web.raw_server import Served, raw_server, response

QUESTION = "Where do herons build their nests?"
OLD = "Herons build their nests in the reeds at the northern shore of the lake."
NEW = "Herons build their nests in the old oaks behind the southern pier since this spring."
DATE = "Sat, 02 May 2026 10:00:00 GMT"
DAY_S = 86_400


@dataclass
class Lake:
    """A site whose pages have versions, and a search that finds its first page, or ``hits``."""

    served: Served = field(default_factory=Served)
    words: dict[str, str] = field(default_factory=lambda: {"/herons": OLD})
    statuses: list[tuple[str, int]] = field(default_factory=list)  # what was answered, in order; the search left out
    hits: list[str] = field(default_factory=list)
    has_validators: bool = True
    cache_control: str = ""
    token: int = 0  # a number in the page that no reader sees
    n_now: int = 0
    most: int = 0

    def url(self, path: str) -> str:
        return f"{self.served.url}{path}"

    def etag(self, path: str) -> str:
        return f'"{abs(hash(self.words[path]))}"'

    async def answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        self.n_now += 1
        self.most = max(self.most, self.n_now)
        await asyncio.sleep(0)
        path = head.split(b" ")[1].decode().partition("?")[0]
        if path == "/search":
            found = self.hits or [self.url("/herons")]
            hits = [{"url": url, "title": "Herons", "content": "Herons"} for url in found]
            body = json.dumps({"results": hits, "unresponsive_engines": []}).encode()
            writer.write(response(body, 200, {"content-type": "application/json"}))
        else:
            writer.write(self.page(path, head.decode()))
        self.n_now -= 1

    def page(self, path: str, head: str) -> bytes:
        headers = {"set-cookie": "who=you; Path=/"}
        if self.cache_control:
            headers["cache-control"] = self.cache_control
        status = 200 if path in self.words else 302 if path == "/moved" else 404
        if status == 200 and self.has_validators:
            headers |= {"etag": self.etag(path), "last-modified": DATE}
            status = 304 if f"If-None-Match: {self.etag(path)}" in head.split("\r\n") else 200
        self.statuses.append((path, status))
        if status == 302:
            return response(b"", 302, {"location": "/herons", **headers})
        if status != 200:
            return response(b"", status, headers)
        links = "".join(f'<a href="{other}">{other}</a>' for other in self.words)
        html = f"<html><head><title>Birds</title></head><body><h1>Birds</h1><p>{self.words[path]}</p>{links}"
        return response(f"{html}<!-- {self.token} --></body></html>".encode(), 200, headers)

    def asked(self) -> list[tuple[str, int]]:
        """What was asked of the site since this was called last, robots files left out."""
        asked, self.statuses = self.statuses, []
        return [row for row in asked if row[0] != "/robots.txt"]


@asynccontextmanager
async def a_lake() -> AsyncIterator[Lake]:
    lake = Lake()
    async with raw_server(lake.answer) as lake.served:
        yield lake


@asynccontextmanager
async def an_app(lake: Lake, home: Path, sqlite_url: str, **more: Any) -> AsyncIterator[App]:
    given = {
        "searxng_url": lake.url("/"),
        "search": "searxng",
        "allow_private": lake.served.url.removeprefix("http://"),
    }
    settings = Settings(home=home, database_url=sqlite_url, host_interval_s=0.0, **{**given, **more})
    async with open_app(settings) as opened:
        yield opened


def options(**changes: Any) -> AskOptions:
    given: dict[str, Any] = {
        "libraries": (), "search": None, "mode": "search", "model": "none", "verify": "annotate", "cross_check": False,
        "allow_origins": (), "max_sources": None, "session": "default",
    }  # fmt: skip
    return ask_options(**{**given, **changes})


def captures(connection: Connection) -> list[tuple[str, int, str, bool]]:
    columns = [tables.capture.c[name] for name in ("url", "status", "validator", "is_revisit")]
    rows = connection.execute(sa.select(*columns).order_by(tables.capture.c.capture_id)).all()
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def n_snapshots(connection: Connection) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(tables.snapshot)).scalar_one())


def unseen(done: int, total: int, what: str) -> None:
    return


# -- Answers


async def test_a_page_that_its_site_calls_fresh_is_not_asked_for_again_and_the_answer_says_when_it_was(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with a_lake() as lake, an_app(lake, tmp_path, sqlite_url) as app:
        lake.cache_control = "public, max-age=3600"
        first = await app.ask(QUESTION, options())
        assert lake.asked() == [("/herons", 200)]
        again = await app.ask(QUESTION, options())
        assert lake.asked() == []
        always = await app.ask(QUESTION, options(max_age_s=0))
        assert lake.asked() == [("/herons", 304)]
        database = app._database
        rows = await database.read(captures)
        assert await database.read(n_snapshots) == 1
    assert first.text == again.text == always.text and "reeds" in first.text
    assert again.sources[0].retrieved_at == first.sources[0].retrieved_at < always.sources[0].retrieved_at
    assert [answer.usage.fetches for answer in (first, again, always)] == [1, 0, 1]
    url, etag = lake.url("/herons"), lake.etag("/herons")
    assert rows == [(url, 200, "", False), (url, 304, f"If-None-Match: {etag}", True)]


async def test_a_page_that_changed_after_it_was_cited_leaves_the_old_answer_true(
    sqlite_url: str, tmp_path: Path
) -> None:
    """Input 25 (b) of what users suffer."""
    async with a_lake() as lake, an_app(lake, tmp_path, sqlite_url) as app:
        old = await app.ask(QUESTION, options())
        lake.words["/herons"] = NEW
        checked = await app.read(lake.url("/herons"))
        verified = await app.verify(old.id)
        new = await app.ask(QUESTION, options(max_age_s=0))
        both = [await app.verify(answer.id) for answer in (old, new)]
        assert lake.asked() == [("/herons", 200)] * 3
        assert await app._database.read(n_snapshots) == 2
    assert (checked.outcome, checked.changed) == ("ok", True)
    assert verified.ok and all(each.ok for each in both)
    day = datetime.now(UTC).date().isoformat()
    assert [each.changed for each in (verified, *both)] == [{}, {lake.url("/herons"): day}, {}]
    assert both[0].lines()[-1] == f"{lake.url('/herons')} has changed: on {day} it had another text"
    assert both[0].as_json()["changed"] == both[0].changed and "changed" not in verified.as_json()
    assert "reeds" in old.text and "oaks" in new.text
    assert old.claims[0].citations[0].snapshot != new.claims[0].citations[0].snapshot


@pytest.mark.parametrize(
    ("mode", "site_says", "asked_for", "age_s", "is_asked"),
    [
        ("search", "", None, 1, True),  # a site that says nothing is asked
        ("search", "max-age=600", None, 60, False),
        ("search", "max-age=600", None, 600, True),
        ("search", "max-age=31536000", None, DAY_S - 3_600, False),
        ("search", "max-age=31536000", None, DAY_S, True),  # no longer than the mode allows
        ("news", "max-age=31536000", None, 3_600, True),
        ("research", "max-age=31536000", None, 6 * DAY_S, False),
        ("search", "no-store", 600, 60, False),  # who says how old it may be decides
        ("search", "max-age=600", 0, 1, True),
        ("news", "", 30 * DAY_S, 29 * DAY_S, False),
    ],
)
async def test_how_long_a_page_is_fresh_is_its_sites_word_within_the_modes_or_yours(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    mode: str, site_says: str, asked_for: int | None, age_s: int, is_asked: bool,
) -> None:  # fmt: skip
    async with a_lake() as lake, an_app(lake, tmp_path, sqlite_url) as app:
        lake.cache_control = site_says
        await app.ask(QUESTION, options(mode=mode))
        lake.asked()
        later = partial(KeptPages, now=lambda: datetime.now(UTC) + timedelta(seconds=age_s))
        monkeypatch.setattr("firsthand.live.asking.KeptPages", later)
        await app.ask(QUESTION, options(mode=mode, max_age_s=asked_for))
        assert lake.asked() == ([("/herons", 304)] if is_asked else [])


async def test_a_page_without_validators_comes_whole_and_the_same_bytes_are_a_revisit(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with a_lake() as lake, an_app(lake, tmp_path, sqlite_url, max_age_s=0) as app:
        lake.has_validators = False
        for _ in range(2):
            await app.ask(QUESTION, options())
        assert lake.asked() == [("/herons", 200), ("/herons", 200)]
        rows = await app._database.read(captures)
        assert await app._database.read(n_snapshots) == 1
    assert [row[1:] for row in rows] == [(200, "", False), (200, "", True)]


async def test_nothing_of_a_cookie_is_kept_or_sent_back(sqlite_url: str, tmp_path: Path) -> None:
    async with a_lake() as lake, an_app(lake, tmp_path, sqlite_url, max_age_s=0) as app:
        for _ in range(2):
            await app.ask(QUESTION, options())
        await app.add([lake.url("/herons")], "birds", base_url=None, max_pages=3, watch=unseen)
        everything = await app._database.read(lambda c: c.execute(sa.select(tables.capture.c.headers)).scalars().all())
    assert len(everything) == 3 and not any("cookie" in headers or "who=you" in headers for headers in everything)
    assert not any(b"cookie" in head.lower() for head in lake.served.heads)


async def test_an_answer_names_the_sites_whose_robots_file_could_not_be_had(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Input 19 of what users suffer: one site answers 503 for its robots file, another never does."""
    monkeypatch.setattr("firsthand.web.fetch.ROBOTS_TOTAL_S", 0.2)

    async def broken(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"", 503))

    async def silent(head: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with a_lake() as lake, raw_server(broken) as one, raw_server(silent) as other:
        lake.hits = [f"{one.url}/herons", f"{other.url}/herons", f"{one.url}/reeds", lake.url("/herons")]
        pairs = ",".join(served.url.removeprefix("http://") for served in (lake.served, one, other))
        async with an_app(lake, tmp_path, sqlite_url, allow_private=pairs) as app:
            answer = await app.ask(QUESTION, options())
    assert answer.status == "answered" and "reeds" in answer.text
    said = {(failure.target, failure.outcome): failure.detail for failure in answer.failures}
    assert set(said) == {(url, "robots") for url in lake.hits[:3]}
    assert "status 503" in said[lake.hits[0], "robots"] and "timeout" in said[lake.hits[1], "robots"]
    assert (one.paths, other.paths) == (["/robots.txt"], ["/robots.txt"])


# -- One fetch


@asynccontextmanager
async def reaching(lake: Lake, home: Path, **more: Any) -> AsyncIterator[tuple[Reach, Extraction]]:
    pair = lake.served.url.removeprefix("http://")
    reach = Reach(Settings(home=home, allow_private=pair, host_interval_s=0.0, **more))
    extraction = Extraction(1)
    try:
        yield reach, extraction
    finally:
        await reach.aclose()
        extraction.close()


async def fetch(database: Database, acts: Any, url: str) -> Fetched:
    act = await acts.fetch(url)
    return fetched_of(act.result if act.store is None else await database.write(act.store))


@pytest.mark.parametrize(
    ("age_s", "max_age_s", "status"),
    [(DAY_S - 3_600, DAY_S, None), (DAY_S, DAY_S, 304), (5, 0, 304), (-60, DAY_S, 304)],
)
async def test_a_page_stands_in_while_it_is_younger_than_it_may_be(
    sqlite_database: Database, tmp_path: Path, age_s: int, max_age_s: int, status: int | None
) -> None:
    async with a_lake() as lake, reaching(lake, tmp_path) as (reach, extraction):
        kept = KeptPages(sqlite_database)
        first = await fetch(sqlite_database, reach.acts(extraction, kept=kept), lake.url("/herons"))
        lake.asked()
        later = KeptPages(sqlite_database, now=lambda: datetime.now(UTC) + timedelta(seconds=age_s))
        acts = reach.acts(extraction, kept=later, max_age=MaxAge(max_age_s))
        again = await fetch(sqlite_database, acts, lake.url("/herons#a-part-of-it"))
        assert lake.asked() == ([] if status is None else [("/herons", status)])
    assert (again.text_id, again.title, again.is_kept) == (first.text_id, "Birds", status is None)


async def test_what_an_address_led_to_stands_in_for_it_too(sqlite_database: Database, tmp_path: Path) -> None:
    async with a_lake() as lake, reaching(lake, tmp_path) as (reach, extraction):
        acts = reach.acts(extraction, kept=KeptPages(sqlite_database), max_age=MaxAge(DAY_S))
        fetched = [await fetch(sqlite_database, acts, lake.url("/moved")) for _ in range(2)]
        assert lake.asked() == [("/moved", 302), ("/herons", 200)]
    assert {each.final_url for each in fetched} == {lake.url("/herons")}
    assert [each.is_kept for each in fetched] == [False, True]


async def test_a_page_of_another_origin_stands_in_for_nobody_who_may_not_ask_there(
    sqlite_database: Database, tmp_path: Path
) -> None:
    async with a_lake() as lake, reaching(lake, tmp_path) as (reach, extraction):
        kept = KeptPages(sqlite_database)
        await fetch(sqlite_database, reach.acts(extraction, kept=kept), lake.url("/herons"))
        closed = reach.acts(extraction, ["https://example.org/"], kept=kept, max_age=MaxAge(DAY_S))
        assert (await fetch(sqlite_database, closed, lake.url("/herons"))).outcome == "blocked_by_policy"
        # Nor does one that an allowed origin once led to.
        start = "https://example.org/start"
        led = replace(await _kept_page(kept, lake.url("/herons")), requested_url=start, redirects=(start,))
        await kept.keep_revisit(led)
        assert (await fetch(sqlite_database, closed, start)).outcome == "blocked_by_policy"


async def _kept_page(kept: KeptPages, url: str) -> Page:
    page = await kept.last(url)
    assert page is not None
    return page


async def test_a_file_that_is_named_by_an_address_does_not_stand_in_for_it(
    sqlite_database: Database, tmp_path: Path, sqlite_url: str
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "herons").with_suffix(".html").write_text(f"<title>Old</title><p>{NEW}</p>")
    async with a_lake() as lake, an_app(lake, tmp_path, sqlite_url) as app:
        lake.words["/herons.html"] = OLD
        await app.add([str(tmp_path / "site")], "copy", base_url=lake.url("/"), max_pages=1, watch=unseen)
        read = await app.read(lake.url("/herons.html"), max_age_s=DAY_S)
        assert lake.asked() == [("/herons.html", 200)]
    assert read.changed is None and read.text is not None and "reeds" in read.text.body


async def test_a_damaged_page_is_asked_for_whole(sqlite_database: Database, tmp_path: Path) -> None:
    async with a_lake() as lake, reaching(lake, tmp_path) as (reach, extraction):
        acts = reach.acts(extraction, kept=KeptPages(sqlite_database))
        await fetch(sqlite_database, acts, lake.url("/herons"))
        await sqlite_database.write(lambda c: c.execute(sa.update(tables.snapshot).values(payload=b"?")).rowcount)
        await fetch(sqlite_database, acts, lake.url("/herons"))
        assert lake.asked() == [("/herons", 200), ("/herons", 200)]


async def test_a_page_that_an_older_extractor_read_is_read_again_without_a_request(
    sqlite_database: Database, tmp_path: Path
) -> None:
    async with a_lake() as lake, reaching(lake, tmp_path) as (reach, extraction):
        acts = reach.acts(extraction, kept=KeptPages(sqlite_database), max_age=MaxAge(DAY_S))
        old = await fetch(sqlite_database, acts, lake.url("/herons"))
        await sqlite_database.write(lambda c: c.execute(sa.update(tables.text).values(extractor_version="0")).rowcount)
        new = await fetch(sqlite_database, acts, lake.url("/herons"))
        assert lake.asked() == [("/herons", 200)]
        refs = await sqlite_database.read(store.page_refs, [old.text_id or 0, new.text_id or 0])
    assert new.text_id != old.text_id and len({ref.text_digest for ref in refs.values()}) == 1


async def test_a_run_sends_no_request_over_its_ceiling_and_a_killed_one_gets_no_higher(
    sqlite_database: Database, tmp_path: Path
) -> None:
    async with a_lake() as lake, reaching(lake, tmp_path, run_requests_max=4) as (reach, extraction):
        lake.words |= {f"/{n}": f"Page {n} is about herons." for n in range(9)}
        acts = reach.acts(extraction)
        fetched = [await fetch(sqlite_database, acts, lake.url(f"/{n}")) for n in range(9)]
        n_first = len(lake.served.heads)
        resumed = reach.acts(extraction, n_sent=3)  # the robots file is known in this process
        later = [await fetch(sqlite_database, resumed, lake.url(f"/{n}")) for n in range(9)]
    assert (n_first, len(lake.served.heads)) == (4, 5)
    assert [each.outcome for each in fetched] == ["ok"] * 3 + ["blocked_by_policy"] * 6
    assert [each.code for each in later] == [""] + ["run_ceiling"] * 8


async def test_the_ledger_counts_the_requests_that_were_sent(sqlite_database: Database, tmp_path: Path) -> None:
    async with a_lake() as lake, reaching(lake, tmp_path) as (reach, extraction):
        acts = reach.acts(extraction, kept=KeptPages(sqlite_database), max_age=MaxAge(DAY_S))
        calls = []
        for path in ("/moved", "/gone", "/herons"):
            act = await acts.fetch(lake.url(path))
            calls.append((act.calls, act.n_bytes > 0))
            if act.store is not None:
                await sqlite_database.write(act.store)
    assert calls == [(3, True), (1, False), (0, False)]  # robots file, redirect, page; page; nothing


async def test_turns_of_one_process_stand_in_one_line_at_a_host(sqlite_database: Database, tmp_path: Path) -> None:
    async with a_lake() as lake, reaching(lake, tmp_path, host_concurrency=1) as (reach, extraction):
        lake.words |= {f"/{n}": f"Page {n} is about herons." for n in range(12)}
        turns = [reach.acts(extraction), reach.acts(extraction, [lake.url("/")]), reach.acts(extraction)]
        acts = await asyncio.gather(*(turns[n % 3].fetch(lake.url(f"/{n}")) for n in range(12)))
    assert all(act.store is not None for act in acts)
    assert lake.most == 1
    assert lake.served.paths.count("/robots.txt") == 2  # one for those who may follow anywhere, one for who may not


@pytest.mark.parametrize(("asked_s", "said"), [(60, "1 minute"), (120, "2 minutes")])
async def test_when_a_site_may_be_asked_again_is_a_field_of_the_refusal(
    tmp_path: Path, asked_s: int, said: str
) -> None:
    async def busy(head: bytes, writer: asyncio.StreamWriter) -> None:
        is_robots = head.startswith(b"GET /robots.txt ")
        writer.write(response(b"", 404) if is_robots else response(b"", 429, {"retry-after": str(asked_s)}))

    lake = Lake()
    async with raw_server(busy) as lake.served, reaching(lake, tmp_path) as (reach, extraction):
        fetched = fetched_of((await reach.acts(extraction).fetch(lake.url("/a"))).result)
        other = fetched_of((await reach.acts(extraction).fetch(lake.url("/b"))).result)
    assert (fetched.outcome, fetched.code, fetched.retry_after_s) == ("rate_limited", "rate_limited", asked_s)
    assert fetched.detail.endswith(f"It may be asked again in {said}.")
    assert other.outcome == "rate_limited" and asked_s - 10 < (other.retry_after_s or 0) <= asked_s
    assert lake.served.paths == ["/robots.txt", "/a"]


# -- Reading and adding


async def test_reading_says_whether_the_page_changed_since_it_was_kept(sqlite_url: str, tmp_path: Path) -> None:
    async with a_lake() as lake, an_app(lake, tmp_path, sqlite_url) as app:
        url = lake.url("/herons")
        never = await app.read(url)
        await app.ask(QUESTION, options())
        lake.asked()
        same = await app.read(url)
        young = await app.read(url, max_age_s=DAY_S)
        assert lake.asked() == [("/herons", 304)]
        lake.token, lake.has_validators = 7, False
        other_bytes = await app.read(url)
        lake.words["/herons"] = NEW
        changed = await app.read(url)
        still_kept = await app.read(url, max_age_s=DAY_S)
        rows = await app._database.read(captures)
    reads = [never, same, young, other_bytes, changed, still_kept]
    assert [read.changed for read in reads] == [None, False, False, False, True, False]
    assert [row[1] for row in rows] == [200, 304]  # what was only read is not kept, that it did not change is
    assert "changed" not in never.as_json() and changed.as_json()["changed"] is True
    assert str(changed.as_json()["kept_at"]).endswith("Z")


async def test_adding_a_site_again_asks_what_changed_and_keeps_only_that(sqlite_url: str, tmp_path: Path) -> None:
    async with a_lake() as lake, an_app(lake, tmp_path, sqlite_url) as app:
        lake.words |= {f"/{n}": f"Page {n} is about herons and reeds." for n in range(3)}

        async def add() -> dict[str, Any]:
            added = await app.add([lake.url("/herons")], "birds", base_url=None, max_pages=20, watch=unseen)
            return added.as_json()

        first = await add()
        assert {status for _, status in lake.asked()} == {200}
        same = await add()
        assert sorted(lake.asked()) == [(path, 304) for path in sorted(lake.words)]
        lake.words["/2"] = NEW
        other = await add()
        n_kept = await app._database.read(n_snapshots)
        held = await app.recall("oaks", ["birds"], limit=5, cursor=None)
        statuses = [row[1] for row in await app._database.read(captures)]
    library = {"library": "birds", "pages": 4, "failed": []}
    assert first == {**library, "kept": 4, "unchanged": 0}
    assert same == {**library, "kept": 0, "unchanged": 4}
    assert other == {**library, "kept": 1, "changed": 1, "unchanged": 3}
    assert statuses[:8] == [200] * 4 + [304] * 4 and sorted(statuses[8:]) == [200] + [304] * 3
    assert n_kept == 5 and [item.url for item in held.items] == [lake.url("/2")]
