"""What a question must be before it is asked."""

from __future__ import annotations

import pytest

from firsthand.errors import InvalidInput
from firsthand.live.asking import QUESTION_MAX_CHARS, checked_question


def test_a_question_is_one_line() -> None:
    assert checked_question("  Why\n\tso? ") == "Why so?"
    assert checked_question("x" * QUESTION_MAX_CHARS) == "x" * QUESTION_MAX_CHARS


@pytest.mark.parametrize(
    ("text", "code"), [("", "empty_question"), (" \n", "empty_question"), ("x" * 4001, "question_too_long")]
)
def test_none_or_too_much_of_it_is_refused(text: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        checked_question(text)
    assert caught.value.code == code
