"""How a question is put to a provider: cut to its limits, its ``site:`` words read, its time filter weakened. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from firsthand.values import Query, TimeFilter
from firsthand.web.search.reading import clean

Clock = Callable[[], datetime]
"""Says what time it is, aware. A provider that filters by date needs one; without it no filter is asked for."""

_QUOTED = r'"[^"\n]{1,100}"'
_CHOICE = r"\(\w{1,20}:\S{1,100}(?: OR \w{1,20}:\S{1,100}){1,20}\)"  # (site:a.org OR site:b.org)
_TOKEN = re.compile(rf"{_QUOTED}|{_CHOICE}|\S+")  # linear: each alternative is bounded or stops at what it excludes
_IDENTIFIER = re.compile(r"\d|[_@:/\\]|\w[.\-+]\w|[a-z][A-Z]|[A-Z]{2}|\w[+#]")
_SENTENCE_END = (".", "!", "?", "…", "。", "！", "？")
_MAX_WORD_CHARS = 60  # guess: longer than the names people search for
_EDGES = ".,;:!?()[]{}…。、！？"


def shorten(text: str, max_chars: int, max_words: int | None = None) -> str:
    """*text* on one line in at most *max_chars* and *max_words*, cut at word borders.

    Quoted phrases, choices between operators and identifiers stay first, then capitalised words inside a sentence, then those that begin one,
    then the rest from the front; the order of the words stays. A longer text also loses its repeated words. Words that
    a search service takes for a command (``!bang``, a leading backslash) lose their sign, because it redirects.
    """
    text = " ".join(word.lstrip("!\\") for word in clean(text, len(text)).split())
    text = " ".join(text.split())
    if len(text) <= max_chars and (max_words is None or len(text.split()) <= max_words):
        return text
    ranked: dict[str, tuple[int, int, str]] = {}  # by the word without its case: importance, position, word
    begins = True
    for position, token in enumerate(_TOKEN.findall(text)):
        word = token if " OR " in token else _bare(token)
        word = word if " " not in word or len(word) <= max_chars else ""  # what does not fit as a whole goes as a whole
        if word:
            importance, known = _importance(word, begins), ranked.get(word.casefold())
            first = position if known is None else known[1]
            if known is None or importance < known[0]:
                ranked[word.casefold()] = (importance, first, word[:max_chars])
        begins = token.endswith(_SENTENCE_END)
    kept: list[tuple[int, str]] = []
    n_chars, n_words = -1, 0
    for _, position, word in sorted(ranked.values()):
        length, words = len(word) + 1, len(word.split())
        if n_chars + length <= max_chars and (max_words is None or n_words + words <= max_words):
            kept.append((position, word))
            n_chars, n_words = n_chars + length, n_words + words
    return " ".join(word for _, word in sorted(kept))


def _bare(token: str) -> str:
    """*token* without the punctuation around it; ".NET" keeps its dot."""
    return token.rstrip(_EDGES).lstrip(_EDGES.replace(".", ""))


def _importance(word: str, begins_sentence: bool) -> int:
    """0 for what must stay, 3 for what may go, 4 for what is no word at all."""
    if word.startswith('"') and word.endswith('"') and len(word) > 2:
        return 0
    if len(word) > _MAX_WORD_CHARS:
        return 4 if word.isascii() else 3  # a key or a digest; or a sentence in a script without spaces
    if _IDENTIFIER.search(word):
        return 0
    if word[:1].isupper():
        return 2 if begins_sentence else 1
    return 3


_SITE = re.compile(r"(?<!\S)site:([a-z0-9](?:[a-z0-9.\-]{0,251}[a-z0-9])?(?:/[\w.~%\-/]{0,200})?)(?!\S)", re.IGNORECASE)


def split_sites(text: str) -> tuple[str, list[str]]:
    """*text* without its ``site:host`` words, and those hosts: for providers that take them in a field of their own.

    A text of nothing but such words keeps the hosts as plain words, since no provider searches for nothing.
    """
    hosts = list(dict.fromkeys(host.lower().rstrip("/") for host in _SITE.findall(text)))
    rest = " ".join(_SITE.sub(" ", text).split())
    return rest or " ".join(hosts), hosts


_COARSER: dict[TimeFilter, str] = {"hour": "day", "day": "day", "week": "week", "month": "month", "year": "year"}


def applied_filter(query: Query) -> str | None:
    """The time filter that providers without an hour apply: a day for an hour."""
    return None if query.time_filter is None else _COARSER[query.time_filter]


_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}  # long enough for every month and year


def since(query: Query, clock: Clock | None) -> str | None:
    """The first day that *query*'s time filter lets through, as YYYY-MM-DD; None without a filter or a clock."""
    applied = applied_filter(query)
    if applied is None or clock is None:
        return None
    return (clock() - timedelta(days=_DAYS[applied])).date().isoformat()


# Regions as DuckDuckGo names them (country-language); a language without a row asks without a region.
# Source: the region list of DuckDuckGo's settings page, as ddgs 9.16 documents it.
REGIONS = {
    "da": "dk-da", "de": "de-de", "en": "us-en", "es": "es-es", "fi": "fi-fi", "fr": "fr-fr", "it": "it-it",
    "ja": "jp-jp", "ko": "kr-kr", "nl": "nl-nl", "no": "no-no", "pl": "pl-pl", "pt": "br-pt", "ru": "ru-ru",
    "sv": "se-sv", "tr": "tr-tr", "uk": "ua-uk", "zh": "cn-zh",
}  # fmt: skip
