"""The acts behind the operations port: one search, one fetch; and who is asked next.

Each act returns what it brought and a function that keeps it; the durable layer runs that function in the transaction
that also holds the receipt, so a page and the proof that it was fetched are kept together or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from firsthand.db import Connection
from firsthand.durable.journal import JsonObject
from firsthand.durable.operations import Act, DurableOperations, Payment, fetched_json, searched_json
from firsthand.errors import OutsideError
from firsthand.evidence import recall, store
from firsthand.live.extraction import Extraction
from firsthand.ports import Fetched, Found
from firsthand.values import Page, Query, Text
from firsthand.web.fetch import Fetcher
from firsthand.web.search import Chain, Providers, Send, merge


class LiveActs:
    """Searches and fetches for real."""

    def __init__(self, providers: Providers, send: Send, fetcher: Fetcher, extraction: Extraction) -> None:
        self._providers = providers
        self._send = send
        self._fetcher = fetcher
        self._extraction = extraction

    def payment(self, provider: str) -> Payment:
        """Every provider of this release is free."""
        return "free"

    async def search(self, provider: str, query: Query, key: str) -> Act:
        """One call to one provider; a refusal is a result."""
        searched = await self._providers.search_one(provider, query, self._send)
        return Act(searched_json(searched))

    async def fetch(self, url: str) -> Act:
        """One page: fetched, extracted, and kept with its index rows when its receipt is."""
        try:
            page = await self._fetcher.fetch(url)
            text, entry = await self._extraction.one(
                page.payload, url=page.url, content_type=page.headers.get("content-type")
            )
        except OutsideError as error:
            # A dead page is a result: the next run of this turn must see the same one.
            detail = error.message
            if error.retry_after_s:
                detail += f" It may be asked again in {math.ceil(error.retry_after_s / 60)} minutes."
            return Act(fetched_json(Fetched(url, error.outcome, code=error.code, detail=detail)))

        def keep(connection: Connection) -> JsonObject:
            text_id = keep_page(connection, page, text, entry)[0]
            return fetched_json(Fetched(url, "ok", text_id=text_id, final_url=page.url, title=text.title))

        return Act({}, store=keep, n_bytes=len(page.payload))


class LiveFinder:
    """Asks the providers of one turn in order, through the operations port."""

    def __init__(self, chain: Chain, order: Sequence[str], operations: DurableOperations) -> None:
        self._chain = chain
        self._order = tuple(order)
        self._operations = operations

    async def find(self, query: Query) -> Found:
        """Ask until one provider answered well; their hits, each page once."""
        asked = await self._chain.ask(self._order, query, self._operations.search)
        hits = merge([searched.hits for searched in asked], query.max_hits)
        return Found(tuple(asked), tuple(hits))


def keep_page(connection: Connection, page: Page, text: Text, entry: recall.Entry) -> tuple[int, int]:
    """Keep payload, capture, text and index rows; the ids of text and capture."""
    kept = store.keep_page(connection, page)
    text_id, is_new = store.keep_text(connection, kept.snapshot, text)
    if is_new:
        recall.index_text(connection, text_id, entry)
    return text_id, kept.capture_id
