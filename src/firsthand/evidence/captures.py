"""What is known of an address from before: its last fetch, and the text that was made of it. Plain look-ups.

``evidence.store`` keeps; this module answers what a revisit asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from firsthand.db import Connection
from firsthand.evidence.tables import capture, holding, library, text


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


def changed_since(connection: Connection, url: str, snapshot_digest: str, text_digest: str) -> Capture | None:
    """The last fetch of *url*, if it came after this snapshot and brought another text; else None.

    A page that was kept here under no such snapshot says nothing: nobody knows which of the two is newer.
    """
    newest = newest_capture(connection, url)
    if newest is None or newest.snapshot == snapshot_digest:
        return None
    kept = sa.select(capture.c.capture_id).where(
        capture.c.url == url, capture.c.snapshot == snapshot_digest, capture.c.capture_id < newest.capture_id
    )
    same = sa.select(text.c.text_id).where(text.c.snapshot == newest.snapshot, text.c.text_digest == text_digest)
    was_kept = connection.execute(kept.limit(1)).first() is not None
    return newest if was_kept and connection.execute(same.limit(1)).first() is None else None


def only_text(connection: Connection, snapshot_digest: str, extractor: str, extractor_version: str) -> int | None:
    """The text that this extractor made of a snapshot; None if it made none, or two of one payload."""
    ours = sa.select(text.c.text_id).where(
        text.c.snapshot == snapshot_digest,
        text.c.extractor == extractor,
        text.c.extractor_version == extractor_version,
    )
    found = connection.execute(ours.limit(2)).scalars().all()
    return found[0] if len(found) == 1 else None


def held_text(connection: Connection, library_name: str, url: str) -> str | None:
    """The digest of the text that a library holds under *url* now; None if it holds none."""
    return connection.execute(
        sa.select(text.c.text_digest)
        .join_from(holding, library)
        .join(text, text.c.text_id == holding.c.text_id)
        .where(library.c.name == library_name, holding.c.url == url)
    ).scalar()
