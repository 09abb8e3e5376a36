"""What a response means: one table from fine codes to outcomes, and pure judgements of status, type and content.

Types are decided by bytes where bytes can tell (``web.sniff``), by the header else.
What comes instead of a page is told by ``web.recognise``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from firsthand.errors import FetchFailed
from firsthand.values import HttpResponse, Outcome
from firsthand.web.extract.failure import OUTCOMES as EXTRACTION_OUTCOMES
from firsthand.web.sniff import may_hold_page, media_type_of, sniff

if TYPE_CHECKING:
    from firsthand.web.recognise import Wall

OUTCOME_OF_CODE: Mapping[str, Outcome] = {
    **EXTRACTION_OUTCOMES,
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
    "parked": "not_found",
    "paywall": "paywall",
    "rate_limited": "rate_limited",
    "render_failed": "failed",
    "render_timeout": "timeout",
    "robots": "robots",
    "robots_unreachable": "robots",
    "run_ceiling": "blocked_by_policy",
    "soft_404": "not_found",
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
    999: "refused",  # what one large network answers to programs
}
_PASSING = frozenset({"rate_limited", "timeout", "connection_lost", "connect_failed", "robots_unreachable"})
_BLANKS = b" \t\r\n"
RETRIED = frozenset({429, 502, 503, 504})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
WHOLE = frozenset({200, 201, 203})  # a 206 that nobody asked for is a part, a 202 a promise


def failed(
    code: str,
    message: str,
    *,
    status: int | None = None,
    retry_after_s: float | None = None,
    retryable: bool = False,
) -> FetchFailed:
    """The error for *code*, with its outcome from the table and, for statuses, from the status.

    *retryable* is for what only the caller can tell; some codes and statuses are it anyway.
    """
    outcome = OUTCOME_OF_CODE[code]
    if code == "http_status" and status is not None:
        outcome = OUTCOME_OF_STATUS.get(status, outcome)
    retryable = (
        retryable
        or code in _PASSING
        or (status is not None and status >= 500 and status != 501 and code == "http_status")
    )
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
        raise failed(wall.code, wall.sentence, status=status)
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
    if not (response.body[:80].strip(_BLANKS) or response.body.strip(_BLANKS)):  # few are blank; most need no copy
        raise failed("empty", "The page has no content.", status=response.status)
    found = sniff(response.body, content_type=response.headers.get("content-type"), url=response.url)
    if found.kind == "other":
        raise failed("unsupported_type", f"By its first bytes the body is {found.media_type}; that is not read.")


def check_walls(response: HttpResponse, *, asked: str = "") -> None:
    """Return if what came with a good status is the page and nothing instead of it. *asked*: before redirects.

    Raises: FetchFailed with the code and the sentence of ``web.recognise``.
    """
    from firsthand.web.recognise import recognise  # patterns and phrases: 4 ms that only a fetch pays

    if wall := recognise(response, asked=asked):
        raise failed(wall.code, wall.sentence, status=response.status)


def wall_of_refusal(response: HttpResponse) -> Wall | None:
    """The wall behind a refusal, if its page shows one; a request that met one is not sent again."""
    from firsthand.web.recognise import recognise

    return recognise(response)
