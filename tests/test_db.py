"""The one door to the database: acknowledged is durable, a failure is said, and nobody is taken along."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from firsthand import db
from firsthand.db import Connection, Database, open_database
from firsthand.errors import Error, InvalidInput, StoreFailed

NOTES = sa.Table("note", sa.MetaData(), sa.Column("n", sa.Integer, primary_key=True), sa.Column("words", sa.Text))
NOBODY = 65_534

# Four threads write numbers and print each one that was acknowledged.
PRODUCER = """
import os, sys, threading
import sqlalchemy as sa
from firsthand.db import open_database
url, start, count, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
database = open_database(url)
def produce(worker):
    for n in range(start + worker, start + count, 4):
        database.write_now(lambda c: c.execute(sa.text("INSERT INTO note VALUES (:n, 'x')"), {"n": n}).rowcount)
        os.write(1, b"%d\\n" % n)
        if n == last:
            os.kill(os.getpid(), 9)
threads = [threading.Thread(target=produce, args=(worker,)) for worker in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
database.close()
"""


@pytest.fixture
def notes(database: Database) -> Database:
    """A database of either kind with an empty table ``note``."""
    database.write_now(make_notes)
    return database


@pytest.fixture
def sqlite_notes(sqlite_database: Database) -> Database:
    """A SQLite database with an empty table ``note``."""
    sqlite_database.write_now(make_notes)
    return sqlite_database


def make_notes(connection: Connection) -> None:
    NOTES.create(connection)


def add(connection: Connection, n: int, words: str = "x") -> int:
    connection.execute(sa.insert(NOTES), {"n": n, "words": words})
    return 1


def numbers(connection: Connection) -> list[int]:
    return list(connection.execute(sa.select(NOTES.c.n).order_by(NOTES.c.n)).scalars())


class Busy:
    """Keeps the writer busy from entering the block until ``release`` or its end."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.release = threading.Event()
        self.has_begun = threading.Event()

    async def __aenter__(self) -> Busy:
        self.writing = asyncio.ensure_future(self.database.write(self._wait))
        assert await asyncio.to_thread(self.has_begun.wait, 30)
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.release.set()
        await self.writing

    def _wait(self, _connection: Connection) -> None:
        self.has_begun.set()
        assert self.release.wait(30)


async def in_one_batch(database: Database, start: Callable[[], list[Awaitable[object]]]) -> list[object]:
    """What the awaitables of *start* give, submitted while the writer is busy, so that one commit takes them all."""
    async with Busy(database):
        waiting = [asyncio.ensure_future(one) for one in start()]
        await asyncio.sleep(0)  # each has handed in its function
    return list(await asyncio.gather(*waiting, return_exceptions=True))


def produce(url: str, *arguments: int, fault: str = "") -> subprocess.Popen[bytes]:
    environment = {**os.environ, "FIRSTHAND_FAULT": fault}
    command = [sys.executable, "-c", PRODUCER, url, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)


def acknowledged(producer: subprocess.Popen[bytes]) -> set[int]:
    output, _ = producer.communicate(timeout=60)
    return {int(line) for line in output.split()}


# -- Durable


def test_sqlite_runs_with_write_ahead_log_and_full_synchronisation(sqlite_database: Database) -> None:
    def pragmas(connection: Connection) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "query_only")
        return {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names}

    expected = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000, "query_only": 0}
    assert sqlite_database.write_now(pragmas) == expected
    assert sqlite_database.read_now(pragmas) == {**expected, "query_only": 1}


@pytest.mark.parametrize("point", ["db.in_transaction:9", "db.before_commit:5", "db.after_commit:5"])
def test_what_was_acknowledged_is_there_after_kill_9_at_a_named_point(
    notes: Database, database_url: str, point: str
) -> None:
    producer = produce(database_url, 0, 60, -1, fault=point)
    told = acknowledged(producer)
    assert producer.returncode == -9
    found = set(notes.read_now(numbers))

    assert told <= found
    assert len(found - told) <= 4, "at most what each producer waited for was committed and not told"
    if point.startswith("db.after"):
        assert found - told, "the commit before the kill was kept"
    assert 0 < len(found) < 60


def test_what_was_acknowledged_is_there_after_kill_9_right_after_it(notes: Database, database_url: str) -> None:
    producer = produce(database_url, 0, 60, 30)
    told = acknowledged(producer)

    assert producer.returncode == -9 and 30 in told
    assert told <= set(notes.read_now(numbers))


def test_two_processes_write_at_once_and_both_see_everything(notes: Database, database_url: str) -> None:
    producer = produce(database_url, 1000, 40, -1)
    for n in range(40):
        notes.write_now(add, n)

    assert acknowledged(producer) == set(range(1000, 1040))
    assert notes.read_now(numbers) == [*range(40), *range(1000, 1040)]


# -- Grouped


async def test_waiting_writes_are_committed_together(notes: Database) -> None:
    commits: list[object] = []
    event.listen(notes.engine, "commit", commits.append)

    results = await in_one_batch(notes, lambda: [notes.write(add, n) for n in range(50)])

    assert results == [1] * 50
    assert notes.read_now(numbers) == list(range(50))
    assert len(commits) <= 2  # the one that kept the writer busy, and theirs


async def test_a_function_that_fails_takes_nobody_with_it(notes: Database) -> None:
    def refuse(connection: Connection, n: int) -> None:
        add(connection, n)
        raise InvalidInput("no", "No.")

    results = await in_one_batch(
        notes, lambda: [notes.write(add, 1), notes.write(refuse, 2), notes.write(add, 1), notes.write(add, 3)]
    )

    assert [getattr(result, "code", result) for result in results] == [1, "no", "store_failed", 1]
    assert notes.read_now(numbers) == [1, 3]


async def test_a_function_that_swallows_an_error_of_the_database_takes_nobody_with_it(notes: Database) -> None:
    def swallow(connection: Connection) -> int:
        try:
            return add(connection, 1)
        except sa.exc.IntegrityError:
            return 1

    results = await in_one_batch(
        notes, lambda: [notes.write(add, 1), notes.write(swallow), notes.write(add, 2), notes.write(add, 3)]
    )

    assert [results[0], *results[2:]] == [1, 1, 1]
    assert notes.read_now(numbers) == [1, 2, 3]


async def test_a_write_cancelled_before_it_began_is_not_done_and_the_others_are(notes: Database) -> None:
    async with Busy(notes):
        tasks = [asyncio.ensure_future(notes.write(add, n)) for n in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.sleep(0)

    assert await tasks[0] == await tasks[2] == 1
    assert await notes.write(add, 9) == 1
    assert await notes.read(numbers) == [0, 2, 9]


# -- Reading


def test_a_reader_sees_one_snapshot_while_others_write(notes: Database) -> None:
    notes.write_now(add, 1)

    def twice(connection: Connection) -> tuple[list[int], list[int]]:
        before = numbers(connection)
        notes.write_now(add, 2)
        return before, numbers(connection)

    assert notes.read_now(twice) == ([1], [1])
    assert notes.read_now(numbers) == [1, 2]


def test_a_reader_cannot_write(notes: Database) -> None:
    with pytest.raises(StoreFailed) as caught:
        notes.read_now(add, 1)
    assert caught.value.code == "store_read_only"
    assert notes.read_now(numbers) == []


# -- Closing


async def test_closing_finishes_what_was_submitted(notes: Database, database_url: str) -> None:
    async with Busy(notes) as busy:
        waiting = [asyncio.ensure_future(notes.write(add, n)) for n in range(600)]
        await asyncio.sleep(0)
        closing = asyncio.create_task(asyncio.to_thread(notes.close))
        with pytest.raises(StoreFailed) as caught:
            while True:  # until the other thread has begun to close
                await notes.read(numbers)
        with pytest.raises(StoreFailed):
            await notes.write(add, 999)
        busy.release.set()
    await asyncio.gather(*waiting)
    await closing
    notes.close()

    assert caught.value.code == "store_closed"
    with pytest.raises(StoreFailed):
        await notes.read(numbers)
    again = open_database(database_url)
    assert again.read_now(numbers) == list(range(600))
    again.close()


# -- A disk that fails


async def test_a_write_too_large_for_the_disk_takes_no_acknowledged_one_with_it(sqlite_notes: Database) -> None:
    """SQLite gives up the whole transaction here, and the commit after it would be silently nothing."""

    def leave_pages(connection: Connection, n_pages: int) -> None:
        used: int = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={used + n_pages}")

    sqlite_notes.write_now(leave_pages, 20)
    results = await in_one_batch(
        sqlite_notes,
        lambda: [sqlite_notes.write(add, n, "x" * (1_000_000 if n in (2, 5) else 10)) for n in range(8)],
    )

    codes = [getattr(result, "code", result) for result in results]
    assert codes == [1, 1, "store_full", 1, 1, "store_full", 1, 1]
    assert sqlite_notes.read_now(numbers) == [0, 1, 3, 4, 6, 7]
    sqlite_notes.write_now(leave_pages, 1000)
    assert sqlite_notes.write_now(add, 2, "x" * 1_000_000) == 1


def write_until_refused(database: Database, n: int, size: int) -> tuple[int, StoreFailed]:
    while True:
        try:
            database.write_now(add, n, "x" * size)
        except StoreFailed as error:
            return n, error
        n += 1


def test_on_a_full_disk_reads_go_on_and_work_resumes_when_there_is_space(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk) as grow:
        database = open_database(f"sqlite:///{disk}/x.db")
        database.write_now(make_notes)
        n, error = write_until_refused(database, 0, 20_000)

        assert error.code in ("store_full", "store_io") and "disk" in error.message
        assert n > 5 and database.read_now(numbers) == list(range(n))
        grow()
        assert database.write_now(add, n) == 1
        check = database.read_now(lambda c: c.exec_driver_sql("PRAGMA integrity_check").scalar())
        assert (check, database.read_now(numbers)) == ("ok", list(range(n + 1)))
        database.close()


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[], object]]:
    """A disk of 1 MiB that can grow: a tmpfs where we may mount one, else a limit on the size of files."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0:
        try:
            yield lambda: subprocess.run(["mount", "-o", "remount,size=9m", str(folder)], check=True)
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_past_a_file_size_limit_nothing_acknowledged_is_lost(sqlite_notes: Database) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        n, error = write_until_refused(sqlite_notes, 0, 20_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert error.code in ("store_full", "store_io")
    assert sqlite_notes.write_now(add, n) == 1
    assert sqlite_notes.read_now(numbers) == list(range(n + 1))


FAILED_SYNC = """
import sys
import sqlalchemy as sa
from firsthand.db import open_database
from firsthand.errors import StoreFailed
database = open_database(sys.argv[1])
for n in range(40):
    try:
        database.write_now(lambda c: c.execute(sa.text("INSERT INTO note VALUES (:n, 'x')"), {"n": n}).rowcount)
        print(n, flush=True)
    except StoreFailed as error:
        print(error.code, len(database.read_now(lambda c: c.execute(sa.text("SELECT n FROM note")).all())) > 0, flush=True)
"""


@pytest.mark.skipif(not shutil.which("strace"), reason="strace makes the system call fail")
def test_after_a_sync_that_failed_nothing_more_is_written_and_reads_go_on(sqlite_notes: Database) -> None:
    inject = ["strace", "-f", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=7"]
    command = [*inject, sys.executable, "-c", FAILED_SYNC, str(sqlite_notes.engine.url)]
    output = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "ptrace" in output.stderr:
        pytest.skip("tracing is not allowed here")
    lines = output.stdout.split("\n")[:-1]
    told = [int(line) for line in lines if line.isdecimal()]

    assert told and told == list(range(len(told))) and len(lines) == 40
    assert set(lines[len(told) :]) == {"store_stopped True"}
    assert set(told) <= set(sqlite_notes.read_now(numbers))


# -- A place that is not a store


@contextmanager
def an_ordinary_user() -> Iterator[None]:
    """As root, permissions do not hold; so for a moment we are nobody."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("has_file", [False, True], ids=["new", "existing"])
def test_a_read_only_folder_is_refused_with_a_way_out(has_file: bool, sqlite_template: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="firsthand-"))
    try:
        if has_file:
            shutil.copyfile(sqlite_template, folder / "x.db")
            (folder / "x.db").chmod(0o444)
        folder.chmod(0o555)
        with an_ordinary_user(), pytest.raises(StoreFailed, match="FIRSTHAND_HOME") as caught:
            open_database(f"sqlite:///{folder}/x.db")
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    assert caught.value.code in (("store_read_only", "store_unreachable") if has_file else ("store_unwritable",))


def test_a_place_that_cannot_hold_a_store_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no database " * 1000)
    (tmp_path / "folder").mkdir()
    for path, code in (
        ("file", "store_corrupt"),
        ("folder", "store_unreachable"),
        ("file/x.db", "store_unwritable"),
        (":memory:", "store_in_memory"),
    ):
        with pytest.raises(StoreFailed) as caught:
            open_database(f"sqlite:///{path if path.startswith(':') else tmp_path / path}")
        assert caught.value.code == code, path
    with pytest.raises(StoreFailed) as caught:
        open_database(f"postgresql+psycopg://nobody@/nothing?host={tmp_path}")
    assert caught.value.code == "store_unreachable"


def test_a_new_store_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path}/new/deep/x.db")
    database.write_now(make_notes)
    folder = tmp_path / "new" / "deep"

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == dict.fromkeys(
        ("x.db", "x.db-wal", "x.db-shm"), 0o600
    )
    database.close()


def test_a_locked_database_is_said_reads_go_on_and_work_resumes(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "BUSY_TIMEOUT_MS", 50)
    database = open_database(sqlite_url)
    database.write_now(make_notes)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreFailed) as caught:
        database.write_now(add, 1)

    assert caught.value.code == "store_locked" and caught.value.retryable
    assert database.read_now(numbers) == []
    other.execute("ROLLBACK")
    other.close()
    assert database.write_now(add, 1) == 1
    database.close()


async def test_a_lost_connection_costs_only_the_write_that_lost_it(postgresql_url: str) -> None:
    database = open_database(postgresql_url)
    database.write_now(make_notes)

    def hang_up(connection: Connection) -> int:
        connection.execute(sa.text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return 1

    results = await in_one_batch(
        database, lambda: [database.write(add, 1), database.write(hang_up), database.write(add, 2)]
    )

    assert [getattr(result, "code", result) for result in results] == [1, "store_unreachable", 1]
    assert database.read_now(numbers) == [1, 2]
    database.close()


def test_every_refusal_has_a_sentence_even_if_the_database_says_nothing() -> None:
    for said in ("", "UNIQUE constraint failed: full.disk", "two\nlines"):
        error: Error = db.store_failed(sa.exc.IntegrityError("INSERT", None, sqlite3.IntegrityError(said)))
        assert error.code == "store_failed" and error.message and "\n" not in error.message
