"""Several lists of hits into one."""

from __future__ import annotations

import pytest

from firsthand.values import Hit
from firsthand.web.search import fuse, merge, same_page_key


def hit(url: str, rank: int = 1, provider: str = "a") -> Hit:
    return Hit(url, url, "", rank, provider)


@pytest.mark.parametrize(
    "other",
    [
        "https://example.org/p?a=1&b=2#section",
        "http://www.example.org/p/?b=2&a=1",
        "https://example.org:443/p?a=1&b=2&utm_source=x&UTM_Medium=y&fbclid=z",
    ],
)
def test_addresses_of_the_same_page_share_a_key(other: str) -> None:
    assert same_page_key(other) == same_page_key("https://example.org/p?a=1&b=2")


@pytest.mark.parametrize(
    "other",
    ["https://example.org/P", "https://example.org/p?a=2", "https://example.org:8443/p", "https://m.example.org/p"],
)
def test_addresses_of_other_pages_do_not(other: str) -> None:
    assert same_page_key(other) != same_page_key("https://example.org/p")


def test_the_first_row_of_a_page_wins_and_keeps_its_own_address() -> None:
    first = [hit("https://example.org/p?utm_source=a"), hit("https://example.org/q", 2)]
    second = [hit("https://example.org/p", 1, "b"), hit("https://example.org/r", 2, "b")]
    assert merge([first, second], 10) == [*first, second[1]]
    assert merge([first, second], 1) == first[:1]
    assert merge([], 5) == []


def test_a_page_that_two_providers_found_comes_before_one_that_a_single_provider_ranked_first() -> None:
    a = [hit("https://example.org/only-a", 1), hit("https://example.org/both#a", 3)]
    b = [hit("https://example.org/only-b", 1, "b"), hit("https://example.org/both", 2, "b")]
    assert fuse([a, b], 10) == [b[1], a[0], b[0]]  # and is shown as its best-ranked row


def test_a_provider_that_repeats_a_page_does_not_vote_twice() -> None:
    a = [hit("https://example.org/first", 1), hit("https://example.org/x", 2), hit("https://example.org/x#again", 3)]
    assert fuse([a], 10) == a[:2]
