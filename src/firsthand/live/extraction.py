"""Extraction in worker processes with limits of CPU, memory and time: a page can only hurt its own extraction.

Every page is read in a worker (``live.worker``), none in this process: Lexbor and PDFium are native code, and what they
read was written by strangers. A worker that dies or is given up costs its page, which then ends as ``parse_limit``, and
is replaced for the next one. The first worker starts with the first page, or a little before it (``warm``); more only
when pages have to wait, since a worker takes as long to start as it takes for some ten pages.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, cast

from firsthand.errors import ExtractionFailed
from firsthand.evidence.entry import Entry
from firsthand.live.worker import BEGUN, PARSE_LIMITS, ParseLimits, read_frame, write_frame
from firsthand.values import Anchor, Block, HiddenBlock, Span, Text

MAX_WORKERS = 4  # guess: beyond, the one database writer is the limit
PATIENT_PAGES = 4  # as many may wait before another worker is started
PATIENCE_S = 0.25  # and as long; a worker takes 0.15 s to start (2026-11-30)
READER = "firsthand.live.worker"
# The parent's path, so that a worker finds what its parent found. -I: nothing else decides what is imported.
_PROGRAM = (
    "import sys;"
    "sys.path[:]=sys.argv[1].split(chr(0x1f));"
    "from firsthand.live.worker import main;"
    "main(int(sys.argv[2]),int(sys.argv[3]),int(sys.argv[4]),sys.argv[5])"
)
_LIMIT_SENTENCES = {
    "cpu": "Reading the page took more computing time than a page may have.",
    "memory": "Reading the page needed more memory than a page may have, or broke the reader.",
    "time": "Reading the page took longer than a page may take.",
    "depth": "The page is nested more deeply than can be read.",
}


class Extraction:
    """Extracts texts; made once a process, closed with ``close``. Used from one event loop."""

    def __init__(self, n_workers: int = 0, *, limits: ParseLimits = PARSE_LIMITS, reader: str = READER) -> None:
        """*reader* names the module whose ``work`` a worker runs."""
        self._n_workers = n_workers or min(os.cpu_count() or 1, MAX_WORKERS)
        self._limits = limits
        self._reader = reader
        self._idle: list[_Worker] = []
        self._workers: set[_Worker] = set()
        self._threads: ThreadPoolExecutor | None = None
        self._n_allowed = 1
        self._is_free = asyncio.Semaphore(1)
        self._n_waiting = 0

    @property
    def n_workers(self) -> int:
        """How many pages are worked on at a time, at most."""
        return self._n_workers

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers that run now."""
        return tuple(sorted(worker.pid for worker in self._workers if worker.pid))

    def warm(self) -> None:
        """Start the first worker if there is none, without waiting for it: a page is on its way."""
        if not self._workers:
            worker = self._new_worker()
            self._idle.append(worker)
            self._in_thread().submit(worker.start)

    async def one(self, payload: bytes, *, url: str, content_type: str | None) -> tuple[Text, Entry]:
        """The text of one page and its index entry, as a worker reads it. A page's time begins when a worker is free.

        Raises: ExtractionFailed, with code ``parse_limit`` if the worker dies or is given up over the page.
        """
        await self._turn()
        try:
            job = pickle.dumps((payload, url, content_type))
            for _ in range(2):  # a worker may have died while it waited, by no fault of this page
                worker = self._idle.pop() if self._idle else self._new_worker()
                with contextlib.suppress(_NotBegun):
                    return await self._ask(worker, job)
            raise ExtractionFailed("failed", "parse_error", "The process that reads pages could not be started.")
        finally:
            self._is_free.release()

    def close(self) -> None:
        """End the workers."""
        for worker in list(self._workers):
            self._end(worker)
        self._idle.clear()
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None

    async def _turn(self) -> None:
        """Wait until a worker is free; allow one more when too many wait, or for too long."""
        self._n_waiting += 1
        try:
            if self._n_waiting > PATIENT_PAGES:
                self._allow_another()
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._is_free.acquire()
            except TimeoutError:
                self._allow_another()
                await self._is_free.acquire()
        finally:
            self._n_waiting -= 1

    def _allow_another(self) -> None:
        if self._n_allowed < self._n_workers:
            self._n_allowed += 1
            self._is_free.release()

    async def _ask(self, worker: _Worker, job: bytes) -> tuple[Text, Entry]:
        """What *worker* makes of a page. The worker is idle again afterwards, or ended.

        Raises: ExtractionFailed; _NotBegun if the worker was dead before.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._limits.wall_s):
                answer = await loop.run_in_executor(self._in_thread(), worker.read, job)
        except TimeoutError as error:
            self._end(worker)
            raise _limit("time") from error
        except _Died as error:
            raise _limit("cpu" if self._end(worker) == -signal.SIGXCPU else "memory") from error
        except BaseException:  # not begun, or cancelled: nobody will take its answer
            self._end(worker)
            raise
        self._idle.append(worker)
        return _result(answer)

    def _new_worker(self) -> _Worker:
        worker = _Worker(self._limits, self._reader)
        self._workers.add(worker)
        return worker

    def _end(self, worker: _Worker) -> int:
        self._workers.discard(worker)
        return worker.end()

    def _in_thread(self) -> ThreadPoolExecutor:
        """Threads that wait for workers, one each; they do no work."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._n_workers, thread_name_prefix="extraction")
        return self._threads


class _Died(Exception):
    """The worker ended while it worked on a page."""


class _NotBegun(Exception):
    """The worker ended before it worked on a page."""


class _Worker:
    """One worker process and its pipes."""

    def __init__(self, limits: ParseLimits, reader: str) -> None:
        self._limits = limits
        self._reader = reader
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline = -1
        self._is_ended = False
        self._starting = threading.Lock()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def start(self) -> subprocess.Popen[bytes]:
        """The process, started if it was not. Raises: OSError if it cannot be started, or was ended."""
        with self._starting:
            if self._is_ended:
                raise OSError("The worker was ended.")
            if self._process is None:
                self._process = self._started()
            return self._process

    def _started(self) -> subprocess.Popen[bytes]:
        reading, self._lifeline = os.pipe()  # not inheritable: of the children only the reading end's owner gets it
        path = chr(0x1F).join(str(Path(part).absolute()) for part in sys.path if part)
        limits = [str(self._limits.cpu_s), str(self._limits.memory_bytes)]
        try:
            return subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, path, *limits, str(reading), self._reader],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={"OPENBLAS_NUM_THREADS": "1"}, cwd="/", pass_fds=(reading,),
            )  # fmt: skip
        finally:
            os.close(reading)

    def read(self, job: bytes) -> tuple[Any, ...]:
        """The worker's answer to *job*; waits for it, in a thread.

        Raises: _NotBegun, _Died.
        """
        try:
            process = self.start()
        except OSError as error:
            raise _NotBegun from error
        jobs, answers = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
        try:
            write_frame(jobs, job)
            begun = answers.read(1)
        except (OSError, ValueError) as error:
            raise _NotBegun from error
        if begun != BEGUN:
            raise _NotBegun
        try:
            answer = read_frame(answers, self._limits.answer_bytes)
            if answer is not None:
                return _as_data(answer)
        except (OSError, ValueError) as error:
            raise _Died from error
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)  # how it ended says which limit it met; it is killed if it only fell silent
        raise _Died

    def end(self) -> int:
        """Kill the process if it still runs; its exit status, negative for a signal. A second call does nothing."""
        with self._starting:
            self._is_ended = True
            process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        status = process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError, ValueError):  # what was not sent any more cannot be sent now
                cast(BinaryIO, pipe).close()
        os.close(self._lifeline)
        return status


def _as_data(answer: bytes) -> tuple[Any, ...]:
    """What an answer holds. Raises: ValueError if it is not an answer."""
    try:
        state, value = _Answer(io.BytesIO(answer)).load()
    except Exception as error:  # a pickle that is none fails in any way; whatever it was, it was not an answer
        raise ValueError("not an answer") from error
    return state, value


class _Answer(pickle.Unpickler):
    """Reads an answer as data: plain values and the shapes that a text is made of, nothing that could be called."""

    def find_class(self, module: str, name: str) -> Any:
        found = _SHAPES.get(name)
        if found is None or found.__module__ != module:
            raise pickle.UnpicklingError(f"An answer holds a {module}.{name}.")
        return found


_SHAPES: dict[str, type] = {shape.__name__: shape for shape in (Text, Block, HiddenBlock, Anchor, Span, Entry)}


def _result(answer: tuple[Any, ...]) -> tuple[Text, Entry]:
    """The text and entry of an answer. Raises: ExtractionFailed."""
    state, value = answer
    if state == "ok":
        text, entry = value
        return text, entry
    if state == "limit":
        raise _limit(value)
    if state == "failed":
        outcome, code, message, facts = value
        raise ExtractionFailed(outcome, code, message, **facts)
    raise ExtractionFailed("failed", "parse_error", f"The page could not be read ({value}).")


def _limit(kind: str) -> ExtractionFailed:
    return ExtractionFailed("failed", "parse_limit", _LIMIT_SENTENCES[kind], limit_kind=kind)
