"""Who counts as a second voice, and which numbers stand against each other."""

from __future__ import annotations

import subprocess
import sys
from itertools import count

import pytest

from firsthand.evidence.corroborate import (
    Said,
    candidate_conflicts,
    corroboration,
    is_disputed,
    near_duplicate,
    relation,
    same_site,
    site_of,
)
from firsthand.ids import text_digest
from firsthand.values import Citation, Claim, Span

NUMBER = count(1)
WIRE = "The canal was closed on Monday after a barge ran aground near the northern lock and spilled part of its load of grain."


def cite(url: str, quote: str) -> Citation:
    n = next(NUMBER)
    return Citation(n, url, quote, "", "", f"sha256:{n:064x}", f"sha256:{n:064x}", 0, len(quote), "exact", "supported")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://www.example.com/a", "https://example.com/b", True),  # N22
        ("https://a.github.io/x", "https://b.github.io/x", False),  # N24
        ("https://news.bbc.co.uk/", "https://www.bbc.co.uk/", True),
        ("https://one.co.uk/", "https://two.co.uk/", False),
        ("http://127.0.0.1:8000/a", "http://127.0.0.1:9000/b", True),
        ("http://127.0.0.1/", "http://127.0.0.2/", False),
        ("http://[::1]/", "http://[::2]/", False),
        ("http://localhost/", "http://intranet/", False),
        ("http://EXAMPLE.com./", "https://example.com/", True),
    ],
)
def test_sites_are_told_apart_by_the_public_suffix_list(one: str, other: str, same: bool) -> None:
    assert same_site(one, other) is same


def test_equal_hosts_are_compared_without_loading_the_list() -> None:
    code = (
        "import sys; from firsthand.evidence.corroborate import same_site;"
        "assert same_site('http://a.example/x', 'http://a.example/y'); print('tldextract' in sys.modules);"
        "same_site('http://a.example/', 'http://b.example/'); print('requests' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("False\nFalse", "")


def test_the_list_is_read_as_its_own_package_reads_it() -> None:
    from tldextract import TLDExtract

    judge = TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
    hosts = [
        "www.ck",
        "a.b.ck",
        "x.y.ck",
        "city.kawasaki.jp",
        "a.b.kawasaki.jp",
        "www.city.kawasaki.jp",
        "a.github.io",
        "github.io",
        "co.uk",
        "a.co.uk",
        "x.a.co.uk",
        "b.c.compute.amazonaws.com",
        "s3.amazonaws.com",
        "a.blogspot.com",
        "x.com.br",
        "a.xn--p1ai",
        "b.a.xn--p1ai",
        "x.中国",
        "y.x.中国",
        "食狮.公司.cn",
        "www.食狮.公司.cn",
        "a.b.c.d.example.org",
    ]
    for host in hosts:
        assert site_of(f"http://{host}/") == (judge(host).top_domain_under_public_suffix or host), host


@pytest.mark.parametrize("url", ["", "not a url", "http://[", "http://a..b/", "//", "http://\u00e4.example/"])
def test_a_strange_address_has_some_site(url: str) -> None:
    assert isinstance(site_of(url), str)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (WIRE, True),
        (f"By Ann Lee, Harbour News. {WIRE} (AGENCY)", True),  # N23
        (f"LONDON (Agency) - {WIRE[:90]}", True),
        ("A grain barge blocked the canal on Monday when it struck ground close to the lock in the north.", False),
        ("", False),
    ],
)
def test_one_text_with_another_byline_is_one_text(other: str, same: bool) -> None:
    assert near_duplicate(WIRE, other) is same


def test_same_text_on_two_sites_does_not_corroborate() -> None:  # A35, N23
    one, other = cite("https://a.example/x", WIRE), cite("https://b.test/y", f"By Tom Ray. {WIRE}")
    assert relation(one, other) == "near_duplicate"
    assert corroboration([one, other], False) == "single"


def test_two_wordings_corroborate_on_two_sites_only() -> None:
    wording = "A barge with grain aboard struck ground by the lock in the north, and on Monday no ship could pass."
    assert (
        corroboration([cite("https://a.example/x", WIRE), cite("https://b.test/y", wording)], False) == "corroborated"
    )
    assert corroboration([cite("https://www.a.com/x", WIRE), cite("https://a.com/y", wording)], False) == "single"
    assert (
        corroboration([cite("https://a.github.io/", WIRE), cite("https://b.github.io/", wording)], False)
        == "corroborated"
    )
    assert corroboration([cite("https://a.example/x", WIRE)], False) == "single"
    assert corroboration([], False) == "single"
    assert corroboration([cite("https://a.example/x", WIRE), cite("https://b.test/y", wording)], True) == "disputed"


def said(text: str, language: str = "en") -> Said:
    return Said(text, text_digest(text), Span(0, len(text)), language)


@pytest.mark.parametrize(
    ("one", "other", "values"),
    [
        ("The Rhine bridge is 310 m long.", "The Rhine bridge is 324 metres long.", ("310", "324")),
        ("The club was founded in 1912.", "The club was founded in 1913.", ("1912", "1913")),
        ("The club was founded on 3 May 1912.", "The club was founded on May 4, 1913.", ("3 May 1912", "May 4, 1913")),
        ("The Rhine bridge is 310 m long.", "The Rhine bridge is 0.31 km long.", None),
        ("The Rhine bridge is 310 m long.", "The museum has 324 paintings on show.", None),
        ("The Rhine bridge is 310 m long.", "The Rhine bridge is old.", None),
    ],
)
def test_two_numbers_for_one_attribute_are_a_candidate_conflict(
    one: str, other: str, values: tuple[str, str] | None
) -> None:  # N26
    found = candidate_conflicts([said(one), said(other)])
    assert [conflict.values for conflict in found] == ([values] if values else [])


def test_only_the_claim_that_speaks_of_the_disputed_thing_is_disputed() -> None:  # N25
    first = "The Rhine bridge is 310 m long. It was painted green by Anna Vogel."
    conflicts = candidate_conflicts([said(first), said("The Rhine bridge is 324 m long.")])
    citation = Citation(
        1, "http://a.example/", first, "", "", "sha256:0", text_digest(first), 0, len(first), "exact", "supported"
    )
    length = Claim("The Rhine bridge is 310 m long.", 0, 0, (citation,))
    colour = Claim("It was painted green by Anna Vogel.", 0, 0, (citation,))
    assert (is_disputed(length, conflicts, "en"), is_disputed(colour, conflicts, "en")) == (True, False)


def test_two_things_with_a_value_each_are_no_conflict() -> None:
    one = Said("The Standard plan allows 25 members in a workspace.", "sha256:a", Span(0, 50))
    other = Said("The Enterprise plan allows 200 members in a workspace.", "sha256:b", Span(0, 53))
    assert candidate_conflicts([one, other]) == []


def test_one_number_that_agrees_does_not_hide_one_that_differs() -> None:
    one = Said("The plan allows 25 members in one workspace.", "sha256:a", Span(0, 44))
    other = Said("The plan allows 40 members in one workspace.", "sha256:b", Span(0, 44))
    assert [conflict.values for conflict in candidate_conflicts([one, other])] == [("25 members", "40 members")] or [
        conflict.values for conflict in candidate_conflicts([one, other])
    ] == [("25", "40")]
