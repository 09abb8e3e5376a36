"""The ledger: append-only charges, each committed with the receipt of the operation it was for.

Money is integers in millionths of a US dollar. Operations in doubt are counted beside the sums: they may have been
charged by a provider, and nobody can tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from firsthand.db import Connection, metadata
from firsthand.durable.journal import Run, run_table, turn_table
from firsthand.durable.lease import is_driven, now_iso
from firsthand.durable.receipts import Receipt, receipt_table

Kind = Literal["search", "fetch", "model"]

charge_table = sa.Table(
    "charge",
    metadata,
    sa.Column("turn_id", sa.Text, primary_key=True),
    sa.Column("receipt_key", sa.Text, primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),  # from 1; above 1 only after a decision to repeat
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("calls", sa.Integer, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("cost_microusd", sa.BigInteger, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(["turn_id", "receipt_key"], ["receipt.turn_id", "receipt.key"], name="fk_charge_receipt"),
)


@dataclass(frozen=True, slots=True)
class Total:
    """What was spent on one kind of operation, or on all."""

    calls: int = 0
    bytes: int = 0
    cost_microusd: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """What a turn or a session spent."""

    search: Total
    fetch: Total
    model: Total
    n_in_doubt: int

    @property
    def cost_microusd(self) -> int:
        """All of it."""
        return self.search.cost_microusd + self.fetch.cost_microusd + self.model.cost_microusd


def charge(
    connection: Connection, run: Run, receipt_key: str, kind: Kind, *, calls: int, n_bytes: int, cost_microusd: int
) -> None:
    """One entry for an operation of this run. Call it in the transaction that settles the receipt, which is fenced."""
    mine = sa.and_(charge_table.c.turn_id == run.turn_id, charge_table.c.receipt_key == receipt_key)
    last = connection.execute(sa.select(sa.func.max(charge_table.c.n)).where(mine)).scalar()
    connection.execute(
        charge_table.insert().values(
            turn_id=run.turn_id,
            receipt_key=receipt_key,
            n=(last or 0) + 1,
            kind=kind,
            calls=calls,
            bytes=n_bytes,
            cost_microusd=cost_microusd,
            at=now_iso(connection),
        )
    )


def turn_totals(connection: Connection, turn_id: str) -> Totals:
    """What one turn spent."""
    return _totals(connection, sa.select(sa.literal(turn_id)))


def session_totals(connection: Connection, session_id: str) -> Totals:
    """What all turns of a session spent."""
    return _totals(connection, sa.select(turn_table.c.turn_id).where(turn_table.c.session_id == session_id))


def in_doubt(connection: Connection) -> list[Receipt]:
    """The paid operations of all sessions whose outcome nobody knows, oldest first.

    One that was begun and is not settled is among them once its process is dead or its session has another driver.
    """
    c = receipt_table.c
    found = (
        sa.select(receipt_table, turn_table.c.session_id, run_table.c.fence)
        .join(turn_table, turn_table.c.turn_id == c.turn_id)
        .join(run_table, sa.and_(run_table.c.turn_id == c.turn_id, run_table.c.n == c.run_n))
        .where(sa.or_(c.state == "in_doubt", sa.and_(c.state == "begun", c.paid)))
        .order_by(c.begun_at, c.key)
    )
    doubted = []
    for row in connection.execute(found).mappings():
        if row["state"] == "in_doubt" or not is_driven(connection, row["session_id"], row["fence"]):
            doubted.append(Receipt(**{column.name: row[column.name] for column in receipt_table.columns}))
    return doubted


def _totals(connection: Connection, turn_ids: sa.Select[tuple[str]]) -> Totals:
    c = charge_table.c
    sums = connection.execute(
        sa.select(c.kind, sa.func.sum(c.calls), sa.func.sum(c.bytes), sa.func.sum(c.cost_microusd))
        .where(c.turn_id.in_(turn_ids))
        .group_by(c.kind)
    )
    by_kind = {kind: Total(int(calls), int(n_bytes), int(cost)) for kind, calls, n_bytes, cost in sums}
    n_in_doubt = connection.execute(
        sa.select(sa.func.count())
        .select_from(receipt_table)
        .where(receipt_table.c.turn_id.in_(turn_ids), receipt_table.c.state == "in_doubt")
    ).scalar_one()
    none = Total()
    return Totals(
        search=by_kind.get("search", none),
        fetch=by_kind.get("fetch", none),
        model=by_kind.get("model", none),
        n_in_doubt=n_in_doubt,
    )
