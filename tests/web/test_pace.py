"""Turns at a host, on a clock that only moves when someone sleeps."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from firsthand.web.pace import Pacer


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
