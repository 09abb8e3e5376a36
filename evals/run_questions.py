"""Asks the open questions about the six documentation packages through the real command line and scores the answers.

    python -m evals.run_questions [--home FOLDER] [--questions FILE] [--out FILE] [--install] [--no-misses]

The packages and their roots are those of README.md. What is missing is installed with apt-get when --install is given
(as root); otherwise it is named and the exit code is 2. With --home the index is kept and reused. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evals.check import Root, gather_roots
from evals.score import read_lines, score

HERE = Path(__file__).parent
HOST = "http://127.0.0.1:8000"  # a name for the files; nothing is fetched
INSTALL = re.compile(r"apt-get install --no-install-recommends ((?:[^\n]*\\\n)*[^\n]+)")


def missing(roots: Mapping[str, Root]) -> list[str]:
    """The packages whose pages are not there."""
    return [package for package, root in roots.items() if not (root.directory / "").is_dir()]


def install(readme: str) -> None:
    """Install the packages that README.md names."""
    found = INSTALL.search(readme)
    names = found[1].replace("\\\n", " ").split() if found else []
    command = ["apt-get", "install", "-y", "--no-install-recommends", *names]
    subprocess.run(command, check=True, stdout=sys.stderr)


def ask(home: Path, roots: Mapping[str, Root], questions: Path, answers: Path) -> None:
    """Add what is not there yet, then answer every question."""
    environment = {**os.environ, "FIRSTHAND_HOME": str(home)}
    firsthand = [sys.executable, "-m", "firsthand"]
    marker = home / "added.json"
    added = json.loads(marker.read_text(encoding="utf-8")) if marker.exists() else []
    for package, root in roots.items():
        if package not in added:
            add = ["add", str(root.directory), "--library", package, "--base-url", HOST + root.path, "--json"]
            subprocess.run([*firsthand, *add], env=environment, check=True, stdout=sys.stderr)
            added.append(package)
            home.mkdir(parents=True, exist_ok=True)
            marker.write_text(json.dumps(added), encoding="utf-8")
    libraries = [word for package in roots for word in ("--library", package)]
    batch = ["batch", str(questions), "--out", str(answers), *libraries]
    subprocess.run([*firsthand, *batch], env=environment, check=True, stdout=sys.stderr)


def main(arguments: list[str]) -> int:
    """Exit code 2 if packages are missing, 1 if a command failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="data folder to keep; default: a temporary one")
    parser.add_argument("--questions", type=Path, default=HERE / "questions-open.jsonl")
    parser.add_argument("--roots", type=Path, default=HERE / "README.md")
    parser.add_argument("--out", type=Path, help="where the answers go; default: beside the index")
    parser.add_argument("--install", action="store_true", help="install missing packages with apt-get")
    parser.add_argument("--no-misses", action="store_true")
    given = parser.parse_args(arguments)
    roots = gather_roots([str(given.roots)], [])
    if missing(roots) and given.install:
        install(given.roots.read_text(encoding="utf-8"))
    if absent := missing(roots):
        print(f"not installed: {', '.join(absent)}; see {given.roots}, or pass --install", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        home = given.home or Path(name)
        answers = given.out or home / "answers.jsonl"
        home.mkdir(parents=True, exist_ok=True)
        try:
            ask(home, roots, given.questions, answers)
        except subprocess.CalledProcessError as error:
            print(f"a command failed with {error.returncode}: {error.cmd}", file=sys.stderr)
            return 1
        rows: list[dict[str, Any]] = read_lines(str(answers))
    result = score(read_lines(str(given.questions)), rows, roots, with_misses=not given.no_misses)
    print(json.dumps(result, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
