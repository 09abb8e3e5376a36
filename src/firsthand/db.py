"""The one door to the database: rooms write plain functions ``fn(connection, ...)``; this module runs them.

SQLite runs in WAL with ``synchronous=FULL``: when a write returns, it survives power loss. One writer thread commits
whatever gathered while its last commit ran, each function in a savepoint of its own, so one that fails takes nobody
with it. Readers run in parallel, each in one snapshot, and cannot write. PostgreSQL runs the same functions on the
same threads.

A function may be run a second time when the first attempt was rolled back as a whole, so it must have no effect but
on its connection. One that catches an error of the database and goes on must do so around ``connection.begin_nested()``:
PostgreSQL refuses everything after an error that was not rolled back.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from firsthand import fault
from firsthand.errors import StoreFailed

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=Exception)
Connection = sa.Connection

metadata = sa.MetaData()
BUSY_TIMEOUT_MS = 5_000  # another process's commit takes milliseconds; five seconds means it hangs
GROUP_MAX = 256  # functions in one commit; bounds the time the first of them waits
N_READERS = 4
WAL_KEPT_BYTES = 64 << 20  # the log is cut back to this after a long write; guess

# What the database said, by SQLite's result code (primary part) or PostgreSQL's SQLSTATE (whole, else its class).
_SENTENCES = {
    "store_full": "The disk is full; free some space and run the same command again.",
    "store_read_only": "The data folder is read-only; choose another with FIRSTHAND_HOME.",
    "store_locked": "Another process holds the database; try again when it is done.",
    "store_unreachable": "The database cannot be opened; check FIRSTHAND_HOME and FIRSTHAND_DATABASE_URL.",
    "store_corrupt": "The database file is damaged or not a database; restore it from a backup.",
    "store_io": "The disk reported an error; what was acknowledged before is kept.",
}
_CODES = {
    "SQLITE_FULL": "store_full",
    "SQLITE_READONLY": "store_read_only",
    "SQLITE_BUSY": "store_locked",
    "SQLITE_LOCKED": "store_locked",
    "SQLITE_PROTOCOL": "store_locked",
    "SQLITE_CANTOPEN": "store_unreachable",
    "SQLITE_CORRUPT": "store_corrupt",
    "SQLITE_NOTADB": "store_corrupt",
    "SQLITE_IOERR": "store_io",
    "53100": "store_full",
    "25006": "store_read_only",
    "55P03": "store_locked",
    "40P01": "store_locked",
    "40001": "store_locked",
    "53": "store_unreachable",
    "08": "store_unreachable",
    "57": "store_unreachable",
    "58": "store_io",
    "XX": "store_corrupt",
}


class Database:
    """An open database. Made by ``open_database``, closed by ``close``."""

    def __init__(self, engine: sa.Engine, reading: sa.Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._reading = reading
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._stopped: StoreFailed | None = None  # why nothing is written any more
        self._closed = False
        self._closing = threading.Lock()
        self._readers = ThreadPoolExecutor(N_READERS, thread_name_prefix="db-read")
        self._writer = threading.Thread(target=self._write_loop, name="db-write", daemon=True)
        self._writer.start()

    async def read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What *fn* returns, run in a read transaction on a reader thread."""
        with self._closing:
            self._check_open()
            future = self._readers.submit(lambda: self._read(fn, *args, **kwargs))
        return await asyncio.wrap_future(future)

    async def write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What *fn* returns, once it is committed. If *fn* raises, nothing of it is kept.

        A write that is cancelled before it began is not done; one that began is committed all the same.

        Raises: what *fn* raises; StoreFailed if the database refuses. Code ``store_in_doubt`` means that the
        connection broke during the commit: read back before repeating.
        """
        return await asyncio.wrap_future(self._submit(fn, *args, **kwargs))

    def read_now(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As ``read``, in the calling thread."""
        self._check_open()
        return self._read(fn, *args, **kwargs)

    def write_now(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As ``write``, waiting in the calling thread."""
        return self._submit(fn, *args, **kwargs).result()

    def close(self) -> None:
        """Finish what was submitted and let go of the file. A second call does nothing."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        self._writer.join()
        self._readers.shutdown()
        self._reading.dispose()
        self.engine.dispose()

    def _read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with self._reading.connect() as connection, connection.begin():
                return fn(connection, *args, **kwargs)
        except _REFUSALS as error:
            raise store_failed(error) from error

    def _check_open(self) -> None:
        if self._closed:
            raise StoreFailed("store_closed", "The store was closed; nothing can be read or written any more.")

    def _submit(self, fn: Callable[..., T], *args: object, **kwargs: object) -> Future[T]:
        job = _Job(fn, args, kwargs)
        with self._closing:  # else a job could stand behind the last one and wait for ever
            self._check_open()
            self._jobs.put(job)
        return job.future

    def _write_loop(self) -> None:
        is_last = False
        while not is_last:
            batch: list[_Job] = []
            job = self._jobs.get()
            while job is not None:
                if job.future.set_running_or_notify_cancel():
                    batch.append(job)
                if len(batch) >= GROUP_MAX or self._jobs.empty():
                    break
                job = self._jobs.get()
            is_last = job is None
            if batch:
                self._run_batch(batch)
            del batch, job  # a page's bytes must not stay until the next write

    def _run_batch(self, batch: list[_Job]) -> None:
        """Run *batch* in one transaction; if that is lost on the way, run each of its functions in its own."""
        results: dict[_Job, object] = {}
        failures: dict[_Job, BaseException] = {}
        is_committing = False
        lost: BaseException | None = None
        try:
            if self._stopped is not None:
                raise self._stopped
            with self.engine.connect() as connection, connection.begin():
                for job in batch:
                    try:
                        self._run_job(job, connection, results, failures)
                    except Exception as error:
                        raise _TransactionLost from failures.get(job, error)
                fault.point("db.before_commit")
                is_committing = True
            fault.point("db.after_commit")
        except BaseException as error:
            lost = self._why_nothing_is_kept(error, is_committing)
        if lost is not None:
            if isinstance(lost, _TransactionLost) and len(batch) > 1:
                for job in batch:
                    self._run_batch([job])
                return
            if isinstance(lost, _TransactionLost):
                failures, lost = {}, lost.__cause__ or lost
            results, failures = {}, {job: failures.get(job, lost) for job in batch}
        for job, failure in failures.items():
            job.future.set_exception(_as_told(failure))
        for job, result in results.items():
            job.future.set_result(result)

    def _run_job(
        self, job: _Job, connection: Connection, results: dict[_Job, object], failures: dict[_Job, BaseException]
    ) -> None:
        """Run *job* in a savepoint. An exception here means that the savepoint did not end, so nothing is sure.

        Both databases lose a transaction in silence: SQLite rolls it back when the disk is full, PostgreSQL when
        a function swallows an error; the commit that follows says nothing, and would acknowledge in vain.
        """
        savepoint = connection.begin_nested()
        try:
            result = job.fn(connection, *job.args, **job.kwargs)
            fault.point("db.in_transaction")
        except Exception as error:
            failures[job] = error
            savepoint.rollback()
        else:
            savepoint.commit()
            results[job] = result
        if _is_lost(connection):
            raise _TransactionLost

    def _why_nothing_is_kept(self, error: BaseException, is_committing: bool) -> BaseException:
        """What the callers of a batch are told; after a failed sync nothing more is written by this process.

        The kernel may have dropped the pages of a failed sync, and a second sync that succeeds proves nothing.
        """
        if not isinstance(error, sa.exc.DBAPIError):
            return error
        if getattr(error.orig, "sqlite_errorname", "") in ("SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC"):
            self._stopped = StoreFailed(
                "store_stopped",
                "The disk failed to confirm a write; nothing more is written. Check the disk, then start again.",
            )
            return _caused(self._stopped, error)
        if is_committing and self.is_sqlite:  # a page too large for the disk shall not take the small ones with it
            return _caused(_TransactionLost(), error)
        if is_committing and error.connection_invalidated:
            sentence = "The database went away during a commit, which may or may not be done; look before repeating."
            return _caused(StoreFailed("store_in_doubt", sentence), error)
        return error


class _Job:
    """A function waiting to be run and committed."""

    __slots__ = ("args", "fn", "future", "kwargs")

    def __init__(self, fn: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self.fn = fn
        self.args = args
        self.kwargs = kwargs
        self.future: Future[Any] = Future()


class _TransactionLost(Exception):
    """The database rolled the whole transaction back, with everything that ran before in it."""


def open_database(url: str) -> Database:
    """Open *url* (``sqlite:///PATH`` or ``postgresql+psycopg://…``). The schema is brought up to date by ``migrations``.

    Raises: StoreFailed if the folder cannot be made or the database cannot be opened.
    """
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        if not parsed.database or parsed.database == ":memory:":
            raise StoreFailed("store_in_memory", "A database in memory keeps nothing; name a file.")
        _prepare_folder(Path(parsed.database))
        engine, reading = _sqlite_engine(parsed, "BEGIN IMMEDIATE"), _sqlite_engine(parsed, "BEGIN")
        event.listen(reading, "connect", _forbid_writing)
    else:
        engine = sa.create_engine(parsed, pool_pre_ping=True, pool_size=1)
        reading = sa.create_engine(
            parsed,
            pool_pre_ping=True,
            isolation_level="REPEATABLE READ",  # one snapshot a read, as on SQLite
            execution_options={"postgresql_readonly": True},
        )
    try:
        engine.connect().close()
    except _REFUSALS as error:
        engine.dispose()
        raise store_failed(error) from error
    return Database(engine, reading)


def store_failed(error: sa.exc.SQLAlchemyError) -> StoreFailed:
    """The typed error for what the database said, with one sentence a person can act on."""
    orig = getattr(error, "orig", None)
    said = (str(orig or error).splitlines() or [type(error).__name__])[0]
    name: str = getattr(orig, "sqlite_errorname", None) or getattr(orig, "sqlstate", None) or ""
    primary = "_".join(name.split("_")[:2]) if name.startswith("SQLITE") else name[:2]
    code = _CODES.get(name) or _CODES.get(primary)
    if code is None and (isinstance(error, sa.exc.TimeoutError) or getattr(error, "connection_invalidated", False)):
        code = "store_unreachable"
    if code is None and isinstance(error, sa.exc.OperationalError) and not name and not isinstance(orig, sqlite3.Error):
        code = "store_unreachable"  # no answer at all: psycopg could not connect
    if code is None:
        return StoreFailed("store_failed", f"The database refused: {said}", said=said)
    return StoreFailed(code, _SENTENCES[code], retryable=code in ("store_locked", "store_unreachable"), said=said)


_REFUSALS = (sa.exc.DBAPIError, sa.exc.TimeoutError)


def _as_told(error: BaseException) -> BaseException:
    """*error* in our own words if the database raised it."""
    if isinstance(error, _REFUSALS):
        return _caused(store_failed(error), error)
    return error


def _caused(error: E, cause: BaseException) -> E:
    error.__cause__ = cause
    return error


def _is_lost(connection: Connection) -> bool:
    """Whether the transaction is gone although nobody ended it."""
    if connection.invalidated:
        return True
    raw = connection.connection.dbapi_connection
    return isinstance(raw, sqlite3.Connection) and not raw.in_transaction


def _prepare_folder(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            file.touch(mode=0o600)
    except OSError as error:
        raise StoreFailed(
            "store_unwritable",
            f"The data folder {file.parent} cannot be written ({error.strerror}); choose another with FIRSTHAND_HOME.",
            folder=str(file.parent),
        ) from error


def _sqlite_engine(url: sa.URL, begin: str) -> sa.Engine:
    engine = sa.create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000, "check_same_thread": False})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, in _sqlite_engine
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode != "wal":  # said in the reply only; network file systems do so
        raise StoreFailed("store_no_wal", "The data folder's file system cannot hold the database; choose another.")
    for pragma in (
        "synchronous=FULL",  # NORMAL lost acknowledged rows in power-loss images, FULL none
        "foreign_keys=ON",
        "cache_size=-16000",  # 16 MB a connection: the index pages of one question
        f"journal_size_limit={WAL_KEPT_BYTES}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _forbid_writing(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA query_only=ON")  # a write belongs to the writer, or its commit is not grouped
