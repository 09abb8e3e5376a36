"""Deep links: the directive names the quoted words, at word edges, with context only where it is needed."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.evidence.fragments import text_fragment
from firsthand.evidence.quotes import cut
from firsthand.values import Quote, Span

BODY = "Intro\nThe limit is ten, by default - see below. Later: the limit is ten, for good.\nEnd of it"


def quote_of(words: str, body: str = BODY) -> Quote:
    start = body.index(words)
    return cut(body, Span(start, start + len(words)))


@pytest.mark.parametrize(
    ("url", "words", "wanted"),
    [
        ("http://a.example/p", "by default - see", "http://a.example/p#:~:text=by%20default%20%2D%20see"),
        ("http://a.example/p#top", "for good", "http://a.example/p#top:~:text=for%20good"),
        ("http://a.example/p#top:~:text=old", "for good", "http://a.example/p#top:~:text=for%20good"),
        ("http://a.example/p", "efault - see below", "http://a.example/p#:~:text=%2D%20see%20below"),
        ("http://a.example/p", "for good.\nEnd of it", "http://a.example/p#:~:text=for%20good.,End%20of%20it"),
        (
            "http://a.example/p",
            "the limit is ten",
            "http://a.example/p#:~:text=default%20%2D%20see%20below.%20Later%3A-,the%20limit%20is%20ten,-%2C%20for",
        ),
    ],
)
def test_a_link_names_the_quoted_words(url: str, words: str, wanted: str) -> None:
    assert text_fragment(url, quote_of(words), body=BODY) == wanted


def test_a_long_quote_is_named_by_its_ends() -> None:
    body = " ".join(f"word{n}" for n in range(100))
    link = text_fragment("http://a.example/", cut(body, Span(0, len(body))), body=body)
    assert unquote(link).endswith("#:~:text=word0 word1 word2 word3 word4,word95 word96 word97 word98 word99")


@given(st.text(max_size=80), st.data())
def test_a_directive_holds_no_sign_that_would_split_it(body: str, data: st.DataObject) -> None:
    if not body:
        return
    start = data.draw(st.integers(0, len(body) - 1))
    link = text_fragment("http://a.example/", cut(body, Span(start, len(body))))
    if "#" in link:
        directive = link.partition("#:~:text=")[2]
        assert directive.isascii() and "&" not in directive and " " not in directive
        assert 1 <= len(directive.split(",")) <= 4
