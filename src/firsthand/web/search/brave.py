"""Brave Search, by its API: an index of its own, with a key.

Source: api-dashboard.search.brave.com, web search API reference and rate limiting (read 2026-11-30).
"""

from __future__ import annotations

from urllib.parse import urlencode

from firsthand.values import HttpRequest, HttpResponse, JsonValue, Query
from firsthand.web.search.codec import (
    Hits,
    Row,
    api_key,
    base_address,
    check_status,
    failure,
    hits_of,
    key_refused,
    parse_json,
    result_list,
    row_of,
    stated_code,
)
from firsthand.web.search.facts import FACTS
from firsthand.web.search.phrasing import applied_filter, shorten
from firsthand.web.search.reading import plain

URL = "https://api.search.brave.com"
_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
# Languages whose code at Brave is not ours; the rest of what it knows. Another code would be refused with 422.
_OTHER_CODE = {"ja": "jp", "no": "nb", "pt": "pt-br", "zh": "zh-hans"}
_SAME_CODE = frozenset({
    "ar", "bg", "bn", "ca", "cs", "da", "de", "en", "es", "et", "eu", "fi", "fr", "gl", "gu", "he", "hi", "hr", "hu",
    "is", "it", "kn", "ko", "lt", "lv", "ml", "mr", "ms", "nb", "nl", "pa", "pl", "ro", "ru", "sk", "sl", "sr", "sv",
    "ta", "te", "th", "tr", "uk", "vi",
})  # fmt: skip
_DAY_S = 86_400  # a window that takes longer to open again is the plan's month, not a busy moment


class Brave:
    """Web results only; news, videos and infoboxes are left out."""

    name = "brave"
    facts = FACTS[name]
    max_hits = facts.max_hits

    def __init__(self, key: str, *, base_url: str = URL) -> None:
        """Raises: InvalidInput for a key that no header can carry, or an address that is not plain http(s)."""
        self._key = api_key(self.name, key)
        self._url = base_address(base_url, "Brave", URL) + "/res/v1/web/search"

    def request(self, query: Query) -> HttpRequest:
        """A GET with the key in ``X-Subscription-Token``."""
        parameters = {
            "q": shorten(query.text, self.facts.max_query_chars, self.facts.max_query_words),
            "count": str(min(query.max_hits, self.max_hits)),
            "safesearch": self.facts.safe_search,
            "text_decorations": "false",
            "result_filter": "web",
        }
        language = query.language or ""
        if language in _OTHER_CODE or language in _SAME_CODE:
            parameters["search_lang"] = _OTHER_CODE.get(language, language)
        applied = self.time_filter(query)
        if applied is not None:
            parameters["freshness"] = _FRESHNESS[applied]
        headers = {"accept": "application/json", "x-subscription-token": self._key}
        return HttpRequest("GET", f"{self._url}?{urlencode(parameters)}", headers)

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The web results, in Brave's order, with the date it gives a page.

        Raises: ProviderFailed.
        """
        if stated_code(response, "error", "code").startswith("SUBSCRIPTION_TOKEN_"):  # comes with 422
            raise key_refused(self.name, response.status)
        if response.status == 429:
            self._check_windows(response)
        check_status(self.name, self._url, response)
        value = parse_json(self.name, response)
        if _found_nothing(value):
            return Hits()
        results = result_list(self.name, value, "web", "results")
        return hits_of(self.name, map(_row, results), min(query.max_hits, self.max_hits))

    def time_filter(self, query: Query) -> str | None:
        """A day for an hour; the others as asked."""
        return applied_filter(query)

    def _check_windows(self, response: HttpResponse) -> None:
        """Raise with the time until the used-up window opens again: Brave says it in headers of its own.

        ``X-RateLimit-Remaining: 0, 1200`` and ``X-RateLimit-Reset: 1, 1419704`` are a second and a month.
        """
        remaining, reset = (
            _numbers(response.headers.get(f"x-ratelimit-{name}", "")) for name in ("remaining", "reset")
        )
        waits = [wait for left, wait in zip(remaining, reset, strict=False) if left == 0]
        if not waits:
            return
        is_used_up = max(waits) > _DAY_S
        code = "provider_quota" if is_used_up else "provider_rate_limited"
        sentence = "the plan's requests are used up." if is_used_up else "asks us to slow down (HTTP 429)."
        raise failure(self.name, code, sentence, status=429, retry_after_s=float(max(waits)))


def _found_nothing(value: JsonValue) -> bool:
    """A search without web results: Brave leaves the whole ``web`` part out then."""
    return isinstance(value, dict) and value.get("type") == "search" and "query" in value and value.get("web") is None


def _row(result: JsonValue) -> Row:
    row = row_of(result, url="url", title="title", snippet="description", published="page_age")
    return Row(row.url, plain(row.title), plain(row.snippet), row.published)


def _numbers(text: str) -> list[int]:
    """The whole numbers of a comma list, at most ten digits each; none if any entry is something else."""
    parts = [part.strip() for part in text.split(",")]
    return [int(part) for part in parts] if all(p.isascii() and p.isdigit() and len(p) <= 10 for p in parts) else []
