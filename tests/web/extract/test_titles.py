"""A page's own title, without its site's name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from firsthand.web.extract.titles import choose_title

URL = "https://www.seaside-news.example/2024/tides"


def title(
    title: str, *, og: str = "", h1: str = "", headings: Sequence[str] = (), sites: Sequence[str] = (), url: str = URL
) -> str | None:
    found = choose_title(title, [(og, "meta og:title")] if og else [], h1, headings, sites=sites, url=url)
    return found[0] if found else None


@pytest.mark.parametrize(
    "glued",
    [
        "Spring tides | Seaside News",
        "Spring tides - Seaside News",
        "Spring tides — The Seaside News",
        "Spring tides :: seaside-news.example",
        "Seaside News: Spring tides",
        "Seaside News » Spring tides",
    ],
)
def test_the_site_s_name_is_cut_off_by_its_host(glued: str) -> None:
    assert title(glued, og="Spring tides") == "Spring tides"
    if not glued.startswith("Seaside News:"):  # before a colon stands a subject as often as a site
        assert title(glued) == "Spring tides"


def test_the_site_s_name_is_cut_off_as_the_page_gives_it() -> None:
    assert title("Spring tides - The Daily Whelk", sites=["The Daily Whelk"]) == "Spring tides"
    assert title("Spring tides - News - The Daily Whelk", sites=["Daily Whelk"], h1="Spring tides") == "Spring tides"


@pytest.mark.parametrize(
    "whole",
    [
        "Spring tides - what they are",
        "Tides: a primer",
        "Ebb and flow | Springs and neaps",
        "F-16 – a history",
        "A/B testing",
    ],
)
def test_a_title_that_merely_holds_a_dash_stays_whole(whole: str) -> None:
    assert title(whole) == whole
    assert title(whole, sites=["Whelk"]) == whole


def test_a_home_page_keeps_its_name() -> None:
    home = "https://seaside-news.example/"
    assert title("Seaside News - tides for all", url=home) == "Seaside News - tides for all"
    assert title("Tides for all | Seaside News", url=home) == "Tides for all"


def test_the_heading_that_says_what_the_title_says_is_the_title_as_it_is_shown() -> None:
    shown = "Spring Tides, Explained for Sailors"
    assert title("Spring tides explained | Whelk", h1=shown) == shown
    assert title("Spring tides explained for sailors", h1="Whelk", headings=["Whelk", "Menu", shown]) == shown


def test_a_heading_that_is_like_nothing_declared_is_not_the_title() -> None:
    assert title("Spring tides explained", h1="Subscribe to our letter") == "Spring tides explained"
    assert title("", og="Spring tides", h1="Subscribe to our letter") == "Spring tides"


def test_without_any_title_the_first_heading_is_one_and_without_that_there_is_none() -> None:
    assert title("", h1="Tides") == "Tides"
    assert title("") is None


def test_a_title_made_of_dashes_costs_no_more_than_its_first_words() -> None:
    endless = "tide - " * 300_000
    found = choose_title(endless, [(endless, "meta og:title")], endless, [endless], sites=["tide"], url=URL)
    assert found is not None
    assert len(found[0]) <= 500


def test_an_address_that_is_none_does_no_harm() -> None:
    assert title("Tides - X", url="http://[") == "Tides - X"
