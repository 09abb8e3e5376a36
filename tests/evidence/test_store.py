"""Kept pages, on both databases."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand import ids
from firsthand.db import Connection, Database
from firsthand.errors import DigestMismatch, Error, ExtractionFailed, InvalidInput, NotFound
from firsthand.evidence import store, tables
from firsthand.ports import PageRef
from firsthand.values import Anchor, Block, BlockKind, HiddenBlock, Page, Span, Text

AT = datetime(2026, 5, 4, 3, 2, 1, 500_000, tzinfo=UTC)
URL = "https://example.org/docs/a.html"


def page(payload: bytes = b"<p>Water boils at 100 degrees.</p>", url: str = URL, **more: object) -> Page:
    values: dict[str, object] = {
        "requested_url": url,
        "url": url,
        "status": 200,
        "headers": {"content-type": "text/html; charset=utf-8"},
        "payload": payload,
        "retrieved_at": AT,
    }
    return Page(**{**values, **more})  # type: ignore[arg-type]


def text(body: str = "Water boils at 100 degrees.", version: str = "1", **more: object) -> Text:
    values: dict[str, object] = {
        "body": body,
        "blocks": (Block("paragraph", Span(0, len(body)), headings=("Water",)),),
        "media_type": "text/html",
        "title": "Water",
        "language": "en",
        "extractor": "blocks",
        "extractor_version": version,
    }
    return Text(**{**values, **more})  # type: ignore[arg-type]


def keep(connection: Connection, page: Page, text: Text, library: str = "docs") -> tuple[store.Kept, int, str]:
    kept = store.keep_page(connection, page)
    text_id, _ = store.keep_text(connection, kept.snapshot, text)
    return kept, text_id, store.hold(connection, library, page.url, text_id, kept.capture_id)


# -- Pages


def test_a_kept_page_comes_back_as_it_was_fetched(database: Database) -> None:
    first = page(
        requested_url="http://example.org/docs/a.html#x",
        headers={"content-type": "text/html", "x-odd": "\udcff\x01"},
        redirects=("http://example.org/docs/a.html", URL),
    )
    kept = database.write_now(store.keep_page, first)

    assert kept.snapshot == "sha256:" + hashlib.sha256(first.payload).hexdigest()
    assert database.read_now(store.load_page, kept.capture_id) == first


def test_the_same_payload_again_is_a_revisit_and_is_stored_once(database: Database) -> None:
    first = database.write_now(store.keep_page, page())
    again = database.write_now(store.keep_page, page(url="https://mirror.example/", retrieved_at=AT + timedelta(1)))

    assert (first.is_revisit, again.is_revisit) == (False, True)
    assert first.snapshot == again.snapshot and first.capture_id != again.capture_id
    rows = database.read_now(lambda c: c.execute(sa.select(tables.snapshot.c.first_kept_at)).all())
    assert rows == [("2026-05-04T03:02:01.500Z",)]


def test_a_page_that_the_server_confirmed_is_a_row_with_its_validator_and_no_second_payload(database: Database) -> None:
    first = database.write_now(store.keep_page, page())
    confirmed = page(status=304, retrieved_at=AT + timedelta(1), validator='If-None-Match: "v1"')
    again = database.write_now(store.keep_page, confirmed)

    assert again.is_revisit and again.snapshot == first.snapshot
    columns = [tables.capture.c[name] for name in ("url", "status", "validator", "retrieved_at", "snapshot")]
    rows = database.read_now(lambda c: c.execute(sa.select(*columns).order_by(tables.capture.c.capture_id)).all())
    assert [tuple(row) for row in rows] == [
        (URL, 200, "", "2026-05-04T03:02:01.500Z", first.snapshot),
        (URL, 304, 'If-None-Match: "v1"', "2026-05-05T03:02:01.500Z", first.snapshot),
    ]
    assert database.read_now(lambda c: c.execute(sa.select(sa.func.count()).select_from(tables.snapshot)).scalar()) == 1
    assert database.read_now(store.load_page, again.capture_id) == confirmed


def test_a_file_is_kept_as_one(database: Database) -> None:
    kept = database.write_now(store.keep_page, page(is_file=True))
    assert database.read_now(store.load_page, kept.capture_id).is_file


@pytest.mark.parametrize(
    "payload", [b"", b"x", b"a" * 100_000, random.Random(1).randbytes(10_000)], ids=["empty", "1", "dull", "noise"]
)
def test_a_payload_is_stored_in_the_smaller_of_two_ways(database: Database, payload: bytes) -> None:
    kept = database.write_now(store.keep_page, page(payload))

    assert database.read_now(store.load_payload, kept.snapshot) == payload
    stored = database.read_now(lambda c: c.execute(sa.select(tables.snapshot.c.payload)).scalar_one())
    assert len(stored) <= len(payload)


def test_a_time_is_kept_in_utc_and_a_time_without_zone_is_refused(database: Database) -> None:
    east = AT.astimezone(timezone(timedelta(hours=9)))
    kept = database.write_now(store.keep_page, page(retrieved_at=east))

    assert database.read_now(store.load_page, kept.capture_id).retrieved_at == AT
    with pytest.raises(InvalidInput, match="zone"):
        database.write_now(store.keep_page, page(retrieved_at=AT.replace(tzinfo=None)))


# -- A changed byte is noticed


def flip(row: sa.Row[tuple[bytes]], _other: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(row.payload))
    return bytes(row.payload[:at] + bytes([row.payload[at] ^ (1 << rng.randrange(8))]) + row.payload[at + 1 :])


def cut(row: sa.Row[tuple[bytes]], _other: bytes, rng: random.Random) -> bytes:
    return bytes(row.payload[: rng.randrange(len(row.payload))])


def lengthen(row: sa.Row[tuple[bytes]], _other: bytes, rng: random.Random) -> bytes:
    return bytes(row.payload) + rng.randbytes(1 + rng.randrange(5))


def swap(_row: sa.Row[tuple[bytes]], other: bytes, _rng: random.Random) -> bytes:
    return other


def test_a_payload_flipped_cut_lengthened_swapped_or_deleted_is_noticed_1000_of_1000(
    database: Database,
) -> None:
    rng = random.Random(14)
    damages: list[Callable[[sa.Row[tuple[bytes]], bytes, random.Random], bytes] | None]
    damages = [flip, flip, cut, lengthen, swap, None, swap]
    whole_row = 6  # the last one swaps all that is stored beside the payload too

    def fill(connection: Connection) -> list[str]:
        payloads = [
            rng.randbytes(rng.randrange(20, 3000))
            if n % 3 == 0
            else f"<p>Page {n}.</p>".encode() * rng.randrange(1, 99)
            for n in range(1000)
        ]
        return [store.keep_page(connection, page(payload)).snapshot for payload in payloads]

    digests = database.write_now(fill)
    assert len(set(digests)) == 1000
    assert all(database.read_now(lambda c: [store.load_payload(c, d) for d in digests]))

    def damage(connection: Connection) -> None:
        allow_missing_rows(connection)
        rows = {row.digest: row for row in connection.execute(sa.select(tables.snapshot))}
        for n, digest in enumerate(digests):
            way = damages[n % len(damages)]
            this = tables.snapshot.c.digest == digest
            if way is None:
                connection.execute(sa.delete(tables.snapshot).where(this))
                continue
            other = rows[digests[n - 1]]
            beside = {"coding": other.coding, "stored_crc32": other.stored_crc32, "payload_bytes": other.payload_bytes}
            values = {"payload": way(rows[digest], other.payload, rng)}
            values |= beside if n % len(damages) == whole_row else {}
            connection.execute(sa.update(tables.snapshot).where(this).values(values))

    if database.is_sqlite:
        tamper(database, damage)
    else:
        database.write_now(damage)

    def notice(connection: Connection) -> int:
        noticed = 0
        for digest in digests:
            with pytest.raises(DigestMismatch) as caught:
                store.load_payload(connection, digest)
            noticed += caught.value.facts["snapshot"] == digest
        return noticed

    assert database.read_now(notice) == 1000


def allow_missing_rows(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        for table in ("capture", "text"):
            connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {table}_snapshot_fkey")


def tamper(database: Database, fn: Callable[[Connection], None]) -> None:
    """As someone with the file in an editor: past the writer and past foreign keys."""
    engine = sa.create_engine(database.engine.url)
    with engine.begin() as connection:
        fn(connection)
    engine.dispose()


@pytest.mark.parametrize(
    "change",
    [
        "body = 'Water boils at 101 degrees.'",
        "text_digest = 'sha256:0'",
        "title = 'Wine'",
        "published_at = '2020-01-01'",
        "blocks = replace(blocks, '[1,0,', '[1,1,')",
        "blocks = '{'",
        "links = '[\"https://evil.example/\"]'",
        "language = NULL",
        "extractor_version = '2'",
        "n_hidden = 7",
        "anchors = '[0,5,0]'",
        'fact_sources = \'{"title":"h1"}\'',
        "hidden = '{}'",
        "n_invisible = 1",
        "sheet_format = 1",
        "sheet_format = 1, anchors = NULL, fact_sources = NULL, hidden = NULL, n_invisible = NULL",
    ],
)
def test_anything_changed_in_a_kept_text_is_noticed(database: Database, change: str) -> None:
    kept = text(hidden=(HiddenBlock("paragraph", "Buy.", "off_screen", 0),))
    _, text_id, _ = database.write_now(keep, page(), kept)
    assert database.read_now(store.load_text, text_id) == kept
    assert database.read_now(store.load_body, text_id) == kept.body

    changed = database.write_now(lambda c: c.execute(sa.text(f"UPDATE text SET {change}")).rowcount)

    assert changed == 1
    for load in (store.load_text, store.load_body):
        with pytest.raises(DigestMismatch, match="not what was kept"):
            database.read_now(load, text_id)


def test_a_text_that_is_no_longer_utf8_is_noticed(sqlite_database: Database) -> None:
    _, text_id, _ = sqlite_database.write_now(keep, page(), text())
    for value in ("CAST(x'ff41' AS TEXT)", "x'41'"):
        sqlite_database.write_now(lambda c, v: c.execute(sa.text(f"UPDATE text SET body = {v}")).rowcount, value)
        with pytest.raises(DigestMismatch):
            sqlite_database.read_now(store.load_text, text_id)


def test_what_was_never_kept_is_not_found_rather_than_damaged(database: Database) -> None:
    for read, name in (
        (store.load_payload, "sha256:" + "0" * 64),
        (store.load_text, 7),
        (store.load_page, 7),
        (store.page_ref, 7),
        (store.page_by_handle, "e-nothing"),
    ):
        with pytest.raises(NotFound):
            database.read_now(read, name)  # type: ignore[arg-type]


# -- Texts

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
SHARES = st.floats(0, 1, allow_nan=False)
SPANS = st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)).map(lambda pair: Span(min(pair), max(pair)))
KINDS: tuple[BlockKind, ...] = BlockKind.__args__  # type: ignore[attr-defined]
BLOCKS = st.builds(
    Block,
    kind=st.sampled_from(KINDS),
    span=SPANS,
    headings=st.lists(WORDS, max_size=3).map(tuple),
    main=st.booleans(),
    score=SHARES,
    level=st.integers(0, 6),
    header=st.lists(WORDS, max_size=3).map(tuple),
    caption=WORDS,
    group=st.integers(0, 99),
    link_share=SHARES,
    page_number=st.none() | st.integers(1, 999),
    ordinal=st.none() | st.integers(-9, 999),
    row_heads=st.integers(0, 3),
    visibility=st.sampled_from(["shown", "collapsed"]),
    reason=WORDS,
)
MAYBE = st.none() | WORDS
TEXTS = st.builds(
    Text,
    body=WORDS,
    blocks=st.lists(BLOCKS, max_size=4).map(tuple),
    media_type=WORDS,
    charset=MAYBE,
    declared_charset=MAYBE,
    title=WORDS,
    language=MAYBE,
    author=MAYBE,
    published_at=MAYBE,
    modified_at=MAYBE,
    canonical_url=MAYBE,
    site_name=MAYBE,
    links=st.lists(WORDS, max_size=3).map(tuple),
    anchors=st.lists(st.builds(Anchor, SPANS, st.integers(0, 99)), max_size=3).map(tuple),
    fact_sources=st.dictionaries(WORDS, WORDS, max_size=3),
    hidden=st.lists(
        st.builds(HiddenBlock, st.sampled_from(KINDS), WORDS, WORDS, st.integers(0, 10**6)), max_size=3
    ).map(tuple),
    n_hidden=st.integers(0, 99),
    n_invisible=st.integers(0, 99),
    extractor=WORDS,
    extractor_version=WORDS,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kept=TEXTS)
def test_every_text_comes_back_exactly(database: Database, kept: Text) -> None:
    def round_trip(connection: Connection) -> Text:
        snapshot = store.keep_page(connection, page()).snapshot
        return store.load_text(connection, store.keep_text(connection, snapshot, kept)[0])

    assert database.write_now(round_trip) == kept


def test_the_sheet_covers_every_field_of_a_text_and_of_a_block(database: Database) -> None:
    block = Block(
        "row", Span(2, 5), ("H",), False, 0.25, 3, ("a", "b"), "cap", 4, 0.5, 9, 7, 2, "collapsed", "details"
    )  # fmt: skip
    anchor, unseen = Anchor(Span(3, 5), 1), HiddenBlock("item", "Buy.", "off_screen", 6)
    full = Text(
        "0123456789", (block,), "m", "c", "d", "t", "l", "a", "p", "o", "u", "s", ("k", "m"), (anchor,),
        {"author": "meta author"}, (unseen,), 3, 5, "blocks", "2.1",
    )  # fmt: skip
    pairs: list[tuple[Any, Any]] = [
        (full, Text("", (), "")),
        (block, Block("code", Span(0, 0))),
        (anchor, Anchor(Span(0, 0), 0)),
        (unseen, HiddenBlock("code", "", "", 0)),
    ]
    for one, empty in pairs:
        unset = [f.name for f in fields(one) if getattr(one, f.name) == getattr(empty, f.name)]
        assert unset == [], "a new field must be set here, so that this test sees it lost"
    _, text_id, _ = database.write_now(keep, page(), full)

    assert database.read_now(store.load_text, text_id) == full


def test_the_same_text_again_is_the_same_row_and_another_extractor_adds_one(database: Database) -> None:
    def all_of_them(connection: Connection) -> list[tuple[int, bool]]:
        snapshot = store.keep_page(connection, page()).snapshot
        one, two, latin = text(), text(version="2"), text("Wasser", charset="latin-1")
        return [store.keep_text(connection, snapshot, t) for t in (one, two, one, latin, two, latin)]

    (a, is_a), (b, is_b), (a2, is_a2), (c, is_c), (b2, _), (c2, _) = database.write_now(all_of_them)

    assert (is_a, is_b, is_a2, is_c) == (True, True, False, True)
    assert (a, b, c) == (a2, b2, c2) and len({a, b, c}) == 3


@pytest.mark.parametrize("body", ["a\0b", "a\ud800b"], ids=["NUL", "surrogate"])
@pytest.mark.parametrize("name", ["body", "title", "author", "site_name", "links"])
def test_characters_that_no_database_holds_are_refused_before_anything_is_written(
    database: Database, name: str, body: str
) -> None:
    if (name, body) == ("links", "a\0b"):
        pytest.skip("JSON escapes a NUL; it comes back as it was")
    kept = database.write_now(store.keep_page, page())
    bad = replace(text(), **{name: (body,) if name == "links" else body})  # type: ignore[arg-type]
    with pytest.raises(ExtractionFailed) as caught:
        database.write_now(store.keep_text, kept.snapshot, bad)
    assert caught.value.code == "text_characters"

    with pytest.raises(InvalidInput):
        database.write_now(store.keep_page, page(url="https://example.org/" + body))
    with pytest.raises(InvalidInput):
        database.write_now(keep, page(), text(), body)


def test_a_text_of_a_page_that_was_not_kept_is_refused(database: Database) -> None:
    with pytest.raises(Error):
        database.write_now(store.keep_text, "sha256:" + "0" * 64, text())


# -- Libraries and handles


def test_a_library_counts_its_pages_and_is_made_when_it_is_first_used(database: Database) -> None:
    assert database.read_now(store.libraries) == []
    database.write_now(keep, page(), text(), "näive docs")
    database.write_now(keep, page(b"2", url=URL + "2"), text("2"), "näive docs")
    database.write_now(keep, page(), text(), "Z")

    created = "2026-05-04T03:02:01.500Z"
    assert database.read_now(store.libraries) == [
        store.Library("Z", created, 1),
        store.Library("näive docs", created, 2),
    ]
    for bad in ("", "  ", "a\nb", "x" * 101):
        with pytest.raises(InvalidInput):
            database.write_now(keep, page(), text(), bad)


def test_the_same_text_keeps_its_handle_and_a_new_text_gets_a_new_one(database: Database) -> None:
    _, old_id, old = database.write_now(keep, page(), text())
    _, same_id, same = database.write_now(keep, page(retrieved_at=AT + timedelta(1)), text())
    _, new_id, new = database.write_now(keep, page(b"new"), text("It boils at 99."))

    assert (old_id, old) == (same_id, same) and new != old
    assert database.read_now(store.page_by_handle, new).text_id == new_id
    assert database.read_now(store.page_by_handle, old).text_id == old_id
    assert database.read_now(store.libraries)[0].n_pages == 1


def test_a_page_ref_says_where_a_text_came_from(database: Database) -> None:
    kept, text_id, handle = database.write_now(keep, page(), text(published_at="2025-01-02"))
    ref = database.read_now(store.page_ref, text_id)

    assert ref == PageRef(
        text_id=text_id,
        url=URL,
        title="Water",
        language="en",
        media_type="text/html",
        snapshot=kept.snapshot,
        text_digest=ids.text_digest("Water boils at 100 degrees."),
        extractor="blocks/1",
        retrieved_at="2026-05-04T03:02:01.500Z",
        published_at="2025-01-02",
        site="https://example.org/docs/",
        library="docs",
        handle=handle,
    )
    assert database.read_now(store.page_by_handle, handle) == ref
    other = database.read_now(store.page_refs, [text_id, 99], ["elsewhere"])
    assert other == {text_id: replace(ref, library=None, handle="")}


def test_many_page_refs_are_found_in_few_statements(database: Database) -> None:
    def fill(connection: Connection) -> list[int]:
        return [keep(connection, page(b"%d" % n, url=f"{URL}?{n}"), text(str(n)))[1] for n in range(510)]

    text_ids = database.write_now(fill)
    refs = database.read_now(store.page_refs, text_ids)

    assert [refs[text_id].url for text_id in text_ids] == [f"{URL}?{n}" for n in range(510)]


def test_a_text_fetched_in_a_turn_has_no_library(database: Database) -> None:
    def fetch(connection: Connection) -> int:
        kept = store.keep_page(connection, page())
        return store.keep_text(connection, kept.snapshot, text())[0]

    ref = database.read_now(store.page_ref, database.write_now(fetch))
    assert (ref.url, ref.library, ref.handle) == (URL, None, "")


def test_unchanged_is_true_only_for_the_same_payload_read_by_the_same_extractor(database: Database) -> None:
    kept, text_id, _ = database.write_now(keep, page(), text())
    same = ("docs", URL, kept.snapshot, "blocks", "1")

    assert database.read_now(store.unchanged, *same) == text_id
    for at, other in enumerate(("more", URL + "?", "sha256:0", "pdf", "2")):
        changed = [*same[:at], other, *same[at + 1 :]]
        assert database.read_now(store.unchanged, *changed) is None, other


def test_an_old_citation_finds_its_text_after_the_extractor_was_changed(database: Database) -> None:
    kept, old_id, _ = database.write_now(keep, page(), text())
    _, new_id, _ = database.write_now(keep, page(), text("Water boils at 100 degrees. Yes.", version="2"))

    for text_id, body in ((old_id, "Water boils at 100 degrees."), (new_id, "Water boils at 100 degrees. Yes.")):
        assert database.read_now(store.find_text, kept.snapshot, ids.text_digest(body)) == text_id
    assert database.read_now(store.find_text, kept.snapshot, ids.text_digest("else")) is None


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://x.org/docs/guide/a.html", "https://x.org/docs/"),
        ("https://x.org/docs/", "https://x.org/docs/"),
        ("https://x.org/docs", "https://x.org/"),
        ("https://x.org/", "https://x.org/"),
        ("https://x.org", "https://x.org/"),
        ("https://x.org:8443/?q=/a/b", "https://x.org:8443/"),
        ("https://x.org//a/b", "https://x.org/"),
        ("file:///home/me/a.txt", "file:///home/"),
    ],
)
def test_a_site_is_the_origin_and_the_first_folder(url: str, site: str) -> None:
    assert store.site_of(url) == site


# -- Crash: the n-th write fails, n = 1, 2, 3 ... until it succeeds


class NoMoreWrites(Exception):
    """The n-th statement that changes something was refused."""


def everything(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all our tables; a handle is random, so only that there is one counts."""
    kept = [table for table in vars(tables).values() if isinstance(table, sa.Table)]
    return {
        table.name: [
            tuple("e-" if column == "handle" else value for column, value in row.items())
            for row in connection.execute(sa.select(table).order_by(*table.primary_key)).mappings()
        ]
        for table in kept
    }


def test_keeping_a_page_is_all_or_nothing_whichever_write_fails(database: Database) -> None:
    database.write_now(keep, page(b"there before", url=URL + "2"), text("There before."), "other")
    before = database.read_now(everything)
    writes_left = [0]

    def count(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if statement.split(None, 1)[0] in ("INSERT", "UPDATE", "DELETE", "RELEASE", "COMMIT"):
            writes_left[0] -= 1
            if writes_left[0] == 0:
                raise NoMoreWrites

    sa.event.listen(database.engine, "before_cursor_execute", count)
    n = 0
    while True:
        n += 1
        writes_left[0] = n
        try:
            _, text_id, handle = database.write_now(keep, page(), text())
            break
        except NoMoreWrites:
            writes_left[0] = 0
            assert database.read_now(everything) == before, f"write {n} failed and left something"
    writes_left[0] = 0

    assert n == 8, "snapshot, capture, text, library, handle, holding, end of savepoint; then none is left to fail"
    assert database.read_now(store.page_by_handle, handle).text_id == text_id
    assert {
        name: len(rows) - len(before[name]) for name, rows in database.read_now(everything).items()
    } == dict.fromkeys(before, 1)
