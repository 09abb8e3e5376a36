"""The journal on both databases: turns found again, events numbered, states that stay, answers that appear at once."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from firsthand import ids
from firsthand.db import Connection, Database, metadata
from firsthand.durable import journal, lease, ledger, receipts
from firsthand.durable.journal import JsonObject, Run, Turn
from firsthand.errors import JournalConflict, NotFound
from firsthand.events import Event

STARTED = Event("TurnStarted", "start", {"question": "q"})
FINISHED = Event("AnswerFinished", "answer", {})
OPTIONS: JsonObject = {"mode": "search", "libraries": ["docs"]}


def begin(database: Database, question: str = "q", options: JsonObject = OPTIONS) -> tuple[Turn, Run]:
    held = database.write_now(lease.acquire, "s", lease.this_holder(), 0)
    return database.write_now(journal.start, held, question, options)


def body(text: str = "It is 42.") -> JsonObject:
    return {"schema": "firsthand.answer/1", "id": ids.new_id("answer"), "text": text}


def test_the_migrated_tables_are_those_that_the_code_uses(database: Database) -> None:
    tables = [
        lease.lease_table,
        journal.session_table,
        journal.turn_table,
        journal.run_table,
        journal.event_table,
        receipts.receipt_table,
        ledger.charge_table,
        journal.answer_table,
    ]

    def shapes(connection: Connection) -> dict[str, object]:
        seen = sa.inspect(connection)
        return {
            table.name: (
                [(c["name"], str(c["type"]), c["nullable"]) for c in seen.get_columns(table.name)],
                seen.get_pk_constraint(table.name)["constrained_columns"],
                sorted(str((i["name"], i["column_names"], i["unique"])) for i in seen.get_indexes(table.name)),
                sorted(str((f["constrained_columns"], f["referred_table"])) for f in seen.get_foreign_keys(table.name)),
                sorted(str(u["column_names"]) for u in seen.get_unique_constraints(table.name)),
            )
            for table in tables
        }

    def remade(connection: Connection) -> dict[str, object]:
        metadata.drop_all(connection, tables=tables)
        metadata.create_all(connection, tables=tables)
        return shapes(connection)

    migrated = database.read_now(shapes)
    assert database.write_now(remade) == migrated


def test_the_same_question_continues_an_unfinished_turn_and_counts_a_second_run(database: Database) -> None:
    turn, run = begin(database)
    again, second = begin(database)
    assert again == turn
    assert (run.n, second.n) == (1, 2)
    assert turn.options == OPTIONS


@pytest.mark.parametrize(("question", "options"), [("other", OPTIONS), ("q", {**OPTIONS, "mode": "news"})])
def test_another_question_or_other_options_start_a_turn_of_their_own(
    database: Database, question: str, options: JsonObject
) -> None:
    turn, _ = begin(database)
    other, _ = begin(database, question, options)
    assert other.turn_id != turn.turn_id
    assert [t.turn_id for t in database.read_now(journal.turns, "s")] == [turn.turn_id, other.turn_id]


def test_the_same_question_after_the_end_starts_a_new_turn(database: Database) -> None:
    finished, run = begin(database)
    database.write_now(journal.finish_turn, run, body(), FINISHED)
    failed, run = begin(database)
    database.write_now(journal.fail_turn, run, Event("TurnFailed", "end"))
    third, _ = begin(database)
    assert len({finished.turn_id, failed.turn_id, third.turn_id}) == 3


def test_a_turn_of_another_session_is_as_good_as_missing(database: Database) -> None:
    turn, _ = begin(database)
    other = database.write_now(lease.acquire, "other", lease.this_holder(), 0)
    with pytest.raises(NotFound):
        database.write_now(journal.begin_run, other, turn.turn_id)


def test_an_event_said_again_adds_nothing_and_keeps_its_first_words(database: Database) -> None:
    turn, run = begin(database)
    assert database.write_now(journal.append_event, run, STARTED) == 1
    assert database.write_now(journal.append_event, run, Event("PageKept", "page", {"url": "u"})) == 2
    assert database.write_now(journal.append_event, run, Event("TurnStarted", "start", {"question": "new"})) == 1
    kept = database.read_now(journal.events, turn.turn_id)
    assert [(e.seq, e.type, e.key, e.data) for e in kept] == [
        (1, "TurnStarted", "start", {"question": "q"}),
        (2, "PageKept", "page", {"url": "u"}),
    ]
    assert [e.seq for e in database.read_now(journal.events, turn.turn_id, after=1)] == [2]
    with pytest.raises(JournalConflict):
        database.write_now(journal.append_event, run, Event("TurnFailed", "start"))


async def test_events_said_at_once_are_numbered_without_a_gap(database: Database) -> None:
    turn, run = begin(database)
    said = [Event("PageKept", f"page {n % 40}") for n in range(80)]
    await asyncio.gather(*(database.write(journal.append_event, run, event) for event in said))
    kept = await database.read(journal.events, turn.turn_id)
    assert [e.seq for e in kept] == list(range(1, 41))
    assert len({e.key for e in kept}) == 40


def test_answer_state_and_last_event_appear_together_or_not_at_all(database: Database) -> None:
    turn, run = begin(database)

    def interrupted(connection: Connection) -> None:
        journal.finish_turn(connection, run, body(), FINISHED)
        raise RuntimeError("killed before the commit")

    with pytest.raises(RuntimeError):
        database.write_now(interrupted)
    assert database.read_now(journal.find_turn, turn.turn_id) == turn
    assert database.read_now(journal.answer_of_turn, turn.turn_id) is None
    assert database.read_now(journal.events, turn.turn_id) == []

    answer = body()
    assert database.write_now(journal.finish_turn, run, answer, FINISHED) == answer
    finished = database.read_now(journal.find_turn, turn.turn_id)
    assert (finished.state, finished.answer_id) == ("finished", answer["id"])
    assert database.read_now(journal.find_answer, str(answer["id"])).body == answer
    assert [e.type for e in database.read_now(journal.events, turn.turn_id)] == ["AnswerFinished"]


def test_the_answer_kept_first_is_the_answer(database: Database) -> None:
    _, run = begin(database)
    first = database.write_now(journal.keep_answer, run, body("first"))
    assert database.write_now(journal.keep_answer, run, body("second")) == first
    assert database.write_now(journal.finish_turn, run, body("third"), FINISHED) == first
    assert [a.body for a in database.read_now(journal.answers, "s")] == [first]


@pytest.mark.parametrize("how", ["finished", "failed"])
def test_nothing_is_added_to_a_turn_that_ended(database: Database, how: str) -> None:
    turn, run = begin(database)
    if how == "finished":
        database.write_now(journal.finish_turn, run, body(), FINISHED)
    else:
        database.write_now(journal.fail_turn, run, Event("TurnFailed", "end"))
    before = database.read_now(journal.find_turn, turn.turn_id), database.read_now(journal.events, turn.turn_id)
    writes = [
        lambda c: journal.append_event(c, run, STARTED),
        lambda c: receipts.begin(c, run, "k", "fetch", {}, paid=False),
        lambda c: journal.keep_answer(c, run, body()),
        lambda c: journal.finish_turn(c, run, body(), Event("AnswerFinished", "again")),
        lambda c: journal.fail_turn(c, run, Event("TurnFailed", "again")),
        lambda c: journal.begin_run(c, run.lease, turn.turn_id),
    ]
    for write in writes:
        with pytest.raises(JournalConflict):
            database.write_now(write)
    after = database.read_now(journal.find_turn, turn.turn_id), database.read_now(journal.events, turn.turn_id)
    assert after == before


def test_instants_are_utc_and_say_so(database: Database) -> None:
    turn, _ = begin(database)
    assert turn.created_at.endswith("+00:00")


def test_an_answer_that_nobody_has_seen_is_given_again_until_it_is_collected(database: Database) -> None:
    turn, run = begin(database)
    kept = database.write_now(journal.finish_turn, run, body(), FINISHED, is_awaited=True)
    ask = (turn.session_id, turn.question, turn.options)
    unseen = database.read_now(journal.awaited_answer, *ask)
    assert unseen is not None and unseen.body == kept
    assert database.read_now(journal.awaited_answer, turn.session_id, "another question", turn.options) is None
    database.write_now(journal.collect, unseen.answer_id)
    assert database.read_now(journal.awaited_answer, *ask) is None
