"""The error tree: three kinds, by who can act.

Error
├── CallerError          the caller can fix it
│   ├── InvalidInput     an argument, a question, a setting, a file that is not what it should be
│   ├── NotFound         no such library, answer, handle, snapshot
│   ├── NotAllowed       a policy or a permission forbids it
│   └── LimitReached     a limit of ours was met: kind, value, limit
├── OutsideError         the world refused or failed: retryable, retry_after_s, status, spent_microusd
│   ├── AddressRefused   the gate would not connect; nothing left the process
│   ├── FetchFailed      a page could not be brought
│   ├── ProviderFailed   a search provider refused or answered nonsense
│   ├── ExtractionFailed a payload could not be turned into text
│   └── StoreFailed      the disk or the database refused: full, read-only, locked, gone
└── BrokenPromise        we are wrong or someone changed our data: stop, keep everything
    ├── DigestMismatch   kept bytes are not the bytes that were kept
    ├── JournalConflict  one key, two different results
    └── LeaseLost        another process drives this session now; nothing was written

Every error has a stable ``code``, its facts in ``facts``, and one sentence a person can act on.
"""

from __future__ import annotations

from collections.abc import Mapping
from traceback import walk_tb
from typing import ClassVar

from firsthand.values import JsonValue, Outcome


class Error(Exception):
    """Anything Firsthand raises on purpose."""

    kind: ClassVar[str] = "error"

    def __init__(self, code: str, message: str, **facts: JsonValue) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.facts: Mapping[str, JsonValue] = facts

    def as_json(self) -> dict[str, JsonValue]:
        """The error as one JSON object: kind, code, message and the facts as fields."""
        return {"kind": self.kind, "code": self.code, "message": self.message, **self.facts}

    def __reduce__(self) -> tuple[object, ...]:
        """An error crosses from a worker process as it is; by default it would be made again from its message alone."""
        return _made_again, (type(self), self.args, self.__dict__)


def _made_again(kind: type[Error], args: tuple[object, ...], state: dict[str, object]) -> Error:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class CallerError(Error):
    """The caller can fix it."""

    kind = "caller"


class InvalidInput(CallerError):
    """What was given is not what is asked for."""


class NotFound(CallerError):
    """Nothing here has that name."""


class NotAllowed(CallerError):
    """A policy or a permission forbids it."""


class LimitReached(CallerError):
    """A limit was met. Facts: ``limit_kind``, ``value``, ``limit``."""

    def __init__(self, limit_kind: str, value: int, limit: int, message: str) -> None:
        super().__init__(f"limit_{limit_kind}", message, limit_kind=limit_kind, value=value, limit=limit)


class OutsideError(Error):
    """The world refused or failed. ``outcome`` is one word of the closed list."""

    kind = "outside"

    def __init__(
        self,
        outcome: Outcome,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
        spent_microusd: int = 0,
        **facts: JsonValue,
    ) -> None:
        super().__init__(
            code,
            message,
            outcome=outcome,
            retryable=retryable,
            retry_after_s=retry_after_s,
            status=status,
            spent_microusd=spent_microusd,
            **facts,
        )
        self.outcome: Outcome = outcome
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.status = status
        self.spent_microusd = spent_microusd


class AddressRefused(OutsideError):
    """The gate would not connect. The message never names a resolved address."""

    def __init__(self, code: str, message: str, **facts: JsonValue) -> None:
        super().__init__("blocked_by_policy", code, message)
        self.facts = {**self.facts, **facts}


class FetchFailed(OutsideError):
    """A page could not be brought."""


class ProviderFailed(OutsideError):
    """A search provider refused or failed; never the same as finding nothing."""


class ExtractionFailed(OutsideError):
    """A payload could not be turned into text."""


class StoreFailed(OutsideError):
    """The disk or the database refused. What was acknowledged before is kept."""

    def __init__(self, code: str, message: str, *, retryable: bool = False, **facts: JsonValue) -> None:
        super().__init__("failed", code, message, retryable=retryable)
        self.facts = {**self.facts, **facts}


class BrokenPromise(Error):
    """A promise of ours does not hold: stop, keep everything."""

    kind = "broken_promise"


class DigestMismatch(BrokenPromise):
    """Kept bytes are not the bytes that were kept. Facts: ``snapshot`` or ``text_digest``."""


class JournalConflict(BrokenPromise):
    """One key has two different results, or a final state would change."""


class LeaseLost(BrokenPromise):
    """Another process drives this session now; the write was refused."""


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error of ours in *group*, else its first exception: what a caller of one thing should see."""
    flat: list[BaseException] = []
    waiting: list[BaseException] = [group]
    while waiting:
        error = waiting.pop(0)
        if isinstance(error, BaseExceptionGroup):
            waiting += error.exceptions
        else:
            flat.append(error)
    return next((error for error in flat if isinstance(error, Error)), flat[0])


def whereabouts(error: BaseException) -> str:
    """The class of *error* and the line of ours that raised it, as ``KeyError in firsthand.web.client:31``.

    It goes where the message must not: that may hold words of a page.
    """
    places = [(frame.f_globals.get("__name__", ""), line) for frame, line in walk_tb(error.__traceback__)]
    ours = [place for place in places if place[0].partition(".")[0] == __package__] or places
    return type(error).__name__ + (f" in {ours[-1][0]}:{ours[-1][1]}" if ours else "")
