"""Cells: every word of a row is in one cell, exactly where it stands, with the names of its row and column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.evidence.cells import cell_at, cells
from firsthand.values import Block, Span


def row(text: str, *header: str, heads: int = 0, before: str = "") -> tuple[str, Block]:
    span = Span(len(before), len(before) + len(text))
    return f"{before}{text}\n\nafter", Block("row", span, header=header, row_heads=heads)


def named(text: str, *header: str, heads: int = 0) -> list[tuple[str, str]]:
    body, block = row(text, *header, heads=heads, before="Before.\n\n")
    return [(body[cell.span.start : cell.span.end], cell.label) for cell in cells(body, block)]


@pytest.mark.parametrize(
    ("text", "header", "heads", "said"),
    [
        (
            "A\t250\t36",
            ("Steel", "MPa", "ksi"),
            0,
            [("A", "Steel"), ("250", "A · MPa"), ("36", "A · ksi")],
        ),
        ("Brand\tAcme", (), 1, [("Brand", ""), ("Acme", "Brand")]),
        ("North\tSales\t1", ("", "", "Q1"), 2, [("North", ""), ("Sales", ""), ("1", "North Sales · Q1")]),
        ("\tCosts\t3", ("", "", "Q1"), 2, [("Costs", ""), ("3", "Costs · Q1")]),
        ("1\t2", (), 0, [("1", ""), ("2", "")]),
        ("A\t\t3", ("x", "y"), 0, [("A", "x"), ("3", "A")]),
        ("w" * 81 + "\t3", ("x", "y"), 0, [("w" * 81, "x"), ("3", "y")]),
        ("only", ("x",), 0, [("only", "x")]),
    ],
)
def test_a_cell_is_named_by_its_row_and_its_column(
    text: str, header: tuple[str, ...], heads: int, said: list[tuple[str, str]]
) -> None:
    assert named(text, *header, heads=heads) == said


def test_only_rows_have_cells() -> None:
    assert cells("a\tb", Block("paragraph", Span(0, 3))) == ()


def test_a_quote_inside_one_cell_has_its_names_and_one_across_cells_has_none() -> None:
    body, block = row("Model A\t250 MPa", "Steel", "Strength")
    inside = cell_at(body, block, Span(8, 11))
    assert inside is not None and inside.label == "Model A · Strength"
    assert cell_at(body, block, Span(0, 11)) is None


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\t\n"), max_size=9), min_size=1, max_size=6),
    st.lists(st.text(max_size=4), max_size=8),
    st.integers(0, 9),
)
def test_spans_are_exact_in_order_and_no_word_is_lost(texts: list[str], header: list[str], heads: int) -> None:
    body, block = row("\t".join(texts), *header, heads=heads, before="x\n")
    found = cells(body, block)
    assert [body[cell.span.start : cell.span.end] for cell in found] == [text for text in texts if text.strip()]
    assert all(block.span.start <= cell.span.start < cell.span.end <= block.span.end for cell in found)
