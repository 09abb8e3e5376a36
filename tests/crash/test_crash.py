"""A real program, killed at every named point and at random: nothing acknowledged is lost, nothing finished is redone."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO

import pytest
import sqlalchemy as sa

from firsthand import fault
from firsthand.db import Connection, Database, open_database
from firsthand.durable import journal, ledger, receipts
from firsthand.durable.operations import InDoubt, Policy
from tests.crash import engine
from tests.crash.sweep import Process, Subject, Summary, sweep

ENGINE = Path(engine.__file__)
EVENTS = {"start", "search free one", "search free two", "search paid one", "answer"} | {
    f"page /page/{n}" for n in range(1, engine.PAGES + 1)
}
PAID = "/paid?q=one"


class World:
    """A loopback server that counts requests by address."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self._lock = threading.Lock()
        world = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                world.count(self.path)
                body = f"<{self.path}>".encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: object, client_address: object) -> None:
                pass  # whoever asked was killed

        self.server = Server(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def count(self, path: str) -> None:
        with self._lock:
            self.counted[path] += 1

    def close(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


class Nursery:
    """Starts the engine by forking a process that has imported everything: a run costs 0.1 s instead of 0.6."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, str(ENGINE), "--nursery"],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": "src"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def start(self, command: Sequence[str], env: Mapping[str, str], _cwd: Path | None, errors: Path) -> Process:
        asked = {"arguments": command, "fault": env.get("FIRSTHAND_FAULT", ""), "errors": str(errors)}
        assert self._parent.stdin and self._parent.stdout
        self._parent.stdin.write(json.dumps(asked).encode() + b"\n")
        self._parent.stdin.flush()
        return Forked(int(self._parent.stdout.readline()), self._parent.stdout)

    def close(self) -> None:
        self._parent.communicate()


class Forked:
    """One of its children."""

    def __init__(self, pid: int, replies: IO[bytes]) -> None:
        self._pid = pid
        self._replies = replies

    def wait(self, timeout: float | None = None) -> int:
        if not select.select([self._replies], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("engine", timeout or 0)
        return int(self._replies.readline())

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it ended just now
            os.kill(self._pid, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Seen:
    """What stood after the kill."""

    requests: Counter[str]
    finished: frozenset[str]  # addresses of operations whose receipt is done
    lost: tuple[str, ...]  # events that were acknowledged and are not there


class Case:
    """The engine with a state of its own, and what must be true of it."""

    def __init__(self, world: World, nursery: Nursery, template: Path, folder: Path) -> None:
        self._world = world
        self._template = template
        self._folder = folder
        self._file = folder / "engine.db"
        command = [f"sqlite:///{self._file}", world.origin, str(folder)]
        self.subject = Subject(
            command=command,
            env={},
            start=nursery.start,
            reset=self.reset,
            observe=self.observe,
            compare=self.compare,
            recoveries=([*command, "ask"], [*command, "skip"]),
            again=command,
            fingerprint=self.fingerprint,
        )

    def reset(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        shutil.copyfile(self._template, self._file)
        self._world.counted.clear()

    async def run_here(self, policy: Policy) -> None:
        """The engine in this process."""
        with opened(self._file) as database:
            await engine.run(database, self._world.origin, self._folder, policy)

    def observe(self) -> Seen:
        with opened(self._file) as database:
            events, operations = database.read_now(record)
        file = self._folder / "said"
        said = file.read_text().split("\n")[:-1] if file.exists() else []
        finished = frozenset(address(receipt) for receipt in operations if receipt.state == "done")
        return Seen(self._world.counted.copy(), finished, tuple(set(said) - set(events)))

    def compare(self, seen: Seen) -> list[str]:
        requests = self._world.counted
        problems = [f"acknowledged and lost: {key}" for key in seen.lost]
        for path in seen.finished - {"deliver"}:
            if requests[path] != seen.requests[path]:
                problems.append(f"finished, and done again: {path}")
        with opened(self._file) as database:
            problems += database.read_now(wrongs, requests)
            answer = database.read_now(journal.answers, "default")
        file = self._folder / "answer.json"
        if not file.exists() or len(answer) != 1 or json.loads(file.read_text()) != answer[0].body:
            problems.append("the file is not the answer that was kept")
        elif answer[0].body["text"] != " ".join(f"</page/{n}>" for n in range(1, engine.PAGES + 1)):
            problems.append(f"another answer: {answer[0].body['text']}")
        return problems

    def fingerprint(self) -> str:
        with opened(self._file) as database:
            rows = database.read_now(everything)
        return rows + (self._folder / "answer.json").read_text() + str(self._world.counted)


class opened:
    """A database for the length of a block."""

    def __init__(self, file: Path) -> None:
        self._database = open_database(f"sqlite:///{file}")

    def __enter__(self) -> Database:
        return self._database

    def __exit__(self, *_: object) -> None:
        self._database.close()


def record(connection: Connection) -> tuple[list[str], list[receipts.Receipt]]:
    turns = journal.turns(connection, "default")
    if not turns:
        return [], []
    turn_id = turns[0].turn_id
    return [event.key for event in journal.events(connection, turn_id)], receipts.of_turn(connection, turn_id)


def address(receipt: receipts.Receipt) -> str:
    if receipt.kind == "search":
        query = receipt.arguments["query"]
        assert isinstance(query, dict)
        return f"/{receipt.arguments['provider']}?q={query['text']}"
    return str(receipt.arguments["url"]) if receipt.kind == "fetch" else "deliver"


def wrongs(connection: Connection, requests: Counter[str]) -> list[str]:
    """What is wrong with the journal of a recovered turn."""
    found = []
    if (said := connection.exec_driver_sql("PRAGMA integrity_check").scalar()) != "ok":
        found.append(f"the file is damaged: {said}")
    turns = journal.turns(connection, "default")
    if [turn.state for turn in turns] != ["finished"]:
        return [*found, f"not one finished turn: {turns}"]
    turn_id = turns[0].turn_id
    events = journal.events(connection, turn_id)
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        found.append("events are not numbered 1 to n")
    if sorted(event.key for event in events) != sorted(EVENTS) or events[-1].key != "answer":
        found.append(f"other events: {[event.key for event in events]}")
    operations = receipts.of_turn(connection, turn_id)
    open_receipts = [address(receipt) for receipt in operations if receipt.state in ("begun", "in_doubt")]
    if open_receipts:
        found.append(f"without an end: {open_receipts}")
    n_done = sum(receipt.state == "done" and receipt.kind != "deliver" for receipt in operations)
    totals = ledger.turn_totals(connection, turn_id)
    if totals.search.calls + totals.fetch.calls != n_done:
        found.append(f"{n_done} operations done, but charged {totals}")
    n_runs = connection.execute(sa.select(sa.func.count()).select_from(journal.run_table)).scalar_one()
    for path, n in requests.items():
        if n > (1 if path == PAID else n_runs):  # a free act that was cut is done again, once in each run at most
            found.append(f"asked {n} times in {n_runs} runs: {path}")
    paid = next(receipt for receipt in operations if receipt.paid)
    if totals.cost_microusd != (engine.PAID_MICROUSD if paid.state == "done" else 0):
        found.append(f"a paid search that is {paid.state} was charged {totals.cost_microusd}")
    if paid.state == "done" and requests[PAID] != 1:
        found.append("the ledger and the provider disagree")
    kept = connection.execute(sa.select(engine.kept_table.c.url)).scalars()
    if sorted(kept) != [f"/page/{n}" for n in range(1, engine.PAGES + 1)]:
        found.append("pages are not kept once each")
    return found


def everything(connection: Connection) -> str:
    """All rows but the lease's, which says who came last."""
    names = [name for name in sa.inspect(connection).get_table_names() if name != "lease"]
    return "\n".join(str(connection.exec_driver_sql(f'SELECT * FROM "{name}"').all()) for name in sorted(names))


@pytest.fixture(scope="session")
def engine_template(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("engine") / "template.db"
    shutil.copyfile(sqlite_template, file)
    with opened(file) as database:
        database.write_now(engine.kept_table.create)
    return file


@pytest.fixture
def case(engine_template: Path, tmp_path: Path) -> Iterator[Case]:
    world, nursery = World(), Nursery()
    yield Case(world, nursery, engine_template, tmp_path / "case")
    nursery.close()
    world.close()


def test_killed_at_every_point_and_at_random_nothing_is_lost_and_nothing_finished_is_done_again(
    case: Case, tmp_path: Path
) -> None:
    out = tmp_path / "rows.jsonl"
    summary = sweep(case.subject, hits=1, n_random=3, n_double=2, fail_at=("db.before_commit",), again_every=4, out=out)
    assert summary.bad == ()
    assert_it_really_killed(summary)
    assert len(out.read_text().splitlines()) == len(summary.rows)


def assert_it_really_killed(summary: Summary) -> None:
    reached = {row.point for row in summary.rows if row.kind == "point" and row.was_interrupted}
    wanted = {"op.before_begin", "op.after_begin", "act.received", "op.in_settle", "op.after_settle", "turn.in_finish"}
    assert wanted <= reached


async def test_cancelled_at_any_point_it_continues_like_a_killed_one(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_points = await cancelled_run(case, monkeypatch, at=None)
    assert case.compare(case.observe()) == []
    asked = 0
    for at in range(1, n_points + 1, 11):
        case.reset()
        await cancelled_run(case, monkeypatch, at=at)
        seen = case.observe()
        asked += await recovered(case)
        assert case.compare(seen) == [], f"cancelled at point {at}"
    assert asked > 0  # some fell into the paid search, and somebody was asked


async def recovered(case: Case) -> bool:
    """Whether the recovery had to ask about the paid search."""
    try:
        await case.run_here("ask")
    except InDoubt:
        await case.run_here("skip")
        return True
    return False


async def cancelled_run(case: Case, monkeypatch: pytest.MonkeyPatch, at: int | None) -> int:
    """Run the engine in this process and cancel it at the point numbered *at*; how many points it passed."""
    loop = asyncio.get_running_loop()
    case.reset()
    task = asyncio.create_task(case.run_here("ask"))
    passed = itertools.count(1)
    n_points = 0

    def point(_name: str) -> None:
        nonlocal n_points
        n_points = next(passed)
        if n_points == at:
            loop.call_soon_threadsafe(task.cancel)

    with monkeypatch.context() as patched:
        patched.setattr(fault, "point", point)
        await asyncio.wait([task])
    if not task.cancelled():
        task.result()
    return n_points
