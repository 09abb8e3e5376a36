"""Spellings a slip of the finger away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.evidence.spelling import slips


@pytest.mark.parametrize("slip", ["chekpoint", "checkpiont", "checkpooint", "checkpoimt", "checkpoin"])
def test_a_lost_swapped_added_or_changed_letter_leads_back(slip: str) -> None:
    assert "checkpoint" in slips(slip)


@given(st.text(alphabet="abcdez", min_size=4, max_size=9))
def test_a_slip_of_a_slip_can_lead_back(term: str) -> None:
    assert term not in slips(term)
    for slip in list(slips(term))[:20]:
        assert len(slip) < 4 or term in slips(slip)


def test_short_words_and_identifiers_are_left_alone() -> None:
    assert slips("wal") == set()
    assert slips("utf8") == set()
