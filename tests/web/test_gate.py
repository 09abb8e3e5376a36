"""The URL corpus through the real gate, with a resolver and a connector that only take notes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from firsthand.errors import FetchFailed, OutsideError
from firsthand.values import HttpRequest, HttpResponse
from firsthand.web.address import Policy, judge
from firsthand.web.client import Reading
from firsthand.web.fetch import Fetcher
from firsthand.web.gate import Admitted, Gate, system_lookup
from firsthand.web.limits import LIMITS, PORTS
from firsthand.web.pace import Pacer

DATA = Path(__file__).parents[1] / "data"
ROWS = [json.loads(line) for line in (DATA / "hostile-urls.jsonl").read_text(encoding="utf-8").splitlines()]
DNS_DEFAULT = json.loads((DATA / "hostile-defaults.json").read_text(encoding="utf-8"))["url"]["dns_default"]


class Resolver:
    """Answers look-ups from a row: a different answer each time, the last one for ever."""

    def __init__(self, answers: dict[str, list[list[str]]]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        answers: list[list[str]] = self._answers.get(host, [DNS_DEFAULT])
        self.asked.append(host)
        return answers[min(self.asked.count(host), len(answers)) - 1]


class Connector:
    """A transport that connects nowhere: it notes the addresses and serves a row's redirects, then a page."""

    def __init__(
        self, resolver: Resolver, redirects: list[dict[str, Any]] | None = None, *, loops: bool = False
    ) -> None:
        self.gate = Gate(resolver)
        self.limits = LIMITS
        self.user_agent = "Firsthand/0"
        self.connected: set[str] = set()
        self.n_exchanges = self.n_robots = 0
        self._redirects = redirects or []
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


def policy_of(row: dict[str, Any]) -> Policy:
    given = row.get("policy", {})
    pairs = (pair.rsplit(":", 1) for pair in given.get("self", []))
    return Policy(
        ports=frozenset(given.get("ports", PORTS)),
        own=frozenset((address, int(port)) for address, port in pairs),
        allow_ranges=tuple(map(ip_network, given.get("allow_ranges", []))),
        deny_ranges=tuple(map(ip_network, given.get("deny_ranges", []))),
        nat64=given.get("nat64", False),
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
async def test_hostile_url_has_its_stated_verdict_and_touches_only_stated_addresses(row: dict[str, Any]) -> None:
    resolver = Resolver(row.get("dns", {}))
    connector = Connector(resolver, row.get("redirects"), loops=row.get("loop", False))
    fetcher = Fetcher(connector, policy_of(row), Pacer(interval_s=0))
    verdict, reason, final_url = "allow", None, ""
    try:
        final_url = (await fetcher.fetch(row["url"], use_robots=False)).url
    except OutsideError as error:
        verdict, reason = "deny", error.code
    assert (verdict, reason) == (row["expect"], row.get("reason"))
    assert final_url == row.get("canonical", final_url)
    if "connect" in row:
        assert connector.connected == set(row["connect"])
    assert not connector.connected & set(row.get("never", ()))
    if verdict == "deny" and "redirects" not in row:
        assert connector.connected == set()
    assert all(resolver.asked.count(host) == 1 for host in resolver.asked)


async def test_name_is_looked_up_once_a_fetch_and_again_in_the_next() -> None:
    resolver = Resolver({"a.example.com": [["93.184.216.34"], ["127.0.0.1"]]})
    connector = Connector(resolver, [{"status": 302, "location": "/b"}])
    fetcher = Fetcher(connector, Policy(), Pacer(interval_s=0))
    page = await fetcher.fetch("http://a.example.com/")
    assert page.url == "http://a.example.com/b"
    assert (connector.n_robots, connector.n_exchanges, resolver.asked) == (1, 2, ["a.example.com"])
    with pytest.raises(OutsideError) as refused:
        await fetcher.fetch("http://a.example.com/")
    assert refused.value.code == "address"
    assert connector.connected == {"93.184.216.34"}


async def test_resolver_that_breaks_is_a_failure_of_the_outside() -> None:
    async def broken(host: str) -> list[str]:
        raise OSError("no network")

    with pytest.raises(FetchFailed) as failure:
        await Gate(broken).admit(judge("http://a.example.com/", Policy()), Policy())
    assert (failure.value.code, failure.value.outcome, failure.value.retryable) == ("dns", "failed", True)


async def test_system_resolver_knows_this_machine() -> None:
    assert "127.0.0.1" in await system_lookup("localhost")
