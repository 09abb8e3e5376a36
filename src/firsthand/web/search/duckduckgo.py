"""DuckDuckGo's page for browsers without scripts, read directly.

Source: the public page at html.duckduckgo.com and published descriptions of its form (read 2026-11-30). There is no
promise behind it: whatever is not clearly a list of results or a clear "nothing found" counts as a refusal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urlsplit

from firsthand.values import HttpRequest, HttpResponse, Query
from firsthand.web.search.codec import Hits, Row, base_address, check_status, failure, hits_of
from firsthand.web.search.facts import FACTS
from firsthand.web.search.phrasing import REGIONS, applied_filter, shorten

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

URL = "https://html.duckduckgo.com/html/"
_DF = {"day": "d", "week": "w", "month": "m", "year": "y"}


class DuckDuckGoHtml:
    """DuckDuckGo without a key."""

    name = "duckduckgo-html"
    facts = FACTS[name]
    max_hits = facts.max_hits  # one page; further pages need a token and are what its bot wall looks for

    def __init__(self, base_url: str = URL) -> None:
        """*base_url* is where the page is, with or without its path.

        Raises: InvalidInput for an address that is not plain http(s).
        """
        self._url = base_address(base_url, "DuckDuckGo", URL).removesuffix("/html") + "/html/"

    def request(self, query: Query) -> HttpRequest:
        """A form, sent as the page itself would send it."""
        form = {"q": shorten(query.text, self.facts.max_query_chars), "b": ""}
        if query.language in REGIONS:
            form["kl"] = REGIONS[query.language]
        applied = self.time_filter(query)
        if applied is not None:
            form["df"] = _DF[applied]
        headers = {"content-type": "application/x-www-form-urlencoded", "referer": self._url, "accept": "text/html"}
        return HttpRequest("POST", self._url, headers, urlencode(form).encode())

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The organic results of the page, advertisements left out.

        Raises: ProviderFailed.
        """
        from selectolax.lexbor import LexborHTMLParser  # this process parses HTML nowhere else

        check_status(self.name, self._url, response)
        tree = LexborHTMLParser(response.body.decode("utf-8", "replace"))
        if tree.css_first("form#challenge-form, .anomaly-modal__title") is not None:
            raise failure(
                self.name,
                "provider_challenge",
                "asks whether we are human; wait an hour or name another provider with --search.",
                status=response.status,
            )
        container = tree.css_first("#links")
        if container is None:
            raise failure(
                self.name, "provider_no_results_container", "answers with a page that is not a list of results."
            )
        rows = [row for block in container.css("div.web-result") if (row := _row(block)) is not None]
        is_explained = container.css_first(".no-results, .result--no-result, .result--ad") is not None
        if not rows and not is_explained:
            raise failure(self.name, "provider_garbage", "answers with an empty list that does not say it is empty.")
        return hits_of(self.name, rows, min(query.max_hits, self.max_hits))

    def time_filter(self, query: Query) -> str | None:
        """A day for an hour; the others as asked."""
        return applied_filter(query)


def _row(block: LexborNode) -> Row | None:
    """The result in *block*; None for an advertisement and for the "no results" block."""
    classes = (block.attributes.get("class") or "").split()
    if "result--ad" in classes or "result--no-result" in classes:
        return None
    link = block.css_first("h2 > a.result__a")
    if link is None:
        return Row("", "", "")
    url = _unwrap(link.attributes.get("href") or "")
    if url is None:
        return None
    snippet = block.css_first(".result__snippet")
    return Row(url, link.text(), "" if snippet is None else snippet.text())


def _unwrap(href: str) -> str | None:
    """The address behind a redirect link ``/l/?uddg=``; None for an advertisement link (``y.js``)."""
    try:
        parts = urlsplit(href)
        host = parts.hostname or "duckduckgo.com"
    except ValueError:
        return href
    if host != "duckduckgo.com" and not host.endswith(".duckduckgo.com"):
        return href
    if parts.path == "/y.js":
        return None
    if parts.path.rstrip("/") != "/l":
        return href
    try:
        target = parse_qs(parts.query, max_num_fields=50).get("uddg", [""])[0]
    except ValueError:
        return ""
    return None if _path_at_duckduckgo(target) == "/y.js" else target


def _path_at_duckduckgo(url: str) -> str:
    """The path of an address on DuckDuckGo itself; empty for every other address."""
    try:
        parts = urlsplit(url)
        return parts.path if (parts.hostname or "").endswith("duckduckgo.com") else ""
    except ValueError:
        return ""
