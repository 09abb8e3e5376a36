"""What happened, in the past tense: the numbered record of a turn, and the only thing a person watching is shown.

An event is named by what it tells (``key``), so a second run of the same turn that says it again adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from firsthand.values import JsonValue

EventType = Literal[
    "TurnStarted",
    "QuestionPlanned",
    "SearchFinished",
    "SearchFailed",
    "PageKept",
    "PageFailed",
    "PassagesRanked",
    "ClaimWritten",
    "ClaimDropped",
    "AnswerFinished",
    "AnswerDelivered",
    "TurnFailed",
]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. ``key`` is unique within its turn."""

    type: EventType
    key: str
    data: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event as it is kept: ``seq`` counts from 1 in its turn, without a gap."""

    seq: int
    type: EventType
    key: str
    data: dict[str, JsonValue]
    at: str  # ISO 8601, UTC
