"""The forest: the table that ships fits the features, and all ways through it give what each tree says by itself."""

from __future__ import annotations

import math
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.web.extract import EXTRACTOR_VERSION, trees
from firsthand.web.extract.drafts import Draft
from firsthand.web.extract.features import Page, measure
from firsthand.web.extract.trees import TABLE, Trees, load_trees, parse_trees
from firsthand.web.extract.walk import Container

SMALL = """# a remark
feature size
feature links
word nav -2.5
tree 0:3.5:1:2 1:0.5:3:4 =0.25 =-1 =2
tree =0.5
tree 1:0.5:1:2 =-0.125 0:10:3:4 =1 =-3
"""


def by_hand(row: list[float]) -> float:
    """What the three trees of SMALL add up to, written as a person reads them."""
    size, links = row
    first = 0.25 if size > 3.5 else (2.0 if links > 0.5 else -1.0)
    third = (-3.0 if size > 10 else 1.0) if links > 0.5 else -0.125
    return 1 / (1 + math.exp(-(first + 0.5 + third)))


def scored(model: Trees, rows: list[list[float]]) -> list[float]:
    return [float(score) for score in model.scores(np.array(rows, dtype=np.float32).reshape(-1, 2))]


VALUES = st.sampled_from([0.0, 0.5, 0.75, 1.0, 3.0, 3.5, 4.0, 10.0, 11.0])


@given(st.lists(st.tuples(VALUES, VALUES).map(list), max_size=30))
def test_a_row_gets_what_a_person_reads_from_the_table(rows: list[list[float]]) -> None:
    assert scored(parse_trees(SMALL), rows) == pytest.approx([by_hand(row) for row in rows], abs=1e-6)


def test_a_table_names_its_features_and_its_words() -> None:
    model = parse_trees(SMALL)
    assert (model.names, model.lexicon, len(model.roots), model.depth) == (("size", "links"), {"nav": -2.5}, 3, 2)


def test_rows_beyond_one_portion_are_scored_like_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_trees()
    table = np.random.default_rng(1).normal(0, 5, (23, len(model.names))).astype(np.float32)
    whole = model.scores(table)
    monkeypatch.setattr(trees, "_ROWS_AT_ONCE", 5)
    assert np.array_equal(model.scores(table), whole)


def test_only_a_row_without_doubt_is_left_at_the_first_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_trees()
    table = np.random.default_rng(2).normal(0, 5, (200, len(model.names))).astype(np.float32)
    fast = model.scores(table)
    monkeypatch.setattr(trees, "_SURE", math.inf)
    slow = model.scores(table)
    changed = fast != slow
    assert 0 < changed.sum() < len(table)
    assert (np.abs(np.log(fast / (1 - fast)))[changed] >= 1.99).all()


def test_the_table_that_ships_was_made_for_these_features_and_says_from_what() -> None:
    block = Draft("paragraph", "Some words of a page.")
    measured = measure([block], [Container("", None, 0, 0, 0)], Page(), {})
    assert load_trees().names == measured.names
    assert measured.table.shape == (1, len(measured.names))
    source = (files("firsthand.web.extract") / TABLE).read_text(encoding="utf-8")
    assert "tools/train_judge.py" in source and "CC-BY-4.0" in source
    assert f"extractor version {EXTRACTOR_VERSION}." in source
