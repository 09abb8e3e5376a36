"""Who wrote a page: which elements are marked as saying so, which words near a heading do, and what is no name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal

from firsthand.web.extract.dates import MONTHS

Mark = Literal["author", "author_class", "author_link", "byline", "published", "modified", "date", "headline"]
MARKED: frozenset[Mark] = frozenset(
    ["author", "author_class", "author_link", "byline", "published", "modified", "date", "headline"]
)
_ITEMPROPS: dict[str, Mark] = {
    "author": "author",
    "creator": "author",
    "datepublished": "published",
    "datecreated": "published",
    "datemodified": "modified",
    "headline": "headline",
}
# Parts of class names: one of the first, and nothing beside it but the second, so that a comment's or a card's is none.
_TOLD_BY: dict[str, Mark] = {
    "author": "author_class",
    "authors": "author_class",
    "byline": "byline",
    "bylines": "byline",
    "published": "published",
    "pubdate": "published",
    "modified": "modified",
    "date": "date",
    "datetime": "date",
    "dateline": "date",
    "timestamp": "date",
    "posted": "date",
}
_BESIDE = frozenset(
    ["a", "article", "blog", "by", "c", "detail", "details", "entry", "e", "fn", "full", "header", "hero", "info", "item",
     "js", "label", "last", "line", "link", "m", "main", "meta", "name", "names", "news", "on", "page", "p", "post", "posted",
     "posts", "publication", "publish", "published", "pub", "single", "story", "t", "text", "the", "time", "title", "u",
     "url", "value", "vcard", "wrapper", "write", "written", "wp", "block", "elementor", "by", "contributor"]
)  # fmt: skip
_AUTHOR_PAGE = r"/(?:authors?|contributors?|writers?|autor|autores|auteurs?)/[^/?#]{2,80}/?(?:[?#]|$)|[?&]author="
_PARTS = r"[A-Z]?[a-z]+|[A-Z]+|\d+"

# Patterns are compiled when a page needs them. None repeats within a repetition, and all look at 300 characters at most.
_BY = (
    r"(?:(?:article|story|post|words|text|review|reviewed|reported|posted|published|submitted|contributed|started|created)\s)?"
    r"(?:written\s|authored\s)?by(?:\s?:\s?|\s)|(?-i:By(?=[A-Z][a-z]+ [A-Z]))|thread starter\s|"
    r"(?:author(?:\(s\)|s)?|writer|words|written by)\s?:\s?|"
    r"(?:geschrieben\s|verfasst\s)?von(?:\s?:)?\s|autor(?:in|en|es|a|ka|zy)?\s?:\s?|"
    r"(?:écrit\s|publié\s|rédigé\s)?par(?:\s?:)?\s|auteure?s?\s?:\s?|(?:escrito\s|publicado\s)?por(?:\s?:)?\s|"
    r"(?:scritto\s)?(?:di|da)\s|autore\s?:\s?|(?:geschreven\s)?door(?:\s?:)?\s|(?:skriven\s)?av(?:\s?:)?\s|"
    r"(?:skrevet\s)?af\s|yazar\s?:\s?|автор\s?:\s?|(?:作者|著者|執筆者?|記者|글)\s?[:：]\s?|文\s?[:：/／]\s?"
)
_ENDS = (
    r"\s?[|•·∙●⋅—–»]\s?|\s-\s|[:;?!(\[]|\s?(?:\d{4}\b|\d{1,2}[./]\d)|\s\d|(?<=\w{3})\.\s|\bread\b|\bmin\b|"
    r"\s(?:on|in|at|for|from|posted|published|updated|last|edited|reviewed|medically|fact|photos?|am|le|el|il|op|den)\s"
)
_JOINS = r"\s*(?:,|&|;|\s(?:and|und|et|e|y|en|och|og|i|ve|и)\s)\s*"
_IS_NO_NAME = r"https?:|www\.|@|[<>{}|=\\/]|^\W*$|^\d+$|^[\w-]+(?:\.[\w-]+){2,}$"
_WEEKDAYS = frozenset(
    ["monday", "mon", "tuesday", "tue", "tues", "wednesday", "wed", "thursday", "thu", "thurs", "friday", "fri",
     "saturday", "sat", "sunday", "sun"]
)  # fmt: skip
# What stands where an author's name is looked for and names nobody.
_NOBODY = frozenset(
    ["admin", "administrator", "noc admin", "site admin", "web admin", "siteadmin", "webadmin", "super admin", "superadmin",
     "root", "user", "guest", "editor", "author", "authors", "name", "null", "none", "undefined", "unknown", "anonymous",
     "webmaster", "wordpress", "wpengine", "default", "test", "n/a", "by", "post", "posts", "about the author", "updated",
     "published", "posted", "read", "view", "share", "written by", "reviewed by", "edited by", "get in touch", "contact us",
     "follow", "staff", "team"]
)  # fmt: skip
_PARTICLES = frozenset(["de", "da", "di", "del", "der", "den", "van", "von", "la", "le", "el", "bin", "al", "dos", "du", "ten", "ter", "and", "of", "the", "y", "e", "und", "et"])  # fmt: skip
# Words that stand alone in a block and say what the next one is; a colon may follow.
_LABELS = frozenset(
    ["by", "article by", "story by", "post by", "words by", "written by", "posted by", "published by", "reported by",
     "author", "authors", "author(s)", "thread starter", "posted", "published", "updated", "modified", "posted on",
     "published on", "updated on", "modified on", "posted at", "published at", "updated at", "last updated",
     "last updated on", "last modified", "last modified on", "last reviewed", "date posted", "date published", "publish date",
     "publication date", "published date", "von", "autor", "autorin", "veröffentlicht", "veröffentlicht am", "aktualisiert",
     "aktualisiert am", "par", "auteur", "publié", "publié le", "mis à jour", "mis à jour le", "por", "publicado",
     "publicado el", "publicado em", "actualizado", "actualizado el", "atualizado em", "di", "pubblicato", "pubblicato il",
     "aggiornato il", "door", "gepubliceerd op", "作者", "発行日", "公開日", "更新日", "投稿日", "发布时间", "更新时间"]
)  # fmt: skip
MAX_NAME_CHARS = 60
MAX_AUTHOR_CHARS = 300
MAX_NAMES = 8
MAX_BYLINE_CHARS = 150
_EDGES = " ,;.|·•–—-\"'"


def mark_of(attributes: Mapping[str, str | None]) -> Mark | None:
    """Which fact of the page an element's attributes say its words are, or None.

    Cost: four look-ups in *attributes* for most elements, and one by the class, whose answer is remembered.
    """
    if "itemprop" in attributes or "rel" in attributes:
        mark = _of_words(attributes)
        if mark:
            return mark
    names = attributes.get("class")
    mark = _of_class(names) if names else None
    if mark is None and "href" in attributes:
        href = attributes["href"]
        if href and ("aut" in href or "contrib" in href or "writer" in href) and re.search(_AUTHOR_PAGE, href[:2000]):
            return "author_link"
    return mark


def _of_words(attributes: Mapping[str, str | None]) -> Mark | None:
    for name in (attributes.get("itemprop") or "").lower().split():
        if name in _ITEMPROPS:
            return _ITEMPROPS[name]
    return "author" if "author" in (attributes.get("rel") or "").lower().split() else None


@lru_cache(maxsize=8192)
def _of_class(names: str) -> Mark | None:
    # Written out, because this is asked of every class of every page: most have none of these, and cost no more.
    if not (
        "uthor" in names
        or "yline" in names
        or "date" in names
        or "Date" in names
        or "ublish" in names
        or "odified" in names
        or "stamp" in names
        or "osted" in names
    ):
        return None
    for name in names[:500].split():
        parts = [part.lower() for part in re.findall(_PARTS, name)]
        told = [part for part in parts if part in _TOLD_BY]
        if told and all(part in _TOLD_BY or part in _BESIDE or part.isdigit() for part in parts):
            marks = {_TOLD_BY[part] for part in told}
            for mark in ("byline", "author_class", "modified", "published", "date"):
                if mark in marks:
                    return mark
    return None


def declared_author(value: str) -> str:
    """*value*, which the page gives as its author, without what is no part of a name; empty if it names nobody."""
    value = value.strip(" ,;|·•–—-")
    if not value or len(value) > MAX_AUTHOR_CHARS:
        return ""
    found = _by().match(value)
    if found and found.end() < len(value):
        value = value[found.end() :].strip()
    return "" if _is_nobody(value) or not any(map(str.isalpha, value)) else value


def byline(text: str, *, needs_by: bool = True) -> str:
    """The names in words such as "By Jane Doe | 14 March 2024"; empty if they name nobody plainly.

    With *needs_by* false the words may be the name alone, for an element that is marked as the author.
    """
    text = text[:300].strip()
    found = _by().match(text)
    if not found and needs_by:
        return ""
    rest = text[found.end() :] if found else text
    end = re.search(_ENDS, rest[1:], re.IGNORECASE)
    if end:
        rest = rest[: end.start() + 1]
    rest = rest.strip(_EDGES)
    last = rest.rpartition(" ")[2].lower().rstrip(".,")
    if last in _WEEKDAYS or (end and last in MONTHS):  # of the date that follows
        rest = rest[: -len(rest.rpartition(" ")[2])].strip(_EDGES)
    names = [name for name in re.split(_JOINS, rest) if name]
    if not names or len(names) > MAX_NAMES or len(rest) > MAX_BYLINE_CHARS or _is_nobody(rest) or not is_name(names[0]):
        return ""
    return rest


@cache
def _by() -> re.Pattern[str]:
    return re.compile(_BY, re.IGNORECASE)


def _is_nobody(words: str) -> bool:
    lower = words.lower()
    return (
        lower in _NOBODY
        or lower in MONTHS
        or lower.startswith("view all posts")
        or re.search(_IS_NO_NAME, words) is not None
    )


def labelled(texts: Sequence[str]) -> list[str]:
    """*texts* with each that only says what the next one is ("By", "Posted on") put before that one."""
    joined: list[str] = []
    label = ""
    for text in texts:
        if len(text) <= 24 and text.rstrip(" :：").lower() in _LABELS:
            label = text
            continue
        joined.append(f"{label} {text}" if label else text)
        label = ""
    return joined


def is_name(words: str) -> bool:
    """Whether *words* may name a person or an office: one to six words, each but particles with a capital or without case."""
    parts = words.split()
    if not 1 <= len(parts) <= 6 or len(words) > MAX_NAME_CHARS or any(char.isdigit() for char in words):
        return False
    return all(part[0].isupper() or part[0].lower() == part[0].upper() or part.lower() in _PARTICLES for part in parts)
