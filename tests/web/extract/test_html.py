"""HTML to blocks: nothing visible is lost, nothing hidden is kept, every block can be quoted, nothing runs away."""

from __future__ import annotations

import re
import time
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.values import Text
from firsthand.web.extract import extract

URL = "https://a.example/dir/page.html"
LINE_ENDING = set(
    [
        "blockquote",
        "body",
        "br",
        "caption",
        "dd",
        "div",
        "dl",
        "dt",
        "h1",
        "h2",
        "h3",
        "html",
        "li",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "td",
        "th",
        "title",
        "tr",
        "ul",
    ]
)


class Reading(HTMLParser):
    """An independent judge: the words of a page in the order of its source, by the standard library alone."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append("\n" if tag in LINE_ENDING else "")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append("\n" if tag in LINE_ENDING else "")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def folded(text: str) -> str:
    return " ".join(re.sub("[\u00ad\u200b\u2060\ufeff]", "", unicodedata.normalize("NFC", text)).split())


def reading(source: str) -> str:
    judge = Reading()
    judge.feed(source)
    judge.close()
    return folded("".join(judge.parts))


def page(source: str) -> Text:
    return extract(source.encode(), url=URL, content_type="text/html; charset=utf-8")


def said(source: str) -> list[tuple[str, str]]:
    text = page(source)
    return [(block.kind, text.body[block.span.start : block.span.end]) for block in text.blocks]


WORDS = st.integers(0, 999_999).map(lambda number: f"w{number:06d}")
INLINE = st.recursive(
    WORDS | st.just(" ") | st.just("<br>") | st.just("&shy;"),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(["b", "i", "code", "span", "em", "sub"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=6,
)
HIDING = st.sampled_from(
    ["hidden", "aria-hidden=true", "style='display:none'", 'style="left:-9999px;position:absolute"']
)
HIDDEN = st.builds(lambda how, word: f"<span {how}>H{word}</span>", HIDING, WORDS)
RUN = st.lists(INLINE | INLINE | INLINE | HIDDEN, min_size=1, max_size=5).map("".join)


def _cells(rows: list[list[str]]) -> str:
    return (
        "<table>" + "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows) + "</table>"
    )


BLOCKS = st.recursive(
    RUN.map(lambda run: f"<p>{run}</p>") | RUN.map(lambda run: f"<h2>{run}</h2>") | RUN | RUN.map(lambda run: f"<pre>x\n{run}</pre>")
    | st.lists(st.lists(RUN, min_size=1, max_size=3), min_size=1, max_size=3).map(_cells),
    lambda inner: st.builds(
        lambda opening, closing, parts: opening + "".join(parts) + closing,
        st.just("<div>"), st.just("</div>"), st.lists(inner, max_size=3),
    )
    | st.lists(inner, max_size=3).map(lambda parts: "<ul>" + "".join(f"<li>{part}</li>" for part in parts) + "</ul>")
    | st.lists(inner, max_size=2).map(lambda parts: "<dl>" + "".join(f"<dt>t</dt><dd>{part}</dd>" for part in parts) + "</dl>")
    | inner.map(lambda part: f"<blockquote>{part}</blockquote>")
    | inner.map(lambda part: f"<table><tr><td>{part}</td></tr></table>"),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(BLOCKS)
def test_every_visible_word_is_kept_every_hidden_one_left_out_and_every_block_stands_in_the_source(source: str) -> None:
    source = f"<html><body>{source} <p>end</p></body></html>"
    text = page(source)
    words = re.sub(r"\s|­", "", text.body)
    for word in re.findall(r"(?<!H)w\d{6}", source):
        assert word in words
    assert not re.search(r"Hw\d{6}", text.body)
    judge = reading(source)
    for block in text.blocks:
        assert folded(text.body[block.span.start : block.span.end]) in judge


def test_inline_borders_add_no_space_and_breaks_and_blocks_do() -> None:
    assert said("<p><code>a</code>b<b>c</b> d<br>line</p>e<div>f</div>g") == [
        ("paragraph", "abc d line"),
        ("paragraph", "e"),
        ("paragraph", "f"),
        ("paragraph", "g"),
    ]


def test_code_keeps_its_lines_and_indentation() -> None:
    assert said("<pre>\n  a\n\n\tb  \n</pre>") == [("code", "  a\n\n\tb")]


def test_text_is_composed_before_offsets_are_made() -> None:
    assert said("<p>cafe\u0301 \u212b</p>") == [("paragraph", "café Å")]


def test_entities_are_decoded_once_and_nul_is_dropped() -> None:
    assert said("<p>&amp;lt; &#x80; a\0b &notin;</p>") == [("paragraph", "&lt; € ab ∉")]


def test_an_empty_script_of_xhtml_does_not_swallow_the_page() -> None:
    source = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js" /></head><body><p>x</p></body></html>'
    assert said(source) == [("paragraph", "x")]


def test_a_permalink_sign_is_in_no_heading_and_a_block_ends_before_one_in_its_middle() -> None:
    source = '<h2>Size<a class="headerlink" href="#size">¶</a></h2><h3>A <a class="anchor" href="#a">#</a>b</h3><p>See § 5.</p>'
    assert said(source) == [("heading", "Size"), ("heading", "A"), ("heading", "b"), ("paragraph", "See § 5.")]


def test_headings_make_a_path_that_closes_at_the_same_level() -> None:
    text = page("<h1>A</h1><h2>B</h2><p>x</p><h2>C</h2><h3>D</h3><p>y</p><h1>E</h1><p>z</p>")
    assert [block.headings for block in text.blocks if block.kind == "paragraph"] == [
        ("A", "B"),
        ("A", "C", "D"),
        ("E",),
    ]


def test_ruby_and_math_are_read_and_drawings_are_not() -> None:
    source = "<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby></p><p><math><mi>x</mi><mo>=</mo><mn>1</mn></math></p><p><svg><title>t</title></svg>y</p>"
    assert said(source) == [("paragraph", "漢(kan)"), ("paragraph", "x=1"), ("paragraph", "y")]


def test_a_comment_between_two_words_parts_nothing() -> None:
    source = "<p>He said <!-- here stood a longer remark of the author -->something.</p>"
    assert said(source) == [("paragraph", "He said something.")]
    assert [block.reason for block in page(source).hidden] == ["comment"]
    row = "<table><tr><th>a<th>b<tr><td>1<!-- not to be shown before the spring -->2<td>3<tr><td>4<td>5</table>"
    assert [text for _, text in said(row)] == ["a\tb", "12\t3", "4\t5"]


def test_class_words_count_whole_and_never_those_of_the_body() -> None:
    text = page('<body class="menu"><div class="table-contents">Words here.</div><div class="menu">Away.</div></body>')
    assert [(block.main, block.score >= 0.5) for block in text.blocks] == [(True, True), (False, False)]


def test_a_form_round_the_whole_page_does_not_make_it_furniture() -> None:
    text = page("<form id=aspnetForm><h1>Title</h1><p>Words of the page itself, quite a few of them.</p></form>")
    assert all(block.main for block in text.blocks)


def test_links_are_absolute_in_order_and_once() -> None:
    text = page(
        "<base href='/b/'><a href='c#x'>1</a><a href=c>2</a><a href='#y'>3</a><a href='mailto:a@b'>4</a><a href='//o.example/ p'>5</a><a href='http://[::'>6</a>"
    )
    assert text.links == ("https://a.example/b/c", "https://o.example/%20p")


@pytest.mark.parametrize(
    ("source", "n_blocks"),
    [
        ("<div>" * 5_000 + "deep" + "</div>" * 5_000 + "<p>after", 2),
        ("<div><object></div></object>" * 20_000 + "x", 1),
        ("<table><tr><td>a<td>b" * 1_000, None),
        ("<ul><li>a" * 5_000, 5_000),
        ("<" * 1_000_000, 1),
        ("<p>x<div" * 100_000, None),
        ("".join(f"<b a{number}><p>x" for number in range(5_000)), 5_000),
        ("<p " + "".join(f"a{number}=1 " for number in range(50_000)) + ">x", 1),
        ("<table><tr><td colspan=9007199254740991 rowspan=-1>a<td>b<tr><td>c<td colspan=x>d</table>", 2),
        ("<table><tr><th>x" + "<td colspan=1000 rowspan=65534>a" * 5_000 + "</table>", 1),
        ("<p>a<li>b<td>c<b>d<i>e" * 2_000, None),
        ("<p style='color:" + "(" * 100_000 + "'>x", 1),
        ("<script type='application/ld+json'>" + "[" * 100_000 + "</script><p>x", 1),
    ],
    ids=["depth", "misplaced closing", "tables", "lists", "angle brackets", "unclosed tags", "formatting", "attributes", "colspan", "cells", "unclosed", "style", "data"],
)  # fmt: skip
def test_hostile_pages_are_read_in_bounded_time(source: str, n_blocks: int | None) -> None:
    began = time.process_time()
    text = page(source)
    assert n_blocks is None or len(text.blocks) == n_blocks
    assert time.process_time() - began < 10  # seconds; each takes below one, and minutes without its bound


XHTML = """<?xml version="1.0" encoding="koi8-r"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://127.0.0.1:9/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="ru"><head><title>T</title><script src="a.js"/></head>
<body><div class="sidebar"/><a id="x"/><p>Вода &nbsp;a<br/>b</p><div hidden="hidden"/><p>seen</p></body></html>"""


@pytest.mark.parametrize("content_type", [None, "application/xhtml+xml", "text/html", "application/octet-stream"])
def test_elements_that_xhtml_closes_in_their_tag_hold_nothing(content_type: str | None) -> None:
    text = extract(XHTML.encode("koi8-r"), url="https://a.example/", content_type=content_type)
    assert [(block.main, text.body[block.span.start : block.span.end]) for block in text.blocks] == [
        (True, "Вода a b"),
        (True, "seen"),
    ]
    assert (text.media_type, text.charset, text.language) == ("application/xhtml+xml", "koi8-r", "ru")
