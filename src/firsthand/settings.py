"""Every setting, once: its name with its unit, its default, one line of help. Nothing else reads the environment.

Order of precedence: ``FIRSTHAND_*`` variables, then ``$FIRSTHAND_HOME/firsthand.toml``, then the defaults here.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from firsthand.errors import InvalidInput

CONFIG_FILE = "firsthand.toml"
MASK = "********"  # what is shown of a secret
_PASSWORD = re.compile(r"(://[^:/?#@\s]{0,200}):[^@/?#\s]{0,500}@")  # of an address, such as the database's
T = TypeVar("T")
N = TypeVar("N", int, float)


def _setting(default: T, help: str, *, is_secret: bool = False) -> T:
    return field(default=default, repr=not is_secret, metadata={"help": help, "is_secret": is_secret})


def _key(service: str) -> str:
    return _setting("", f"Key for {service}; empty: it is not asked", is_secret=True)


def _base_url(service: str) -> str:
    return _setting("", f"Address of a gateway or a copy to ask instead of {service}; empty: the service itself")


@dataclass(frozen=True, slots=True)
class Settings:
    """One frozen object, made in one place."""

    home: Path
    database_url: str = _setting("", "Database address; empty: SQLite in the home folder")
    search: str = _setting("duckduckgo", "Search providers for ask: a,b asks both and fuses; a/b asks b if a fails")
    searxng_url: str = _setting("", "Address of your SearXNG instance, for example http://127.0.0.1:8888")
    mediawiki_url: str = _setting("", "Address of the wiki that 'mediawiki' searches; empty: Wikipedia")
    brave_api_key: str = _key("Brave Search")
    exa_api_key: str = _key("Exa")
    tavily_api_key: str = _key("Tavily")
    linkup_api_key: str = _key("Linkup")
    parallel_api_key: str = _key("Parallel Search")
    duckduckgo_url: str = _base_url("DuckDuckGo's page")
    brave_url: str = _base_url("Brave Search")
    exa_url: str = _base_url("Exa")
    tavily_url: str = _base_url("Tavily")
    linkup_url: str = _base_url("Linkup")
    parallel_url: str = _base_url("Parallel Search")
    search_timeout_s: float = _setting(15.0, "Seconds that one search provider may take, everything included")
    in_doubt: str = _setting("ask", "A paid call that may have been made before a crash: ask, repeat or skip it")
    max_sources: int = _setting(0, "Pages read for one answer; 0: as the mode says, 5 or 10")
    max_passages: int = _setting(0, "Passages quoted in one answer; 0: as the mode says, 5 or 8")
    allow_private: str = _setting("", "host:port pairs, separated by commas, that the gate may reach although private")
    user_agent: str = _setting("", "User agent for fetching; empty: Firsthand's own")
    browser: bool = _setting(
        False, "Render pages that are empty without their scripts in Chromium: on or off (needs firsthand[browser])"
    )
    browser_path: str = _setting("", "Chromium's program; empty: looked for where it usually is")
    host_interval_s: float = _setting(1.0, "Seconds between two requests to one host")
    host_concurrency: int = _setting(2, "Requests to one host at a time")
    run_requests_max: int = _setting(
        1_000, "Requests to sites that one answer, or keeping one site, may send, robots files included"
    )
    max_age_s: int | None = _setting(
        None, "Seconds for which a kept page stands in without a request; empty: what its site's Cache-Control says"
    )
    workers: int = _setting(0, "Extraction processes for add; 0: one a core, at most 4")
    lease_s: float = _setting(30.0, "Seconds after which a session's dead driver is replaced")


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force.

    Raises: InvalidInput for an unknown name or a value that is not of the setting's type.
    """
    settings, mistakes = read_settings(environment)
    if mistakes:
        raise mistakes[0]
    return settings


def read_settings(environment: Mapping[str, str] | None = None) -> tuple[Settings, list[InvalidInput]]:
    """The settings, and every mistake in what was given: a setting with a mistake has its default."""
    environment = os.environ if environment is None else environment
    given_home = environment.get("FIRSTHAND_HOME")
    home = Path(given_home).expanduser() if given_home else _default_home(environment)
    mistakes: list[InvalidInput] = []
    given: list[tuple[str, str, object]] = []  # what it is called where it was found, the setting, its value
    config = home / CONFIG_FILE
    if config.is_file():
        try:
            given += [(name, name, value) for name, value in tomllib.loads(config.read_text(encoding="utf-8")).items()]
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            mistakes.append(InvalidInput("config_syntax", f"{config} is not valid TOML: {error}"))
    for name, text in environment.items():
        if name.startswith("FIRSTHAND_") and name not in ("FIRSTHAND_HOME", "FIRSTHAND_FAULT"):
            given.append((name, name.removeprefix("FIRSTHAND_").lower(), text))
    known = {f.name: f for f in fields(Settings) if f.name != "home"}
    chosen = {name: (called, value) for called, name, value in given}  # the last one wins: a variable over the file
    values: dict[str, Any] = {}
    for name, (called, value) in chosen.items():
        try:
            if name not in known:
                message = f"There is no setting {called}; 'firsthand config' lists them."
                raise InvalidInput("unknown_setting", message, setting=name)
            is_secret = known[name].metadata["is_secret"]
            values[name] = _secret(name, value) if is_secret else _convert(name, value, known[name].default)
        except InvalidInput as mistake:
            mistakes.append(mistake)
    if values.get("in_doubt", "ask") not in ("ask", "repeat", "skip"):
        del values["in_doubt"]
        message = "Setting in_doubt must be ask, repeat or skip."
        mistakes.append(InvalidInput("invalid_setting", message, setting="in_doubt"))
    return Settings(home=home, **values), mistakes


def _secret(name: str, value: object) -> str:
    """*value* as a secret that can stand in a header. No message repeats any of it. Raises: InvalidInput."""
    text = value.strip() if isinstance(value, str) else ""
    if not isinstance(value, str) or not all("!" <= character <= "~" for character in text):
        message = f"Setting {name} holds a space or a character that no key has; copy the key again."
        raise InvalidInput("invalid_setting", message, setting=name)
    return text


def child_environment() -> dict[str, str]:
    """The environment for a process that we start: it reads no setting of ours, and no key goes along."""
    return {name: value for name, value in os.environ.items() if not name.startswith("FIRSTHAND_")}


def describe(settings: Settings) -> list[tuple[str, str, str]]:
    """Name, value in force and help of every setting, in order; of a secret only whether there is one."""
    rows = [("home", str(settings.home), "Folder for the database and everything kept (FIRSTHAND_HOME)")]
    for f in fields(Settings):
        if f.name != "home":
            held = getattr(settings, f.name)
            value = "" if held is None else str(held)
            shown = MASK if value and f.metadata["is_secret"] else _PASSWORD.sub(rf"\1:{MASK}@", value)
            rows.append((f.name, shown, f.metadata["help"]))
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
            return _SAID[str(value).lower()]
        if default is None:
            return None if value == "" else _least(int(str(value)), 0, most=LONGEST_S)
        if isinstance(default, int):
            return _least(int(str(value)), 0)
        if isinstance(default, float):
            return _least(float(str(value)), 1.0 if name == "lease_s" else 0.0)
        return str(value)
    except (KeyError, ValueError) as error:
        kind = _KINDS[type(default)]
        message = f"Setting {name} must be {kind}, not {value!r}."
        raise InvalidInput("invalid_setting", message, setting=name) from error


_SAID = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)
_KINDS = {
    bool: "on or off",
    int: "a whole number",
    float: "a number of seconds",
    str: "text",
    type(None): "a whole number of seconds, or empty",
}
MOST = 86_400  # no count and no pause of ours is larger; a day, in seconds
LONGEST_S = 31_536_000  # a kept page that stands in for longer than a year is a library's, not a fetch


def _least(value: N, least: N, most: int = MOST) -> N:
    """*value*, if it lies between *least* and *most*; not a number does not."""
    if not least <= value <= most:
        raise ValueError(value)
    return value
