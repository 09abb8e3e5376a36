"""The ``ddgs`` package, asked in a process of its own: the first link of the keyless chain.

It is the one part of Firsthand that reaches the network by another way than our gate. It asks fixed search services
and opens no address that a page or a model gave; ``--search duckduckgo-html`` does without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from pathlib import Path

from firsthand.errors import ProviderFailed
from firsthand.values import JsonValue, Query
from firsthand.web.search.codec import Hits, Row, failure, hits_of
from firsthand.web.search.facts import FACTS
from firsthand.web.search.phrasing import REGIONS, applied_filter, shorten
from firsthand.web.search.reading import text_of

WORKER = Path(__file__).with_name("ddgs_worker.py")  # by path: as a module it would import all of this room first
ENGINE_TIMEOUT_S = 5  # its own default for one service
MAX_ANSWER_BYTES = 1 << 20

# Named, because its "auto" asks two encyclopaedias first. Source: the engines of ddgs 9.16.1.
BACKENDS = ("duckduckgo", "brave", "startpage", "yahoo", "mojeek")
FILTERING_BACKENDS = ("duckduckgo", "brave", "startpage", "yahoo")  # mojeek ignores the filter without a word
_TIMELIMIT = {"day": "d", "week": "w", "month": "m", "year": "y"}
_PROXY_NAMES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "ddgs_proxy")


class Ddgs:
    """Runs one worker a search. It needs no key and keeps nothing between two searches."""

    name = "ddgs"
    facts = FACTS[name]
    max_hits = facts.max_hits

    def __init__(self, environment: Mapping[str, str], *, python: str = sys.executable) -> None:
        """*environment* is what the worker sees, less every proxy setting."""
        self._environment = {k: v for k, v in environment.items() if k.lower() not in _PROXY_NAMES}
        self._python = python

    async def search(self, query: Query) -> Hits:
        """The hits of the first services that answered, best first. The caller sets the deadline.

        The worker is dead when this returns, however it returns.
        Raises: ProviderFailed.
        """
        line = await self._run(json.dumps(self._asked(query)).encode() + b"\n")
        return self._hits(query, line)

    def time_filter(self, query: Query) -> str | None:
        """A day for an hour; only services that honour a filter are asked."""
        return applied_filter(query)

    def _asked(self, query: Query) -> dict[str, JsonValue]:
        applied = self.time_filter(query)
        backends = BACKENDS if applied is None else FILTERING_BACKENDS
        return {
            "text": shorten(query.text, self.facts.max_query_chars, self.facts.max_query_words),
            "region": REGIONS.get(query.language or "", "us-en"),
            "timelimit": None if applied is None else _TIMELIMIT[applied],
            "max_results": min(query.max_hits, self.max_hits),
            "backends": list(backends),
            "engine_timeout_s": ENGINE_TIMEOUT_S,
        }

    async def _run(self, asked: bytes) -> bytes:
        """One line to a new worker, one line back; the worker is killed and reaped in any case."""
        try:
            # -P keeps the script's folder and the working directory out of its path: no file ddgs.py of ours or of
            # anybody else is taken for the search library.
            process = await asyncio.create_subprocess_exec(
                self._python, "-P", str(WORKER),
                stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=self._environment, limit=MAX_ANSWER_BYTES,
            )  # fmt: skip
        except OSError:
            raise failure(self.name, "provider_unreachable", "its worker process could not be started.") from None
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(asked)
            await process.stdin.drain()
            return await process.stdout.readline()
        except (OSError, ValueError):  # it died, or its line is longer than the limit
            return b""
        finally:
            await _end(process)

    def _hits(self, query: Query, line: bytes) -> Hits:
        try:
            answer = json.loads(line)
            state, statuses, rows = answer["state"], answer["statuses"], answer.get("rows", [])
            found = [Row(*map(text_of, row)) for row in rows]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise failure(self.name, "provider_garbage", "its worker process ended without an answer.") from None
        if state == "ok":
            return hits_of(self.name, found, min(query.max_hits, self.max_hits))
        if state == "nothing" and (not statuses or 200 in statuses):
            return Hits()
        raise self._failure(state, statuses)

    def _failure(self, state: str, statuses: list[int]) -> ProviderFailed:
        if state == "missing":
            return failure(self.name, "provider_missing", "is not installed; run: pip install 'firsthand[search]'")
        if state == "timeout":
            return failure(self.name, "provider_timeout", "none of its search services answered in time.")
        blocked = sorted({status for status in statuses if status != 200})
        if blocked and 200 not in statuses:
            code = "provider_rate_limited" if {202, 429} & set(blocked) else "provider_refused"
            named = ", ".join(str(status) for status in blocked)
            return failure(
                self.name, code, f"every search service it asked refused this client (HTTP {named}).", status=blocked[0]
            )
        return failure(self.name, "provider_all_engines_failed", "every search service it asked failed.")


async def _end(process: Process) -> None:
    """Kill the worker if it still runs, and wait until it is gone and its pipes are closed."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()
