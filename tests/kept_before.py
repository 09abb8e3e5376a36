"""A home that an older version kept (``tests/data/kept-by-N``), brought to today's schema by the real migrations."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from firsthand import migrations
from firsthand.db import Connection, Database, open_database
from firsthand.evidence import index

FOLDER = Path(__file__).parent / "data" / "kept-by-2"
VERSION = "2"  # of the extractor that read its pages
LIBRARY = "manual"
SITE = "https://manual.example/"
ANSWERS = tuple(sorted((FOLDER / "bundles").iterdir()))


def rows(table: str) -> list[dict[str, Any]]:
    """The rows of *table* as the old version wrote them."""
    return [row for name, row in _all_rows() if name == table]


def fill(url: str, folder: Path) -> None:
    """Make the database at *url* one that the old version filled, and upgrade it. *folder* is for steps in between."""
    _empty(url)
    database = open_database(url)
    try:
        _upgrade_to(database, rows("alembic_version")[0]["version_num"], folder)
        database.write_now(_insert)
        migrations.upgrade(database)
    finally:
        database.close()


def insert(connection: Connection, name: str, row: Mapping[str, Any]) -> None:
    """Put a row as ``rows`` brings them into the table *name*."""
    table = sa.Table(name, sa.MetaData(), autoload_with=connection, resolve_fks=False)
    connection.execute(table.insert(), {column: _value(table.c[column], row[column]) for column in row})


def _all_rows() -> Iterator[tuple[str, dict[str, Any]]]:
    with (FOLDER / "rows.jsonl").open(encoding="utf-8") as file:
        for line in file:
            value = json.loads(line)
            yield value["table"], value["row"]


def _empty(url: str) -> None:
    if url.startswith("sqlite:///"):
        file = Path(url.removeprefix("sqlite:///"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.truncate(file, 0)
        return
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()


def _upgrade_to(database: Database, revision: str, folder: Path) -> None:
    versions = folder / "older" / "versions"
    versions.mkdir(parents=True)
    for step in migrations.steps():
        if step <= revision:
            shutil.copy(migrations.VERSIONS / f"{step}.py", versions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "VERSIONS", versions)
        migrations.upgrade(database)
    assert database.read_now(migrations.current) == revision


def _insert(connection: Connection) -> None:
    """All rows in their order, the numbers that come after them, and the two indexes, which are made of the rows."""
    for name, row in _all_rows():
        if name != "alembic_version":
            insert(connection, name, row)
    if connection.dialect.name == "postgresql":
        for name in ("capture", "text", "library"):
            last = f"SELECT setval(pg_get_serial_sequence('{name}', '{name}_id'), max({name}_id)) FROM {name}"
            connection.execute(sa.text(last))
    for page in rows("page"):
        held = sorted((row for row in rows("passage") if row["text_id"] == page["text_id"]), key=lambda row: row["seq"])
        title = page["title_terms"]
        index._write_index(connection, "passage_index", index._passage_entries(title, held))
        index._write_index(connection, "page_index", [(page["text_id"], index._page_columns(title, held))])


def _value(column: sa.Column[Any], value: Any) -> Any:
    """*value* of a row on disk, as the column's type wants it."""
    if value is None:
        return None
    if isinstance(column.type, sa.LargeBinary):
        return base64.b64decode(value)
    if isinstance(column.type, sa.Boolean):
        return bool(value)
    return json.loads(value) if isinstance(column.type, sa.JSON) else value
