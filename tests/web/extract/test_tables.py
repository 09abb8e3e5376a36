"""Tables: which hold data, and that every cell stands under the names of its column and beside those of its row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from firsthand.web.extract.tables import (
    MAX_COLUMNS,
    MAX_ROWS_SPANNED,
    Cell,
    Line,
    Row,
    Table,
    span_of,
    table_of,
)

LABELLED = [json.loads(line) for line in (Path(__file__).parents[2] / "data" / "tables.jsonl").read_text().splitlines()]


def parsed(html: str) -> LexborNode:
    node = LexborHTMLParser(html).css_first("table")
    assert node is not None
    return node


@pytest.mark.parametrize("row", LABELLED, ids=[row["what"] for row in LABELLED])
def test_tables_of_data_are_told_from_those_that_place_things(row: dict[str, Any]) -> None:
    table = parsed(row["html"])
    assert (table_of(table, table.attributes, 1) is not None) is row["is_data"]


def lines(html: str) -> list[Line]:
    """Every line of a table, read as a walk reads it."""
    node = parsed(html)
    table = table_of(node, node.attributes, 1)
    assert table is not None
    found = []
    for tr in node.css("tr"):
        row = Row(in_head=tr.parent is not None and tr.parent.tag == "thead")
        for cell in tr.iter():
            colspan = span_of(cell.attributes.get("colspan"), MAX_COLUMNS)
            rowspan = span_of(cell.attributes.get("rowspan"), MAX_ROWS_SPANNED)
            text = cell.text().strip()
            row.cells.append(Cell(cell.tag == "th", colspan, rowspan, [text] if text else []))
        line = table.line(row, is_last_piece=True)
        if line is not None:
            found.append(line)
    return found


def said(html: str) -> list[tuple[str, tuple[str, ...], int]]:
    return [(line.text, line.header, line.row_heads) for line in lines(html)]


def test_header_rows_one_under_the_other_name_the_columns_together() -> None:
    html = "<table><tr><th rowspan=2>Steel<th colspan=2>Strength<tr><th>MPa<th>ksi<tr><td>A<td>250<td>36</table>"
    assert said(html)[-1] == ("A\t250\t36", ("Steel", "Strength MPa", "Strength ksi"), 0)


def test_a_later_row_of_header_cells_begins_a_header_of_its_own_and_a_lone_one_does_not() -> None:
    html = "<table><tr><th>A<th>B<tr><td>1<td>2<tr><th colspan=2>Part<tr><td>3<td>4<tr><th>C<th>D<tr><td>5<td>6</table>"
    found = {text: header for text, header, _ in said(html)}
    assert (found["1\t2"], found["3\t4"], found["5\t6"]) == (("A", "B"), ("A", "B"), ("C", "D"))


def test_a_first_row_in_bold_is_a_header_and_bold_everywhere_is_none() -> None:
    head = "<table><tr><td><b>A</b><td><strong><a>B</a></strong>"
    assert said(head + "<tr><td>1<td>2<tr><td>3<td>4</table>")[-1] == ("3\t4", ("A", "B"), 0)
    assert said(head + "<tr><td><b>1</b><td><b>2</b><tr><td>3<td>4</table>")[-1] == ("3\t4", (), 0)
    assert said("<table><tr><td><b>A</b> a<td><b>B</b><tr><td>1<td>2<tr><td>3<td>4</table>")[-1] == ("3\t4", (), 0)


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        (["Product|Ease|Price", "Eureka|9.2|$300", "Uplift|8.5|$599"], ("Product", "Ease", "Price")),
        (["|2019|Change", "Sales|5|1.5", "Costs|4|-2"], ("", "2019", "Change")),
        (["|2019|2020", "Sales|5|1.5", "Costs|4|-2"], ()),  # a year alone may be a value
        (["Memory:|8 GB|Weight:", "Disk:|1 TB|3 pounds", "Ports:|4|2 years"], ()),
        (["Name|Eureka", "Weight|3", "Price|$300"], ()),
        (["Mon|Rest|Run", "Tue|Run|Rest", "Wed|Rest|Run"], ()),
        (["a|b|c", "d|1|2"], ()),
    ],
)
def test_a_first_row_that_alone_has_words_over_figures_is_a_header(rows: list[str], header: tuple[str, ...]) -> None:
    html = "".join(f"<tr><td>{row.replace('|', '<td>')}" for row in rows)
    assert said(f"<table>{html}</table>")[-1][1] == header


def test_leading_header_cells_name_their_row_across_rows_that_one_of_them_covers() -> None:
    html = """<table><tr><td><th>Q1<th>Q2<tr><th rowspan=2>North<th>Sales<td>1<td>2<tr><th>Costs<td>3<td>4
      <tr><th colspan=2>South<td>5<td>6</table>"""
    assert [(text, heads) for text, _, heads in said(html)[1:]] == [
        ("North\tSales\t1\t2", 2),
        ("\tCosts\t3\t4", 2),
        ("South\t\t5\t6", 2),
    ]


def test_a_cell_that_is_covered_from_above_keeps_its_column_empty() -> None:
    html = "<table><tr><th>A<th>B<th>C<tr><td>1<td rowspan=2>2<td>3<tr><td>4<td>5</table>"
    assert [text for text, _, _ in said(html)] == ["A\tB\tC", "1\t2\t3", "4\t\t5"]


@pytest.mark.parametrize(
    ("written", "means"),
    [(None, 1), ("", 1), ("3", 3), (" 2 ", 2), ("0", 1), ("-4", 1), ("99999999999999999999", 50), ("²", 1), ("2.5", 1)],
)
def test_a_span_is_a_number_whatever_was_written(written: str | None, means: int) -> None:
    assert span_of(written, MAX_COLUMNS) == means


CELLS = st.lists(
    st.builds(
        lambda is_header, colspan, rowspan, words: Cell(is_header, colspan, rowspan, words),
        st.booleans(),
        st.sampled_from([1, 1, 1, 2, 3, MAX_COLUMNS]),
        st.sampled_from([1, 1, 1, 2, MAX_ROWS_SPANNED]),
        st.sampled_from([[], ["w"], ["two", "words"]]),
    ),
    max_size=8,
)


@given(st.lists(st.tuples(CELLS, st.booleans()), max_size=6))
def test_no_table_loses_a_word_outgrows_its_bounds_or_names_more_cells_than_it_has(
    rows: list[tuple[list[Cell], bool]],
) -> None:
    table = Table(1)
    for cells, in_head in rows:
        words = " ".join(" ".join(cell.parts) for cell in cells).split()
        n_cells = len(cells)
        line = table.line(Row(cells=list(cells), in_head=in_head), is_last_piece=True)
        assert (line.text.split() if line else []) == words
        assert len(table.header) <= MAX_COLUMNS
        if line is not None:
            n_columns = line.text.count("\t") + 1
            assert n_columns <= MAX_COLUMNS + n_cells
            assert len(line.header) <= max(n_columns, MAX_COLUMNS)
            assert line.row_heads <= n_columns
