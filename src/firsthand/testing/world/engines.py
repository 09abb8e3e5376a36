"""The search engines of the world: one row each, with what it is asked and how it answers, in its own dialect.

Sources: the engines' public API references and pages, read 2026-11-30; limits and error bodies as they state them. The
unofficial pages of DuckDuckGo are as their readers describe them. Nothing here was recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from firsthand.testing.world.http import Reply, Request, json_reply


@dataclass(frozen=True, slots=True)
class Asked:
    """What an engine was asked: a query, how many hits, and how many to skip; ``given`` holds all parameters."""

    query: str
    limit: int
    first: int
    given: Mapping[str, Any]
    origin: str = ""  # where the engine was asked


@dataclass(frozen=True, slots=True)
class Row:
    """One hit that an engine shows."""

    url: str
    title: str
    snippet: str
    score: float
    number: int = 0
    text: Callable[[], str] = str  # the whole page, for engines that read it


class Refused(Exception):
    """An engine refuses what it was asked, with a status and a reason in its own words."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Engine:
    """One search engine."""

    name: str
    path: str  # where it listens, also below /NAME
    ask: Callable[[Request], Asked]
    show: Callable[[Asked, Sequence[Row]], Reply]
    refuse: Callable[[int, str], Reply]  # its own error body
    quota: Callable[[], Reply]  # 200, and a message in place of results
    trouble: Mapping[str, Callable[[Asked], Reply]]  # other ways of its own to give nothing


def asked(
    request: Request, query: str, *, limit: int, first: int = 0, max_chars: int | None = None, refusal: int = 422
) -> Asked:
    """*query* as it was asked. Raises: Refused if it is blank or longer than the engine takes."""
    if not query.strip():
        raise Refused(refusal, "A query is required.")
    if max_chars is not None and len(query) > max_chars:
        raise Refused(refusal, f"Query is too long. Max query length is {max_chars} characters.")
    return Asked(query, limit, first, request.given(), f"http://{request.host}")


def number(given: Mapping[str, Any], name: str, default: int, low: int, high: int, *, refusal: int = 422) -> int:
    """A number among the parameters. Raises: Refused if it is outside of what the engine takes."""
    try:
        value = int(given.get(name) or default)
    except (TypeError, ValueError):
        raise Refused(refusal, f"{name} must be a number.") from None
    if not low <= value <= high:
        raise Refused(refusal, f"{name} must be between {low} and {high}.")
    return value


def with_key(request: Request, header: str, prefix: str = "", *, status: int = 401) -> None:
    """Return if the request carries a key, whichever. Raises: Refused."""
    value = request.headers.get(header, "")
    if not value.startswith(prefix) or not value.removeprefix(prefix).strip():
        raise Refused(status, "Unauthorized: missing or invalid API key.")


def message(text: str = "Quota exceeded for this month.") -> Reply:
    """200 with nothing but a message."""
    return json_reply({"message": text})


def route(request: Request, engines: Sequence[Engine]) -> Engine | None:
    """The engine that *request* is for: by the engine's own path, alone or below ``/NAME``.

    Ties: of those on ``POST /search``, ``x-api-key`` makes it Exa's, other JSON Tavily's, a form SearXNG's.
    """
    path = request.path.rstrip("/") or "/"
    for engine in engines:
        if path == f"/{engine.name}{engine.path}":
            return engine
    here = [engine for engine in engines if engine.path == path]
    if len(here) < 2:
        return here[0] if here else None
    by_name = {engine.name: engine for engine in here}
    if path == "/search" and request.method == "POST" and request.is_json:
        return by_name["exa" if "x-api-key" in request.headers else "tavily"]
    if path == "/v1/search":
        return by_name["linkup" if "authorization" in request.headers else "parallel"]
    wants_json = request.given().get("format") == "json"
    return by_name["searxng" if wants_json else "searxng-html"]
