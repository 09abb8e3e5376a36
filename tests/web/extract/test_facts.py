"""What pages say about themselves."""

from __future__ import annotations

import pytest

from firsthand.values import Text
from firsthand.web.extract import extract
from firsthand.web.extract.facts import iso_date


def page(head: str, body: str = "<p>Words.</p>") -> Text:
    return extract(f"<html><head>{head}</head><body>{body}</body></html>".encode(), url="https://a.example/d/p")


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
        ("0024-01-05", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates_become_iso_8601_or_nothing(written: str, date: str | None) -> None:
    assert iso_date(written) == date


def test_the_title_is_the_first_title_then_the_first_heading() -> None:
    assert page("<title> A \n B </title>", "<svg><title>No</title></svg><h1>H</h1>").title == "A B"
    assert page("", "<h1>H</h1><p>x</p>").title == "H"


def test_linked_data_in_a_graph_gives_dates_and_author() -> None:
    data = '{"@graph":[{"@type":"WebSite"},{"@type":["NewsArticle"],"datePublished":"2024-01-02","author":[{"name":"A"},{"name":"B"}]}]}'
    text = page(f'<script type="application/ld+json">{data}</script>')
    assert (text.published_at, text.author) == ("2024-01-02", "A, B")


def test_broken_linked_data_says_nothing() -> None:
    assert page('<script type="application/ld+json">{"@type": </script>').published_at is None


def test_one_time_element_dates_a_page_and_several_do_not() -> None:
    assert page("", "<p><time datetime=2024-01-02>x</time></p>").published_at == "2024-01-02"
    assert page("", "<p><time datetime=2024-01-02>x</time><time datetime=2023-01-02>y</time></p>").published_at is None


def test_addresses_that_are_no_web_pages_are_left_out() -> None:
    text = page(
        '<link rel="canonical" href="javascript:alert(1)">',
        "<p><a href='data:text/html,x'>a</a><a href='ftp://x/y'>b</a></p>",
    )
    assert text.canonical_url is None
    assert text.links == ()


@pytest.mark.parametrize(
    ("lang", "language"), [("en-GB", "en"), ("DE", "de"), ("zh_Hans", "zh"), ("english", None), ("", None)]
)
def test_the_language_is_two_letters(lang: str, language: str | None) -> None:
    text = extract(f'<html lang="{lang}"><p>Words.'.encode(), url="https://a.example/")
    assert text.language == language
