"""The schema grows forward, once, whoever starts first, and whatever kills it on the way."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from firsthand import migrations
from firsthand.db import Connection, Database, open_database
from firsthand.errors import StoreFailed
from firsthand.evidence import tables

UPGRADE = """
import sys
from firsthand import migrations
from firsthand.db import open_database
database = open_database(sys.argv[1])
migrations.upgrade(database)
print(database.read_now(migrations.current), "alembic" in sys.modules)
database.close()
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest) -> str:
    """The address of a database of either kind without any table."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        if request.param == "postgresql":
            connection.execute(sa.text("DROP SCHEMA public CASCADE"))
            connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
    if request.param == "sqlite":
        os.truncate(url.removeprefix("sqlite:///"), 0)
    return url


def start(url: str, fault: str = "") -> subprocess.Popen[str]:
    environment = {**os.environ, "FIRSTHAND_FAULT": fault}
    return subprocess.Popen(
        [sys.executable, "-c", UPGRADE, url], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def table_names(connection: Connection) -> set[str]:
    return set(sa.inspect(connection).get_table_names())


def test_the_file_names_are_the_chain() -> None:
    before = None
    for step in migrations.steps():
        spec = importlib.util.spec_from_file_location(step, migrations.VERSIONS / f"{step}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert (module.revision, module.down_revision) == (step, before)
        before = step
    assert before == migrations.head()


def test_a_migrated_database_has_the_tables_that_the_code_works_with(database: Database) -> None:
    """Alembic compares names, columns, types, keys; a table of another room is that room's matter."""
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    ours = {table.name for table in vars(tables).values() if isinstance(table, sa.Table)}

    def differences(connection: Connection) -> list[object]:
        options = {"include_name": lambda name, kind, _parents: kind != "table" or name in ours}
        one_room = sa.MetaData()
        for name in ours:
            tables.text.metadata.tables[name].to_metadata(one_room)
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), one_room))

    assert database.read_now(migrations.current) == migrations.head()
    assert len(ours) == 6 and database.read_now(differences) == []


def test_a_database_that_is_up_to_date_is_left_alone_without_loading_alembic(database_url: str) -> None:
    child = start(database_url)
    output, errors = child.communicate(timeout=60)
    assert output.split() == [migrations.head(), "False"], errors


def test_two_processes_that_start_at_once_both_find_the_schema(empty_url: str) -> None:
    children = [start(empty_url) for _ in range(3)]
    for child in children:
        output, errors = child.communicate(timeout=60)
        assert output.split()[:1] == [migrations.head()], errors


def test_an_upgrade_killed_after_any_step_leaves_nothing_and_succeeds_next_time(empty_url: str) -> None:
    database = open_database(empty_url)
    points = [f"migrations.step:{n + 1}" for n in range(len(migrations.steps()))] + ["db.before_commit:1"]
    for point in points:
        child = start(empty_url, point)
        child.communicate(timeout=60)
        assert child.returncode == -9
        assert database.read_now(table_names) == set(), point

    migrations.upgrade(database)
    assert database.read_now(migrations.current) == migrations.head()
    assert {"snapshot", "capture", "text", "library", "holding", "handle"} <= database.read_now(table_names)
    database.close()


def test_files_that_an_older_version_kept_are_told_from_its_fetches(
    empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "older" / "versions"
    older.mkdir(parents=True)
    for step in migrations.steps()[:3]:
        shutil.copy(migrations.VERSIONS / f"{step}.py", older)
    database = open_database(empty_url)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "VERSIONS", older)
        migrations.upgrade(database)
        assert database.read_now(migrations.current) == "0003_journal"

    def fill(connection: Connection) -> None:
        headers = [
            '{"last-modified":"2026-05-04T03:02:01.500000+00:00"}',
            '{"last-modified":"Mon, 04 May 2026 03:02:01 GMT"}',
            '{"last-modified":"2026-05-04T03:02:01+00:00","content-type":"text/html"}',
        ]
        connection.execute(sa.text("INSERT INTO snapshot VALUES ('d', '', '', 0, 0, '', 'x')"))
        row = "INSERT INTO capture VALUES (:n, 'u', 'u', 200, :headers, '[]', 'x', 'd', false)"
        for n, text in enumerate(headers, 1):
            connection.execute(sa.text(row), {"n": n, "headers": text})

    database.write_now(fill)
    migrations.upgrade(database)
    kept = sa.text("SELECT validator, is_file FROM capture ORDER BY capture_id")
    rows = database.read_now(lambda connection: connection.execute(kept).all())
    assert [(row[0], bool(row[1])) for row in rows] == [("", True), ("", False), ("", False)]
    database.close()


def test_a_database_of_a_newer_version_is_refused_and_not_touched(database: Database) -> None:
    database.write_now(lambda c: c.execute(sa.text("UPDATE alembic_version SET version_num = '9999_later'")).rowcount)

    with pytest.raises(StoreFailed, match="newer Firsthand") as caught:
        migrations.upgrade(database)
    assert (caught.value.code, caught.value.facts["found"]) == ("store_newer", "9999_later")
    assert database.read_now(migrations.current) == "9999_later"
