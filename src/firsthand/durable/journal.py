"""The journal: what was asked, run, said and answered, so that a killed turn can be taken up where it stopped.

Every function takes a connection and belongs in one transaction; every write names the lease it is made under and is
refused if that lease is no longer the newest. States only move along the tables below, and a final one never changes.

A turn is found again by its question and options (``open_turn``); an event by its key; an operation by what it asks.
So a second run of a turn says and does only what the first one had not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, cast

import sqlalchemy as sa

from firsthand import fault, ids
from firsthand.db import Connection, metadata
from firsthand.durable import lease as leases
from firsthand.durable.lease import Lease, now_iso
from firsthand.errors import JournalConflict, NotFound
from firsthand.events import Event, EventType, NumberedEvent
from firsthand.values import JsonValue

JsonObject = dict[str, JsonValue]
TurnState = Literal["running", "finished", "failed"]

TURN_MOVES: Mapping[TurnState, frozenset[TurnState]] = {
    "running": frozenset({"finished", "failed"}),
    "finished": frozenset(),
    "failed": frozenset(),
}
_JSON = sa.JSON(none_as_null=True)

session_table = sa.Table(
    "session",
    metadata,
    sa.Column("session_id", sa.Text, primary_key=True),  # the user's own name for it
    sa.Column("created_at", sa.Text, nullable=False),
)
AWAITED_FOR = timedelta(days=1)  # after a day, asking the same again wants a new answer

turn_table = sa.Table(
    "turn",
    metadata,
    sa.Column("turn_id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.ForeignKey("session.session_id"), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("options", _JSON, nullable=False),
    sa.Column("options_key", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("finished_at", sa.Text),
    sa.Column("answer_id", sa.Text),
    sa.Column("is_awaited", sa.Boolean, nullable=False, server_default=sa.false()),  # nobody has seen its answer yet
    sa.Index("ix_turn_session", "session_id", "created_at"),
    sa.Index(
        "ix_turn_unfinished",
        "session_id",
        "options_key",
        unique=True,
        sqlite_where=sa.text(
            "state = 'running'"
        ),  # on PostgreSQL too: see the migration. Saying so here loads its dialect
    ),
)
run_table = sa.Table(
    "run",
    metadata,
    sa.Column("turn_id", sa.ForeignKey("turn.turn_id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),  # from 1
    sa.Column("started_at", sa.Text, nullable=False),
    sa.Column("ended_at", sa.Text),  # absent after a crash
    sa.Column("fence", sa.BigInteger, nullable=False),
)
event_table = sa.Table(
    "event",
    metadata,
    sa.Column("turn_id", sa.ForeignKey("turn.turn_id"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),  # from 1, without a gap
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("data", _JSON, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.UniqueConstraint("turn_id", "key", name="uq_event_key"),
)
answer_table = sa.Table(
    "answer",
    metadata,
    sa.Column("answer_id", sa.Text, primary_key=True),
    sa.Column("turn_id", sa.ForeignKey("turn.turn_id"), nullable=False, unique=True),
    sa.Column("session_id", sa.ForeignKey("session.session_id"), nullable=False),
    sa.Column("body", _JSON, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Index("ix_answer_session", "session_id", "created_at"),
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a session and what became of it."""

    turn_id: str
    session_id: str
    question: str
    options: JsonObject
    state: TurnState
    created_at: str
    finished_at: str | None
    answer_id: str | None


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a turn, under one lease. Everything the run writes is written through it."""

    lease: Lease
    turn_id: str
    n: int


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it was published."""

    answer_id: str
    turn_id: str
    session_id: str
    body: JsonObject
    created_at: str


# -- Turns and runs


def open_turn(connection: Connection, lease: Lease, question: str, options: JsonObject) -> Turn:
    """The unfinished turn of this session with the same question and options, or a new one.

    ``options`` holds what changes the answer; leave out what does not (where to write it, how to print it).
    """
    leases.check(connection, lease)
    at = now_iso(connection)
    session = sa.select(session_table.c.session_id).where(session_table.c.session_id == lease.session_id)
    if connection.execute(session).one_or_none() is None:
        connection.execute(session_table.insert().values(session_id=lease.session_id, created_at=at))
    options_key = ids.content_key(question, options)
    found = connection.execute(
        sa.select(turn_table).where(
            turn_table.c.session_id == lease.session_id,
            turn_table.c.options_key == options_key,
            turn_table.c.state == "running",
        )
    ).one_or_none()
    if found is not None:
        return _turn(found)
    turn_id = ids.new_id("turn")
    connection.execute(
        turn_table.insert().values(
            turn_id=turn_id,
            session_id=lease.session_id,
            question=question,
            options=options,
            options_key=options_key,
            state="running",
            created_at=at,
        )
    )
    fault.point("turn.in_open")
    return Turn(turn_id, lease.session_id, question, options, "running", at, None, None)


def begin_run(connection: Connection, lease: Lease, turn_id: str) -> Run:
    """A new run of a running turn."""
    _lock_running(connection, lease, turn_id)
    last = connection.execute(sa.select(sa.func.max(run_table.c.n)).where(run_table.c.turn_id == turn_id)).scalar()
    run = Run(lease, turn_id, (last or 0) + 1)
    connection.execute(
        run_table.insert().values(turn_id=turn_id, n=run.n, started_at=now_iso(connection), fence=lease.fence)
    )
    return run


def start(connection: Connection, lease: Lease, question: str, options: JsonObject) -> tuple[Turn, Run]:
    """``open_turn`` and ``begin_run`` in one transaction: how a caller begins, the first time and after a crash."""
    turn = open_turn(connection, lease, question, options)
    return turn, begin_run(connection, lease, turn.turn_id)


def end_run(connection: Connection, run: Run) -> None:
    """The run ended without finishing its turn: interrupted, or waiting for a decision."""
    leases.check(connection, run.lease)
    _end_run(connection, run)


def check_run(connection: Connection, run: Run) -> None:
    """Nothing, if the run may write now, and until this transaction ends. Raises: LeaseLost; JournalConflict."""
    _lock_running(connection, run.lease, run.turn_id)


def find_turn(connection: Connection, turn_id: str) -> Turn:
    """One turn. Raises: NotFound."""
    found = connection.execute(sa.select(turn_table).where(turn_table.c.turn_id == turn_id)).one_or_none()
    if found is None:
        raise NotFound("unknown_turn", f"There is no turn {turn_id!r}.", turn_id=turn_id)
    return _turn(found)


def turns(connection: Connection, session_id: str) -> list[Turn]:
    """The turns of a session, oldest first."""
    found = sa.select(turn_table).where(turn_table.c.session_id == session_id)
    return [_turn(row) for row in connection.execute(found.order_by(turn_table.c.created_at, turn_table.c.turn_id))]


# -- Events


def append_event(connection: Connection, run: Run, event: Event) -> int:
    """The number of *event* in its turn; an event whose key is there already keeps its number, and adds nothing.

    Raises: JournalConflict if the key was used by an event of another type.
    """
    _lock_running(connection, run.lease, run.turn_id)
    return _append(connection, run.turn_id, event)


def events(connection: Connection, turn_id: str, after: int = 0) -> list[NumberedEvent]:
    """The events of a turn numbered above *after*, in order."""
    found = connection.execute(
        sa.select(event_table)
        .where(event_table.c.turn_id == turn_id, event_table.c.seq > after)
        .order_by(event_table.c.seq)
    )
    return [NumberedEvent(row.seq, cast(EventType, row.type), row.key, row.data, row.at) for row in found]


def _append(connection: Connection, turn_id: str, event: Event) -> int:
    mine = event_table.c.turn_id == turn_id
    known = connection.execute(
        sa.select(event_table.c.seq, event_table.c.type).where(mine, event_table.c.key == event.key)
    ).one_or_none()
    if known is not None:
        if known.type != event.type:
            raise JournalConflict(
                "event_key_reused",
                f"Event {event.key!r} of turn {turn_id} is a {known.type} and cannot become a {event.type}.",
                turn_id=turn_id,
                key=event.key,
            )
        return int(known.seq)
    last = connection.execute(sa.select(sa.func.max(event_table.c.seq)).where(mine)).scalar()
    seq = (last or 0) + 1
    connection.execute(
        event_table.insert().values(
            turn_id=turn_id, seq=seq, key=event.key, type=event.type, data=event.data, at=now_iso(connection)
        )
    )
    fault.point("event.in_append")
    return seq


# -- Answers


def keep_answer(connection: Connection, run: Run, body: JsonObject) -> JsonObject:
    """The answer of a running turn, kept before anything of it is delivered. The first one kept is the answer:
    what a later run made of the same evidence does not replace it, so files and store always agree.
    """
    _lock_running(connection, run.lease, run.turn_id)
    kept = answer_of_turn(connection, run.turn_id)
    if kept is not None:
        return kept.body
    connection.execute(
        answer_table.insert().values(
            answer_id=body["id"],
            turn_id=run.turn_id,
            session_id=run.lease.session_id,
            body=body,
            created_at=now_iso(connection),
        )
    )
    return body


def finish_turn(
    connection: Connection, run: Run, body: JsonObject, last: Event, *, is_awaited: bool = False
) -> JsonObject:
    """The turn is finished: its answer, its state and its last event become visible together.

    The answer as it stands in the store: the one that was kept before, if there was one. With *is_awaited* whoever asks
    the same again is given it (``awaited_answer``), until ``collect`` says that it was seen.
    """
    kept = keep_answer(connection, run, body)
    fault.point("turn.in_finish")
    _close(connection, run, "finished", last, answer_id=str(kept["id"]))
    if is_awaited:
        connection.execute(turn_table.update().where(turn_table.c.turn_id == run.turn_id).values(is_awaited=True))
    return kept


def awaited_answer(connection: Connection, session_id: str, question: str, options: JsonObject) -> StoredAnswer | None:
    """The answer of a finished turn that nobody has seen: its process died before it could show it, today."""
    found = connection.execute(
        sa.select(answer_table)
        .join(turn_table, turn_table.c.turn_id == answer_table.c.turn_id)
        .where(
            turn_table.c.session_id == session_id,
            turn_table.c.options_key == ids.content_key(question, options),
            turn_table.c.is_awaited,
        )
        .order_by(answer_table.c.created_at.desc())
    ).first()
    if found is None:
        return None
    age = datetime.fromisoformat(now_iso(connection)) - datetime.fromisoformat(found.created_at)
    return StoredAnswer(**found._mapping) if age <= AWAITED_FOR else None


def collect(connection: Connection, answer_id: str) -> None:
    """The answer was seen: asking the same again starts a new turn."""
    connection.execute(turn_table.update().where(turn_table.c.answer_id == answer_id).values(is_awaited=False))


def close_turn(connection: Connection, run: Run, last: Event) -> None:
    """The turn is finished and has no answer: a search by itself, whose receipts are all that is kept of it."""
    _close(connection, run, "finished", last, answer_id=None)


def fail_turn(connection: Connection, run: Run, last: Event) -> None:
    """The turn is failed for good. A run that may be taken up again ends with ``end_run`` instead."""
    _close(connection, run, "failed", last, answer_id=None)


def answer_of_turn(connection: Connection, turn_id: str) -> StoredAnswer | None:
    """The answer of a turn, as soon as it is kept. A run that finds one has only to deliver it."""
    found = connection.execute(sa.select(answer_table).where(answer_table.c.turn_id == turn_id)).one_or_none()
    return None if found is None else StoredAnswer(**found._mapping)


def find_answer(connection: Connection, answer_id: str) -> StoredAnswer:
    """An answer by its id. Raises: NotFound."""
    found = connection.execute(sa.select(answer_table).where(answer_table.c.answer_id == answer_id)).one_or_none()
    if found is None:
        raise NotFound("unknown_answer", f"There is no answer {answer_id!r} here.", answer_id=answer_id)
    return StoredAnswer(**found._mapping)


def answers(connection: Connection, session_id: str) -> list[StoredAnswer]:
    """The answers of a session, oldest first."""
    found = sa.select(answer_table).where(answer_table.c.session_id == session_id)
    ordered = found.order_by(answer_table.c.created_at, answer_table.c.answer_id)
    return [StoredAnswer(**row._mapping) for row in connection.execute(ordered)]


def _close(connection: Connection, run: Run, state: TurnState, last: Event, *, answer_id: str | None) -> None:
    was = _lock_running(connection, run.lease, run.turn_id)
    assert state in TURN_MOVES[was]
    _append(connection, run.turn_id, last)
    connection.execute(
        turn_table.update()
        .where(turn_table.c.turn_id == run.turn_id)
        .values(state=state, finished_at=now_iso(connection), answer_id=answer_id)
    )
    _end_run(connection, run)


def _end_run(connection: Connection, run: Run) -> None:
    mine = sa.and_(run_table.c.turn_id == run.turn_id, run_table.c.n == run.n, run_table.c.ended_at.is_(None))
    connection.execute(run_table.update().where(mine).values(ended_at=now_iso(connection)))


def _lock_running(connection: Connection, lease: Lease, turn_id: str) -> TurnState:
    """The state of the turn, which is not final and stays so until this transaction ends. Every write starts here."""
    leases.check(connection, lease)
    found = connection.execute(
        sa.select(turn_table.c.state)
        .where(turn_table.c.turn_id == turn_id, turn_table.c.session_id == lease.session_id)
        .with_for_update()
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_turn", f"Session {lease.session_id!r} has no turn {turn_id!r}.", turn_id=turn_id)
    state = cast(TurnState, found.state)
    if not TURN_MOVES[state]:
        raise JournalConflict("turn_final", f"Turn {turn_id} is {state}; nothing can be added to it.", turn_id=turn_id)
    return state


def _turn(row: Any) -> Turn:
    values = {name: value for name, value in row._mapping.items() if name not in ("options_key", "is_awaited")}
    return Turn(**values)
