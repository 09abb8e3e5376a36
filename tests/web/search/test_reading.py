"""Words, addresses, dates and amounts of providers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.values import HttpResponse, JsonValue
from firsthand.web.search.codec import retry_after_s
from firsthand.web.search.reading import instant, microusd, plain, text_of

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-29T12:00:00Z", NOON),
        ("2026-11-29T12:00:00.000Z", NOON),
        ("2026-11-29T14:00:00+02:00", NOON),
        ("2026-11-29 12:00:00", NOON),
        ("2026-11-29", datetime(2026, 11, 29, tzinfo=UTC)),
        ("Sun, 29 Nov 2026 12:00:00 GMT", NOON),
        ("Sun, 29 Nov 2026 12:00:00 -0000", NOON),
        ("2 days ago", None),
        ("November 29, 2026", None),
        ("9999-99-99", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("2026-11-29" + " " * 3 + "x" * 100, None),
        ("", None),
    ],
)
def test_a_date_is_a_moment_in_utc_or_nothing(text: str, at: datetime | None) -> None:
    assert instant(text) == at


@settings(deadline=None)
@given(st.text(max_size=70))
def test_any_text_is_a_moment_with_a_zone_or_nothing(text: str) -> None:
    at = instant(text)
    assert at is None or at.utcoffset() is not None


@pytest.mark.parametrize(
    ("retry_after", "date", "wait_s"),
    [
        ("120", "", 120.0),
        ("0", "", 0.0),
        ("Sun, 29 Nov 2026 12:02:00 GMT", "Sun, 29 Nov 2026 12:00:00 GMT", 120.0),
        ("Sun, 29 Nov 2026 11:00:00 GMT", "Sun, 29 Nov 2026 12:00:00 GMT", 0.0),
        ("Sun, 29 Nov 2026 12:02:00 GMT", "", None),
        ("soon", "Sun, 29 Nov 2026 12:00:00 GMT", None),
        ("-5", "", None),
        ("١٢٠", "", None),
        ("9" * 400, "", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_beside_the_responses_own(
    retry_after: str, date: str, wait_s: float | None
) -> None:
    headers = {"retry-after": retry_after, "date": date}
    assert retry_after_s(HttpResponse("https://x.test/", 429, headers, b"")) == wait_s


@pytest.mark.parametrize(
    ("amount", "unit", "cost"),
    [(0.0000004, 10**6, 0), (0.007, 10**6, 7000), (2, 8000, 16000), (float("nan"), 10**6, None), (None, 1, None)],
)
def test_an_amount_is_whole_micro_dollars(amount: JsonValue, unit: int, cost: int | None) -> None:
    assert microusd(amount, unit) == cost


def test_only_emphasis_is_markup() -> None:
    assert (
        plain("<strong>C++</strong> &lt;vector&gt; <b\nclass=x>a</b> <i <i>b</i> 1<2 <x>")
        == "C++ <vector> a <i b 1<2 <x>"
    )


def test_a_list_of_texts_is_one_text() -> None:
    assert text_of(["a", None, 3, "b", ["c"]]) == "a … b"
