"""Receipts on both databases: they move along their table, and out of doubt by a decision only."""

from __future__ import annotations

import pytest

from firsthand.db import Connection, Database
from firsthand.durable import journal, lease, receipts
from firsthand.durable.journal import Run
from firsthand.durable.receipts import ReceiptState
from firsthand.errors import JournalConflict


def begin(database: Database) -> tuple[journal.Turn, Run]:
    held = database.write_now(lease.acquire, "s", lease.this_holder(), 0)
    return database.write_now(journal.start, held, "q", {})


STATES: list[ReceiptState] = ["begun", "done", "failed", "in_doubt"]


@pytest.mark.parametrize("decided_by", [None, "person"])
@pytest.mark.parametrize("new", STATES)
@pytest.mark.parametrize("old", STATES)
def test_a_receipt_moves_along_its_table_only(
    database: Database, old: ReceiptState, new: ReceiptState, decided_by: str | None
) -> None:
    _, run = begin(database)
    database.write_now(receipts.begin, run, "k", "search", {}, paid=True)
    if old != "begun":
        database.write_now(receipts.settle, run, "k", old, {"n": 1})
    needs_decision = old == "in_doubt" and decided_by is None
    is_allowed = (new in receipts.RECEIPT_MOVES[old] and not needs_decision) or (old, new) == ("begun", "begun")

    def move(connection: Connection) -> None:
        if new == "begun":
            receipts.begin_again(connection, run, "k", decided_by=decided_by)
        else:
            receipts.settle(connection, run, "k", new, {"n": 2}, decided_by=decided_by)

    if is_allowed:
        database.write_now(move)
    else:
        with pytest.raises(JournalConflict):
            database.write_now(move)
    kept = database.read_now(receipts.find, run.turn_id, "k")
    assert kept is not None
    assert kept.state == (new if is_allowed else old)


def test_settling_the_same_way_again_changes_nothing(database: Database) -> None:
    _, run = begin(database)
    database.write_now(receipts.begin, run, "k", "fetch", {"url": "u"}, paid=False)
    database.write_now(receipts.settle, run, "k", "done", {"n": 1}, cost_microusd=5)
    before = database.read_now(receipts.find, run.turn_id, "k")
    database.write_now(receipts.settle, run, "k", "done", {"n": 1}, cost_microusd=5)
    assert database.read_now(receipts.find, run.turn_id, "k") == before


def test_operations_in_doubt_are_listed_by_session(database: Database) -> None:
    _, run = begin(database)
    database.write_now(receipts.begin, run, "k", "search", {"provider": "p"}, paid=True)
    database.write_now(receipts.settle, run, "k", "in_doubt", None)
    assert [r.key for r in database.read_now(receipts.in_doubt)] == ["k"]
    assert [r.key for r in database.read_now(receipts.in_doubt, "s")] == ["k"]
    assert database.read_now(receipts.in_doubt, "other") == []
