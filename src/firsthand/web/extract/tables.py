"""Tables: which of them hold data, and how their cells become rows that carry the names of their columns.

A row's text is its cells in order with a tab between them, an empty cell for every column that a span covers, so the
n-th cell stands under the n-th name of ``header``. Spans are clamped: a page cannot make a row longer than its cells.
"""

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
_BOLD = frozenset({"b", "strong"})
_SILENT = frozenset({"script", "style", "template", "noscript"})
_INPUTS = frozenset({"input", "select", "textarea"})
_FIGURES = "0123456789$€£¥₹±+-−<>≤≥~≈"
_HEAD_CHARS = 60  # guess: a name of a column is shorter
# Judged by eye on 90 tables of WCXB dev: 87 were right, and two of the wrong kinds were mended afterwards (2026-12-01);
# tests/data/tables.jsonl holds one of each kind.
_LONG_CELL_CHARS = 250  # on average, without header cells: an author beside a post, a menu beside a page
_LONG_HEADED_CELL_CHARS = 1200  # the same with header cells
_FEW_SPACERS = 0.2  # share of rows without a cell: they only make room


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


@dataclass(slots=True)
class Row:
    """The row being read. ``column`` is where it begins: later than 0 after something hidden in its middle."""

    column: int = 0
    cells: list[Cell] = field(default_factory=list)
    in_head: bool = False
    is_piece: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A row that was read: its text, the names of the columns it begins at, how many of its cells name it."""

    text: str
    header: tuple[str, ...]
    row_heads: int
    is_header: bool


@dataclass(slots=True)
class Table:
    """A data table being read."""

    group: int
    caption: str = ""
    header: tuple[str, ...] = ()
    n_rows: int = 0  # of data, so far
    has_plain_head: bool = False  # no header cells, but a first row that names the columns
    _reaching: dict[int, int] = field(default_factory=dict)  # column → rows that a cell above still covers
    _heads_reaching: set[int] = field(default_factory=set)  # those of them that a header cell covers
    _was_header: bool = False

    def line(self, row: Row, *, is_last_piece: bool) -> Line | None:
        """The row as it stands in the text, or None if it has no words; its cells are taken from it.

        Header rows before any data, each under the other, make one header. A later row of two or more header cells
        begins a header of its own. The names of a row are its first cells, as far as they are header cells.
        """
        first = row.column
        row_heads = self._row_heads(row)
        texts, spread, row.column = self.place(row, is_last_piece=is_last_piece)
        cells, row.cells = row.cells, []
        text = "\t".join(texts).rstrip("\t")
        if not text.strip():
            return None
        is_header = is_last_piece and not row.is_piece and self._is_header(row, cells)
        header: tuple[str, ...] = ()
        if is_header:
            if not self._was_header:
                self.header = ()
            self.add_header(spread)
            row_heads = 0
        else:
            self.n_rows += 1
            header = self.header[first : first + len(texts)]
        self._was_header = is_header
        return Line(text, header, min(row_heads, text.count("\t") + 1), is_header)

    def place(self, row: Row, *, is_last_piece: bool) -> tuple[list[str], list[str], int]:
        """The texts of *row* one a column, empty where a span covers; the same with each cell's words in all its
        columns; and the column after its last cell."""
        texts: list[str] = []
        spread: list[str] = []
        column = row.column
        reaching: dict[int, int] = {}
        heads: set[int] = set()
        for cell in row.cells:
            while self._reaching.get(column, 0) > 0 and len(texts) < MAX_COLUMNS:
                texts.append("")
                spread.append("")
                column += 1
            text = " ".join(cell.parts)
            for offset in range(max(1, min(cell.colspan, MAX_COLUMNS - len(texts)))):
                texts.append("" if offset else text)
                spread.append(text)
                if cell.rowspan > 1:
                    reaching[column] = cell.rowspan
                    if cell.is_header:
                        heads.add(column)
                column += 1
        if is_last_piece:
            self._reaching = {key: left - 1 for key, left in self._reaching.items() if left > 1}
            self._heads_reaching.intersection_update(self._reaching)
        self._reaching |= {key: left - is_last_piece for key, left in reaching.items()}
        self._heads_reaching |= heads
        return texts, spread, column

    def add_header(self, spread: list[str]) -> None:
        """Take one more line of header cells: "Strength" over "MPa" makes "Strength MPa"."""
        pairs = zip_longest(self.header[:MAX_COLUMNS], spread[:MAX_COLUMNS], fillvalue="")
        self.header = tuple(above if above == below else f"{above} {below}".strip() for above, below in pairs)

    def _is_header(self, row: Row, cells: list[Cell]) -> bool:
        if not cells:
            return False
        if self.n_rows == 0:
            is_first = not self.header and self.has_plain_head
            return row.in_head or is_first or all(cell.is_header for cell in cells)
        named = [cell for cell in cells if cell.parts]
        return len(named) > 1 and all(cell.is_header for cell in cells)

    def _row_heads(self, row: Row) -> int:
        """How many columns at the row's beginning hold its names."""
        if row.column:
            return 0
        column = heads = 0
        for cell in row.cells:
            while self._reaching.get(column, 0) > 0 and column < MAX_COLUMNS:
                heads = column + 1 if column in self._heads_reaching and heads == column else heads
                column += 1
            if not cell.is_header or column >= MAX_COLUMNS:
                break
            column += cell.colspan
            heads = column
        return heads


def table_of(table: LexborNode, attributes: Mapping[str, str | None], group: int) -> Table | None:
    """A table to be read with this number if *table* holds rows of data and is no means of placing things; else None.

    Cost: linear in the table, and it stops at the first table inside, so nesting costs nothing extra.
    """
    role = (attributes.get("role") or "").strip().lower()
    summary = (attributes.get("summary") or "").lower()
    if role in ("presentation", "none") or "layout" in summary or "navigation" in summary:
        return None
    shape = _shape_of(table)
    if shape is None or not shape.holds_data():
        return None
    return Table(group, has_plain_head=shape.has_plain_head())


class _Shape:
    """What a table is made of, counted in one pass."""

    def __init__(self) -> None:
        self.n_rows = self.n_empty_rows = self.n_cells = self.n_filled = self.n_th = self.widest = 0
        self.n_heavy = self.n_blocks = self.n_inputs = self.chars = 0
        self.has_caption = False
        self._n_bold_rows = 0
        self._first: list[str] = []  # how the cells of the first row begin
        self._first_is_bold = self._first_is_short = False
        self._n_values: list[int] = []  # of each column, below the first row
        self._n_figures: list[int] = []

    def add_row(self, begins: list[str], lengths: list[int], n_bold: int) -> None:
        """Count a row: the first words of each of its cells or nothing, their lengths, how many are all bold."""
        self.n_empty_rows += not begins
        self.widest = max(self.widest, len(begins))
        n_filled = sum(map(bool, begins))
        is_bold = n_filled > 1 and n_bold == n_filled
        self._n_bold_rows += is_bold
        if not self._first:
            self._first, self._first_is_bold = begins, is_bold
            self._first_is_short = max(lengths, default=0) <= _HEAD_CHARS
            return
        for column, begin in enumerate(begins[:MAX_COLUMNS]):
            if column == len(self._n_values):
                self._n_values.append(0)
                self._n_figures.append(0)
            self._n_values[column] += begin != ""
            self._n_figures[column] += begin[:1] in _FIGURES and begin != ""

    def holds_data(self) -> bool:
        """Two columns or more of cells that are not pages of their own."""
        if self.widest < 2 or self.n_filled < 2:
            return False
        if self.n_heavy * 2 > self.n_cells or self.n_blocks > 3 * self.n_cells:
            return False
        chars = self.chars / self.n_filled
        if self.n_th or self.has_caption:
            return chars <= _LONG_HEADED_CELL_CHARS
        if self.n_rows < 2 or self.n_empty_rows > _FEW_SPACERS * self.n_rows or self.n_inputs * 4 >= self.n_cells:
            return False
        return chars <= _LONG_CELL_CHARS

    def has_plain_head(self) -> bool:
        """Whether the first row names the columns though no cell is a header cell: it alone is bold, or it alone has
        words in a column of figures."""
        if self.n_th or self.n_rows < 3:
            return False
        if self._first_is_bold:
            return self._n_bold_rows == 1
        if self.widest < 3 or not self._first_is_short or len(self._first) < self.widest or not all(self._first[1:]):
            return False
        if any(begin.endswith(":") for begin in self._first):  # names beside values, two pairs in a row
            return False
        return any(
            n_values > 1 and n_figures * 5 >= n_values * 4 and begin[:1] not in _FIGURES
            for begin, n_values, n_figures in zip(self._first, self._n_values, self._n_figures, strict=False)
        )


def _shape_of(table: LexborNode) -> _Shape | None:
    """The counts of a table, or None if another table is inside."""
    shape = _Shape()
    begins: list[str] = []  # of the row
    lengths: list[int] = []
    n_bold_cells = 0
    begin, chars, bold_chars = "", 0, 0  # of the cell
    n_bold = 0
    parents: list[LexborNode] = []
    node = table.first_child
    while True:
        if node is None:
            if not parents:
                return shape
            above = parents.pop()
            tag = above.tag
            if tag in _BOLD:
                n_bold -= 1
            elif tag in ("td", "th"):
                shape.n_filled += chars > 0
                n_bold_cells += 0 < chars == bold_chars
                begins.append(begin)
                lengths.append(chars)
            elif tag == "tr":
                shape.add_row(begins, lengths, n_bold_cells)
            node = above.next
            continue
        tag = node.tag or ""
        if tag == "-text":
            words = (node.text_content or "").strip()
            shape.chars += len(words)
            begin = begin or words
            chars += len(words)
            bold_chars += len(words) if n_bold else 0
        elif tag == "table":
            return None
        elif tag not in _SILENT and tag[:1] != "-":
            if tag == "tr":
                shape.n_rows += 1
                begins, lengths, n_bold_cells = [], [], 0
            elif tag in ("td", "th"):
                shape.n_cells += 1
                shape.n_th += tag == "th"
                begin, chars, bold_chars = "", 0, 0
            elif tag in _BOLD:
                n_bold += 1
            else:
                shape.n_heavy += tag in _HEAVY
                shape.n_blocks += tag in ("p", "div")
                shape.n_inputs += tag in _INPUTS
                shape.has_caption = shape.has_caption or tag == "caption"
            parents.append(node)
            node = node.first_child
            continue
        node = node.next
