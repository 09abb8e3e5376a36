"""An answer as JSON, Markdown and terminal lines."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import render
from firsthand.errors import InvalidInput
from tests import samples


def test_an_answer_survives_its_json_form() -> None:
    answer = samples.answer()
    assert render.from_json(json.loads(json.dumps(render.to_json(answer)))) == answer


def test_the_json_form_has_the_fields_of_the_contract_in_its_order() -> None:
    value = render.to_json(samples.answer())
    assert list(value) == [
        "schema", "id", "question", "language", "mode", "verify", "status", "text", "claims", "sources", "missing",
        "conflicts", "limitations", "failures", "omitted", "follow_ups", "usage", "elapsed_ms", "engine",
    ]  # fmt: skip
    claims = value["claims"]
    assert isinstance(claims, list) and isinstance(claims[0], dict)
    assert list(claims[0]) == ["text", "start", "end", "citations", "corroboration"]


@pytest.mark.parametrize("value", [None, [], {}, {"schema": "firsthand.answer/2"}, {"schema": "firsthand.answer/1"}])
def test_what_is_no_answer_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        render.from_json(value)


@given(st.text())
def test_nothing_that_steers_a_terminal_stays_raw(text: str) -> None:
    shown = render.visible(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    shown.encode("utf-8")  # lone surrogates are gone too


def test_an_escape_sequence_in_a_quote_title_and_address_reaches_the_terminal_as_marks() -> None:
    evil = "\x1b]0;owned\x07\x1b[31mred"
    source = samples.answer().sources[0]
    answer = samples.answer(
        question=evil,
        text=evil,
        sources=(type(source)(1, evil, evil, evil, "", None, source.snapshot, "text/html"),),
        missing=(evil,),
    )
    assert "\x1b" not in render.to_terminal(answer, width=60)


@given(st.text(alphabet="ab \\`*_[]()<>!#|~{}\n1", max_size=60))
def test_escaped_words_come_back_as_they_were(text: str) -> None:
    assert render._ESCAPED.sub(r"\1", render.escape_markdown(text)) == text


def test_terminal_lines_fit_the_width_except_addresses() -> None:
    text = "word " * 80
    lines = render.to_terminal(samples.answer(text=text), width=40).splitlines()
    assert max(len(line) for line in lines if "http" not in line) <= 40


def test_markdown_of_a_page_title_with_a_link_stays_text() -> None:
    source = samples.answer().sources[0]
    title = "[click](javascript:alert(1)) <img src=x>"
    answer = samples.answer(sources=(type(source)(1, source.url, title, "", "", None, source.snapshot, "text/html"),))
    markdown = render.to_markdown(answer)
    assert "](javascript:" not in markdown.replace("\\]", "")
    assert "\\<img" in markdown


def test_an_address_cannot_end_the_link_it_stands_in() -> None:
    assert render.link_target("https://a.org/x)(y z") == "https://a.org/x%29%28y%20z"
