"""A small engine that really runs, for being killed: two free searches, a paid one, five pages, an answer in a file.

    python tests/crash/engine.py DATABASE_URL ORIGIN FOLDER [ask|repeat|skip]

It asks ORIGIN over HTTP and notes in FOLDER/said what was acknowledged. Exit code 3: something is in doubt.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast
from urllib.parse import quote, urlsplit

import sqlalchemy as sa

from firsthand import fault, ids
from firsthand.db import Connection, Database, open_database
from firsthand.durable import journal, lease
from firsthand.durable.journal import JsonObject
from firsthand.durable.operations import (
    Act,
    DurableOperations,
    InDoubt,
    Payment,
    Policy,
    fetched_json,
    searched_json,
)
from firsthand.events import Event
from firsthand.ports import Fetched, Searched
from firsthand.values import Hit, Query

QUESTION = "What do the five pages say?"
PAGES = 5
PAID_MICROUSD = 5_000
kept_table = sa.Table(
    "kept_by_engine", sa.MetaData(), sa.Column("text_id", sa.Integer, primary_key=True), sa.Column("url", sa.Text)
)


class HttpActs:
    """Acts over plain HTTP, with fault points on both sides of the wire."""

    def __init__(self, origin: str) -> None:
        self._origin = origin

    def payment(self, provider: str) -> Payment:
        return "paid" if provider == "paid" else "free"

    async def search(self, provider: str, query: Query, key: str) -> Act:
        body = await self._get(f"/{provider}?q={quote(query.text)}")
        hits = tuple(Hit(f"/page/{n}", "", "", n, provider) for n in range(1, PAGES + 1))
        cost = PAID_MICROUSD if provider == "paid" else 0
        return Act(searched_json(Searched(provider, "ok", hits)), n_bytes=len(body), cost_microusd=cost)

    async def fetch(self, url: str) -> Act:
        body = await self._get(url)

        def store(connection: Connection) -> JsonObject:
            added = connection.execute(kept_table.insert().values(url=url))
            text_id = int((added.inserted_primary_key or (0,))[0])
            return fetched_json(Fetched(url, "ok", text_id=text_id, final_url=url, title=body.decode()))

        return Act({}, store, n_bytes=len(body))

    async def _get(self, path: str) -> bytes:
        place = urlsplit(self._origin)
        fault.point("act.before_send")
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            writer.write(f"GET {path} HTTP/1.0\r\nHost: {place.netloc}\r\n\r\n".encode())
            await writer.drain()
            fault.point("act.sent")
            reply = await reader.read()
        finally:
            writer.close()
        fault.point("act.received")
        return reply.partition(b"\r\n\r\n")[2]


async def run(database: Database, origin: str, folder: Path, policy: Policy) -> None:
    """One question, from wherever an earlier run stopped."""
    async with lease.hold(database, "default", 30) as held:
        if any(turn.state == "finished" for turn in await database.read(journal.turns, "default")):
            return
        turn, this_run = await database.write(journal.start, held, QUESTION, {"mode": "search"})
        ops = DurableOperations(
            database,
            this_run,
            HttpActs(origin),
            answer_json=lambda answer: {},
            deliver=lambda body: deliver(folder, body),
            destination=str(folder),
            policy=policy,
        )

        async def say(event: Event) -> None:
            await ops.say(event)
            acknowledge(folder, event.key)

        kept = await database.read(journal.answer_of_turn, turn.turn_id)
        body = await find_out(ops, say) if kept is None else kept.body
        await ops.deliver_body(body)
        await database.write(journal.finish_turn, this_run, body, Event("AnswerFinished", "answer"))
        acknowledge(folder, "answer")


async def find_out(ops: DurableOperations, say: Callable[[Event], Awaitable[None]]) -> JsonObject:
    """Search, fetch and answer; events are named by what they tell."""
    await say(Event("TurnStarted", "start", {"question": QUESTION}))

    async def search(provider: str, text: str) -> tuple[Hit, ...]:
        found = await ops.search(provider, Query(text))
        await say(Event("SearchFinished", f"search {provider} {text}", {"outcome": found.outcome}))
        return found.hits

    async def fetch(url: str) -> Fetched:
        fetched = await ops.fetch(url)
        await say(Event("PageKept", f"page {url}", {"text_id": fetched.text_id}))
        return fetched

    lists = await asyncio.gather(search("free", "one"), search("free", "two"), search("paid", "one"))
    urls = sorted({hit.url for hits in lists for hit in hits})
    pages = await asyncio.gather(*(fetch(url) for url in urls))
    return {"id": ids.new_id("answer"), "text": " ".join(page.title for page in pages)}


async def deliver(folder: Path, body: JsonObject) -> None:
    """The answer as a file: there whole, or not at all."""
    fault.point("deliver.before_write")
    part = folder / "answer.part"
    part.write_text(json.dumps(body), encoding="utf-8")
    fault.point("deliver.before_rename")
    part.replace(folder / "answer.json")
    fault.point("deliver.after_rename")


def acknowledge(folder: Path, key: str) -> None:
    """Note that the caller was told: from here on it must never be lost."""
    file = os.open(folder / "said", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, (key + "\n").encode())
    os.close(file)


def main(database_url: str, origin: str, folder: str, policy: str = "ask") -> int:
    """Exit code 0: answered; 3: in doubt."""
    database = open_database(database_url)
    try:
        asyncio.run(run(database, origin, Path(folder), cast(Policy, policy)))
    except InDoubt as doubt:
        print(doubt, file=sys.stderr)
        return 3
    finally:
        database.close()
    return 0


def nursery() -> None:
    """Fork a run for each line of standard input: a real process each, without the second that imports take.

    A line is {"arguments", "fault", "errors"}; the replies are the child's number, then its exit code.
    """
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                errors = os.open(asked["errors"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                os.dup2(errors, 2)
                os.dup2(os.open(os.devnull, os.O_RDWR), 1)
                fault._SPEC = asked["fault"]
                code = main(*asked["arguments"])
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--nursery"]:
        nursery()
    else:
        sys.exit(main(*sys.argv[1:]))
