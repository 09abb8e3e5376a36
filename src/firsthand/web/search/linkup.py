"""Linkup: a search made for programs, with a key.

Source: docs.linkup.so, search endpoint, pricing and errors, and the requests of linkup-sdk 0.24.0 (read 2026-11-30).
What Linkup sends of a page (``content``) is a snippet here and nothing more: a page is cited only after we fetched it.
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
    stated_code,
)
from firsthand.web.search.facts import FACTS
from firsthand.web.search.phrasing import Clock, applied_filter, shorten, since, split_sites

URL = "https://api.linkup.so"
FOUND_NOTHING = "SEARCH_QUERY_NO_RESULT"  # comes with 400, like a mistake of ours
OUT_OF_CREDIT = ("INSUFFICIENT_FUNDS_CREDITS", "EXCEED_BUDGET_LIMIT")  # come with 429, like too many requests


class Linkup:
    """The ``standard`` search for results, without an answer written by its model."""

    name = "linkup"
    facts = FACTS[name]
    max_hits = facts.max_hits

    def __init__(self, key: str, *, clock: Clock | None = None, base_url: str = URL) -> None:
        """Without *clock* no time filter is asked for.

        Raises: InvalidInput for a key that no header can carry, or an address that is not plain http(s).
        """
        self._key = api_key(self.name, key, "Bearer ")
        self._clock = clock
        self._url = base_address(base_url, "Linkup", URL) + "/v1/search"

    def request(self, query: Query) -> HttpRequest:
        """A POST with the key as a bearer token."""
        text, sites = split_sites(query.text)
        payload: dict[str, JsonValue] = {
            "q": shorten(text, self.facts.max_query_chars),
            "depth": "standard",
            "outputType": "searchResults",
            "maxResults": min(query.max_hits, self.max_hits),
            "includeDomains": [*sites] or None,
            "fromDate": since(query, self._clock),
        }
        return json_request(self._url, {"authorization": self._key}, payload)

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The results that are pages, in Linkup's order; images are left out.

        Raises: ProviderFailed.
        """
        code = stated_code(response, "error", "code")
        if response.status == 400 and code == FOUND_NOTHING:
            return Hits()
        if code in OUT_OF_CREDIT:
            raise no_credit(self.name, response.status)
        check_status(self.name, self._url, response)
        results = result_list(self.name, parse_json(self.name, response), "results")
        pages = (row for row in results if not (isinstance(row, dict) and row.get("type") == "image"))
        rows = (row_of(row, url="url", title="name", snippet="content") for row in pages)
        return hits_of(self.name, rows, min(query.max_hits, self.max_hits))

    def time_filter(self, query: Query) -> str | None:
        """A day for an hour; none without a clock."""
        return None if self._clock is None else applied_filter(query)
