"""What stands beside a body: packed small, and rows of an older release read as they were written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from firsthand.db import Connection, Database, open_database
from firsthand.errors import DigestMismatch
from firsthand.evidence import store, tables
from firsthand.evidence.sheet import SHEET_COLUMNS, pack_sheet, unpack_sheet
from firsthand.values import Anchor, Block, BlockKind, HiddenBlock, Span, Text
from tests import kept_before

KINDS: tuple[BlockKind, ...] = BlockKind.__args__  # type: ignore[attr-defined]
SINCE_2 = ("anchors", "fact_sources", "hidden", "n_invisible")


@pytest.fixture
def old_home(database_url: str, tmp_path: Path) -> Iterator[Database]:
    """A database that the second extractor filled, upgraded, once of each kind."""
    kept_before.fill(database_url, tmp_path)
    database = open_database(database_url)
    yield database
    database.close()


def test_a_text_that_was_kept_before_is_the_same_row_and_loads_with_nothing_in_what_is_new(old_home: Database) -> None:
    for row in kept_before.rows("text"):
        kept = old_home.read_now(lambda c, n: dict(c.execute(text_row(n)).mappings().one()), row["text_id"])
        assert kept == {**row, "sheet_format": 1, **dict.fromkeys(SINCE_2)}

        text = old_home.read_now(store.load_text, row["text_id"])
        assert (text.body, text.extractor_version) == (row["body"], kept_before.VERSION)
        assert (text.anchors, text.fact_sources, text.hidden, text.n_invisible) == ((), {}, (), 0)
        assert [block.span.start for block in text.blocks] == sorted({block.span.start for block in text.blocks})
        assert all((block.ordinal, block.row_heads, block.visibility) == (None, 0, "shown") for block in text.blocks)


def text_row(text_id: int) -> sa.Select[tuple[object, ...]]:
    return sa.select(tables.text).where(tables.text.c.text_id == text_id)


def test_blocks_that_were_packed_before_are_read_as_they_were_meant(old_home: Database) -> None:
    """Their form is written down here a second time: twelve places, the last ones left out where nothing stands."""
    n_blocks = 0
    for row in kept_before.rows("text"):
        packed = json.loads(row["blocks"])
        for block, found in zip(
            packed["blocks"], old_home.read_now(store.load_text, row["text_id"]).blocks, strict=True
        ):
            kind, start, length, path, main, score, level, header, caption, group, link_share, number = (
                block + [None, None, None, [], 1, 1.0, 0, [], None, 0, 0.0, None][len(block) :]
            )
            name = packed["strings"].__getitem__
            assert found == Block(
                KINDS[kind], Span(start, start + length), tuple(map(name, path)), bool(main), score, level,
                tuple(map(name, header)), "" if caption is None else name(caption), group, link_share, number,
            )  # fmt: skip
            n_blocks += 1
    assert n_blocks > 30


@pytest.mark.parametrize(
    "change",
    [
        "title = 'Wine'",
        "anchors = '[]'",
        "fact_sources = '{}'",
        "hidden = '{}'",
        "n_invisible = 0",
        "sheet_format = 2",
        "sheet_format = 2, anchors = '[]', fact_sources = '{}', hidden = '{}', n_invisible = 0",
        "blocks = replace(blocks, '\"format\":1', '\"format\":2')",
    ],
)
def test_anything_changed_in_a_text_that_was_kept_before_is_noticed(old_home: Database, change: str) -> None:
    def damage(connection: Connection) -> int:
        return connection.exec_driver_sql(f"UPDATE text SET {change} WHERE text_id = 1").rowcount

    assert old_home.write_now(damage) == 1
    with pytest.raises(DigestMismatch, match="not what was kept"):
        old_home.read_now(store.load_text, 1)


def test_a_sheet_is_some_tens_of_bytes_a_block() -> None:
    """Blocks of a manual: 54 a page, each under one of a few headings, and ten links. Measured: 28 bytes a block."""
    headings = ("The manual of the pump, its parts and its upkeep", "Before the first start of the pump")
    blocks = tuple(
        Block("item", Span(100 * n, 100 * n + 99), headings, n % 2 == 0, 0.75, 1, group=3, ordinal=n or None)
        for n in range(54)
    )
    anchors = tuple(Anchor(Span(500 * n, 500 * n + 9), n) for n in range(10))
    text = Text(
        "x" * 5_400, blocks, "text/html", anchors=anchors, links=tuple(f"https://a.example/{n}" for n in range(10))
    )
    sheet = pack_sheet(text)

    assert len(str(sheet["blocks"])) < 54 * 40 + 200
    assert len(str(sheet["anchors"])) < 10 * 12


def test_a_sheet_of_a_format_to_come_is_refused() -> None:
    hidden = (HiddenBlock("paragraph", "Buy.", "template", 0),)
    text = Text("Water", (Block("paragraph", Span(0, 5)),), "text/html", hidden=hidden)
    row = {**pack_sheet(text), "body": text.body, "extractor": "", "extractor_version": ""}

    assert unpack_sheet(row) == text and set(SHEET_COLUMNS) <= set(row)
    for changes in ({"sheet_format": 3}, {"sheet_format": 1}, {"blocks": str(row["blocks"]).replace('t":2', 't":3')}):
        with pytest.raises(ValueError, match="format"):
            unpack_sheet({**row, **changes})
