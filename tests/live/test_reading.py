"""A page's text for somebody who asked for it: Markdown for people, blocks for programs, refusals as values."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from firsthand.live import reading
from firsthand.live.extraction import Extraction
from firsthand.live.reach import Reach
from firsthand.live.reading import ReadPage, read_source
from firsthand.settings import Settings
from firsthand.values import Anchor, Block, HiddenBlock, Span, Text
from tests.commands import as_dicts
from tests.web.extract.test_pdf import PAGES, pdf

PAGE = """<!doctype html><html lang="en"><head><title>Retries</title></head><body>
<nav><a href="/">Home</a></nav>
<main><h1>Retries</h1><p>A request is sent again at most three times, with a pause that doubles each time it fails.</p>
<ul><li>first<ul><li>inner</li></ul></li><li>second</li></ul>
<pre><code>def retry():
    return 3
</code></pre>
<table><tr><th>Name</th><th>Default</th></tr><tr><td>times</td><td>3 | 4</td></tr></table>
<blockquote>Never give up too early.</blockquote></main></body></html>"""


@pytest.fixture
async def reach(tmp_path: Path) -> AsyncIterator[Reach]:
    made = Reach(Settings(home=tmp_path))
    yield made
    await made.aclose()


async def read(source: str, reach: Reach) -> ReadPage:
    extraction = Extraction(1)
    try:
        return await read_source(source, reach, extraction)
    finally:
        extraction.close()


async def test_markdown_shows_each_kind_as_what_it_is(tmp_path: Path, reach: Reach) -> None:
    (tmp_path / "a.html").write_text(PAGE)
    page = await read(str(tmp_path / "a.html"), reach)
    assert page.markdown(everything=False) == (
        "# Retries\n\n"
        "A request is sent again at most three times, with a pause that doubles each time it fails.\n\n"
        "- first\n  - inner\n- second\n\n"
        "```\ndef retry():\n    return 3\n```\n\n"
        "| Name | Default |\n| --- | --- |\n| times | 3 \\| 4 |\n\n"
        "> Never give up too early.\n"
    )
    assert "Home" in page.markdown(everything=True)


async def test_the_json_form_has_the_fields_of_the_contract_and_spans_that_cut_the_text(
    tmp_path: Path, reach: Reach
) -> None:
    (tmp_path / "a.html").write_text(PAGE)
    page = await read(str(tmp_path / "a.html"), reach)
    value = page.as_json()
    assert list(value) == [
        "source", "url", "outcome", "media_type", "charset", "declared_charset", "title", "author", "published_at",
        "modified_at", "language", "site_name", "canonical_url", "fact_sources", "extractor", "text", "blocks", "hidden",
        "n_hidden", "n_invisible",
    ]  # fmt: skip
    blocks = value["blocks"]
    assert page.text is not None and isinstance(blocks, list)
    for block in blocks:
        assert isinstance(block, dict)
        assert list(block)[:7] == ["kind", "main", "score", "heading", "text", "start", "end"]
        assert page.text.body[block["start"] : block["end"]] == block["text"]  # type: ignore[index]


def test_the_json_form_says_of_a_block_what_only_some_have_and_keeps_the_hidden_apart() -> None:
    body = "See the pump and a valve.\nSeal\t200"
    blocks = (
        Block("item", Span(0, 25), ordinal=3, level=1, visibility="collapsed", reason="details"),
        Block("row", Span(26, 34), header=("Part", "Hours"), row_heads=1, caption="Upkeep", page_number=2),
    )
    anchors = (Anchor(Span(8, 12), 1), Anchor(Span(19, 24), 0), Anchor(Span(26, 30), 1))
    hidden = (HiddenBlock("paragraph", "Buy it.", "off_screen", 7),)
    text = Text(
        body, blocks, "text/html", declared_charset="latin-1", site_name="Holm", canonical_url="https://a.example/p",
        links=("https://a.example/v", "https://a.example/pump"), anchors=anchors, hidden=hidden, n_hidden=1,
        n_invisible=4, fact_sources={"site_name": "og:site_name"}, extractor="firsthand-blocks", extractor_version="9",
    )  # fmt: skip
    row = ReadPage("a.html", "file:///a.html", "ok", text=text).as_json()

    facts = ("declared_charset", "site_name", "canonical_url", "fact_sources", "extractor", "n_hidden", "n_invisible")
    assert [row[name] for name in facts] == [
        "latin-1", "Holm", "https://a.example/p", {"site_name": "og:site_name"}, "firsthand-blocks/9", 1, 4,
    ]  # fmt: skip
    assert row["hidden"] == [{"kind": "paragraph", "text": "Buy it.", "reason": "off_screen", "at": 7}]
    assert row["text"] == body and "Buy" not in str(row["blocks"])
    first, second = as_dicts(row["blocks"])
    assert {name: first[name] for name in list(first)[7:]} == {
        "level": 1,
        "ordinal": 3,
        "visibility": "collapsed",
        "reason": "details",
        "links": [
            {"start": 8, "end": 12, "url": "https://a.example/pump"},
            {"start": 19, "end": 24, "url": "https://a.example/v"},
        ],
    }
    assert {name: second[name] for name in list(second)[7:]} == {
        "header": ["Part", "Hours"],
        "row_heads": 1,
        "caption": "Upkeep",
        "page_number": 2,
        "links": [{"start": 26, "end": 30, "url": "https://a.example/pump"}],
    }


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("missing.html", "not_found"),
        (".", "unsupported"),
        ("pipe", "unsupported"),
        ("large.txt", "too_large"),
        ("n" * 400, "failed"),
        ("http://127.0.0.1:1/", "blocked_by_policy"),
        ("http://169.254.169.254/latest/", "blocked_by_policy"),
        ("http://", "blocked_by_policy"),
    ],
)
async def test_a_refusal_is_a_value_with_its_outcome(
    tmp_path: Path, reach: Reach, monkeypatch: pytest.MonkeyPatch, source: str, outcome: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reading, "FILE_MAX_BYTES", 1000)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.txt").write_bytes(b"x" * 1001)
    page = await read(source, reach)
    assert (page.outcome, page.text) == (outcome, None)
    assert page.detail and set(page.as_json()) == {"source", "url", "outcome", "detail"}


async def test_the_blocks_of_a_pdf_say_which_page_they_stand_on(tmp_path: Path, reach: Reach) -> None:
    (tmp_path / "download").write_bytes(pdf(PAGES))
    row = (await read(str(tmp_path / "download"), reach)).as_json()
    assert (row["outcome"], row["media_type"]) == ("ok", "application/pdf")
    assert [block["page_number"] for block in row["blocks"]] == [1, 1, 2]  # type: ignore[index, union-attr, call-overload]


WRITTEN = """---
title: Retries
---
# Retries

A request is sent *again*
at most three times.

| name | default |
| --- | --- |
| times | 3 |

1. one
2. two
   - inner

* x

> Never give up
> too early.

```python
times = 3
```
"""


@pytest.mark.parametrize("name", ["b.md", "b.markdown", "b.txt"])
@pytest.mark.parametrize("everything", [False, True])
async def test_what_is_written_to_be_read_is_shown_as_it_stands(
    tmp_path: Path, reach: Reach, name: str, everything: bool
) -> None:
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf\r\n" + WRITTEN.replace("\n", "\r\n").encode())
    assert (await read(str(tmp_path / name), reach)).markdown(everything=everything) == WRITTEN


async def test_text_in_an_old_encoding_is_shown_in_its_characters(tmp_path: Path, reach: Reach) -> None:
    words = "Das Gerät muß häufig geprüft werden, außer es läuft schon länger als drei Tage.\n\n- Öl prüfen\n"
    (tmp_path / "a.md").write_bytes(words.encode("latin-1"))
    assert (await read(str(tmp_path / "a.md"), reach)).markdown(everything=False) == words


@pytest.mark.parametrize(
    ("name", "source", "shown"),
    [
        (
            "a.json",
            '{"name": "demo", "nested": {"a": [1, 2, {"b": "long"}]}}',
            "- name: demo\n\n# nested\n\n## a\n\n- 1\n- 2\n- b: long\n",
        ),
        (
            "a.html",
            "<p>A table of the limits that stand in this manual.</p><table><caption>Limits</caption>"
            "<tr><th>Name</th><th>Value</th></tr><tr><td>times</td><td>3</td></tr></table>",
            "A table of the limits that stand in this manual.\n\n*Limits*\n\n"
            "| Name | Value |\n| --- | --- |\n| times | 3 |\n",
        ),
        (
            "b.html",
            "<p>The steps are numbered by hand on this page.</p><ul><li>1. Open it</li><li>Close it</li></ul>",
            "The steps are numbered by hand on this page.\n\n1. Open it\n- Close it\n",
        ),
        (
            "c.html",
            "<p>What a fence looks like is shown here once.</p><pre>````\ncode\n````</pre>",
            "What a fence looks like is shown here once.\n\n`````\n````\ncode\n````\n`````\n",
        ),
    ],
)
async def test_values_tables_items_and_code_are_shown_as_what_they_are(
    tmp_path: Path, reach: Reach, name: str, source: str, shown: str
) -> None:
    is_page = name.endswith("html")
    (tmp_path / name).write_text(f"<html><body><main>{source}</main></body></html>" if is_page else source)
    assert (await read(str(tmp_path / name), reach)).markdown(everything=False) == shown
