"""Stopped, killed, tampered with, asked again: the rows about what is durable (web-qa 5.4, 5.5, 6.3 and 6.4)."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from firsthand.errors import DigestMismatch, StoreFailed
from tests.acceptance.world import QUESTION, World, options
from tests.commands import COMMAND, PATIENCE_S, environment, start

KILLED = -9
READ = "say.after:6"  # said by then: started, planned, searched, two pages kept, ranked
KEPT_PAGE = "op.after_settle:2"  # settled by then: the search, one page
REPORT = "op.before_begin:4"  # begun before: the search, two pages; now the delivery of the kept answer


def killed_at(point: str, orchid: World, home: Path, *words: str) -> None:
    """The command, killed at its n-th passage of *point*."""
    command = start(home, "ask", QUESTION, *words, fault=point, **orchid.web.settings)
    _, said = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == KILLED, said


def alter(home: Path, statement: str, *values: Any) -> None:
    """Change the store behind everybody's back."""
    with sqlite3.connect(home / "firsthand.db") as connection:
        connection.execute(statement, values)
    connection.close()


async def test_a19_a_table_that_is_gone_ends_the_run_before_anything_is_sent(orchid: World, home: Path) -> None:
    alter(home, "ALTER TABLE receipt RENAME TO elsewhere")
    with pytest.raises(StoreFailed):
        await orchid.ask(home)
    assert orchid.n_requests == 0
    alter(home, "ALTER TABLE elsewhere RENAME TO receipt")
    assert (await orchid.ask(home)).status == "answered"


async def test_a22_a_kept_page_that_was_changed_is_not_published(orchid: World, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    killed_at(READ, orchid, home, "--out", str(out))
    shutil.copyfile(home / "firsthand.db", tmp_path / "good.db")
    changed = sqlite3.Binary(b"<p>The Orchid Standard plan can have 9999 members.</p>")
    alter(home, "UPDATE snapshot SET payload = ?, coding = ''", changed)
    with pytest.raises(DigestMismatch):
        await orchid.ask(home, out=out)
    assert not out.exists()
    shutil.copyfile(tmp_path / "good.db", home / "firsthand.db")
    assert (await orchid.ask(home, out=out)).status == "answered"


async def test_n02_a_kept_text_that_was_changed_is_no_failed_source(orchid: World, home: Path, tmp_path: Path) -> None:
    killed_at(READ, orchid, home)
    shutil.copyfile(home / "firsthand.db", tmp_path / "good.db")
    alter(home, "UPDATE text SET body = replace(body, '25 members', '99 members')")
    with pytest.raises(DigestMismatch):
        await orchid.ask(home)
    shutil.copyfile(tmp_path / "good.db", home / "firsthand.db")
    assert (await orchid.ask(home)).status == "answered"


async def test_a23_cancelled_before_it_starts_nothing_runs(orchid: World, home: Path, tmp_path: Path) -> None:
    async with orchid.app(home) as app:
        asked = asyncio.create_task(app.ask(QUESTION, options(), out=tmp_path / "out"))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
    assert orchid.n_requests == 0
    assert not (tmp_path / "out").exists()


async def test_a24_killed_after_a_page_was_kept_that_page_is_not_fetched_again(orchid: World, home: Path) -> None:
    orchid.stall(orchid.web.one, "/botany")
    killed_at(KEPT_PAGE, orchid, home)
    orchid.release()
    answer = await orchid.ask(home)
    assert answer.status == "answered"
    assert (orchid.web.one.count("/plans"), orchid.web.one.count("/botany")) == (1, 2)
    assert len(orchid.web.questions) == 1


async def test_a25_killed_after_reading_nothing_is_asked_of_the_web_again(orchid: World, home: Path) -> None:
    killed_at(READ, orchid, home)
    n_requests = orchid.n_requests
    assert (await orchid.ask(home)).status == "answered"
    assert orchid.n_requests == n_requests


async def test_a26_killed_after_the_answer_was_kept_that_answer_is_delivered(
    orchid: World, home: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    killed_at(REPORT, orchid, home, "--out", str(out))
    assert not out.exists()
    n_requests = orchid.n_requests
    answer = await orchid.ask(home, out=out)
    assert answer.status == "answered"
    assert json.loads((out / "answer.json").read_text(encoding="utf-8"))["id"] == answer.id
    assert orchid.n_requests == n_requests


async def test_a27_a_file_of_somebody_else_is_left_alone(orchid: World, home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "out" / "answer.md"
    notes.parent.mkdir()
    notes.write_text("my own notes", encoding="utf-8")
    with pytest.raises(StoreFailed, match="left alone"):
        await orchid.ask(home, out=notes.parent)
    assert [file.name for file in notes.parent.iterdir()] == ["answer.md"]
    assert notes.read_text(encoding="utf-8") == "my own notes"
    notes.unlink()
    n_requests = orchid.n_requests
    answer = await orchid.ask(home, out=notes.parent)
    assert QUESTION in notes.read_text(encoding="utf-8")
    assert json.loads((notes.parent / "answer.json").read_text(encoding="utf-8"))["id"] == answer.id
    assert orchid.n_requests == n_requests


@pytest.mark.parametrize("nth", [1, 3])
async def test_n15_killed_while_files_are_put_in_place_none_is_half_written(
    nth: int, orchid: World, home: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    killed_at(f"output.before_replace:{nth}", orchid, home, "--out", str(out))
    assert not (out / "answer.json").exists()
    assert len([file for file in out.glob("answer.*") if file.stat().st_size]) == nth - 1
    answer = await orchid.ask(home, out=out)
    assert json.loads((out / "answer.json").read_text(encoding="utf-8"))["id"] == answer.id


async def test_n64_a_full_disk_is_said_in_a_sentence_and_the_answer_goes_on_when_there_is_room(
    orchid: World, home: Path
) -> None:
    orchid.web.one.replies["/botany"] = orchid.large_page()
    n_blocks = (home / "firsthand.db").stat().st_size // 512  # no file may become larger than the store is now
    ran = await asyncio.to_thread(
        subprocess.run,
        ["sh", "-c", f'ulimit -f {n_blocks}; exec "$@"', "sh", *COMMAND, "ask", QUESTION],
        env=environment(home, **orchid.web.settings),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout
    assert "disk" in ran.stderr and "Traceback" not in ran.stderr
    assert ran.stdout == ""
    assert (await orchid.ask(home)).status == "answered"


async def test_n65_a_link_planted_where_a_file_goes_is_not_followed(orchid: World, home: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "answer.json").symlink_to(victim)
    with pytest.raises(StoreFailed):
        await orchid.ask(home, out=tmp_path / "out")
    assert victim.read_text(encoding="utf-8") == "precious"
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["answer.json"]


def test_input_23_two_processes_of_ten_questions_each_share_one_store(
    orchid: World, home: Path, tmp_path: Path
) -> None:
    commands = []
    for name in ("left", "right"):
        questions = tmp_path / f"{name}.jsonl"
        rows = [{"id": f"{name}-{n}", "question": f"{QUESTION} Say it for reader {n}."} for n in range(10)]
        questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        words = ("batch", str(questions), "--out", str(tmp_path / f"{name}.out"), "--concurrency", "2")
        commands.append(start(home, *words, "--session", name, **orchid.web.settings))
    for command in commands:
        _, said = command.communicate(timeout=2 * PATIENCE_S)
        assert command.returncode == 0, said
        assert "locked" not in said
    for name in ("left", "right"):
        answers = [json.loads(line) for line in (tmp_path / f"{name}.out").read_text(encoding="utf-8").splitlines()]
        assert {answer["id"] for answer in answers} == {f"{name}-{n}" for n in range(10)}
        assert {answer["status"] for answer in answers} == {"answered"}
    with sqlite3.connect(home / "firsthand.db") as connection:
        events = connection.execute(
            "SELECT turn_id, count(*), min(seq), max(seq) FROM event GROUP BY turn_id"
        ).fetchall()
        drivers = connection.execute("SELECT turn_id, count(*) FROM run GROUP BY turn_id").fetchall()
    connection.close()
    assert len(events) == 20 and all((n, first, last) == (last, 1, n) for _, n, first, last in events)
    assert {n for _, n in drivers} == {1}  # no turn had two runs: one process drove each
