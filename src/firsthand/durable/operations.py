"""Operations that survive being killed: every act on the outside leaves a receipt, and is never done twice by accident.

Before the act its receipt is committed as begun; after it, what it brought, its charge and its receipt are committed
together. A later run of the turn finds the receipt by what is asked (never by the order of asking) and gets the same
result without acting. A receipt found begun means that the process died in between: a free act is done again, a paid
one is in doubt unless its provider takes our key, and a stated policy decides.

The acts themselves are injected (``Acts``): this module knows no network and no page.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast

from firsthand import fault, ids
from firsthand.db import Connection, Database
from firsthand.durable import journal, ledger, receipts
from firsthand.durable.journal import JsonObject, Run
from firsthand.durable.receipts import Kind, Receipt
from firsthand.errors import NotAllowed, OutsideError, StoreFailed
from firsthand.events import Event
from firsthand.ports import Fetched, Searched
from firsthand.values import Answer, Hit, JsonValue, Outcome, Query

P = ParamSpec("P")
T = TypeVar("T")
Payment = Literal["free", "keyed", "paid"]  # keyed: costs money, but the provider charges one idempotency key once
Policy = Literal["ask", "repeat", "skip"]
Deliver = Callable[[JsonObject], Awaitable[None]]
Step = Literal["return", "act", "doubt", "repeat", "skip"]


class InDoubt(NotAllowed):
    """Paid operations were begun and may have been charged; only a decision continues. Facts: ``operations``."""

    def __init__(self, *doubted: Receipt) -> None:
        first = doubted[0]
        more = f" and {len(doubted) - 1} more" if len(doubted) > 1 else ""
        super().__init__(
            "in_doubt",
            f"A paid {first.kind} may have been made before this run was interrupted: "
            f"{ids.canonical_json(first.arguments)}{more}. It is not made again by itself. Choose, and ask again: "
            "FIRSTHAND_IN_DOUBT=repeat makes it again (it may be charged twice), FIRSTHAND_IN_DOUBT=skip goes on without "
            "it.",
            operations=[
                {
                    "turn_id": receipt.turn_id,
                    "key": receipt.key,
                    "kind": receipt.kind,
                    "arguments": receipt.arguments,
                    "begun_at": receipt.begun_at,
                }
                for receipt in doubted
            ],
        )
        self.doubted = doubted


@dataclass(frozen=True, slots=True)
class Act:
    """What an act brought, not kept yet.

    ``store`` runs in the transaction that settles the receipt and makes the result from what it kept; without it
    ``result`` is the result. It may run again if that transaction was rolled back. ``state`` says what the receipt becomes: ``done`` (a result, good or bad, that a later
    run is given again), ``failed`` (certainly without effect: a later run tries a free act again), or ``in_doubt``
    (a paid call whose outcome is unknown).
    """

    result: JsonObject
    store: Callable[[Connection], JsonObject] | None = None
    state: Literal["done", "failed", "in_doubt"] = "done"
    calls: int = 1
    n_bytes: int = 0
    cost_microusd: int = 0


class Acts(Protocol):
    """The acts themselves. A refusal by the world is an ``Act`` whose result says so."""

    def payment(self, provider: str) -> Payment:
        """Whether a search with this provider costs money, and whether it may be repeated under its key."""
        ...

    async def search(self, provider: str, query: Query, key: str) -> Act:
        """Ask once; the result is ``searched_json``. *key* is the idempotency key, for providers that take one."""
        ...

    async def fetch(self, url: str) -> Act:
        """Fetch once; the result is ``fetched_json``, made by ``store`` once the page is kept."""
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """One operation as it is asked for."""

    key: str
    kind: Kind
    arguments: JsonObject
    payment: Payment
    skipped: JsonObject  # the result if an operation in doubt is skipped


@dataclass(slots=True)
class _Shared:
    """One act and how many wait for it."""

    task: asyncio.Task[JsonObject]
    n_waiting: int = field(default=0)


class DurableOperations:
    """``ports.Operations`` for one run of a turn."""

    def __init__(
        self,
        database: Database,
        run: Run,
        acts: Acts,
        *,
        answer_json: Callable[[Answer], JsonObject],
        deliver: Deliver | None = None,
        destination: str = "",
        policy: Policy = "ask",
        decided_by: str = "policy",
    ) -> None:
        self._database = database
        self._run = run
        self._acts = acts
        self._answer_json = answer_json
        self._deliver = deliver
        self._destination = destination
        self._policy: Policy = policy
        self._decided_by = decided_by
        self._in_flight: dict[str, _Shared] = {}

    async def search(self, provider: str, query: Query) -> Searched:
        """Ask one provider one query, once in this turn.

        Raises: InDoubt if an earlier run may have paid for it; LeaseLost; StoreFailed.
        """
        arguments: JsonObject = {"provider": provider, "query": cast(JsonObject, asdict(query))}
        skipped = Searched(provider, "failed", code="in_doubt_skipped", detail="It may have been paid for; skipped.")
        asked = self._asked("search", arguments, self._acts.payment(provider), searched_json(skipped))
        return searched_of(await self._once(asked, lambda: self._acts.search(provider, query, asked.key)))

    async def fetch(self, url: str) -> Fetched:
        """Bring and keep one page, once in this turn. Raises: LeaseLost; StoreFailed."""
        asked = self._asked("fetch", {"url": url}, "free", {})
        return fetched_of(await self._once(asked, lambda: self._acts.fetch(url)))

    async def deliver(self, answer: Answer) -> None:
        """Keep the answer, then write it where it was asked for, once. Writing the same files again is harmless."""
        await self.deliver_body(self._answer_json(answer))

    async def deliver_body(self, body: JsonObject) -> JsonObject:
        """As ``deliver``, for an answer in its JSON form. The answer that was kept, which may be an earlier run's."""
        kept = await self._write(journal.keep_answer, self._run, body)
        write = self._deliver
        if write is not None:

            async def act() -> Act:
                await write(kept)
                return Act({"answer_id": kept["id"]}, calls=0)

            await self._once(self._asked("deliver", {"to": self._destination}, "free", {}), act)
        return kept

    async def say(self, event: Event) -> None:
        """Record *event*; what an earlier run said already is not said again."""
        fault.point("say.before")
        await self._write(journal.append_event, self._run, event)
        fault.point("say.after")

    # -- One operation

    def _asked(self, kind: Kind, arguments: JsonObject, payment: Payment, skipped: JsonObject) -> _Asked:
        # The same thing asked again in a turn is the same operation, so its occurrence is always the first.
        key = ids.content_key(self._run.turn_id, kind, arguments, 0)
        return _Asked(key, kind, arguments, payment, skipped)

    async def _once(self, asked: _Asked, act: Callable[[], Coroutine[Any, Any, Act]]) -> JsonObject:
        """The operation's result; whoever asks the same while it is in flight waits for the same act.

        The act is cancelled when the last of those who wait for it is.
        """
        shared = self._in_flight.get(asked.key)
        if shared is None:
            shared = _Shared(asyncio.create_task(self._operate(asked, act), name=f"{asked.kind}-{asked.key[:8]}"))
            self._in_flight[asked.key] = shared
        shared.n_waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.n_waiting -= 1
            if not shared.n_waiting:
                if self._in_flight.get(asked.key) is shared:
                    del self._in_flight[asked.key]
                shared.task.cancel()  # nothing, if it is done
                await asyncio.wait([shared.task])
                if not shared.task.cancelled():
                    shared.task.exception()  # whoever asked has it, or was cancelled

    async def _operate(self, asked: _Asked, act: Callable[[], Coroutine[Any, Any, Act]]) -> JsonObject:
        fault.point("op.before_begin")
        step, receipt = await self._write(_begin, self._run, asked, self._policy, self._decided_by)
        if step == "doubt":
            raise InDoubt(receipt)
        if step == "return":
            return _replayed(receipt)
        fault.point("op.after_begin")
        try:
            acted = await act()
        except StoreFailed:
            raise  # ours, not the world's: the next run finds it begun
        except OutsideError as error:
            # The act's own words for a refusal are values; an error here is a failure to act. A paid one may have
            # been charged all the same, unless the error says that nothing was sent.
            is_doubtful = asked.payment == "paid" and error.facts.get("sent") is not False
            acted = Act(
                {"error": error.as_json()},
                state="in_doubt" if is_doubtful else "failed",
                cost_microusd=error.spent_microusd,
            )
            await self._write(_settle, self._run, asked, acted)
            raise
        fault.point("op.after_act")
        result = await self._write(_settle, self._run, asked, acted)
        fault.point("op.after_settle")
        return result

    async def _write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As ``Database.write``; a commit that broke is looked up and done again if it had not happened.

        What is written here may be written twice: it is found by its key.
        """
        try:
            return await self._database.write(fn, *args, **kwargs)
        except StoreFailed as error:
            if error.code != "store_in_doubt":
                raise
            return await self._database.write(fn, *args, **kwargs)


def next_step(receipt: Receipt, run_n: int, payment: Payment, policy: Policy) -> Step:
    """What becomes of an operation that has a receipt already: the whole rule of recovery.

    ``return`` its result · ``act`` again · ``doubt``: stop and ask · ``repeat`` or ``skip``, as the policy says.
    """
    doubted: Step = "doubt" if policy == "ask" else policy
    is_settled_by_us = receipt.run_n == run_n and receipt.result is not None
    match receipt.state:
        case "done":
            return "return"
        case "failed":
            # Free and failed: a later run tries again. Paid, or decided by somebody: it stays as it is.
            return "return" if is_settled_by_us or receipt.paid or receipt.decided_by else "act"
        case "begun":
            return doubted if payment == "paid" else "act"
        case "in_doubt" if is_settled_by_us:
            return "return"
        case "in_doubt":
            return doubted


def _begin(connection: Connection, run: Run, asked: _Asked, policy: Policy, decided_by: str) -> tuple[Step, Receipt]:
    """What to do about *asked* (``act``, ``return`` or ``doubt``), with its receipt in the state that says so."""
    found = receipts.find(connection, run.turn_id, asked.key)
    if found is None:
        is_paid = asked.payment != "free"
        begun = receipts.begin(connection, run, asked.key, asked.kind, asked.arguments, paid=is_paid)
        fault.point("op.in_begin")
        return "act", begun
    step = next_step(found, run.n, asked.payment, policy)
    if step == "return":
        journal.check_run(connection, run)
        return step, found
    if step == "act":
        receipts.begin_again(connection, run, asked.key)
        return step, found
    if found.state == "begun":
        receipts.settle(connection, run, asked.key, "in_doubt", None)
    by = f"{decided_by}: {policy}"
    if step == "repeat":
        receipts.begin_again(connection, run, asked.key, decided_by=by)
    elif step == "skip":
        receipts.settle(connection, run, asked.key, "failed", asked.skipped, decided_by=by)
    fault.point("op.in_begin")
    decided = receipts.find(connection, run.turn_id, asked.key)
    assert decided is not None
    return ("act" if step == "repeat" else "return" if step == "skip" else "doubt"), decided


def _settle(connection: Connection, run: Run, asked: _Asked, acted: Act) -> JsonObject:
    """What the act brought, its charge and its receipt: all of it, or nothing."""
    journal.check_run(connection, run)  # before anything is stored: a stale driver keeps nothing
    found = receipts.find(connection, run.turn_id, asked.key)
    if found is not None and found.state == acted.state and found.run_n == run.n:
        return found.result or {}  # the commit that broke had happened
    result = acted.result if acted.store is None else acted.store(connection)
    fault.point("op.in_settle")
    if asked.kind != "deliver":
        ledger.charge(
            connection,
            run,
            asked.key,
            asked.kind,
            calls=acted.calls,
            n_bytes=acted.n_bytes,
            cost_microusd=acted.cost_microusd,
        )
    receipts.settle(connection, run, asked.key, acted.state, result, cost_microusd=acted.cost_microusd)
    fault.point("op.settled")
    return result


def _replayed(receipt: Receipt) -> JsonObject:
    """The result of a settled receipt, or the failure that it recorded."""
    result = receipt.result or {}
    error = result.get("error")
    if isinstance(error, dict):
        outcome = cast(Outcome, error.get("outcome", "failed"))
        raise OutsideError(outcome, str(error.get("code")), str(error.get("message")))
    return result


# -- Results as JSON


def searched_json(searched: Searched) -> JsonObject:
    """The receipt's form of what a search brought."""
    return cast(JsonObject, json.loads(json.dumps(asdict(searched), default=_iso)))


def searched_of(result: JsonObject) -> Searched:
    """What ``searched_json`` wrote."""
    values = cast(dict[str, Any], dict(result))
    values["hits"] = tuple(Hit(**{**hit, "published_at": _instant(hit["published_at"])}) for hit in values["hits"])
    return Searched(**values)


def fetched_json(fetched: Fetched) -> JsonObject:
    """The receipt's form of what became of one address."""
    return cast(JsonObject, asdict(fetched))


def fetched_of(result: JsonObject) -> Fetched:
    """What ``fetched_json`` wrote."""
    return Fetched(**cast(dict[str, Any], result))


def _iso(value: object) -> JsonValue:
    assert isinstance(value, datetime)
    return value.isoformat()


def _instant(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
