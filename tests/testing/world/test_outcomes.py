"""What the table says of each trouble is what the product makes of it, fetched and read."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from firsthand.errors import OutsideError
from firsthand.testing.world import TROUBLES, World
from firsthand.web.address import Policy, host_port_pairs
from firsthand.web.client import Client
from firsthand.web.extract import extract
from firsthand.web.fetch import Fetcher
from firsthand.web.limits import Limits
from firsthand.web.pace import Pacer

SHORT = Limits(connect_s=5, first_byte_s=0.4, between_reads_s=0.4, total_s=1.5)
LONG = Limits(total_s=20)  # a busy machine takes its time to send what is too large
OPTIONS = {"delay": "?ms=1", "bomb": "?mib=64", "429": "?retry_after_s=0"}
STATED = {name: kind.page for name, kind in TROUBLES.items() if kind.page is not None and name != "hold"}


@pytest.mark.parametrize(("name", "outcome"), STATED.items())
async def test_a_fetch_of_a_trouble_has_the_outcome_of_the_table(world: World, name: str, outcome: str) -> None:
    async def no_wait(_: float) -> None:
        await asyncio.sleep(0)

    client = Client(limits=SHORT if outcome == "timeout" else LONG)
    pacer = Pacer(interval_s=0, sleep=no_wait)
    policy = Policy(allow_private=host_port_pairs(world.pairs))
    fetcher = Fetcher(client, policy, pacer, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    try:
        page = await fetcher.fetch(world.trouble_url(name) + OPTIONS.get(name, ""))
        text = extract(page.payload, url=page.url, content_type=page.headers.get("content-type"))
        found = "ok" if text.body else "empty"
    except OutsideError as error:
        found = error.outcome
    finally:
        await fetcher.aclose()
    assert found == outcome
    if name == "wrong-charset":
        assert "Ålesund liegt geschützt" in text.body and "港は七メートル" in text.body
