"""One driver a session: taken, kept, lost, taken over; with real processes where a process matters."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys

import pytest
import sqlalchemy as sa

from firsthand.db import Connection, Database
from firsthand.durable import journal, lease
from firsthand.durable.lease import Holder, this_holder
from firsthand.errors import LeaseLost, NotAllowed
from firsthand.events import Event

LONG_MS = 3_600_000
ELSEWHERE = Holder("run-elsewhere", "another-machine", 4711, "1")


def set_expiry(connection: Connection, /, **values: int) -> None:
    connection.execute(lease.lease_table.update().values(**values))


def test_a_second_holder_is_refused_and_told_how_long_to_wait(database: Database) -> None:
    database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
    with pytest.raises(NotAllowed) as refused:
        database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
    assert refused.value.code == "session_busy"
    assert 0 < float(str(refused.value.facts["retry_after_s"])) <= LONG_MS / 1000


def test_sessions_do_not_keep_each_other_out(database: Database) -> None:
    database.write_now(lease.acquire, "one", this_holder(), LONG_MS)
    assert database.write_now(lease.acquire, "two", this_holder(), LONG_MS).fence == 1


def test_a_released_lease_is_free_and_its_fence_goes_on_rising(database: Database) -> None:
    first = database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
    database.write_now(lease.release, first)
    second = database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
    assert (first.fence, second.fence) == (1, 2)
    database.write_now(lease.release, first)  # too late: it is not the newest any more
    database.write_now(lease.check, second)
    with pytest.raises(LeaseLost):
        database.write_now(lease.check, first)


def test_a_holder_past_its_time_keeps_the_lease_until_someone_takes_it(database: Database) -> None:
    late = database.write_now(lease.acquire, "s", this_holder(), 0)
    database.write_now(lease.check, late)
    database.write_now(lease.renew, late, LONG_MS)
    with pytest.raises(NotAllowed):
        database.write_now(lease.acquire, "s", this_holder(), LONG_MS)


def test_a_late_holder_that_was_replaced_can_neither_write_nor_renew(database: Database) -> None:
    frozen = database.write_now(lease.acquire, "s", this_holder(), 0)
    turn, run = database.write_now(journal.start, frozen, "q", {})
    awake = database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
    _, second = database.write_now(journal.start, awake, "q", {})
    with pytest.raises(LeaseLost):
        database.write_now(journal.append_event, run, Event("TurnStarted", "late"))
    with pytest.raises(LeaseLost):
        database.write_now(lease.renew, frozen, LONG_MS)
    database.write_now(journal.append_event, second, Event("TurnStarted", "start"))
    assert [event.key for event in database.read_now(journal.events, turn.turn_id)] == ["start"]


def test_on_one_machine_a_stepped_wall_clock_neither_ends_nor_prolongs_a_lease(database: Database) -> None:
    database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
    database.write_now(set_expiry, expires_ms=0)  # as if the wall clock had jumped three days ahead
    with pytest.raises(NotAllowed):
        database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
    database.write_now(set_expiry, expires_ms=2**60, expires_monotonic_ms=0)  # two hours back
    assert database.write_now(lease.acquire, "s", this_holder(), LONG_MS).fence == 2


def test_between_machines_the_databases_clock_decides(database: Database) -> None:
    database.write_now(lease.acquire, "s", ELSEWHERE, LONG_MS)
    database.write_now(set_expiry, expires_monotonic_ms=0)
    with pytest.raises(NotAllowed):
        database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
    database.write_now(set_expiry, expires_ms=1)
    assert database.write_now(lease.acquire, "s", this_holder(), LONG_MS).fence == 2


def test_a_process_number_that_was_given_again_does_not_hold_a_lease(database: Database) -> None:
    gone = dataclasses.replace(this_holder(), pid_started="1")  # our number, another start
    database.write_now(lease.acquire, "s", gone, LONG_MS)
    assert database.write_now(lease.acquire, "s", this_holder(), LONG_MS).fence == 2


async def test_a_held_lease_is_renewed_and_released(database: Database) -> None:
    def expiry(connection: Connection) -> int:
        return int(connection.execute(sa.select(lease.lease_table.c.expires_monotonic_ms)).scalar_one())

    async with lease.hold(database, "s", 0.15):
        before = await database.read(expiry)
        async with asyncio.timeout(20):
            while await database.read(expiry) == before:
                pass
        with pytest.raises(NotAllowed):
            async with lease.hold(database, "s", 30):
                pass
    async with lease.hold(database, "s", 30) as again:
        assert again.fence == 2


DRIVER = """
import sys
from firsthand.db import open_database
from firsthand.durable import journal, lease
from firsthand.errors import LeaseLost
from firsthand.events import Event

database = open_database(sys.argv[1])
held = database.write_now(lease.acquire, "s", lease.this_holder(), int(sys.argv[2]))
_, run = database.write_now(journal.start, held, "q", {})
print("holding", flush=True)
for n, _ in enumerate(sys.stdin):
    try:
        database.write_now(journal.append_event, run, Event("PageKept", f"page {n}"))
        print("wrote", flush=True)
    except LeaseLost:
        print("refused", flush=True)
"""


def driver(url: str, lease_ms: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", DRIVER, url, str(lease_ms)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert heard(process) == "holding"
    return process


def heard(process: subprocess.Popen[str], say: str | None = None) -> str:
    assert process.stdin and process.stdout
    if say is not None:
        process.stdin.write(say + "\n")
        process.stdin.flush()
    return process.stdout.readline().strip()


def test_a_frozen_process_that_wakes_after_its_lease_writes_nothing(database: Database, database_url: str) -> None:
    frozen = driver(database_url, LONG_MS)
    try:
        assert heard(frozen, "go") == "wrote"
        os.kill(frozen.pid, signal.SIGSTOP)
        with pytest.raises(NotAllowed):  # frozen is not dead: its time counts
            database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
        database.write_now(set_expiry, expires_monotonic_ms=0)
        held = database.write_now(lease.acquire, "s", this_holder(), LONG_MS)
        turn, _ = database.write_now(journal.start, held, "q", {})
        os.kill(frozen.pid, signal.SIGCONT)
        assert heard(frozen, "go") == "refused"
        assert [event.key for event in database.read_now(journal.events, turn.turn_id)] == ["page 0"]
    finally:
        frozen.kill()
        frozen.communicate()


def test_a_killed_process_is_replaced_at_once(database: Database, database_url: str) -> None:
    killed = driver(database_url, LONG_MS)
    try:
        os.kill(killed.pid, signal.SIGKILL)
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)  # dead, and still a zombie
        assert database.write_now(lease.acquire, "s", this_holder(), LONG_MS).fence == 2
    finally:
        killed.communicate()
