"""The doctor: what is needed fails it, what is not only shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from firsthand.db import Database
from firsthand.durable import ledger
from firsthand.live import health
from firsthand.live.extraction import Extraction
from firsthand.live.health import Check, examine
from firsthand.live.reach import Reach
from firsthand.live.searching import SearchServices
from firsthand.settings import Settings
from tests.commands import Reply, Web, site, web


@pytest.fixture
def searching() -> Iterator[Web]:
    with web() as made:
        made.hits += [made.one.url("/a"), made.one.url("/b"), made.one.url("/c")]
        yield made


async def checks(
    database: Database, folder: Path, searching: Web, names: tuple[str, ...] = ("searxng",), **changes: object
) -> dict[str, Check]:
    given = {"searxng_url": searching.searxng.url("/"), "allow_private": searching.one.pair, **changes}
    settings = Settings(home=folder, **given)  # type: ignore[arg-type]
    reach, extraction = Reach(settings), Extraction(1)
    try:
        found = await examine(settings, database, reach, reach.acts(extraction), names)
        return {check.name: check for check in found}
    finally:
        await reach.aclose()
        extraction.close()


async def test_everything_well_is_ok_and_the_private_pairs_are_named(
    sqlite_database: Database, tmp_path: Path, searching: Web
) -> None:
    found = await checks(sqlite_database, tmp_path, searching)
    assert all(check.ok for check in found.values())
    assert searching.one.pair in found["gate"].detail and re.fullmatch(
        r"3 hits in \d+ ms", found["search searxng"].detail
    )
    assert found["search"].detail == "an ask searches ddgs/duckduckgo-html/searxng"
    assert "--search duckduckgo-html" in found["exception"].detail


async def test_a_provider_that_refuses_is_named_but_not_needed(
    sqlite_database: Database, tmp_path: Path, searching: Web
) -> None:
    searching.searxng.replies["/search"] = Reply(b"<html>no json</html>", 403, {"content-type": "text/html"})
    check = (await checks(sqlite_database, tmp_path, searching))["search searxng"]
    assert not check.ok and not check.is_needed
    assert "JSON format is off: add json to search.formats in settings.yml" in check.detail
    assert check.as_json()["outcome"] == "refused"


async def test_every_provider_that_is_set_up_is_asked_and_what_failed_says_how_to_mend_it(
    sqlite_database: Database, tmp_path: Path, searching: Web
) -> None:
    one = searching.one
    one.replies["/html/"] = Reply(b"slow down", 202)
    one.replies["/w/api.php"] = Reply(b'{"query": {"search": []}}', headers={"content-type": "application/json"})
    one.replies["/res/v1/web/search"] = Reply(b"{}", 401)
    with site() as gone:
        nobody = gone.url("/")
    found = await checks(
        sqlite_database,
        tmp_path,
        searching,
        ("duckduckgo-html", "mediawiki", "brave", "tavily"),
        duckduckgo_url=one.url("/html/"),
        mediawiki_url=one.url("/w/api.php"),
        brave_url=one.url(""),
        brave_api_key="canary",
        tavily_url=nobody,
        tavily_api_key="canary",
    )
    assert found["search duckduckgo-html"].detail.startswith("rate_limited: ")
    assert found["search mediawiki"].ok and found["search mediawiki"].detail.startswith("0 hits in ")
    assert found["search brave"].detail.endswith("To mend: copy the key again from the account of the service.")
    assert "that the service runs at the address you set" in found["search tavily"].detail
    assert "network" not in found


async def test_a_machine_without_a_network_is_told_so(
    sqlite_database: Database, tmp_path: Path, searching: Web
) -> None:
    with site() as gone:
        nobody = gone.url("/")
    found = await checks(sqlite_database, tmp_path, searching, ("searxng",), searxng_url=nobody)
    assert "none of the search services could be reached" in found["network"].detail
    assert not found["network"].is_needed


async def test_a_paid_provider_is_asked_through_the_ledger_and_its_price_is_said(
    sqlite_database: Database, tmp_path: Path, searching: Web
) -> None:
    rows = b'{"type": "search", "query": {}, "web": {"results": [{"url": "https://example.org/", "title": "T"}]}}'
    searching.one.replies["/res/v1/web/search"] = Reply(rows, headers={"content-type": "application/json"})
    given = {"brave_url": searching.one.url(""), "brave_api_key": "canary"}
    found = await checks(sqlite_database, tmp_path, searching, ("brave",), **given)
    assert re.fullmatch(r"1 hit in \d+ ms, \$0\.005 a search", found["search brave"].detail)
    charged = await sqlite_database.read(lambda connection: connection.execute(sa.select(ledger.charge_table)).all())
    assert [(row.kind, row.calls, row.cost_microusd) for row in charged] == [("search", 1, 5_000)]
    assert "ledger" not in found


async def test_a_provider_that_rests_says_for_how_long_and_is_not_asked(
    sqlite_database: Database, tmp_path: Path, searching: Web
) -> None:
    settings = Settings(home=tmp_path, searxng_url=searching.searxng.url("/"), host_interval_s=0.0)
    searching.searxng.replies["/search"] = Reply(b"busy", 429, {"retry-after": "90"})
    reach, extraction = Reach(settings), Extraction(1)
    try:
        found = [await examine(settings, sqlite_database, reach, reach.acts(extraction), ("searxng",)) for _ in "12"]
    finally:
        await reach.aclose()
        extraction.close()
    first, second = (next(check for check in each if check.name == "search searxng") for each in found)
    assert "slow down" in first.detail and searching.searxng.count("/search") == 1
    assert re.search(r"left alone for another (90|[78]\d) s.*To mend: wait; it is asked again by itself", second.detail)


async def test_paid_calls_in_doubt_are_listed(sqlite_database: Database, tmp_path: Path, searching: Web) -> None:
    searching.one.replies["/res/v1/web/search"] = Reply(b"oops", 500)
    given = {"brave_url": searching.one.url(""), "brave_api_key": "canary"}
    found = await checks(sqlite_database, tmp_path, searching, ("brave",), **given)
    assert found["search brave"].detail.startswith("failed: answers with HTTP 500. It may have been charged.")
    assert found["ledger"].detail.startswith("1 paid call may have been charged without a result")
    assert "brave at " in found["ledger"].detail


async def test_without_names_every_provider_has_a_line_and_a_missing_key_names_its_variable(
    sqlite_database: Database, tmp_path: Path, searching: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SearchServices, "set_up", lambda self: ("searxng",))  # the others are not on this machine
    found = await checks(sqlite_database, tmp_path, searching, None, search="searxng,exa")  # type: ignore[arg-type]
    assert found["search exa"].detail == "not set up: its key is missing; set FIRSTHAND_EXA_API_KEY."
    assert not found["search"].ok and found["search"].is_needed
    assert "FIRSTHAND_EXA_API_KEY" in found["search"].detail


async def test_a_disk_that_runs_full_is_needed(
    sqlite_database: Database, tmp_path: Path, searching: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "LOW_DISK_BYTES", 10**18)
    check = (await checks(sqlite_database, tmp_path, searching))["disk"]
    assert not check.ok and check.is_needed and "make some room" in check.detail
