"""The gate: the URL corpus through it, and what it looks up."""

from __future__ import annotations

import pytest

from firsthand.errors import FetchFailed, OutsideError
from firsthand.web.address import Policy, judge
from firsthand.web.fetch import Fetcher
from firsthand.web.gate import Gate, system_lookup
from firsthand.web.pace import Pacer
from tests.trust.urls import ROWS, Connector, Passed, Resolver, faults, passed


def test_corpus_has_its_rows() -> None:
    denied = [row for row in ROWS.values() if row["expect"] == "deny"]
    assert (len(ROWS), len(denied)) == (362, 277)
    assert all("reason" in row for row in denied)


@pytest.mark.parametrize("row_id", sorted(ROWS))
async def test_hostile_url_has_its_stated_verdict_and_touches_only_stated_addresses(row_id: str) -> None:
    assert faults(await passed(ROWS[row_id])) == []


@pytest.mark.parametrize(
    "wrong",
    [
        Passed("{deny}", "allow", None, "ok", "http://a/", ("127.0.0.1",), ()),
        Passed("{deny}", "deny", "port", "blocked_by_policy", "", (), ()),
        Passed("{deny}", "deny", "address", "failed", "", (), ()),
        Passed("{deny}", "deny", "address", "blocked_by_policy", "", ("127.0.0.1",), ()),
        Passed("{deny}", "deny", "address", "blocked_by_policy", "", (), ("a.example", "a.example")),
    ],
)
def test_each_kind_of_fault_is_noticed(wrong: Passed) -> None:
    row = next(row for row in ROWS.values() if row.get("reason") == "address" and "redirects" not in row)
    right = Passed(row["id"], "deny", "address", "blocked_by_policy", "", (), ("a.example",))
    assert faults(right) == []
    found = Passed(row["id"], wrong.verdict, wrong.code, wrong.outcome, wrong.url, wrong.connected, wrong.asked)
    assert faults(found)


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
