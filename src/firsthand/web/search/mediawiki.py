"""A MediaWiki: Wikipedia in the question's language, or a wiki of the operator's own.

Source: mediawiki.org, API:Search, API:Siteinfo, API:Errors and Help:CirrusSearch (read 2026-11-30). The address of an
article is not in a search result; the wiki's own description of itself, asked for in the same request, says how to
make it from the title.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode, urljoin

from firsthand.values import HttpRequest, HttpResponse, JsonValue, Query
from firsthand.web.search.codec import (
    Hits,
    Row,
    base_address,
    check_status,
    hits_of,
    parse_json,
    result_list,
    row_of,
)
from firsthand.web.search.facts import FACTS
from firsthand.web.search.phrasing import REGIONS, shorten
from firsthand.web.search.reading import plain

WIKIPEDIA = "https://{language}.wikipedia.org/w/api.php"
_TITLE_SAFE = "/:@!$*(),;~"  # what MediaWiki itself leaves as it is in an address; Manual:PAGENAMEE encoding


class MediaWiki:
    """Full-text search of one wiki. It needs no key and has no time filter."""

    name = "mediawiki"
    facts = FACTS[name]
    max_hits = facts.max_hits

    def __init__(self, base_url: str = "") -> None:
        """*base_url* is the address of a wiki's ``api.php``; empty: Wikipedia.

        Raises: InvalidInput for an address that is not plain http(s).
        """
        base = base_address(base_url, "MediaWiki", "https://en.wikipedia.org/w/api.php") if base_url else ""
        self._url = base if not base or base.endswith("/api.php") else base + "/api.php"

    def request(self, query: Query) -> HttpRequest:
        """A GET of ``list=search`` with the wiki's description beside it."""
        parameters = {
            "action": "query",
            "list": "search",
            "srsearch": shorten(query.text, self.facts.max_query_chars),
            "srlimit": str(min(query.max_hits, self.max_hits)),
            "srprop": "snippet",
            "meta": "siteinfo",
            "siprop": "general",
            "format": "json",
            "formatversion": "2",
        }
        return HttpRequest("GET", f"{self._address(query)}?{urlencode(parameters)}", {"accept": "application/json"})

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The articles, in the wiki's order. The day of the last edit is no date of publication and is left out.

        Raises: ProviderFailed.
        """
        url = self._address(query)
        check_status(self.name, url, response)
        value = parse_json(self.name, response)
        results = result_list(self.name, value, "query", "search")
        article = _article_address(value, url)
        rows = (_row(result, article) for result in results)
        return hits_of(self.name, rows, min(query.max_hits, self.max_hits))

    def time_filter(self, query: Query) -> str | None:
        """None: a wiki has no such filter."""
        return None

    def _address(self, query: Query) -> str:
        if self._url:
            return self._url
        return WIKIPEDIA.format(language=query.language if query.language in REGIONS else "en")


def _article_address(value: JsonValue, api_url: str) -> str:
    """The address of an article, with ``$1`` for its title: as the wiki says, or by the script that is always there."""
    at: JsonValue = value
    for key in ("query", "general"):
        at = at.get(key) if isinstance(at, dict) else None
    server, path = (at.get("server"), at.get("articlepath")) if isinstance(at, dict) else (None, None)
    if isinstance(server, str) and isinstance(path, str) and "$1" in path:
        try:
            return urljoin(urljoin(api_url, server + "/"), path)
        except ValueError:
            pass
    return api_url.removesuffix("/api.php") + "/index.php?title=$1"


def _row(result: JsonValue, article: str) -> Row:
    row = row_of(result, url="title", title="title", snippet="snippet")
    name = row.url.encode("utf-8", "ignore").decode().replace(" ", "_")
    return Row(article.replace("$1", quote(name, safe=_TITLE_SAFE)) if name else "", row.title, plain(row.snippet))
