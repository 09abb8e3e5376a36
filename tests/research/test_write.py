"""The text of an answer: page words escaped, links that end where they should, claims at their spans."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.research.write import escape, link, nothing
from tests.research.conftest import Reader

PAGES = {
    f"http://docs.example/lamp/p{n}(x).html": f"<html lang='en'><head><title>Lamp {n}</title></head><body><h1>{title}</h1><p>{words}</p></body></html>"
    for n, (title, words) in enumerate(
        [
            ("Dimming", "The lamp is dimmed with `dim_level`, *not* with the [wall] switch &lt;see below&gt;."),
            ("Colours", "Its colour changes when the button is pressed for three seconds."),
            ("Cleaning", "Wipe the shade with a dry cloth; never use water."),
            ("Bulbs", "Use bulbs of at most 40 W, dimmable ones only."),
        ]
    )
}


def test_claims_stand_at_their_spans_and_every_citation_is_a_link_to_its_source(read: Reader) -> None:
    answer = read("How is the lamp dimmed, and which bulbs may I use at most?", PAGES)
    draft = answer.draft
    assert draft.claims
    for claim in draft.claims:
        assert draft.text[claim.start : claim.end] == claim.text
        number, url = re.match(r" \[(\d+)\]\(([^()\s]+)\)", draft.text[claim.end :]).groups()  # type: ignore[union-attr]
        text_id = draft.text_ids[int(number) - 1]
        assert {cut.text_id for cut in claim.quotes} == {text_id}
        assert urlsplit(url).path.startswith("/lamp/p")


def test_page_words_are_not_formatted(read: Reader) -> None:
    draft = read("How is the lamp dimmed with dim_level?", PAGES).draft
    assert r"\*not\*" in draft.text and r"\[wall\]" in draft.text and r"\<see below\>" in draft.text


def test_limitations_and_follow_ups_are_said_in_the_language_of_the_question(read: Reader) -> None:
    german = read("Wie dimmt man lamp mit dim_level?", PAGES).draft
    assert any("Zitate bleiben" in each for each in german.limitations)
    assert all(each.startswith("Was sagen die Seiten") for each in german.follow_ups)
    assert len(german.follow_ups) <= 3


def test_nothing_found_is_one_sentence_and_what_is_missing(read: Reader) -> None:
    answer = read("How do I connect the lamp to HomeNet?", PAGES)
    assert answer.missing is not None
    draft = nothing(answer.plan, answer.missing)
    assert draft.text == "The pages that were searched do not answer this question."
    assert draft.claims == () and "HomeNet" in draft.missing[0]


@pytest.mark.parametrize("line", ["# heading", "- item", "+ item", "> quote", "1. step", "12) step"])
def test_nothing_begins_a_block(line: str) -> None:
    assert escape(line) != line
    assert "\\" in escape(line)[:4]


@given(st.text(max_size=200))
def test_any_words_become_one_line_without_live_markdown(words: str) -> None:
    line = escape(words)
    assert "\n" not in line
    unescaped = re.sub(r"\\[\\`*_\[\]<>|~$#>+\-.)]", "", line)
    assert not re.search(r"[`*\[\]<>|~$]", unescaped)


@given(st.text(max_size=100))
def test_a_link_ends_where_it_should(url: str) -> None:
    assert not re.search(r"[()<>\s]", re.sub(r"\s", "", link(url))) and "\n" not in link(url) and " " not in link(url)
