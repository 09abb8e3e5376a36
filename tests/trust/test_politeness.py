"""P6: we are not a weapon."""

from __future__ import annotations

import pytest

from firsthand.settings import Settings
from firsthand.values import HttpRequest, HttpResponse
from firsthand.web.address import Policy
from firsthand.web.client import Reading
from firsthand.web.fetch import Fetcher
from firsthand.web.gate import Admitted
from firsthand.web.pace import Pacer
from tests.trust.politeness import flood
from tests.trust.urls import Connector, Resolver


async def test_300_urls_of_one_host_at_once_go_two_at_a_time_apart_and_none_over_the_ceiling() -> None:
    seen = await flood(300, interval_s=0.02, ceiling=250)  # the named setting, so that 300 take seconds
    assert seen.faults() == []
    assert (seen.requests, seen.most_at_a_time, seen.ends) == (250, 2, {"ok": 249, "run_ceiling": 51})


async def test_as_it_is_set_by_default_a_host_is_asked_a_second_apart() -> None:
    default = Settings.__dataclass_fields__["host_interval_s"].default
    assert default == 1.0
    seen = await flood(2, interval_s=default, ceiling=10, slowness=0.1)
    assert seen.faults() == []


class Notes:
    """A clock that moves when someone sleeps, and when each address was asked for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[tuple[float, str]] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class Noting(Connector):
    def __init__(self, notes: Notes) -> None:
        super().__init__(Resolver({}))
        self._notes = notes

    async def exchange(
        self, admitted: Admitted, request: HttpRequest, *, total_s: float | None = None, reading: Reading | None = None
    ) -> HttpResponse:
        self._notes.asked.append((self._notes.now, request.url))
        return await super().exchange(admitted, request, total_s=total_s, reading=reading)


async def test_links_to_all_ports_and_both_schemes_of_a_host_make_it_no_four_hosts() -> None:
    notes = Notes()
    fetcher = Fetcher(Noting(notes), Policy(), Pacer(interval_s=1.0, clock=notes.clock, sleep=notes.sleep))
    for at in (
        "http://a.example.com",
        "https://a.example.com",
        "http://a.example.com:8080",
        "https://a.example.com:8443",
    ):
        await fetcher.fetch(f"{at}/", use_robots=False)
    await fetcher.fetch("http://b.example.com/", use_robots=False)
    assert [moment for moment, _ in notes.asked] == [0.0, 1.0, 2.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("pacer", "slowness", "fault"),
    [
        (Pacer(interval_s=0.1, concurrency=3), 2.5, "3 at a time"),
        (Pacer(interval_s=0.01), 0.1, "s apart, not 0.1"),
        (Pacer(interval_s=0), 0.1, "s apart, not 0.1"),
    ],
)
async def test_a_pace_that_is_too_fast_is_found_out(pacer: Pacer, slowness: float, fault: str) -> None:
    seen = await flood(6, interval_s=0.1, ceiling=100, pacer=pacer, slowness=slowness)
    assert any(fault in found for found in seen.faults())
