"""Schema migrations: one file a step in ``versions``, forward only, run by Alembic when the database is behind the code.

A file is named like its revision (``0002_recall.py`` holds revision ``0002_recall``), and the newest name is the
version the code needs. A database that has it already costs one row read; Alembic is not even imported.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path

import sqlalchemy as sa

from firsthand import fault
from firsthand.db import Connection, Database
from firsthand.errors import StoreFailed

VERSIONS = Path(__file__).parent / "versions"
MIGRATION_LOCK = 0x46697273_74686E64  # "Firsthnd": our key among PostgreSQL's advisory locks
_STEP = re.compile(r"\d{4}_[a-z0-9_]+")
_one_at_a_time = threading.Lock()  # alembic's ``op`` is one for the process


def upgrade(database: Database) -> None:
    """Bring the schema of *database* to ``head()``, in one transaction; do nothing if it is there already.

    Two processes may start at once: the second waits for the first and then finds nothing to do.

    Raises: StoreFailed with code ``store_newer`` if a newer Firsthand wrote the database.
    """
    if database.read_now(current) == head():
        return
    with _one_at_a_time:
        database.write_now(_upgrade)


def steps() -> list[str]:
    """The revisions that the code knows, oldest first."""
    return sorted(file.stem for file in VERSIONS.glob("*.py") if _STEP.fullmatch(file.stem))


def head() -> str:
    """The revision that the code needs."""
    return steps()[-1]


def current(connection: Connection) -> str | None:
    """The revision of the database; None if it is empty."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(connection: Connection) -> None:
    """All missing steps, under the write lock: SQLite's is taken with BEGIN, PostgreSQL's is an advisory one."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
    found = current(connection)
    if found == head():
        return  # another process was faster
    if found is not None and found not in steps():
        raise StoreFailed(
            "store_newer",
            f"The data was written by a newer Firsthand (schema {found}); install that version, or choose another"
            " folder with FIRSTHAND_HOME.",
            found=found,
            known=head(),
        )
    _run_alembic(connection)


def _run_alembic(connection: Connection) -> None:
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext, RevisionStep
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(VERSIONS.parent), version_locations=[str(VERSIONS)])

    def missing(revision: tuple[str, ...], _context: MigrationContext) -> list[RevisionStep]:
        return script._upgrade_revs("head", revision)  # type: ignore[arg-type]  # as alembic.command.upgrade

    def step_done(**_facts: object) -> None:
        fault.point("migrations.step")

    context = MigrationContext.configure(
        connection, opts={"fn": missing, "script": script, "on_version_apply": [step_done]}
    )
    with Operations.context(context), context.begin_transaction():
        context.run_migrations()
