"""Addresses in a question: what is taken for one, what is left of the question, and whether anything else is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.research.named import addresses_of, asks_for_whole_page, spelled

PAGE = "http://a.example/b"


@pytest.mark.parametrize(
    ("question", "rest", "addresses"),
    [
        (f"What does {PAGE}.pdf say about the harbour?", "What does say about the harbour?", (f"{PAGE}.pdf",)),
        (f"How deep is the harbour ({PAGE})?", "How deep is the harbour?", (PAGE,)),
        (f"How deep is it, as <{PAGE}> says?", "How deep is it, as says?", (PAGE,)),
        (f"Harbour, {PAGE}... or {PAGE}#c!", "Harbour,... or!", (PAGE, f"{PAGE}#c")),
        ("https://en.example/wiki/A_(b) and [https://[::1]:8/x].", "and.", ("https://en.example/wiki/A_(b)", "https://[::1]:8/x")),
        ("HTTPS://A.Example/%7Ex?q=1&r=é harbour", "harbour", ("HTTPS://A.Example/%7Ex?q=1&r=é",)),
        (f"「{PAGE}」によると、港の深さは？", "によると、港の深さは？", (PAGE,)),
        (f"the same {PAGE} twice {PAGE}", "the same twice", (PAGE,)),
        ("a.example/b, www.a.example, ftp://a.example, xhttp://a.example and http:// alone", None, ()),
        ("Why   is the space kept when nothing is named?", None, ()),
    ],
)  # fmt: skip
def test_addresses_are_taken_out_of_a_question_byte_for_byte(
    question: str, rest: str | None, addresses: tuple[str, ...]
) -> None:
    assert addresses_of(question) == (question if rest is None else rest, addresses)


def test_five_addresses_are_read_and_none_is_left_in_the_question() -> None:
    rest, addresses = addresses_of("harbour " + " ".join(f"{PAGE}{n}" for n in range(7)))
    assert (rest, addresses) == ("harbour", tuple(f"{PAGE}{n}" for n in range(5)))


@given(st.text(alphabet="ahtps:/.()[]<>\"' ?,é。「", max_size=60))
def test_every_address_stands_in_the_question_and_nowhere_in_the_rest(question: str) -> None:
    rest, addresses = addresses_of(question)
    assert all(address in question for address in addresses)
    assert not addresses or addresses_of(rest)[1] == ()


@pytest.mark.parametrize(
    "rest",
    ["", "?", "What is about?", "Summarise, please.", "What does this page say?", "Worum geht es in", "Was steht auf?",
     "Résume", "¿Qué dice?", "Di cosa parla?", "О чём", "总结一下", "を要約して", "요약해 주세요"],
)  # fmt: skip
def test_a_question_without_a_subject_asks_for_the_whole_page(rest: str) -> None:
    assert asks_for_whole_page(rest)


@pytest.mark.parametrize(
    "rest", ["What does say about the harbour?", "How deep is it?", "Was steht über den Hafen?", "港の深さは", "JSON"]
)
def test_a_question_with_a_subject_does_not(rest: str) -> None:
    assert not asks_for_whole_page(rest)


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("HTTP://A.Example:80", "http://a.example/"),
        ("https://a.example:443/x?y#z", "https://a.example/x?y"),
        ("http://[::1]:8/x", "http://[::1]:8/x"),
        ("http://[bad", "http://[bad"),
        ("http://a:99999999/", "http://a:99999999/"),
    ],
)
def test_an_address_is_compared_as_kept_pages_are_named(url: str, kept: str) -> None:
    assert spelled(url) == kept
