"""Extraction in threads and worker processes: a page that breaks its worker costs itself and nothing else."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from firsthand.errors import ExtractionFailed
from firsthand.evidence.recall import Entry
from firsthand.live import extraction
from firsthand.live.extraction import Extraction
from firsthand.values import Text

PAGE = b"<html><head><title>Tides</title></head><body><p>The tide table lists 31 ports.</p></body></html>"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10
really_work = extraction._work


def work(payload: bytes, url: str, content_type: str | None) -> tuple[Text, Entry]:
    """The real work, but for pages that say how they break their worker. Runs in real worker processes."""
    if payload == b"dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if payload == b"hangs":
        signal.pause()
    if payload == b"raises":
        raise ZeroDivisionError("in the reader")
    return really_work(payload, url, content_type)


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[Extraction]:
    """Two workers that do ``work``."""
    monkeypatch.setattr(extraction, "_work", work)
    made = Extraction(2)
    yield made
    made.close()


async def read(pages: Extraction, payload: bytes) -> str:
    """The title of the page that a worker read, or the code of its failure."""
    try:
        text, _ = await pages.in_worker(payload, url="https://example.org/", content_type="text/html")
    except ExtractionFailed as error:
        return error.code
    return text.title


async def read_all(pages: Extraction, payloads: list[bytes]) -> list[str]:
    return list(await asyncio.gather(*(read(pages, payload) for payload in payloads)))


async def test_a_page_that_kills_its_worker_costs_itself_alone(pages: Extraction) -> None:
    assert await read_all(pages, [b"dies", PAGE, PAGE]) == ["parse_limit", "Tides", "Tides"]


async def test_a_page_that_hangs_is_given_up_and_the_others_are_read(
    pages: Extraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await read(pages, PAGE) == "Tides"  # the workers have started; their start is not the page's time
    monkeypatch.setattr(extraction, "TIMEOUT_S", 3.0)
    assert await read_all(pages, [b"hangs", PAGE, PAGE]) == ["parse_timeout", "Tides", "Tides"]


async def test_a_reader_that_fails_on_a_page_costs_that_page(pages: Extraction) -> None:
    assert await read_all(pages, [b"raises", PAGE]) == ["parse_error", "Tides"]
    with pytest.raises(ExtractionFailed) as caught:
        await pages.one(b"raises", url="https://example.org/", content_type=None)
    assert (caught.value.code, caught.value.outcome) == ("parse_error", "failed")


async def test_a_refusal_leaves_its_worker_alive(pages: Extraction) -> None:
    assert await read(pages, PAGE) == "Tides"
    before = pages._pool
    with pytest.raises(ExtractionFailed) as refused:
        really_work(PICTURE, "https://example.org/", "text/html")
    assert await read_all(pages, [PICTURE, PAGE]) == [refused.value.code, "Tides"]
    assert pages._pool is before


async def test_small_html_needs_no_worker_and_pdf_always_does() -> None:
    pages = Extraction(1)
    try:
        text, _ = await pages.one(PAGE, url="https://example.org/", content_type="text/html")
        assert text.title == "Tides" and pages._pool is None
        pdf = b"\n%PDF-1.7 broken"
        with pytest.raises(ExtractionFailed):
            await pages.one(pdf, url="https://example.org/a.pdf", content_type=None)
        assert pages._pool is not None
    finally:
        pages.close()


async def test_closing_ends_every_worker(pages: Extraction) -> None:
    await read_all(pages, [PAGE, PAGE])
    assert pages._pool is not None
    workers = list(pages._pool._processes)
    pages.close()
    assert workers and all(is_gone(pid) for pid in workers)


def is_gone(pid: int) -> bool:
    """Whether a process ends within moments."""
    until = time.monotonic() + 3
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        os.sched_yield()
    return not Path(f"/proc/{pid}").exists()


def test_an_error_crosses_from_a_worker_as_it_was() -> None:
    error = ExtractionFailed("too_large", "too_large", "It is too large.", retryable=True, limit=3)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.as_json(), str(again)) == (ExtractionFailed, error.as_json(), str(error))
    assert (again.outcome, again.retryable) == ("too_large", True)
