"""The URL corpus through the real gate, with a resolver and a connector that only take notes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from firsthand.errors import OutsideError
from firsthand.values import HttpRequest, HttpResponse
from firsthand.web.address import Policy
from firsthand.web.client import Reading
from firsthand.web.fetch import Fetcher
from firsthand.web.gate import Admitted, Gate
from firsthand.web.limits import LIMITS, PORTS
from firsthand.web.pace import Pacer

DATA = Path(__file__).parents[1] / "data"
Row = dict[str, Any]
ROWS: dict[str, Row] = {
    row["id"]: row for row in map(json.loads, (DATA / "hostile-urls.jsonl").read_text(encoding="utf-8").splitlines())
}
DEFAULTS = json.loads((DATA / "hostile-defaults.json").read_text(encoding="utf-8"))
DNS_DEFAULT: list[str] = DEFAULTS["url"]["dns_default"]


class Resolver:
    """Answers look-ups from a row: a different answer each time, the last one for ever."""

    def __init__(self, answers: Mapping[str, list[list[str]]]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        answers: list[list[str]] = self._answers.get(host, [DNS_DEFAULT])
        self.asked.append(host)
        return answers[min(self.asked.count(host), len(answers)) - 1]


class Connector:
    """A transport that connects nowhere: it notes the addresses and serves a row's redirects, then a page."""

    def __init__(self, resolver: Resolver, redirects: Sequence[Row] = (), *, loops: bool = False) -> None:
        self.gate = Gate(resolver)
        self.limits = LIMITS
        self.user_agent = "Firsthand/0"
        self.connected: set[str] = set()
        self.n_exchanges = self.n_robots = 0
        self._redirects = redirects
        self._loops = loops

    async def exchange(
        self, admitted: Admitted, request: HttpRequest, *, total_s: float | None = None, reading: Reading | None = None
    ) -> HttpResponse:
        self.connected.update(admitted.addresses)
        if request.url.endswith("/robots.txt"):
            self.n_robots += 1
            return HttpResponse(request.url, 404, {}, b"")
        step = self.n_exchanges % len(self._redirects) if self._loops else self.n_exchanges
        self.n_exchanges += 1
        if step < len(self._redirects):
            redirect = self._redirects[step]
            return HttpResponse(admitted.target.url, redirect["status"], {"location": redirect["location"]}, b"")
        return HttpResponse(admitted.target.url, 200, {"content-type": "text/html"}, b"<p>A page.</p>")

    async def aclose(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Passed:
    """What the gate did with one row."""

    id: str
    verdict: str  # allow or deny
    code: str | None
    outcome: str
    url: str  # the final one of an allowed row
    connected: tuple[str, ...]
    asked: tuple[str, ...]  # names, in the order of their look-ups


async def passed(row: Row) -> Passed:
    """Fetch a row's URL through the real gate."""
    resolver = Resolver(row.get("dns", {}))
    connector = Connector(resolver, row.get("redirects", ()), loops=row.get("loop", False))
    fetcher = Fetcher(connector, policy_of(row), Pacer(interval_s=0))
    verdict, code, outcome, url = "allow", None, "ok", ""
    try:
        url = (await fetcher.fetch(row["url"], use_robots=False)).url
    except OutsideError as error:
        verdict, code, outcome = "deny", error.code, error.outcome
    return Passed(row["id"], verdict, code, outcome, url, tuple(sorted(connector.connected)), tuple(resolver.asked))


def faults(result: Passed) -> list[str]:
    """What is wrong with how a row ended; empty if it is all as stated."""
    row = ROWS[result.id]
    found = []
    if (result.verdict, result.code) != (row["expect"], row.get("reason")):
        found.append(f"{result.verdict} ({result.code}), not {row['expect']} ({row.get('reason')})")
    if result.outcome != stated_outcome(row):
        found.append(f"outcome {result.outcome}")
    if result.url and result.url != row.get("canonical", result.url):
        found.append(f"canonical form {result.url}")
    if "connect" in row and set(result.connected) != set(row["connect"]):
        found.append(f"connected to {result.connected}")
    if never := set(result.connected) & set(row.get("never", ())):
        found.append(f"connected to {never}")
    if result.verdict == "deny" and "redirects" not in row and result.connected:
        found.append(f"connected to {result.connected} although refused")
    if len(result.asked) != len(set(result.asked)):
        found.append(f"looked up twice: {result.asked}")
    return found


def stated_outcome(row: Row) -> str:
    """Which of the 15 outcomes a reader sees: a rule of ours refused, or a name does not exist."""
    if row["expect"] == "allow":
        return "ok"
    return "failed" if row["reason"] == "dns" else "blocked_by_policy"


def policy_of(row: Row) -> Policy:
    """The policy that a row overrides the defaults with."""
    given = row.get("policy", {})
    pairs = (pair.rsplit(":", 1) for pair in given.get("self", []))
    return Policy(
        ports=frozenset(given.get("ports", PORTS)),
        own=frozenset((address, int(port)) for address, port in pairs),
        allow_ranges=tuple(map(ip_network, given.get("allow_ranges", []))),
        deny_ranges=tuple(map(ip_network, given.get("deny_ranges", []))),
        nat64=given.get("nat64", False),
    )
