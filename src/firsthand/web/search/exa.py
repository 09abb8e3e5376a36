"""Exa: a search by meaning, with a key.

Source: exa.ai/docs, search, pricing and error codes, and the requests of exa-py 2.28.0 (read 2026-11-30). What Exa
quotes from a page (``highlights``) is a snippet here and nothing more: a page is cited only after we fetched it.
"""

from __future__ import annotations

from firsthand.values import Category, HttpRequest, HttpResponse, JsonValue, Query
from firsthand.web.search.codec import (
    Hits,
    Row,
    api_key,
    base_address,
    check_status,
    hits_of,
    json_request,
    parse_json,
    result_list,
    row_of,
)
from firsthand.web.search.facts import FACTS
from firsthand.web.search.phrasing import Clock, applied_filter, shorten, since, split_sites
from firsthand.web.search.reading import microusd

URL = "https://api.exa.ai"
_CATEGORIES: dict[Category, str] = {"news": "news", "academic": "publication"}


class Exa:
    """The ``auto`` search with highlights, which the price of a search includes."""

    name = "exa"
    facts = FACTS[name]
    max_hits = facts.max_hits

    def __init__(self, key: str, *, clock: Clock | None = None, base_url: str = URL) -> None:
        """Without *clock* no time filter is asked for.

        Raises: InvalidInput for a key that no header can carry, or an address that is not plain http(s).
        """
        self._key = api_key(self.name, key)
        self._clock = clock
        self._url = base_address(base_url, "Exa", URL) + "/search"

    def request(self, query: Query) -> HttpRequest:
        """A POST with the key in ``x-api-key``."""
        text, sites = split_sites(query.text)
        day = since(query, self._clock)
        payload: dict[str, JsonValue] = {
            "query": shorten(text, self.facts.max_query_chars),
            "type": "auto",
            "numResults": min(query.max_hits, self.max_hits),
            "contents": {"highlights": True},
            "category": None if query.category is None else _CATEGORIES[query.category],
            "includeDomains": [*sites] or None,
            "startPublishedDate": None if day is None else f"{day}T00:00:00.000Z",
        }
        return json_request(self._url, {"x-api-key": self._key}, payload)

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The results, in Exa's order, with the date it guesses and what it says the search cost.

        Raises: ProviderFailed.
        """
        check_status(self.name, self._url, response)
        value = parse_json(self.name, response)
        results = result_list(self.name, value, "results")
        found = hits_of(self.name, map(_row, results), min(query.max_hits, self.max_hits))
        cost = value.get("costDollars") if isinstance(value, dict) else None
        found.cost_microusd = microusd(cost.get("total")) if isinstance(cost, dict) else None
        return found

    def time_filter(self, query: Query) -> str | None:
        """A day for an hour; none without a clock."""
        return None if self._clock is None else applied_filter(query)


def _row(result: JsonValue) -> Row:
    row = row_of(result, url="url", title="title", snippet="highlights", published="publishedDate")
    return row if row.snippet else row_of(result, url="url", title="title", snippet="text", published="publishedDate")
