"""Words, addresses, dates and amounts as a provider sends them, made safe to keep or turned down. Pure.

Every function here takes anything and answers in linear time.
"""

from __future__ import annotations

import html
import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import ada_url

from firsthand.values import JsonValue

MAX_URL_CHARS = 4096  # guess: twice what common servers accept for a request line; longer ones are trackers


def text_of(value: JsonValue) -> str:
    """*value* if it is text; the texts in it, one after the other, if it is a list; else nothing."""
    if isinstance(value, list):
        return " … ".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


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


# Controls, zero-width space and word joiner, directions (marks, embeddings, overrides, isolates), invisible operators,
# byte-order mark, half pairs, and the tag block that hides ASCII. Joiners stay: Persian and emoji are written with them.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean(text: str, max_chars: int) -> str:
    """*text* on one line, without control and direction characters, cut to whole code points."""
    return " ".join(_UNPRINTABLE.sub("", text).split())[:max_chars].rstrip()


_MARKS = re.compile(r"</?(?:strong|b|em|i|mark|span)(?:\s[^<>]{0,200})?>", re.IGNORECASE)  # linear: stops at < and >


def plain(markup: str) -> str:
    """The text of a title or snippet that a provider sends as HTML: its emphasis gone, its entities read once."""
    return html.unescape(_MARKS.sub("", markup))


def instant(text: str) -> datetime | None:
    """The moment in *text*, in UTC: ISO 8601, a plain day, or an HTTP date; None for anything else.

    A moment without a zone is read as UTC, a day as its beginning.
    """
    text = text.strip()
    if not 8 <= len(text) <= 64:
        return None
    try:
        at = datetime.fromisoformat(text) if text[:4].isdigit() else parsedate_to_datetime(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def microusd(dollars: JsonValue, unit_microusd: int = 1_000_000) -> int | None:
    """An amount that a provider states, in micro-dollars; None if it is no amount that one search can cost."""
    if isinstance(dollars, bool) or not isinstance(dollars, (int, float)) or not math.isfinite(dollars):
        return None
    amount = round(dollars * unit_microusd)
    return amount if 0 <= amount <= 100_000_000 else None  # guess: a search for a hundred dollars is a mistake
