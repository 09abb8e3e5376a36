"""A SearXNG instance of the operator's own, asked for JSON.

Source: SearXNG's search API documentation (docs.searxng.org, read 2026-11-30); the codes of ``time_range`` from its
parameter check, which takes day, week, month and year.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import urlencode

import ada_url

from firsthand.errors import InvalidInput
from firsthand.values import Hit, HttpRequest, HttpResponse, JsonValue, Query
from firsthand.web.search.codec import (
    Hits,
    Row,
    applied_filter,
    check_status,
    failure,
    hits_of,
    parse_json,
    shorten,
)

MAX_QUERY_CHARS = 499  # SearXNG takes more, but its DuckDuckGo engine stays silent from 500 on
MAX_ENGINES_NAMED = 10
_ENGINE_NAME = re.compile(r"[\w .\-]{1,40}")
_QUOTA_WORDS = re.compile(r"quota|rate.?limit|too many|limit exceeded|throttl", re.IGNORECASE)
_MESSAGE_KEYS = ("message", "error", "detail", "errors")


class SearXNG:
    """One instance, by its base address."""

    name = "searxng"
    max_hits = 50  # guess: an instance gives 10 to 30 a page and has no parameter for it

    def __init__(self, base_url: str) -> None:
        """Raises: InvalidInput for an address that is not plain http(s) without credentials, query and fragment."""
        try:
            url = ada_url.URL(base_url.strip())
        except ValueError:
            url = None
        if (
            url is None
            or url.protocol not in ("http:", "https:")
            or url.username
            or url.password
            or url.search
            or url.hash
        ):
            raise InvalidInput(
                "invalid_searxng_url",
                "The SearXNG address must look like http://127.0.0.1:8888, without a password, query or fragment.",
            )
        self._url = url.href.rstrip("/").removesuffix("/search") + "/search"

    def request(self, query: Query) -> HttpRequest:
        """A GET of ``/search`` with ``format=json``."""
        # SearXNG reads leading ``:`` and ``<`` as language and time-out commands, and ``!`` as an engine.
        text = " ".join(word.lstrip("!:<") for word in shorten(query.text, MAX_QUERY_CHARS).split())
        parameters = {"q": text, "format": "json", "pageno": "1"}
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
            raise failure(
                self.name,
                "provider_json_off",
                "refuses the JSON format; add 'json' to search.formats in the instance's settings.yml.",
                status=403,
            )
        check_status(self.name, self._url, response)
        value = parse_json(self.name, response.body)
        results = value.get("results") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(results, list):
            raise self._not_a_result_list(value)
        if not results:
            self._check_engines(value.get("unresponsive_engines"))
        found = hits_of(self.name, [_row(result) for result in results], min(query.max_hits, self.max_hits))
        dated = [_with_date(hit, results[hit.rank - 1]) for hit in found]
        return Hits(dated, n_dropped=found.n_dropped)

    def time_filter(self, query: Query) -> str | None:
        """A day for an hour; SearXNG leaves out the engines that cannot filter."""
        return applied_filter(query)

    def _not_a_result_list(self, value: JsonValue) -> Exception:
        """The failure for JSON that is no result list: a message of the service, or a wrong shape."""
        said = [str(value[key]) for key in _MESSAGE_KEYS if value.get(key)] if isinstance(value, dict) else []
        if any(_QUOTA_WORDS.search(words[:1000]) for words in said):
            return failure(self.name, "provider_quota", "says that its quota or rate limit is used up.")
        if said:
            return failure(self.name, "provider_message", "answers with a message instead of results.")
        return failure(self.name, "provider_garbage", "answers with JSON that has no result list.")

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


def _row(result: JsonValue) -> Row:
    if not isinstance(result, dict):
        return Row("", "", "")
    url, title, content = (result.get(key) for key in ("url", "title", "content"))
    return Row(
        url if isinstance(url, str) else "",
        title if isinstance(title, str) else "",
        content if isinstance(content, str) else "",
    )


def _with_date(hit: Hit, result: JsonValue) -> Hit:
    """*hit* with the instant in ``publishedDate``; one without a zone is read as UTC."""
    given = result.get("publishedDate") if isinstance(result, dict) else None
    if not isinstance(given, str):
        return hit
    try:
        at = datetime.fromisoformat(given)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return hit
    return Hit(hit.url, hit.title, hit.snippet, hit.rank, hit.provider, at)
