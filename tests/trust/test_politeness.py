"""P6: we are not a weapon."""

from __future__ import annotations

import pytest

from firsthand.settings import Settings
from firsthand.web.pace import Pacer
from tests.trust.politeness import flood


async def test_300_urls_of_one_host_at_once_go_two_at_a_time_apart_and_none_over_the_ceiling() -> None:
    seen = await flood(300, interval_s=0.02, ceiling=250)  # the named setting, so that 300 take seconds
    assert seen.faults() == []
    assert (seen.requests, seen.most_at_a_time, seen.ends) == (250, 2, {"ok": 249, "run_ceiling": 51})


async def test_as_it_is_set_by_default_a_host_is_asked_a_second_apart() -> None:
    default = Settings.__dataclass_fields__["host_interval_s"].default
    assert default == 1.0
    seen = await flood(2, interval_s=default, ceiling=10, slowness=0.1)
    assert seen.faults() == []


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
