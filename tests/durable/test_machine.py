"""Programs of random steps against a plain dictionary: asking, saying, acting, crashing, being replaced, ending."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings, stateful
from hypothesis import strategies as st

from firsthand.db import Connection, Database, open_database
from firsthand.durable import journal, lease, ledger, receipts
from firsthand.durable.journal import Run
from firsthand.durable.receipts import ReceiptState
from firsthand.errors import JournalConflict, LeaseLost
from firsthand.events import Event


@dataclass
class Model:
    """What a turn should be."""

    state: str = "running"
    events: list[str] = field(default_factory=list)
    receipts: dict[str, ReceiptState] = field(default_factory=dict)
    n_charges: int = 0
    answer: str | None = None


class JournalMachine(stateful.RuleBasedStateMachine):
    """One session; a crash leaves its lease to the next driver, and the old one goes on trying to write."""

    template: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        shutil.copyfile(self.template, self.folder / "machine.db")
        self.database: Database = open_database(f"sqlite:///{self.folder / 'machine.db'}")
        self.turns: dict[str, Model] = {}
        self.run: Run | None = None
        self.stale: list[Run] = []
        self.n_answers = 0
        self.held = self.database.write_now(lease.acquire, "s", lease.this_holder(), 0)

    def teardown(self) -> None:
        self.database.close()
        shutil.rmtree(self.folder)

    @stateful.rule(question=st.sampled_from("ab"))
    def ask(self, question: str) -> None:
        turn, self.run = self.database.write_now(journal.start, self.held, question, {})
        unfinished = self.turns.get(turn.turn_id)
        if unfinished is None:
            assert not any(
                model.state == "running" and self.database.read_now(journal.find_turn, turn_id).question == question
                for turn_id, model in self.turns.items()
            )
            self.turns[turn.turn_id] = Model()
        else:
            assert unfinished.state == "running"

    @stateful.rule()
    def crash(self) -> None:
        if self.run is not None:
            self.stale.append(self.run)
        self.run = None
        self.held = self.database.write_now(lease.acquire, "s", lease.this_holder(), 0)

    @stateful.rule(key=st.sampled_from("xyz"))
    def say(self, key: str) -> None:
        if self.run is None:
            return
        model = self.turns[self.run.turn_id]
        if model.state != "running":
            with pytest.raises(JournalConflict):
                self.database.write_now(journal.append_event, self.run, Event("PageKept", key))
            return
        seq = self.database.write_now(journal.append_event, self.run, Event("PageKept", key))
        if key not in model.events:
            model.events.append(key)
        assert seq == model.events.index(key) + 1

    @stateful.rule(key=st.sampled_from("uvw"))
    def begin(self, key: str) -> None:
        if self.run is None:
            return
        model = self.turns[self.run.turn_id]
        if model.state != "running" or key in model.receipts:
            with pytest.raises(JournalConflict):
                self.database.write_now(receipts.begin, self.run, key, "fetch", {}, paid=False)
            return
        self.database.write_now(receipts.begin, self.run, key, "fetch", {}, paid=False)
        model.receipts[key] = "begun"

    @stateful.rule(key=st.sampled_from("uvw"), state=st.sampled_from(["done", "failed", "in_doubt"]))
    def settle(self, key: str, state: ReceiptState) -> None:
        if self.run is None:
            return
        run, model = self.run, self.turns[self.run.turn_id]
        old = model.receipts.get(key)
        is_allowed = model.state == "running" and (old == "begun" or (old is not None and old == state))

        def settle(connection: Connection) -> None:
            if old == "begun":
                ledger.charge(connection, run, key, "fetch", calls=1, n_bytes=1, cost_microusd=0)
            receipts.settle(connection, run, key, state, {"is": state})  # type: ignore[arg-type]

        if not is_allowed:
            with pytest.raises(JournalConflict):
                self.database.write_now(settle)
            return
        self.database.write_now(settle)
        model.receipts[key] = state
        model.n_charges += old == "begun"

    @stateful.rule(ending=st.sampled_from(["finish", "fail"]))
    def end(self, ending: str) -> None:
        if self.run is None:
            return
        model = self.turns[self.run.turn_id]
        self.n_answers += 1
        body: journal.JsonObject = {"id": f"answer-{self.n_answers}"}

        def close(connection: Connection) -> None:
            assert self.run is not None
            if ending == "finish":
                journal.finish_turn(connection, self.run, body, Event("AnswerFinished", "end"))
            else:
                journal.fail_turn(connection, self.run, Event("TurnFailed", "end"))

        if model.state != "running":
            with pytest.raises(JournalConflict):
                self.database.write_now(close)
            return
        self.database.write_now(close)
        model.state = "finished" if ending == "finish" else "failed"
        model.answer = str(body["id"]) if ending == "finish" else None
        model.events.append("end")

    @stateful.rule(key=st.sampled_from("xyz"))
    def wake_up_late(self, key: str) -> None:
        for run in self.stale[-2:]:
            with pytest.raises(LeaseLost):
                self.database.write_now(journal.append_event, run, Event("PageKept", key))

    @stateful.invariant()
    def store_agrees_with_model(self) -> None:
        assert {t.turn_id for t in self.database.read_now(journal.turns, "s")} == set(self.turns)
        for turn_id, model in self.turns.items():
            turn = self.database.read_now(journal.find_turn, turn_id)
            assert (turn.state, turn.answer_id) == (model.state, model.answer)
            events = self.database.read_now(journal.events, turn_id)
            assert [(e.seq, e.key) for e in events] == list(enumerate(model.events, start=1))
            kept = self.database.read_now(receipts.of_turn, turn_id)
            assert {r.key: r.state for r in kept} == model.receipts
            assert self.database.read_now(ledger.turn_totals, turn_id).fetch.calls == model.n_charges


def test_the_journal_agrees_with_a_dictionary_after_every_step(sqlite_template: Path) -> None:
    JournalMachine.template = sqlite_template
    stateful.run_state_machine_as_test(
        JournalMachine,
        settings=settings(
            max_examples=15,
            stateful_step_count=25,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
