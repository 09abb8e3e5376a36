"""The fuzzer's first inputs and every input that once failed hold; and a fault that is planted is found and made small."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.fuzz import HEADER, Tally, Trial, failure, mutations, resume, run_worker, shrink, summary
from benchmarks.fuzz_targets import BY_NAME, TARGETS, Broken, Target

ROOT = Path(__file__).parents[2]
KEPT = [json.loads(line) for line in (ROOT / "tests/data/fuzz.jsonl").read_text(encoding="utf-8").splitlines()]


def no_bad(data: bytes) -> None:
    """A rule with a planted fault."""
    if b"bad" in data:
        raise Broken("nothing bad")


@pytest.mark.parametrize("row", KEPT, ids=lambda row: f"{row['target']}-{row['kind']}")
async def test_input_that_once_failed_holds(row: dict[str, str]) -> None:
    assert failure(BY_NAME[row["target"]].check, bytes.fromhex(row["input"])) is None


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
async def test_first_inputs_of_every_target_hold(target: Target) -> None:
    failed = {kind for data in target.seeds() if (kind := failure(target.check, data[: target.max_bytes])) is not None}
    assert failed == set()


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
async def test_a_few_mutations_of_every_target_hold(target: Target) -> None:
    seeds = target.seeds()
    made = list(mutations(seeds, target.words, target.max_bytes, random.Random(7), len(seeds) + 60))[len(seeds) :]
    assert {kind for data in made if (kind := failure(target.check, data)) is not None} == set()


def test_planted_fault_is_kept_once_and_made_as_small_as_it_can_be(tmp_path: Path) -> None:
    now = bytearray(HEADER.size + 100)
    trial = Trial(no_bad, tmp_path, now, float("inf"))  # type: ignore[arg-type]  # a bytearray does what it needs of a map
    for data in (b"good", b"something bad in the middle of it", b"bad again"):
        assert trial.run(data)
    rows = [json.loads(line) for line in (tmp_path / "failures.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["kind"], bytes.fromhex(row["small"])) for row in rows] == [("nothing bad", b"bad")]
    assert HEADER.unpack_from(now)[0] == 3


def test_error_that_no_rule_names_is_a_failure_with_its_place() -> None:
    def trips(data: bytes) -> None:
        json.loads(data)

    assert failure(trips, b"{") == "JSONDecodeError in decoder.py:raw_decode"
    assert shrink(trips, b"[[[[!", "JSONDecodeError in decoder.py:raw_decode") == b""  # that fails in the same way


def test_input_that_kills_its_process_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    done, row = run_worker("no-such-target", tmp_path, 10, 30.0, 1, False)
    assert done == 0
    assert row is not None and row["kind"] == "the process ended with 1" and "no-such-target" in row["said"]


def test_mutations_are_the_same_for_the_same_seed() -> None:
    first, second, other = (
        list(mutations([b"one", b"two"], [b"word"], 50, random.Random(seed), 40)) for seed in (1, 1, 2)
    )
    assert first == second != other
    assert len(first) == 40 and all(len(data) <= 50 for data in first)


def test_figures_count_pages_apart_and_every_failure() -> None:
    tallies = {"gate": Tally(executions=10, failures=[{"kind": "x"}]), "extractor": Tally(executions=3, deaths=1)}
    figures = summary(tallies, 36.0)
    assert (figures["executions"], figures["pages"], figures["failures"], figures["process_deaths"]) == (10, 3, 1, 1)


def test_short_form_prints_one_object_and_keeps_it(tmp_path: Path) -> None:
    out = tmp_path / "fuzz.json"
    command = [sys.executable, "-m", "benchmarks.fuzz", "--executions", "2000", "--seconds", "60", "--target", "gate"]
    command += ["--out", str(out), "--failures", str(tmp_path / "failures.jsonl")]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    ran = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    figures = json.loads(ran.stdout)
    assert figures == json.loads(out.read_text(encoding="utf-8"))
    assert figures["executions"] >= 680 and figures["failures"] == 0  # the gate's share of 2,000


def test_resumed_run_adds_to_the_earlier_figures_and_tells_what_was_mended(tmp_path: Path) -> None:
    out, failures = tmp_path / "fuzz.json", tmp_path / "failures.jsonl"
    earlier = {"gate": Tally(executions=10, seconds=3.0, failures=[{"kind": "old"}])}
    out.write_text(json.dumps(summary(earlier, 7200.0)), encoding="utf-8")
    failures.write_text(json.dumps({"target": "gate", "kind": "old", "input": b"x".hex()}) + "\n", encoding="utf-8")
    tallies = {"gate": Tally()}
    assert resume(tallies, out, failures) == 7200.0
    assert (tallies["gate"].executions, tallies["gate"].failures, tallies["gate"].mended) == (10, [], ["old"])
