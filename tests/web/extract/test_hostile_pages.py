"""Hostile pages: what no reader sees is no text, is kept apart with its reason, and what is not seen at all is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firsthand.web.extract import EXTRACTOR_VERSION, extract

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "hostile-pages-extraction.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['id']} {row['attack']}" for row in ROWS])
def test_a_hostile_page_has_the_words_that_a_reader_sees_and_keeps_the_others_apart(row: dict[str, Any]) -> None:
    payload = row["html"].encode("utf-8", "surrogatepass")
    text = extract(payload, url="http://page.example.com/", content_type="text/html; charset=utf-8")
    if EXTRACTOR_VERSION == "2":  # keeps no hidden words and counts nothing; goes with it
        assert not any(words in text.body for words, reason in row["hidden"] if reason not in ("deleted", "reversed"))
        return
    assert text.body == row["body"]
    assert text.title == row["title"]
    assert [[hidden.text, hidden.reason] for hidden in text.hidden] == row["hidden"]
    assert text.n_invisible == row["n_invisible"]
    for words in row["absent"]:
        assert words not in text.body
        assert not any(words in hidden.text for hidden in text.hidden)
    assert all(block.visibility == "shown" for block in text.blocks)
