"""What stands beside a text's body, as columns: blocks packed small, and one digest over all of it.

Pure. A block is a JSON array of the fields that differ from the default, the rarest last; heading paths, headers and
captions stand once in a table and are named by number, because hundreds of blocks share them. Places are written as
the distance from the end of what stands before. Rows of an older format are read as they were written, and their
digest goes over the columns that there were then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from firsthand import ids
from firsthand.values import Anchor, Block, BlockKind, HiddenBlock, JsonValue, Span, Text, Visibility

FORMAT = 2  # of what is written now
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
_VISIBILITIES: tuple[Visibility, ...] = ("shown", "collapsed", "hidden")  # likewise
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
_OF_FORMAT_1 = (*_PLAIN, "links", "blocks")
_SINCE_FORMAT_2 = ("sheet_format", "anchors", "fact_sources", "hidden", "n_invisible")
SHEET_COLUMNS = (*_OF_FORMAT_1, *_SINCE_FORMAT_2)
Sheet = dict[str, str | int | None]


def pack_sheet(text: Text) -> Sheet:
    """The columns of *text* but its body, its digests and its extractor."""
    return {
        **{name: getattr(text, name) for name in _PLAIN},
        "links": _dump(list(text.links)),
        "blocks": _dump(_pack_blocks(text.blocks)),
        "sheet_format": FORMAT,
        "anchors": _dump(_pack_anchors(text.anchors)),
        "fact_sources": _dump(dict(sorted(text.fact_sources.items()))),
        "hidden": _dump(_pack_hidden(text.hidden)),
        "n_invisible": text.n_invisible,
    }


def unpack_sheet(row: Mapping[Any, Any]) -> Text:
    """The text of a row of the table ``text``.

    Raises: ValueError, TypeError or LookupError if the row is not what ``pack_sheet`` made, now or in an older release.
    """
    packed = json.loads(row["blocks"])
    if packed["format"] != row["sheet_format"] or row["sheet_format"] not in (1, FORMAT):
        raise ValueError(f"blocks of format {packed['format']!r}")
    common: dict[str, Any] = {
        "body": row["body"],
        "links": tuple(json.loads(row["links"])),
        "extractor": row["extractor"],
        "extractor_version": row["extractor_version"],
        **{name: row[name] for name in _PLAIN},
    }
    if row["sheet_format"] == 1:
        return Text(blocks=_unpack_blocks(_from_format_1(packed)), **common)
    return Text(
        blocks=_unpack_blocks(packed),
        anchors=_unpack_anchors(json.loads(row["anchors"])),
        fact_sources=json.loads(row["fact_sources"]),
        hidden=_unpack_hidden(json.loads(row["hidden"])),
        n_invisible=row["n_invisible"],
        **common,
    )


def sheet_digest(text_digest: str, extractor: str, extractor_version: str, sheet: Sheet) -> str:
    """One digest over all that a text says: its body's digest, its extractor, and every column beside it.

    A row of format 1 has nothing in the columns that came later; with anything there it is not what was kept.
    """
    is_first = sheet["sheet_format"] == 1 and all(sheet[name] is None for name in _SINCE_FORMAT_2[1:])
    columns: dict[str, JsonValue] = {name: sheet[name] for name in (_OF_FORMAT_1 if is_first else SHEET_COLUMNS)}
    return ids.text_digest(ids.canonical_json([text_digest, extractor, extractor_version, columns]))


# -- Blocks

_REQUIRED = 3
_DEFAULTS: list[Any] = [None, None, None, 0, 1, 1.0, 0, 0, [], 0.0, 0, None, None, 0, None, None]


def _pack_blocks(blocks: tuple[Block, ...]) -> dict[str, Any]:
    strings: dict[str, int] = {}
    paths: dict[tuple[str, ...], int] = {(): 0}

    def number(value: str) -> int:
        return strings.setdefault(value, len(strings))

    rows: list[list[Any]] = []
    end = 0
    for block in blocks:
        row: list[Any] = [
            _KINDS.index(block.kind),
            block.span.start - end,
            block.span.end - block.span.start,
            paths.setdefault(block.headings, len(paths)),
            int(block.main),
            block.score,
            block.level,
            block.group,
            [number(value) for value in block.header],
            block.link_share,
            block.row_heads,
            block.ordinal,
            number(block.caption) if block.caption else None,
            _VISIBILITIES.index(block.visibility),
            number(block.reason) if block.reason else None,
            block.page_number,
        ]
        end = block.span.end
        while len(row) > _REQUIRED and row[-1] == _DEFAULTS[len(row) - 1]:
            row.pop()
        rows.append(row)
    named = [[number(value) for value in path] for path in paths]
    return {"format": FORMAT, "strings": list(strings), "paths": named, "blocks": rows}


def _unpack_blocks(packed: Any) -> tuple[Block, ...]:
    strings: list[str] = packed["strings"]
    paths = [tuple([strings[at] for at in path]) for path in packed["paths"]]
    blocks = []
    end = 0
    for row in packed["blocks"]:
        kind, gap, length, path, main, score, level, group, header, link_share, row_heads, *rest = (
            row + _DEFAULTS[len(row) :]
        )
        ordinal, caption, visibility, reason, page_number = rest
        start = end + gap
        end = start + length
        blocks.append(
            Block(
                _KINDS[kind],
                Span(start, end),
                paths[path],
                bool(main),
                score,
                level,
                tuple([strings[at] for at in header]),
                "" if caption is None else strings[caption],
                group,
                link_share,
                page_number,
                ordinal,
                row_heads,
                _VISIBILITIES[visibility],
                "" if reason is None else strings[reason],
            )
        )
    return tuple(blocks)


_DEFAULTS_1: list[Any] = [None, None, None, [], 1, 1.0, 0, [], None, 0, 0.0, None]


def _from_format_1(packed: Any) -> dict[str, Any]:
    """Blocks that were packed with their starts and heading paths spelled out, in today's form."""
    paths: dict[tuple[int, ...], int] = {}
    rows = []
    end = 0
    for row in packed["blocks"]:
        kind, start, length, path, main, score, level, header, caption, group, link_share, page_number = (
            row + _DEFAULTS_1[len(row) :]
        )
        path = paths.setdefault(tuple(path), len(paths))
        rest = [link_share, 0, None, caption, 0, None, page_number]
        rows.append([kind, start - end, length, path, main, score, level, group, header, *rest])
        end = start + length
    return {"strings": packed["strings"], "paths": list(paths), "blocks": rows}


# -- Beside the blocks


def _pack_anchors(anchors: tuple[Anchor, ...]) -> list[int]:
    """Three numbers an anchor: from the end of the one before, length, and from the link that would be next."""
    packed: list[int] = []
    end = link = 0
    for anchor in anchors:
        packed += (anchor.span.start - end, anchor.span.end - anchor.span.start, anchor.link - link)
        end, link = anchor.span.end, anchor.link + 1
    return packed


def _unpack_anchors(packed: list[int]) -> tuple[Anchor, ...]:
    anchors = []
    end = link = 0
    numbers = iter(packed)
    for gap, length, step in zip(numbers, numbers, numbers, strict=True):
        start = end + gap
        end = start + length
        anchors.append(Anchor(Span(start, end), link + step))
        link += step + 1
    return tuple(anchors)


def _pack_hidden(hidden: tuple[HiddenBlock, ...]) -> dict[str, Any]:
    reasons: dict[str, int] = {}
    rows: list[list[Any]] = []
    before = 0
    for block in hidden:
        reason = reasons.setdefault(block.reason, len(reasons))
        rows.append([_KINDS.index(block.kind), reason, block.at - before, block.text])
        before = block.at
    return {"reasons": list(reasons), "blocks": rows} if rows else {}


def _unpack_hidden(packed: Any) -> tuple[HiddenBlock, ...]:
    blocks = []
    at = 0
    for kind, reason, step, text in packed.get("blocks", ()):
        at += step
        blocks.append(HiddenBlock(_KINDS[kind], text, packed["reasons"][reason], at))
    return tuple(blocks)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
