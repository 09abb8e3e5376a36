"""What was fetched before, for whoever is about to ask for it again: the joint between the store and the fetch.

A page that is young enough stands in without a request; an older one is asked for under the condition that it changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from firsthand import ids
from firsthand.db import Connection, Database
from firsthand.errors import DigestMismatch
from firsthand.evidence import captures, store
from firsthand.evidence.index import is_indexed
from firsthand.values import Page
from firsthand.web.conditional import is_older, said_fresh_s
from firsthand.web.extract import EXTRACTOR, EXTRACTOR_VERSION


@dataclass(frozen=True, slots=True)
class MaxAge:
    """How old a page may be that stands in without a request.

    If nobody asked for it, it is only the most: then a page is fresh for as long as its own site says so.
    """

    seconds: float = 0.0
    is_asked_for: bool = True


@dataclass(frozen=True, slots=True)
class KeptPages:
    """The pages that were fetched before, by address. ``now`` is the clock that they age by."""

    database: Database
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def last(self, url: str) -> Page | None:
        """The last page that was fetched from *url* itself: what a condition is made of."""
        return await self.database.read(_load, url, None)

    async def seen(self, url: str, asked: str) -> Page | None:
        """The last page that came from *url*, or that somebody who asked for *asked* was led to."""
        return await self.database.read(_load, url, asked)

    async def fresh(self, url: str, asked: str, age: MaxAge) -> Page | None:
        """``seen``, if it is younger than *age* allows."""
        if age.seconds <= 0:
            return None
        found = await self.database.read(captures.newest_capture, url, asked)
        if found is None or is_older(found.retrieved_at, self.now(), age.seconds):
            return None
        page = await self.seen(url, asked)
        if page is not None and not age.is_asked_for:
            return None if is_older(found.retrieved_at, self.now(), said_fresh_s(page.headers)) else page
        return page

    async def keep_revisit(self, page: Page) -> None:
        """Keep that a page whose payload is here already was found unchanged."""
        await self.database.write(store.keep_page, page)

    async def text_id(self, page: Page) -> int | None:
        """The text that this release's extractor made of the page's payload already, if it is one and can be found."""
        return await self.database.read(_known_text, ids.payload_digest(page.payload))


def _known_text(connection: Connection, digest: str) -> int | None:
    found = captures.only_text(connection, digest, EXTRACTOR, EXTRACTOR_VERSION)
    return found if found is not None and is_indexed(connection, found) else None


def _load(connection: Connection, url: str, asked: str | None) -> Page | None:
    found = captures.newest_capture(connection, url, asked)
    if found is None:
        return None
    try:
        return store.load_page(connection, found.capture_id)
    except DigestMismatch:
        # A damaged page is no ground to ask "did it change?": a no would leave us with nothing. It is asked for whole,
        # as if it had never been seen; that it is damaged is said by whoever uses it.
        return None
