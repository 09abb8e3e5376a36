"""The doctor: what is needed fails it, what is not only shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from firsthand.db import Database
from firsthand.live import health
from firsthand.live.health import Check, examine
from firsthand.live.reach import Reach
from firsthand.settings import Settings
from tests.commands import Reply, Web, web


@pytest.fixture
def searching() -> Iterator[Web]:
    with web() as made:
        made.hits += [made.one.url("/a"), made.one.url("/b"), made.one.url("/c")]
        yield made


class OnlySearxng(Reach):
    """Asks no service outside of this machine."""

    def provider_names(self) -> tuple[str, ...]:
        return ("searxng",)


async def checks(database: Database, folder: Path, searching: Web) -> dict[str, Check]:
    settings = Settings(home=folder, searxng_url=searching.searxng.url("/"), allow_private=searching.one.pair)
    reach = OnlySearxng(settings)
    try:
        return {check.name: check for check in await examine(settings, database, reach)}
    finally:
        await reach.aclose()


async def test_everything_well_is_ok_and_the_private_pairs_are_named(
    sqlite_database: Database, tmp_path: Path, searching: Web
) -> None:
    found = await checks(sqlite_database, tmp_path, searching)
    assert all(check.ok for check in found.values())
    assert searching.one.pair in found["gate"].detail and found["search searxng"].detail == "3 hits"


async def test_a_provider_that_refuses_is_named_but_not_needed(
    sqlite_database: Database, tmp_path: Path, searching: Web
) -> None:
    searching.searxng.replies["/search"] = Reply(b"<html>no json</html>", 403, {"content-type": "text/html"})
    check = (await checks(sqlite_database, tmp_path, searching))["search searxng"]
    assert not check.ok and not check.is_needed and "formats" in check.detail


async def test_a_disk_that_runs_full_is_needed(
    sqlite_database: Database, tmp_path: Path, searching: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "LOW_DISK_BYTES", 10**18)
    check = (await checks(sqlite_database, tmp_path, searching))["disk"]
    assert not check.ok and check.is_needed and "make some room" in check.detail
