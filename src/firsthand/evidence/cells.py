"""A cell of a table with the names of its row and its column: what a number in a table means.

A row's text has its cells in order with a tab between them (docs/reference/text.md), so the n-th cell stands under the
n-th name of the block's header. The names are words of the page; the cell's span is exact, so it can be quoted.
"""

from __future__ import annotations

from dataclasses import dataclass

from firsthand.values import Block, Span

_MAX_NAME_CHARS = 80  # guess: a longer first cell is a description, not a name


@dataclass(frozen=True, slots=True)
class TableCell:
    """``body[span.start:span.end]`` is what the cell says; ``column`` and ``row`` are empty when nothing names it."""

    span: Span
    column: str
    row: str

    @property
    def label(self) -> str:
        """What the cell is: "Steel A · Strength MPa", or the one name it has."""
        return " · ".join(filter(None, (self.row, self.column)))


def cells(body: str, block: Block) -> tuple[TableCell, ...]:
    """The cells of a row that have words, in order; nothing for a block of another kind.

    A row is named by its first cells, as many as its table marks as header cells; where it marks none but names its
    columns, by its first cell. A cell that names the row has no row's name itself.
    """
    if block.kind != "row":
        return ()
    spans: list[Span] = []
    start = block.span.start
    for text in body[block.span.start : block.span.end].split("\t"):
        spans.append(Span(start, start + len(text)))
        start += len(text) + 1
    heads = [" ".join(body[span.start : span.end].split()) for span in spans[: _n_heads(body, block, spans)]]
    row = " ".join(filter(None, heads))
    return tuple(
        TableCell(
            span=span,
            column=block.header[number] if number < len(block.header) else "",
            row="" if number < len(heads) else row,
        )
        for number, span in enumerate(spans)
        if body[span.start : span.end].strip()
    )


def cell_at(body: str, block: Block, span: Span) -> TableCell | None:
    """The cell that *span* stands in, or None when it reaches over several or is in no table."""
    for cell in cells(body, block):
        if cell.span.start <= span.start and span.end <= cell.span.end:
            return cell
    return None


def _n_heads(body: str, block: Block, spans: list[Span]) -> int:
    if block.row_heads:
        return min(block.row_heads, len(spans))
    if not block.header or len(spans) < 2 or not 0 < spans[0].end - spans[0].start <= _MAX_NAME_CHARS:
        return 0
    return 1
