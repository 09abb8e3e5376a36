"""Kill a program at every named point and at random, start it again, and compare with an uninterrupted run.

As a library: describe the program as a ``Subject`` and call ``sweep``. As a command:

    python tests/crash/sweep.py --reset 'rm -rf h' --compare './compare.sh' --random 20 --out rows.jsonl -- firsthand ask …

``--reset`` brings back a fresh state before every row; ``--compare`` says what is wrong after the recovery, a line for
each problem, nothing if all is well; ``--observe`` runs between the kill and the recovery. The command itself is run
again as the recovery. One JSON line for each row, the figures last; the exit code is 1 if anything was lost.

A program marks its points with ``firsthand.fault.point``, which is steered by ``FIRSTHAND_FAULT``.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TextIO

KILLED = -signal.SIGKILL
Kind = Literal["point", "fail", "random", "double"]


class Process(Protocol):
    """A running program: ``subprocess.Popen``, or anything that is as real."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, negative for a signal. Raises: subprocess.TimeoutExpired."""
        ...

    def kill(self) -> None:
        """Signal 9."""
        ...


Start = Callable[[Sequence[str], Mapping[str, str], Path | None, Path], Process]


def start(command: Sequence[str], env: Mapping[str, str], cwd: Path | None, errors: Path) -> Process:
    """*command* as a process of its own, its standard error in a file."""
    with errors.open("ab") as file:
        return subprocess.Popen(
            command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """A program that must survive: how to run it, reset its state, and tell that nothing was lost.

    ``observe`` sees the state between the kill and the recovery; what it returns is given to ``compare``, which names
    what is wrong after the recovery. ``recoveries`` are tried in order until one exits 0; without them ``command`` is.
    ``again`` is run after that (None: nothing is) and must leave what ``fingerprint`` returns as it is.
    """

    command: Sequence[str]
    env: Mapping[str, str]
    reset: Callable[[], None]
    compare: Callable[[Any], list[str]]
    observe: Callable[[], Any] = lambda: None
    recoveries: Sequence[Sequence[str]] = ()
    again: Sequence[str] | None = None
    fingerprint: Callable[[], str] = str
    cwd: Path | None = None
    timeout_s: float = 60.0
    start: Start = start


@dataclass(frozen=True, slots=True)
class Row:
    """One interrupted run: where, and what was wrong after its recovery."""

    kind: Kind
    point: str
    n: int
    after_s: float
    was_interrupted: bool  # false: it ended before the point was reached
    n_recoveries: int  # above 1: the first ones stopped to ask
    elapsed_s: float
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """All rows, and their figures."""

    rows: tuple[Row, ...]
    points: Mapping[str, int]  # passages of each point in an uninterrupted run
    run_s: float  # how long that took

    @property
    def bad(self) -> tuple[Row, ...]:
        """Rows in which something was lost, repeated or wrong."""
        return tuple(row for row in self.rows if row.problems)

    def figures(self) -> dict[str, object]:
        """One JSON object."""
        interrupted = Counter(row.kind for row in self.rows if row.was_interrupted)
        return {
            "points": len(self.points),
            "passages": sum(self.points.values()),
            "rows": len(self.rows),
            "kills_at_points": interrupted["point"],
            "failed_writes": interrupted["fail"],
            "random_kills": interrupted["random"],
            "kills_in_recovery": interrupted["double"],
            "asked": sum(row.n_recoveries > 1 for row in self.rows),
            "bad": len(self.bad),
            "run_s": round(self.run_s, 3),
        }


@dataclass(slots=True)
class _Ended:
    code: int
    said: str
    elapsed_s: float = field(default=0.0)


def trace(subject: Subject) -> tuple[Counter[str], float, list[str]]:
    """The points that an uninterrupted run passes, how long it takes, and what ``compare`` finds wrong with it."""
    subject.reset()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace"
        ended = _run(subject, subject.command, fault=f"trace:{file}")
        points = Counter(file.read_text(encoding="utf-8").split()) if file.exists() else Counter[str]()
    problems = subject.compare(subject.observe())
    if ended.code != 0:
        problems = [f"the uninterrupted run exited {ended.code}: {ended.said}", *problems]
    subject.reset()
    return points, _run(subject, subject.command).elapsed_s, problems


def sweep(
    subject: Subject,
    *,
    hits: int | None = None,
    n_random: int = 0,
    n_double: int = 0,
    fail_at: Sequence[str] = (),
    again_every: int = 1,
    seed: int = 0,
    out: Path | None = None,
) -> Summary:
    """Interrupt *subject* in every way asked for, each time from a fresh state.

    ``hits`` bounds the passages of one point that are tried (first, last and evenly between; None: all). ``n_random``
    kills fall at random moments of the program's life: a moment after its end, on a machine that is quicker now, is drawn
    again, three times as often at most. ``n_double`` kill the recovery too. Points in ``fail_at`` also raise instead.
    A second recovery is made after every row, or after every ``again_every``-th.

    Raises: RuntimeError if the uninterrupted run fails already.
    """
    points, run_s, problems = trace(subject)
    if problems:
        raise RuntimeError("; ".join(problems))
    chance = random.Random(seed)
    plan: list[tuple[Kind, str, int, float]] = []
    for point in sorted(points):
        for n in _spread(points[point], hits):
            plan.append(("point", point, n, 0.0))
            if point in fail_at:
                plan.append(("fail", point, n, 0.0))
    passages = [(point, n) for point in sorted(points) for n in range(1, points[point] + 1)]
    plan += [("random", "", 0, chance.uniform(0, run_s)) for _ in range(n_random)]
    plan += [("double", *chance.choice(passages), chance.uniform(0, run_s)) for _ in range(n_double)]
    rows: list[Row] = []
    n_spare = 2 * n_random
    with _lines(out) as lines:
        for i, (kind, point, n, after_s) in enumerate(plan):  # it grows
            row = _row(subject, kind, point, n, after_s, is_run_again=i % again_every == 0)
            rows.append(row)
            if kind == "random" and not row.was_interrupted and n_spare:
                n_spare -= 1
                plan.append(("random", "", 0, chance.uniform(0, run_s)))
            if lines:
                lines.write(json.dumps(dataclasses.asdict(row)) + "\n")
                lines.flush()
    return Summary(tuple(rows), points, run_s)


def _row(subject: Subject, kind: Kind, point: str, n: int, after_s: float, *, is_run_again: bool) -> Row:
    begun = time.monotonic()
    subject.reset()
    if kind == "random":
        ended = _run(subject, subject.command, kill_after_s=after_s)
    else:
        ended = _run(subject, subject.command, fault=f"{point}:{n}" + (":raise" if kind == "fail" else ""))
    if kind == "double":
        _run(subject, subject.command, kill_after_s=after_s)
    problems = []
    if kind != "fail" and ended.code not in (0, KILLED):
        problems.append(f"exited {ended.code} instead of dying: {ended.said}")
    seen = subject.observe()
    n_recoveries, recovered = 0, ended
    for command in subject.recoveries or (subject.command,):
        n_recoveries += 1
        recovered = _run(subject, command)
        if recovered.code == 0:
            break
    if recovered.code != 0:
        problems.append(f"recovery exited {recovered.code}: {recovered.said}")
    problems += subject.compare(seen)
    if subject.again is not None and is_run_again:
        before = subject.fingerprint()
        ended_again = _run(subject, subject.again)
        if ended_again.code != 0:
            problems.append(f"a second recovery exited {ended_again.code}: {ended_again.said}")
        if subject.fingerprint() != before:
            problems.append("a second recovery changed something")
    elapsed_s = round(time.monotonic() - begun, 3)
    return Row(kind, point, n, round(after_s, 4), ended.code != 0, n_recoveries, elapsed_s, tuple(problems))


def _run(
    subject: Subject, command: Sequence[str], *, fault: str | None = None, kill_after_s: float | None = None
) -> _Ended:
    env = {**subject.env, **({} if fault is None else {"FIRSTHAND_FAULT": fault})}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        errors = Path(folder) / "errors"
        process = subject.start(command, env, subject.cwd, errors)
        try:
            code = process.wait(subject.timeout_s if kill_after_s is None else kill_after_s)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        said = errors.read_bytes()[-600:].decode("utf-8", "replace").strip() if errors.exists() else ""
    elapsed_s = time.monotonic() - begun
    if kill_after_s is None and elapsed_s >= subject.timeout_s:
        return _Ended(124, f"no end within {subject.timeout_s} s; {said}", elapsed_s)
    return _Ended(code, said, elapsed_s)


def _spread(n_passages: int, hits: int | None) -> list[int]:
    """Passage numbers to try: all of them, or *hits* from the first to the last."""
    if hits is None or n_passages <= hits:
        return list(range(1, n_passages + 1))
    if hits == 1:
        return [(n_passages + 1) // 2]
    return sorted({1 + round(i * (n_passages - 1) / (hits - 1)) for i in range(hits)})


@contextlib.contextmanager
def _lines(out: Path | None) -> Iterator[TextIO | None]:
    if out is None:
        yield None
        return
    with out.open("w", encoding="utf-8") as file:
        yield file


def main(arguments: Sequence[str]) -> int:
    """The command. ``--compare`` finds what ``--observe`` printed on its standard input."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reset", required=True, help="shell command that makes a fresh state")
    parser.add_argument("--observe", default="", help="shell command run between kill and recovery")
    parser.add_argument("--compare", required=True, help="shell command that prints a line for each problem")
    parser.add_argument("--again", default="", help="second recovery, which must change nothing")
    parser.add_argument("--fingerprint", default="", help="shell command that prints what must not change")
    parser.add_argument("--hits", type=int, help="passages tried of each point; default: all")
    parser.add_argument("--random", type=int, default=0, help="kills at random moments")
    parser.add_argument("--double", type=int, default=0, help="kills whose recovery is killed too")
    parser.add_argument("--fail", action="append", default=[], metavar="POINT", help="point that also raises")
    parser.add_argument("--again-every", type=int, default=1, metavar="ROWS")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--out", type=Path, help="file for the rows, a JSON object a line")
    parser.add_argument("command", nargs="+", help="-- and the command with its arguments")
    given = parser.parse_args(arguments)

    def shell(command: str, said: str = "") -> str:
        if not command:
            return ""
        done = subprocess.run(["/bin/sh", "-c", command], input=said, capture_output=True, text=True, check=False)
        return done.stdout + (f"exit {done.returncode}: {done.stderr}" if done.returncode and not done.stdout else "")

    subject = Subject(
        command=given.command,
        env=dict(os.environ),
        reset=lambda: void(shell(given.reset)),
        observe=lambda: shell(given.observe),
        compare=lambda seen: shell(given.compare, seen).splitlines(),
        again=shlex.split(given.again) or None,
        fingerprint=lambda: shell(given.fingerprint),
        timeout_s=given.timeout,
    )
    summary = sweep(
        subject,
        hits=given.hits,
        n_random=given.random,
        n_double=given.double,
        fail_at=given.fail,
        again_every=given.again_every,
        seed=given.seed,
        out=given.out,
    )
    for row in summary.bad:
        print(json.dumps(dataclasses.asdict(row)))
    print(json.dumps(summary.figures()))
    return 1 if summary.bad else 0


def void(_: object) -> None:
    """Nothing, whatever was given."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
