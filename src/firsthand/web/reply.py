"""What a response means: one table from fine codes to outcomes, and pure judgements of status, type and content.

Types are decided by bytes where bytes can tell (``web.sniff``), by the header else.
Walls (bot checks, consent pages, log-ins, empty script shells) are recognised in a first, cautious form: a sign of a
wall counts only when the page has next to no words of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from firsthand.errors import FetchFailed
from firsthand.values import HttpResponse, Outcome
from firsthand.web.sniff import may_hold_page, media_type_of, sniff

OUTCOME_OF_CODE: Mapping[str, Outcome] = {
    "bad_redirect": "failed",
    "bad_response": "failed",
    "bot_wall": "bot_wall",
    "connect_failed": "failed",
    "connection_lost": "failed",
    "cookie_wall": "cookie_wall",
    "decode_error": "failed",
    "dns": "failed",
    "empty": "empty",
    "http_status": "failed",  # and by status, below
    "login_wall": "refused",
    "needs_javascript": "needs_javascript",
    "other_origin": "blocked_by_policy",
    "rate_limited": "rate_limited",
    "robots": "robots",
    "robots_unreachable": "robots",
    "run_ceiling": "blocked_by_policy",
    "timeout": "timeout",
    "tls_error": "failed",
    "too_large": "too_large",
    "unsupported_type": "unsupported",
}
OUTCOME_OF_STATUS: Mapping[int, Outcome] = {
    401: "refused",
    402: "paywall",
    403: "refused",
    404: "not_found",
    407: "refused",
    410: "not_found",
    429: "rate_limited",
    451: "refused",
}
RETRIED = frozenset({429, 502, 503, 504})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
WHOLE = frozenset({200, 201, 203})  # a 206 that nobody asked for is a part, a 202 a promise

_SAMPLE_BYTES = 4096


def failed(code: str, message: str, *, status: int | None = None, retry_after_s: float | None = None) -> FetchFailed:
    """The error for *code*, with its outcome from the table and, for statuses, from the status."""
    outcome = OUTCOME_OF_CODE[code]
    if code == "http_status" and status is not None:
        outcome = OUTCOME_OF_STATUS.get(status, outcome)
    retryable = code in ("rate_limited", "timeout", "connection_lost", "connect_failed", "robots_unreachable")
    retryable = retryable or (status is not None and status >= 500 and status != 501)
    return FetchFailed(outcome, code, message, retryable=retryable, retry_after_s=retry_after_s, status=status)


def check_status(response: HttpResponse) -> None:
    """Return if the response holds a whole page by its status; walls are told apart from plain refusals.

    Raises: FetchFailed.
    """
    status = response.status
    if status in WHOLE:
        return
    if status in (204, 205):
        raise failed("empty", "The server has nothing at this address.", status=status)
    if status < 200 or status > 999:
        raise failed("bad_response", f"The server answered with status {status}, which is no answer.", status=status)
    if wall := wall_of_refusal(response):
        raise failed(wall, _WALL_SENTENCES[wall], status=status)
    if status == 429:
        raise failed("rate_limited", "The server asks to be left alone for a while.", status=status)
    raise failed("http_status", f"The server answered with status {status}.", status=status)


def retry_wait_s(response: HttpResponse, now: datetime) -> float | None:
    """How long Retry-After asks to wait: 0 for a past date, None if it is absent.

    Raises: ValueError if it is neither a number of seconds nor a date.
    """
    text = response.headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text[:12])
    moment = parsedate_to_datetime(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def check_declared_type(headers: Mapping[str, str]) -> None:
    """Refuse by the header alone what no byte could make a page, before the body is read.

    Raises: FetchFailed (``unsupported_type``).
    """
    media_type = media_type_of(headers.get("content-type"))
    if not may_hold_page(media_type):
        raise failed("unsupported_type", f"Pages of type {media_type[:80]!r} are not read.")


def check_type(response: HttpResponse) -> None:
    """Return if header and bytes agree with a page that can be read.

    Raises: FetchFailed (``empty``, ``unsupported_type``).
    """
    check_declared_type(response.headers)
    if not response.body.strip(b" \t\r\n"):
        raise failed("empty", "The page has no content.", status=response.status)
    found = sniff(response.body, content_type=response.headers.get("content-type"), url=response.url)
    if found.kind == "other":
        raise failed("unsupported_type", f"By its first bytes the body is {found.media_type}; that is not read.")


def check_walls(response: HttpResponse) -> None:
    """Return if an HTML page with a good status has words of its own, or shows no sign of a wall.

    Raises: FetchFailed (``bot_wall``, ``cookie_wall``, ``login_wall``, ``needs_javascript``).
    """
    if response.headers.get("cf-mitigated") == "challenge":
        raise failed("bot_wall", _WALL_SENTENCES["bot_wall"], status=response.status)
    if len(response.body) > _WALL_BYTES or not _looks_like_html(response.body[:_SAMPLE_BYTES]):
        return
    source = response.body.decode("utf-8", "replace").lower()
    n_words = _n_words(visible_text(source))
    if n_words > _WALL_WORDS:
        return
    wall = _sign_of_wall(source, n_words)
    if wall is None and n_words < _SHELL_WORDS and len(source) > _SHELL_CHARS and "<script" in source:
        wall = "needs_javascript"
    if wall is not None:
        raise failed(wall, _WALL_SENTENCES[wall], status=response.status)


def wall_of_refusal(response: HttpResponse) -> str | None:
    """The wall behind a refusal (status 400 and up), if its page shows one."""
    if response.headers.get("cf-mitigated") == "challenge":
        return "bot_wall"
    if response.status not in _WALL_STATUSES:
        return None
    source = response.body[:_WALL_BYTES].decode("utf-8", "replace").lower()
    wall = _sign_of_wall(source, _n_words(visible_text(source)))
    return wall if wall in ("bot_wall", "cookie_wall") else None


def visible_text(source: str) -> str:
    """A crude reading of HTML: scripts, styles, comments and tags cut out. Cost: linear, whatever the source."""
    for opening, closing in (
        ("<!--", "-->"),
        ("<script", "</script"),
        ("<style", "</style"),
        ("<noscript", "</noscript"),
    ):
        source = _cut(source, opening, closing)
    pieces = source.split("<")
    return " ".join([pieces[0], *(piece.partition(">")[2] for piece in pieces[1:])])


# Signs are lower case. Sources: challenge pages seen in public reports of crawlers; the list is meant to grow.
_BOT_SIGNS = (
    "cf-chl", "_cf_chl_opt", "just a moment...", "checking your browser", "attention required! | cloudflare",
    "captcha-delivery.com", "px-captcha", "_incapsula_resource", "awswafintegration", "anubis_challenge",
    "making sure you're not a bot", "are you a robot", "verify you are human", "unusual traffic from your",
    "sgcaptcha", "please enable js and disable any ad blocker",
)  # fmt: skip
_CONSENT_SIGNS = (
    "accept all cookies",
    "accept cookies",
    "alle akzeptieren",
    "tout accepter",
    "cookie consent",
    "consent to cookies",
)
_LOGIN_SIGN = re.compile(r"type\s{0,4}=\s{0,4}[\"']?password")  # bounded repeats: cannot run away
_WALL_STATUSES = frozenset({401, 403, 405, 406, 429, 503})
_WALL_BYTES = 512 * 1024  # a wall is small; larger pages have something to say
_WALL_WORDS = 150  # guess: challenge pages seen hold 20 to 120 words, articles more
_FORM_WORDS = 60  # guess: a page that is only a form; short real pages with a banner hold more
_SHELL_WORDS = 20
_SHELL_CHARS = 2_000
_WALL_SENTENCES = {
    "bot_wall": "The site answered with a check for robots instead of the page.",
    "cookie_wall": "The site answered with a consent form instead of the page.",
    "login_wall": "The site answered with a log-in form instead of the page.",
    "needs_javascript": "The page is empty unless its scripts are run.",
}


def _sign_of_wall(source: str, n_words: int) -> str | None:
    if any(sign in source for sign in _BOT_SIGNS):
        return "bot_wall"
    if n_words <= _FORM_WORDS and any(sign in source for sign in _CONSENT_SIGNS):
        return "cookie_wall"
    if n_words <= _FORM_WORDS and _LOGIN_SIGN.search(source):
        return "login_wall"
    return None


def _n_words(text: str) -> int:
    """Words, or what would be words: scripts without spaces count two characters as one."""
    return len(text.split()) + (len(text) - len(text.encode("ascii", "ignore"))) // 2


def _cut(source: str, opening: str, closing: str) -> str:
    """*source* without what stands from each *opening* to the next *closing*, or to the end. One pass."""
    kept: list[str] = []
    at = 0
    while (start := source.find(opening, at)) >= 0:
        kept.append(source[at:start])
        end = source.find(closing, start + len(opening))
        if end < 0:
            return "".join(kept)
        at = end + len(closing)
    kept.append(source[at:])
    return "".join(kept)


def _looks_like_html(sample: bytes) -> bool:
    head = sample.replace(b"\0", b"").lower()
    return any(
        sign in head
        for sign in (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<p", b"<div", b"<script")
    )
