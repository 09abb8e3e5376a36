"""What is done to a question before a provider sees it."""

from __future__ import annotations

import pytest

from firsthand.web.search.phrasing import shorten, split_sites


@pytest.mark.parametrize(
    ("text", "rest", "sites"),
    [
        ("a site:x.com b", "a b", ["x.com"]),
        ("SITE:GitHub.com a site:github.com", "a", ["github.com"]),
        ("a site:docs.rs/tokio/", "a", ["docs.rs/tokio"]),
        ("site:x.com", "x.com", ["x.com"]),
        ("-site:x.com a", "-site:x.com a", []),
        ('"site:x.com" a', '"site:x.com" a', []),
        ("site: x site:-bad.com site:http://x.com", "site: x site:-bad.com site:http://x.com", []),
    ],
)
def test_sites_are_whole_words_that_name_a_host(text: str, rest: str, sites: list[str]) -> None:
    assert split_sites(text) == (rest, sites)


def test_a_long_run_of_site_words_is_read_in_one_pass() -> None:
    assert len(split_sites("site:" + "a." * 100_000)[1]) == 0
    assert split_sites("site:a.com " * 20_000 + "x") == ("x", ["a.com"])


def test_a_choice_of_sites_stays_whole_in_a_question_that_is_cut() -> None:
    choice = "(site:arxiv.org OR site:nature.com OR site:jstor.org)"
    asked = shorten("what would anybody like to know about this and that " * 9 + "Zambezi " + choice, 100, 50)
    assert asked.endswith(f"Zambezi {choice}") and len(asked) <= 100
    assert "site" not in shorten("what " + choice, 20)


def test_brackets_that_are_no_choice_are_read_in_one_pass() -> None:
    assert shorten("(" * 100_000, 100) == ""
    assert len(shorten("(a:" * 50_000, 100)) <= 100
