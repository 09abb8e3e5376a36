"""What is known of an address from before: its last fetch, and the text that was made of it. Plain look-ups.

``evidence.store`` keeps; this module answers what a revisit asks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from firsthand.db import Connection
from firsthand.errors import DigestMismatch
from firsthand.evidence.quotes import locate
from firsthand.evidence.store import load_body
from firsthand.evidence.tables import capture, holding, library, text

CAME_AS_MAX = 5  # guess: one payload under many addresses and types is read again under the first of them only


@dataclass(frozen=True, slots=True)
class HeldText:
    """The text of a page that a library holds: which it is, and who made it of which payload."""

    text_id: int
    text_digest: str
    snapshot: str
    extractor: str
    extractor_version: str


@dataclass(frozen=True, slots=True)
class Capture:
    """One fetch of an address: what came, and when it was there."""

    capture_id: int
    url: str
    snapshot: str
    retrieved_at: datetime


def newest_capture(connection: Connection, url: str, asked: str | None = None) -> Capture | None:
    """The last fetch that ended at *url*, or that somebody who asked for *asked* got. Files do not count.

    Order: by the number of the capture, which a clock that jumps does not change.
    """
    here = [capture.c.url == url, *([] if asked is None else [capture.c.requested_url == asked])]
    found: list[Any] = []
    for there in here:  # two look-ups: SQLite takes neither index for an OR with this order
        newest = sa.select(capture).where(there, capture.c.is_file.is_(False)).order_by(capture.c.capture_id.desc())
        found += connection.execute(newest.limit(1)).all()
    if not found:
        return None
    row = max(found, key=lambda one: one.capture_id)
    return Capture(row.capture_id, row.url, row.snapshot, datetime.fromisoformat(row.retrieved_at))


def changed_since(
    connection: Connection, url: str, snapshot_digest: str, text_digest: str, quote: str = ""
) -> Capture | None:
    """The last fetch of *url*, if it came after this snapshot and brought another text; else None.

    A page that was kept here under no such snapshot says nothing: nobody knows which of the two is newer. Texts are
    compared as one version of the extractor made them, since two versions make two texts of one page; where none made
    both, the page has changed for whoever cites *quote* if the later text lacks these words.
    """
    newest = newest_capture(connection, url)
    if newest is None or newest.snapshot == snapshot_digest:
        return None
    kept = sa.select(capture.c.capture_id).where(
        capture.c.url == url, capture.c.snapshot == snapshot_digest, capture.c.capture_id < newest.capture_id
    )
    if connection.execute(kept.limit(1)).first() is None:
        return None
    older, later = _texts_by_maker(connection, snapshot_digest), _texts_by_maker(connection, newest.snapshot)
    if any(text_digest in made for made in later.values()):
        return None
    both = older.keys() & later.keys()
    if both:
        has_changed = all(older[by].keys().isdisjoint(later[by]) for by in both)
    else:
        has_changed = not any(_says(connection, n, quote) for made in later.values() for n in made.values())
    return newest if has_changed else None


def _texts_by_maker(connection: Connection, snapshot_digest: str) -> dict[tuple[str, str], dict[str, int]]:
    """The texts of a snapshot, as number by digest, by the extractor and the version that made them."""
    columns = (text.c.extractor, text.c.extractor_version, text.c.text_digest, text.c.text_id)
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in connection.execute(sa.select(*columns).where(text.c.snapshot == snapshot_digest)):
        found.setdefault((row[0], row[1]), {})[row[2]] = row[3]
    return found


def _says(connection: Connection, text_id: int, quote: str) -> bool:
    try:
        return locate(quote, load_body(connection, text_id))[1] != "missing"
    except DigestMismatch:
        return False


def only_text(connection: Connection, snapshot_digest: str, extractor: str, extractor_version: str) -> int | None:
    """The text that this extractor made of a snapshot; None if it made none, or two of one payload."""
    ours = sa.select(text.c.text_id).where(
        text.c.snapshot == snapshot_digest,
        text.c.extractor == extractor,
        text.c.extractor_version == extractor_version,
    )
    found = connection.execute(ours.limit(2)).scalars().all()
    return found[0] if len(found) == 1 else None


def held_text(connection: Connection, library_name: str, url: str) -> HeldText | None:
    """The text that a library holds under *url* now; None if it holds none."""
    row = connection.execute(
        sa.select(*(text.c[name] for name in HeldText.__slots__))
        .join_from(holding, library)
        .join(text, text.c.text_id == holding.c.text_id)
        .where(library.c.name == library_name, holding.c.url == url)
    ).first()
    return None if row is None else HeldText(*row)


def is_held(connection: Connection, text_id: int) -> bool:
    """Whether any library holds the text, under any address."""
    return (
        connection.execute(sa.select(holding.c.text_id).where(holding.c.text_id == text_id).limit(1)).first()
        is not None
    )


def n_read_otherwise(
    connection: Connection, extractor: str, extractor_version: str, library_name: str | None = None
) -> int:
    """How many held pages have a text that another extractor made, or another version of this one; of a library, or all."""
    ours = (text.c.extractor == extractor) & (text.c.extractor_version == extractor_version)
    counted = (
        sa.select(sa.func.count())
        .select_from(holding)
        .join(library)
        .join(text, text.c.text_id == holding.c.text_id)
        .where(~ours)
    )
    if library_name is not None:
        counted = counted.where(library.c.name == library_name)
    return int(connection.execute(counted).scalar_one())


def made_by(connection: Connection, snapshot_digest: str, text_digest: str) -> set[tuple[str, str]]:
    """The extractors, with their versions, that made just this text of a snapshot."""
    return {by for by, made in _texts_by_maker(connection, snapshot_digest).items() if text_digest in made}


def came_as(connection: Connection, snapshot_digest: str) -> list[tuple[str, str | None]]:
    """The addresses and content types under which a snapshot was captured, each pair once, at most ``CAME_AS_MAX``."""
    found = sa.select(capture.c.url, capture.c.headers).where(capture.c.snapshot == snapshot_digest)
    pairs: dict[tuple[str, str | None], None] = {}
    for row in connection.execute(found.order_by(capture.c.capture_id)):
        pairs[row.url, json.loads(row.headers).get("content-type")] = None
        if len(pairs) == CAME_AS_MAX:
            break
    return list(pairs)
