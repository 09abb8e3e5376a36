"""Sentences: where they end, in all the scripts and with all the full stops that end none."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.evidence.abbreviations import usage_of
from firsthand.evidence.sentences import UNMARKED_MIN_CHARS, sentences
from firsthand.values import Span

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "sentences.jsonl").read_text(encoding="utf-8").splitlines()
]
MISSED = {  # known faults, so that a new one is seen; in each of them a sentence goes on that should end
    "Use str.format() here. f-strings work as well.",
    "Bkz. şek. 3 ve s. 12. Metin açık.",
    "Bydlí na ul. Dlouhá č. 5. Dům je starý.",
}
FLOOR = 0.99


def cut(body: str, language: str | None) -> list[str]:
    return [body[each.start : each.end] for each in sentences(body, Span(0, len(body)), language)]


def test_the_sentences_of_the_corpus_are_found_in_every_language() -> None:
    found: Counter[str] = Counter()
    wrong: list[str] = []
    for row in ROWS:
        made = cut(row["text"], row["language"])
        gold, ours = set(accumulated(row["sentences"])), set(accumulated(made))
        found.update(right=len(gold & ours), extra=len(ours - gold), missed=len(gold - ours))
        if made != row["sentences"]:
            wrong.append(row["text"])
    assert len(ROWS) >= 300
    assert len({row["language"] for row in ROWS}) >= 17
    assert 2 * found["right"] / (2 * found["right"] + found["extra"] + found["missed"]) >= FLOOR
    assert found["extra"] == 0
    assert set(wrong) == MISSED


def accumulated(parts: list[str]) -> list[int]:
    """Where each part but the last ends, counted in characters that are no white space."""
    ends: list[int] = []
    for part in parts[:-1]:
        ends.append((ends[-1] if ends else 0) + len("".join(part.split())))
    return ends


@pytest.mark.parametrize(
    ("body", "language", "expected"),
    [
        ("One. Two! Three? four.", "en", ["One.", "Two!", "Three? four."]),
        ("Use e.g. This one. See cf. That.", "en", ["Use e.g. This one.", "See cf. That."]),
        ("Am 3. Oktober kam z.B. Anna. Sie blieb.", "de", ["Am 3. Oktober kam z.B. Anna.", "Sie blieb."]),
        ("1. Open the file. 2. Close it.", "en", ["1. Open the file.", "2. Close it."]),
        ("И т.д. и т.п. бывает. Конец.", "ru", ["И т.д. и т.п. бывает.", "Конец."]),
        ("A line\nA second\nthat goes on", "en", ["A line", "A second\nthat goes on"]),
        ("これは文です。「はい。」と言う！次。", "ja", ["これは文です。", "「はい。」と言う！", "次。"]),
        ("Dr. Who? No. 5!", "xx", ["Dr. Who?", "No. 5!"]),
        ("Dr. Who? No. 5!", None, ["Dr. Who?", "No. 5!"]),
        ("He left ... ...", "en", ["He left ... ..."]),
        ("", "en", []),
        (" \n ", "en", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(body: str, language: str | None, expected: list[str]) -> None:
    assert cut(body, language) == expected


def test_the_same_word_may_end_a_sentence_in_one_language_and_not_in_another() -> None:
    assert cut("Es war 5. Mai kam.", "de") == ["Es war 5. Mai kam."]
    assert cut("It was 5. May came.", "en") == ["It was 5.", "May came."]


def test_thai_is_cut_at_spaces_between_long_clauses_only() -> None:
    clause = "คณะกรรมการได้อนุมัติงบประมาณสำหรับโครงการใหม่เมื่อวานนี้"
    assert cut(f"{clause} {clause} {clause}", "th") == [clause] * 3
    assert cut(f"{clause} และ{clause}", "th") == [f"{clause} และ{clause}"]
    assert cut(" ".join("ก" * 5 for _ in range(4)), "th") == ["กกกกก กกกกก กกกกก กกกกก"]
    short = "ก" * (UNMARKED_MIN_CHARS - 1)
    assert cut(f"{short} {clause}", "th") == [f"{short} {clause}"]


@given(
    st.text(st.sampled_from("aBé 1.!?…。।؟»“”\"'()[]•\n\u00a0กขครｲー「」と—;:"), max_size=120) | st.text(max_size=200),
    st.integers(0, 200),
    st.integers(0, 200),
    st.sampled_from(["en", "de", "fr", "ja", "th", "el", "hy", "xx", None]),
)
@settings(max_examples=400, deadline=None)
def test_sentences_hold_everything_but_white_space(body: str, one: int, other: int, language: str | None) -> None:
    start, end = sorted((min(one, len(body)), min(other, len(body))))
    found = sentences(body, Span(start, end), language)
    kept = "".join(body[each.start : each.end] for each in found)
    assert "".join(kept.split()) == "".join(body[start:end].split())
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(start <= each.start < each.end <= end for each in found)
    assert all(not body[each.start].isspace() and not body[each.end - 1].isspace() for each in found)
    assert found == sentences(body, Span(start, end), language)


@pytest.mark.parametrize(
    "piece",
    [
        ".",
        ". ",
        "a. ",
        "W. ",
        "1. ",
        ". a",
        "\n",
        "• ",
        "\"' ",
        "「。",
        "。",
        ".[1]",
        "« .",
        "ก ",
        "ก" * 45 + " ",
        "?!",
    ],
)
def test_a_page_of_nothing_but_marks_is_cut_in_one_pass(piece: str) -> None:
    body = piece * (150_000 // len(piece))  # with a cost that grew with the square this would take minutes
    found = sentences(body, Span(0, len(body)), "fr")
    assert sum(each.end - each.start for each in found) <= len(body)


def test_a_page_may_declare_any_language() -> None:
    assert usage_of("qq") is usage_of("qq")
    for n in range(300):
        usage_of(f"q{n}")
    assert cut("See Fig. 3. Then go.", "q299") == ["See Fig. 3.", "Then go."]
