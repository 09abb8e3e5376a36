"""The doctor: the disk, the store, each search provider, and what is allowed beyond the defaults.

Every provider that is set up is really asked, all at once, each within its own time limit: the doctor ends in bounded
time also on a machine without a network. What costs money goes through the ledger like any other search.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from firsthand import __version__
from firsthand.db import Connection, Database
from firsthand.durable import ledger
from firsthand.durable.operations import Acts
from firsthand.errors import InvalidInput, StoreFailed
from firsthand.evidence import captures, store
from firsthand.live.reach import Reach
from firsthand.live.searching import SearchServices
from firsthand.render import counted
from firsthand.settings import Settings
from firsthand.values import JsonValue, Outcome, Query
from firsthand.web.extract import EXTRACTOR, EXTRACTOR_VERSION
from firsthand.web.search import FACTS
from firsthand.web.search.providers import how_to_set_up

QUERY = Query("sqlite write-ahead log", 3)
UNREACHED = frozenset({"dns", "connect_failed", "connection_lost", "tls_error", "timeout", "provider_timeout"})
DDGS_SILENT = ("ddgs", "provider_all_engines_failed")  # it does not tell a network that is gone from a refusal
# What mends a failure, by its code where our own sentence about it does not say it already, else by its outcome.
MEND_OF_CODE: Mapping[str, str] = {
    "provider_json_off": "JSON format is off: add json to search.formats in settings.yml of the instance, and restart it",
    "provider_key_refused": "copy the key again from the account of the service",
    "provider_no_credit": "top the account up, or name another provider with --search",
    "provider_quota": "wait for the plan's next period, or name another provider with --search",
    "provider_missing": "pip install 'firsthand[search]', or name duckduckgo-html with --search",
    "provider_all_engines_failed": "look at the engines of the instance, or name another provider with --search",
    "provider_resting": "wait; it is asked again by itself",
    "provider_broken": "wait; it is tried again by itself",
    "provider_redirected": "set the address that the service really has",
    "dns": "check that this machine reaches the network, and the address if you set one",
    "connect_failed": "check that this machine reaches the network, and that the service runs at the address you set",
}
MENDS: Mapping[Outcome, str] = {
    "rate_limited": "wait some minutes, or use your own SearXNG (FIRSTHAND_SEARXNG_URL)",
    "refused": "use your own SearXNG (FIRSTHAND_SEARXNG_URL), or a provider with a key",
    "bot_wall": "wait an hour, or use your own SearXNG (FIRSTHAND_SEARXNG_URL)",
    "timeout": "try again, or use your own SearXNG (FIRSTHAND_SEARXNG_URL)",
}
MEND_ELSE = "check that this machine reaches the network, or use your own SearXNG (FIRSTHAND_SEARXNG_URL)"
LOW_DISK_BYTES = 500_000_000  # guess: a hundred answers with their pages


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tested. What is not needed for an answer may fail without failing the doctor."""

    name: str
    ok: bool
    detail: str
    is_needed: bool = True
    facts: Mapping[str, JsonValue] | None = None  # of a search: outcome, code, hits, elapsed_ms, reached

    def as_json(self) -> dict[str, JsonValue]:
        """The row that ``doctor --json`` prints."""
        row: dict[str, JsonValue] = {"name": self.name, "ok": self.ok, "detail": self.detail, "needed": self.is_needed}
        return {**row, **(self.facts or {})}


async def examine(
    settings: Settings, database: Database, reach: Reach, acts: Acts, names: Sequence[str] | None = None
) -> list[Check]:
    """All checks, each with how to mend what fails. *names* are the providers to ask; None: all that are set up."""
    checks = [Check("version", True, f"Firsthand {__version__}"), await _store(database), _disk(settings)]
    if settings.browser:
        from firsthand.web.browser import why_not  # only who switched it on pays for it at start

        reason = await asyncio.to_thread(why_not, settings.browser_path)
        checks.append(Check("browser", reason is None, reason or "pages that need their scripts are rendered", False))
    set_up = reach.services.set_up() if names is None else tuple(names)
    searches = await asyncio.gather(*(_provider(reach.services, name, acts, database) for name in set_up))
    checks += searches
    if searches and all((check.facts or {}).get("reached") is False for check in searches):
        detail = "none of the search services could be reached; check this machine's connection and its name server"
        checks.append(Check("network", False, detail, is_needed=False))
    for name in FACTS:
        if names is None and name not in set_up:
            checks.append(Check(f"search {name}", False, f"not set up: {how_to_set_up(name)}", is_needed=False))
    checks.append(_chosen(settings, reach.services))
    allowed = settings.allow_private
    detail = f"also reachable although private: {allowed}" if allowed else "public addresses only"
    checks.append(Check("gate", True, detail))
    if "ddgs" in reach.services.set_up():
        told = "the search library 'ddgs' connects by itself, in a process of its own; --search duckduckgo-html does without"
        checks.append(Check("exception", True, told))
    return [*checks, *(check for check in (await _older_texts(database), await _doubts(database)) if check is not None)]


async def _store(database: Database) -> Check:
    try:
        await database.write(_write_nothing)
        libraries = await database.read(store.libraries)
    except StoreFailed as error:
        return Check("store", False, error.message)
    held = (
        ", ".join(f"{library.name} ({counted(library.n_pages, 'page')})" for library in libraries) or "no library yet"
    )
    return Check("store", True, f"{database.engine.dialect.name}, can be written; {held}")


def _write_nothing(connection: Connection) -> None:
    """A write transaction that keeps nothing: it fails where a real one would."""
    connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")


def _disk(settings: Settings) -> Check:
    free = shutil.disk_usage(settings.home).free
    detail = f"{free / 1e9:.1f} GB free in {settings.home}"
    return Check("disk", free >= LOW_DISK_BYTES, detail if free >= LOW_DISK_BYTES else f"{detail}; make some room")


def _chosen(settings: Settings, services: SearchServices) -> Check:
    """Whether the search that a plain ask makes is set up."""
    try:
        orders = services.orders([name for name in settings.search.split(",") if name.strip()])
    except InvalidInput as error:
        return Check("search", False, f"the setting 'search' is {settings.search!r}. {error.message}")
    return Check("search", True, "an ask searches " + ", ".join("/".join(order) for order in orders))


async def _provider(services: SearchServices, name: str, acts: Acts, database: Database) -> Check:
    started = time.monotonic()
    is_free = services.payment(name) == "free"
    try:
        searched = (await services.ask([name], QUERY, acts, database))[0][0]
    except StoreFailed as error:
        return Check(f"search {name}", False, f"not asked, its cost could not be recorded: {error.message}", False)
    elapsed_ms = round((time.monotonic() - started) * 1000)
    facts: dict[str, JsonValue] = {
        "outcome": searched.outcome,
        "code": searched.code,
        "hits": len(searched.hits),
        "elapsed_ms": elapsed_ms,
        "reached": searched.code not in UNREACHED and (name, searched.code) != DDGS_SILENT,
    }
    check = Check(f"search {name}", searched.outcome in ("ok", "empty"), "", is_needed=False, facts=facts)
    if check.ok:
        n_hits = len(searched.hits)
        price = "" if is_free else f", ${services.providers.price_microusd(name) / 1e6:.3f} a search"
        return replace(check, detail=f"{counted(n_hits, 'hit')} in {elapsed_ms} ms{price}")
    said = None if (name, searched.code) == DDGS_SILENT else MEND_OF_CODE.get(searched.code)
    mend = said or MENDS.get(searched.outcome, MEND_ELSE)
    return replace(check, detail=f"{searched.outcome}: {searched.detail} To mend: {mend}.")


async def _older_texts(database: Database) -> Check | None:
    """How many held pages another version of the extractor read; None without any, or if the store cannot tell."""
    try:
        n_older = await database.read(captures.n_read_otherwise, EXTRACTOR, EXTRACTOR_VERSION)
    except StoreFailed:
        return None
    if not n_older:
        return None
    detail = (
        f"{counted(n_older, 'page')} in libraries {'was' if n_older == 1 else 'were'} read by another version of the"
        f" extractor (this is {EXTRACTOR}/{EXTRACTOR_VERSION}); they answer as before, and 'firsthand add' with the same"
        " sources has them read anew"
    )
    return Check("texts", True, detail, is_needed=False)


async def _doubts(database: Database) -> Check | None:
    """The paid calls whose outcome nobody knows; None without any, or if the store cannot tell."""
    try:
        doubts = await database.read(ledger.in_doubt)
    except StoreFailed:
        return None
    if not doubts:
        return None
    listed = ", ".join(f"{doubt.arguments.get('provider', doubt.kind)} at {doubt.begun_at}" for doubt in doubts[:5])
    more = f" and {len(doubts) - 5} more" if len(doubts) > 5 else ""
    n_calls = f"{len(doubts)} paid {'call' if len(doubts) == 1 else 'calls'}"
    detail = f"{n_calls} may have been charged without a result, and none is made again by itself: {listed}{more}"
    return Check("ledger", True, detail, is_needed=False)
