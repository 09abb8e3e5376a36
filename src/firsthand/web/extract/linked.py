"""What a page's linked data (JSON-LD) says of the page itself: not of its comments, its reviews or what it lists."""

from __future__ import annotations

import html
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from firsthand.web.extract.words import prose

LD_CHARS = 500_000  # guess: longer linked data is a product catalogue
LD_NODES = 2_000  # visited at most, so nesting cannot cost more than this
MAX_AUTHORS = 10
# The ways from the outermost object to what the page is; everything else that holds things holds other things.
_INWARDS = ("@graph", "mainEntity", "mainEntityOfPage", "itemReviewed")
_ARTICLES = frozenset(["article", "report", "question", "howto", "recipe", "review", "blogposting", "comicstory", "chapter"])  # fmt: skip
_PAGES = frozenset(["webpage", "itempage", "aboutpage", "faqpage", "qapage", "medicalwebpage", "contactpage"])
_ORGANISATIONS = frozenset(["organization", "newsmediaorganization", "corporation", "localbusiness"])


@dataclass(frozen=True, slots=True)
class Linked:
    """Strings as the linked data has them, cleaned of white space; empty where it says nothing."""

    headline: str = ""
    authors: tuple[str, ...] = ()
    has_person: bool = False  # one of the authors is said to be a person, or is no organisation
    published: str = ""
    created: str = ""
    page_published: str = ""  # of the page round an article
    modified: str = ""
    publisher: str = ""
    site: str = ""
    language: str = ""
    url: str = ""


def read_linked(sources: Sequence[str], url: str = "") -> Linked:
    """What *sources*, the JSON of each script in order, say of the page at *url*.

    Of several articles the one with the page's address counts; of several without it, none: the page lists them.
    Cost: LD_NODES objects and lists are looked at, whatever the nesting.
    """
    if not sources:
        return Linked()
    tops: list[dict[str, Any]] = []
    known: dict[str, dict[str, Any]] = {}
    n_left = LD_NODES
    for source in sources:
        try:
            data = json.loads(source.strip().removesuffix(";"), strict=False)
        except (ValueError, RecursionError):
            continue
        if n_left > 0 and isinstance(data, dict | list):
            n_left -= _gather(data, tops, known, n_left)
    article = _article([thing for thing in tops if _is_article(thing)], url)
    page = next((thing for thing in tops if not _PAGES.isdisjoint(_types(thing))), {})
    main = article or page
    authors, has_person = _authors(article.get("author") or article.get("creator"), known) if article else ((), False)
    if not authors and page:
        authors, has_person = _authors(page.get("author"), known)
    publisher = main.get("publisher") or page.get("publisher")
    return Linked(
        headline=_string(article.get("headline") or article.get("name")) if article else _string(page.get("headline")),
        authors=authors,
        has_person=has_person,
        published=_string(article.get("datePublished")),
        created=_string(article.get("dateCreated")),
        page_published=_string(page.get("datePublished")),
        modified=_string(article.get("dateModified")) or _string(page.get("dateModified")),
        publisher=_name(publisher, known),
        site=_name(next((thing for thing in tops if "website" in _types(thing)), None), known),
        language=_string(main.get("inLanguage")),
        url=_string(main.get("url")),
    )


def _gather(data: Any, tops: list[dict[str, Any]], known: dict[str, dict[str, Any]], n_most: int) -> int:
    """Add what *data* is about to *tops* and every object with a name of its own to *known*; how many were visited."""
    waiting: deque[tuple[Any, bool]] = deque([(data, True)])
    n_seen = 0
    while waiting and n_seen < n_most:
        value, is_top = waiting.popleft()
        n_seen += 1
        if isinstance(value, list):
            waiting.extend((item, is_top) for item in value[:200] if isinstance(item, dict | list))
            continue
        if is_top and "@type" in value:
            tops.append(value)
        key = value.get("@id")
        if isinstance(key, str) and "name" in value:
            known.setdefault(key, value)
        for name, inner in value.items():
            if isinstance(inner, dict | list):
                waiting.append((inner, is_top and name in _INWARDS))
    return n_seen


def _article(articles: Sequence[dict[str, Any]], url: str) -> dict[str, Any]:
    """The one that the page is."""
    if len(articles) > 1 and url:
        here = [thing for thing in articles if any(_is_here(address, url) for address in _addresses(thing))]
        articles = here or articles
    if len({_string(thing.get("headline") or thing.get("name")) for thing in articles}) > 1:
        return {}
    # Two descriptions of one article are common; the one that says more is the better one.
    return max(articles, key=lambda thing: sum(key in thing for key in ("author", "datePublished")), default={})


def _is_article(thing: Mapping[str, Any]) -> bool:
    return any(
        kind in _ARTICLES or kind.endswith(("article", "posting")) for kind in _types(thing) if kind != "jobposting"
    )


def _addresses(thing: Mapping[str, Any]) -> Iterator[str]:
    for key in ("url", "@id", "mainEntityOfPage"):
        value = thing.get(key)
        if isinstance(value, dict):
            value = value.get("@id") or value.get("url")
        if isinstance(value, str):
            yield value


def _is_here(address: str, url: str) -> bool:
    try:
        one, other = urlsplit(address), urlsplit(url)
    except ValueError:
        return False
    return bool(one.path.strip("/")) and one.path.rstrip("/") == other.path.rstrip("/")


def _types(thing: Mapping[str, Any]) -> list[str]:
    kinds = thing.get("@type")
    listed = kinds if isinstance(kinds, list) else [kinds]
    return [kind.rpartition("/")[2].lower() for kind in listed[:10] if isinstance(kind, str)]


def _authors(value: Any, known: Mapping[str, dict[str, Any]]) -> tuple[tuple[str, ...], bool]:
    names: dict[str, None] = {}
    has_person = False
    for item in (value if isinstance(value, list) else [value])[:MAX_AUTHORS]:
        if isinstance(item, dict) and "name" not in item:
            item = known.get(str(item.get("@id")), item)
        name = _name(item, known)
        if name:
            names.setdefault(name)
            has_person = has_person or not (isinstance(item, dict) and not _ORGANISATIONS.isdisjoint(_types(item)))
    return tuple(names), has_person


def _name(value: Any, known: Mapping[str, dict[str, Any]]) -> str:
    """A string, or the name of an object or of the first in a list."""
    if isinstance(value, list):
        value = next((item for item in value[:5] if isinstance(item, str | dict)), None)
    if isinstance(value, dict):
        if "name" not in value:
            value = known.get(str(value.get("@id")), value)
        value = value.get("name")
        if isinstance(value, list):
            value = next((item for item in value[:5] if isinstance(item, str)), None)
    return _string(value)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    value = value[:500]
    return prose(html.unescape(value) if "&" in value else value)
