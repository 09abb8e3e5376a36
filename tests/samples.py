"""Values that several tests need: one answer with everything in it."""

from __future__ import annotations

from firsthand.values import Answer, Citation, Claim, Engine, Failure, Source, Usage

SNAPSHOT = "sha256:" + "ab" * 32
TEXT_DIGEST = "sha256:" + "cd" * 32


def citation(**changes: object) -> Citation:
    """A good citation, with some fields changed."""
    fields: dict[str, object] = {
        "source": 1,
        "url": "https://example.org/limits.html",
        "quote": "at most 64 tables",
        "prefix": "A join has ",
        "suffix": ", it says.",
        "snapshot": SNAPSHOT,
        "text_digest": TEXT_DIGEST,
        "start": 11,
        "end": 28,
        "verdict": "exact",
        "support": "supported",
        "score": 1.0,
        "method": "verbatim",
    }
    return Citation(**{**fields, **changes})  # type: ignore[arg-type]


def answer(**changes: object) -> Answer:
    """An answered question with one claim, with some fields changed."""
    fields: dict[str, object] = {
        "id": "ans-abcdefghijklmnop",
        "question": "How many tables?",
        "language": "en",
        "mode": "search",
        "verify": "annotate",
        "status": "answered",
        "text": "at most 64 tables [1](https://example.org/limits.html)\n",
        "claims": (Claim("at most 64 tables", 0, 17, (citation(),)),),
        "sources": (
            Source(
                1,
                "https://example.org/limits.html",
                "Limits",
                "example.org",
                "2026-11-30T00:00:00Z",
                None,
                SNAPSHOT,
                "text/html",
            ),
        ),
        "missing": (),
        "conflicts": (),
        "limitations": ("Only one site was read.",),
        "failures": (Failure("fetch", "https://example.org/gone", "not_found", "The server answered 404."),),
        "omitted": (),
        "follow_ups": (),
        "usage": Usage(searches=1, fetches=2),
        "elapsed_ms": 12,
        "engine": Engine("0.1.0", None, "firsthand-blocks/1", ("duckduckgo",)),
    }
    return Answer(**{**fields, **changes})  # type: ignore[arg-type]
