"""Spelling, names, ports and network addresses, judged without a network."""

from __future__ import annotations

from ipaddress import ip_network
from urllib.parse import urlsplit

import ada_url
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import AddressRefused, InvalidInput
from firsthand.web.address import (
    Policy,
    canonical_url,
    follow,
    host_port_pairs,
    judge,
    judge_answer,
    operator_policy,
    origin,
)

PAGES = Policy()


def refusal(url: str, policy: Policy = PAGES) -> str:
    with pytest.raises(AddressRefused) as refused:
        judge(url, policy)
    return refused.value.code


def test_listed_private_pair_is_asked_and_its_neighbours_are_not() -> None:
    policy = Policy(allow_private=host_port_pairs("127.0.0.1:8123, intranet:9, [::1]:8124, wiki.corp:443"))
    assert judge("http://127.0.0.1:8123/x", policy).port == 8123
    assert judge("http://intranet:9/", policy).host == "intranet"
    assert judge("http://[::1]:8124/", policy).host == "::1"
    assert judge("https://wiki.corp/", policy).host == "wiki.corp"
    assert refusal("http://127.0.0.1:8124/", policy) == "port"
    assert refusal("http://127.0.0.1:80/", policy) == "address"
    assert refusal("http://localhost:8123/", policy) == "host-name"
    assert refusal("http://wiki.corp/", policy) == "host-name"


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "168.63.129.16",
        "100.100.100.200",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "fd00:ec2::254",
    ],
)
def test_metadata_is_refused_under_every_permission(address: str) -> None:
    host = f"[{address}]" if ":" in address else address
    everything = Policy(
        allow_private=frozenset({(address, 80), ("meta.example.com", 80)}),
        allow_ranges=(ip_network("0.0.0.0/0"), ip_network("::/0")),
        nat64=True,
    )
    assert refusal(f"http://{host}/", everything) == "address"
    named = judge("http://meta.example.com/", everything)
    with pytest.raises(AddressRefused):
        judge_answer(address, named, everything)


def test_refusal_never_names_the_address_that_a_name_led_to() -> None:
    with pytest.raises(AddressRefused) as refused:
        judge_answer("10.11.12.13", judge("http://a.example.com/", PAGES), PAGES)
    assert "10.11" not in refused.value.message
    assert refused.value.outcome == "blocked_by_policy"


def test_canonical_form_has_no_fragment_no_root_dot_and_no_default_port() -> None:
    assert canonical_url(" HTTPS://Example.COM.:443/a/../b?q=1#part ") == "https://example.com/b?q=1"
    assert canonical_url("http://bücher.example.com") == "http://xn--bcher-kva.example.com/"
    assert origin("http://example.com:8080/x") == "http://example.com:8080"
    assert origin("https://example.com:443/x") == "https://example.com"


def test_redirect_from_https_to_http_is_refused() -> None:
    base = judge("https://example.com/a", PAGES)
    with pytest.raises(AddressRefused) as refused:
        follow("http://example.com/a", base, PAGES)
    assert refused.value.code == "scheme"
    assert follow("//www.example.com/b", base, PAGES).url == "https://www.example.com/b"


def test_operators_services_are_reached_and_nothing_else() -> None:
    policy = operator_policy(
        operator_urls=("http://127.0.0.1:8888/",), vendor_urls=("https://html.duckduckgo.com/html",)
    )
    assert judge("http://127.0.0.1:8888/search?q=x", policy).port == 8888
    vendor = judge("https://html.duckduckgo.com/html?q=x", policy)
    with pytest.raises(AddressRefused):
        judge_answer("127.0.0.1", vendor, policy)
    assert refusal("https://example.com/", policy) == "host-name"
    assert refusal("http://127.0.0.1:8889/", policy) == "host-name"


@pytest.mark.parametrize("text", ["localhost", "127.0.0.1:", "a b:80", ":80", "host:port", "h:99999"])
def test_pair_that_is_no_pair_is_the_callers_mistake(text: str) -> None:
    with pytest.raises(InvalidInput):
        host_port_pairs(text)


@pytest.mark.parametrize(
    "url", ["http://../", "http://a..", "http://example.com:" + "8" * 5000, "http://\ud800.example.com/"]
)
def test_spelling_that_breaks_parsers_is_refused_like_any_other(url: str) -> None:
    assert refusal(url) in ("host-form", "port")


PIECES = st.sampled_from(
    [
        *"/\\@:#?.%[]-_ \t\n0127aéx。＠／​­",
        *(
            "http",
            "https",
            "://",
            "//",
            "example.com",
            "127.0.0.1",
            "localhost",
            "[::1]",
            "2130706433",
            "0x7f",
            "xn--",
            "%2f",
            ":80",
        ),
    ]
)


@settings(deadline=None, max_examples=500)
@given(st.lists(PIECES, max_size=12).map("".join), st.booleans())
def test_what_is_accepted_means_the_same_host_to_the_standard_parser(text: str, with_scheme: bool) -> None:
    url = f"http://{text}" if with_scheme else text
    try:
        target = judge(url, PAGES)
    except AddressRefused:
        return
    assert ada_url.URL(url).hostname.strip("[]").removesuffix(".") == target.host
    assert urlsplit(target.url).hostname == target.host
    assert judge(target.url, PAGES) == target


PATH_PIECES = st.sampled_from([*"/.~!$&'()*+,;=:@?#%-_|^[]{}<> \\\"`aB9é", "/.", "/..", "..", "%2e", "//", "/a.b"])
SITES = st.sampled_from(
    [
        f"http{s}://{host}"
        for s in ("", "s")
        for host in ("a.example", "a.example:80", "a.example:443", "A.example", "a.example.")
    ]
    + ["http://a.example:08080", "http://127.1", "https://93.184.215.14", "http://xn--bcher-kva.example"]
)


@settings(deadline=None, max_examples=1000)
@given(SITES, st.lists(PATH_PIECES, max_size=10).map("".join))
def test_path_that_is_not_parsed_is_one_that_the_standard_parser_leaves_as_it_is(site: str, path: str) -> None:
    url = f"{site}/{path}"
    try:
        target = judge(url, PAGES)
    except AddressRefused:
        return
    standard = ada_url.URL(url)
    standard.hash = ""
    standard.hostname = standard.hostname.removesuffix(".")
    assert target.url == standard.href
