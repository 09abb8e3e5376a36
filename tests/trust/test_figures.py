"""The program that prints the figures says so when one is not kept."""

from __future__ import annotations

import json
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from benchmarks import trust
from firsthand.web import address, limits


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the short form of some promises, its rows kept: exit code, lines printed, the object, the rows."""
    monkeypatch.setitem(trust.N_GENERATED, True, 200)
    out = tmp_path / "trust.jsonl"

    def run(*names: str) -> tuple[int, list[str], dict[str, Any], list[dict[str, Any]]]:
        only = [word for name in names for word in ("--only", name)]
        monkeypatch.setattr(sys, "argv", ["trust", "--short", "--out", str(out), *only])
        code = trust.main()
        lines = capsys.readouterr().out.splitlines()
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert json.loads(lines[-1]) == json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
        return code, lines, json.loads(lines[-1]), rows

    return run


def test_figures_are_printed_as_they_are_worded_and_every_row_is_kept(printed: Any) -> None:
    code, lines, said, rows = printed("P1")
    assert code == 0 and said["broken"] == {}
    assert lines[0] == (
        "P1 362 URLs (277 hostile, 85 benign): 0 wrong verdicts, 0 connects to a refused address; "
        "200 generated, 0 differences"
    )
    assert len(rows) == 363 and all(row["promise"] == "P1" for row in rows)


def test_figure_that_is_not_kept_turns_the_run_red(printed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    address._standing.cache_clear()  # what it remembers, judged by the whole table
    kept = tuple(block for block in limits.REFUSED_IPV4 if block != ip_network("10.0.0.0/8"))
    monkeypatch.setattr(limits, "REFUSED_IPV4", kept)
    code, lines, said, _ = printed("P1")
    address._standing.cache_clear()
    assert code == 1
    assert said["promises"]["P1"]["wrong_verdicts"] > 0 and said["promises"]["P1"]["connects"] > 0
    assert any(line.startswith("   broken: u") for line in lines)
