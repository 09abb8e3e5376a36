"""The promises about fetching, P1 to P6, with their figures; one line each, then one JSON object.

    python -m benchmarks.trust [--short] [--out FILE]

The short form is for every commit (20,000 generated URLs, rows about time with short limits, 300 URLs of a host 0.02 s
apart by the named setting). The long form takes about ten minutes and is what the release notes state: 1,000,000
generated URLs, the product's own limits, the product's own pace. It keeps each row in --out, and the figures beside it.
P5's fuzzing is ``benchmarks.fuzz``'s; its last result is read here. Exit code 1 if a promise is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from tests.trust import politeness, rebinding, responses, traps, urls
from tests.trust.generated import is_allowed
from tests.trust.peers import watched

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
SEED = 2026
N_GENERATED = {True: 20_000, False: 1_000_000}  # by whether it is the short form; source: trust page, P1
N_REBINDING = 200
N_FLOOD, CEILING = 300, 250
SHORT_INTERVAL_S, INTERVAL_S = 0.02, 1.0
AT_ONCE = 3  # responses under way; some only wait

Row = dict[str, Any]


@dataclass
class Figure:
    """One promise: its line as the trust page words it, numbers, and what was wrong."""

    line: str
    numbers: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def gate(is_short: bool) -> Figure:
    """P1: the corpus and the generated URLs."""
    passed = asyncio.run(_all_urls())
    faults = {result.id: urls.faults(result) for result in passed}
    n_hostile = sum(row["expect"] == "deny" for row in urls.ROWS.values())
    n_connects = sum(len(_refused(result)) for result in passed)
    made = generated(N_GENERATED[is_short])
    n_wrong = sum(bool(found) for found in faults.values())
    line = (
        f"{len(passed)} URLs ({n_hostile} hostile, {len(passed) - n_hostile} benign): {n_wrong} wrong verdicts, "
        f"{n_connects} connects to a refused address; {made['generated']:,} generated, {made['differences']} differences"
    )
    rows = [{**asdict(result), "faults": faults[result.id]} for result in passed]
    rows.append({"id": "generated", **made})
    wrong = [f"{id}: {found}" for id, found in faults.items() if found] + [str(row) for row in made["first"]]
    numbers = {"urls": len(passed), "hostile": n_hostile, "wrong_verdicts": n_wrong, "connects": n_connects}
    return Figure(line, {**numbers, "generated": made["generated"], "differences": made["differences"]}, rows, wrong)


def _refused(result: urls.Passed) -> set[str]:
    """The addresses that were connected to and are refused: by its row, by a second table where its row changes none."""
    row = urls.ROWS[result.id]
    by_table = set() if "policy" in row else {address for address in result.connected if not is_allowed(address)}
    return by_table | (set(row.get("never", ())) & set(result.connected))


async def _all_urls() -> list[urls.Passed]:
    return [await urls.passed(row) for row in urls.ROWS.values()]


def generated(n_urls: int) -> Row:
    """The differences over *n_urls* generated URLs, found by as many processes as there are cores."""
    n_parts = os.cpu_count() or 1
    program = [sys.executable, "-m", "tests.trust.generated", str(-(-n_urls // n_parts))]
    env = watched({"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"})
    with ThreadPoolExecutor(n_parts) as pool:
        said = list(
            pool.map(
                lambda part: (
                    subprocess.run(
                        [*program, str(SEED + part)], cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True
                    ).stdout
                ),
                range(n_parts),
            )
        )
    parts = [json.loads(part) for part in said]
    verdicts = {
        name: sum(part["verdicts"].get(name, 0) for part in parts) for part in parts for name in part["verdicts"]
    }
    return {
        "generated": sum(part["generated"] for part in parts),
        "differences": sum(part["differences"] for part in parts),
        "seeds": [part["seed"] for part in parts],
        "verdicts": verdicts,
        "first": [row for part in parts for row in part["first"]],
    }


def look_ups(is_short: bool) -> Figure:
    """P2: rebinding names."""
    counted = rebinding.rebind(N_REBINDING)
    n_second, n_wrong = counted["second_look_ups"], counted["wrong_peers"]
    line = (
        f"{counted['fetches']} rebinding fetches, {n_second} second look-ups, {n_wrong} wrong peers "
        f"({counted['look_ups']} look-ups, one query for A and one for AAAA each, by {counted['resolver']})"
    )
    wrong = list(counted["wrong_ends"]) + ([line] if n_second or n_wrong else [])
    return Figure(line, {**counted, "wrong_ends": len(counted["wrong_ends"])}, [counted], wrong)


def company(is_short: bool) -> Figure:
    """P3: traps."""
    sprung = traps.spring()
    n_sent = len(sprung["credentials"]) + sprung["certificates"]
    line = f"{sprung['trap_connections']} trap connections, {n_sent} credentials sent"
    numbers = {"trap_connections": sprung["trap_connections"], "credentials": n_sent, "requests": sprung["requests"]}
    return Figure(line, numbers, sprung["rows"], [line] if n_sent or sprung["trap_connections"] else [])


@cache
def served(is_short: bool) -> list[responses.Result]:
    """What became of every row of the response corpus."""
    with responses.Lab() as lab:
        return sorted(lab.run(responses.ROWS, short=is_short, at_once=AT_ONCE), key=lambda result: result.id)


def endings(is_short: bool) -> Figure:
    """P4: the response corpus, each row in a fresh process."""
    results = served(is_short)
    faults = {result.id: responses.faults(result) for result in results}
    n_stated = sum(not any(f.startswith(("code", "outcome")) for f in found) for found in faults.values())
    longest = max(result.seconds for result in results)
    rise = max(result.rise_mib for result in results)
    n_good = sum(result.next_good for result in results)
    n = len(results)
    line = (
        f"{n} responses: {n_stated} stated outcomes, longest {longest:.1f} s (≤ 35 s), "
        f"peak rise {rise:.0f} MiB (≤ 96 MiB), {n_good} of {n} next fetches good"
    )
    rows = [{**asdict(result), "body": "", "headers": "", "faults": faults[result.id]} for result in results]
    numbers = {"responses": n, "stated": n_stated, "longest_s": round(longest, 2), "peak_rise_mib": round(rise, 1)}
    numbers |= {"next_good": n_good, "worker_peak_mib": round(max(result.worker_mib for result in results), 1)}
    return Figure(line, numbers, rows, [f"{id}: {found}" for id, found in faults.items() if found])


def parsing(is_short: bool) -> Figure:
    """P5: the pages of the response corpus that were read, and what the fuzzer said when it last ran."""
    results = served(is_short)
    n_restarts = sum(result.code.startswith(("died", "hung")) for result in results)
    n_affected = sum(not result.next_read for result in results)
    pages = [result for result in results if result.was_read]
    file = RESULTS / "fuzz.json"
    fuzzed = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    n_crashes = sum(
        "process ended" in kind
        for name, target in fuzzed.get("targets", {}).items()
        for kind in target["failures"]
        if name != "extractor"  # its process is a worker, which may die
    )
    line = (
        f"{len(pages) + fuzzed.get('pages', 0):,} pages, {n_restarts} server restarts, {n_affected} other pages affected; "
        f"{fuzzed.get('hours', 0)} fuzz hours, {fuzzed.get('executions', 0):,} executions, {n_crashes} crashes of the server "
        f"(fuzzed {fuzzed.get('at', 'never: python -m benchmarks.fuzz')})"
    )
    numbers = {name: fuzzed.get(name) for name in ("at", "pages", "executions", "failures", "hours")}
    numbers |= {"corpus_pages": len(pages), "restarts": n_restarts, "affected": n_affected, "crashes": n_crashes}
    is_broken = n_restarts or n_affected or n_crashes or fuzzed.get("failures", 0)
    return Figure(line, numbers, [], [line] if is_broken else [])


def pace(is_short: bool) -> Figure:
    """P6: a flood of URLs of one host."""
    interval_s = SHORT_INTERVAL_S if is_short else INTERVAL_S
    seen = asyncio.run(politeness.flood(N_FLOOD, interval_s=interval_s, ceiling=CEILING))
    default = (
        asyncio.run(politeness.flood(3, interval_s=INTERVAL_S, ceiling=CEILING, slowness=0.1)) if is_short else seen
    )
    n_over = max(0, seen.requests - CEILING)
    line = (
        f"{max(seen.most_at_a_time, default.most_at_a_time)} at a time (≤ 2), {default.least_apart_s:.2f} s apart "
        f"(≥ 1 s), {n_over} over the run ceiling ({N_FLOOD} URLs at once, {interval_s:g} s apart, ceiling {CEILING})"
    )
    runs = [seen] if default is seen else [seen, default]
    return Figure(line, asdict(seen), [asdict(run) for run in runs], [f for run in runs for f in run.faults()])


PROMISES: dict[str, Callable[[bool], Figure]] = {
    "P1": gate,
    "P2": look_ups,
    "P3": company,
    "P4": endings,
    "P5": parsing,
    "P6": pace,
}


def measured(names: list[str], is_short: bool) -> Iterator[tuple[str, Figure]]:
    """Each promise of *names* with its figure, its line printed when it is there."""
    for name in names:
        began = time.monotonic()
        figure = PROMISES[name](is_short)
        figure.numbers["took_s"] = round(time.monotonic() - began, 1)
        print(f"{name} {figure.line}", flush=True)
        for fault in figure.wrong:
            print(f"   broken: {fault}", flush=True)
        yield name, figure


def main() -> int:
    """Print the figures; keep the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="the form for every commit")
    parser.add_argument("--only", action="append", choices=sorted(PROMISES), help="only this one; repeatable")
    parser.add_argument(
        "--out", type=Path, help=f"rows; default of the long form: {RESULTS.relative_to(ROOT)}/trust.jsonl"
    )
    given = parser.parse_args()
    figures = dict(measured(given.only or sorted(PROMISES), given.short))
    out = given.out or (None if given.short or given.only else RESULTS / "trust.jsonl")
    said = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "form": "short" if given.short else "long",
        "promises": {name: {"line": figure.line, **figure.numbers} for name, figure in figures.items()},
        "broken": {name: figure.wrong for name, figure in figures.items() if figure.wrong},
        "load": round(os.getloadavg()[0], 1),
    }
    if out is not None:
        rows = [{"promise": name, **row} for name, figure in figures.items() for row in figure.rows]
        out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        out.with_suffix(".json").write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(said, ensure_ascii=False))
    return 1 if said["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
