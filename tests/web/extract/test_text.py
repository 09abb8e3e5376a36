"""Plain text and Markdown: blocks as a reader sees them, words as the file has them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import ExtractionFailed
from firsthand.values import Text
from firsthand.web.extract import extract

MARKDOWN = """---
title: "Tide tables"
date: 2026-11-29
author: Ida Holm
---
# Tides

Water **rises** twice a day; see [the table](table.md) and
[a page](https://tides.example/page "Page").

High water
----------

1. at six
   in the morning
2. at seven
   - in the evening

```python
print("# no heading")

| no | row |
```

Port | High
--- | ---:
Bergen | 06:10
Hamburg | 07:20

| Port | Low |
|------|-----|
| Bergen | 12:15 |

> It must never
> run dry.

    indented code

## Sources ##

[1]: https://tides.example/1
"""


def read(source: str, name: str = "x.md", content_type: str | None = None) -> Text:
    return extract(source.encode(), url=f"https://a.example/docs/{name}", content_type=content_type)


def said(text: Text) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, text.body[block.span.start : block.span.end]) for block in text.blocks]


def test_markdown_gives_blocks_in_the_words_of_its_source() -> None:
    text = read(MARKDOWN)
    assert said(text) == [
        ("code", 0, '---\ntitle: "Tide tables"\ndate: 2026-11-29\nauthor: Ida Holm\n---'),
        ("heading", 1, "Tides"),
        ("paragraph", 0, 'Water **rises** twice a day; see [the table](table.md) and [a page](https://tides.example/page "Page").'),
        ("heading", 2, "High water"),
        ("item", 1, "1. at six in the morning"),
        ("item", 1, "2. at seven"),
        ("item", 2, "in the evening"),
        ("code", 0, 'print("# no heading")\n\n| no | row |'),
        ("row", 0, "Port | High"),
        ("row", 0, "Bergen | 06:10"),
        ("row", 0, "Hamburg | 07:20"),
        ("row", 0, "| Port | Low |"),
        ("row", 0, "| Bergen | 12:15 |"),
        ("quote", 0, "> It must never > run dry."),
        ("code", 0, "indented code"),
        ("heading", 2, "Sources"),
        ("paragraph", 0, "[1]: https://tides.example/1"),
    ]  # fmt: skip
    assert (text.title, text.author, text.published_at) == ("Tide tables", "Ida Holm", "2026-11-29")
    assert text.links == (
        "https://a.example/docs/table.md",
        "https://tides.example/page",
        "https://tides.example/1",
    )
    headers = [block.header for block in text.blocks if block.kind == "row"]
    assert headers == [(), ("Port", "High"), ("Port", "High"), (), ("Port", "Low")]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert [words for _, _, words in said(read("---\n\nWords.\n"))] == ["---", "Words."]
    assert read("# Head\n\n---\ntitle: no\n---\n").title == "Head"


def test_quote_marks_five_thousand_deep_are_read() -> None:
    assert "Needle" in read("> " * 5000 + "Needle", content_type="text/markdown").body


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "koi8-r"])
def test_plain_text_is_read_in_whatever_encoding(codec: str) -> None:
    sentence = "Вода замерзает при нуле градусов." if codec == "koi8-r" else "Größe und Länge ändern sich täglich."
    text = extract(f"Title\n\n{sentence}\n".encode(codec), url="https://a.example/x.txt")
    assert text.body.endswith(sentence)


def test_a_fence_ends_where_nothing_stands_behind_it_and_begins_where_no_more_backticks_do() -> None:
    text = read("```py\nfirst\n```py\nsecond\n```\n\n```inline``` words\n")
    assert [(kind, words) for kind, _, words in said(text)] == [
        ("code", "first\n```py\nsecond"),
        ("paragraph", "```inline``` words"),
    ]


PIECES = ["# ", "## ", "- ", "1. ", "> ", "    ", "```\n", "~~~\n", "```wort` ",  "|", "---", "===", "\n", "\n\n", "wort", "*", "`a", "[a](b)", " ", "\t", "e\u0301", "\u200b", "---\ntitle: x\n---\n", "o  x", "\u2028"]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=50), st.sampled_from(["x.md", "x.txt"]))
def test_every_block_stands_in_the_source_and_no_word_is_lost(pieces: list[str], name: str) -> None:
    source = "".join(pieces)
    try:
        text = read(source, name, "text/plain")
    except ExtractionFailed as error:
        assert error.outcome == "empty"
        assert "wort" not in source
        return
    for _, _, words in said(text):
        assert folded(words) in folded(source)
    assert text.body.count("wort") == source.count("wort")


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text.replace("\u200b", "")).split())
