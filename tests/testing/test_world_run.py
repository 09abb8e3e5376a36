"""The benchmark over the test world: what it counts of a program is what the program did."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import world_run

ROOT = Path(__file__).parents[2]
WORDS = " ".join(f"word{n} of the write-ahead log and its readers" for n in range(40))
GREEDY = """
import os, sys, urllib.request
from benchmarks.world import clock

def load():
    block = bytearray(64 << 20)
    def ask(question):
        for _ in range(2):
            urllib.request.urlopen(os.environ["WORLD"] + "/site/a.html").read()
        if question.startswith("What happens"):
            raise RuntimeError("no answer to this one")
        return "see http://127.0.0.2:1/site/a.html" + str(len(block))[:0]
    return ask

clock.main(load)
"""


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.html").write_text(f"<title>SQLite {name}</title><p>WAL mode in SQLite: {WORDS}")
    return folder


def measured(pages: Path, tmp_path: Path, *words: str) -> tuple[list[world_run.Row], world_run.Row, int]:
    out = tmp_path / "rows.jsonl"
    command = [sys.executable, "-m", "benchmarks.world_run", "--pages", str(pages), "--out", str(out), *words]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout, ran.stderr
    return [json.loads(line) for line in out.read_text().splitlines()], json.loads(ran.stdout), ran.returncode


def test_the_yardstick_asks_once_reads_what_was_found_and_asks_the_model_once(pages: Path, tmp_path: Path) -> None:
    words = ("--setting", "zero", "--set", "page_ms=40", "--set", "search_ms=30", "--runs", "1", "--name", "yardstick")
    runner = [sys.executable, "-m", "benchmarks.world.reference_runner"]
    (row,), found, code = measured(pages, tmp_path, *words, "--", *runner)
    assert (code, found["answers"], found["of"]) == (0, 1, 1)
    assert (found["searches_per_answer"], found["pages_per_answer"], found["model_calls_per_answer"]) == (1, 3, 1)
    assert row["stats"]["critical_path_s"] == 0.07 and row["stats"]["serial_s"] == 0.15
    assert row["wall_over_path"] == round(row["wall_s"] / 0.07, 3) > 1
    assert row["cpu_s"] > 0 and row["peak_mb"] > 10


def test_memory_repeats_and_missing_answers_are_seen(pages: Path, tmp_path: Path) -> None:
    runner = tmp_path / "greedy.py"
    runner.write_text(GREEDY)
    words = ("--setting", "zero", "--runs", "1", "--at-once", "2", "--", sys.executable, str(runner))
    (row,), found, code = measured(pages, tmp_path, *words)
    assert (code, found["answers"], found["of"]) == (1, 1, 2)
    assert [answer.get("links") for answer in row["said"]["answers"]] == [1, None]
    assert found["pages_asked_twice"] == 3 and found["peak_mb"] > 64


def test_firsthand_answers_from_the_world(pages: Path, tmp_path: Path) -> None:
    (row,), found, code = measured(pages, tmp_path, "--setting", "zero", "--runs", "1")
    assert (code, found["answers"], found["pages_asked_twice"]) == (0, 1, 0)
    assert row["stats"]["search"]["count"] == 1 and row["stats"]["page"]["count"] == 3


def test_the_table_has_a_line_for_each_program_and_setting() -> None:
    stats = {
        "critical_path_s": 0.5, "merged_path_s": 1.0, "serial_s": 2.0, "in_flight_s": 1.0, "world_cpu_s": 0.1,
        "search": {"count": 1}, "page": {"count": 5, "distinct": 5},
        "model": {"count": 0, "prompt_tokens": 0, "output_tokens": 0},
    }  # fmt: skip
    rows = [
        {
            "name": name, "setting": "real", "at_once": 1, "wall_s": wall_s, "wall_over_path": wall_s / 0.5,
            "wall_over_merged": wall_s, "alone_s": 0.0, "cpu_s": 1.0, "peak_mb": 50.0, "load": 1.0,
            "said": {"answers": [{}]}, "stats": stats,
        }
        for name, wall_s in (("one", 1.0), ("one", 3.0), ("one", 2.0), ("two", 4.0))
    ]  # fmt: skip
    head, _, one, two = world_run.table(rows).splitlines()
    cells = [cell.strip() for cell in head.split("|")]
    assert one.split("|")[cells.index("wall_s")].strip() == "2.0"
    assert two.split("|")[cells.index("wall_over_path")].strip() == "8.0"
