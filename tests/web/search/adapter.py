"""What a provider is to the contract suite: put it in a scenario, search, look at what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from firsthand.ports import Searched
from firsthand.values import HttpRequest, HttpResponse, Outcome, Query
from firsthand.web.search import Codec, Ddgs, Providers

DATA = Path(__file__).parents[2] / "data" / "search"
EXPECTED: list[list[str]] = json.loads((DATA / "expected.json").read_text())["rows"]


class Adapter(Protocol):
    """One provider under test."""

    name: str
    failures: Mapping[str, tuple[Outcome, str]]
    """Scenarios that must fail, each with the outcome and the code it must have."""
    not_possible: frozenset[str] = frozenset()
    """Of ``malformed_hit``, ``truncated``, ``long_hit``, ``hostile``, ``hang``, ``retry_after``, ``time_filter``."""

    def set_up(self, scenario: str) -> None:
        """Be in *scenario* from now on: ``results``, ``empty``, one of ``failures``, or a possible one of the above."""

    async def search(self, query: Query) -> Searched:
        """Ask once."""

    def expected(self) -> list[tuple[str, str]]:
        """Address and title of each row of ``results``."""

    def asked_text(self) -> str:
        """The query's text as it left us last."""

    def asked_filter(self) -> str | None:
        """The time filter as it left us last, in the provider's own spelling."""

    def n_asked(self) -> int:
        """How often the provider was asked."""


Scenario = tuple[int, str | bytes, Mapping[str, str]]
"""Status, the name of a recorded body or a body made on the spot, and headers."""


class OverHttp:
    """A codec whose sender plays recorded bodies."""

    not_possible: frozenset[str] = frozenset()

    def __init__(self, codec: Codec, scenarios: Mapping[str, Scenario]) -> None:
        self.name = codec.name
        self.codec = codec
        self._scenarios = scenarios
        self._scenario = "results"
        self.sent: list[HttpRequest] = []
        table = {codec.name: codec}
        self._providers = {
            is_hanging: Providers(table, Ddgs({}), timeout_s=0.01 if is_hanging else 15) for is_hanging in (False, True)
        }

    def set_up(self, scenario: str) -> None:
        self._scenario = scenario

    async def search(self, query: Query) -> Searched:
        return await self._providers[self._scenario == "hang"].search_one(self.name, query, self._send)

    def expected(self) -> list[tuple[str, str]]:
        return [(url, title) for url, title, _ in EXPECTED]

    def n_asked(self) -> int:
        return len(self.sent)

    async def _send(self, request: HttpRequest) -> HttpResponse:
        self.sent.append(request)
        if self._scenario == "hang":
            await asyncio.Event().wait()
        status, body, headers = self._scenarios[self._scenario]
        url = headers.get("x-final-url", request.url)
        if isinstance(body, str):
            body = (DATA / self.name / body).read_bytes()
        return HttpResponse(url, status, headers, body)
