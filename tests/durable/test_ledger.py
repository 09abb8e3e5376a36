"""Charges are kept with their receipts, and add up by turn and session."""

from __future__ import annotations

from firsthand.db import Database
from firsthand.durable import journal, lease, ledger, receipts
from firsthand.durable.ledger import Total
from firsthand.events import Event

SPENT: list[tuple[ledger.Kind, int]] = [("search", 5_000), ("fetch", 0), ("fetch", 0)]


def test_charges_add_up_by_turn_and_by_session(database: Database) -> None:
    held = database.write_now(lease.acquire, "s", lease.this_holder(), 0)
    keys = iter("abcdef")
    for question in ("one", "two"):
        _, run = database.write_now(journal.start, held, question, {})
        for kind, cost in SPENT:
            key = next(keys)
            database.write_now(receipts.begin, run, key, kind, {}, paid=cost > 0)
            database.write_now(ledger.charge, run, key, kind, calls=1, n_bytes=1_000, cost_microusd=cost)
    database.write_now(receipts.settle, run, "d", "in_doubt", None)
    of_turn = database.read_now(ledger.turn_totals, run.turn_id)
    of_session = database.read_now(ledger.session_totals, "s")
    assert (of_turn.search, of_turn.fetch, of_turn.model) == (Total(1, 1_000, 5_000), Total(2, 2_000, 0), Total())
    assert (of_session.search, of_session.fetch) == (Total(2, 2_000, 10_000), Total(4, 4_000, 0))
    assert (of_session.cost_microusd, of_session.n_in_doubt) == (10_000, 1)
    assert database.read_now(ledger.session_totals, "other").cost_microusd == 0


def test_a_second_charge_of_one_operation_is_a_second_entry(database: Database) -> None:
    held = database.write_now(lease.acquire, "s", lease.this_holder(), 0)
    _, run = database.write_now(journal.start, held, "q", {})
    database.write_now(receipts.begin, run, "k", "search", {}, paid=True)
    for _ in range(2):
        database.write_now(ledger.charge, run, "k", "search", calls=1, n_bytes=10, cost_microusd=7)
    database.write_now(journal.append_event, run, Event("TurnStarted", "start"))
    assert database.read_now(ledger.turn_totals, run.turn_id).search == Total(2, 20, 14)


def test_what_is_in_doubt_is_listed_and_what_was_begun_once_its_driver_is_gone(database: Database) -> None:
    held = database.write_now(lease.acquire, "s", lease.this_holder(), 60_000)
    _, run = database.write_now(journal.start, held, "q", {})
    for key, paid in (("doubted", True), ("under way", True), ("free", False), ("done", True)):
        database.write_now(receipts.begin, run, key, "search", {"provider": key}, paid=paid)
    database.write_now(receipts.settle, run, "doubted", "in_doubt", None)
    database.write_now(receipts.settle, run, "done", "done", {})

    def listed() -> list[str]:
        return sorted(receipt.key for receipt in database.read_now(ledger.in_doubt))

    assert listed() == ["doubted"]
    database.write_now(lease.release, held)
    assert listed() == ["doubted", "under way"]
    taken = database.write_now(lease.acquire, "s", lease.this_holder(), 60_000)
    assert listed() == ["doubted", "under way"]  # somebody else drives the session now
    _, again = database.write_now(journal.start, taken, "q", {})
    database.write_now(receipts.begin_again, again, "under way")
    assert listed() == ["doubted"]


def test_a_search_by_itself_ends_its_turn_without_an_answer_and_the_next_is_a_turn_of_its_own(
    database: Database,
) -> None:
    held = database.write_now(lease.acquire, "s", lease.this_holder(), 0)
    turn, run = database.write_now(journal.start, held, "q", {})
    database.write_now(journal.close_turn, run, Event("SearchFinished", "finished"))
    closed = database.read_now(journal.find_turn, turn.turn_id)
    assert (closed.state, closed.answer_id) == ("finished", None)
    assert database.write_now(journal.start, held, "q", {})[0].turn_id != turn.turn_id
