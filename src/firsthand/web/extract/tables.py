"""Tables: which of them hold data, and how their cells become rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from selectolax.lexbor import LexborNode

MAX_COLUMNS = 50  # the HTML standard allows 1,000 columns; no reader's table has more than this, and a row is a line
MAX_ROWS_SPANNED = 1000
_HEAVY = frozenset(
    ["h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "pre", "blockquote", "form", "article", "section"]
)
_LONG_CELL_CHARS = 400  # guess: a cell of a two-row table with more is a column of a page


def span_of(value: str | None, limit: int) -> int:
    """A colspan or rowspan as a number between 1 and *limit*, whatever was written."""
    digits = (value or "").strip()[:20]
    return max(1, min(int(digits), limit)) if digits.isascii() and digits.isdigit() else 1


@dataclass(slots=True)
class Cell:
    """One cell: the words gathered so far, and where it reaches."""

    is_header: bool
    colspan: int
    rowspan: int
    parts: list[str] = field(default_factory=list)
    link_chars: float = 0.0


@dataclass(slots=True)
class Row:
    """The row being read. ``column`` is where it begins: later than 0 after something hidden in its middle."""

    column: int = 0
    cells: list[Cell] = field(default_factory=list)
    in_head: bool = False
    is_piece: bool = False


@dataclass(slots=True)
class Table:
    """A data table being read."""

    group: int
    caption: str = ""
    header: tuple[str, ...] = ()
    n_rows: int = 0
    _reaching: dict[int, int] = field(default_factory=dict)  # column → rows that a cell above still covers

    def place(self, row: Row, *, is_last_piece: bool) -> tuple[list[str], list[str], int]:
        """The texts of *row* one a column, empty where a span covers; the same with each cell's words in all its
        columns; and the column after its last cell."""
        texts: list[str] = []
        spread: list[str] = []
        column = row.column
        reaching: dict[int, int] = {}
        for cell in row.cells:
            while self._reaching.get(column, 0) > 0 and len(texts) < MAX_COLUMNS:
                texts.append("")
                spread.append("")
                column += 1
            text = " ".join(cell.parts)
            for offset in range(cell.colspan if len(texts) < MAX_COLUMNS else 1):
                texts.append("" if offset else text)
                spread.append(text)
                if cell.rowspan > 1:
                    reaching[column] = cell.rowspan
                column += 1
        if is_last_piece:
            self._reaching = {key: left - 1 for key, left in self._reaching.items() if left > 1}
        self._reaching |= {key: left - is_last_piece for key, left in reaching.items()}
        return texts, spread, column

    def add_header(self, spread: list[str]) -> None:
        """Take one more line of header cells: "Strength" over "MPa" makes "Strength MPa"."""
        pairs = zip_longest(self.header[:MAX_COLUMNS], spread[:MAX_COLUMNS], fillvalue="")
        self.header = tuple(f"{above} {below}".strip() for above, below in pairs)


def is_data_table(table: LexborNode, attributes: Mapping[str, str | None]) -> bool:
    """Whether *table* holds rows of data: two columns or more, and cells that are not pages of their own.

    Cost: linear in the table, and it stops at the first table inside, so nesting costs nothing extra.
    """
    if (attributes.get("role") or "").lower() in ("presentation", "none"):
        return False
    n_rows = n_cells = n_heavy = n_blocks = n_th = chars = cells_here = widest = 0
    node = table.first_child
    parents: list[LexborNode | None] = []
    while True:
        if node is None:
            if not parents:
                break
            above = parents.pop()
            node = above.next if above is not None else None
            continue
        tag = node.tag
        if tag == "-text":
            chars += len(node.text_content or "")
            node = node.next
            continue
        if tag == "table":
            return False
        if tag == "tr":
            n_rows += 1
            widest, cells_here = max(widest, cells_here), 0
        elif tag in ("td", "th"):
            n_cells += 1
            cells_here += 1
            n_th += tag == "th"
        elif tag in _HEAVY:
            n_heavy += 1
        elif tag in ("p", "div"):
            n_blocks += 1
        parents.append(node)
        node = node.first_child
    widest = max(widest, cells_here)
    if widest < 2 or n_heavy * 2 > n_cells or n_blocks > 3 * n_cells:
        return False
    return bool(n_th) or n_rows > 2 or chars <= _LONG_CELL_CHARS * n_cells
