"""Normalisation: what is not seen goes and is counted, words never join, a second pass changes nothing."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firsthand.evidence.quotes import fold
from firsthand.web.extract.words import code, is_reversed, n_invisible, prose


def _checker() -> ModuleType:
    """The program that checks a bundle and shares no code with us: a second reading of what is not seen."""
    path = Path(__file__).parents[3] / "tools" / "verify_bundle.py"
    spec = importlib.util.spec_from_file_location("verify_bundle", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECKER = _checker()
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
ODD = st.sampled_from(
    [
        *"\0\x1b\x7f\x85\u00ad\u00a0\u0301\u0323\u034f\u0600\u061c\u0627\u0645\u0915\u094d\u180e\u1820\u200b\u200c\u200d"
        "\u200e\u200f\u2000\u2028\u202a\u202b\u202c\u202d\u202e\u2060\u2063\u2066\u2069\u212b\u2764\u3000\ufe0f\ufeff"
        "\ufb01\ufb1d\uff11\ufffa\U0001f3f4\U0001f469\U0001f4bb\U0001f3fb\U000e0001\U000e0067\U000e007f\U000e0100"
        "\u1100\u1161\u11a8\u0958\ud800 \t\n\raeoé12",
        ENGLAND,
    ]
)
RAW = st.lists(ODD | st.characters(codec="utf-8"), max_size=14).map("".join)


@given(RAW)
@example("a\u034f\u0301")
@example("\u0627\u200c\u200c\u0645")
@example("\u202e21\u202c\u2066")
def test_a_second_pass_changes_nothing(raw: str) -> None:
    assert prose(prose(raw)) == prose(raw)
    assert code(code(raw)) == code(raw)
    assert n_invisible(prose(raw)) == n_invisible(code(raw)) == 0


@given(RAW)
def test_a_text_is_composed_can_be_written_and_is_never_longer_than_what_it_was_made_of(raw: str) -> None:
    for text in (prose(raw), code(raw)):
        assert unicodedata.is_normalized("NFC", text)
        text.encode("utf-8")
        assert len(text) <= len(unicodedata.normalize("NFC", raw))


@given(st.lists(RAW, min_size=1, max_size=4), st.sampled_from([" ", "\n", "\u00a0", "\r\n", "\u2028", "\t", "\u3000"]))
def test_words_that_white_space_keeps_apart_stay_apart_and_what_is_not_seen_parts_none(
    words: list[str], space: str
) -> None:
    if any(is_reversed(word) for word in [*words, space.join(words)]):
        return  # an override reaches across words, so each of them alone is another thing
    alone = [prose(word) for word in words]
    together = prose(space.join(words))
    assert together == " ".join(word for word in alone if word) or any(map(_is_mark, alone))


def _is_mark(word: str) -> bool:
    """Whether *word* begins with what joins or shapes the character before it."""
    return word[:1] != "" and (unicodedata.category(word[0])[0] == "M" or word[0] in "\u200c\u200d\u180e")


@given(RAW)
def test_a_quote_of_a_text_is_found_in_the_page_by_both_who_check_it(raw: str) -> None:
    raw = raw.encode("utf-8", "replace").decode()  # as a page's decoder leaves it
    for text in (prose(raw), code(raw)):
        assert CHECKER.fold(text) in CHECKER.fold(raw)
        if not re.search(
            "[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202d\u202e]", raw
        ):  # folding keeps these, no body has them
            assert fold(text).text.strip() == fold(raw).text.strip()


@given(RAW)
def test_what_is_counted_is_what_was_dropped(raw: str) -> None:
    kept = [char for char in prose(raw) if not char.isspace()]
    had = [char for char in raw if not char.isspace()]
    if unicodedata.is_normalized("NFC", "".join(kept)) and unicodedata.is_normalized("NFD", "".join(had)):
        composed = unicodedata.normalize("NFD", "".join(kept))
        assert len(had) - n_invisible(raw) == len(composed)


@pytest.mark.parametrize(
    ("raw", "text", "n"),
    [
        ("plain  words\n", "plain words", 0),
        ("a\0b\x1b[2J", "ab[2J", 2),
        ("1\u200b1 cubic", "11 cubic", 1),
        ("del\u00adta", "delta", 1),
        ("Cafe\u0301 Maun", "Caf\u00e9 Maun", 0),
        ("e\u00ad\u0301", "\u00e9", 1),
        ("\ufb01ve \uff11\uff11 l1", "\ufb01ve \uff11\uff11 l1", 0),
        ("hi\U000e0044\U000e0069", "hi", 2),
        (f"{ENGLAND} won", f"{ENGLAND} won", 0),
        ("\U0001f3f4" + ENGLAND[1:-1], "\U0001f3f4", 5),
        ("\u2764\ufe0f and 1\ufe0f\u20e3", "\u2764 and 1\u20e3", 2),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb", 0),
        ("a\u200db \u200d", "ab", 2),
        ("\u212b\u200d\u3000b", "\u00c5 b", 1),
        ("\u0645\u06cc\u200c\u200c\u0631\u0648\u0645", "\u0645\u06cc\u200c\u0631\u0648\u0645", 1),
        ("\u0d30\u0d4d\u200d", "\u0d30\u0d4d\u200d", 0),
        ("Auf\u200clage", "Auflage", 1),
        ("\u202d+1 555 0100\u202c", "+1 555 0100", 2),
        ("It is \u202e21\u202c.", "It is \u202e21\u202c.", 0),
        ("\u2066a\u2069\u200e", "a", 3),
        ("a\ud800", "a\ufffd", 0),
    ],
)
def test_prose_says_what_a_reader_sees(raw: str, text: str, n: int) -> None:
    assert (prose(raw), n_invisible(raw)) == (text, n)


def test_code_keeps_lines_and_indentation() -> None:
    assert code("\n\n  a\u00a0b\u200b\t\r\n\r\n\tc  \n \n") == "  a b\n\n\tc"


@pytest.mark.parametrize(
    ("raw", "is_one"),
    [
        ("\u202e21\u202c", True),
        ("\u202e.gnihton", True),
        ("\u202d\u05d0\u05d1", True),
        ("\u202e\u2066\u206912", True),
        ("\u202e\u202a\u202c12", True),
        ("\u202d12\u202c", False),
        ("\u202e\u05d0\u05d1\u202c", False),
        ("\u202e1\u202c 23", False),
        ("\u202e\u202c12", False),
        ("\u202e\n12", False),
        ("\u202b12\u202c", False),
    ],
)
def test_an_override_reverses_only_what_runs_the_other_way(raw: str, is_one: bool) -> None:
    assert is_reversed(raw) is is_one
