"""From scores to the main blocks: the set is the best there is, and each kind of page gets what is known of it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.values import BlockKind
from firsthand.web.extract.choice import choose, choose_article, choose_manual, with_headings
from firsthand.web.extract.drafts import Draft
from firsthand.web.extract.elements import NAV, QUOTE
from firsthand.web.extract.walk import Container


def expected_f1(scores: list[float], words: list[int], chosen: tuple[int, ...]) -> float:
    """Twice the words expected in common over the words of both, as its definition has it."""
    common = sum(scores[at] * words[at] for at in chosen)
    both = sum(words[at] for at in chosen) + sum(score * n for score, n in zip(scores, words, strict=True))
    return 2 * common / both if both else 0.0


BLOCKS = st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(1, 400)), min_size=1, max_size=8)


@given(BLOCKS)
def test_no_set_of_blocks_has_a_larger_expected_f1(blocks: list[tuple[float, int]]) -> None:
    scores, words = [score for score, _ in blocks], [n for _, n in blocks]
    chosen, expected = choose(np.array(scores), np.array(words, dtype=float))
    places = range(len(blocks))
    best = max(expected_f1(scores, words, some) for n in range(1, len(blocks) + 1) for some in combinations(places, n))
    assert expected == pytest.approx(best, abs=1e-6)
    assert expected_f1(scores, words, tuple(np.flatnonzero(chosen))) == pytest.approx(best, abs=1e-6)


def page(*rows: tuple[BlockKind, str, str], flags: int = 0) -> tuple[list[Draft], list[Container]]:
    """Blocks, each in a container of its own with the class that is named, in one that holds all."""
    drafts = [Draft(kind, text, container=at + 2) for at, (kind, text, _) in enumerate(rows)]
    containers = [Container("", None, 0, 0, 0), Container("div", None, 0, 0, 0)]
    containers += [Container("div", (name, None, None), 1, flags, at) for at, (_, _, name) in enumerate(rows)]
    for container in containers[:2]:
        container.end = len(rows)
    for at, container in enumerate(containers[2:]):
        container.end = at + 1
    return drafts, containers


def spans(containers: list[Container]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([c.start for c in containers]), np.array([c.end for c in containers])


TEXT = "word " * 60


def test_the_comments_of_an_article_are_not_main_unless_they_are_all_there_is() -> None:
    drafts, containers = page(("paragraph", TEXT, "body"), ("paragraph", "I do not agree.", "comment-text"))
    chosen, _ = choose_article(drafts, containers, np.array([0.9, 0.8]), np.array([60.0, 4.0]), *spans(containers))
    assert chosen.tolist() == [True, False]
    drafts, containers = page(("paragraph", TEXT, "comment-text"), ("paragraph", "Menu", "nav"))
    chosen, _ = choose_article(drafts, containers, np.array([0.9, 0.1]), np.array([60.0, 1.0]), *spans(containers))
    assert chosen.tolist() == [True, False]


def test_a_block_that_holds_the_beginnings_of_three_others_is_a_copy() -> None:
    parts = [f"Paragraph number {n} says something of its own, " + "at some length " * 8 for n in range(4)]
    rows: list[tuple[BlockKind, str, str]] = [("paragraph", part, "") for part in parts]
    drafts, containers = page(*rows, ("paragraph", " ".join(parts) * 2, ""))
    chosen, scores = choose_article(
        drafts, containers, np.full(5, 0.9), np.array([20.0] * 4 + [160.0]), *spans(containers)
    )
    assert chosen.tolist() == [True] * 4 + [False] and scores[4] == 0


def test_what_an_article_quotes_in_its_best_place_is_main() -> None:
    drafts, containers = page(("paragraph", TEXT, ""), ("quote", "Words of another.", ""), ("paragraph", TEXT, ""))
    containers[3].flags = QUOTE
    scores, words = np.array([0.9, 0.1, 0.9]), np.array([60.0, 3.0, 60.0])
    chosen, _ = choose_article(drafts, containers, scores, words, *spans(containers))
    assert chosen.tolist() == [True, True, True]


def test_a_manual_keeps_its_title_and_lists_and_code_whole_but_no_menu() -> None:
    drafts, containers = page(
        ("heading", "pump(1)", ""),
        ("paragraph", TEXT, ""),
        ("item", "one", ""),
        ("item", "two", ""),
        ("item", "three", ""),
        ("code", "pump --fast", ""),
        ("paragraph", TEXT, ""),
        ("item", "Home", "menu"),
    )
    for draft in drafts[2:5]:
        draft.group = 1
    drafts[0].level = 1
    drafts[7].group = 2
    containers[9].flags = NAV
    containers[1].start, containers[2].parent = 1, 0  # the title stands outside of what holds the rest
    words = np.array([1.0, 60, 1, 1, 1, 2, 60, 1])
    scores = np.array([0.05, 0.9, 0.5, 0.5, 0.1, 0.1, 0.9, 0.1])
    chosen = choose_manual(drafts, containers, scores, words, *spans(containers))
    assert chosen.tolist() == [True] * 7 + [False]


def test_a_heading_right_above_main_text_is_main_if_it_may_be() -> None:
    drafts = [Draft("heading", "A", level=2), Draft("paragraph", TEXT), Draft("heading", "B", level=2)]
    drafts += [Draft("paragraph", "Away"), Draft("heading", "C", level=2), Draft("paragraph", TEXT)]
    chosen = np.array([False, True, False, False, False, True])
    scores = np.array([0.4, 0.9, 0.4, 0.1, 0.1, 0.9])
    assert with_headings(drafts, scores, chosen).tolist() == [True, True, False, False, False, True]
