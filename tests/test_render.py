"""An answer as JSON, Markdown and terminal lines."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import render
from firsthand.errors import InvalidInput
from firsthand.values import Claim, Failure, Outcome
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


CODE = "def retry():\n    for n in range(3):\n        return n"
ROW = "timeout\t30\tSeconds before a request is given up"


def claims_of(*quotes: str) -> tuple[str, tuple[Claim, ...]]:
    """The text of an answer and its claims, one a quote, as the engine writes them."""
    text, claims = "", []
    for quote in quotes:
        words = render.escape_markdown(" ".join(quote.split()))
        start = len(text) + (2 if text else 0)
        text += ("\n\n" if text else "") + f"{words} [1](https://example.org/limits.html)"
        claims.append(Claim(words, start, start + len(words), (samples.citation(quote=quote),)))
    return text, tuple(claims)


def test_the_first_statement_stands_out_and_the_others_stand_back() -> None:
    text, claims = claims_of("At most 64 tables.", "A limit & a reason.")
    lines = render.to_terminal(samples.answer(text=text, claims=claims)).splitlines()
    assert lines[3:7] == ["  At most 64 tables. [1]", "", "Beside it", "    A limit & a reason. [1]"]
    assert "\x1b[1m  At most 64 tables. [1]" in render.to_terminal(
        samples.answer(text=text, claims=claims), colour=True
    )


def test_code_keeps_its_lines_and_a_row_its_cells() -> None:
    text, claims = claims_of("Lead.", CODE, ROW)
    shown = render.to_terminal(samples.answer(text=text, claims=claims))
    assert "      def retry():\n          for n in range(3):\n              return n\n    [1]\n" in shown
    assert "    timeout │ 30 │ Seconds before a request is given up [1]\n" in shown


@pytest.mark.parametrize(
    ("quote", "is_code"),
    [(CODE, True), ("$ make\n$ make install", True), ("a = 1\nb = 2", True), (ROW + "\n" + ROW, False),
     ("A heading\nThen a sentence of prose.", False), ("One paragraph.\n\nAnother one.", False), ("x = 1;", False)],
)  # fmt: skip
def test_code_is_known_by_its_look(quote: str, is_code: bool) -> None:
    assert render.is_code(quote) is is_code


def test_wide_characters_count_twice_and_lines_break_beside_them() -> None:
    text = "接続のタイムアウトは既定で三十秒です。この値は設定ファイルで変更できます。"
    lines = render._wrapped(text, 20, indent="  ")
    assert all(render.cell_width(line) <= 22 for line in lines) and "".join(line[2:] for line in lines) == text
    assert not any(line[2] in "、。" for line in lines)
    assert render.cut_to_width("三十秒です", 5) == "三十" and render.cut_to_width("abc", 5) == "abc"


@given(st.text())
def test_one_record_stays_one_line(text: str) -> None:
    assert len(render.visible_line(text).splitlines()) <= 1


@given(st.text(alphabet=st.characters()) | st.text(alphabet="\u202e\x9b\u200b\ud800\U000e0041\u2028a"))
def test_json_without_steering_characters_is_the_same_value(text: str) -> None:
    shown = render.escape_unseen(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    assert not re.search("[\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ud800-\udfff]", shown)


def failed_alike(n: int, host: str, outcome: Outcome = "bot_wall") -> tuple[Failure, ...]:
    return tuple(Failure("fetch", f"https://{host}.example/{at}", outcome, "The site shut us out.") for at in range(n))


def test_what_failed_alike_is_said_once_with_its_first_targets() -> None:
    alone = Failure("extract", "https://c.example/", "failed", "The site shut us out.")
    answer = samples.answer(failures=(*failed_alike(9, "a"), alone, *failed_alike(2, "b", "refused")))
    lines = render.to_terminal(answer, width=100).splitlines()
    at = lines.index("What failed")
    assert lines[at + 1 : at + 12] == [
        "  · 9 pages: bot_wall (The site shut us out.)",
        *(f"    https://a.example/{n}" for n in range(5)),
        "    and 4 more",
        "  · https://c.example/: failed (The site shut us out.)",
        "  · 2 pages: refused (The site shut us out.)",
        *(f"    https://b.example/{n}" for n in range(2)),
    ]
    markdown = render.to_markdown(answer)
    assert markdown.count("The site shut us out.") == 3
    assert "- 9 pages: bot\\_wall (The site shut us out.)\n  - https://a.example/0\n" in markdown
    rows = render.to_json(answer)["failures"]
    assert isinstance(rows, list) and len(rows) == 12


@pytest.mark.parametrize(("n", "said"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages")])
def test_one_is_no_plural(n: int, said: str) -> None:
    assert render.counted(n, "page") == said
