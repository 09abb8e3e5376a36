"""The acts behind the operations port: one search, one fetch; and who is asked next.

Each act returns what it brought and a function that keeps it; the durable layer runs that function in the transaction
that also holds the receipt, so a page and the proof that it was fetched are kept together or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from firsthand import ids
from firsthand.db import Connection
from firsthand.durable.journal import JsonObject
from firsthand.durable.operations import Act, DurableOperations, Payment, fetched_json, searched_json
from firsthand.errors import ExtractionFailed, OutsideError
from firsthand.evidence import recall, store
from firsthand.live.extraction import Extraction
from firsthand.live.kept import KeptPages, MaxAge
from firsthand.live.searching import SearchServices
from firsthand.ports import Fetched, Found
from firsthand.render import counted
from firsthand.values import Page, Query, Text
from firsthand.web.fetch import Allowance, Fetcher
from firsthand.web.search import Chain, combined


class LiveActs:
    """Searches and fetches for real, for one run of a turn."""

    def __init__(
        self,
        services: SearchServices,
        fetcher: Fetcher,
        extraction: Extraction,
        allowance: Allowance | None = None,
        kept: KeptPages | None = None,
        max_age: MaxAge | None = None,
    ) -> None:
        """A page of *kept* that is younger than *max_age* stands in without a request."""
        self._services = services
        self._fetcher = fetcher
        self._extraction = extraction
        self._allowance = allowance or Allowance()
        self._kept = kept
        self._max_age = max_age or MaxAge()

    def payment(self, provider: str) -> Payment:
        """Whether a search costs money, and whether it may be repeated under its key."""
        return self._services.payment(provider)

    async def search(self, provider: str, query: Query, key: str) -> Act:
        """One call to one provider; a refusal is a result. A paid one whose end nobody knows is in doubt."""
        called = await self._services.call(provider, query, key)
        return Act(
            searched_json(called.searched),
            state="done" if called.is_known else "in_doubt",
            calls=called.n_calls,
            n_bytes=called.n_bytes,
            cost_microusd=called.cost_microusd,
        )

    async def fetch(self, url: str) -> Act:
        """One page: fetched, extracted, and kept with its index rows when its receipt is.

        What was read before is neither asked for nor read again for nothing: a page that is young enough stands in, and
        one that the server says did not change has its text already.
        """
        self._extraction.warm()
        own = replace(self._allowance, n_sent=0)  # the run's ceiling and the sites it found shut stay shared
        try:
            stand_in = await self._stand_in(url)
            page = stand_in or await self._fetcher.fetch(url, allowance=own)
            is_known = stand_in is not None or bool(page.validator)
            text_id = await self._kept.text_id(page) if self._kept is not None and is_known else None
            read = None
            if text_id is None:
                page, read = await read_or_render(page, self._extraction, self._fetcher, own)
        except OutsideError as error:
            # A dead page is a result: the next run of this turn must see the same one.
            return Act(fetched_json(_refused(url, error)), calls=own.n_sent)

        def keep(connection: Connection) -> JsonObject:
            if stand_in is None:
                store.keep_page(connection, page)
            kept_id = text_id or _keep_text(connection, page, read)
            kept = store.page_ref(connection, kept_id)
            fetched = Fetched(
                url, "ok", text_id=kept_id, final_url=page.url, title=kept.title, text_digest=kept.text_digest
            )
            return fetched_json(replace(fetched, is_kept=stand_in is not None))

        n_bytes = 0 if stand_in is not None or page.validator else len(page.payload)
        return Act({}, store=keep, calls=own.n_sent, n_bytes=n_bytes)

    async def _stand_in(self, url: str) -> Page | None:
        """The page that was fetched before and is young enough, if its addresses may be asked in this turn at all.

        Raises: AddressRefused.
        """
        address = self._fetcher.judged(url, self._allowance)
        page = None if self._kept is None else await self._kept.fresh(address, url, self._max_age)
        if page is not None:
            self._fetcher.judged(page.url, self._allowance)
        return page


class LiveFinder:
    """Asks the providers of one turn through the operations port: several side by side, ``a/b`` in order."""

    def __init__(self, chain: Chain, providers: Sequence[str], operations: DurableOperations) -> None:
        self._chain = chain
        self._orders = [names.split("/") for names in providers]
        self._operations = operations

    async def find(self, query: Query) -> Found:
        """Ask until each chain has answered well or nobody is left in it; their hits, each page once."""
        chains = await self._chain.ask_all(self._orders, query, self._operations.search)
        asked = tuple(searched for chain in chains for searched in chain)
        return Found(asked, tuple(combined(chains, query.max_hits)))


async def read_or_render(
    page: Page, extraction: Extraction, fetcher: Fetcher, allowance: Allowance
) -> tuple[Page, tuple[Text, recall.Entry]]:
    """*page* and what it says; rendered first, if a browser is there and its text is hidden until its scripts run.

    Raises: OutsideError.
    """
    try:
        return page, await extraction.one(page.payload, url=page.url, content_type=page.headers.get("content-type"))
    except ExtractionFailed as error:
        shown = await fetcher.rendered(page, allowance=allowance) if error.outcome == "needs_javascript" else None
        if shown is None:
            raise
    return shown, await extraction.one(shown.payload, url=shown.url, content_type=shown.headers.get("content-type"))


def keep_page(connection: Connection, page: Page, text: Text, entry: recall.Entry) -> tuple[int, int]:
    """Keep payload, capture, text and index rows; the ids of text and capture."""
    kept = store.keep_page(connection, page)
    return _keep_text(connection, page, (text, entry)), kept.capture_id


def _keep_text(connection: Connection, page: Page, read: tuple[Text, recall.Entry] | None) -> int:
    """Keep what was made of a kept page, with its index rows; its id."""
    assert read is not None
    text, entry = read
    text_id, is_new = store.keep_text(connection, ids.payload_digest(page.payload), text)
    if is_new or not recall.is_indexed(connection, text_id):
        recall.index_text(connection, text_id, entry)
    return text_id


def _refused(url: str, error: OutsideError) -> Fetched:
    detail = error.message
    if error.retry_after_s:
        detail += f" It may be asked again in {counted(math.ceil(error.retry_after_s / 60), 'minute')}."
    return Fetched(url, error.outcome, code=error.code, detail=detail, retry_after_s=error.retry_after_s)
