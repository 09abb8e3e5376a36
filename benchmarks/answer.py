"""Start-up, one command-line answer, and one more answer in a warm process: CPU, wall and peak memory.

    python -m benchmarks.answer [--runs N] [--out FILE]

Each command runs in a process of its own over the demo pages; the medians of N runs are printed as one JSON object, and
each run is a line of --out. Memory is the peak of the process tree's resident set as the kernel counted it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
QUESTION = "How many columns can one table have?"
GOALS = {
    "help_wall_s": 0.25,
    "import_wall_s": 0.25,
    "answer_cpu_s": 0.8,
    "answer_peak_mb": 90,
    "warm_answer_cpu_s": 0.15,
}
WARM = """
import asyncio, sys, time
from firsthand.app import ask_options, open_app
async def main():
    async with open_app() as app:
        o = ask_options(libraries=("demo",), search=None, mode="search", model="none", verify="annotate",
                        cross_check=False, allow_origins=(), max_sources=None, session="bench")
        await app.ask("Which locks are there?", o)
        n, before = 10, time.process_time()
        for i in range(n):
            await app.ask(sys.argv[1], o)
        print((time.process_time() - before) / n)
asyncio.run(main())
"""


def measure(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Wall, CPU and peak memory of *command* and its children, run by a small process of its own."""
    code = (
        "import json,resource,subprocess,sys,time\n"
        "t=time.monotonic()\n"
        "p=subprocess.run(sys.argv[1:],stdout=subprocess.PIPE,stderr=subprocess.DEVNULL)\n"
        "u=resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([time.monotonic()-t,u.ru_utime+u.ru_stime,u.ru_maxrss/1024,p.returncode,p.stdout.decode()]))"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code, *command], env=environment, capture_output=True, text=True, check=True
    )
    wall_s, cpu_s, peak_mb, status, printed = json.loads(ran.stdout)
    if status != 0:
        raise RuntimeError(f"{command} exited {status}")
    return {"wall_s": wall_s, "cpu_s": cpu_s, "peak_mb": peak_mb, "printed": printed}


def main() -> int:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "FIRSTHAND_HOME": home}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as an installation has it: compiled once
        firsthand = [sys.executable, "-m", "firsthand"]
        pages = str(ROOT / "demo" / "pages")
        add = [*firsthand, "add", pages, "--library", "demo", "--base-url", "https://sqlite.org/"]
        adding = measure(add, environment)
        commands = {
            "help": [*firsthand, "--help"],
            "import": [sys.executable, "-c", "import firsthand"],
            "answer": [*firsthand, "ask", QUESTION, "--library", "demo", "--json"],
            "warm": [sys.executable, "-c", WARM, QUESTION],
        }
        rows: list[dict[str, Any]] = []
        for run in range(given.runs + 1):  # the first one compiles
            for name, command in commands.items():
                measured = measure(command, environment)
                if run:
                    rows.append({"what": name, "run": run, **measured})
    if given.out:
        given.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def median(what: str, field: str) -> float:
        return float(round(statistics.median(row[field] for row in rows if row["what"] == what), 3))

    warm = [float(row["printed"]) for row in rows if row["what"] == "warm"]
    figures = {
        "help_wall_s": median("help", "wall_s"),
        "help_cpu_s": median("help", "cpu_s"),
        "import_wall_s": median("import", "wall_s"),
        "answer_wall_s": median("answer", "wall_s"),
        "answer_cpu_s": median("answer", "cpu_s"),
        "answer_peak_mb": median("answer", "peak_mb"),
        "warm_answer_cpu_s": round(statistics.median(warm), 3),
        "add_demo_wall_s": round(adding["wall_s"], 2),
        "add_demo_peak_mb_of_one_process": round(adding["peak_mb"], 1),
    }
    print(json.dumps({**figures, "goals": GOALS, "runs": given.runs, "load": os.getloadavg()[0]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
