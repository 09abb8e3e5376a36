"""Main text of pages of many kinds, written for this project, does not get worse than its pinned floors.

``floors.json`` holds the word-F1 that each page reached, less a hundredth. A floor is lowered by hand only, with the
reason in the commit. The pages say whether something broke; how good extraction is, the public sets say.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.extraction_readers import all_text, main_text, ours
from evals.extraction_score import match
from evals.extraction_sets import Case, load

FOLDER = Path(__file__).parent / "data" / "extraction"
FLOORS: dict[str, float] = json.loads((FOLDER / "floors.json").read_text(encoding="utf-8"))
CASES = {case.page: case for case in load("golden", FOLDER)}


def test_every_page_has_a_floor_and_every_floor_a_page() -> None:
    assert sorted(FLOORS) == sorted(CASES)
    assert len(FLOORS) >= 12


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.page)
def test_main_text_stays_above_its_floor(case: Case) -> None:
    text, outcome = ours(case.payload(), case.url)
    told = match(main_text(text), case.gold)
    assert told.f1 >= FLOORS[case.page], (outcome, told, main_text(text))


@pytest.mark.parametrize("case", [case for case in CASES.values() if case.gold], ids=lambda case: case.page)
def test_every_word_of_the_gold_stands_in_some_block(case: Case) -> None:
    text, _ = ours(case.payload(), case.url)
    assert match(all_text(text), case.gold).recall == 1.0


def test_what_no_reader_sees_stands_in_no_block() -> None:
    text, _ = ours(CASES["hidden"].payload(), CASES["hidden"].url)
    body = "" if text is None else text.body.lower()
    assert "threshing" in body
    found = [words for words in ("ignore all earlier", "assistant:", "cheap beans", "banana") if words in body]
    assert found == []
