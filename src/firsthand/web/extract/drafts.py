"""Blocks before they have a place: cleaned words, then one body with a span for each of them.

Offsets are made once, while joining: nothing changes the body afterwards.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from firsthand.values import Block, BlockKind, Span
from firsthand.web.extract.failure import unreadable

MAX_BLOCKS = 100_000  # guess: a manual of 2,000 pages has 60,000; handing over more would hold up the whole process

# Soft hyphen, zero-width space, word joiner, byte order mark: seen by no reader. The joiners U+200C and U+200D stay,
# they change what a reader of Persian, Hindi or emoji sees.
_NO_WIDTH = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
# NUL is no character of any text; lone surrogates cannot be written as UTF-8.
_UNWRITABLE = {0: None} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_ONE_UNIT: frozenset[BlockKind] = frozenset({"item", "row", "term", "definition"})


@dataclass(slots=True)
class Draft:
    """A block that is not placed yet. ``zone`` names the boilerplate it stands in: nav, form, class ...; or is empty."""

    kind: BlockKind
    text: str
    headings: tuple[str, ...] = ()
    level: int = 0
    header: tuple[str, ...] = ()
    caption: str = ""
    group: int = 0
    link_share: float = 0.0
    zone: str = ""
    page_number: int | None = None
    score: float = 1.0
    is_after_gap: bool = False  # words of the page were left out before it


def prose(raw: str) -> str:
    """*raw* in NFC without zero-width characters, each run of white space one space, none at the ends."""
    if not raw.isascii():
        # NFC first, as whoever checks a quote folds it: composing after dropping would join what they keep apart.
        raw = unicodedata.normalize("NFC", raw).translate(_NO_WIDTH).translate(_UNWRITABLE)
    elif "\0" in raw:
        raw = raw.replace("\0", "")
    return " ".join(raw.split())


def code(raw: str) -> str:
    """*raw* in NFC with its lines and indentation, without zero-width characters and blank lines at the ends."""
    if not raw.isascii():
        raw = unicodedata.normalize("NFC", raw).translate(_NO_WIDTH).translate(_UNWRITABLE).replace("\u00a0", " ")
    raw = raw.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.rstrip() for line in raw.split("\n")]
    first, last = 0, len(lines)
    while first < last and not lines[first]:
        first += 1
    while last > first and not lines[last - 1]:
        last -= 1
    return "\n".join(lines[first:last])


def assemble(drafts: Sequence[Draft]) -> tuple[str, tuple[Block, ...]]:
    """One body and its blocks, in order. Units of one list or table stand on lines of their own, others apart.

    Raises: ExtractionFailed ``parse_limit`` for more than MAX_BLOCKS.
    Three line breaks stand where words of the page were left out: a span across fewer is as the page has it.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    position = 0
    before: Draft | None = None
    if len(drafts) > MAX_BLOCKS:
        message = f"The page has {len(drafts):,} blocks of text; {MAX_BLOCKS:,} are read."
        raise unreadable("parse_limit", message, limit_kind="blocks")
    for draft in drafts:
        if before is not None:
            together = (
                draft.group and draft.group == before.group and draft.kind in _ONE_UNIT and before.kind in _ONE_UNIT
            )
            parts.append("\n\n\n" if draft.is_after_gap else "\n" if together else "\n\n")
            position += len(parts[-1])
        span = Span(position, position + len(draft.text))
        parts.append(draft.text)
        position = span.end
        blocks.append(
            Block(
                kind=draft.kind,
                span=span,
                headings=draft.headings,
                main=draft.score >= 0.5,
                score=draft.score,
                level=draft.level,
                header=draft.header,
                caption=draft.caption,
                group=draft.group,
                link_share=draft.link_share,
                page_number=draft.page_number,
            )
        )
        before = draft
    return "".join(parts), tuple(blocks)
