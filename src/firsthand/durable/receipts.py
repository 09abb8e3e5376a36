"""Receipts: what every operation did, or that it was begun and nobody knows.

A receipt is named by what is asked. It is committed as begun before the act and settled after it; its state moves
along ``RECEIPT_MOVES`` only, and out of doubt only by a decision that is signed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from firsthand.db import Connection, metadata
from firsthand.durable import journal
from firsthand.durable.journal import JsonObject, Run, turn_table
from firsthand.durable.lease import now_iso
from firsthand.errors import JournalConflict

ReceiptState = Literal["begun", "done", "failed", "in_doubt"]
Kind = Literal["search", "fetch", "model", "deliver"]

# done: it has a result, good or bad. failed: it had no effect worth keeping, a later run may try again.
# in_doubt: nobody knows whether it happened and was charged; only a decision moves it.
RECEIPT_MOVES: Mapping[ReceiptState, frozenset[ReceiptState]] = {
    "begun": frozenset({"done", "failed", "in_doubt"}),
    "failed": frozenset({"begun"}),
    "in_doubt": frozenset({"begun", "failed"}),
    "done": frozenset(),
}

_JSON = sa.JSON(none_as_null=True)

receipt_table = sa.Table(
    "receipt",
    metadata,
    sa.Column("turn_id", sa.ForeignKey("turn.turn_id"), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("arguments", _JSON, nullable=False),
    sa.Column("occurrence", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("paid", sa.Boolean, nullable=False),
    sa.Column("run_n", sa.Integer, nullable=False),  # the run that last began it
    sa.Column("result", _JSON),
    sa.Column("begun_at", sa.Text, nullable=False),
    sa.Column("settled_at", sa.Text),
    sa.Column("cost_microusd", sa.BigInteger, nullable=False),
    sa.Column("decided_by", sa.Text),  # who decided what an operation in doubt became
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an operation did, or that it was begun."""

    turn_id: str
    key: str
    kind: Kind
    arguments: JsonObject
    occurrence: int
    state: ReceiptState
    paid: bool
    run_n: int
    result: JsonObject | None
    begun_at: str
    settled_at: str | None
    cost_microusd: int
    decided_by: str | None


def find(connection: Connection, turn_id: str, key: str) -> Receipt | None:
    """The receipt of one operation of a turn, if it was ever begun."""
    mine = sa.and_(receipt_table.c.turn_id == turn_id, receipt_table.c.key == key)
    found = connection.execute(sa.select(receipt_table).where(mine)).one_or_none()
    return None if found is None else _receipt(found)


def begin(
    connection: Connection, run: Run, key: str, kind: Kind, arguments: JsonObject, *, occurrence: int = 0, paid: bool
) -> Receipt:
    """A new receipt, begun: the caller may act once this is committed.

    Raises: JournalConflict if the operation has a receipt.
    """
    journal.check_run(connection, run)
    if find(connection, run.turn_id, key) is not None:
        raise JournalConflict(
            "receipt_exists", f"Operation {key} of turn {run.turn_id} was begun before.", turn_id=run.turn_id, key=key
        )
    at = now_iso(connection)
    connection.execute(
        receipt_table.insert().values(
            turn_id=run.turn_id,
            key=key,
            kind=kind,
            arguments=arguments,
            occurrence=occurrence,
            state="begun",
            paid=paid,
            run_n=run.n,
            begun_at=at,
            cost_microusd=0,
        )
    )
    return Receipt(
        run.turn_id, key, kind, arguments, occurrence, "begun", paid, run.n, None, at, None, 0, decided_by=None
    )


def begin_again(connection: Connection, run: Run, key: str, *, decided_by: str | None = None) -> None:
    """An operation that was begun, failed or in doubt is begun by this run. In doubt needs a decision."""
    receipt = _lock_receipt(connection, run, key)
    if receipt.state != "begun":
        _allow(receipt, "begun", has_decision=decided_by is not None)
    _update(
        connection,
        receipt,
        state="begun",
        run_n=run.n,
        result=None,
        settled_at=None,
        decided_by=decided_by,
        begun_at=now_iso(connection),
    )


def settle(
    connection: Connection,
    run: Run,
    key: str,
    state: Literal["done", "failed", "in_doubt"],
    result: JsonObject | None,
    *,
    cost_microusd: int = 0,
    decided_by: str | None = None,
) -> None:
    """The outcome of a begun operation. Settling it again the same way changes nothing.

    Raises: JournalConflict if it was settled otherwise; LeaseLost.
    """
    receipt = _lock_receipt(connection, run, key)
    if receipt.state == state and receipt.result == result:
        return
    _allow(receipt, state, has_decision=decided_by is not None)
    _update(
        connection,
        receipt,
        state=state,
        result=result,
        settled_at=now_iso(connection),
        cost_microusd=receipt.cost_microusd + cost_microusd,
        decided_by=decided_by or receipt.decided_by,
    )


def of_turn(connection: Connection, turn_id: str) -> list[Receipt]:
    """All receipts of a turn, in the order in which they were begun."""
    found = sa.select(receipt_table).where(receipt_table.c.turn_id == turn_id)
    return [_receipt(row) for row in connection.execute(found.order_by(receipt_table.c.begun_at, receipt_table.c.key))]


def of_unfinished_turns(connection: Connection, kind: Kind) -> list[Receipt]:
    """What turns that are not finished rest on: their settled operations of one kind."""
    found = (
        sa.select(receipt_table)
        .join_from(receipt_table, turn_table)
        .where(turn_table.c.state == "running", receipt_table.c.kind == kind, receipt_table.c.state == "done")
    )
    return [_receipt(row) for row in connection.execute(found)]


def in_doubt(connection: Connection, session_id: str | None = None) -> list[Receipt]:
    """Operations whose outcome nobody knows, of one session or of all, oldest first."""
    found = sa.select(receipt_table).where(receipt_table.c.state == "in_doubt")
    if session_id is not None:
        found = found.where(
            receipt_table.c.turn_id.in_(sa.select(turn_table.c.turn_id).where(turn_table.c.session_id == session_id))
        )
    return [_receipt(row) for row in connection.execute(found.order_by(receipt_table.c.begun_at, receipt_table.c.key))]


def _lock_receipt(connection: Connection, run: Run, key: str) -> Receipt:
    journal.check_run(connection, run)
    receipt = find(connection, run.turn_id, key)
    if receipt is None:
        raise JournalConflict(
            "receipt_missing", f"Operation {key} of turn {run.turn_id} was never begun.", turn_id=run.turn_id, key=key
        )
    return receipt


def _allow(receipt: Receipt, state: ReceiptState, *, has_decision: bool) -> None:
    needs_decision = receipt.state == "in_doubt"
    if state in RECEIPT_MOVES[receipt.state] and (has_decision or not needs_decision):
        return
    raise JournalConflict(
        "receipt_final",
        f"Operation {receipt.key} of turn {receipt.turn_id} is {receipt.state} and cannot become {state}.",
        turn_id=receipt.turn_id,
        key=receipt.key,
    )


def _update(connection: Connection, receipt: Receipt, **values: object) -> None:
    changed = connection.execute(
        receipt_table.update()
        .where(
            receipt_table.c.turn_id == receipt.turn_id,
            receipt_table.c.key == receipt.key,
            receipt_table.c.state == receipt.state,
        )
        .values(**values)
    )
    assert changed.rowcount == 1  # the turn's row is locked; nobody else can have moved it


def _receipt(row: Any) -> Receipt:
    return Receipt(**row._mapping)
