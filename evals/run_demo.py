"""Asks the questions about the demo pages through the real command line and scores the answers.

    python -m evals.run_demo [--floors evals/floors.json] [--out FOLDER]

Prints one JSON object. With --floors the exit code is 1 if a figure is below its floor; a floor is lowered by hand only,
with the reason in the commit. Each answer is a line of answers.jsonl in --out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from evals.check import Root
from evals.score import read_lines, score

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "demo" / "pages"
QUESTIONS = ROOT / "demo" / "questions.jsonl"
PACKAGE = "sqlite-demo"
SITE = "http://127.0.0.1/sqlite-demo/"  # a name for the files; nothing is fetched
MEASURES = (
    "answer_recall",
    "answer_recall_from_gold",
    "answer_recall_first_quote",
    "page_recall",
    "citation_precision",
    "abstention_accuracy",
    "false_abstention_rate",
    "clarification_accuracy",
)


def run(out: Path) -> dict[str, Any]:
    """Add the pages, answer the questions, score the answers."""
    environment = {**os.environ, "FIRSTHAND_HOME": str(out / "home")}
    firsthand = [sys.executable, "-m", "firsthand"]
    answers = out / "answers.jsonl"
    for command in (
        ["add", str(PAGES), "--library", "demo", "--base-url", SITE, "--json"],
        ["batch", str(QUESTIONS), "--out", str(answers), "--library", "demo"],
    ):
        subprocess.run([*firsthand, *command], env=environment, check=True, stdout=sys.stderr)
    roots = {PACKAGE: Root(PAGES, "/sqlite-demo/")}
    return score(read_lines(str(QUESTIONS)), read_lines(str(answers)), roots, with_misses=True)


def below(figures: dict[str, Any], floors: dict[str, float]) -> list[str]:
    """What is below its floor (above it, for a rate that should be small)."""
    wrong = []
    for name, floor in floors.items():
        value = figures[name]
        is_bad = value > floor if name.startswith("false_") else value < floor
        if is_bad:
            wrong.append(f"{name} is {value}, the floor is {floor}")
    return wrong


def main() -> int:
    """Exit code 1 if a figure is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floors", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        result = run(given.out or Path(name))
    figures = {name: result["overall"][name] for name in MEASURES}
    print(json.dumps({"n_questions": result["overall"]["n_questions"], **figures, "misses": result["misses"]}))
    wrong = below(figures, json.loads(given.floors.read_text(encoding="utf-8"))) if given.floors else []
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
