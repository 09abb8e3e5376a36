"""What all codecs share: addresses, text, and queries cut to size."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.web.search.phrasing import shorten
from firsthand.web.search.reading import clean, hit_url


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://example.org/",
        "//example.org/",
        "/relative",
        "https://user:secret@example.org/",
        "https://user@example.org/",
        "https://",
        "https://exa mple.org/",
        "https://[::1",
        "https://example.org/\ud800",
        "https://example.org/" + "a" * 5000,
    ],
)
def test_what_is_not_a_plain_web_address_is_no_hit(raw: str) -> None:
    assert hit_url(raw) is None


def test_an_address_that_a_provider_decoded_is_encoded_again() -> None:
    assert hit_url(" HTTPS://Example.ORG:443/a b/ü?q=ä#x ") == "https://example.org/a%20b/%C3%BC?q=%C3%A4#x"
    assert hit_url("https://example.org/100%25") == "https://example.org/100%25"


def test_text_loses_what_could_steer_a_terminal_or_reorder_a_line() -> None:
    assert clean("a\x1b[31mb\u202ec\r\n d\u2028e", 100) == "a[31mbc de"


def test_a_query_that_fits_is_left_alone() -> None:
    assert shorten("the  same the same", 18) == "the same the same"


def test_commands_to_a_search_service_lose_their_sign() -> None:
    assert shorten("!g !!w \\python ! what is this!", 100) == "g w python what is this!"


def test_names_outlive_common_words_and_keep_their_order() -> None:
    text = "why would anyone at all choose Kubernetes over systemd-nspawn for x86_64 machines in Zürich"
    assert shorten(text, 45) == "why Kubernetes systemd-nspawn x86_64 Zürich"


def test_a_word_that_begins_a_sentence_yields_to_one_that_is_capitalised_inside() -> None:
    assert shorten("Because it is so. However nobody asked Turing.", 14) == "Because Turing"


def test_a_quoted_phrase_stays_whole_or_goes() -> None:
    assert shorten('aaaa bbbb "to be or not" cccc', 15) == '"to be or not"'
    assert '"' not in shorten('aaaa bbbb "to be or not" cccc', 10)


def test_a_script_without_spaces_is_cut_at_a_character() -> None:
    assert shorten("東京" * 400, 400) == "東京" * 200


def test_a_key_pasted_into_a_question_does_not_push_the_question_out() -> None:
    assert shorten("what is this " + "a1" * 600, 400) == "what is this"


def test_words_are_counted_where_the_provider_counts_them() -> None:
    assert len(shorten(" ".join(f"word{n}" for n in range(90)), 4000, 50).split()) == 50


@settings(deadline=None)
@given(st.text(max_size=900), st.integers(1, 200), st.integers(1, 20))
def test_no_query_is_longer_than_the_limit(text: str, max_chars: int, max_words: int) -> None:
    short = shorten(text, max_chars, max_words)
    assert len(short) <= max_chars and len(short.split()) <= max_words and short == " ".join(short.split())
