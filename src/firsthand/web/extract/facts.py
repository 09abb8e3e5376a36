"""What a page says about itself: title, author, dates, language, addresses. Each is the page's claim, not ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from firsthand.web.extract.drafts import prose

_LD_CHARS = 500_000  # guess: longer linked data is a product catalogue
_LD_NODES = 2_000  # visited at most, so nesting cannot cost more than this
MAX_LINKS = 2_000  # links_max of the hostile corpora's defaults
_DATE = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ](\d{2}:\d{2}(?::\d{2})?(?:\.\d{1,9})?)\s?(Z|[+-]\d{2}:?\d{2})?)?"
)
_COMPACT_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T|$)")
_PUBLISHED = ("article:published_time", "datepublished", "date", "dc.date", "dc.date.issued", "dcterms.created", "dcterms.issued",
              "pubdate", "publishdate", "publish-date", "parsely-pub-date", "sailthru.date", "og:published_time", "citation_publication_date")  # fmt: skip
_MODIFIED = (
    "article:modified_time",
    "datemodified",
    "og:updated_time",
    "last-modified",
    "dcterms.modified",
    "dc.date.modified",
    "lastmod",
)
_AUTHORS = (
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "byl",
    "citation_author",
    "sailthru.author",
)
_ARTICLES = ("article", "newsarticle", "blogposting", "webpage", "report", "techarticle", "scholarlyarticle", "reportagenewsarticle",
             "socialmediaposting", "discussionforumposting", "qapage", "product", "recipe")  # fmt: skip


class Facts:
    """Gathers, during the walk, what elements say about the page."""

    def __init__(self, url: str) -> None:
        self.base = url
        self.title = ""
        self.heading = ""  # the first h1, should there be no title
        self.language: str | None = None
        self._url = url
        self._has_base = False
        self._meta: dict[str, str] = {}
        self._canonical: str | None = None
        self._linked_data: list[str] = []
        self._times: list[str] = []
        self._links: dict[str, None] = {}
        self._seen_links: set[str] = set()

    def set_base(self, href: str) -> None:
        """Take the first ``base`` as what relative addresses are relative to."""
        absolute = _absolute(self._url, href)
        if absolute and not self._has_base:
            self.base, self._has_base = absolute, True

    def add_meta(self, attributes: Mapping[str, str | None]) -> None:
        name = (
            attributes.get("property")
            or attributes.get("name")
            or attributes.get("itemprop")
            or attributes.get("http-equiv")
        )
        content = attributes.get("content")
        if name and content and len(self._meta) < 500:
            self._meta.setdefault(name.strip().lower(), prose(content[:2000]))

    def add_link_element(self, attributes: Mapping[str, str | None]) -> None:
        if (
            "canonical" in (attributes.get("rel") or "").lower().split()
            and attributes.get("href")
            and self._canonical is None
        ):
            self._canonical = _absolute(self.base, attributes["href"] or "")

    def add_linked_data(self, source: str) -> None:
        if len(source) <= _LD_CHARS and len(self._linked_data) < 20:
            self._linked_data.append(source)

    def add_time(self, attributes: Mapping[str, str | None]) -> None:
        if attributes.get("datetime") and len(self._times) < 50:
            self._times.append((attributes["datetime"] or "")[:100])

    def add_link(self, href: str) -> None:
        if href[:1] == "#" or href in self._seen_links or len(self._seen_links) >= MAX_LINKS:
            return
        self._seen_links.add(href)
        absolute = _absolute(self.base, href)
        if absolute:
            self._links.setdefault(absolute)

    @property
    def links(self) -> tuple[str, ...]:
        """The absolute addresses of the links, in order, each once."""
        return tuple(self._links)

    def as_fields(self) -> dict[str, Any]:
        """The fields of a Text that these facts fill."""
        linked = _from_linked_data(self._linked_data)
        published = self._first_date(_PUBLISHED) or iso_date(linked.get("datePublished", ""))
        if published is None and len(set(self._times)) == 1:  # one time element: its date; several: comments, teasers
            published = iso_date(self._times[0])
        language = (
            (self.language or self._meta.get("content-language") or self._meta.get("og:locale") or "").strip().lower()
        )
        author = next((self._meta[name] for name in _AUTHORS if self._meta.get(name)), "") or linked.get("author", "")
        return {
            "title": self.title or self.heading or self._meta.get("og:title", ""),
            "language": language[:2] if re.match(r"[a-z]{2}(?:[-_]|$)", language) else None,
            "author": None if not author or author.startswith(("http://", "https://")) else author[:300],
            "published_at": published,
            "modified_at": self._first_date(_MODIFIED) or iso_date(linked.get("dateModified", "")),
            "canonical_url": self._canonical,
            "site_name": self._meta.get("og:site_name")
            or self._meta.get("application-name")
            or linked.get("publisher")
            or None,
            "links": tuple(self._links),
        }

    def _first_date(self, names: tuple[str, ...]) -> str | None:
        return next((date for name in names if (date := iso_date(self._meta.get(name, "")))), None)


def iso_date(value: str) -> str | None:
    """*value* as ISO 8601, date or date and time, if it holds a plausible one."""
    value = value.strip()[:100]
    found = _DATE.search(value) or _COMPACT_DATE.match(value)
    if not found:
        return None
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    if not (1900 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= 31):
        return None
    date = f"{year:04d}-{month:02d}-{day:02d}"
    time = found[4] if found.re is _DATE else None
    return f"{date}T{time}{found[5] or ''}" if time else date


def _absolute(base: str, href: str) -> str | None:
    """*href* as an absolute http(s) address without fragment, or None."""
    href = href.strip()
    if not href or len(href) > 2000:
        return None
    try:
        absolute = urljoin(base, href).partition("#")[0]
        parts = urlsplit(absolute)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return None
    except ValueError:  # brackets that hold no IPv6 address, and their like
        return None
    return absolute.replace(" ", "%20")


def _from_linked_data(sources: list[str]) -> dict[str, str]:
    """Dates, author and publisher of the first thing in the page's JSON-LD that is a page or an article."""
    for source in sources:
        try:
            data = json.loads(source.strip())
        except (ValueError, RecursionError):
            continue
        for thing in _things(data):
            kinds = thing.get("@type")
            names = kinds if isinstance(kinds, list) else [kinds]
            if any(isinstance(name, str) and name.lower() in _ARTICLES for name in names):
                fields = {
                    key: _name(thing.get(key)) for key in ("datePublished", "dateModified", "author", "publisher")
                }
                if any(fields.values()):
                    return {key: value for key, value in fields.items() if value}
    return {}


def _things(data: Any) -> Iterator[dict[str, Any]]:
    """Every object in *data*, outer ones first, without recursion."""
    waiting, n_seen = [data], 0
    while waiting and n_seen < _LD_NODES:
        value = waiting.pop(0)
        n_seen += 1
        if isinstance(value, dict):
            yield value
            waiting.extend(inner for inner in value.values() if isinstance(inner, dict | list))
        elif isinstance(value, list):
            waiting.extend(value[:200])


def _name(value: Any) -> str:
    """A string, an object's name, or the names in a list."""
    if isinstance(value, str):
        return prose(value[:300])
    if isinstance(value, dict):
        return _name(value.get("name")) if isinstance(value.get("name"), str) else ""
    if isinstance(value, list):
        return ", ".join(name for item in value[:5] if isinstance(item, str | dict) and (name := _name(item)))
    return ""
