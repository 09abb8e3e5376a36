"""Kills the real command line in the middle of a web answer, runs it again, and compares with an undisturbed run.

    python -m benchmarks.crash [--hits N] [--random N] [--double N] [--out FILE]

The world is a server on loopback that plays the search engine and five pages and counts every request. After each kill
and recovery must hold: the same answer, all quotes where they should be, events numbered without a gap and the same as
undisturbed, every receipt settled, every charge there once, and no request again for what had a receipt when it died.
One JSON line a row goes to --out; the figures are the last line. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from firsthand.app import open_app
from firsthand.db import Connection, open_database
from firsthand.durable.journal import answer_table, event_table, turn_table
from firsthand.durable.ledger import charge_table
from firsthand.durable.receipts import receipt_table
from firsthand.settings import load_settings
from tests.crash.sweep import Subject, sweep

QUESTION = "How many tables can a join of the Orchid database hold?"
FACTS = (
    "The Orchid database refuses a join that holds more than 64 tables, because its planner keeps one bit for each.",
    "In Orchid a join is planned before it runs. A join of the Orchid database may hold at most 64 tables.",
    "Orchid is a small database. Its tables are kept in one file, and each table may have 2000 columns.",
    "A join that holds many tables is slow in every database, also in Orchid, unless there are indexes.",
    "The history of the Orchid database: the first release could join 8 tables, later ones 64.",
)
VOLATILE = ("id", "elapsed_ms")


class World:
    """A search engine and its pages on loopback, with a count of every request by path."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        world = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = urlsplit(self.path).path
                world.requests[path] += 1
                status, kind, body = world.reply(path)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Requests are counted, not printed."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def reply(self, path: str) -> tuple[int, str, bytes]:
        """What the world says to a path."""
        if path == "/search":
            rows = [
                {"url": f"http://{self.address}/page/{n}", "title": f"Orchid {n}", "content": "…"}
                for n in range(len(FACTS))
            ]
            rows.insert(1, {"url": f"http://{self.address}/gone", "title": "Gone", "content": "…"})
            return 200, "application/json", json.dumps({"results": rows}).encode()
        if path.startswith("/page/"):
            n = int(path.removeprefix("/page/"))
            body = f"<!doctype html><title>Orchid, page {n}</title><h1>Orchid joins</h1><p>{FACTS[n]}</p>"
            return 200, "text/html; charset=utf-8", body.encode()
        return 404, "text/plain", b"nothing here"


@dataclass(frozen=True, slots=True)
class Seen:
    """What stood when the program died."""

    requests: dict[str, int]  # by path, for what had a settled receipt
    is_over: bool  # its answer had been shown


class Case:
    """The command under test, its data folder, and how the two runs are compared."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.home = folder / "home"
        self.out = folder / "out"
        self.template = folder / "template"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "FIRSTHAND_HOME": str(self.home),
            "FIRSTHAND_SEARXNG_URL": f"http://{world.address}",
            "FIRSTHAND_ALLOW_PRIVATE": world.address,
            "FIRSTHAND_HOST_INTERVAL_S": "0",
        }
        self.settings = load_settings(self.env)
        asyncio.run(self._make_template())
        self.reference: dict[str, Any] | None = None
        self.events: list[tuple[int, str, str]] = []

    async def _make_template(self) -> None:
        async with open_app(self.settings):
            pass
        shutil.copytree(self.home, self.template)

    @property
    def subject(self) -> Subject:
        """The real command line."""
        program = [sys.executable, "-m", "firsthand"]
        options = ["--search", "searxng", "--session", "crash", "--out", str(self.out)]
        return Subject(
            command=[*program, "ask", QUESTION, *options],
            env=self.env,
            reset=self.reset,
            observe=self.observe,
            compare=self.compare,
        )

    def reset(self) -> None:
        """A data folder with an empty schema, no output, no requests counted."""
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.copytree(self.template, self.home)
        self.world.requests.clear()

    def observe(self) -> Seen:
        """What was finished when the program died, and the requests that the server had counted for it."""
        done = self._read(_settled)
        return Seen({path: self.world.requests[path] for path in done}, self._read(_is_over))

    def compare(self, seen: Seen) -> list[str]:
        """What is wrong after the recovery."""
        if seen.is_over and self.reference is not None:
            # It had shown its answer and died while it closed; the same question is then a new one, and asks again.
            return [*self._read(_record_of_two), *self._answer_wrongs()]
        wrong = [
            f"{path} was finished and was requested again"
            for path, n in seen.requests.items()
            if self.world.requests[path] != n
        ]
        try:
            answer = json.loads((self.out / "answer.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            return [*wrong, f"no answer was delivered: {error}"]
        wrong += [f"{name} is missing" for name in ("answer.md", "answer.html") if not (self.out / name).is_file()]
        wrong += self._read(_record)
        events = self._read(_events)
        plain = _plain(answer)
        if self.reference is None:
            self.reference, self.events = plain, events
            return wrong if plain["status"] == "answered" else [*wrong, f"the answer is {plain['status']}"]
        wrong += self._answer_wrongs()
        if [seq for seq, _, _ in events] != list(range(1, len(events) + 1)):
            wrong.append("the events have a gap")
        if {row[1:] for row in events} != {row[1:] for row in self.events}:
            wrong.append("the events are not those of an undisturbed run")
        return wrong

    def _answer_wrongs(self) -> list[str]:
        """What is wrong with the delivered answer, beside the undisturbed one."""
        answer = json.loads((self.out / "answer.json").read_text(encoding="utf-8"))
        plain = _plain(answer)
        wrong = []
        if self.reference is not None and plain != self.reference:
            wrong.append("the answer differs: " + ", ".join(k for k in plain if plain[k] != self.reference[k]))
        if not asyncio.run(self._verifies(answer["id"])):
            wrong.append("a quote is not where it should be")
        return wrong

    async def _verifies(self, answer_id: str) -> bool:
        async with open_app(self.settings) as app:
            return (await app.verify(answer_id)).ok

    def _read(self, fn: Any) -> Any:
        database = open_database(f"sqlite:///{self.home / 'firsthand.db'}")
        try:
            return database.read_now(fn)
        finally:
            database.close()


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    """*answer* without what differs between any two runs."""
    plain = {name: value for name, value in answer.items() if name not in VOLATILE}
    plain["sources"] = [{**source, "retrieved_at": ""} for source in plain["sources"]]
    return plain


def _is_over(connection: Connection) -> bool:
    """Whether the answer was shown: its turn is finished and nobody waits for it."""
    rows = connection.execute(sa.select(turn_table.c.state, turn_table.c.is_awaited)).all()
    return bool(rows) and all(row.state == "finished" and not row.is_awaited for row in rows)


def _record_of_two(connection: Connection) -> list[str]:
    """What is wrong if the first turn was over and the second answered the same question anew."""
    states = [row.state for row in connection.execute(sa.select(turn_table.c.state))]
    wrong = [] if states == ["finished", "finished"] else [f"turns are {states}"]
    if connection.execute(sa.select(sa.func.count()).select_from(answer_table)).scalar() != 2:
        wrong.append("one of two answers is gone")
    checked = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
    return wrong if checked == "ok" else [*wrong, f"the database file: {checked}"]


def _settled(connection: Connection) -> list[str]:
    rows = connection.execute(
        sa.select(receipt_table.c.kind, receipt_table.c.arguments).where(receipt_table.c.state == "done")
    )
    return [
        "/search" if row.kind == "search" else urlsplit(row.arguments["url"]).path
        for row in rows
        if row.kind != "deliver"
    ]


def _events(connection: Connection) -> list[tuple[int, str, str]]:
    columns = event_table.c
    return [
        (row.seq, row.type, row.key)
        for row in connection.execute(sa.select(columns.seq, columns.type, columns.key).order_by(columns.seq))
    ]


def _record(connection: Connection) -> list[str]:
    """What is wrong with the record itself: turns, receipts, charges, the answer, the file."""
    wrong = []
    states = [row.state for row in connection.execute(sa.select(turn_table.c.state))]
    if states != ["finished"]:
        wrong.append(f"turns are {states}")
    if connection.execute(sa.select(sa.func.count()).select_from(answer_table)).scalar() != 1:
        wrong.append("there is not exactly one answer")
    receipts = connection.execute(sa.select(receipt_table.c.key, receipt_table.c.kind, receipt_table.c.state)).all()
    wrong += [f"receipt of a {row.kind} is {row.state}" for row in receipts if row.state != "done"]
    charges = Counter(row.receipt_key for row in connection.execute(sa.select(charge_table.c.receipt_key)))
    acted = {row.key for row in receipts if row.kind != "deliver"}
    if charges != Counter(dict.fromkeys(acted, 1)):
        wrong.append("charges and receipts do not agree")
    checked = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
    return wrong if checked == "ok" else [*wrong, f"the database file: {checked}"]


def main() -> int:
    """Exit code 1 if anything was lost or done again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hits", type=int, help="passages of each point that are tried; all without it")
    parser.add_argument("--random", type=int, default=100, help="kills at random moments")
    parser.add_argument("--double", type=int, default=0, help="kills in the recovery too")
    parser.add_argument("--out", type=Path, help="one JSON line a row")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        case = Case(World(), Path(name))
        summary = sweep(
            case.subject, hits=given.hits, n_random=given.random, n_double=given.double, out=given.out, seed=1
        )
        case.world.server.shutdown()
    for row in summary.bad[:20]:
        print(row, file=sys.stderr)
    print(json.dumps({"at": datetime.now(UTC).isoformat(timespec="seconds"), **summary.figures()}))
    return 1 if summary.bad else 0


if __name__ == "__main__":
    sys.exit(main())
