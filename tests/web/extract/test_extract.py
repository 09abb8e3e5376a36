"""The door of the extraction room: kinds of payload, failures, and what is loaded when."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from firsthand.errors import ExtractionFailed
from firsthand.values import Text
from firsthand.web.extract import extract

URL = "https://a.example/x"


def check_spans(text: Text) -> None:
    """Spans lie inside the body, in order, apart, and cut no white space at their ends but a table's empty first cells."""
    end = 0
    for block in text.blocks:
        said = text.body[block.span.start : block.span.end]
        assert end <= block.span.start < block.span.end <= len(text.body)
        assert said.strip()
        if block.kind not in ("row", "code"):
            assert said == said.strip()
            assert "\n" not in said
        end = block.span.end
    text.body.encode("utf-8")


@pytest.mark.parametrize(
    ("payload", "content_type", "media_type"),
    [
        (b"<p>Words.</p>", None, "text/html"),
        (b"<!DOCTYPE html><p>Words.", "text/plain", "text/html"),
        (b"Words < 3.", "text/html", "text/html"),
        (b"<b>bold</b> in a file of text", "text/plain", "text/plain"),
        (b"Plain words.", None, "text/plain"),
        (b'{"a": 1}', "application/json", "application/json"),
        (b"[1, 2]", None, "application/json"),
        (b"# Head\n\nWords.", "text/markdown", "text/markdown"),
        ("Größe".encode("utf-16"), "text/plain", "text/plain"),
        ("<html><body>Größe".encode("utf-16"), None, "text/html"),
    ],
)
def test_the_kind_is_decided_by_the_bytes(payload: bytes, content_type: str | None, media_type: str) -> None:
    assert extract(payload, url=URL, content_type=content_type).media_type == media_type


@pytest.mark.parametrize(
    "payload", [b"\x89PNG\r\n\x1a\n....", b"PK\x03\x04....", b"GIF89a", bytes(range(256)) * 8, b"\0" * 100]
)
def test_what_holds_no_text_is_unsupported(payload: bytes) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        extract(payload, url=URL)
    assert caught.value.outcome == "unsupported"


def test_a_drawing_is_unsupported_whatever_its_text() -> None:
    with pytest.raises(ExtractionFailed, match="image/svg"):
        extract(b"<svg><text>Words.</text></svg>", url=URL, content_type="image/svg+xml")


@pytest.mark.parametrize(
    ("payload", "outcome"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (b"<html><body><p> </p></body></html>", "empty"),
        (b"<p hidden>Words.</p>", "empty"),
        (b"<html><head><script src=a.js></script></head><body><div id=root></div></body></html>", "needs_javascript"),
        (b"<html><body><div id=app>Loading...</div><script>go()</script></body></html>", "needs_javascript"),
        (
            b"<body><noscript>You need to enable JavaScript to run this app.</noscript><script>x</script>",
            "needs_javascript",
        ),
    ],
)
def test_nothing_readable_says_why(payload: bytes, outcome: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        extract(payload, url=URL, content_type="text/html")
    assert caught.value.outcome == outcome


def test_a_forum_that_keeps_its_posts_in_noscript_is_read() -> None:
    posts = b"".join(b"<p>Post number %d with a few words in it.</p>" % number for number in range(20))
    text = extract(b"<html><body><script>x</script><noscript>" + posts + b"</noscript></body></html>", url=URL)
    assert len(text.blocks) == 20


def test_importing_the_room_loads_no_reader() -> None:
    source = (
        "import sys, json; import firsthand.web.extract as e; e.extract(b'<p>W\\xc3\\xb6rter', url='https://a.example/');"
        "print(json.dumps([m for m in ('pypdfium2', 'chardet', 'aiohttp', 'sqlalchemy') if m in sys.modules]))"
    )
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []


SOUP = st.lists(
    st.sampled_from(
        [
            "<p>",
            "</p>",
            "<b>",
            "</b>",
            "<table>",
            "<tr>",
            "<td colspan=3>",
            "<td rowspan=2>",
            "<th>",
            "</table>",
            "<ul>",
            "<li>",
            "</ul>",
            "<dl>",
            "<dt>",
            "<dd>",
            "<pre>",
            "</pre>",
            "<br>",
            "<h2>",
            "</h2>",
            "<a href='/x'>",
            "</a>",
            "<div hidden>",
            "</div>",
            "<!--",
            "-->",
            "<script>",
            "</script>",
            "&amp;",
            "&#0;",
            "&#x80;",
            "&#xD800;",
            "&notit;",
            "\0",
            "\u00ad",
            "e\u200b\u0301",
            "wort",
            " ",
            "\n",
            "<",
            ">",
            "<svg>",
            "<math>",
            "<select>",
            "<template>",
            "<noscript>",
            "<title>",
            "<caption>",
            "<base href='//['>",
            "<a href='http://[bad'>",
            "<frameset>",
            "<plaintext>",
        ]
    ),
    max_size=60,
)


@settings(max_examples=300, deadline=None)
@given(SOUP)
@example(["<table>", "<tr>", "<td rowspan=2>", "wort", "<div hidden>", "wort", "</div>", "wort"])
def test_any_tags_give_a_text_with_sound_spans_or_a_typed_failure(tags: list[str]) -> None:
    try:
        text = extract("".join(tags).encode("utf-8", "surrogatepass"), url=URL, content_type="text/html")
    except ExtractionFailed:
        return
    check_spans(text)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(
        [b"", b"<?xml version='1.0'?>", b"<rss>", b"<feed xmlns='a'>", b"{", b"[", b"---\n", b"\xff\xfe", b"\x1b$B"]
    ),
    st.binary(max_size=400),
    st.sampled_from([None, "text/html", "text/plain", "application/json", "text/markdown", "application/xml", "a/b"]),
)
def test_any_bytes_give_a_text_with_sound_spans_or_a_typed_failure(
    start: bytes, payload: bytes, content_type: str | None
) -> None:
    try:
        text = extract(start + payload, url=URL, content_type=content_type)
    except ExtractionFailed:
        return
    check_spans(text)
