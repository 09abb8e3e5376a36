"""The title of a page: its own words, without the name of the site that is glued on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

MAX_TITLE_CHARS = 300  # guess: a longer heading is a paragraph
_MOST_CHARS = 500
_ALIKE = 0.4  # F1 of the words of the first h1 and a declared title; chosen on WCXB dev, as the next
_VERY_ALIKE = 0.7  # the same for another heading, which may be a section's

# What stands between a title and the name of its site. Each alternative consumes one mark, so matching is linear.
_GLUE = r"\s(?:[|\-–—―·•»›«‹~/:]|::|\|\||--|&gt;|>)\s|\s?[|｜»]\s?|:\s|(?<=[\u3040-\u9fff])[-_–—](?=\S)|(?<=\S)_(?=[\u3040-\u9fff])|\s[-–—|]$"
_WORDS = re.compile(r"[^\W_]+")  # quick to compile, and looked for in every title


class _Site(NamedTuple):
    """How a page names its site: folded without spaces."""

    names: tuple[str, ...]
    host: tuple[str, ...]
    is_home: bool


def choose_title(
    title: str, declared: Sequence[tuple[str, str]], h1: str, headings: Iterable[str], *, sites: Sequence[str], url: str
) -> tuple[str, str] | None:
    """The title of the page and what says so: the heading that says what ``title`` or a declared title says, or these.

    Ties: the first h1 goes before other headings. A heading that is like nothing declared is a section's or the site's.
    """
    # Bounded first: every seam of a title is tried.
    title, h1 = title[:_MOST_CHARS], h1[:_MOST_CHARS]
    declared = [(value[:_MOST_CHARS], source) for value, source in declared]
    site = _site(sites, url)
    spoken = [text for text in dict.fromkeys([h1, *headings]) if text and len(text) <= MAX_TITLE_CHARS][:10]
    same = {folded(text) for text in (*spoken, *(value for value, _ in declared))}
    own = {value: own_title(value, site, same) for value in dict.fromkeys([title, *(value for value, _ in declared)])}
    bare = own[title]
    others = [(own[value], source) for value, source in declared]
    if h1 and any(folded(value) == folded(h1) for value in own.values()):  # nothing can be more alike
        return own_title(h1, site, set()), "h1"
    best, score = "", 0.0
    words = [set(folded(value).split()) for value in dict.fromkeys(own.values()) if value]
    for text in spoken:
        fit = max((_likeness(set(folded(text).split()), other) for other in words), default=0.0)
        if fit > score and fit >= (_ALIKE if text == h1 else _VERY_ALIKE):
            best, score = text, fit
    if best:
        return own_title(best, site, set()), "h1" if best == h1 else "heading"
    if bare:
        return bare, "title"
    if others:
        return others[0]
    return (h1, "h1") if h1 else None


def own_title(title: str, site: _Site, same: set[str]) -> str:
    """*title* without the site's name at its end or beginning.

    A part is the site's name if the page says so elsewhere or its host spells it; or if what remains is one of *same*,
    the folded titles that the page gives elsewhere. A title that merely holds a dash stays whole.
    """
    for _ in range(3):
        cut = _cut(title, site, same)
        if cut == title:
            break
        title = cut
    return title


@lru_cache(maxsize=256)
def folded(words: str) -> str:
    """*words* for comparing: letters and digits only, without case and compatibility forms."""
    if not words.isascii():
        words = unicodedata.normalize("NFKC", words)
    return " ".join(_WORDS.findall(words.lower()))


def _cut(title: str, site: _Site, same: set[str]) -> str:
    seams = list(re.finditer(_GLUE, title))
    if not seams:
        return title
    for seam in seams:
        if seam[0].strip() != ":" and folded(title[: seam.start()]) in same:
            return title[: seam.start()]
    first, last = seams[0], seams[-1]
    for seam in reversed(seams):
        if _is_site(title[: seam.start()], site) and folded(title[seam.end() :]) in same:
            return title[seam.end() :]
    if site.is_home and "|" not in last[0] + first[0]:  # "Name - what it is for": there the name is the title
        return title
    if last[0].strip() != ":" and _is_site(title[last.end() :], site, is_glued="|" in last[0]):
        return title[: last.start()]
    if first[0].strip() != ":" and _is_site(title[: first.start()], site):
        return title[first.end() :]
    return title


def _is_site(part: str, site: _Site, *, is_glued: bool = False) -> bool:
    """Whether *part* of a title names the site; *is_glued*: behind an upright stroke, where little else stands."""
    compact = _compact(part)
    if not compact:
        return not part.strip()
    if compact in site.names or compact in site.host:
        return True
    least = 3 if is_glued else 4
    if len(part.split()) > 7 or len(compact) < least:
        return False
    return any(
        len(name) >= least and (compact.startswith(name) or compact.endswith(name) or compact in name)
        for name in (*site.names, *site.host)
    )


def _site(sites: Sequence[str], url: str) -> _Site:
    try:
        parts = urlsplit(url)
        host, is_home = (parts.hostname or "").removeprefix("www."), parts.path in ("", "/") and not parts.query
    except ValueError:
        host, is_home = "", False
    labels = [host, *(label for label in host.split(".")[:-1] if len(label) > 2)] if host else []
    return _Site(
        tuple(name for name in map(_compact, dict.fromkeys(sites)) if name), tuple(map(_compact, labels)), is_home
    )


def _compact(words: str) -> str:
    return folded(words).removeprefix("the ").replace(" ", "")


def _likeness(one: set[str], other: set[str]) -> float:
    """F1 of the different words of two titles."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
