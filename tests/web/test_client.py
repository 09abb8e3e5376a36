"""What leaves the process, as a server on loopback sees it."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from firsthand.errors import AddressRefused, FetchFailed, InvalidInput
from firsthand.values import HttpRequest
from firsthand.web.address import Policy, judge, operator_policy
from firsthand.web.client import USER_AGENT, Client
from firsthand.web.gate import Admitted, Gate
from tests.web.certificates import certificate_for
from tests.web.raw_server import GOOD_PAGE, raw_server, response, site


def named(addresses: Sequence[str]) -> Gate:
    """A gate whose resolver gives *addresses* for every name."""

    async def lookup(host: str) -> Sequence[str]:
        return addresses

    return Gate(lookup)


async def test_nothing_of_ours_goes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(site({})) as trap:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, trap.url)
            monkeypatch.setenv(name.upper(), trap.url)
        netrc = tmp_path / "netrc"
        netrc.write_text("machine 127.0.0.1 login me password secret\ndefault login me password secret\n")
        netrc.chmod(0o600)
        monkeypatch.setenv("NETRC", str(netrc))
        challenge = response(b"no", 401, {"www-authenticate": "Basic realm=x", "set-cookie": "a=b; Path=/"})
        async with raw_server(site({"/first": challenge, "/second": response()})) as served:
            client = Client()
            policy = operator_policy(operator_urls=(served.url,))
            first = await client.send(HttpRequest("GET", f"{served.url}/first"), policy)
            second = await client.send(HttpRequest("GET", f"{served.url}/second"), policy)
            await client.aclose()
    assert (first.status, second.status) == (401, 200)
    assert trap.n_connections == 0
    assert "set-cookie" not in first.headers
    sent = [line.split(b":")[0].lower() for head in served.heads for line in head.split(b"\r\n")[1:] if line]
    assert sorted(set(sent)) == [b"accept", b"accept-encoding", b"connection", b"host", b"user-agent"]


async def test_request_line_host_and_agent_are_the_judged_address_and_ours() -> None:
    async with raw_server(site({})) as served:
        client = Client(gate=named(["127.0.0.1"]))
        policy = operator_policy(operator_urls=(f"http://shop.example.com:{served.port}/",))
        await client.send(
            HttpRequest("GET", f"http://shop.example.com:{served.port}/a b|c?q={{ü}}&r=%2f'#part"), policy
        )
        await client.aclose()
    lines = served.heads[0].decode().split("\r\n")
    assert lines[0] == "GET /a%20b|c?q={%C3%BC}&r=%2f%27 HTTP/1.1"
    assert f"Host: shop.example.com:{served.port}" in lines
    assert f"User-Agent: {USER_AGENT}" in lines


async def test_request_of_a_provider_is_sent_as_it_was_built_and_its_redirect_is_not_followed() -> None:
    bodies: list[bytes] = []

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        bodies.append(head)
        writer.write(response(b"", 302, {"location": "/elsewhere"}))

    async with raw_server(answer) as served:
        client = Client()
        request = HttpRequest(
            "POST", f"{served.url}/search", {"X-Key": "k", "Content-Type": "application/json"}, b'{"q":1}'
        )
        received = await client.send(request, operator_policy(operator_urls=(served.url,)))
        await client.aclose()
    assert (received.status, received.headers["location"], received.url) == (302, "/elsewhere", f"{served.url}/search")
    assert b"X-Key: k" in bodies[0] and bodies[0].startswith(b"POST /search ")
    assert b"Content-Length: 7" in bodies[0]


async def test_next_judged_address_is_tried_when_the_first_does_not_answer() -> None:
    async with raw_server(site({"/": response()})) as served:
        client = Client(gate=named(["127.0.0.2", "127.0.0.1"]))
        policy = Policy(allow_private=frozenset({("two.example.com", served.port)}))
        received = await client.send(HttpRequest("GET", f"http://two.example.com:{served.port}/"), policy)
        await client.aclose()
    assert received.body == GOOD_PAGE


async def test_closed_port_is_a_failure_that_may_pass() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    client = Client()
    with pytest.raises(FetchFailed) as failure:
        await client.send(
            HttpRequest("GET", f"http://127.0.0.1:{port}/"),
            operator_policy(operator_urls=(f"http://127.0.0.1:{port}",)),
        )
    await client.aclose()
    assert (failure.value.code, failure.value.outcome, failure.value.retryable) == ("connect_failed", "failed", True)


async def test_name_that_reaches_the_connector_is_not_looked_up() -> None:
    client = Client()
    target = judge("http://localhost.example.com/", Policy())
    with pytest.raises(AddressRefused):
        await client.exchange(Admitted(target, ("localhost",)), HttpRequest("GET", target.url))
    await client.aclose()


@pytest.mark.parametrize(("is_page", "n_asked"), [(True, 2), (False, 1)])
async def test_server_that_hangs_up_without_a_word_is_asked_again_for_a_page_and_never_for_a_provider(
    is_page: bool, n_asked: int
) -> None:
    async def hang_up(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with raw_server(hang_up) as served:
        client = Client()
        policy = operator_policy(operator_urls=(served.url,))
        request = HttpRequest("GET", f"{served.url}/")
        with pytest.raises(FetchFailed) as failure:
            if is_page:
                await client.exchange(await client.gate.admit(judge(request.url, policy), policy), request)
            else:
                await client.send(request, policy)
        await client.aclose()
    assert (failure.value.code, len(served.heads)) == ("connection_lost", n_asked)


@pytest.mark.parametrize("headers", [{"X-Key": "k\r\nHost: other"}, {"X-Key: k\nX": "1"}, {"X-Key": "k\0"}])
async def test_header_that_would_not_stay_one_line_is_never_sent(headers: dict[str, str]) -> None:
    async with raw_server(site({})) as served:
        client = Client()
        with pytest.raises(InvalidInput):
            request = HttpRequest("GET", f"{served.url}/", headers)
            await client.send(request, operator_policy(operator_urls=(served.url,)))
        await client.aclose()
        with pytest.raises(InvalidInput):
            Client(user_agent="Mine/1\r\nHost: other")
    assert served.heads == []


async def test_connection_whose_peer_is_another_than_the_judged_address_is_dropped_unused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with raw_server(site({})) as served:
        client = Client()
        policy = operator_policy(operator_urls=(served.url,))
        monkeypatch.setattr(socket.socket, "getpeername", lambda self: ("127.0.0.2", served.port))
        with pytest.raises(AddressRefused):
            await client.send(HttpRequest("GET", f"{served.url}/"), policy)
        monkeypatch.undo()
        await client.aclose()
    assert served.heads == []


async def test_closed_client_drops_what_is_under_way() -> None:
    arrived = asyncio.Event()

    async def silent(head: bytes, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await asyncio.Event().wait()

    async with raw_server(silent) as served:
        client = Client()
        policy = operator_policy(operator_urls=(served.url,))
        asking = asyncio.create_task(client.send(HttpRequest("GET", f"{served.url}/"), policy))
        await arrived.wait()
        await client.aclose()
        with pytest.raises(FetchFailed) as failure:
            await asking
    assert failure.value.code == "connection_lost"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for shop.example.com and its key, made for this test."""
    return certificate_for("shop.example.com", tmp_path)


@pytest.mark.parametrize(("host", "expected"), [("shop.example.com", "ok"), ("other.example.com", "tls_error")])
async def test_certificate_is_checked_against_the_name_although_the_address_is_dialled(
    certificate: tuple[Path, Path], host: str, expected: str
) -> None:
    pem, key = certificate
    server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_tls.load_cert_chain(pem, key)
    async with raw_server(site({"/": response()}), ssl=server_tls) as served:
        client = Client(gate=named(["127.0.0.1"]), tls=ssl.create_default_context(cafile=str(pem)))
        url = f"https://{host}:{served.port}/"
        try:
            code = (
                "ok"
                if (await client.send(HttpRequest("GET", url), operator_policy(operator_urls=(url,)))).body
                else "empty"
            )
        except FetchFailed as error:
            code = error.code
        await client.aclose()
    assert code == expected


def test_http_client_is_imported_only_when_something_is_fetched() -> None:
    code = "import sys, firsthand.web.fetch, firsthand.web.crawl; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "src"}).returncode == 0


BROKEN = {
    "of no bytes, said to be gzip": response(b"", 404, {"content-encoding": "gzip"}),
    "that is not gzip": response(b"plain", 404, {"content-encoding": "gzip"}),
    "in an unknown coding": response(b"plain", 404, {"content-encoding": "sdch"}),
    "that is cut": response(b"plain", 404, {"content-length": "500"}),
    "that is too long": response(b"", 404, {"content-length": "99999999999"}),
}


@pytest.mark.parametrize("kind", BROKEN)
async def test_refusal_stands_whatever_is_wrong_with_the_body_that_comes_with_it(kind: str) -> None:
    async with raw_server(site({"/": BROKEN[kind]})) as served:
        client = Client()
        received = await client.send(HttpRequest("GET", f"{served.url}/"), operator_policy(operator_urls=(served.url,)))
        await client.aclose()
    assert (received.status, received.body) == (404, b"")
