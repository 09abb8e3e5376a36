"""The doctor: the disk, the store, each search provider, and what is allowed beyond the defaults."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from firsthand import __version__
from firsthand.db import Connection, Database
from firsthand.errors import StoreFailed
from firsthand.evidence import store
from firsthand.live.reach import Reach
from firsthand.settings import Settings
from firsthand.values import JsonValue, Outcome, Query

MENDS: dict[Outcome, str] = {
    "rate_limited": "wait some minutes, or use your own SearXNG (FIRSTHAND_SEARXNG_URL)",
    "refused": "use your own SearXNG (FIRSTHAND_SEARXNG_URL), and allow JSON in its settings.yml",
    "bot_wall": "wait an hour, or use your own SearXNG (FIRSTHAND_SEARXNG_URL)",
    "timeout": "try again, or use your own SearXNG (FIRSTHAND_SEARXNG_URL)",
}
LOW_DISK_BYTES = 500_000_000  # guess: a hundred answers with their pages


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tested. What is not needed for an answer may fail without failing the doctor."""

    name: str
    ok: bool
    detail: str
    is_needed: bool = True

    def as_json(self) -> dict[str, JsonValue]:
        """The row that ``doctor --json`` prints."""
        return {"name": self.name, "ok": self.ok, "detail": self.detail, "needed": self.is_needed}


async def examine(settings: Settings, database: Database, reach: Reach) -> list[Check]:
    """All checks, each with how to mend what fails."""
    checks = [Check("version", True, f"Firsthand {__version__}"), await _store(database), _disk(settings)]
    for name in reach.provider_names():
        checks.append(await _provider(reach, name))
    allowed = settings.allow_private
    detail = f"also reachable although private: {allowed}" if allowed else "public addresses only"
    checks.append(Check("gate", True, detail))
    if "ddgs" in reach.provider_names():
        told = "the search library 'ddgs' connects by itself, in a process of its own; --search duckduckgo-html does without"
        checks.append(Check("exception", True, told))
    return checks


async def _store(database: Database) -> Check:
    try:
        await database.write(_write_nothing)
        libraries = await database.read(store.libraries)
    except StoreFailed as error:
        return Check("store", False, error.message)
    held = ", ".join(f"{library.name} ({library.n_pages} pages)" for library in libraries) or "no library yet"
    return Check("store", True, f"{database.engine.dialect.name}, can be written; {held}")


def _write_nothing(connection: Connection) -> None:
    """A write transaction that keeps nothing: it fails where a real one would."""
    connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")


def _disk(settings: Settings) -> Check:
    free = shutil.disk_usage(settings.home).free
    detail = f"{free / 1e9:.1f} GB free in {settings.home}"
    return Check("disk", free >= LOW_DISK_BYTES, detail if free >= LOW_DISK_BYTES else f"{detail}; make some room")


async def _provider(reach: Reach, name: str) -> Check:
    searched = (await reach.ask((name,), Query("sqlite write-ahead log", 3)))[0]
    if searched.outcome == "ok":
        return Check(f"search {name}", True, f"{len(searched.hits)} hits", is_needed=False)
    mend = MENDS.get(searched.outcome, "check that this machine reaches the network, or use your own SearXNG")
    return Check(f"search {name}", False, f"{searched.outcome}: {searched.detail} To mend: {mend}.", is_needed=False)
