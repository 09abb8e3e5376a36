"""Turns at a host, on a clock that only moves when someone sleeps."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from firsthand.errors import FetchFailed
from firsthand.web.pace import Ceiling, Pacer


class Clock:
    """Virtual time: sleepers are woken in order of their instants, when nobody else can move."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        event = asyncio.Event()
        self._sleepers.append((self.now + seconds, event))
        await event.wait()

    async def run(self) -> None:
        """Move time on until nobody sleeps any more."""
        while True:
            for _ in range(50):
                await asyncio.sleep(0)
            if not self._sleepers:
                return
            self._sleepers.sort(key=lambda sleeper: sleeper[0])
            self.now, event = self._sleepers.pop(0)
            event.set()


async def test_three_hundred_requests_of_one_host_go_two_at_a_time_and_a_second_apart() -> None:
    clock = Clock()
    pacer = Pacer(interval_s=1.0, concurrency=2, clock=clock, sleep=clock.sleep)
    starts: list[float] = []
    n_now = most = 0

    async def visit() -> None:
        nonlocal n_now, most
        async with pacer.turn("a.example.com"):
            starts.append(clock())
            n_now += 1
            most = max(most, n_now)
            await clock.sleep(5.0)
            n_now -= 1

    tasks = [asyncio.create_task(visit()) for _ in range(300)]
    await clock.run()
    await asyncio.gather(*tasks)
    assert most == 2
    assert len(starts) == 300
    assert min(b - a for a, b in pairwise(starts)) >= 1.0


async def test_hosts_do_not_wait_for_each_other() -> None:
    clock = Clock()
    pacer = Pacer(interval_s=10.0, clock=clock, sleep=clock.sleep)
    for host in ("a", "b", "c"):
        async with pacer.turn(host):
            assert clock() == 0.0


async def test_longer_crawl_delay_counts_and_a_hold_off_stops_even_who_waits_already() -> None:
    clock = Clock()
    pacer = Pacer(interval_s=1.0, clock=clock, sleep=clock.sleep)
    starts: list[float] = []

    async def visit() -> None:
        async with pacer.turn("a", delay_s=4.0):
            starts.append(clock())

    tasks = [asyncio.create_task(visit()) for _ in range(2)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    pacer.hold_off("a", 30.0)
    assert pacer.held_for_s("a") == 30.0
    await clock.run()
    await asyncio.gather(*tasks)
    assert starts == [0.0, 30.0]


async def test_turn_given_up_while_waiting_blocks_nobody() -> None:
    clock = Clock()
    pacer = Pacer(interval_s=1.0, concurrency=1, clock=clock, sleep=clock.sleep)

    async def visit() -> float:
        async with pacer.turn("a"):
            return clock()

    await visit()
    waiting = asyncio.create_task(visit())
    await asyncio.sleep(0)
    waiting.cancel()
    after = asyncio.create_task(visit())
    await clock.run()
    assert await after >= 1.0


async def test_next_hop_waits_for_no_interval_but_whoever_comes_after_it_does() -> None:
    clock = Clock()
    pacer = Pacer(interval_s=1.0, clock=clock, sleep=clock.sleep)
    starts: list[tuple[str, float]] = []

    async def visit(name: str, *, at_once: bool = False) -> None:
        async with pacer.turn("a", at_once=at_once):
            starts.append((name, clock()))

    await visit("page")
    next_page = asyncio.create_task(visit("next page"))
    await asyncio.sleep(0)
    clock.now = 0.7
    await visit("hop", at_once=True)
    await clock.run()
    await next_page
    assert starts == [("page", 0.0), ("hop", 0.7), ("next page", 1.7)]


async def test_next_hop_waits_as_long_as_its_host_is_held_off() -> None:
    clock = Clock()
    pacer = Pacer(interval_s=1.0, clock=clock, sleep=clock.sleep)
    pacer.hold_off("a", 20.0)

    async def hop() -> float:
        async with pacer.turn("a", at_once=True):
            return clock()

    task = asyncio.create_task(hop())
    await clock.run()
    assert await task == 20.0


@pytest.mark.parametrize("at_once", [False, True])
async def test_who_would_wait_longer_than_his_patience_gives_up_at_once_and_leaves_his_place(at_once: bool) -> None:
    clock = Clock()
    pacer = Pacer(interval_s=1.0, concurrency=1, clock=clock, sleep=clock.sleep)
    pacer.hold_off("a", 31.0)
    for _ in range(3):
        with pytest.raises(FetchFailed) as left:
            async with pacer.turn("a", at_once=at_once, patience_s=30.0):
                raise AssertionError
    assert (left.value.code, left.value.retry_after_s, clock()) == ("rate_limited", 31.0, 0.0)
    waiting = asyncio.create_task(_start(pacer, clock))
    await clock.run()
    assert await waiting == 31.0


async def test_who_waits_and_is_put_off_beyond_his_patience_gives_up() -> None:
    clock = Clock()
    pacer = Pacer(interval_s=1.0, clock=clock, sleep=clock.sleep)
    pacer.hold_off("a", 5.0)
    waiting = asyncio.create_task(_start(pacer, clock, patience_s=30.0))
    await asyncio.sleep(0)
    pacer.hold_off("a", 300.0)
    await clock.run()
    with pytest.raises(FetchFailed, match="left alone"):
        await waiting
    assert clock() == 5.0


async def _start(pacer: Pacer, clock: Clock, patience_s: float = 60.0) -> float:
    async with pacer.turn("a", patience_s=patience_s):
        return clock()


async def test_long_process_forgets_the_hosts_that_nobody_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firsthand.web.pace.LINES_MAX", 10)
    clock = Clock()
    pacer = Pacer(interval_s=0.0, clock=clock, sleep=clock.sleep)
    pacer.hold_off("held", 100.0)
    for n in range(50):
        async with pacer.turn(f"h{n}"):
            pass
    assert pacer.held_for_s("held") == 100.0
    assert len(pacer._lines) <= 10


def test_ceiling_counts_what_is_sent_and_says_which_setting_moves_it() -> None:
    ceiling = Ceiling(2)
    ceiling.spend()
    ceiling.check()
    ceiling.spend()
    with pytest.raises(FetchFailed, match="FIRSTHAND_RUN_REQUESTS_MAX") as met:
        ceiling.check()
    with pytest.raises(FetchFailed):
        ceiling.spend()
    assert (met.value.code, met.value.outcome, ceiling.n_sent) == ("run_ceiling", "blocked_by_policy", 2)
