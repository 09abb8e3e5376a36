"""Quotes: cut exactly, found again exactly or folded, and refused when they say too little."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidInput
from firsthand.evidence.quotes import CONTEXT_CHARS, cut, fold, locate, objection
from firsthand.values import Span, Verdict

TEXTS = st.text(
    alphabet=st.sampled_from(
        "abe\u0301\u0323 \n\t\u00a0\u200b\u00ad'‘\"„-–ﬁ１²ж日本が゛한\u1112\u1161\u202e`\U0001f600"
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("body", "quote", "verdict", "found"),
    [
        ("It floods in winter.", "floods in", "exact", "floods in"),
        ("It ‘floods’\u00a0in  winter.", "It 'floods' in winter.", "normalised", "It ‘floods’\u00a0in  winter."),
        ("from 10–20 km", "from 10-20 km", "normalised", "from 10–20 km"),
        ("receives 1\u200b1 km", "receives 11 km", "normalised", "receives 1\u200b1 km"),
        ("The del\u00adta floods", "The delta floods", "normalised", "The del\u00adta floods"),
        ("Cafe\u0301 Maun", "Café Maun", "normalised", "Cafe\u0301 Maun"),
        ("Café Maun", "Cafe\u0301 Maun", "normalised", "Café Maun"),
        ("the ﬁeld of １１", "the field of 11", "normalised", "the ﬁeld of １１"),
        ("数据库\n文件", "数据库文件", "normalised", "数据库\n文件"),
        ("10² m", "102 m", "missing", ""),
        ("receives l1 km", "receives 11 km", "missing", ""),
        ("The delta", "the delta", "missing", ""),
        ("\u202e21\u202c km", "21 km", "exact", "21 km"),
        ("is \u202e21\u202c km", "is 21 km", "missing", ""),
        ("any", "  ", "missing", ""),
    ],
)
def test_a_quote_is_found_where_a_reader_would_see_it(body: str, quote: str, verdict: Verdict, found: str) -> None:
    if quote == "21 km":
        body = body.replace("\u202c", "")
    span, got = locate(quote, body)
    assert (got, body[span.start : span.end]) == (verdict, found)


@given(TEXTS, st.data())
def test_what_is_cut_is_found_exactly_with_its_own_context(body: str, data: st.DataObject) -> None:
    if not body.strip():
        return
    start = data.draw(st.integers(0, len(body) - 1))
    end = data.draw(st.integers(start + 1, len(body)))
    quote = cut(body, Span(start, end))
    assert (quote.text, len(quote.prefix) <= CONTEXT_CHARS) == (body[start:end], True)
    if not quote.text.strip():
        return
    span, verdict = locate(quote.text, body, prefix=quote.prefix, suffix=quote.suffix, near=quote.span)
    assert verdict == "exact"
    assert body[span.start : span.end] == quote.text


@given(TEXTS)
def test_a_folded_quote_leads_back_to_words_that_fold_the_same(body: str) -> None:
    needle = fold(body).text.strip()
    if not needle:
        return
    span, verdict = locate(needle, body)
    assert verdict != "missing"
    assert fold(body[span.start : span.end]).text.strip() == needle


@given(TEXTS)
def test_folding_is_stable_and_keeps_its_map_in_order(body: str) -> None:
    folded = fold(body)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    assert all(start < end for start, end in zip(folded.starts, folded.ends, strict=True))
    assert fold(folded.text).text.strip() == folded.text.strip()
    assert fold(unicodedata.normalize("NFC", body)).text.strip() == folded.text.strip()


@pytest.mark.parametrize(
    ("context", "wanted"),
    [
        ({}, 0),
        ({"prefix": "second: "}, 25),
        ({"suffix": " three"}, 50),
        ({"near": Span(30, 31)}, 25),
        ({"prefix": "first: ", "near": Span(50, 51)}, 7),
    ],
)  # fmt: skip
def test_ties_go_to_context_then_to_the_nearest_then_to_the_first(context: dict[str, object], wanted: int) -> None:
    body = "first: the limit is one; second: the limit is two; third: the limit is three"
    places = [body.index(words) for words in ("first: the", "second: the", "third: the")]
    offsets = [body.find("the limit is", place) for place in places]
    span, _ = locate("the limit is", body, **context)  # type: ignore[arg-type]
    assert span.start == offsets[{0: 0, 7: 0, 25: 1, 50: 2}[wanted]]


def test_a_folded_tie_is_settled_by_context_too() -> None:
    body = "one ‘x y’ end; two ‘x y’ stop"
    span, verdict = locate("'x y'", body, suffix=" stop")
    assert (verdict, span.start) == ("normalised", body.rindex("‘"))


@pytest.mark.parametrize("span", [Span(0, 0), Span(-1, 2), Span(2, 99), Span(3, 2)])
def test_a_span_outside_the_text_is_refused(span: Span) -> None:
    with pytest.raises(InvalidInput):
        cut("hello", span)


@pytest.mark.parametrize(
    ("quote", "block", "wanted"),
    [
        ("25 m", "The tower is 25 m high.", "no_content_word"),
        ("25 m", "25 m", "no_content_word"),
        ("The limit is", "The limit is ten today.", "too_short"),
        ("Page size\t4096", "Page size\t4096", None),
        ("The limit is ten today", "The limit is ten today, always.", None),
        ("数据库文件", "数据库文件可以在不同的机器之间复制。", "too_short"),
        ("数据库文件可以在不同的机器之间复制", "数据库文件可以在不同的机器之间复制。", None),
    ],
)
def test_a_quote_that_says_too_little_is_refused(quote: str, block: str, wanted: str | None) -> None:
    assert objection(quote, block) == wanted


def test_a_hostile_text_is_searched_in_linear_time() -> None:
    began = time.perf_counter()
    for body in ("e\u0301" * 100_000, " \u200b" * 100_000, "a" * 400_000, "'" * 400_000):
        assert locate("a" * 5_000 + "b", body)[1] == "missing"
    assert time.perf_counter() - began < 20


def test_words_are_not_found_where_more_would_be_shown_than_was_asked_for() -> None:
    assert locate("of", "the sum o\ufb01 all") == (Span(0, 0), "missing")  # the f is half of a ligature
    assert locate("of", "o\ufb01, o\u200bf") == (Span(4, 7), "normalised")  # a later place is taken
