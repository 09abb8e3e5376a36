"""Tavily: a search made for programs, with a key.

Source: docs.tavily.com, search endpoint and credits, and the requests of tavily-python 0.8.5 (read 2026-11-30). What
Tavily sends of a page (``content``, ``raw_content``) is a snippet here and nothing more: a page is cited only after we
fetched it.
"""

from __future__ import annotations

from firsthand.values import HttpRequest, HttpResponse, JsonValue, Query
from firsthand.web.search.codec import (
    Hits,
    api_key,
    base_address,
    check_status,
    hits_of,
    json_request,
    no_credit,
    parse_json,
    result_list,
    row_of,
)
from firsthand.web.search.facts import FACTS
from firsthand.web.search.phrasing import applied_filter, shorten, split_sites
from firsthand.web.search.reading import microusd

URL = "https://api.tavily.com"
OUT_OF_CREDIT = (432, 433)  # its own: the plan's limit, and the limit for paying as you go


class Tavily:
    """The ``basic`` search: one credit."""

    name = "tavily"
    facts = FACTS[name]
    max_hits = facts.max_hits

    def __init__(self, key: str, *, base_url: str = URL) -> None:
        """Raises: InvalidInput for a key that no header can carry, or an address that is not plain http(s)."""
        self._key = api_key(self.name, key, "Bearer ")
        self._url = base_address(base_url, "Tavily", URL) + "/search"

    def request(self, query: Query) -> HttpRequest:
        """A POST with the key as a bearer token."""
        text, sites = split_sites(query.text)
        payload: dict[str, JsonValue] = {
            "query": shorten(text, self.facts.max_query_chars),
            "search_depth": "basic",
            "topic": "news" if query.category == "news" else None,
            "max_results": min(query.max_hits, self.max_hits),
            "include_domains": [*sites] or None,
            "time_range": self.time_filter(query),
            "include_usage": True,
        }
        return json_request(self._url, {"authorization": self._key}, payload)

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The results, in Tavily's order, with a date where it gives one, and what it says the search cost.

        Raises: ProviderFailed.
        """
        if response.status in OUT_OF_CREDIT:
            raise no_credit(self.name, response.status)
        check_status(self.name, self._url, response)
        value = parse_json(self.name, response)
        results = result_list(self.name, value, "results")
        rows = [row_of(row, url="url", title="title", snippet="content", published="published_date") for row in results]
        found = hits_of(self.name, rows, min(query.max_hits, self.max_hits))
        usage = value.get("usage") if isinstance(value, dict) else None
        if isinstance(usage, dict):
            found.cost_microusd = microusd(usage.get("credits"), self.facts.price_microusd)  # one credit a search
        return found

    def time_filter(self, query: Query) -> str | None:
        """A day for an hour; the others as asked."""
        return applied_filter(query)
