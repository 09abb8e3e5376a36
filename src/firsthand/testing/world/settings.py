"""What can be set about a world: its waits, its robots.txt, and who misbehaves how. A run begins with new settings."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from firsthand.testing.world.trouble import Trouble, parse

ROBOTS = "User-agent: *\nAllow: /\n"


@dataclass(frozen=True, slots=True)
class Result:
    """A hit that was set. An empty title or snippet is the page's own, if it is one of the world."""

    url: str  # or the path of a page
    title: str = ""
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run; all waits are nought by default.

    ``trouble`` says who misbehaves: the key is a path (``/site/a.html``), a host and a path (``127.0.0.3/robots.txt``),
    an engine (``brave``), a host (``127.0.0.3``) or a kind (``page``, ``search``, ``model``, ``embed``), and the first
    of these that is there counts. The value is one trouble, or a list of them to have one after the other.

    ``found`` says what a search finds, whatever its pages hold: the key is a part of the query in any case, the first
    that fits counts, and the empty key fits every query. A result is a page's path, an address, or an object with
    ``url``, ``title`` and ``snippet``. A query that no key fits is searched for in the pages.
    """

    run: str = "run"  # names the run in the log
    search_ms: float = 0.0
    page_ms: float = 0.0
    page_kbps: float = 0.0  # 0: unlimited
    first_token_ms: float = 0.0
    tokens_per_s: float = 0.0  # 0: unlimited
    embed_ms: float = 0.0
    jitter: float = 0.0  # 0.3: a wait lies between 0.7 and 1.3 times its setting, the same for the same request
    snippet_words: int = 40
    robots: str = ROBOTS  # of every host; empty: none of them has one
    trouble: Mapping[str, Sequence[Trouble]] = field(default_factory=dict)
    found: Mapping[str, Sequence[Result]] = field(default_factory=dict)

    def latency_s(self, base_ms: float, key: str) -> float:
        """*base_ms* with the jitter of *key*, in seconds."""
        unit = zlib.crc32(key.encode()) / 0xFFFFFFFF * 2 - 1
        return base_ms / 1000 * (1 + self.jitter * unit)

    def results(self, query: str) -> Sequence[Result] | None:
        """What was set to be found for *query*; None if nothing was."""
        asked = query.casefold()
        return next((results for part, results in self.found.items() if part.casefold() in asked), None)

    def as_json(self) -> dict[str, Any]:
        """The settings as ``/reset`` takes them."""
        trouble = {where: [str(one) for one in several] for where, several in self.trouble.items()}
        found = {part: [asdict(one) for one in several] for part, several in self.found.items()}
        plain = {name: getattr(self, name) for name in NAMES}
        return {**plain, "trouble": trouble, "found": found}


NAMES = tuple(one.name for one in fields(Settings))
NUMBERS = tuple(one.name for one in fields(Settings) if one.type in ("float", "int"))


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Settings from names and plain values, as Python, JSON or a command line gives them.

    Raises: ValueError for a name that is none, a number that is none, or a trouble that nobody knows.
    """
    if unknown := sorted(set(given) - set(NAMES)):
        raise ValueError(f"There is no setting {unknown[0]!r}; there are {', '.join(NAMES)}.")
    made: dict[str, Any] = dict(given)
    for name in NUMBERS:
        if name in made:
            made[name] = int(made[name]) if name == "snippet_words" else float(made[name])
    made["trouble"] = {where: _several(value) for where, value in dict(given.get("trouble") or {}).items()}
    made["found"] = {part: tuple(map(_result, several)) for part, several in dict(given.get("found") or {}).items()}
    return Settings(**made)


def _several(value: Any) -> tuple[Trouble, ...]:
    several = [value] if isinstance(value, str | Trouble) else value
    return tuple(one if isinstance(one, Trouble) else parse(one) for one in several)


def _result(value: Any) -> Result:
    if isinstance(value, Result):
        return value
    if isinstance(value, str):
        return Result(value)
    if not isinstance(value, Mapping) or not value.get("url") or set(value) - {"url", "title", "snippet"}:
        raise ValueError("A result is a path, an address, or an object with url, title and snippet.")
    return Result(str(value["url"]), str(value.get("title", "")), str(value.get("snippet", "")))
