"""The lease of a session: who may drive it now, and the fencing number that a frozen driver cannot get past.

A lease ends when it is released, when its time is over, or at once when its holder is a dead process of this machine.
Whoever takes it over raises the fence; every write of the journal names its fence and is refused when it is not the
newest. Time is the machine's monotonic clock where both holders share a machine, so a stepped wall clock neither loses
nor prolongs a lease; between machines it is the database's own clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from firsthand import fault, ids
from firsthand.db import Connection, Database, metadata
from firsthand.errors import LeaseLost, NotAllowed, StoreFailed

RENEWALS_PER_LEASE = 3  # two may fail before the lease runs out

lease_table = sa.Table(
    "lease",
    metadata,
    sa.Column("session_id", sa.Text, primary_key=True),
    sa.Column("fence", sa.BigInteger, nullable=False),  # rises with every change of hands, never falls
    sa.Column("owner", sa.Text, nullable=False),  # empty: nobody
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("pid_started", sa.Text, nullable=False),
    sa.Column("expires_ms", sa.BigInteger, nullable=False),  # the database's clock
    sa.Column("expires_monotonic_ms", sa.BigInteger, nullable=False),  # the machine's clock
)


@dataclass(frozen=True, slots=True)
class Holder:
    """A would-be driver: a token of its own, and the process it lives in."""

    owner: str
    machine: str
    pid: int
    pid_started: str


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to drive a session, as long as nobody has a higher fence."""

    session_id: str
    owner: str
    fence: int


def this_holder() -> Holder:
    """A new holder in this process."""
    pid = os.getpid()
    return Holder(ids.new_id("run"), machine_name(), pid, _pid_started(pid) or "")


def acquire(connection: Connection, session_id: str, holder: Holder, lease_ms: int) -> Lease:
    """The lease of *session_id*, taken if it is free, over, or its holder is dead.

    Raises: NotAllowed (``session_busy``) while another holder has it; facts: ``retry_after_s``, ``pid``.
    """
    _ensure_row(connection, session_id)
    mine = lease_table.c.session_id == session_id
    row = connection.execute(sa.select(lease_table).where(mine).with_for_update()).mappings().one()
    now_ms = clock_ms(connection)
    left_ms = _left_ms(row, holder, now_ms)
    if row["owner"] and left_ms > 0:
        raise NotAllowed(
            "session_busy",
            f"Session {session_id!r} is being driven by process {row['pid']}; "
            "wait for it to finish, or use another --session.",
            retry_after_s=round(left_ms / 1000, 3),
            pid=row["pid"],
        )
    lease = Lease(session_id, holder.owner, row["fence"] + 1)
    connection.execute(
        lease_table.update()
        .where(mine)
        .values(
            fence=lease.fence,
            owner=holder.owner,
            machine=holder.machine,
            pid=holder.pid,
            pid_started=holder.pid_started,
            expires_ms=now_ms + lease_ms,
            expires_monotonic_ms=monotonic_ms() + lease_ms,
        )
    )
    fault.point("lease.in_acquire")
    return lease


def check(connection: Connection, lease: Lease) -> None:
    """Nothing, if *lease* is the newest of its session; it stays so until this transaction ends.

    Raises: LeaseLost.
    """
    # FOR SHARE (PostgreSQL) makes a take-over wait for our commit; SQLite has one writer anyway.
    found = connection.execute(
        sa.select(lease_table.c.fence, lease_table.c.owner)
        .where(lease_table.c.session_id == lease.session_id)
        .with_for_update(read=True)
    ).one_or_none()
    if found is None or (found.fence, found.owner) != (lease.fence, lease.owner):
        raise LeaseLost(
            "lease_lost",
            f"Another process drives session {lease.session_id!r} now; this one has stopped and wrote nothing.",
            session=lease.session_id,
            fence=lease.fence,
        )


def is_driven(connection: Connection, session_id: str, fence: int) -> bool:
    """Whether the holder that took *session_id* under *fence* may still be at work: nobody else has it, and it lives."""
    mine = lease_table.c.session_id == session_id
    row = connection.execute(sa.select(lease_table).where(mine)).mappings().one_or_none()
    return row is not None and row["fence"] == fence and _left_ms(row, this_holder(), clock_ms(connection)) > 0


def renew(connection: Connection, lease: Lease, lease_ms: int) -> None:
    """*lease* holds for *lease_ms* from now.

    Raises: LeaseLost if another holder took it; being late alone loses nothing.
    """
    check(connection, lease)
    connection.execute(
        lease_table.update()
        .where(lease_table.c.session_id == lease.session_id)
        .values(expires_ms=clock_ms(connection) + lease_ms, expires_monotonic_ms=monotonic_ms() + lease_ms)
    )


def release(connection: Connection, lease: Lease) -> None:
    """The session is free, if *lease* was still the newest; otherwise nothing happens."""
    connection.execute(
        lease_table.update()
        .where(lease_table.c.session_id == lease.session_id, lease_table.c.fence == lease.fence)
        .values(owner="", expires_ms=0, expires_monotonic_ms=0)
    )


@contextlib.asynccontextmanager
async def hold(database: Database, session_id: str, lease_s: float) -> AsyncIterator[Lease]:
    """Hold the lease of *session_id* inside the block: acquired, renewed in the background, released.

    Raises: NotAllowed (``session_busy``). A lease that is lost inside the block shows in the next write.
    """
    lease_ms = round(lease_s * 1000)
    acquiring = asyncio.ensure_future(database.write(acquire, session_id, this_holder(), lease_ms))
    try:
        await _to_its_end(acquiring)
        lease = acquiring.result()
        renewing = asyncio.create_task(_renew_often(database, lease, lease_ms), name=f"lease-{session_id}")
        try:
            yield lease
        finally:
            renewing.cancel()
            await _to_its_end(renewing)
    finally:
        if acquiring.exception() is None:
            releasing = asyncio.ensure_future(database.write(release, acquiring.result()))
            await _to_its_end(releasing)
            releasing.exception()  # if the store failed, the lease runs out by itself


async def _to_its_end(task: asyncio.Future[Any]) -> None:
    """*task* is done, even if we were cancelled meanwhile; the cancellation is passed on after that.

    Without this, a driver cancelled at the wrong moment would leave a lease behind that nobody uses.
    """
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled:
        raise asyncio.CancelledError


async def _renew_often(database: Database, lease: Lease, lease_ms: int) -> None:
    while True:
        await asyncio.sleep(lease_ms / 1000 / RENEWALS_PER_LEASE)
        try:
            await database.write(renew, lease, lease_ms)
        except LeaseLost:
            return  # the driver learns it at its next write, which is refused
        except StoreFailed:
            continue  # a full disk or a lost connection: the next renewal may work


def _ensure_row(connection: Connection, session_id: str) -> None:
    free = {"fence": 0, "owner": "", "machine": "", "pid": 0, "pid_started": "", "expires_ms": 0}
    known = sa.select(lease_table.c.fence).where(lease_table.c.session_id == session_id)
    if connection.execute(known).one_or_none() is None:
        with contextlib.suppress(sa.exc.IntegrityError), connection.begin_nested():  # another machine was first
            connection.execute(lease_table.insert().values(session_id=session_id, expires_monotonic_ms=0, **free))


def _left_ms(row: Any, holder: Holder, now_ms: int) -> int:
    """How long the lease in *row* still keeps *holder* out."""
    if not row["owner"]:
        return 0
    if row["machine"] != holder.machine:
        return int(row["expires_ms"]) - now_ms
    if (_pid_started(row["pid"]) or "") != row["pid_started"]:
        return 0  # the process is dead, or its number belongs to another one by now
    return int(row["expires_monotonic_ms"]) - monotonic_ms()


def clock_ms(connection: Connection) -> int:
    """The database's own clock: milliseconds since 1970."""
    if connection.dialect.name == "sqlite":
        said = "SELECT CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)"  # 1970-01-01 as Julian day
    else:
        said = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
    return int(connection.exec_driver_sql(said).scalar_one())


def now_iso(connection: Connection) -> str:
    """The database's own clock as ISO 8601 in UTC, for display."""
    return datetime.fromtimestamp(clock_ms(connection) / 1000, UTC).isoformat(timespec="milliseconds")


def monotonic_ms() -> int:
    """The machine's monotonic clock, the same for all its processes until it restarts."""
    return time.monotonic_ns() // 1_000_000


@cache
def machine_name() -> str:
    """Names what process numbers and the monotonic clock mean: this start of this machine, and the process namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        # Without /proc (macOS, Windows) nothing says whether two processes share a start of the machine, so every
        # process counts as a machine of its own: leases are then judged by the database's clock alone.
        return ids.new_id("machine")


def _pid_started(pid: int) -> str | None:
    """When the process started, in the kernel's ticks; None if it is gone or a zombie. Source: proc(5), stat."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    after_name = stat.rpartition(")")[2].split()  # the name may hold spaces and brackets
    state, started = after_name[0], after_name[19]  # fields 3 and 22
    return None if state in "ZXx" else started
