"""Who is asked next, and who is left alone for how long."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Mapping, Sequence

import pytest

from firsthand.errors import NotAllowed
from firsthand.ports import Searched
from firsthand.values import Hit, Outcome, Query
from firsthand.web.search import Breaker, Chain, combined, next_provider, noted

ORDER = ("one", "two", "three")
QUERY = Query("q")


def answer(provider: str, n_hits: int) -> Searched:
    hits = tuple(Hit(f"https://example.org/{n}", "", "", n, provider) for n in range(1, n_hits + 1))
    return Searched(provider, "ok" if hits else "empty", hits)


def refusal(
    provider: str, outcome: Outcome = "refused", retry_after_s: float | None = None, code: str = "x"
) -> Searched:
    return Searched(provider, outcome, code=code, retry_after_s=retry_after_s)


@pytest.mark.parametrize(
    ("so_far", "expected"),
    [
        ([], "one"),
        ([answer("one", 3)], None),
        ([answer("one", 2)], "two"),
        ([answer("one", 0)], "two"),
        ([answer("one", 0), answer("two", 0)], None),
        ([answer("one", 2), answer("two", 1)], None),
        ([answer("one", 0), refusal("two")], "three"),
        ([refusal("one")], "two"),
        ([refusal("one", "timeout"), refusal("two", "bot_wall")], "three"),
        ([refusal("one", "failed"), answer("two", 1)], "three"),
        ([refusal("one"), refusal("two"), refusal("three")], None),
    ],
)
def test_a_search_ends_with_one_good_answer_two_answers_or_nobody_left(
    so_far: list[Searched], expected: str | None
) -> None:
    assert next_provider(ORDER, so_far, {}, 0) == expected


def test_a_provider_that_rests_is_passed_over_until_its_time_is_over() -> None:
    breakers = {"one": Breaker(3, rests_until=600)}
    assert next_provider(ORDER, [], breakers, 599.9) == "two"
    assert next_provider(ORDER, [], breakers, 600) == "one"


@pytest.mark.parametrize(
    ("searched", "rests_for"),
    [
        (refusal("one", "refused"), 180),
        (refusal("one", "rate_limited"), 180),
        (refusal("one", "bot_wall"), 3600),
        (refusal("one", "rate_limited", retry_after_s=30), 30),
        (refusal("one", "rate_limited", retry_after_s=999_999), 7200),
    ],
)
def test_one_block_rests_by_its_cause_or_by_the_providers_word(searched: Searched, rests_for: float) -> None:
    assert noted(Breaker(), searched, 1000) == Breaker(1, 1000 + rests_for, 0, searched.outcome)


@pytest.mark.parametrize("outcome", ["timeout", "failed", "too_large"])
def test_one_breakdown_is_no_block_and_three_in_a_row_rest_a_minute_doubling_up_to_ten(outcome: Outcome) -> None:
    breaker, now, rests = noted(Breaker(2, 5), refusal("one", outcome), 10), 10.0, []
    assert breaker == Breaker(2, 5, 1)
    for _ in range(30):
        breaker = noted(breaker, refusal("one", outcome), now)
        rests.append(breaker.rests_until - now)
        now = max(now, breaker.rests_until)
    assert rests[1:7] == [60, 120, 240, 480, 600, 600] and rests[-1] == 600
    assert breaker.why == outcome


@pytest.mark.parametrize("code", ["provider_missing", "provider_not_configured", "provider_bad_request"])
def test_what_a_setting_mends_is_no_breakdown(code: str) -> None:
    assert noted(Breaker(2, 5, 2), refusal("one", "failed", code=code), 10) == Breaker(2, 5, 2)
    assert noted(Breaker(2, 5, 2), refusal("one", "blocked_by_policy"), 10) == Breaker(2, 5, 2)


def test_from_the_third_block_in_a_row_rests_double_up_to_two_hours() -> None:
    breaker, now, rests = Breaker(), 0.0, []
    for _ in range(40):
        breaker = noted(breaker, refusal("one"), now)
        rests.append(breaker.rests_until - now)
        now = breaker.rests_until
    assert rests[:8] == [180, 180, 600, 1200, 2400, 4800, 7200, 7200] and rests[-1] == 7200


def test_an_answer_forgets_the_blocks() -> None:
    assert noted(Breaker(2, 100), answer("one", 0), 200) == Breaker()


class World:
    """Scripted providers, and a clock that moves to the next sleeper when nobody else can go on."""

    def __init__(self, script: Mapping[str, Sequence[Searched]]) -> None:
        self._script = {name: list(values) for name, values in script.items()}
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self.now = 0.0
        self.calls: list[tuple[str, float]] = []
        self.slow: str | None = None
        self.chain = Chain(clock=lambda: self.now, sleep=self.sleep)

    def script(self, name: str, *values: Searched) -> None:
        self._script[name] = list(values)

    async def search_one(self, name: str, query: Query) -> Searched:
        self.calls.append((name, self.now))
        if name == self.slow:
            await self.sleep(10)
        values = self._script[name]
        return values.pop(0) if len(values) > 1 else values[0]

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, len(self.calls), woken))
        await woken

    async def ask(self) -> list[Searched]:
        return (await self.ask_together(1))[0]

    async def ask_together(self, n: int, is_slow: str | None = None) -> list[list[Searched]]:
        self.slow = is_slow
        tasks = [asyncio.create_task(self.chain.ask(ORDER, QUERY, self.search_one)) for _ in range(n)]
        while not all(task.done() for task in tasks):
            for _ in range(10):  # rounds of the loop; more than one ask has awaits in a row
                await asyncio.sleep(0)
            if self._sleepers:
                self.now, _, woken = heapq.heappop(self._sleepers)
                woken.set_result(None)
        return [task.result() for task in tasks]


async def test_each_provider_asked_is_one_value_in_the_order_of_asking() -> None:
    values = [refusal("one"), answer("two", 0), answer("three", 5)]
    world = World({value.provider: [value] for value in values})
    assert await world.ask() == values


async def test_after_three_blocks_a_provider_is_not_called_for_ten_minutes_and_its_rest_is_visible() -> None:
    world = World({"one": [refusal("one")], "two": [answer("two", 5)], "three": [answer("three", 5)]})
    for _ in range(3):
        await world.ask()
        world.now += 180
    blocked_at = world.now - 180
    n_calls = len([call for call in world.calls if call[0] == "one"])
    assert n_calls == 3
    world.now = blocked_at + 599
    searched = await world.ask()
    assert [(s.provider, s.outcome, s.code) for s in searched] == [
        ("one", "rate_limited", "provider_resting"),
        ("two", "ok", ""),
    ]
    world.now = blocked_at + 600
    await world.ask()
    assert world.calls[-2][0] == "one"


async def test_when_everybody_rests_the_answer_names_them_instead_of_being_empty() -> None:
    world = World({name: [refusal(name)] for name in ORDER})
    await world.ask()
    searched = await world.ask()
    assert [(s.provider, s.code) for s in searched] == [(name, "provider_resting") for name in ORDER]
    assert len(world.calls) == 3


async def test_a_rest_is_told_with_its_cause_and_the_seconds_that_are_left() -> None:
    outcomes: list[Outcome] = ["rate_limited", "refused", "bot_wall"]
    world = World({name: [refusal(name, outcome)] for name, outcome in zip(ORDER, outcomes, strict=True)})
    await world.ask()
    world.now += 30.5
    assert [(s.detail, s.retry_after_s, s.was_asked) for s in await world.ask()] == [
        ("left alone for another 150 s, because it asked us to slow down.", 150, False),
        ("left alone for another 150 s, because it refused us.", 150, False),
        ("left alone for another 3570 s, because it took us for a robot.", 3570, False),
    ]


async def test_a_provider_that_broke_three_times_is_left_alone_and_then_tried_with_one_call() -> None:
    world = World({"one": [refusal("one", "timeout")], "two": [answer("two", 5)]})
    for _ in range(3):
        await world.ask()
        world.now += 1
    left_alone = (await world.ask())[0]
    assert (left_alone.outcome, left_alone.code) == ("failed", "provider_broken")
    assert left_alone.detail == "left alone for another 59 s, because it failed 3 times in a row."
    world.now += 59
    world.calls.clear()
    world.script("one", answer("one", 5))
    brought = await world.ask_together(3, is_slow="one")
    assert [call for call in world.calls if call[0] == "one"] == [("one", world.calls[0][1])]  # one probe, no more
    assert [each[0].was_asked for each in brought] == [True, False, False]
    assert world.chain.breakers["one"] == Breaker()


async def test_a_probe_that_breaks_again_keeps_everybody_away_for_twice_as_long() -> None:
    world = World({"one": [refusal("one", "failed")], "two": [answer("two", 5)]})
    for _ in range(3):
        await world.ask()
        world.now += 1
    world.now += 59
    probed_at = world.now
    await world.ask()
    assert world.chain.breakers["one"].rests_until == probed_at + 120


async def test_a_probe_that_is_cancelled_leaves_the_way_free_for_the_next() -> None:
    world = World({"one": [answer("one", 5)]})
    world.chain.breakers["one"] = Breaker(0, 0, 3, "timeout")
    world.slow = "one"
    asked = asyncio.create_task(world.chain.ask(ORDER, QUERY, world.search_one))
    for _ in range(10):  # rounds of the loop, until the call is out
        await asyncio.sleep(0)
    assert world.calls and world.chain.breakers["one"].rests_until > 0
    asked.cancel()
    await asyncio.wait([asked])
    assert world.chain.breakers["one"] == Breaker(0, 0, 3, "timeout")


async def test_those_who_waited_behind_a_call_that_was_refused_do_not_call() -> None:
    world = World({"one": [refusal("one")], "two": [answer("two", 5)]})
    brought = await world.ask_together(3)
    assert [name for name, _ in world.calls].count("one") == 1
    assert [each[0].code for each in brought] == ["x", "provider_resting", "provider_resting"]


async def test_chains_are_asked_side_by_side_and_fused() -> None:
    world = World({"one": [answer("one", 5)], "two": [refusal("two")], "three": [answer("three", 4)]})
    brought = await world.chain.ask_all([["one"], ["two", "three"]], QUERY, world.search_one)
    assert [[s.provider for s in each] for each in brought] == [["one"], ["two", "three"]]
    assert [hit.url for hit in combined(brought, 3)] == [f"https://example.org/{n}" for n in (1, 2, 3)]


async def test_a_chain_that_stops_for_a_decision_lets_the_others_finish_first() -> None:
    world = World({"two": [answer("two", 5)]})
    finished: list[str] = []

    async def search_one(name: str, query: Query) -> Searched:
        if name == "one":
            raise NotAllowed("in_doubt", "Choose.")
        for _ in range(10):  # rounds of the loop: long after the other one has stopped
            await asyncio.sleep(0)
        finished.append(name)
        return answer(name, 5)

    with pytest.raises(NotAllowed):
        await world.chain.ask_all([["one"], ["two"]], QUERY, search_one)
    assert finished == ["two"]


async def test_calls_to_one_provider_are_a_second_apart_also_when_they_come_together() -> None:
    world = World({"one": [answer("one", 5)]})
    await world.ask_together(3)
    await world.ask()
    assert world.calls == [("one", 0.0), ("one", 1.0), ("one", 2.0), ("one", 3.0)]


async def test_calls_to_different_providers_do_not_wait_for_each_other() -> None:
    world = World({"one": [refusal("one")], "two": [answer("two", 5)]})
    await world.ask()
    assert world.calls == [("one", 0.0), ("two", 0.0)]
