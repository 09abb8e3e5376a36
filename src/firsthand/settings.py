"""Every setting, once: its name with its unit, its default, one line of help. Nothing else reads the environment.

Order of precedence: ``FIRSTHAND_*`` variables, then ``$FIRSTHAND_HOME/firsthand.toml``, then the defaults here.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from firsthand.errors import InvalidInput

CONFIG_FILE = "firsthand.toml"
T = TypeVar("T")
N = TypeVar("N", int, float)


def _setting(default: T, help: str) -> T:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Settings:
    """One frozen object, made in one place."""

    home: Path
    database_url: str = _setting("", "Database address; empty: SQLite in the home folder")
    search: str = _setting("duckduckgo", "Search providers for ask, in order, separated by commas")
    searxng_url: str = _setting("", "Address of your SearXNG instance, for example http://127.0.0.1:8888")
    max_sources: int = _setting(0, "Pages read for one answer; 0: as the mode says, 5 or 10")
    max_passages: int = _setting(0, "Passages quoted in one answer; 0: as the mode says, 5 or 8")
    allow_private: str = _setting("", "host:port pairs, separated by commas, that the gate may reach although private")
    user_agent: str = _setting("", "User agent for fetching; empty: Firsthand's own")
    host_interval_s: float = _setting(1.0, "Seconds between two requests to one host")
    host_concurrency: int = _setting(2, "Requests to one host at a time")
    workers: int = _setting(0, "Extraction processes for add; 0: one a core, at most 4")
    lease_s: float = _setting(30.0, "Seconds after which a session's dead driver is replaced")


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force.

    Raises: InvalidInput for an unknown name or a value that is not of the setting's type.
    """
    environment = os.environ if environment is None else environment
    given_home = environment.get("FIRSTHAND_HOME")
    home = Path(given_home).expanduser() if given_home else _default_home(environment)
    given: dict[str, object] = {}
    config = home / CONFIG_FILE
    if config.is_file():
        try:
            given.update(tomllib.loads(config.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidInput("config_syntax", f"{config} is not valid TOML: {error}") from error
    for name, text in environment.items():
        if name.startswith("FIRSTHAND_") and name not in ("FIRSTHAND_HOME", "FIRSTHAND_FAULT"):
            given[name.removeprefix("FIRSTHAND_").lower()] = text
    known = {f.name: f for f in fields(Settings) if f.name != "home"}
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise InvalidInput(
                "unknown_setting", f"There is no setting {name!r}; 'firsthand config' lists them.", setting=name
            )
        values[name] = _convert(name, value, known[name].default)
    return Settings(home=home, **values)


def child_environment() -> dict[str, str]:
    """The environment for a process that we start."""
    return dict(os.environ)


def describe(settings: Settings) -> list[tuple[str, str, str]]:
    """Name, value in force and help of every setting, in order."""
    rows = [("home", str(settings.home), "Folder for the database and everything kept (FIRSTHAND_HOME)")]
    for f in fields(Settings):
        if f.name != "home":
            rows.append((f.name, str(getattr(settings, f.name)), f.metadata["help"]))
    return rows


def _default_home(environment: Mapping[str, str]) -> Path:
    """Where the XDG base directory specification puts a user's data."""
    data = environment.get("XDG_DATA_HOME")
    base = Path(data) if data else Path(environment.get("HOME", "~")).expanduser() / ".local" / "share"
    return base / "firsthand"


def _convert(name: str, value: object, default: object) -> object:
    """*value* in the type of *default*; a variable is text, a TOML value has a type already."""
    try:
        if isinstance(default, bool):
            if isinstance(value, bool):
                return value
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[str(value).lower()]
        if isinstance(default, int):
            return _least(int(str(value)), 0)
        if isinstance(default, float):
            return _least(float(str(value)), 1.0 if name == "lease_s" else 0.0)
        return str(value)
    except (KeyError, ValueError) as error:
        kind = _KINDS[type(default)]
        message = f"Setting {name} must be {kind}, not {value!r}."
        raise InvalidInput("invalid_setting", message, setting=name) from error


_KINDS = {bool: "true or false", int: "a whole number", float: "a number of seconds", str: "text"}
MOST = 86_400  # no count and no pause of ours is larger; a day, in seconds


def _least(value: N, least: N) -> N:
    """*value*, if it lies between *least* and ``MOST``; not a number does not."""
    if not least <= value <= MOST:
        raise ValueError(value)
    return value
