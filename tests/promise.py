"""One thing that Firsthand owes, and how the maps of them say it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Promise:
    """One thing we owe. ``tests`` show it; ``reason`` says why nothing can show it yet. Exactly one of the two."""

    text: str
    source: str
    tests: tuple[str, ...] = ()
    reason: str | None = None


def owed(text: str, *tests: str) -> Promise:
    """What *tests* show."""
    return Promise(text, "", tests)


def later(text: str, reason: str) -> Promise:
    """What nothing shows yet, and why."""
    return Promise(text, "", (), reason)


def rows_of(source: str, promises: dict[str, Promise]) -> dict[str, Promise]:
    """*promises* that *source* asks for."""
    return {id: replace(promise, source=source) for id, promise in promises.items()}
