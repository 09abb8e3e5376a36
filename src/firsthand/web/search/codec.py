"""What every search provider is: a codec from a query to a request, and from a response to hits.

A codec decides and never acts: no socket, no clock, no key. Text that came from a provider goes into hits and nowhere
else; what a failure says is always our own sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import ada_url

from firsthand.errors import ProviderFailed
from firsthand.values import Hit, HttpRequest, HttpResponse, JsonValue, Outcome, Query, TimeFilter

MAX_TITLE_CHARS = 256
MAX_SNIPPET_CHARS = 2048
MAX_URL_CHARS = 4096  # guess: twice what common servers accept for a request line; longer ones are trackers

# The one table of codes that a search can end with, and the outcome each means.
OUTCOMES: dict[str, Outcome] = {
    "provider_rate_limited": "rate_limited",
    "provider_quota": "rate_limited",
    "provider_resting": "rate_limited",
    "provider_refused": "refused",
    "provider_json_off": "refused",
    "provider_message": "refused",
    "provider_no_results_container": "refused",
    "provider_challenge": "bot_wall",
    "provider_timeout": "timeout",
    "provider_too_large": "too_large",
    "provider_unreachable": "failed",
    "provider_status": "failed",
    "provider_redirected": "failed",
    "provider_garbage": "failed",
    "provider_all_engines_failed": "failed",
    "provider_missing": "failed",
    "provider_not_configured": "failed",
}
_RETRYABLE: frozenset[Outcome] = frozenset({"rate_limited", "timeout"})


class Hits(list[Hit]):
    """Hits, best first, and how many rows of the response had no usable address and were left out."""

    def __init__(self, hits: Iterable[Hit] = (), *, n_dropped: int = 0) -> None:
        super().__init__(hits)
        self.n_dropped = n_dropped


class Codec(Protocol):
    """One provider that is asked over HTTP."""

    @property
    def name(self) -> str: ...

    @property
    def max_hits(self) -> int: ...

    def request(self, query: Query) -> HttpRequest:
        """The request that asks for *query*, shortened to what the provider takes."""
        ...

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The hits in *response*, best first; empty if the provider says that it found nothing.

        Raises: ProviderFailed if it refused, or if the body is not what it promises.
        """
        ...

    def time_filter(self, query: Query) -> str | None:
        """The filter that the provider really applies; weaker than asked where it has no such filter."""
        ...


@dataclass(frozen=True, slots=True)
class Row:
    """One row as a provider gave it, unchecked."""

    url: str
    title: str
    snippet: str


def failure(
    provider: str, code: str, sentence: str, *, status: int | None = None, retry_after_s: float | None = None
) -> ProviderFailed:
    """The failure with *code*; *sentence* is ours and holds nothing that the provider sent."""
    outcome = OUTCOMES[code]
    return ProviderFailed(
        outcome,
        code,
        f"{provider}: {sentence}",
        retryable=outcome in _RETRYABLE,
        retry_after_s=retry_after_s,
        status=status,
        provider=provider,
    )


def check_status(provider: str, request_url: str, response: HttpResponse) -> None:
    """Return if *response* is a 200 from the address that was asked.

    A redirect is an error wherever it points: a search service that sends us elsewhere does not answer.
    Raises: ProviderFailed.
    """
    status = response.status
    if status in (202, 429):  # 202: DuckDuckGo's way to say "too many"
        raise failure(
            provider,
            "provider_rate_limited",
            f"asks us to slow down (HTTP {status}); wait some minutes or name another provider with --search.",
            status=status,
            retry_after_s=retry_after_s(response),
        )
    if status in (401, 403):
        raise failure(provider, "provider_refused", f"refuses this client (HTTP {status}).", status=status)
    if 300 <= status < 400 or not _same_origin(request_url, response.url):
        raise failure(
            provider, "provider_redirected", "sends us to another address; redirects are not followed.", status=status
        )
    if status != 200:
        raise failure(
            provider,
            "provider_status",
            f"answers with HTTP {status}.",
            status=status,
            retry_after_s=retry_after_s(response),
        )


def retry_after_s(response: HttpResponse) -> float | None:
    """The seconds of a Retry-After header; its date form is ignored, since a codec has no clock."""
    value = response.headers.get("retry-after", "").strip()
    return float(value) if value.isascii() and value.isdigit() and len(value) <= 6 else None


def parse_json(provider: str, body: bytes) -> JsonValue:
    """The JSON value in *body*.

    Raises: ProviderFailed, also for nesting that is too deep to parse.
    """
    try:
        value: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        raise failure(provider, "provider_garbage", "answers with something that is not JSON.") from None
    return value


def hits_of(provider: str, rows: Iterable[Row], limit: int) -> Hits:
    """Hits from *rows*, at most *limit*; a row without a usable address is dropped and counted, and keeps its rank.

    Raises: ProviderFailed if there were rows and none was usable: that is a changed layout, not "nothing found".
    """
    found = Hits()
    for rank, row in enumerate(rows, start=1):
        url = hit_url(row.url)
        if url is None:
            found.n_dropped += 1
        elif len(found) < limit:
            title = clean(row.title, MAX_TITLE_CHARS)
            found.append(Hit(url, title, clean(row.snippet, MAX_SNIPPET_CHARS), rank, provider))
    if found.n_dropped and not found:
        raise failure(provider, "provider_garbage", "answers with rows that hold no usable address.")
    return found


def hit_url(raw: str) -> str | None:
    """*raw* as a canonical http(s) address without credentials, or None.

    Parsing and serialising encodes again what a provider decoded. Source: WHATWG URL.
    """
    raw = raw.strip()
    if not raw.lower().startswith(("http://", "https://")) or len(raw) > MAX_URL_CHARS:
        return None
    try:
        url = ada_url.URL(raw)
    except ValueError:
        return None
    if url.username or url.password or not url.hostname:
        return None
    href: str = url.href
    return href


_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\u200b\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str, max_chars: int) -> str:
    """*text* on one line, without control and direction characters, cut to whole code points."""
    return " ".join(_UNPRINTABLE.sub("", text).split())[:max_chars].rstrip()


# -- What a provider takes

_QUOTED = r'"[^"\n]{1,100}"'
_TOKEN = re.compile(rf"{_QUOTED}|\S+")  # linear: two alternatives, each bounded by what it excludes
_IDENTIFIER = re.compile(r"\d|[_@:/\\]|\w[.\-+]\w|[a-z][A-Z]|[A-Z]{2}|\w[+#]")
_SENTENCE_END = (".", "!", "?", "…", "。", "！", "？")
_MAX_WORD_CHARS = 60  # guess: longer than the names people search for
_EDGES = ".,;:!?()[]{}…。、！？"


def shorten(text: str, max_chars: int, max_words: int | None = None) -> str:
    """*text* on one line in at most *max_chars* and *max_words*, cut at word borders.

    Quoted phrases and identifiers stay first, then capitalised words inside a sentence, then those that begin one,
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
        word = token.rstrip(_EDGES).lstrip(_EDGES.replace(".", ""))  # ".NET" keeps its dot
        word = word if " " not in word or len(word) <= max_chars else ""  # a phrase that does not fit goes whole
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


_COARSER: dict[TimeFilter, str] = {"hour": "day", "day": "day", "week": "week", "month": "month", "year": "year"}


def applied_filter(query: Query) -> str | None:
    """The time filter that providers without an hour apply: a day for an hour."""
    return None if query.time_filter is None else _COARSER[query.time_filter]


# Regions as DuckDuckGo names them (country-language); a language without a row asks without a region.
# Source: the region list of DuckDuckGo's settings page, as ddgs 9.16 documents it.
REGIONS = {
    "da": "dk-da", "de": "de-de", "en": "us-en", "es": "es-es", "fi": "fi-fi", "fr": "fr-fr", "it": "it-it",
    "ja": "jp-jp", "ko": "kr-kr", "nl": "nl-nl", "no": "no-no", "pl": "pl-pl", "pt": "br-pt", "ru": "ru-ru",
    "sv": "se-sv", "tr": "tr-tr", "uk": "ua-uk", "zh": "cn-zh",
}  # fmt: skip


def _same_origin(asked: str, answered: str) -> bool:
    try:
        return bool(ada_url.URL(asked).origin == ada_url.URL(answered).origin)
    except ValueError:
        return False
