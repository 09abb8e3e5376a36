"""Many questions from a file, one answer object a line; run again, only what is missing is done.

The output file is its own journal: a line is appended and synced when its answer is finished, and a line that a crash
tore off is cut away before the next run adds to the file.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firsthand import fault
from firsthand.durable.operations import InDoubt
from firsthand.errors import InvalidInput, StoreFailed, first_of
from firsthand.live.asking import checked_question
from firsthand.render import to_json
from firsthand.values import Answer


@dataclass(slots=True)
class BatchDone:
    """How a batch went."""

    answered: int = 0
    skipped: int = 0  # answered by an earlier run
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One question of a batch."""

    id: str
    question: str


def read_rows(file: Path) -> list[Row]:
    """The questions of *file*.

    Raises: InvalidInput that names the line, before anything is asked.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("unreadable_batch", f"{file} cannot be read: {_why(error)}.") from error
    rows: list[Row] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput("invalid_batch_line", f"{file}, line {number}: not JSON.", line=number) from error
        if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in ("id", "question")):
            message = f'{file}, line {number}: a question needs "id" and "question", both text.'
            raise InvalidInput("invalid_batch_line", message, line=number)
        if value["id"] in seen:
            message = f"{file}, line {number}: the id {value['id']!r} was there before."
            raise InvalidInput("duplicate_batch_id", message, line=number)
        seen.add(value["id"])
        try:
            rows.append(Row(value["id"], checked_question(value["question"])))
        except InvalidInput as error:
            raise InvalidInput(error.code, f"{file}, line {number}: {error.message}", line=number) from error
    return rows


async def run_batch(
    rows: list[Row],
    out: Path,
    answer: Callable[[Row], Awaitable[Answer]],
    seen: Callable[[str], Awaitable[None]],
    *,
    concurrency: int,
    watch: Callable[[int, int, str], None],
) -> BatchDone:
    """Answer what *out* lacks, at most *concurrency* at a time, in the order of the file; *seen* is told of each that is in it."""
    done = BatchDone()
    finished = _repair(out)
    for row in rows:
        if finished.get(row.id, row.question) != row.question:
            message = f"{out} answers another question under the id {row.id!r}; name another file, or use another id."
            raise InvalidInput("changed_question", message, id=row.id)
    todo = [row for row in rows if row.id not in finished]
    done.skipped = len(rows) - len(todo)
    limit = asyncio.Semaphore(concurrency)
    n_done = done.skipped
    doubts: list[InDoubt] = []

    async def one(row: Row) -> None:
        nonlocal n_done
        try:
            made = await answer(row)
        except InDoubt as error:
            doubts.append(error)  # the others go on: a paid call that is cancelled under way would be one more doubt
            return
        finally:
            limit.release()
        _append(out, {**to_json(made), "id": row.id, "answer_id": made.id})
        await seen(made.id)
        n_done += 1
        done.answered += 1
        done.failed += made.status == "failed"
        watch(n_done, len(rows), row.question)

    try:
        async with asyncio.TaskGroup() as group:
            for row in todo:
                await limit.acquire()
                group.create_task(one(row))
    except BaseExceptionGroup as error:
        raise first_of(error) from error
    if doubts:
        raise InDoubt(*(receipt for doubt in doubts for receipt in doubt.doubted))
    return done


def _why(error: OSError | UnicodeDecodeError) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error.strerror)


def _repair(out: Path) -> dict[str, str]:
    """The questions that *out* answers, by id; a torn last line is cut away.

    Raises: InvalidInput if the file is something else.
    """
    try:
        body = out.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidInput("unreadable_batch", f"{out} cannot be read: {error.strerror}.") from error
    end = body.rfind(b"\n") + 1
    answered: dict[str, str] = {}
    for number, line in enumerate(body[:end].split(b"\n"), 1):
        if line.strip():
            try:
                value: Any = json.loads(line)
                is_ours = value["schema"] == Answer.schema
                answered[value["id"]] = value["question"]
            except (ValueError, KeyError, TypeError, RecursionError):
                is_ours = False
            if not is_ours:
                message = f"{out}, line {number}: this is not an answer of an earlier batch; name another file."
                raise InvalidInput("foreign_batch_output", message, line=number)
    if end < len(body):
        with out.open("r+b") as file:
            file.truncate(end)
    return answered


def _append(out: Path, value: object) -> None:
    """One line, synced: an answer that is reported as done is in the file."""
    line = json.dumps(value, ensure_ascii=False) + "\n"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("ab") as file:
            fault.point("batch.before_append")
            file.write(line.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        message = f"The answer is kept, but {out} cannot be written ({error.strerror})."
        raise StoreFailed("output_unwritable", message, file=str(out)) from error
