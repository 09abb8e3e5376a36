"""Checking and exporting answers: from the store, from a file, from a bundle; always offline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from firsthand.db import Connection, Database
from firsthand.durable import journal
from firsthand.errors import DigestMismatch, InvalidInput, NotFound
from firsthand.evidence import bundle, captures, store
from firsthand.evidence.verify import Kept, Report, citation_from_json, verify_answer
from firsthand.live.extraction import Extraction
from firsthand.live.remaking import Remade, remake
from firsthand.values import Answer, Citation, JsonValue

AnswerJson = Mapping[str, JsonValue]
ANSWER_MAX_BYTES = 16_777_216  # an answer of 16 MB is none of ours


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking an answer found: its citations, its texts made again, and the pages that have changed since."""

    answer: AnswerJson
    report: Report
    remade: list[Remade]
    changed: Mapping[str, str]  # day of the fetch that had another text, by address


async def check_target(database: Database, target: str, extraction: Extraction) -> Checked:
    """The answer that *target* names, and what checking it found.

    A folder is a bundle and brings its own pages; a file is an ``answer.json`` whose pages the store must hold;
    anything else is the id of a kept answer.
    Raises: NotFound; InvalidInput for a file that is no answer; DigestMismatch for a bundle that was changed.
    """
    found = await asyncio.to_thread(_from_disk, Path(target))
    if isinstance(found, bundle.Bundle):
        report = await asyncio.to_thread(verify_answer, found.answer, found.load)
        remade = await remake(list(_cited(found.answer)), found, extraction)
        return Checked(found.answer, report, remade, await database.read(changed_pages, found.answer))
    answer = found if found is not None else await database.read(_kept_answer, target)
    report = await database.read(check_answer, answer)
    remade = await remake(list(_cited(answer)), database, extraction)
    return Checked(answer, report, remade, await database.read(changed_pages, answer))


def _from_disk(path: Path) -> bundle.Bundle | AnswerJson | None:
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, ValueError):  # too long for a name, or not ours to see
        return None
    if is_folder:
        return bundle.read_bundle(path)
    return _read_answer(path) if is_file else None


def check_answer(connection: Connection, answer: AnswerJson) -> Report:
    """The report on *answer* from the pages that the store holds."""
    return verify_answer(answer, lambda snapshot, text_digest: _load(connection, snapshot, text_digest))


def changed_pages(connection: Connection, answer: AnswerJson) -> dict[str, str]:
    """The cited pages that were fetched again since and had another text, with the day of that fetch, by address.

    The citations stand as they stood: they point at what was kept then. An answer whose form is wrong cites nothing.
    """
    found: dict[str, str] = {}
    for citation in _cited(answer):
        newer = captures.changed_since(
            connection, citation.url, citation.snapshot, citation.text_digest, citation.quote
        )
        if newer is not None:
            found[citation.url] = newer.retrieved_at.date().isoformat()
    return found


async def export_answer(database: Database, answer_id: str, out: Path) -> int:
    """Write the bundle of a kept answer; how many pages it holds."""
    answer, items = await database.read(_items, answer_id)
    bundle.write_bundle(answer, items, out)
    return len({item.snapshot for item in items})


def _items(connection: Connection, answer_id: str) -> tuple[AnswerJson, list[bundle.Item]]:
    answer = _kept_answer(connection, answer_id)
    items: dict[tuple[str, str], bundle.Item] = {}
    for snapshot, digest in ((citation.snapshot, citation.text_digest) for citation in _cited(answer)):
        if (snapshot, digest) not in items:
            text_id = store.find_text(connection, snapshot, digest)
            if text_id is None:
                raise NotFound("unknown_text", "The kept text of a citation is gone.", text_digest=digest)
            text = store.load_text(connection, text_id)
            payload = store.load_payload(connection, snapshot)
            items[snapshot, digest] = bundle.Item(
                snapshot,
                payload,
                digest,
                text.body,
                text.media_type,
                text.charset,
                f"{text.extractor}/{text.extractor_version}",
            )
    return answer, list(items.values())


def _cited(answer: AnswerJson) -> Iterator[Citation]:
    """The citations of *answer* that have the form of one, in its order."""
    claims = answer.get("claims")
    for claim in claims if isinstance(claims, list) else []:
        citations = claim.get("citations") if isinstance(claim, dict) else None
        for value in citations if isinstance(citations, list) else []:
            citation = citation_from_json(value)
            if citation is not None:
                yield citation


def _kept_answer(connection: Connection, answer_id: str) -> AnswerJson:
    return journal.find_answer(connection, answer_id).body


def _load(connection: Connection, snapshot: str, text_digest: str) -> Kept:
    """What the store holds under these names. A changed byte is a finding of the report, not an error here."""
    payload: bytes | None
    body: str | None
    try:
        payload = store.load_payload(connection, snapshot)
    except NotFound:
        payload = None
    except DigestMismatch:
        payload = b""  # there, but not what was kept: the digest will say so
    try:
        text_id = store.find_text(connection, snapshot, text_digest)
        body = None if text_id is None else store.load_body(connection, text_id)
    except DigestMismatch:
        body = ""
    return Kept(payload, body)


def _read_answer(path: Path) -> AnswerJson:
    try:
        if path.stat().st_size > ANSWER_MAX_BYTES:
            raise InvalidInput("not_an_answer", f"{path} is too large to be an answer.")
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput("not_an_answer", f"{path} is not an answer's JSON.") from error
    is_answer = isinstance(value, dict) and value.get("schema") == Answer.schema
    if not is_answer or not isinstance(value.get("claims"), list):
        raise InvalidInput("not_an_answer", f"{path} is not an answer's JSON.")
    return cast(AnswerJson, value)
