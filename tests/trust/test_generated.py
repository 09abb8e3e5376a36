"""P1: generated URLs never let the gate and the standard's parser differ."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.web import address, limits
from tests.trust.generated import (
    ANSWERS,
    BASES,
    CORPUS,
    HOSTS,
    PIECES,
    RESTS,
    SIGNS,
    differences,
    differences_of_redirect,
    is_allowed,
    run,
)

PARTS = st.sampled_from([*SIGNS, *PIECES, *HOSTS, "http://", "https://"])
BUILT = st.one_of(
    st.lists(PARTS, max_size=10).map("".join),
    st.lists(PARTS, min_size=1, max_size=8).map(lambda parts: "http://" + "".join(parts)),
    st.tuples(st.sampled_from(["http://", "https://"]), st.sampled_from(HOSTS), PARTS, st.sampled_from(RESTS)).map(
        "".join
    ),
    st.tuples(st.sampled_from(CORPUS), PARTS).map("".join),
)
LOOKED_UP = st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=3, unique=True)
N_AT_ONCE = 20  # URLs an example: what Hypothesis spends on an example is then spent on twenty


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(BUILT, LOOKED_UP), min_size=N_AT_ONCE, max_size=N_AT_ONCE))
async def test_no_url_built_of_the_corpus_is_read_otherwise_by_the_parser_or_dialled_where_it_may_not(
    made: list[tuple[str, list[str]]],
) -> None:
    for url, answers in made:
        assert (await differences(url, answers))[1] == [], url
        for base in BASES:
            assert (await differences_of_redirect(url, base, answers))[1] == [], (url, base)


async def test_generator_of_the_long_form_finds_no_difference_and_meets_every_rule() -> None:
    found = await run(20_000, seed=7)
    assert (found["generated"], found["differences"], found["first"]) == (20_000, 0, [])
    assert found["verdicts"].keys() >= {"allow", "address", "scheme", "syntax", "port", "userinfo", "host-form", "host-name", "backslash", "control"}  # type: ignore[attr-defined]  # fmt: skip


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What the gate remembers of addresses is forgotten, before and after it judges by another table."""
    address._standing.cache_clear()
    yield
    address._standing.cache_clear()


@pytest.mark.parametrize(
    "change",
    [
        ("REFUSED_IPV4", tuple(b for b in limits.REFUSED_IPV4 if b != ip_network("10.0.0.0/8"))),
        ("REFUSED_IPV4", (*limits.REFUSED_IPV4, ip_network("93.184.0.0/16"))),
        ("REFUSED_IPV6", limits.REFUSED_IPV6[1:]),
        ("ALLOWED_IPV6", ip_network("::/0")),
    ],
    ids=["one range less", "one range more", "one IPv6 range less", "all of IPv6"],
)
async def test_a_gate_with_another_table_is_found_out(
    change: tuple[str, object], monkeypatch: pytest.MonkeyPatch, forgetful: None
) -> None:
    monkeypatch.setattr(limits, *change)
    assert (await run(3000, seed=7))["differences"]


async def test_a_gate_that_reads_a_host_in_its_own_way_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    standard = address._parse_host
    monkeypatch.setattr(
        address, "_parse_host", lambda url, scheme, written: standard(url.replace("com", "org"), scheme, written)
    )
    assert (await run(500, seed=7))["differences"]


async def test_a_gate_that_joins_a_redirect_in_its_own_way_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "_join", lambda base, location: f"http://elsewhere.example.com{location}")
    assert (await run(500, seed=7))["differences"]


def test_second_table_is_the_corpus_defaults() -> None:
    assert not any(map(is_allowed, ["10.0.0.1", "168.63.129.16", "::1", "::ffff:8.8.8.8", "2002:808:808::", "fd00::1"]))
    assert all(map(is_allowed, ["93.184.216.34", "2606:2800:220:1::1"]))
