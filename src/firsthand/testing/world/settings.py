"""What can be set about a world: its waits, its robots.txt, and who misbehaves how. A run begins with new settings."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from firsthand.testing.world.trouble import Trouble, parse

ROBOTS = "User-agent: *\nAllow: /\n"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run; all waits are nought by default.

    ``trouble`` says who misbehaves: the key is a path (``/site/a.html``), a host and a path (``127.0.0.3/robots.txt``),
    an engine (``brave``), a host (``127.0.0.3``) or a kind (``page``, ``search``, ``model``, ``embed``), and the first
    of these that is there counts. The value is one trouble, or a list of them to have one after the other.
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

    def latency_s(self, base_ms: float, key: str) -> float:
        """*base_ms* with the jitter of *key*, in seconds."""
        unit = zlib.crc32(key.encode()) / 0xFFFFFFFF * 2 - 1
        return base_ms / 1000 * (1 + self.jitter * unit)

    def as_json(self) -> dict[str, Any]:
        """The settings as ``/reset`` takes them."""
        trouble = {where: [str(one) for one in several] for where, several in self.trouble.items()}
        return {**asdict(self), "trouble": trouble}


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
    return Settings(**made)


def _several(value: Any) -> tuple[Trouble, ...]:
    several = [value] if isinstance(value, str | Trouble) else value
    return tuple(one if isinstance(one, Trouble) else parse(one) for one in several)
