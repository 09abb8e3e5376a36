"""What is searched for a question: its hints become places to look, each query once for each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firsthand.events import Event
from firsthand.ports import Fetched, Found, Searched
from firsthand.research.plan import Plan, hints_of, make_plan
from firsthand.research.profile import Profile
from firsthand.research.reach import reach_out
from firsthand.values import Answer, Hit, Query


class World:
    """Every search finds one page, every page can be read; what was asked is remembered."""

    def __init__(self) -> None:
        self.queries: list[Query] = []

    async def find(self, query: Query) -> Found:
        self.queries.append(query)
        hits = (Hit("https://a.example/", "A", "", 1, "p"),)
        return Found(
            (Searched("q", "rate_limited", code="provider_resting", was_asked=False), Searched("p", "ok", hits)), hits
        )

    async def search(self, provider: str, query: Query) -> Searched:
        raise AssertionError("the finder searches")

    async def fetch(self, url: str) -> Fetched:
        return Fetched(url, "ok", text_id=1, final_url=url)

    async def deliver(self, answer: Answer) -> None:
        raise AssertionError("nothing is delivered")

    async def say(self, event: Event) -> None:
        return None


def planned(question: str) -> Plan:
    asked, hints = hints_of(question)
    return replace(make_plan(asked, (0, {}), ()), hints=hints)


@pytest.mark.parametrize(
    ("question", "max_queries", "asked"),
    [
        ("How fast is Zig?", 1, [("How fast is Zig?", None)]),
        ("How fast is Zig? @github", 1, [("How fast is Zig? site:github.com", None)]),
        (
            "How fast is Zig? @x @news @web",
            1,
            [("How fast is Zig? site:x.com", None), ("How fast is Zig?", "news"), ("How fast is Zig?", None)],
        ),
        ("How fast is Zig? @academic", 3, [("How fast is Zig?", "academic")]),
    ],
)
async def test_each_query_is_asked_once_for_each_hint(
    question: str, max_queries: int, asked: list[tuple[str, str | None]]
) -> None:
    world = World()
    reached = await reach_out(planned(question), Profile(max_queries=max_queries), world, world)
    assert [(query.text, query.category) for query in world.queries] == asked
    assert reached.usage.searches == len(asked)  # a provider that was left alone was not asked


async def test_the_parts_of_a_question_are_asked_for_each_hint_up_to_the_limit() -> None:
    world = World()
    plan = planned("How fast is the Zig compiler, and who maintains the Rust compiler? @github @reddit")
    assert len(plan.parts) == 2
    await reach_out(plan, Profile(max_queries=3), world, world)
    assert [query.text.split(" site:")[1] for query in world.queries] == ["github.com", "reddit.com", "github.com"]
