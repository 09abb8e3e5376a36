"""What can go wrong with a payload: fine codes, the outcome of each, and the error that carries both."""

from __future__ import annotations

from collections.abc import Mapping

from firsthand.errors import ExtractionFailed
from firsthand.values import JsonValue, Outcome

OUTCOMES: Mapping[str, Outcome] = {
    "needs_javascript": "needs_javascript",
    "no_text": "empty",
    "parse_error": "failed",  # damaged, or not what it says it is
    "parse_limit": "failed",  # sound perhaps, but larger, deeper or slower than a page may be
    "pdf_encrypted": "refused",
    "pdf_scanned": "unsupported",
    "unsupported_type": "unsupported",
}


def unreadable(code: str, message: str, **facts: JsonValue) -> ExtractionFailed:
    """The error for *code*, with its outcome from the table."""
    error = ExtractionFailed(OUTCOMES[code], code, message)
    error.facts = {**error.facts, **facts}
    return error
