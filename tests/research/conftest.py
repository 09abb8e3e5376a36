"""Pages made up for a test, kept and indexed for real, and the reader's way from a question to a draft."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from firsthand.db import Connection, Database
from firsthand.evidence import lookups
from firsthand.evidence.index import index_text
from firsthand.evidence.store import hold, keep_page, keep_text, load_text
from firsthand.ports import Scope
from firsthand.research.decline import decline
from firsthand.research.plan import Plan, make_plan, needed_terms
from firsthand.research.plan import lookups as looks
from firsthand.research.rank import Ranked, rank
from firsthand.research.read import Evidence, choose, wanted
from firsthand.research.write import Draft, write
from firsthand.values import Page, Text
from firsthand.web.extract import extract

RETRIEVED_AT = datetime(2024, 5, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Read:
    """All that the reader made of one question."""

    plan: Plan
    ranked: list[Ranked]
    missing: tuple[str, ...] | None
    evidence: list[Evidence]
    draft: Draft
    texts: Mapping[int, Text]

    @property
    def quotes(self) -> list[str]:
        """Every quote, in order."""
        return [cut.text for each in self.evidence for cut in each.quotes]

    @property
    def pages(self) -> list[str]:
        """The path of each page quoted, in order."""
        return list(dict.fromkeys(urlsplit(each.page.url).path for each in self.evidence))


Reader = Callable[..., Read]


@pytest.fixture
def read(sqlite_database: Database) -> Iterator[Reader]:
    """``read(question, pages)``: pages by address are HTML bodies; kept once a test, then asked."""
    kept: set[str] = set()

    def ask(question: str, pages: Mapping[str, str]) -> Read:
        for url, html in pages.items():
            if url not in kept:
                kept.add(url)
                sqlite_database.write_now(_keep, url, html)
        return _read(sqlite_database, question)

    yield ask


def _keep(connection: Connection, url: str, html: str) -> None:
    if "<html" not in html:
        html = f"<html><body>{html}</body></html>"
    payload = html.encode()
    page = Page(url, url, 200, {"content-type": "text/html; charset=utf-8"}, payload, RETRIEVED_AT)
    kept = keep_page(connection, page)
    text = extract(payload, url=url, content_type="text/html; charset=utf-8")
    text_id, _ = keep_text(connection, kept.snapshot, text)
    hold(connection, "tests", url, text_id, kept.capture_id)
    index_text(connection, text_id, text)


def _read(database: Database, question: str) -> Read:
    scope = Scope()
    sites = database.read_now(lookups.sites, scope)
    plan = make_plan(question, database.read_now(lookups.rarity, needed_terms(question, sites)), sites)
    found = database.read_now(lookups.lookup, looks(plan), scope)
    ranked = rank(plan, found)
    around = database.read_now(lookups.text_passages, wanted(plan, ranked))
    evidence = choose(plan, ranked, around)
    draft = write(plan, evidence, {each.page.text_id: each.page for each in evidence})
    texts = {each.page.text_id: database.read_now(load_text, each.page.text_id) for each in evidence}
    return Read(plan, ranked, decline(plan, ranked), evidence, draft, texts)
