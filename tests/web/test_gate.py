"""The gate: the URL corpus through it, and what it looks up."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from firsthand.errors import FetchFailed, OutsideError
from firsthand.web import gate
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


async def test_refused_address_is_said_to_be_that_although_the_site_has_a_robots_file_to_ask_for() -> None:
    for answers, code, outcome in (
        (["93.184.216.34", "127.0.0.1"], "address", "blocked_by_policy"),
        ([], "dns", "failed"),
    ):
        connector = Connector(Resolver({"a.example.com": [answers]}))
        with pytest.raises(OutsideError) as refused:
            await Fetcher(connector, Policy(), Pacer(interval_s=0)).fetch("http://a.example.com/")
        assert (refused.value.code, refused.value.outcome, connector.n_robots) == (code, outcome, 0)


async def test_system_resolver_knows_this_machine() -> None:
    assert "127.0.0.1" in await system_lookup("localhost")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the system's resolver is asked; it knows no name."""
    names: list[str] = []

    def knows_none(host: str, *_: object, **__: object) -> list[object]:
        names.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", knows_none)
    return names


async def test_name_that_does_not_exist_is_asked_for_once_and_under_no_other_name(asked: list[str]) -> None:
    assert await system_lookup("gone.example.com") == []
    assert asked == ["gone.example.com."]  # the root dot keeps the machine's search domains out


async def test_hosts_file_is_believed_before_the_resolver_and_read_again_when_it_changes(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "hosts"
    monkeypatch.setattr(gate, "HOSTS_FILE", file)
    assert await system_lookup("wiki.example.com") == []
    file.write_text("# ours\n2001:db8::7 wiki.example.com\n192.0.2.7\tWiki.Example.com. wiki # the wiki\n\n")
    assert await system_lookup("wiki.example.com") == ["192.0.2.7", "2001:db8::7"]
    file.write_text("192.0.2.8 wiki.example.com other.example.com")
    assert await system_lookup("wiki.example.com") == ["192.0.2.8"]
    assert asked == ["wiki.example.com."]


def test_resolver_that_hangs_costs_its_fetch_and_not_the_exit() -> None:
    code = (
        "import asyncio, socket, threading\n"
        "from dataclasses import replace\n"
        "from firsthand.errors import FetchFailed\n"
        "from firsthand.web.address import Policy, judge\n"
        "from firsthand.web.gate import Gate\n"
        "from firsthand.web.limits import LIMITS\n"
        "socket.getaddrinfo = lambda *_, **__: threading.Event().wait()\n"
        "gate = Gate(limits=replace(LIMITS, connect_s=0.05))\n"
        "try:\n    asyncio.run(gate.admit(judge('http://a.example.com/', Policy()), Policy()))\n"
        "except FetchFailed as error:\n    print(error.code)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("timeout\n", "")
