"""A text as Markdown: what a person sees of each kind of block, and what is said about the page beside it."""

from __future__ import annotations

from typing import Any

import pytest

from firsthand.live.markdown import to_markdown
from firsthand.values import Block, BlockKind, HiddenBlock, Span, Text


def text_of(*blocks: tuple[BlockKind, str, dict[str, Any]], **fields: Any) -> Text:
    """A text of *blocks*, given as kind, words and other fields."""
    body, made = "", []
    for kind, words, more in blocks:
        body += "\n" if body else ""
        made.append(Block(kind, Span(len(body), len(body) + len(words)), **more))
        body += words
    return Text(body, tuple(made), "text/html", **fields)


def item(
    words: str, group: int = 1, level: int = 1, ordinal: int | None = None
) -> tuple[BlockKind, str, dict[str, Any]]:
    return "item", words, {"group": group, "level": level, "ordinal": ordinal}


def main_of(text: Text) -> str:
    return to_markdown(text, everything=False)


def test_a_numbered_list_shows_its_numbers_and_what_stands_in_an_item_stands_below_its_words() -> None:
    shown = text_of(
        item("Fill it.", ordinal=9),
        item("Close it:", ordinal=10),
        item("by hand", group=2, level=2),
        item("deeper", group=3, level=3, ordinal=1),
        item("by force", group=2, level=2),
        item("Switch it on.", ordinal=11),
        item("Another list.", group=4),
        item("Of two\nlines.", group=4),
    )
    assert main_of(shown) == (
        "9. Fill it.\n10. Close it:\n    - by hand\n      1. deeper\n    - by force\n11. Switch it on.\n\n"
        "- Another list.\n- Of two\n  lines.\n"
    )


def test_a_number_that_stands_in_the_words_is_not_said_twice() -> None:
    assert main_of(text_of(item("3. Third.", ordinal=3), item("4) Fourth.", ordinal=4))) == "3. Third.\n4) Fourth.\n"


def test_an_item_that_says_its_depth_without_those_above_it_is_shown_at_its_depth() -> None:
    assert main_of(text_of(item("deep", level=3), item("up", level=1))) == "    - deep\n- up\n"


SOME: dict[str, Any] = {"visibility": "collapsed", "reason": "details"}
PAGE = text_of(
    ("paragraph", "Home", {"main": False}),
    ("heading", "Pump", {"level": 1}),
    ("paragraph", "It lifts water.", {}),
    ("paragraph", "Measured in a yard.", SOME),
    ("paragraph", "On a mat.", SOME),
    ("paragraph", "It is loud.", {}),
    ("row", "Part\tHours", {"group": 1}),
    ("row", "Seal\t200", {"group": 1, "main": False, "visibility": "collapsed", "header": ("Part", "Hours")}),
    hidden=(
        HiddenBlock("paragraph", "It never breaks.", "display_none", 5),
        HiddenBlock("paragraph", "Buy it.", "off_screen", 5),
        HiddenBlock("item", "Order now.", "display_none", 20),
    ),
    n_hidden=3,
    n_invisible=1,
)


def test_main_content_is_shown_plain_also_what_a_reader_has_to_open() -> None:
    assert main_of(PAGE) == (
        "# Pump\n\nIt lifts water.\n\nMeasured in a yard.\n\nOn a mat.\n\nIt is loud.\n\n| Part | Hours |\n| --- | --- |\n"
    )


def test_the_whole_page_says_what_is_not_main_what_is_collapsed_and_counts_what_no_reader_sees() -> None:
    assert to_markdown(PAGE, everything=True) == (
        "<!-- not main content -->\n\nHome\n\n<!-- main content -->\n\n# Pump\n\nIt lifts water.\n\n"
        "<!-- collapsed: details -->\n\nMeasured in a yard.\n\nOn a mat.\n\n<!-- main content -->\n\nIt is loud.\n\n"
        "| Part | Hours |\n| --- | --- |\n\n"
        "<!-- not main content, collapsed -->\n\n| Part | Hours |\n| --- | --- |\n| Seal | 200 |\n\n"
        "<!-- hidden from readers: 3 blocks (display_none 2, off_screen 1); left out: 1 invisible character -->\n"
    )


@pytest.mark.parametrize("everything", [False, True])
def test_nothing_hidden_is_ever_shown(everything: bool) -> None:
    shown = to_markdown(PAGE, everything=everything)
    assert not any(block.text in shown for block in PAGE.hidden)


def test_a_page_that_is_all_main_and_all_seen_is_shown_without_a_word_about_it() -> None:
    plain = text_of(("paragraph", "Water boils.", {}), ("code", "a = `1`", {}))
    assert to_markdown(plain, everything=True) == main_of(plain) == "Water boils.\n\n```\na = `1`\n```\n"


def test_a_text_without_blocks_is_an_empty_line_or_what_was_hidden() -> None:
    assert main_of(text_of()) == "\n"
    assert to_markdown(text_of(n_hidden=2), everything=True) == "<!-- hidden from readers: 2 blocks -->\n"
