"""The conditions that a kept page is asked again with, and what a 304 changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.web.conditional import conditions, freshened, is_older, said_fresh_s, validator_of

DATE = "Sat, 02 May 2026 10:00:00 GMT"
AT = datetime(2026, 5, 2, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "asked"),
    [
        ({"etag": '"a"', "last-modified": DATE}, {"If-None-Match": '"a"', "If-Modified-Since": DATE}),
        ({"etag": 'W/"a"'}, {"If-None-Match": 'W/"a"'}),
        ({"last-modified": DATE}, {"If-Modified-Since": DATE}),
        ({"etag": "a"}, {}),  # not quoted
        ({"etag": '"a", "b"'}, {}),  # two headers that were joined
        ({"etag": '"a\r\nCookie: x"'}, {}),
        ({"etag": '"' + "x" * 600 + '"'}, {}),
        ({"last-modified": "2026-05-02T10:00:00+00:00"}, {}),  # a file's
        ({"last-modified": "Saturday, 02-May-26 10:00:00 GMT"}, {}),
        ({"content-type": "text/html", "set-cookie": "a=b"}, {}),
    ],
)
def test_only_validators_as_the_standard_spells_them_are_sent(headers: dict[str, str], asked: dict[str, str]) -> None:
    assert conditions(headers) == asked


@given(st.dictionaries(st.sampled_from(["etag", "last-modified"]), st.text()))
def test_no_kept_header_becomes_another_one(headers: dict[str, str]) -> None:
    for name, value in conditions(headers).items():
        assert name in ("If-None-Match", "If-Modified-Since")
        assert value.isascii() and value.isprintable() and "\n" not in value


def test_the_stronger_condition_is_what_was_confirmed() -> None:
    assert validator_of({"If-Modified-Since": DATE, "If-None-Match": '"a"'}) == 'If-None-Match: "a"'
    assert validator_of({"If-Modified-Since": DATE}) == f"If-Modified-Since: {DATE}"


def test_a_304_renews_headers_but_not_what_describes_the_payload() -> None:
    kept = {"content-type": "text/html", "content-length": "9", "etag": '"a"', "x-kept": "1"}
    said = {"content-type": "text/plain", "content-length": "0", "etag": '"b"', "date": DATE}
    assert freshened(kept, said) == {**kept, "etag": '"b"', "date": DATE}


@pytest.mark.parametrize(
    ("headers", "fresh_s"),
    [
        ({}, 0),
        ({"cache-control": "public, max-age=600"}, 600),
        ({"cache-control": 'Max-Age="600"'}, 600),
        ({"cache-control": "max-age=600", "age": "500"}, 100),
        ({"cache-control": "max-age=600", "age": "700"}, 0),
        ({"cache-control": "max-age=600, no-cache"}, 0),
        ({"cache-control": "no-store, max-age=600"}, 0),
        ({"cache-control": "max-age=900, max-age=600"}, 600),
        ({"cache-control": "s-maxage=600"}, 0),  # for caches that many share
        ({"cache-control": "max-age=-1"}, 0),
        ({"cache-control": "max-age=١٢"}, 0),
        ({"cache-control": "max-age=soon,,=,"}, 0),
        ({"expires": "Thu, 01 Jan 2099 00:00:00 GMT"}, 0),
    ],
)
def test_a_page_is_fresh_for_as_long_as_its_site_says(headers: dict[str, str], fresh_s: float) -> None:
    assert said_fresh_s(headers) == fresh_s


@given(st.text(), st.text())
def test_whatever_a_site_says_is_a_time_that_is_not_negative(said: str, age: str) -> None:
    assert 0.0 <= said_fresh_s({"cache-control": said, "age": age}) < 1e12


@pytest.mark.parametrize(
    ("age_s", "max_age_s", "expected"),
    [(0, 0, True), (0, 1, False), (59.9, 60, False), (60, 60, True), (-1, 60, True), (9e9, 1e10, False)],
)
def test_a_page_may_stand_in_until_it_is_as_old_as_it_may_be(age_s: float, max_age_s: float, expected: bool) -> None:
    assert is_older(AT, AT + timedelta(seconds=age_s), max_age_s) is expected
