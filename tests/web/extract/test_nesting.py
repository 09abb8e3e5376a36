"""Depth, breadth and other excess: what a page says is kept, or the outcome says that a limit was met."""

from __future__ import annotations

import pytest

from firsthand.errors import ExtractionFailed
from firsthand.web.extract import extract
from firsthand.web.extract.drafts import MAX_BLOCKS

URL = "https://a.example/x"
NESTS = [
    ("<div>", "</div>"), ("<div>", ""), ("<span>", "</span>"), ("<b>", "</b>"), ("<b><p>", ""), ("<a href=x>", ""),
    ("<ul><li>", "</li></ul>"), ("<dl><dd>", ""), ("<blockquote>", "</blockquote>"), ("<section><p>", ""),
    ("<table><tr><td>", "</td></tr></table>"), ("<math><mi>", ""), ("<ruby><rt>", ""), ("<x-y>", "</x-y>"),
]  # fmt: skip
DEEPEST = [("<div>", "</div>"), ("<section><p>", ""), ("<table><tr><td>", "</td></tr></table>")]


def body_of(source: str) -> str:
    """The text of an HTML page, or the code of what went wrong."""
    try:
        return extract(source.encode(), url=URL, content_type="text/html").body
    except ExtractionFailed as error:
        return error.code


@pytest.mark.parametrize(
    ("opening", "closing", "depth"),
    [(*nest, depth) for depth in (300, 5_000) for nest in NESTS] + [(*nest, 100_000) for nest in DEEPEST],
)
def test_no_depth_swallows_the_words_inside_or_after_it(opening: str, closing: str, depth: int) -> None:
    body = body_of(opening * depth + "<p>Needle deep down</p>" + closing * depth + "<p>Another after it</p>")
    assert body == "parse_limit" or ("Needle deep down" in body and "Another after it" in body)
    assert depth > 300 or body != "parse_limit"


def test_a_colspan_of_an_astronomer_is_clamped() -> None:
    row = '<tr><td colspan="9007199254740991">Needle</td><td rowspan="99999999999">beside</td></tr>'
    text = extract(f"<table>{row * 3}</table>".encode(), url=URL, content_type="text/html")
    words = [text.body[block.span.start : block.span.end].split("\t") for block in text.blocks]
    assert [[cell for cell in cells if cell] for cells in words] == [["Needle", "beside"]] * 3
    assert max(map(len, words)) <= 200


@pytest.mark.parametrize(
    "trap",
    ["<![", "<![\x01", "<![CDATA[", "<![if !IE]>", "<![endif]-->", "<!", "<?", "</", "<!-->", "<!--->", "<!doctype\x02", "&#", "&#x110000;", "<a b='", "\x00<"],
)  # fmt: skip
def test_markup_that_breaks_the_standard_reader_breaks_nothing_here(trap: str) -> None:
    assert body_of(f"<p>Needle</p>{trap}").startswith("Needle")


def test_more_tags_than_a_page_may_have_meet_a_limit_at_once() -> None:
    assert body_of("<p>" * 1_000_000) == "parse_limit"


def test_more_blocks_than_can_be_handed_over_meet_a_limit() -> None:
    with pytest.raises(ExtractionFailed) as caught:
        extract(b"a\n\n" * (MAX_BLOCKS + 1), url=URL, content_type="text/plain")
    assert (caught.value.code, caught.value.facts["limit_kind"]) == ("parse_limit", "blocks")
