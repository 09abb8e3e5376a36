"""What stands beside a text's body, as columns: blocks packed small, and one digest over all of it.

Pure. A block is a JSON array of the fields that differ from the default; headings, headers and captions stand once in
a table of strings and are named by number, because hundreds of blocks share them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from firsthand import ids
from firsthand.values import Block, BlockKind, JsonValue, Span, Text

FORMAT = 1  # of the packed blocks
_KINDS: tuple[BlockKind, ...] = (
    "heading",
    "paragraph",
    "item",
    "term",
    "definition",
    "code",
    "row",
    "caption",
    "quote",
)  # numbered by place: add at the end only
_PLAIN = (
    "title",
    "language",
    "author",
    "published_at",
    "modified_at",
    "charset",
    "declared_charset",
    "media_type",
    "canonical_url",
    "site_name",
    "n_hidden",
)
SHEET_COLUMNS = (*_PLAIN, "links", "blocks")
Sheet = dict[str, str | int | None]


def pack_sheet(text: Text) -> Sheet:
    """The columns of *text* but its body, its digests and its extractor."""
    return {
        **{name: getattr(text, name) for name in _PLAIN},
        "links": _dump(list(text.links)),
        "blocks": _dump(_pack_blocks(text.blocks)),
    }


def unpack_sheet(row: Mapping[Any, Any]) -> Text:
    """The text of a row of the table ``text``.

    Raises: ValueError, TypeError or LookupError if the row is not what ``pack_sheet`` made.
    """
    return Text(
        body=row["body"],
        blocks=_unpack_blocks(json.loads(row["blocks"])),
        links=tuple(json.loads(row["links"])),
        extractor=row["extractor"],
        extractor_version=row["extractor_version"],
        **{name: row[name] for name in _PLAIN},
    )


def sheet_digest(text_digest: str, extractor: str, extractor_version: str, sheet: Sheet) -> str:
    """One digest over all that a text says: its body's digest, its extractor, and every column beside it."""
    columns: dict[str, JsonValue] = {name: sheet[name] for name in SHEET_COLUMNS}
    return ids.text_digest(ids.canonical_json([text_digest, extractor, extractor_version, columns]))


def _pack_blocks(blocks: tuple[Block, ...]) -> dict[str, Any]:
    table: dict[str, int] = {}

    def number(value: str) -> int:
        return table.setdefault(value, len(table))

    rows: list[list[Any]] = []
    for block in blocks:
        row: list[Any] = [
            _KINDS.index(block.kind),
            block.span.start,
            block.span.end - block.span.start,
            [number(value) for value in block.headings],
            int(block.main),
            block.score,
            block.level,
            [number(value) for value in block.header],
            number(block.caption) if block.caption else None,
            block.group,
            block.link_share,
            block.page_number,
        ]
        while len(row) > _REQUIRED and row[-1] == _DEFAULTS[len(row) - 1]:
            row.pop()
        rows.append(row)
    return {"format": FORMAT, "strings": list(table), "blocks": rows}


_REQUIRED = 3
_DEFAULTS: list[Any] = [None, None, None, [], 1, 1.0, 0, [], None, 0, 0.0, None]


def _unpack_blocks(packed: Any) -> tuple[Block, ...]:
    if packed["format"] != FORMAT:
        raise ValueError(f"blocks of format {packed['format']!r}")
    strings: list[str] = packed["strings"]
    blocks = []
    for row in packed["blocks"]:
        kind, start, length, headings, main, score, level, header, caption, group, link_share, page_number = (
            row + _DEFAULTS[len(row) :]
        )
        blocks.append(
            Block(
                kind=_KINDS[kind],
                span=Span(start, start + length),
                headings=tuple(strings[at] for at in headings),
                main=bool(main),
                score=score,
                level=level,
                header=tuple(strings[at] for at in header),
                caption="" if caption is None else strings[caption],
                group=group,
                link_share=link_share,
                page_number=page_number,
            )
        )
    return tuple(blocks)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
