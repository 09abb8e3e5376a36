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


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("https://example.org/~me/a%2fb", "https://example.org/%7Eme/a%2Fb", True),
        ("https://example.org", "https://example.org/#top", True),
        ("http://example.org:80/a", "https://example.org:443/a", True),
        ("https://example.org./a?gclid=1&srsltid=2", "https://example.org/a", True),
        ("https://example.org/a%2Fb", "https://example.org/a/b", False),
        ("https://example.org/#!/a", "https://example.org/#!/b", False),
        ("https://example.org/#/a", "https://example.org/", False),
        ("https://example.org/a?ref=1", "https://example.org/a", False),
        ("not an address", "not an address", True),
    ],
)
def test_only_what_does_not_change_the_page_is_left_out_of_the_key(one: str, other: str, is_same: bool) -> None:
    assert (same_page_key(one) == same_page_key(other)) is is_same


def urls(hits: list[Hit]) -> list[str]:
    return [each.url.removeprefix("https://") for each in hits]


def test_a_third_hit_of_one_host_goes_behind_those_of_others_and_is_not_lost() -> None:
    given = [hit(f"https://{each}") for each in ("a.example/1", "www.a.example/2", "a.example/3", "b.example/1")]
    assert urls(merge([given], 10)) == ["a.example/1", "www.a.example/2", "b.example/1", "a.example/3"]
    assert len(fuse([given[:3]], 10)) == 3  # a list of one host stays whole, in its order
    assert urls(merge([given[:3]], 10)) == urls(given[:3])


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "[2001:db8::1]"])
def test_a_number_names_a_machine_and_has_no_cap(host: str) -> None:
    given = [*(hit(f"http://{host}/{n}", n) for n in range(1, 5)), hit("https://b.example/")]
    assert merge([given], 10) == given


def test_hits_of_a_library_have_no_cap() -> None:
    given = [hit(f"https://a.example/{n}", n, "library") for n in range(1, 6)]
    assert merge([given, [hit("https://b.example/")]], 10)[:5] == given


NEWS = "The harbour of Kiel was closed for six hours on Monday after a crane fell into the water, the port said."
MIRROR = "The harbour of Kiel was closed for six hours on Monday after a crane fell into the water, said the port."
JAPANESE = "".join(chr(0x4E00 + n) for n in range(90))


def told(url: str, snippet: str, title: str = "A crane falls") -> Hit:
    return Hit(f"https://{url}", title, snippet, 1, "a")


@pytest.mark.parametrize(
    ("one", "other", "is_behind"),
    [
        (NEWS, MIRROR, True),
        (NEWS, NEWS.upper(), True),
        (JAPANESE, JAPANESE + "。", True),
        (NEWS, NEWS.replace("six", "7"), False),
        ("Release notes. " + NEWS.replace("six", "3.11"), "Release notes. " + NEWS.replace("six", "3.12"), False),
        (
            NEWS,
            "Ferries to Oslo leave Kiel every day at two in the afternoon and arrive the next morning at ten.",
            False,
        ),
        ("Results", "Results", False),
        ("", "", False),
    ],
)
def test_a_hit_with_the_words_of_another_goes_behind_all(one: str, other: str, is_behind: bool) -> None:
    given = [told("a.example/", one), told("b.example/", other), told("c.example/", "Something else.", "C")]
    expected = ["a.example/", "c.example/", "b.example/"] if is_behind else ["a.example/", "b.example/", "c.example/"]
    assert urls(merge([given], 10)) == expected
    assert urls(fuse([given], 10)) == expected
