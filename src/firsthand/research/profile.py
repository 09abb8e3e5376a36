"""A profile: the numbers and choices of one kind of answer. Modes are values of this, never second loops."""

from __future__ import annotations

from dataclasses import dataclass

from firsthand.values import Mode, TimeFilter, Verify


@dataclass(frozen=True, slots=True)
class Profile:
    """How one question is answered."""

    mode: Mode = "search"
    verify: Verify = "annotate"
    cross_check: bool = False
    libraries: tuple[str, ...] | None = None  # None: whatever the libraries hold
    providers: tuple[str, ...] = ()  # "a/b": b is asked if a fails; several are fused; none: nothing leaves the process
    allow_origins: tuple[str, ...] = ()  # empty: every origin
    max_sources: int = 5  # pages read (R1)
    max_passages: int = 5  # passages quoted
    max_queries: int = 1
    time_filter: TimeFilter | None = None
    max_age_s: int = 86_400  # the oldest page that may stand in without a request
    is_age_asked_for: bool = False  # somebody asked for that age; else a page is fresh while its own site says so


def profile_for(mode: str) -> Profile:
    """The profile of a mode by its name; ``deep`` is an alias of ``research``.

    Raises: KeyError for a name that is none.
    """
    return {
        "search": Profile(),
        "news": Profile(mode="news", time_filter="week", max_age_s=3_600),
        "research": Profile(mode="research", max_sources=10, max_passages=8, max_queries=3, max_age_s=604_800),
        "deep": Profile(mode="research", max_sources=10, max_passages=8, max_queries=3, max_age_s=604_800),
    }[mode]
