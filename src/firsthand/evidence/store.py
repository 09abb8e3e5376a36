"""The kept pages: plain functions over a connection, run by ``db.read`` and ``db.write``.

A page's payload is a *snapshot*, named by the digest of its bytes and kept once; every fetch of it is a *capture*.
What an extractor made of a snapshot is a *text*, with a digest of its own; a better extractor adds a text and never
moves an old one. A *library* holds texts under addresses. Bytes and texts are checked against their digests whenever
they are used. Times come from the pages themselves; this module has no clock.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from firsthand import ids
from firsthand.db import Connection
from firsthand.errors import DigestMismatch, ExtractionFailed, InvalidInput, NotFound
from firsthand.evidence.sheet import SHEET_COLUMNS, Sheet, pack_sheet, sheet_digest, unpack_sheet
from firsthand.evidence.tables import capture, handle, holding, library, snapshot, text
from firsthand.ports import PageRef
from firsthand.values import Page, Text

ZLIB_LEVEL = 3  # the writer waits for it; level 6 took 1.9 times as long for 13 % fewer bytes on 400 HTML pages
LIBRARY_NAME_MAX = 100


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a page that was kept."""

    capture_id: int
    snapshot: str
    is_revisit: bool  # the payload was here already


@dataclass(frozen=True, slots=True)
class Library:
    """A named set of kept pages."""

    name: str
    created_at: str
    n_pages: int


# -- Keeping


def keep_page(connection: Connection, page: Page) -> Kept:
    """Keep *page* for good: its payload once, this capture of it always.

    Raises: InvalidInput for an address that cannot be stored or a time without a zone.
    """
    for url in (page.requested_url, page.url):
        if not _is_storable(url):
            raise InvalidInput("url_characters", "An address holds a NUL or half a surrogate pair.")
    digest = ids.payload_digest(page.payload)
    at = _instant(page.retrieved_at)
    is_revisit = connection.execute(sa.select(snapshot.c.digest).where(snapshot.c.digest == digest)).first() is not None
    if not is_revisit:
        packed = zlib.compress(page.payload, ZLIB_LEVEL)
        is_smaller = len(packed) < len(page.payload)
        stored = packed if is_smaller else page.payload
        _insert_if_new(
            connection,
            snapshot,
            digest=digest,
            payload=stored,
            coding="zlib" if is_smaller else "",
            stored_crc32=zlib.crc32(stored),
            payload_bytes=len(page.payload),
            media_type=_media_type(page.headers),
            first_kept_at=at,
        )
    inserted = connection.execute(
        sa.insert(capture),
        {
            "requested_url": page.requested_url,
            "url": page.url,
            "status": page.status,
            "headers": json.dumps(dict(page.headers), separators=(",", ":")),  # ASCII: headers may hold any byte
            "redirects": json.dumps(page.redirects, separators=(",", ":")),
            "retrieved_at": at,
            "snapshot": digest,
            "is_revisit": is_revisit,
            "validator": page.validator,
            "is_file": page.is_file,
        },
    )
    return Kept(_new_key(inserted), digest, is_revisit)


def keep_text(connection: Connection, snapshot_digest: str, text_: Text) -> tuple[int, bool]:
    """The id of *text_* of a kept snapshot, and whether it is new. The same text again gives the same id.

    Raises: ExtractionFailed if the text holds a character that no text may hold.
    """
    sheet = pack_sheet(text_)
    _check_characters(text_, sheet)
    text_digest = ids.text_digest(text_.body)
    values = {
        "text_digest": text_digest,
        "sheet_digest": sheet_digest(text_digest, text_.extractor, text_.extractor_version, sheet),
        "snapshot": snapshot_digest,
        "extractor": text_.extractor,
        "extractor_version": text_.extractor_version,
    }
    same = sa.select(text.c.text_id).where(*(text.c[name] == value for name, value in values.items()))
    found = connection.execute(same).scalar()
    if found is not None:
        return found, False
    is_new = _insert_if_new(connection, text, **values, body=text_.body, **sheet)
    return connection.execute(same).scalar_one(), is_new


def hold(connection: Connection, library_name: str, url: str, text_id: int, capture_id: int) -> str:
    """Put a text into a library under *url*, in the place of what was there, and return its handle.

    The library is made if it is new. The same text again keeps its handle; another text gets a new one, and the old
    handle goes on naming the old text.

    Raises: InvalidInput for a name or an address that cannot be stored.
    """
    if not _is_storable(url):
        raise InvalidInput("url_characters", "An address holds a NUL or half a surrogate pair.")
    at = connection.execute(sa.select(capture.c.retrieved_at).where(capture.c.capture_id == capture_id)).scalar_one()
    library_id = _library_id(connection, library_name, at)
    here = (holding.c.library_id == library_id) & (holding.c.url == url)
    held = connection.execute(sa.select(holding.c.text_id, holding.c.handle).where(here)).first()
    if held is not None and held.text_id == text_id:
        connection.execute(sa.update(holding).where(here).values(capture_id=capture_id, added_at=at))
        return str(held.handle)
    name = ids.new_id("e")
    row = {"library_id": library_id, "url": url, "text_id": text_id, "capture_id": capture_id, "handle": name}
    connection.execute(sa.insert(handle), row)
    place = {**row, "added_at": at, "site": site_of(url)}
    if held is not None or not _insert_if_new(connection, holding, **place):
        connection.execute(sa.update(holding).where(here).values(place))
    return name


# -- Reading, always checked


def load_payload(connection: Connection, digest: str) -> bytes:
    """The payload of a snapshot, checked against its name.

    Raises: NotFound if it was never kept; DigestMismatch if it is gone or is not what was kept.
    """
    row = connection.execute(sa.select(snapshot).where(snapshot.c.digest == digest)).first()
    if row is None:
        was_kept = connection.execute(
            sa.union_all(
                sa.select(capture.c.capture_id).where(capture.c.snapshot == digest),
                sa.select(text.c.text_id).where(text.c.snapshot == digest),
            ).limit(1)
        ).first()
        if was_kept is None:
            raise NotFound("unknown_snapshot", "No page with this digest was kept.", snapshot=digest)
        raise DigestMismatch(
            "snapshot_gone", "A kept page is gone from the store; restore it from a backup.", snapshot=digest
        )
    stored = bytes(row.payload)
    payload = _decoded(stored, row.coding, row.payload_bytes) if zlib.crc32(stored) == row.stored_crc32 else None
    if payload is None or ids.payload_digest(payload) != digest:
        raise DigestMismatch(
            "snapshot_changed", "A kept page is not what was kept; restore it from a backup.", snapshot=digest
        )
    return payload


def load_page(connection: Connection, capture_id: int) -> Page:
    """One capture as the fetch brought it, its payload checked.

    Raises: NotFound; DigestMismatch as ``load_payload``.
    """
    row = connection.execute(sa.select(capture).where(capture.c.capture_id == capture_id)).first()
    if row is None:
        raise NotFound("unknown_capture", "No page was captured under this number.", capture_id=capture_id)
    return Page(
        requested_url=row.requested_url,
        url=row.url,
        status=row.status,
        headers=json.loads(row.headers),
        payload=load_payload(connection, row.snapshot),
        retrieved_at=datetime.fromisoformat(row.retrieved_at),
        redirects=tuple(json.loads(row.redirects)),
        validator=row.validator,
        is_file=row.is_file,
    )


def load_text(connection: Connection, text_id: int) -> Text:
    """One text, exactly as it was kept, checked against its digests.

    Raises: NotFound; DigestMismatch if the body, a block or anything beside it is not what was kept.
    """
    return unpack_sheet(_checked_row(connection, text_id))


def load_body(connection: Connection, text_id: int) -> str:
    """The body of one text, as ``load_text`` checks it, for whoever needs no block of it.

    Cost: a third of ``load_text`` on PostgreSQL's manual, a tenth on the page of it that has 3,000 blocks.
    """
    return str(_checked_row(connection, text_id)["body"])


def _checked_row(connection: Connection, text_id: int) -> sa.RowMapping:
    try:
        row = connection.execute(sa.select(text).where(text.c.text_id == text_id)).mappings().first()
    except sa.exc.OperationalError as error:
        if "decode to UTF-8" in str(error.orig):  # sqlite3, for a byte that was flipped in the file
            raise _text_changed(text_id) from error
        raise
    if row is None:
        raise NotFound("unknown_text", "No text was kept under this number.", text_id=text_id)
    if not isinstance(row["body"], str):
        raise _text_changed(text_id)
    body_digest = ids.text_digest(row["body"])
    sheet: Sheet = {name: row[name] for name in SHEET_COLUMNS}
    if (
        body_digest != row["text_digest"]
        or sheet_digest(body_digest, row["extractor"], row["extractor_version"], sheet) != row["sheet_digest"]
    ):
        raise _text_changed(text_id, row["text_digest"])
    return row


# -- Finding


def find_text(connection: Connection, snapshot_digest: str, text_digest: str) -> int | None:
    """The text that an old citation names, whatever extractor is in use now."""
    return connection.execute(
        sa.select(sa.func.min(text.c.text_id)).where(
            text.c.snapshot == snapshot_digest, text.c.text_digest == text_digest
        )
    ).scalar()


def unchanged(
    connection: Connection, library_name: str, url: str, payload_digest: str, extractor: str, extractor_version: str
) -> int | None:
    """The text held under *url*, if it was made of this payload by this extractor; else None."""
    return connection.execute(
        sa.select(holding.c.text_id)
        .join_from(holding, library)
        .join(text, text.c.text_id == holding.c.text_id)
        .where(
            library.c.name == library_name,
            holding.c.url == url,
            text.c.snapshot == payload_digest,
            text.c.extractor == extractor,
            text.c.extractor_version == extractor_version,
        )
    ).scalar()


def libraries(connection: Connection) -> list[Library]:
    """All libraries with their number of pages, by name."""
    rows = connection.execute(
        sa.select(library.c.name, library.c.created_at, sa.func.count(holding.c.url))
        .join_from(library, holding, isouter=True)
        .group_by(library.c.library_id, library.c.name, library.c.created_at)
    )
    return sorted((Library(*row) for row in rows), key=lambda one: one.name)  # here: databases collate differently


def page_by_handle(connection: Connection, name: str) -> PageRef:
    """The page that a handle names, as it was when the handle was given.

    Raises: NotFound.
    """
    given = connection.execute(
        sa.select(handle, library.c.name.label("library")).join_from(handle, library).where(handle.c.handle == name)
    ).first()
    if given is None:
        raise NotFound("unknown_handle", f"Nothing is kept under the handle {name[:40]!r}.", handle=name[:40])
    row = connection.execute(
        _REF_COLUMNS.join_from(text, capture, capture.c.capture_id == given.capture_id).where(
            text.c.text_id == given.text_id
        )
    ).one()
    return _ref(row, url=given.url, library=given.library, handle=name)


def page_ref(connection: Connection, text_id: int) -> PageRef:
    """Where one text came from.

    Raises: NotFound.
    """
    found = page_refs(connection, [text_id])
    if not found:
        raise NotFound("unknown_text", "No text was kept under this number.", text_id=text_id)
    return found[text_id]


def page_refs(
    connection: Connection, text_ids: Iterable[int], libraries: Iterable[str] | None = None
) -> dict[int, PageRef]:
    """Where texts came from, by text id; ids that are not kept are left out.

    Ties: a text held several times shows its holding that was added last, within *libraries* if they are given; one
    that no library holds shows the last capture of its snapshot.
    """
    wanted = list(dict.fromkeys(text_ids))
    held_in = list(libraries) if libraries is not None else None
    found: dict[int, PageRef] = {}
    for start in range(0, len(wanted), _IDS_A_STATEMENT):
        some = wanted[start : start + _IDS_A_STATEMENT]
        captured = (
            sa.select(text.c.text_id, sa.func.max(capture.c.capture_id).label("capture_id"))
            .join_from(text, capture, capture.c.snapshot == text.c.snapshot)
            .where(text.c.text_id.in_(some))
            .group_by(text.c.text_id)
            .subquery()
        )
        for row in connection.execute(
            _REF_COLUMNS.join_from(captured, text, text.c.text_id == captured.c.text_id).join(
                capture, capture.c.capture_id == captured.c.capture_id
            )
        ):
            found[row.text_id] = _ref(row, url=row.captured_url)
        held = (
            _REF_COLUMNS.add_columns(holding.c.url.label("held_url"), holding.c.handle, library.c.name.label("library"))
            .join_from(holding, library)
            .join(text, text.c.text_id == holding.c.text_id)
            .join(capture, capture.c.capture_id == holding.c.capture_id)
            .where(holding.c.text_id.in_(some))
            .order_by(holding.c.capture_id, library.c.library_id)
        )
        if held_in is not None:
            held = held.where(library.c.name.in_(held_in))
        for row in connection.execute(held):
            found[row.text_id] = _ref(row, url=row.held_url, library=row.library, handle=row.handle)
    return found


def site_of(url: str) -> str:
    """Origin and first folder of *url*, or its origin alone: the unit that has a name of its own.

    Example:
        >>> site_of("https://x.org/docs/guide/a.html"), site_of("https://x.org/docs")
        ('https://x.org/docs/', 'https://x.org/')
    """
    parts = urlsplit(url)
    folder, slash, _rest = parts.path.removeprefix("/").partition("/")
    return f"{parts.scheme}://{parts.netloc}/" + (folder + "/" if slash and folder else "")


# -- Inside

_IDS_A_STATEMENT = 500  # below every SQLite build's limit of bound values (999 before 3.32)
_REF_COLUMNS = sa.select(
    text.c.text_id,
    text.c.title,
    text.c.language,
    text.c.media_type,
    text.c.snapshot,
    text.c.text_digest,
    text.c.extractor,
    text.c.extractor_version,
    text.c.published_at,
    capture.c.retrieved_at,
    capture.c.url.label("captured_url"),
)


def _text_changed(text_id: int, text_digest: str | None = None) -> DigestMismatch:
    return DigestMismatch(
        "text_changed",
        "A kept text is not what was kept; restore it from a backup.",
        text_digest=text_digest,
        text_id=text_id,
    )


def _ref(row: Any, *, url: str, library: str | None = None, handle: str = "") -> PageRef:
    return PageRef(
        text_id=row.text_id,
        url=url,
        title=row.title,
        language=row.language,
        media_type=row.media_type,
        snapshot=row.snapshot,
        text_digest=row.text_digest,
        extractor=f"{row.extractor}/{row.extractor_version}",
        retrieved_at=row.retrieved_at,
        published_at=row.published_at,
        site=site_of(url),
        library=library,
        handle=handle,
    )


def _library_id(connection: Connection, name: str, at: str) -> int:
    if not name.strip() or len(name) > LIBRARY_NAME_MAX or not name.isprintable() or not _is_storable(name):
        raise InvalidInput(
            "library_name", f"A library's name has 1 to {LIBRARY_NAME_MAX} printable characters.", library=name[:200]
        )
    same = sa.select(library.c.library_id).where(library.c.name == name)
    found = connection.execute(same).scalar()
    if found is None:
        _insert_if_new(connection, library, name=name, created_at=at)
        found = connection.execute(same).scalar_one()
    return int(found)


def _insert_if_new(connection: Connection, table: sa.Table, **values: object) -> bool:
    """Put in a row that was just looked for in vain, and whether it was us who did.

    SQLite's writer is alone. On PostgreSQL another process may be faster; then its row is waited for and stands.
    """
    if connection.dialect.name == "sqlite":
        connection.execute(sa.insert(table), values)
        return True
    from sqlalchemy.dialects import postgresql  # 90 ms to import; an answer on SQLite need not wait for it

    insert: Any = postgresql.insert(table).on_conflict_do_nothing().returning(sa.literal_column("1"))
    return connection.execute(insert, values).first() is not None


def _new_key(inserted: sa.CursorResult[Any]) -> int:
    key = inserted.inserted_primary_key
    assert key is not None
    return int(key[0])


def _instant(at: datetime) -> str:
    """RFC 3339, UTC, milliseconds, ``Z``; sorts as text."""
    if at.tzinfo is None:
        raise InvalidInput("naive_time", "A time of retrieval must carry its time zone.")
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _media_type(headers: Mapping[str, str]) -> str:
    declared = headers.get("content-type", "").partition(";")[0].strip().lower()
    return declared if declared.isprintable() and _is_storable(declared) else ""


def _decoded(stored: bytes, coding: str, payload_bytes: int) -> bytes | None:
    """The payload, or None if the stored bytes are not what we wrote. Never more than was declared: no bomb."""
    if coding == "":
        return stored
    if coding != "zlib":
        return None
    try:
        inflater = zlib.decompressobj()
        payload = inflater.decompress(stored, payload_bytes + 1)
    except zlib.error:
        return None
    return payload if inflater.eof and not inflater.unused_data else None


def _check_characters(text_: Text, sheet: Sheet) -> None:
    """Refuse what PostgreSQL cannot store and UTF-8 cannot say; here and nowhere else.

    An extractor must replace such characters before it measures spans; stripping them here would move every span.
    """
    for name, value in (("body", text_.body), *sheet.items()):
        if isinstance(value, str) and not _is_storable(value):
            raise ExtractionFailed(
                "failed", "text_characters", "A text holds a NUL or half a surrogate pair.", field=name
            )


def _is_storable(value: str) -> bool:
    if "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
