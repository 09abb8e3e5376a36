"""Who is asked next, and who is left alone for how long."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Mapping, Sequence

import pytest

from firsthand.ports import Searched
from firsthand.values import Hit, Outcome, Query
from firsthand.web.search import Breaker, Chain, next_provider, noted

ORDER = ("one", "two", "three")
QUERY = Query("q")


def answer(provider: str, n_hits: int) -> Searched:
    hits = tuple(Hit(f"https://example.org/{n}", "", "", n, provider) for n in range(1, n_hits + 1))
    return Searched(provider, "ok" if hits else "empty", hits)


def refusal(provider: str, outcome: Outcome = "refused", retry_after_s: float | None = None) -> Searched:
    return Searched(provider, outcome, code="x", retry_after_s=retry_after_s)


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
    assert noted(Breaker(), searched, 1000) == Breaker(1, 1000 + rests_for)


@pytest.mark.parametrize("outcome", ["timeout", "failed"])
def test_a_breakdown_is_no_block(outcome: Outcome) -> None:
    assert noted(Breaker(2, 5), refusal("one", outcome), 10) == Breaker(2, 5)


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
        self.chain = Chain(clock=lambda: self.now, sleep=self.sleep)

    async def search_one(self, name: str, query: Query) -> Searched:
        self.calls.append((name, self.now))
        values = self._script[name]
        return values.pop(0) if len(values) > 1 else values[0]

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, len(self.calls), woken))
        await woken

    async def ask(self) -> list[Searched]:
        return (await self.ask_together(1))[0]

    async def ask_together(self, n: int) -> list[list[Searched]]:
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


async def test_calls_to_one_provider_are_a_second_apart_also_when_they_come_together() -> None:
    world = World({"one": [answer("one", 5)]})
    await world.ask_together(3)
    await world.ask()
    assert world.calls == [("one", 0.0), ("one", 1.0), ("one", 2.0), ("one", 3.0)]


async def test_calls_to_different_providers_do_not_wait_for_each_other() -> None:
    world = World({"one": [refusal("one")], "two": [answer("two", 5)]})
    await world.ask()
    assert world.calls == [("one", 0.0), ("two", 0.0)]
