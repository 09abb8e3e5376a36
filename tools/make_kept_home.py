"""Writes what this version keeps of a few pages, for the tests of the versions after it.

python tools/make_kept_home.py tests/data/kept-by-2 tests/data/kept-by-3

Takes ``pages/`` and ``questions.txt`` of the first folder and writes them, the rows of the store, and one bundle a
question to the second, which must not exist. Run it when the extractor gets a new version, before that version changes
anything else: an old fixture is never made again.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

SITE = "https://manual.example/"
LIBRARY = "manual"
NO_ROWS_OF = ("passage_index", "page_index", "sqlite_")  # made of the others, in a form of the database's own
OF_THIS_MACHINE = {"lease": ("machine", "pid_started", "owner")}


def main(source: Path, target: Path) -> None:
    """Run the real command on the pages and the questions, and write what it kept."""
    target.mkdir()
    shutil.copytree(source / "pages", target / "pages")
    questions = (source / "questions.txt").read_text(encoding="utf-8")
    (target / "questions.txt").write_text(questions, encoding="utf-8")
    with tempfile.TemporaryDirectory() as home:
        _run(home, "add", str(target / "pages"), "--base-url", SITE, "--library", LIBRARY)
        for n, question in enumerate(questions.splitlines(), 1):
            answer = json.loads(_run(home, "ask", question, "--library", LIBRARY, "--json"))
            _run(home, "export", answer["id"], "--out", str(target / "bundles" / str(n)))
        with (target / "rows.jsonl").open("w", encoding="utf-8") as file:
            for row in _rows(Path(home, "firsthand.db")):
                file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def _run(home: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "firsthand", *words],
        env={**os.environ, "FIRSTHAND_HOME": home},
        check=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    return done.stdout


def _rows(file: Path) -> Iterator[dict[str, object]]:
    """Every row as ``{"table": ..., "row": {column: value}}``, a table after those it points at; bytes in base 64."""
    with closing(sqlite3.connect(file)) as database:
        database.row_factory = sqlite3.Row
        # In the order in which the migrations made them.
        names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid").fetchall()
        for (name,) in names:
            if name.startswith(NO_ROWS_OF):
                continue
            for row in database.execute(f"SELECT * FROM {name}"):
                values = {column: _plain(row[column]) for column in row.keys()}  # noqa: SIM118  # iterates over values
                values.update({column: "" for column in OF_THIS_MACHINE.get(name, ())})
                yield {"table": name, "row": values}


def _plain(value: object) -> object:
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
