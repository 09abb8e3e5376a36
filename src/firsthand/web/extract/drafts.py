"""Blocks before they have a place, then one body with a span for each of them.

Offsets are made once, while joining: nothing changes the body afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firsthand.values import Anchor, Block, BlockKind, HiddenBlock, Span, Visibility
from firsthand.web.extract.failure import unreadable

MAX_BLOCKS = 100_000  # guess: a manual of 2,000 pages has 60,000; handing over more would hold up the whole process

_ONE_UNIT: frozenset[BlockKind] = frozenset({"item", "row", "term", "definition"})


@dataclass(slots=True)
class Hiding:
    """What keeps words from a reader's sight: one for each element that hides. *opens* says how a reader can open it."""

    reason: str
    opens: str = ""
    around: Hiding | None = None
    closed: frozenset[str] = frozenset()  # its own reason and those around it, but for what a reader can open

    def __post_init__(self) -> None:
        around = self.around.closed if self.around is not None else frozenset[str]()
        self.closed = around if self.opens else around | {self.reason}


@dataclass(slots=True)
class Draft:
    """A block that is not placed yet."""

    kind: BlockKind
    text: str
    headings: tuple[str, ...] = ()
    level: int = 0
    header: tuple[str, ...] = ()
    caption: str = ""
    group: int = 0
    link_share: float = 0.0
    page_number: int | None = None
    score: float = 1.0
    main: bool = True
    is_after_gap: bool = False  # words of the page were left out before it
    ordinal: int | None = None
    row_heads: int = 0
    anchors: Sequence[tuple[int, int, int]] = ()  # start, end, number of the link
    container: int = 0  # the innermost block-level element around it
    hiding: Hiding | None = None
    visibility: Visibility = "shown"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Assembled:
    """One body with a span for each block and each link, and what no reader sees beside it."""

    body: str
    blocks: tuple[Block, ...]
    anchors: tuple[Anchor, ...]
    hidden: tuple[HiddenBlock, ...]


def assemble(drafts: Sequence[Draft]) -> Assembled:
    """One body and its blocks, in order. Units of one list or table stand on lines of their own, others apart.

    Raises: ExtractionFailed ``parse_limit`` for more than MAX_BLOCKS.
    Three line breaks stand where words of the page were left out: a span across fewer is as the page has it.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    anchors: list[Anchor] = []
    hidden: list[HiddenBlock] = []
    position = 0
    before: Draft | None = None
    if len(drafts) > MAX_BLOCKS:
        message = f"The page has {len(drafts):,} blocks of text; {MAX_BLOCKS:,} are read."
        raise unreadable("parse_limit", message, limit_kind="blocks")
    for draft in drafts:
        if draft.visibility == "hidden":
            hidden.append(HiddenBlock(draft.kind, draft.text, draft.reason, position))
            continue
        if before is not None:
            together = (
                draft.group and draft.group == before.group and draft.kind in _ONE_UNIT and before.kind in _ONE_UNIT
            )
            parts.append("\n\n\n" if draft.is_after_gap else "\n" if together else "\n\n")
            position += len(parts[-1])
        span = Span(position, position + len(draft.text))
        parts.append(draft.text)
        anchors += [
            Anchor(Span(position + start, position + end), link) for start, end, link in draft.anchors if link >= 0
        ]
        position = span.end
        blocks.append(
            Block(
                kind=draft.kind,
                span=span,
                headings=draft.headings,
                main=draft.main,
                score=draft.score,
                level=draft.level,
                header=draft.header,
                caption=draft.caption,
                group=draft.group,
                link_share=draft.link_share,
                page_number=draft.page_number,
                ordinal=draft.ordinal,
                row_heads=draft.row_heads,
                visibility=draft.visibility,
                reason=draft.reason,
            )
        )
        before = draft
    return Assembled("".join(parts), tuple(blocks), tuple(anchors), tuple(hidden))
