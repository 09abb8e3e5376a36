"""A text as Markdown: each block as what it is, the words as they stand in the body.

Only words are shown, so that whatever is shown can be quoted: links stand in the JSON form, with their places. What is
said about the page rather than by it stands in comments, which Markdown does not take for text.
"""

from __future__ import annotations

import re
from collections import Counter

from firsthand.render import counted
from firsthand.values import Block, Text

_NUMBERED = re.compile(r"\d{1,3}[.)]\s")
_BULLET = "- "


def to_markdown(text: Text, *, everything: bool) -> str:
    """The main content of *text*; with *everything* the whole page in its order, and what is what.

    Then what is not main content and what a reader has to open is named as such, and what no reader sees is counted.
    """
    writer = _Writer(text)
    status = ""
    for block in text.blocks:
        if everything and (now := _status(block)) != status:
            if now or status:
                writer.note(now or "main content")
            status = now
        if block.main or everything:
            writer.write(block)
    if everything and (unseen := _unseen(text)):
        writer.note(unseen)
    return "\n".join(writer.lines).strip("\n") + "\n"


def _status(block: Block) -> str:
    """What keeps a block from being plain main content; nothing if it is."""
    parts = [] if block.main else ["not main content"]
    if block.visibility != "shown":
        parts.append(f"{block.visibility}: {block.reason}" if block.reason else block.visibility)
    return ", ".join(parts)


def _unseen(text: Text) -> str:
    """How much of the page no reader sees, and why; nothing if a reader sees all of it."""
    said = []
    if n_blocks := max(text.n_hidden, len(text.hidden)):
        reasons = [f"{reason} {n}" for reason, n in Counter(block.reason for block in text.hidden).most_common()]
        said.append(
            f"hidden from readers: {counted(n_blocks, 'block')}" + (f" ({', '.join(reasons)})" if reasons else "")
        )
    if text.n_invisible:
        said.append(f"left out: {counted(text.n_invisible, 'invisible character')}")
    return "; ".join(said)


class _Writer:
    """The lines so far, and what the next block goes on from."""

    def __init__(self, text: Text) -> None:
        self.lines: list[str] = []
        self._text = text
        self._last: Block | None = None
        self._widths: dict[
            int, int
        ] = {}  # of the marks of the items that are open, by depth: what is in them stands below
        self._groups: dict[int, int] = {}  # of these items
        self._headers = {block.group: block.header for block in text.blocks if block.kind == "row" and block.header}

    def note(self, words: str) -> None:
        """Say something about what follows; no list or table goes on across it."""
        self.lines += [*([""] if self.lines else []), f"<!-- {words} -->"]
        self._widths.clear()
        self._groups.clear()
        self._last = None

    def write(self, block: Block) -> None:
        """Add the lines of one block, with the blank line that parts it from the last."""
        words = self._text.body[block.span.start : block.span.end]
        kind = "item" if block.kind == "paragraph" and self._text.media_type == "application/json" else block.kind
        last = self._last
        self._last = block
        if kind != "item":
            self._widths.clear()
            self._groups.clear()
        goes_on = last is not None and kind == last.kind and bool(block.group) and block.group == last.group
        is_tree_line = kind != block.kind and last is not None and last.kind == block.kind  # values of JSON are lines
        if kind == "item":
            goes_on = goes_on or is_tree_line or self._groups.get(block.level, 0) == block.group != 0
            goes_on = goes_on or (last is not None and last.kind == "item" and block.level > last.level)
        is_joined = last is not None and (kind == "definition" or (goes_on and kind in ("item", "row")))
        if self.lines and not is_joined:
            self.lines.append("")
        match kind:
            case "heading":
                self.lines.append(f"{'#' * max(1, min(block.level, 6))} {words}")
            case "item":
                self._item(block, words)
            case "code":
                fence = "`" * max(3, 1 + max(map(len, re.findall("`+", words)), default=0))
                self.lines += [fence, words, fence]
            case "row":
                self.lines += _row(words, self._headers.get(block.group, ()), is_first=not goes_on)
            case "term":
                self.lines.append(f"**{words}**")
            case "definition":
                self.lines.append(f": {words}")
            case "quote":
                self.lines += [f"> {line}" for line in words.splitlines()]
            case "caption":
                self.lines.append(f"*{words}*")
            case _:
                self.lines.append(words)

    def _item(self, block: Block, words: str) -> None:
        """An item under the words of the one that holds it, with its number if it has one."""
        level = max(1, block.level)
        for deeper in [each for each in self._widths if each >= level]:
            del self._widths[deeper]
            self._groups.pop(deeper, None)
        indent = " " * sum(self._widths.get(each, len(_BULLET)) for each in range(1, level))
        mark = "" if _NUMBERED.match(words) else _BULLET if block.ordinal is None else f"{block.ordinal}. "
        self._widths[level] = len(mark) or len(_BULLET)
        self._groups[level] = block.group
        first, *rest = words.split("\n")
        self.lines += [indent + mark + first, *(f"{indent}{' ' * len(mark)}{line}" for line in rest)]


def _row(words: str, table_header: tuple[str, ...], *, is_first: bool) -> list[str]:
    """The lines of a table's row; the first one stands under the header, or is the header.

    *table_header* holds the cells of the row that heads the table; that row itself does not know it.
    """
    cells = [cell.replace("|", "\\|").strip() for cell in words.split("\t")]
    row = f"| {' | '.join(cells)} |"
    if not is_first:
        return [row]
    header = [cell.replace("|", "\\|").strip() for cell in table_header] or [""] * len(cells)
    top = [f"| {' | '.join(header)} |", "|" + " --- |" * max(len(header), len(cells))]
    return top if cells == header else [*top, row]
