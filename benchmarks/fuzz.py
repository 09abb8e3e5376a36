"""Feeds made-up input to everything that takes hostile input, and checks what must hold; prints one JSON object.

    python -m benchmarks.fuzz --seconds 60                  the short form, for CI
    python -m benchmarks.fuzz --executions 10000000         the long form: 10 million, and 200,000 pages
    python -m benchmarks.fuzz --resume …                    adds to the figures of --out, from another --seed

Targets and rules are in ``fuzz_targets``: the URL gate, the reader of response heads, the charset step, the filters of
Markdown, terminal and page, the matcher of quotes, and the extractor, which gets one page for 50 other inputs. A part of
each slice is guided by coverage (Atheris, if it is installed; it keeps what reached a new branch), the rest are seeded
mutations of the corpora and of what was kept. Work is done in a process a slice: an input that kills or hangs it is
recorded, and the next one goes on. Failing inputs are made small; each kind is a row of --failures.

Reached by 2026-12-01, in 1.82 hours at nice 15 to 19 beside other work, the code under test changing on the way: 10,038,377
inputs and 262,976 pages; 0 process deaths; four faults of ours, all mended, and a rule of the fuzzer that was too narrow.
Their inputs are kept in ``tests/data/fuzz.jsonl``.

--out holds the figures so far and is written after every slice. What failed in an earlier part and holds now is listed
as mended. Exit code 1 if anything fails.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import importlib.util
import json
import mmap
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES_SHARE = 50  # small inputs for one page: ruling R18's 10 million and 200,000
SLICES = 5  # of a long run, so that one that is cut has tried every target
GUIDED_FROM_S = 20.0  # a shorter slice is over before the code is instrumented
GUIDED_SHARE = 0.05  # of a slice; instrumented code is some five times slower
CPU_MAX_S = 3.0  # for one input; the largest is 64 kB
HANG_S = 30
WORKER_MEMORY_BYTES = 2 << 30
KINDS_MAX = 20  # different failures of one target that are kept
SHRINK_TRIES = 2_000
HEADER = struct.Struct("<QI")  # inputs tried, length of the one that is tried now

Check = Callable[[bytes], None]


@dataclass
class Tally:
    """What one target has seen so far."""

    executions: int = 0
    guided: int = 0
    seconds: float = 0.0
    deaths: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)


def main() -> int:
    """Run slices until enough was tried, or time is up; or be the worker of one slice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executions", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="add to the figures of an earlier run")
    parser.add_argument("--target", action="append", help="only this one; repeatable")
    parser.add_argument("--out", type=Path, default=RESULTS / "fuzz.json")
    parser.add_argument("--failures", type=Path, default=RESULTS / "fuzz-failures.jsonl")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--guided", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.worker, given.target[0], given.executions, given.seconds, given.seed, given.guided)
        return 0
    figures = run(given)
    print(json.dumps(figures))
    return 1 if figures["failures"] else 0


def run(given: argparse.Namespace) -> dict[str, Any]:
    """Every target in turn, slice by slice; the figures."""
    from benchmarks.fuzz_targets import TARGETS

    targets = [target for target in TARGETS if not given.target or target.name in given.target]
    tallies = {target.name: Tally() for target in targets}
    spent_s = resume(tallies, given.out, given.failures) if given.resume else 0.0
    began = time.monotonic()
    n_slices = SLICES if given.executions >= 1_000_000 else 1
    with tempfile.TemporaryDirectory() as folder:
        for number, target in [(number, target) for number in range(n_slices) for target in targets]:
            parts = n_slices * len(targets)
            left_s = given.seconds - (time.monotonic() - began)
            slice_s = left_s / (parts - number * len(targets) - targets.index(target))
            share = target.share or 1 / PAGES_SHARE
            n = max(1, int(given.executions * share / n_slices))
            home = Path(folder) / target.name
            (home / "corpus").mkdir(parents=True, exist_ok=True)
            seed = given.seed * 1_000_003 + number
            if left_s > 0:
                run_slice(tallies[target.name], target.name, home, n, slice_s, seed)
            figures = summary(tallies, spent_s + time.monotonic() - began)
            given.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    rows = [json.dumps({"target": name, **row}) for name, tally in tallies.items() for row in tally.failures]
    given.failures.write_text("".join(row + "\n" for row in rows), encoding="utf-8")
    return figures


def resume(tallies: dict[str, Tally], out: Path, failures: Path) -> float:
    """Take over an earlier run's figures; what failed is tried again. The seconds it took."""
    earlier = json.loads(out.read_text(encoding="utf-8"))
    for name, tally in tallies.items():
        row = earlier["targets"][name]
        tally.executions, tally.guided, tally.seconds = row["executions"], row["guided"], row["seconds"]
        tally.mended = row.get("mended", [])
    for row in _lines(failures):
        tally = tallies[row["target"]]
        if asyncio.run(_holds(row)):
            tally.mended.append(row["kind"])
        else:
            tally.failures.append({key: value for key, value in row.items() if key != "target"})
    return float(earlier["hours"]) * 3600


async def _holds(row: dict[str, Any]) -> bool:
    from benchmarks.fuzz_targets import BY_NAME

    return failure(BY_NAME[row["target"]].check, bytes.fromhex(row["input"])) is None


def run_slice(tally: Tally, name: str, home: Path, n: int, slice_s: float, seed: int) -> None:
    """*n* inputs for one target, begun again behind an input that killed its process."""
    until = time.monotonic() + slice_s
    parts = [(False, n, until)]
    if slice_s >= GUIDED_FROM_S and importlib.util.find_spec("atheris") is not None:
        n_guided = int(n * GUIDED_SHARE)
        parts = [(True, n_guided, time.monotonic() + slice_s / 4), (False, n - n_guided, until)]
    for is_guided, left, part_until in parts:
        while left > 0 and (left_s := part_until - time.monotonic()) > 0 and tally.deaths < KINDS_MAX:
            began = time.monotonic()
            done, row = run_worker(name, home, left, left_s, seed, is_guided)
            left -= max(done, 1)
            seed += 7
            tally.executions += done
            tally.guided += done if is_guided else 0
            tally.seconds += time.monotonic() - began
            if row is None:
                break
            tally.deaths += 1
            tally.failures.append(row)
    known = {row["kind"] for row in tally.failures}
    for row in _lines(home / "failures.jsonl"):
        if row["kind"] not in known:
            known.add(row["kind"])
            tally.failures.append(row)


def run_worker(
    name: str, home: Path, n: int, left_s: float, seed: int, is_guided: bool
) -> tuple[int, dict[str, Any] | None]:
    """How many inputs a worker tried, and the failure that it died of, if it did."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "benchmarks.fuzz", "--worker", str(home), "--target", name, "--seed", str(seed)]
    command += ["--executions", str(n), "--seconds", str(min(left_s, 1e6)), *(["--guided"] if is_guided else [])]
    (home / "now").write_bytes(HEADER.pack(0, 0) + bytes(1 << 20))
    with (home / "log").open("wb") as log:
        status = subprocess.run(command, env=environment, cwd=ROOT, stdout=log, stderr=log).returncode
    now = (home / "now").read_bytes()
    done, size = HEADER.unpack_from(now)
    if status == 0:
        return done, None
    said = (home / "log").read_text(encoding="utf-8", errors="replace")[-500:]
    died_of = now[HEADER.size : HEADER.size + size]
    return done, {"kind": f"the process ended with {status}", "input": died_of.hex(), "small": "", "said": said}


def summary(tallies: dict[str, Tally], seconds: float) -> dict[str, Any]:
    """The figures: how much was tried, what failed."""
    small = sum(tally.executions for name, tally in tallies.items() if name != "extractor")
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(["python -m benchmarks.fuzz", *sys.argv[1:]]),
        "executions": small,
        "pages": tallies["extractor"].executions if "extractor" in tallies else 0,
        "hours": round(seconds / 3600, 2),
        "failures": sum(len(tally.failures) for tally in tallies.values()),
        "process_deaths": sum(tally.deaths for tally in tallies.values()),
        "targets": {
            name: {
                "executions": tally.executions,
                "guided": tally.guided,
                "seconds": round(tally.seconds, 1),
                "failures": [row["kind"] for row in tally.failures],
                "mended": tally.mended,
            }
            for name, tally in tallies.items()
        },
    }


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


# -- One worker


def work(home: Path, name: str, n: int, seconds: float, seed: int, is_guided: bool) -> None:
    """Try *n* inputs, or as many as *seconds* allow. What is tried stands in ``now``, what failed in ``failures``."""
    resource.setrlimit(resource.RLIMIT_AS, (WORKER_MEMORY_BYTES, WORKER_MEMORY_BYTES))
    signal.signal(signal.SIGALRM, lambda *_: os._exit(99))  # also out of a library that does not come back
    asyncio.run(_work(home, name, n, time.monotonic() + seconds, seed, is_guided))


async def _work(home: Path, name: str, n: int, until: float, seed: int, is_guided: bool) -> None:
    """Runs in a loop because aiohttp's parser wants one; nothing here is awaited."""
    if is_guided:
        atheris: Any = importlib.import_module("atheris")  # has no types, and is not needed

        with atheris.instrument_imports(include=_modules(name)):
            from benchmarks.fuzz_targets import BY_NAME
    else:
        from benchmarks.fuzz_targets import BY_NAME
    target = BY_NAME[name]
    with (home / "now").open("r+b") as file, mmap.mmap(file.fileno(), 0) as now:
        trial = Trial(target.check, home, now, until)
        corpus = home / "corpus"
        if not is_guided:
            pool = target.seeds() + [file.read_bytes() for file in sorted(corpus.iterdir())]
            for data in mutations(pool, target.words, target.max_bytes, random.Random(seed), n):
                if not trial.run(data):
                    return
            return
        for number, data in enumerate(target.seeds()):
            (corpus / f"seed-{number}").write_bytes(data[: target.max_bytes])
        words = home / "words"
        words.write_text("".join(f'"{_c_string(word)}"\n' for word in target.words if word), encoding="ascii")
        options = [f"-runs={n}", f"-seed={seed % 2**31 or 1}", f"-max_len={target.max_bytes}", f"-dict={words}"]
        options += ["-rss_limit_mb=0", f"-max_total_time={max(1, int(until - time.monotonic()))}", str(corpus)]
        atheris.Setup(["fuzz", *options], trial.run)
        atheris.Fuzz()  # ends the process


def _modules(name: str) -> list[str]:
    """The modules to instrument: known before they may be imported."""
    room = "firsthand.web"
    by_name = {
        "gate": [f"{room}.address"],
        "head": [f"{room}.wire", f"{room}.client"],
        "charset": [f"{room}.extract.charset"],
        "shown": ["firsthand.render", "firsthand.page", "firsthand.research.write"],
        "matcher": ["firsthand.evidence.quotes"],
    }
    return by_name.get(name, [f"{room}.extract"])


def _c_string(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


class Trial:
    """Runs one input after the other, notes the one at hand, and keeps one small input of each kind of failure."""

    def __init__(self, check: Check, home: Path, now: mmap.mmap, until: float) -> None:
        self._check = check
        self._file = home / "failures.jsonl"
        self._kinds = {row["kind"] for row in _lines(self._file)}
        self._now = now
        self._until = until
        self._n = 0

    def run(self, data: bytes) -> bool:
        """Try *data*; whether there is time for more."""
        size = min(len(data), len(self._now) - HEADER.size)
        self._now[HEADER.size : HEADER.size + size] = data[:size]
        HEADER.pack_into(self._now, 0, self._n, size)
        if self._n % 32 == 0:
            signal.alarm(HANG_S)
            if time.monotonic() > self._until:
                return False
        kind = failure(self._check, data)
        self._n += 1
        HEADER.pack_into(self._now, 0, self._n, size)
        if kind is not None and kind not in self._kinds and len(self._kinds) < KINDS_MAX:
            self._kinds.add(kind)
            signal.alarm(0)
            row = {"kind": kind, "input": data.hex(), "small": shrink(self._check, data, kind).hex()}
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        return True


def failure(check: Check, data: bytes) -> str | None:
    """The kind of failure that *data* brings about: the rule, or the error and where it came from; None if all holds."""
    began = time.process_time()
    try:
        check(data)
    except Exception as error:
        if type(error).__name__ == "Broken":
            return str(error)
        frames = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            frames.append(f"{Path(code.co_filename).name}:{code.co_name}")
            trace = trace.tb_next
        return f"{type(error).__name__} in {frames[-1]}"
    if time.process_time() - began > CPU_MAX_S:
        return f"an input takes more than {CPU_MAX_S:g} s"
    return None


def shrink(check: Check, data: bytes, kind: str) -> bytes:
    """A smaller input that fails in the same way: pieces are left out, from halves down to single bytes."""
    tries = SHRINK_TRIES
    size = max(1, len(data) // 2)
    while size and tries > 0:
        at = 0
        while at < len(data) and tries > 0:
            smaller = data[:at] + data[at + size :]
            tries -= 1
            if failure(check, smaller) == kind:
                data = smaller
            else:
                at += size
        size //= 2
    return data


# -- Mutations


def mutations(
    pool: Sequence[bytes], words: Sequence[bytes], max_bytes: int, chance: random.Random, n: int
) -> Iterator[bytes]:
    """The seeds themselves, then *n* less their number of inputs made from them."""
    yield from pool[:n]
    for _ in range(n - len(pool)):
        data = bytearray(chance.choice(pool))
        if chance.random() < 0.15:
            other = chance.choice(pool)
            data[chance.randint(0, len(data)) :] = other[chance.randint(0, len(other)) :]
        for _ in range(chance.choice((1, 1, 2, 3, 6))):
            _mutate(data, words, chance)
        yield bytes(data[:max_bytes])


def _mutate(data: bytearray, words: Sequence[bytes], chance: random.Random) -> None:
    at = chance.randint(0, len(data))
    end = min(len(data), at + chance.choice((1, 1, 2, 4, 16, 64)))
    match chance.randrange(8):
        case 0:
            data[at:end] = b""
        case 1:
            data[at:at] = data[at:end] * chance.choice((1, 2, 8))
        case 2:
            data[at:end] = chance.randbytes(end - at)
        case 3 if data:
            data[at - 1] ^= 1 << chance.randrange(8)
        case 4:
            data[at:at] = chr(chance.choice((0x7F, 0x2FF, 0xFFFF, 0x10FFFF)) - chance.randrange(0x7F)).encode(
                "utf-8", "replace"
            )
        case 5:
            data[at:end] = chance.choice(words)
        case _:
            data[at:at] = chance.choice(words)


if __name__ == "__main__":
    sys.exit(main())
