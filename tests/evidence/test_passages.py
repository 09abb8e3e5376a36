"""Passages: what is chosen for reading."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.evidence.passages import PASSAGE_MAX_CHARS, passages
from firsthand.values import Block, BlockKind, Passage, Span, Text


def text_of(*parts: tuple[BlockKind, str] | tuple[BlockKind, str, dict[str, object]], language: str = "en") -> Text:
    """A text of blocks, a blank line between them; headings above a block are found from its options."""
    body = ""
    blocks: list[Block] = []
    for kind, words, *options in parts:
        body += "\n\n" if body else ""
        fields: dict[str, object] = dict(options[0]) if options else {}
        blocks.append(Block(kind, Span(len(body), len(body) + len(words)), **fields))  # type: ignore[arg-type]
        body += words
    return Text(body=body, blocks=tuple(blocks), media_type="text/html", language=language)


def words_of(text: Text) -> list[str]:
    return [text.body[each.span.start : each.span.end] for each in passages(text)]


def test_each_block_is_a_passage_with_its_headings_and_headings_are_none() -> None:
    text = text_of(
        ("heading", "Limits", {"level": 1}),
        ("paragraph", "There are limits.", {"headings": ("Limits",)}),
        ("code", "PRAGMA x;", {"headings": ("Limits",)}),
    )
    assert passages(text) == (
        Passage(0, Span(8, 25), "paragraph", headings=("Limits",)),
        Passage(1, Span(27, 36), "code", headings=("Limits",), lead="There are limits."),
    )


def test_a_heading_with_nothing_under_it_is_a_passage() -> None:
    text = text_of(
        ("heading", "Set", {"level": 1}),
        ("heading", "Empty", {"level": 2}),
        ("heading", "Full", {"level": 2}),
        ("paragraph", "Words."),
        ("heading", "Last", {"level": 2}),
    )
    assert words_of(text) == ["Empty", "Words.", "Last"]


def test_terms_stand_with_the_beginning_of_their_definition_and_head_the_rest() -> None:
    text = text_of(
        ("term", "-a", {"group": 1, "headings": ("Options",)}),
        ("term", "--all", {"group": 1, "headings": ("Options",)}),
        ("definition", "Take all.", {"group": 1, "headings": ("Options",)}),
        ("definition", "Slowly.", {"group": 1, "headings": ("Options",)}),
        ("term", "-b", {"group": 1, "headings": ("Options",)}),
        ("definition", "Be brief.", {"group": 1, "headings": ("Options",)}),
    )
    assert words_of(text) == ["-a\n\n--all\n\nTake all.", "Slowly.", "-b\n\nBe brief."]
    assert [each.headings for each in passages(text)] == [("Options",), ("Options", "-a, --all"), ("Options",)]


def test_a_definition_before_any_term_is_a_passage() -> None:
    text = text_of(("definition", "It comes first.", {"group": 1}), ("term", "-a", {"group": 1}))
    assert words_of(text) == ["It comes first.", "-a"]


def test_a_term_without_a_definition_is_a_passage() -> None:
    text = text_of(("term", "-a", {"group": 1}), ("paragraph", "Other."), ("term", "-b", {"group": 2}))
    assert words_of(text) == ["-a", "Other.", "-b"]


def test_rows_items_and_code_remember_what_announced_them() -> None:
    announcement = "x" * 300 + " these:"
    text = text_of(
        ("paragraph", announcement),
        ("item", "one", {"group": 1}),
        ("item", "two", {"group": 1}),
        ("row", "a\tb", {"group": 2, "header": ("A", "B"), "caption": "Letters"}),
        ("heading", "Next", {"level": 1}),
        ("code", "c", {"headings": ("Next",)}),
    )
    one, two, row, code = passages(text)[1:]
    assert one.lead == two.lead == row.lead == announcement[-250:]
    assert (row.header, row.caption) == (("A", "B"), "Letters")
    assert code.lead == ""


def test_short_lists_of_links_and_what_is_not_main_are_no_passages() -> None:
    text = text_of(
        ("item", "Home", {"link_share": 1.0}),
        ("paragraph", "Cookies?", {"main": False}),
        ("paragraph", "The text."),
        ("paragraph", "long " * 100, {"link_share": 1.0}),
    )
    assert words_of(text) == ["The text.", "long " * 100]


def test_a_page_without_main_content_is_read_whole() -> None:
    text = text_of(("heading", "T", {"level": 1}), ("paragraph", "Only this.", {"main": False}))
    assert words_of(text) == ["Only this."]


def test_a_long_block_is_cut_at_the_ends_of_sentences() -> None:
    sentence = "Every word of this sentence is here for its length only. "
    text = text_of(("paragraph", (sentence * 60).strip()))
    cut = words_of(text)
    assert len(cut) > 3
    assert all(600 <= len(each) <= PASSAGE_MAX_CHARS and each.endswith("only.") for each in cut)
    assert " ".join(cut) == text.body


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["heading", "paragraph", "item", "term", "definition", "code", "row", "caption", "quote"]),
            st.text("ab .\n。1é字", max_size=30).map(lambda words: words * 70) | st.text(max_size=40),
            st.fixed_dictionaries({"main": st.booleans(), "group": st.integers(0, 2), "level": st.integers(0, 3)}),
        ),
        max_size=8,
    )
)
@settings(max_examples=150, deadline=None)
def test_passages_are_ordered_bounded_spans_that_hold_words(
    parts: list[tuple[BlockKind, str, dict[str, object]]],
) -> None:
    text = text_of(*parts)
    at = 0
    for seq, each in enumerate(passages(text)):
        assert each.seq == seq
        assert at <= each.span.start < each.span.end <= len(text.body)
        assert text.body[each.span.start : each.span.end].strip()
        at = each.span.end
