"""A program against the test world: wall, CPU, memory and calls, and its wall over the critical path of its requests.

    python -m benchmarks.world_run [--setting real] [--runs 3] [--at-once 1] [--pages FOLDER] [--out FILE] [-- COMMAND]
    python -m benchmarks.world_run --table FILE

COMMAND is a runner (``benchmarks/world/clock.py``); without one it is Firsthand's. It gets WORLD, OPENAI_BASE_URL,
OPENAI_API_KEY, FIRSTHAND_SEARXNG_URL and FIRSTHAND_ALLOW_PRIVATE in its environment and the questions as arguments. Each
run is a line of --out, the medians are printed as one JSON object. Linux only: memory is the largest sum of resident
sizes of the process tree, sampled every 20 ms (shared pages of a forked child count twice), CPU the kernel's account of
the tree. ``wall_over_path`` compares with the lower bound, ``wall_over_merged`` with the bound that also waits for
merges (``firsthand.testing.world.trace``); at ``zero`` both are empty. The world runs beside the program and needs CPU
too (``world_cpu_s``): compare programs with ``benchmarks.world.reference_runner`` in the same hour.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
QUESTIONS = Path(__file__).parent / "world" / "questions.txt"
OURS = [sys.executable, "-m", "benchmarks.world.firsthand_runner"]
SETTINGS: dict[str, dict[str, float]] = {
    "zero": {},
    "real": {
        "search_ms": 400, "page_ms": 300, "jitter": 0.3, "page_kbps": 20_000,
        "first_token_ms": 500, "tokens_per_s": 60, "embed_ms": 150,
    },
}  # fmt: skip
GOALS = {"wall_over_path": 1.05, "wall_over_path_of_8_at_once": 1.15, "peak_mb_of_8_at_once": 130}
SAMPLE_S = 0.02
Row = dict[str, Any]


@contextmanager
def world(pages: Path, log: Path | None) -> Iterator[tuple[str, dict[str, str]]]:
    """A world in a process of its own: where it is, and the environment that leads to it."""
    command = [sys.executable, "-m", "firsthand.testing.world", "--pages", str(pages), "--questions", str(QUESTIONS)]
    command += ["--log", str(log)] if log else []
    with subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().split()[1]
            process.stdout.readline()  # how many pages; printed when they are served
            origin = f"http://127.0.0.1:{port}"
            pairs = ",".join(f"127.0.0.{n}:{port}" for n in range(1, 6))
            yield (
                origin,
                {
                    "WORLD": origin,
                    "OPENAI_BASE_URL": f"{origin}/v1",
                    "OPENAI_API_KEY": "sk-world",
                    "FIRSTHAND_SEARXNG_URL": origin,
                    "FIRSTHAND_ALLOW_PRIVATE": pairs,
                },
            )
        finally:
            process.terminate()
            process.wait()


def measure(command: Sequence[str], questions: Sequence[str], environment: dict[str, str], limit_s: float) -> Row:
    """One run of a program: what it said, and what its process tree took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    process = subprocess.Popen(
        [*command, *questions],
        env=_environment() | environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with _watched(process.pid) as peak:
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            out, err = process.communicate()
            err += "\n(ended at the time limit)"
    wall_s = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = [line for line in out.splitlines() if line.startswith("{")]
    return {
        "returncode": process.returncode,
        "process_wall_s": round(wall_s, 3),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 3),
        "peak_mb": round(peak["bytes"] / 1e6, 1),
        "processes": peak["processes"],
        "said": json.loads(said[-1]) if said else {},
        "stderr_tail": err[-1500:] if process.returncode or not said else "",
    }


@contextmanager
def _watched(pid: int) -> Iterator[dict[str, int]]:
    """The most bytes and processes of a tree, while the block runs."""
    peak, is_over = {"bytes": 0, "processes": 0}, threading.Event()

    def watch() -> None:
        while not is_over.wait(SAMPLE_S):
            pids = tree(pid)
            peak["bytes"] = max(peak["bytes"], sum(map(resident_bytes, pids)))
            peak["processes"] = max(peak["processes"], len(pids))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        is_over.set()
        watcher.join()


def tree(root: int) -> list[int]:
    """A process and all below it. Source: proc(5)."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                waiting += map(int, file.read_text().split())
            except OSError:
                continue  # it ended meanwhile
    return found


def resident_bytes(pid: int) -> int:
    """The resident size of a process; 0 if it ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def run(given: argparse.Namespace, command: Sequence[str]) -> list[Row]:
    """All runs of one program in one setting."""
    questions = [line for line in QUESTIONS.read_text("utf-8").splitlines() if line.strip()]
    rows = []
    with world(given.pages, given.log) as (origin, environment):
        for n in range(given.runs):
            asked = [questions[(n + k) % len(questions)] for k in range(given.at_once)]
            label = f"{given.name}/{given.setting}/{given.at_once}/{n}"
            _call(f"{origin}/reset", {"run": label, **SETTINGS[given.setting], **dict(given.set)})
            load = os.getloadavg()[0]
            measured = measure(command, asked, environment, given.limit_s)
            stats = _call(f"{origin}/stats")
            wall_s = measured["said"].get("run_s", measured["process_wall_s"])
            about = {
                "name": given.name,
                "setting": given.setting,
                "at_once": given.at_once,
                "n": n,
                "load": round(load, 2),
            }
            bounds = {
                "wall_s": wall_s,
                "wall_over_path": _ratio(wall_s, stats["critical_path_s"]),
                "wall_over_merged": _ratio(wall_s, stats["merged_path_s"]),
                "alone_s": round(wall_s - stats["in_flight_s"], 3),
            }
            rows.append({**about, **bounds, **measured, "stats": stats})
            if measured["stderr_tail"]:
                print(measured["stderr_tail"], file=sys.stderr)
    return rows


COLUMNS: dict[str, Callable[[Row], float | None]] = {
    "wall_s": lambda row: row["wall_s"],
    "path_s": lambda row: row["stats"]["critical_path_s"],
    "merged_s": lambda row: row["stats"]["merged_path_s"],
    "wall_over_path": lambda row: row["wall_over_path"],
    "wall_over_merged": lambda row: row["wall_over_merged"],
    "alone_s": lambda row: row["alone_s"],
    "serial_s": lambda row: row["stats"]["serial_s"],
    "run_cpu_s_per_answer": lambda row: row["said"].get("run_cpu_s", 0.0) / row["at_once"],
    "cpu_s": lambda row: row["cpu_s"],
    "import_s": lambda row: row["said"].get("import_s"),
    "import_cpu_s": lambda row: row["said"].get("import_cpu_s"),
    "peak_mb": lambda row: row["peak_mb"],
    "searches_per_answer": lambda row: row["stats"]["search"]["count"] / row["at_once"],
    "pages_per_answer": lambda row: row["stats"]["page"]["count"] / row["at_once"],
    "pages_asked_twice": lambda row: row["stats"]["page"]["count"] - row["stats"]["page"]["distinct"],
    "model_calls_per_answer": lambda row: row["stats"]["model"]["count"] / row["at_once"],
    "prompt_tokens_per_answer": lambda row: row["stats"]["model"]["prompt_tokens"] / row["at_once"],
    "output_tokens_per_answer": lambda row: row["stats"]["model"]["output_tokens"] / row["at_once"],
    "world_cpu_s": lambda row: row["stats"]["world_cpu_s"],
    "load": lambda row: row["load"],
}


def figures(rows: Sequence[Row]) -> Row:
    """The medians of the runs of one program in one setting, and how many answers came."""
    first = rows[0]
    answers = [answer for row in rows for answer in row["said"].get("answers", [])]
    found: Row = {name: first[name] for name in ("name", "setting", "at_once")}
    found |= {"runs": len(rows), "answers": sum("error" not in answer for answer in answers)}
    found["of"] = first["at_once"] * len(rows)
    for name, get in COLUMNS.items():
        values = [value for row in rows if (value := get(row)) is not None]
        found[name] = round(statistics.median(values), 3) if values else None
    return found


def table(rows: Sequence[Row]) -> str:
    """The figures of several programs and settings as a Markdown table."""
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["setting"], row["at_once"], row["name"]), []).append(row)
    lines = [figures(group) for group in groups.values()]
    head = list(lines[0]) if lines else []
    body = ["| " + " | ".join("-" if line[name] is None else str(line[name]) for name in head) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *body])


def _ratio(wall_s: float, bound_s: float) -> float | None:
    return round(wall_s / bound_s, 3) if bound_s else None


def _call(url: str, body: Row | None = None) -> Row:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as reply:
        found: Row = json.load(reply)
        return found


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {**os.environ, "PYTHONPATH": path}


def _setting(pair: str) -> tuple[str, float]:
    name, _, value = pair.partition("=")
    return name, float(value)


def main() -> int:
    """Run and print; 1 if an answer is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="firsthand")
    parser.add_argument("--setting", choices=SETTINGS, default="real")
    parser.add_argument(
        "--set", action="append", default=[], type=_setting, metavar="NAME=NUMBER", help="one more setting"
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=1, help="questions asked at the same time in one process")
    parser.add_argument("--limit-s", type=float, default=300.0)
    parser.add_argument("--pages", type=Path, default=ROOT / "demo" / "pages")
    parser.add_argument("--log", type=Path, help="the world's own log")
    parser.add_argument("--out", type=Path, help="append the runs as JSON lines")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the runs of FILE as a table, and leave")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.table:
        print(table([json.loads(line) for line in given.table.read_text("utf-8").splitlines()]))
        return 0
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    rows = run(given, command or OURS)
    if given.out:
        with given.out.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
    found = figures(rows)
    print(json.dumps({**found, "goals": GOALS}))
    return 0 if found["answers"] == found["of"] else 1


if __name__ == "__main__":
    sys.exit(main())
