"""Durable operations: one act for one thing asked, its receipt and charge with it, and what becomes of a broken one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from firsthand.db import Connection, Database
from firsthand.durable import journal, lease, ledger, receipts
from firsthand.durable.journal import JsonObject, Run
from firsthand.durable.operations import (
    Act,
    DurableOperations,
    InDoubt,
    Payment,
    Policy,
    fetched_json,
    searched_json,
)
from firsthand.errors import LeaseLost, OutsideError
from firsthand.events import Event
from firsthand.ports import Fetched, Operations, Searched
from firsthand.values import Answer, Engine, Hit, Query, Usage

QUERY = Query("how long", max_hits=3, language="en")
HIT = Hit("https://a.example/", "A", "…", 1, "p", published_at=datetime(2026, 1, 2, tzinfo=UTC))
kept_table = sa.Table("kept_in_tests", sa.MetaData(), sa.Column("url", sa.Text))


class Died(BaseException):
    """Stands for a kill: nothing on the way catches it."""


class Scripted:
    """Acts that count, and do what the test says at a certain moment."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.keys: list[str] = []
        self.pay: Payment = "free"
        self.during: Callable[[], Awaitable[None]] | None = None
        self.outcome: Act | Exception | None = None

    def payment(self, provider: str) -> Payment:
        return self.pay

    async def search(self, provider: str, query: Query, key: str) -> Act:
        self.keys.append(key)
        cost = 0 if self.pay == "free" else 5_000
        await self._count(f"{provider} {query.text}")
        result = searched_json(Searched(provider, "ok", (HIT,)))
        return self._outcome() or Act(result, n_bytes=100, cost_microusd=cost)

    async def fetch(self, url: str) -> Act:
        await self._count(url)

        def store(connection: Connection) -> JsonObject:
            connection.execute(kept_table.insert().values(url=url))
            return fetched_json(Fetched(url, "ok", text_id=7, final_url=url, title="T"))

        return self._outcome() or Act({}, store, n_bytes=1_000)

    async def _count(self, name: str) -> None:
        self.counted[name] += 1
        if self.during is not None:
            await self.during()

    def _outcome(self) -> Act | None:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def answer_json(answer: Answer) -> JsonObject:
    return {"id": answer.id, "text": answer.text}


def run_of(database: Database) -> Run:
    """The next run of the one turn of these tests, under a lease of its own."""
    held = database.write_now(lease.acquire, "s", lease.this_holder(), 0)
    return database.write_now(journal.start, held, "q", {})[1]


def operations(database: Database, acts: Scripted, policy: Policy = "ask") -> DurableOperations:
    return DurableOperations(database, run_of(database), acts, answer_json=answer_json, policy=policy)


@pytest.fixture(autouse=True)
def kept(database: Database) -> Callable[[], list[str]]:
    """A table beside the journal's, for what acts keep; called, its rows."""
    database.write_now(kept_table.create)

    def rows(connection: Connection) -> list[str]:
        return list(connection.execute(sa.select(kept_table.c.url)).scalars())

    return lambda: database.read_now(rows)


async def die() -> None:
    raise Died


async def test_a_later_run_gets_the_same_results_without_acting_in_any_order(
    database: Database, kept: Callable[[], list[str]]
) -> None:
    acts = Scripted()
    first: Operations = operations(database, acts)
    searched, fetched = await first.search("p", QUERY), await first.fetch("https://a.example/")
    assert searched == Searched("p", "ok", (HIT,))
    assert fetched == Fetched("https://a.example/", "ok", text_id=7, final_url="https://a.example/", title="T")
    second = operations(database, acts)
    assert await second.fetch("https://a.example/") == fetched
    assert await second.search("p", QUERY) == searched
    assert set(acts.counted.values()) == {1}
    assert kept() == ["https://a.example/"]


async def test_what_is_asked_decides_which_operation_it_is(database: Database) -> None:
    acts = Scripted()
    ops = operations(database, acts)
    for query in (QUERY, Query("how long"), Query("how long", max_hits=3)):
        await ops.search("p", query)
    await ops.search("q", QUERY)
    assert (acts.counted["p how long"], acts.counted["q how long"]) == (3, 1)


async def test_the_same_asked_at_once_is_one_act(database: Database) -> None:
    acts = Scripted()
    ops = operations(database, acts)
    results = await asyncio.gather(*(ops.fetch("u") for _ in range(20)))
    assert acts.counted["u"] == 1
    assert len(set(results)) == 1


async def test_result_charge_and_receipt_are_kept_together_or_not_at_all(
    database: Database, kept: Callable[[], list[str]]
) -> None:
    acts = Scripted()
    ops = operations(database, acts)

    def store(connection: Connection) -> JsonObject:
        connection.execute(kept_table.insert().values(url="half"))
        raise RuntimeError("the disk")

    acts.outcome = Act({}, store)
    with pytest.raises(RuntimeError):
        await ops.fetch("u")
    run = run_of(database)
    (receipt,) = database.read_now(receipts.of_turn, run.turn_id)
    assert (receipt.state, kept(), database.read_now(ledger.turn_totals, run.turn_id).fetch.calls) == ("begun", [], 0)

    acts.outcome = None
    assert (await operations(database, acts).fetch("u")).outcome == "ok"
    (receipt,) = database.read_now(receipts.of_turn, run.turn_id)
    assert (receipt.state, kept()) == ("done", ["u"])
    assert database.read_now(ledger.turn_totals, run.turn_id).fetch == ledger.Total(1, 1_000, 0)


async def test_a_free_act_that_was_cut_is_done_again(database: Database) -> None:
    acts = Scripted()
    acts.during = die
    with pytest.raises(Died):
        await operations(database, acts).fetch("u")
    acts.during = None
    assert (await operations(database, acts).fetch("u")).outcome == "ok"
    assert acts.counted["u"] == 2


async def test_a_keyed_act_that_was_cut_is_done_again_under_the_same_key(database: Database) -> None:
    acts = Scripted()
    acts.pay, acts.during = "keyed", die
    with pytest.raises(Died):
        await operations(database, acts).search("p", QUERY)
    acts.during = None
    await operations(database, acts).search("p", QUERY)
    assert len(acts.keys) == 2
    assert len(set(acts.keys)) == 1


async def test_a_paid_act_that_was_cut_is_in_doubt_and_never_repeated_unasked(database: Database) -> None:
    acts = Scripted()
    acts.pay, acts.during = "paid", die
    with pytest.raises(Died):
        await operations(database, acts).search("p", QUERY)
    acts.during = None
    for _ in range(3):
        with pytest.raises(InDoubt) as doubt:
            await operations(database, acts).search("p", QUERY)
    (listed,) = database.read_now(receipts.in_doubt, "s")
    assert listed.arguments == {"provider": "p", "query": asdict(QUERY)}
    assert [o["key"] for o in doubt.value.facts["operations"]] == [listed.key]  # type: ignore[union-attr, call-overload, index]
    assert acts.counted["p how long"] == 1


@pytest.mark.parametrize(
    ("policy", "outcome", "n_acts", "cost"), [("repeat", "ok", 2, 5_000), ("skip", "failed", 1, 0)]
)
async def test_a_decision_about_a_doubt_is_carried_out_once_and_signed(
    database: Database, policy: Policy, outcome: str, n_acts: int, cost: int
) -> None:
    acts = Scripted()
    acts.pay, acts.during = "paid", die
    with pytest.raises(Died):
        await operations(database, acts).search("p", QUERY)
    acts.during = None
    for _ in range(2):
        ops = operations(database, acts, policy)
        assert (await ops.search("p", QUERY)).outcome == outcome
    assert acts.counted["p how long"] == n_acts
    (receipt,) = database.read_now(receipts.of_turn, run_of(database).turn_id)
    assert receipt.decided_by == f"policy: {policy}"
    assert database.read_now(receipts.in_doubt) == []
    assert database.read_now(ledger.turn_totals, receipt.turn_id).cost_microusd == cost


async def test_an_act_that_cannot_tell_its_outcome_leaves_a_doubt(database: Database) -> None:
    acts = Scripted()
    acts.pay = "paid"
    acts.outcome = Act(searched_json(Searched("p", "timeout")), state="in_doubt", cost_microusd=5_000)
    ops = operations(database, acts)
    assert (await ops.search("p", QUERY)).outcome == "timeout"
    assert (await ops.search("p", QUERY)).outcome == "timeout"  # the same run knows what happened
    with pytest.raises(InDoubt):
        await operations(database, acts).search("p", QUERY)
    assert acts.counted["p how long"] == 1


async def test_a_failed_fetch_stands_for_its_run_and_is_tried_again_by_the_next(database: Database) -> None:
    acts = Scripted()
    acts.outcome = Act(fetched_json(Fetched("u", "timeout")), state="failed")
    ops = operations(database, acts)
    assert [(await ops.fetch("u")).outcome for _ in range(2)] == ["timeout", "timeout"]
    acts.outcome = None
    assert [(await operations(database, acts).fetch("u")).outcome for _ in range(2)] == ["ok", "ok"]
    assert acts.counted["u"] == 2


@pytest.mark.parametrize(
    ("pay", "sent", "state"),
    [("free", None, "failed"), ("paid", None, "in_doubt"), ("paid", False, "failed")],
)
async def test_an_act_that_raises_is_settled_as_what_is_known(
    database: Database, pay: Payment, sent: bool | None, state: str
) -> None:
    acts = Scripted()
    acts.pay = pay
    acts.outcome = OutsideError(
        "failed", "provider_gone", "Gone.", spent_microusd=9, **{} if sent is None else {"sent": sent}
    )
    ops = operations(database, acts)
    for _ in range(2):
        with pytest.raises(OutsideError) as raised:
            await ops.search("p", QUERY)
        assert raised.value.code == "provider_gone"
    (receipt,) = database.read_now(receipts.of_turn, run_of(database).turn_id)
    assert (receipt.state, receipt.cost_microusd, acts.counted["p how long"]) == (state, 9, 1)


async def test_cancelling_the_last_who_waits_cancels_the_act_and_leaves_its_receipt_begun(database: Database) -> None:
    acts = Scripted()
    is_acting, is_free = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        is_acting.set()
        await is_free.wait()

    acts.during = wait
    ops = operations(database, acts)
    one, two = asyncio.create_task(ops.fetch("u")), asyncio.create_task(ops.fetch("u"))
    await is_acting.wait()
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one
    is_free.set()
    assert (await two).outcome == "ok"  # one of two was cancelled: the act went on

    is_acting.clear()
    is_free.clear()
    last = asyncio.create_task(ops.fetch("v"))
    await is_acting.wait()
    last.cancel()
    with pytest.raises(asyncio.CancelledError):
        await last
    states = {r.arguments["url"]: r.state for r in database.read_now(receipts.of_turn, run_of(database).turn_id)}
    assert states == {"u": "done", "v": "begun"}


async def test_a_driver_that_lost_its_lease_keeps_nothing_of_what_it_fetched(
    database: Database, kept: Callable[[], list[str]]
) -> None:
    acts = Scripted()

    async def freeze() -> None:
        await database.write(lease.acquire, "s", lease.this_holder(), 0)

    acts.during = freeze
    ops = operations(database, acts)
    with pytest.raises(LeaseLost):
        await ops.fetch("u")
    with pytest.raises(LeaseLost):
        await ops.fetch("v")
    assert (kept(), acts.counted["v"]) == ([], 0)


async def test_an_answer_is_kept_first_then_written_once_and_the_first_one_stays(database: Database) -> None:
    written: list[JsonObject] = []
    is_cut = True

    async def write(body: JsonObject) -> None:
        written.append(body)
        if is_cut:
            raise Died

    def delivering() -> DurableOperations:
        return DurableOperations(
            database, run_of(database), Scripted(), answer_json=answer_json, deliver=write, destination="out"
        )

    with pytest.raises(Died):
        await delivering().deliver(answer("answer-1", "first"))
    is_cut = False
    await delivering().deliver(answer("answer-2", "second"))
    await delivering().deliver(answer("answer-3", "third"))
    assert written == [{"id": "answer-1", "text": "first"}] * 2


async def test_what_was_said_is_numbered_and_not_said_twice(database: Database) -> None:
    for _ in range(2):
        ops = operations(database, Scripted())
        await ops.say(Event("TurnStarted", "start"))
        await asyncio.gather(*(ops.say(Event("PageKept", f"page {n}")) for n in range(5)))
    kept_events = database.read_now(journal.events, run_of(database).turn_id)
    assert [e.seq for e in kept_events] == [1, 2, 3, 4, 5, 6]


def answer(answer_id: str, text: str) -> Answer:
    return Answer(
        id=answer_id,
        question="q",
        language="en",
        mode="search",
        verify="annotate",
        status="answered",
        text=text,
        claims=(),
        sources=(),
        missing=(),
        conflicts=(),
        limitations=(),
        failures=(),
        omitted=(),
        follow_ups=(),
        usage=Usage(),
        elapsed_ms=1,
        engine=Engine("0", None, "x/1", ()),
    )
