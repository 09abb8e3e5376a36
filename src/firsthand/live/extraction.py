"""Extraction off the event loop: small HTML in a thread, everything else in worker processes that may be killed.

A worker that dies or hangs costs its own page and is replaced. When one dies, the pool fails whatever was under way, and
nobody can say which page it was; so each of these is read again in a process of its own, one at a time, and only a page
that breaks that one too is given up. PDF always goes to a process: its library is not thread-safe, and a broken file can
crash it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

from firsthand.errors import ExtractionFailed
from firsthand.evidence.recall import Entry, prepare
from firsthand.values import Text
from firsthand.web.extract import extract

THREAD_MAX_BYTES = 1_048_576  # HTML of 1 MB takes some 50 ms; above, the page must not hold up the others
TIMEOUT_S = 30.0  # a page that needs longer is broken; the slowest real page measured took 3 s
WORKER_MEMORY_BYTES = 1_073_741_824
MAX_WORKERS = 4  # guess: beyond, the one database writer is the limit


class Extraction:
    """Extracts texts; made once a process, closed with ``close``."""

    def __init__(self, n_workers: int = 0) -> None:
        self._n_workers = n_workers or min(os.cpu_count() or 1, MAX_WORKERS)
        self._pool: ProcessPoolExecutor | None = None
        self._is_free = asyncio.Semaphore(self._n_workers)  # a page's time begins when a worker is free for it
        self._alone = asyncio.Lock()

    @property
    def n_workers(self) -> int:
        """How many pages are worked on at a time."""
        return self._n_workers

    async def one(self, payload: bytes, *, url: str, content_type: str | None) -> tuple[Text, Entry]:
        """The text of one page and its index entry, wherever that is quickest.

        Raises: ExtractionFailed.
        """
        if len(payload) <= THREAD_MAX_BYTES and not payload.lstrip().startswith(b"%PDF"):
            try:
                return await asyncio.to_thread(_work, payload, url, content_type)
            except ExtractionFailed:
                raise
            except Exception as error:
                raise _broke(error) from error
        return await self.in_worker(payload, url=url, content_type=content_type)

    async def in_worker(self, payload: bytes, *, url: str, content_type: str | None) -> tuple[Text, Entry]:
        """The same, in a worker process: for many pages at a time.

        Raises: ExtractionFailed, also if the worker dies or takes longer than ``TIMEOUT_S``.
        """
        async with self._is_free:
            try:
                return await self._in(self._workers(), payload, url, content_type)
            except BrokenProcessPool:
                pass
        async with self._alone:
            pool = self._new_pool(1)
            try:
                return await self._in(pool, payload, url, content_type)
            except BrokenProcessPool as error:
                message = "Reading the page needed more memory than a page may have, or broke the reader."
                raise ExtractionFailed("failed", "parse_limit", message) from error
            finally:
                self._discard(pool)

    async def _in(
        self, pool: ProcessPoolExecutor, payload: bytes, url: str, content_type: str | None
    ) -> tuple[Text, Entry]:
        """The page as a worker of *pool* reads it.

        Raises: ExtractionFailed; BrokenProcessPool if a worker died, by this page or by another.
        """
        try:
            future = pool.submit(_work, payload, url, content_type)
            async with asyncio.timeout(TIMEOUT_S):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            self._discard(pool)
            message = f"The page took more than {TIMEOUT_S:g} s to read; it was given up."
            raise ExtractionFailed("timeout", "parse_timeout", message) from error
        except BrokenProcessPool:
            self._discard(pool)
            raise
        except ExtractionFailed:
            raise
        except Exception as error:
            raise _broke(error) from error

    def close(self) -> None:
        """End the workers."""
        if self._pool is not None:
            self._discard(self._pool)

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = self._new_pool(self._n_workers)
        return self._pool

    def _new_pool(self, n_workers: int) -> ProcessPoolExecutor:
        # spawn: a fork would copy the writer thread's locks in whatever state they are.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(
            n_workers, mp_context=context, initializer=partial(_limit_worker, WORKER_MEMORY_BYTES)
        )

    def _discard(self, pool: ProcessPoolExecutor) -> None:
        if self._pool is pool:
            self._pool = None
        processes = list((pool._processes or {}).values())
        # What waits is not cancelled but fails with the pool: a cancelled page would end as if it had never been.
        pool.shutdown(wait=False)
        for process in processes:
            process.kill()
        # The pool's own thread notices the deaths; joined here so that nothing outlives the app.
        manager = pool._executor_manager_thread
        if isinstance(manager, threading.Thread):
            manager.join(timeout=5)


def _broke(error: Exception) -> ExtractionFailed:
    """A page that our reader fails on, in whatever way, costs itself and nothing else."""
    message = f"The page could not be read ({type(error).__name__})."
    return ExtractionFailed("failed", "parse_error", message)


def _work(payload: bytes, url: str, content_type: str | None) -> tuple[Text, Entry]:
    text = extract(payload, url=url, content_type=content_type)
    return text, prepare(text)


def _limit_worker(memory_bytes: int) -> None:
    """Ran in each new worker: memory has a ceiling, Ctrl-C is the parent's to handle, and it never outlives its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    """End this worker when its parent ends in whatever way: a pool's worker that waits for work would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
