"""Dates as pages write them."""

from __future__ import annotations

import pytest

from firsthand.web.extract.dates import any_date, dates_in, iso_date, path_date


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2024-03-05", "2024-03-05"),
        ("2024/3/5", "2024-03-05"),
        ("20240305T101112", "2024-03-05"),
        ("2024-03-05 10:11", "2024-03-05T10:11"),
        ("2024-03-05T10:11:12.345+01:00", "2024-03-05T10:11:12.345+01:00"),
        ("Published: 2024-03-05.", "2024-03-05"),
        ("2024-13-05", None),
        ("2024-02-30", None),
        ("0024-01-05", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates_become_iso_8601_or_nothing(written: str, date: str | None) -> None:
    assert iso_date(written) == date


@pytest.mark.parametrize(
    "written",
    [
        "14 March 2024",
        "March 14, 2024",
        "Mar. 14th, 2024",
        "Thursday, March 14 2024",
        "the 14th of March 2024",
        "14-Mar-2024",
        "14. März 2024",
        "14 mars 2024",
        "14 de marzo de 2024",
        "14 de março de 2024",
        "14 marzo 2024",
        "14 maart 2024",
        "14 marca 2024",
        "14 Mart 2024",
        "14 марта 2024 г.",
        "14 березня 2024",
        "2024年3月14日",
        "2024년 3월 14일",
        "2024-03-14",
        "14.03.2024",
        "14/03/2024",
        "03/14/2024",
    ],
)
def test_dates_in_words_and_numbers_of_many_languages_are_days(written: str) -> None:
    assert [found.day for found in dates_in(f"Anna Berg · {written} · 5 min")] == ["2024-03-14"]


@pytest.mark.parametrize(
    "written",
    ["3/4/2024", "31 February 2024", "14 Marbles 2024", "version 1.14.2024.3", "1-800-2024", "March 2024", "2024"],
)
def test_what_is_no_day_or_could_be_two_is_no_date(written: str) -> None:
    assert list(dates_in(written)) == []


def test_where_the_day_comes_first_numbers_with_strokes_are_a_day() -> None:
    assert [found.day for found in dates_in("3/4/2024", is_day_first=True)] == ["2024-04-03"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Published on March 14, 2024", "published"),
        ("Veröffentlicht am 14. März 2024", "published"),
        ("Last updated: March 14, 2024", "modified"),
        ("Mis à jour le 14 mars 2024", "modified"),
        ("更新日：2024年3月14日", "modified"),
        ("2024年3月14日更新", "modified"),
        ("I understand 14 March 2024", ""),
    ],
)
def test_the_words_beside_a_date_say_what_it_is(written: str, said: str) -> None:
    assert [found.said for found in dates_in(written)] == [said]


def test_each_date_has_the_words_since_the_one_before() -> None:
    text = "Posted 3 May 2019 | Last updated Jan 5, 2025 | 7 June 2020"
    assert [(found.day, found.said) for found in dates_in(text)] == [
        ("2019-05-03", "published"),
        ("2025-01-05", "modified"),
        ("2020-06-07", ""),
    ]
    assert [text[found.start : found.end] for found in dates_in(text)] == ["3 May 2019", "Jan 5, 2025", "7 June 2020"]


def test_a_declared_date_may_be_in_words() -> None:
    assert any_date("March 14, 2024 10:00") == "2024-03-14"
    assert any_date("soon") is None


@pytest.mark.parametrize(
    ("path", "day"),
    [("/2024/03/14/name", "2024-03-14"), ("/blog/2024-3-14-name.html", "2024-03-14"), ("/2024/3/x", None), ("/1.2/2024/13/40/", None)],
)  # fmt: skip
def test_a_day_in_an_address_is_found(path: str, day: str | None) -> None:
    assert path_date(path) == day


def test_a_long_run_of_digits_and_words_costs_time_in_proportion() -> None:
    text = "12 of " * 20_000 + "20"
    assert list(dates_in(text)) == []
