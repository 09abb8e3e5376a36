"""Parallel Search: a search made for programs, with a key.

Source: the wire of ``/v1/search`` as the package parallel-web 1.3.7 sends and reads it, and docs.parallel.ai (read
2026-11-30). What Parallel quotes from a page (``excerpts``) is a snippet here and nothing more: a page is cited only
after we fetched it.
"""

from __future__ import annotations

from typing import Literal

from firsthand.values import HttpRequest, HttpResponse, JsonValue, Query
from firsthand.web.search.codec import (
    Hits,
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

URL = "https://api.parallel.ai"
MAX_OBJECTIVE_CHARS = 5_000  # its limit; the question goes here whole, the query beside it is cut
MAX_CHARS_TOTAL = 30_000  # evidence specification 7.3
MAX_CHARS_PER_RESULT = 3_000  # the same
Mode = Literal["turbo", "fast", "basic", "advanced"]


class Parallel:
    """One search by objective and query. ``basic`` and ``advanced`` cost the same; ``basic`` is the quicker."""

    name = "parallel"
    facts = FACTS[name]
    max_hits = facts.max_hits

    def __init__(self, key: str, *, clock: Clock | None = None, mode: Mode = "basic", base_url: str = URL) -> None:
        """Without *clock* no time filter is asked for.

        Raises: InvalidInput for a key that no header can carry, or an address that is not plain http(s).
        """
        self._key = api_key(self.name, key)
        self._clock = clock
        self._mode = mode
        self._url = base_address(base_url, "Parallel", URL) + "/v1/search"

    def request(self, query: Query) -> HttpRequest:
        """A POST with the key in ``x-api-key``."""
        text, sites = split_sites(query.text)
        policy: dict[str, JsonValue] = {}
        if sites:
            policy["include_domains"] = [*sites]
        if (day := since(query, self._clock)) is not None:
            policy["after_date"] = day
        settings: dict[str, JsonValue] = {
            "max_results": min(query.max_hits, self.max_hits),
            "excerpt_settings": {"max_chars_per_result": MAX_CHARS_PER_RESULT},
        }
        if policy:
            settings["source_policy"] = policy
        payload: dict[str, JsonValue] = {
            "objective": shorten(text, MAX_OBJECTIVE_CHARS),
            "search_queries": [shorten(text, self.facts.max_query_chars)],
            "mode": self._mode,
            "max_chars_total": MAX_CHARS_TOTAL,
            "advanced_settings": settings,
        }
        return json_request(self._url, {"x-api-key": self._key}, payload)

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The results, in Parallel's order, with the day it gives a page.

        Raises: ProviderFailed.
        """
        check_status(self.name, self._url, response)
        results = result_list(self.name, parse_json(self.name, response), "results")
        rows = (row_of(row, url="url", title="title", snippet="excerpts", published="publish_date") for row in results)
        return hits_of(self.name, rows, min(query.max_hits, self.max_hits))

    def time_filter(self, query: Query) -> str | None:
        """A day for an hour; none without a clock."""
        return None if self._clock is None else applied_filter(query)
