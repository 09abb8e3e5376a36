"""Asking again for a page that is kept: with what, and what an answer of 304 makes of it. RFC 9110, section 13.

Only validators that the site itself gave for the same address go along, and only if they are spelled as the standard
says: a kept header never becomes another one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

NOT_MODIFIED = 304
ETAG_MAX_CHARS = 512  # guess: real ones have 10 to 80; a longer one is a way to recognise us, not a page
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
_HTTP_DATE = re.compile(  # the one form that may be sent, section 5.6.7
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT"
)


def conditions(headers: Mapping[str, str]) -> dict[str, str]:
    """The request headers that ask for a page only if it changed since it came with *headers*; none if it cannot be."""
    etag, modified = headers.get("etag", "").strip(), headers.get("last-modified", "").strip()
    asked: dict[str, str] = {}
    if len(etag) <= ETAG_MAX_CHARS and _ETAG.fullmatch(etag):
        asked["If-None-Match"] = etag
    if _HTTP_DATE.fullmatch(modified):
        asked["If-Modified-Since"] = modified
    return asked


def validator_of(asked: Mapping[str, str]) -> str:
    """The condition that an answer of 304 confirmed, as one line: the stronger one, if both went along."""
    name = "If-None-Match" if "If-None-Match" in asked else "If-Modified-Since"
    return f"{name}: {asked[name]}"


def freshened(kept: Mapping[str, str], said: Mapping[str, str]) -> dict[str, str]:
    """The headers of a kept page with what a 304 says anew (RFC 9111, section 3.2).

    What describes the payload stays as it came with the payload: some servers call every 304 a page of plain text.
    """
    return {**kept, **{name: value for name, value in said.items() if not name.startswith("content-")}}


def said_fresh_s(headers: Mapping[str, str]) -> float:
    """For how long the site itself says that a page which came with *headers* is fresh; 0 if it does not say.

    Only ``Cache-Control: max-age`` counts (the smallest of several), less the ``Age`` it had when it came: RFC 9111,
    section 4.2. What a site does not say is not guessed.
    """
    said: list[float] = []
    for directive in headers.get("cache-control", "").lower().split(","):
        name, _, value = (part.strip() for part in directive.partition("="))
        if name in ("no-store", "no-cache"):
            return 0.0
        digits = value.strip('"')
        if name == "max-age" and digits.isascii() and digits.isdigit():
            said.append(float(digits[:12]))
    age = headers.get("age", "").strip()
    age_s = float(age[:12]) if age.isascii() and age.isdigit() else 0.0
    return max(0.0, min(said) - age_s) if said else 0.0


def is_older(at: datetime, now: datetime, max_age_s: float) -> bool:
    """Whether what was fetched *at* may no longer stand for the page; a time in the future (a clock that jumped) may not."""
    return not 0 <= (now - at).total_seconds() < max_age_s
