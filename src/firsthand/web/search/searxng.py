"""A SearXNG instance of the operator's own, asked for JSON.

Source: SearXNG's search API documentation (docs.searxng.org, read 2026-11-30); the codes of ``time_range`` from its
parameter check, which takes day, week, month and year.
"""

from __future__ import annotations

import re
from urllib.parse import urlencode

from firsthand.values import Category, HttpRequest, HttpResponse, JsonValue, Query
from firsthand.web.search.codec import (
    Hits,
    base_address,
    check_status,
    check_wall,
    failure,
    hits_of,
    parse_json,
    result_list,
    row_of,
)
from firsthand.web.search.facts import FACTS
from firsthand.web.search.phrasing import applied_filter, shorten

MAX_ENGINES_NAMED = 10
_CATEGORIES: dict[Category, str] = {"news": "news", "academic": "science"}  # of its default settings.yml
_ENGINE_NAME = re.compile(r"[\w .\-]{1,40}")


class SearXNG:
    """One instance, by its base address."""

    name = "searxng"
    facts = FACTS[name]
    max_hits = facts.max_hits

    def __init__(self, base_url: str) -> None:
        """Raises: InvalidInput for an address that is not plain http(s)."""
        base = base_address(base_url, "SearXNG", "http://127.0.0.1:8888")
        self._url = base.removesuffix("/search") + "/search"

    def request(self, query: Query) -> HttpRequest:
        """A GET of ``/search`` with ``format=json``."""
        # SearXNG reads leading ``:`` and ``<`` as language and time-out commands, and ``!`` as an engine.
        text = " ".join(word.lstrip("!:<") for word in shorten(query.text, self.facts.max_query_chars).split())
        parameters = {"q": text, "format": "json", "pageno": "1"}
        if query.category is not None:
            parameters["categories"] = _CATEGORIES[query.category]
        if query.language:
            parameters["language"] = query.language
        applied = self.time_filter(query)
        if applied is not None:
            parameters["time_range"] = applied
        return HttpRequest("GET", f"{self._url}?{urlencode(parameters)}", {"accept": "application/json"})

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The results, in the instance's order, with dates where it gives them.

        Raises: ProviderFailed.
        """
        if response.status == 403:
            check_wall(self.name, response)
            raise failure(
                self.name,
                "provider_json_off",
                "refuses the JSON format; add 'json' to search.formats in the instance's settings.yml.",
                status=403,
            )
        check_status(self.name, self._url, response)
        value = parse_json(self.name, response)
        results = result_list(self.name, value, "results")
        if not results and isinstance(value, dict):
            self._check_engines(value.get("unresponsive_engines"))
        rows = [row_of(row, url="url", title="title", snippet="content", published="publishedDate") for row in results]
        return hits_of(self.name, rows, min(query.max_hits, self.max_hits))

    def time_filter(self, query: Query) -> str | None:
        """A day for an hour; SearXNG leaves out the engines that cannot filter."""
        return applied_filter(query)

    def _check_engines(self, unresponsive: JsonValue) -> None:
        """Raise if an empty list is empty because engines failed."""
        if not isinstance(unresponsive, list) or not unresponsive:
            return
        first = [entry[0] if isinstance(entry, list) and entry else entry for entry in unresponsive]
        names = [name for name in first if isinstance(name, str) and _ENGINE_NAME.fullmatch(name)]
        named = ", ".join(names[:MAX_ENGINES_NAMED]) or f"{len(unresponsive)} of them"
        raise failure(
            self.name, "provider_all_engines_failed", f"found nothing because its engines did not answer: {named}."
        )
