"""Inputs that users of other tools complained of, those that the gate and the fetch answer for: numbers 3 to 7."""

from __future__ import annotations

import asyncio
import importlib
import re
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from firsthand.errors import AddressRefused, FetchFailed, OutsideError
from firsthand.web.address import Policy
from firsthand.web.client import Client
from firsthand.web.fetch import Fetcher
from firsthand.web.limits import LIMITS
from firsthand.web.pace import Pacer
from tests.trust.urls import Connector, Resolver
from tests.web.raw_server import raw_server, response, site

MIB = 1 << 20
METADATA = "http://169.254.169.254/latest/meta-data/"
brotli: Any = importlib.import_module("brotli")  # has no types


def fetcher_for(*ports: int) -> Fetcher:
    policy = Policy(allow_private=frozenset(("127.0.0.1", port) for port in ports))
    return Fetcher(Client(), policy, Pacer(interval_s=0))


async def test_input_3_redirect_to_cloud_metadata_is_refused_at_the_hop_and_says_nothing_of_it() -> None:
    pages = {"/": response(b"secret body", 302, {"location": METADATA, "x": "secret header"})}
    async with raw_server(site(pages)) as served:
        fetcher = fetcher_for(served.port)
        with pytest.raises(AddressRefused) as refused:  # a connection would fail this test: sockets are watched
            await fetcher.fetch(f"{served.url}/", use_robots=False)
        await fetcher.aclose()
    assert (refused.value.outcome, refused.value.code) == ("blocked_by_policy", "address")
    assert not re.search(r"secret|169|meta-data|\d", str(refused.value.as_json()["message"]))
    assert served.paths == ["/"]


@pytest.mark.parametrize("public_first", [True, False])
async def test_input_4_name_with_one_loopback_address_is_refused_and_an_accepted_one_is_met_where_it_was_checked(
    public_first: bool,
) -> None:
    mixed = ["93.184.216.34", "127.0.0.1"][:: 1 if public_first else -1]
    connector = Connector(Resolver({"a.example.com": [mixed, ["93.184.216.34"]], "b.example.com": [["93.184.216.35"], ["127.0.0.1"]]}))  # fmt: skip
    fetcher = Fetcher(connector, Policy(), Pacer(interval_s=0))
    with pytest.raises(AddressRefused) as refused:
        await fetcher.fetch("http://a.example.com/")
    assert (refused.value.outcome, connector.connected) == ("blocked_by_policy", set())
    await fetcher.fetch("http://b.example.com/")
    assert connector.connected == {"93.184.216.35"}


async def test_input_5_loopback_in_every_spelling_is_refused_with_the_same_outcome() -> None:
    connector = Connector(Resolver({}))
    fetcher = Fetcher(connector, Policy(), Pacer(interval_s=0))
    for host in ("2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0"):
        with pytest.raises(OutsideError) as refused:
            await fetcher.fetch(f"http://{host}/")
        assert refused.value.outcome == "blocked_by_policy", host
    assert connector.connected == set()


async def test_input_6_page_of_30_mb_without_a_length_is_read_to_the_cap_and_its_connection_is_closed() -> None:
    sent, closed = 0, asyncio.Event()
    chunk = b"%x\r\n%b\r\n" % (MIB, b"<p>words</p>\n".ljust(MIB, b" "))

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n")
        try:
            for _ in range(30):
                writer.write(chunk)
                await writer.drain()
                sent += 1
        except ConnectionError:
            closed.set()
            raise

    async with raw_server(answer) as served:
        fetcher = fetcher_for(served.port)
        with pytest.raises(FetchFailed) as refused:
            await fetcher.fetch(f"{served.url}/", use_robots=False)
        await asyncio.wait_for(closed.wait(), 30)
        await fetcher.aclose()
    assert (refused.value.outcome, refused.value.code) == ("too_large", "too_large")
    assert sent < 30  # the cap is 10 MiB; what is above it stands in the buffers of two sockets


def gzip_of_gzip() -> bytes:
    """4 GiB of zeros in 40 KB: a gzip of a gzip, each with its end left out."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    head = bytes.fromhex("1f8b08000000000000ff")
    return zlib.compress(head + block * 4096, 9, 31)


def brotli_bomb() -> bytes:
    """4 GiB of zeros in 40 KB: the second flushed block is the same as every one after it."""
    packer = brotli.Compressor(quality=5)
    first, second, third = (packer.process(bytes(MIB)) + packer.flush() for _ in range(3))
    assert second == third
    return bytes(first + second * 4095)


@pytest.mark.parametrize(("coding", "bomb"), [("gzip, gzip", gzip_of_gzip), ("br", brotli_bomb)])
async def test_input_7_40_kb_that_grow_to_4_gb_are_given_up_at_the_cap_within_a_second(
    coding: str, bomb: Callable[[], bytes]
) -> None:
    body = bomb()
    assert len(body) < 64_000
    headers = {"content-encoding": coding, "content-length": str(len(body))}
    async with raw_server(site({"/": response(body, headers=headers)})) as served:
        fetcher = fetcher_for(served.port)
        before = time.process_time()  # of this process, server and all: another's work does not count
        with pytest.raises(FetchFailed) as refused:
            await fetcher.fetch(f"{served.url}/", use_robots=False)
        spent_s = time.process_time() - before
        await fetcher.aclose()
    assert (refused.value.outcome, refused.value.code) == ("too_large", "too_large")
    assert spent_s < 1
    assert str(LIMITS.decoded_bytes) in refused.value.message
