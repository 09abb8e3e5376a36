"""What is done to a question before a provider sees it."""

from __future__ import annotations

import pytest

from firsthand.web.search.phrasing import split_sites


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
