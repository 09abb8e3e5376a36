"""Many questions: the output file is its own journal."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from firsthand.errors import InvalidInput, StoreFailed
from firsthand.live.batch import Row, read_rows, run_batch
from firsthand.values import Answer
from tests import samples


async def noted(answer_id: str) -> None:
    """An answer is in the file."""


ROWS = [Row(f"q{n}", f"Question {n}?") for n in range(6)]


async def answer(row: Row) -> Answer:
    return samples.answer(id=f"ans-{row.id}", question=row.question)


def unwatched(done: int, total: int, what: str) -> None:
    return


def lines(out: Path) -> list[tuple[str, str]]:
    return [(row["id"], row["answer_id"]) for row in map(json.loads, out.read_text().splitlines())]


def test_rows_are_read_with_a_byte_order_mark_and_blank_lines(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_bytes(
        b'\xef\xbb\xbf{"id": "a", "question": " Why\\n so? ", "more": 1}\r\n\n{"id": "b", "question": "x"}'
    )
    assert read_rows(file) == [Row("a", "Why so?"), Row("b", "x")]


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b"[]\n", b"[" * 100_000, b'{"id": "a"}', b'{"id": null, "question": "x"}']
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "q.jsonl").write_bytes(body)
    with pytest.raises(InvalidInput):
        read_rows(tmp_path / "q.jsonl")
    with pytest.raises(InvalidInput):
        read_rows(tmp_path / "missing")


async def test_at_most_so_many_are_under_way_and_started_in_order(tmp_path: Path) -> None:
    under_way: list[str] = []
    most = 0
    started: list[str] = []

    async def slow(row: Row) -> Answer:
        nonlocal most
        started.append(row.id)
        under_way.append(row.id)
        most = max(most, len(under_way))
        await asyncio.sleep(0)
        under_way.remove(row.id)
        return await answer(row)

    done = await run_batch(ROWS, tmp_path / "out.jsonl", slow, noted, concurrency=3, watch=unwatched)
    assert (done.answered, done.skipped, done.failed, most) == (6, 0, 0, 3)
    assert started == [row.id for row in ROWS]


@pytest.mark.parametrize("cut", [1, 30])
async def test_a_torn_line_is_cut_away_and_its_answer_made_again(tmp_path: Path, cut: int) -> None:
    out = tmp_path / "out.jsonl"
    await run_batch(ROWS, out, answer, noted, concurrency=1, watch=unwatched)
    whole = out.read_bytes()
    out.write_bytes(whole[:-cut])
    done = await run_batch(ROWS, out, answer, noted, concurrency=1, watch=unwatched)
    assert (done.answered, done.skipped) == (1, 5)
    assert out.read_bytes() == whole


@pytest.mark.parametrize(
    "body", ['{"id": "q1", "question": "x"}\n', "dear diary\n", '{"schema": "firsthand.answer/1"}\n']
)
async def test_a_foreign_file_is_refused_and_left_as_it_was(tmp_path: Path, body: str) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text(body)
    with pytest.raises(InvalidInput, match="line 1"):
        await run_batch(ROWS, out, answer, noted, concurrency=1, watch=unwatched)
    assert out.read_text() == body


async def test_a_store_that_fails_stops_the_batch_with_its_own_error(tmp_path: Path) -> None:
    async def fails(row: Row) -> Answer:
        if row.id == "q2":
            raise StoreFailed("store_full", "The disk is full.")
        return await answer(row)

    with pytest.raises(StoreFailed):
        await run_batch(ROWS, tmp_path / "out.jsonl", fails, noted, concurrency=2, watch=unwatched)
    assert set(lines(tmp_path / "out.jsonl")) >= {("q0", "ans-q0"), ("q1", "ans-q1")}


async def test_failed_answers_are_counted_and_written(tmp_path: Path) -> None:
    async def failed(row: Row) -> Answer:
        return samples.answer(status="failed")

    done = await run_batch(ROWS[:2], tmp_path / "out.jsonl", failed, noted, concurrency=1, watch=unwatched)
    assert (done.answered, done.failed, len(lines(tmp_path / "out.jsonl"))) == (2, 2, 2)


async def test_an_output_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((StoreFailed, InvalidInput)):
        await run_batch(ROWS, tmp_path / "file" / "out.jsonl", answer, noted, concurrency=1, watch=unwatched)
