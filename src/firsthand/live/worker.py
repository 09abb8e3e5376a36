"""The process that reads pages: bytes in, a text and its index entry out, until its input ends.

It is started with an environment of one word (how many threads do sums: one), its three pipes and nothing else: no
socket, no database, no secret is there to be reached by a page that breaks the reader. It imports no database and no
HTTP client (0.2 s of CPU and 36 MB to start with what judges pages, 2026-12-01). Its limits are set before the first
page: memory beyond what it starts with, CPU for each page, no file may grow, no core is dumped. What it answers is read
by ``live.extraction`` as data, never as code.

Wire, both ways: eight bytes of length, then that many bytes. Before it works on a page it sends one byte, so that a
worker that was dead before is told from one that the page killed.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import math
import os
import pickle
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from firsthand.errors import ExtractionFailed
from firsthand.evidence.entry import Entry, prepare
from firsthand.values import Text
from firsthand.web.extract import extract

LENGTH = struct.Struct("!Q")
BEGUN = b"\x06"
MAX_FILES = 64  # open at once: its pipes, and libraries while they load
Work = Callable[[bytes, str, str | None], tuple[Text, Entry]]


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """What one page may take. CPU and memory: ``extract`` in the hostile corpora's defaults; a test compares."""

    cpu_s: int = 10
    memory_bytes: int = 512 * 1024 * 1024
    wall_s: float = 30.0  # guess: three times the CPU, for a machine that is busy
    answer_bytes: int = 256 * 1024 * 1024  # guess: half of the memory; a text of 10 MB with its entry has 60 MB


PARSE_LIMITS = ParseLimits()


def work(payload: bytes, url: str, content_type: str | None) -> tuple[Text, Entry]:
    """The text of one page and its index entry. Raises: ExtractionFailed."""
    text = extract(payload, url=url, content_type=content_type)
    return text, prepare(text)


def main(cpu_s: int, memory_bytes: int, lifeline: int, reader: str) -> None:
    """Serve pages from standard input; *lifeline* is a pipe whose other end only the parent holds."""
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not speak in our place
    _end_with_parent(lifeline)
    the_work: Work = importlib.import_module(reader).work
    importlib.import_module("firsthand.web.extract.html")  # what nearly every page needs, while there is none yet
    _confine(memory_bytes)
    gc.freeze()
    gc.disable()  # a page makes 100,000 objects and no rubbish; what there is goes after the answer
    while (job := read_frame(jobs)) is not None:
        answers.write(BEGUN)
        answers.flush()
        _allow_cpu(cpu_s)
        write_frame(answers, _answer(the_work, *pickle.loads(job)))
        gc.collect()


def read_frame(stream: BinaryIO, most: int | None = None) -> bytes | None:
    """The next frame; None at the end of the stream, or where one would be longer than *most*."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    if most is not None and length > most:
        return None
    frame = stream.read(length)
    return frame if len(frame) == length else None


def write_frame(stream: BinaryIO, frame: bytes) -> None:
    stream.write(LENGTH.pack(len(frame)))
    stream.write(frame)
    stream.flush()


def _answer(the_work: Work, payload: bytes, url: str, content_type: str | None) -> bytes:
    """What became of a page, as a pickle of plain values and of Text, Block, Span and Entry."""
    try:
        return pickle.dumps(("ok", the_work(payload, url, content_type)))
    except ExtractionFailed as error:
        facts = {key: value for key, value in error.facts.items() if key not in _OWN_FACTS}
        return pickle.dumps(("failed", (error.outcome, error.code, error.message, facts)))
    except (MemoryError, RecursionError) as error:
        return pickle.dumps(("limit", "memory" if isinstance(error, MemoryError) else "depth"))
    except Exception as error:  # the edge of the process: a page that our reader fails on costs itself and nothing else
        return pickle.dumps(("broke", type(error).__name__))


_OWN_FACTS = frozenset({"outcome", "retryable", "retry_after_s", "status", "spent_microusd"})  # set by every error


def _confine(memory_bytes: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    most = _size_bytes() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_FILES, MAX_FILES))


def _size_bytes() -> int:
    """The address space of this process. Where the system does not say: what it had when it was measured."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 64 * 1024 * 1024


def _allow_cpu(cpu_s: int) -> None:
    """Let this process use *cpu_s* more; then the system ends it by SIGXCPU, in whatever code it is."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + cpu_s, hard))


def _end_with_parent(lifeline: int) -> None:
    """Have the system end this process by SIGIO when the parent's end of *lifeline* closes, however the parent ended.

    A thread that waits for it would not do: native code that holds the interpreter's lock would outlive the parent.
    """
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(lifeline, 0)
    if poll.poll(0):  # it closed before we asked to be told
        os._exit(1)
