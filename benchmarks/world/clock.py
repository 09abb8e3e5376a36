"""What a runner reports: how long its import took, how long its answers took, and what they look like.

A runner defines ``load``, which imports the program and gives ``ask(question) -> text``, plain or async: as a function
that returns it, or as an async context manager for a program that must be opened and closed. It ends with
``clock.main(load)``. ``import_s`` is the time until ``ask`` exists; ``run_s`` begins after it. The last line printed is a
JSON object for ``benchmarks.world_run``; the answers themselves go to stderr.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import os
import re
import resource
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

_BORN = time.monotonic()
MAX_SHOWN_CHARS = 3000

Ask = Callable[[str], "str | Awaitable[str]"]
Load = Callable[[], "Ask | AbstractAsyncContextManager[Ask]"]


def main(load: Load) -> None:
    """Ask the questions on the command line, all at once, and report. Ends the process: other threads must not count."""
    report = asyncio.run(_run(load, sys.argv[1:]))
    print(json.dumps(report), flush=True)
    os._exit(0)


async def _run(load: Load, questions: list[str]) -> dict[str, Any]:
    async with _opened(load) as ask:
        import_s, import_cpu_s, begun = time.monotonic() - _BORN, cpu_s(), time.monotonic()
        found = await asyncio.gather(*(_one(ask, question) for question in questions), return_exceptions=True)
        run_s = time.monotonic() - begun
    for answer in found:
        print("=" * 20 + f"\n{str(answer)[:MAX_SHOWN_CHARS]}", file=sys.stderr)
    return {
        "import_s": round(import_s, 3),
        "import_cpu_s": round(import_cpu_s, 3),
        "run_s": round(run_s, 3),
        "run_cpu_s": round(cpu_s() - import_cpu_s, 3),
        "answers": [_looks(answer) for answer in found],
    }


@asynccontextmanager
async def _opened(load: Load) -> AsyncIterator[Ask]:
    made = load()
    if isinstance(made, AbstractAsyncContextManager):
        async with made as ask:
            yield ask
    else:
        yield made


async def _one(ask: Ask, question: str) -> str:
    if inspect.iscoroutinefunction(ask):
        return str(await ask(question))
    return str(await asyncio.to_thread(ask, question))


def _looks(answer: str | BaseException) -> dict[str, Any]:
    if isinstance(answer, BaseException):
        return {"error": repr(answer)[:300]}
    links = set(re.findall(r"https?://[^\s)\]]+/site/[^\s)\]]+", answer))
    return {"chars": len(answer), "links": len(links)}


def use_shipped_tokenizer() -> None:
    """Point tiktoken, which would download its tables, at those that litellm ships."""
    package = importlib.util.find_spec("litellm")
    if package is not None and package.origin:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(package.origin).parent / "litellm_core_utils" / "tokenizers")


def cpu_s() -> float:
    """User and system seconds of this process, its ended children, and those that still run. Source: proc(5)."""
    mine, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        ticks += sum(map(int, Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return mine.ru_utime + mine.ru_stime + ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")
