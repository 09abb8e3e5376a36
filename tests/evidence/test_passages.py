"""Passages: what is chosen for reading."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.evidence.passages import PASSAGE_MAX_CHARS, PASSAGE_MAX_SENTENCES, passages
from firsthand.evidence.sentences import sentences
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


def test_short_lists_of_links_are_no_passages() -> None:
    text = text_of(
        ("item", "Home", {"link_share": 1.0}),
        ("paragraph", "The text."),
        ("paragraph", "long " * 100, {"link_share": 1.0}),
    )
    assert words_of(text) == ["The text.", ("long " * 100)]


def test_what_stands_beside_the_main_content_comes_last_and_is_marked_and_menus_and_labels_are_left_out() -> None:
    aside = "Somebody else wrote this about something else."
    text = text_of(
        ("paragraph", aside, {"main": False}),
        ("item", "Home", {"main": False, "link_share": 1.0}),
        ("item", "A long line of a menu that leads to other pages", {"main": False, "link_share": 0.5}),
        ("paragraph", "Cookies?", {"main": False}),
        ("heading", "A heading that nobody takes for the main one", {"main": False}),
        ("paragraph", "The text."),
    )
    assert words_of(text) == ["The text.", aside]
    assert [each.main for each in passages(text)] == [True, False]


def test_what_a_reader_has_to_open_is_marked_and_stands_where_it_stands() -> None:
    text = text_of(("paragraph", "One."), ("paragraph", "Two.", {"visibility": "collapsed"}), ("paragraph", "Three."))
    assert words_of(text) == ["One.", "Two.", "Three."]
    assert [each.main for each in passages(text)] == [True, False, True]


def test_a_page_without_main_content_is_read_whole() -> None:
    text = text_of(("heading", "T", {"level": 1}), ("paragraph", "Only this.", {"main": False}))
    assert words_of(text) == ["Only this."]
    assert passages(text)[0].main


def test_a_term_stands_with_its_definition_unless_something_else_stands_between() -> None:
    between = "Words of the side of the page, which are worth keeping."
    text = text_of(
        ("term", "-a", {"group": 1}),
        ("paragraph", between, {"main": False}),
        ("definition", "Take all.", {"group": 1}),
        ("term", "-b", {"group": 1}),
        ("paragraph", "Platform", {"main": False}),
        ("definition", "Be brief.", {"group": 1}),
    )
    assert words_of(text) == ["-a", "Take all.", "-b\n\nPlatform\n\nBe brief.", between]


def test_a_paragraph_of_more_than_four_sentences_is_cut_evenly() -> None:
    text = text_of(("paragraph", "One is. Two is. Three is. Four is. Five is. Six is."))
    assert words_of(text) == ["One is. Two is. Three is. ", "Four is. Five is. Six is."]


def test_an_item_of_many_short_sentences_stays_whole() -> None:
    text = text_of(("item", "One is. Two is. Three is. Four is. Five is."))
    assert words_of(text) == ["One is. Two is. Three is. Four is. Five is."]


def test_a_long_block_is_cut_at_the_ends_of_sentences() -> None:
    sentence = "Every word of this sentence is here for its length only. "
    text = text_of(("paragraph", (sentence * 60).strip()))
    cut = words_of(text)
    assert len(cut) == 60 / PASSAGE_MAX_SENTENCES
    assert all(each.rstrip().endswith("only.") for each in cut)
    assert "".join(cut) == text.body


def test_a_sentence_that_is_too_long_is_cut_after_a_clause_or_a_word() -> None:
    clause = "which is " + "long " * 80 + "and ends,"
    text = text_of(("paragraph", f"{clause} {clause} here."))
    assert [each.rstrip()[-5:] for each in words_of(text)] == ["ends,", "here."]
    text = text_of(("row", "word " * 200))
    assert all(each.rstrip().endswith("word") for each in words_of(text))
    assert len(words_of(text)) == 2


def test_a_word_without_end_is_cut_but_never_before_an_accent() -> None:
    text = text_of(("paragraph", "x" * 597 + "e\u0301" * 400))
    assert len(text.body) > PASSAGE_MAX_CHARS
    assert all(not each.startswith("\u0301") for each in words_of(text))
    assert "".join(words_of(text)) == text.body


def test_long_code_is_cut_at_lines_and_rather_between_its_paragraphs() -> None:
    part = "call(argument)\n" * 35
    text = text_of(("code", f"{part}\n{part}\n{part}".strip()))
    assert [each.count("call") for each in words_of(text)] == [35, 35, 35]
    assert all(each.startswith("call") for each in words_of(text))


def test_a_long_definition_begins_with_its_term_and_goes_on_under_it() -> None:
    sentence = "Every word of this sentence is here for its length only. "
    text = text_of(("term", "-a", {"group": 1}), ("definition", (sentence * 6).strip(), {"group": 1}))
    first, second = passages(text)
    assert text.body[first.span.start :].startswith("-a\n\nEvery")
    assert (first.headings, second.headings) == ((), ("-a",))


def test_the_passages_of_a_text_are_the_same_whatever_else_is_known_of_it() -> None:
    text = text_of(("paragraph", "One is. Two is. Three is. Four is. Five is. Six is."), ("item", "Seven."))
    again = replace(text, title="Other", author="Somebody", links=("https://a.example/",), extractor_version="9")
    assert passages(again) == passages(text)


PROSE = st.text("ab .\n。1é字,—", max_size=30).map(lambda words: words * 70)
PARTS = st.lists(
    st.tuples(
        st.sampled_from(["heading", "paragraph", "item", "term", "definition", "code", "row", "caption", "quote"]),
        PROSE | st.text(max_size=40) | st.text("a.! \n", max_size=60),
        st.fixed_dictionaries(
            {
                "main": st.booleans(),
                "group": st.integers(0, 2),
                "level": st.integers(0, 3),
                "link_share": st.sampled_from([0.0, 0.4, 0.9]),
                "visibility": st.sampled_from(["shown", "collapsed"]),
            }
        ),
    ),
    max_size=8,
)


@given(PARTS)
@settings(max_examples=200, deadline=None)
def test_passages_are_short_ordered_spans_that_hold_words_and_cross_no_heading(
    parts: list[tuple[BlockKind, str, dict[str, object]]],
) -> None:
    text = text_of(*parts)
    made = passages(text)
    assert [each.seq for each in made] == list(range(len(made)))
    assert passages(text) == made
    is_main = any(block.main and block.kind != "heading" and words(text, block.span) for block in text.blocks)
    kept = [block for block in text.blocks if block.main] if is_main else list(text.blocks)
    n_main = sum(any(block.span.start <= each.span.start < block.span.end for block in kept) for each in made)
    for run in (made[:n_main], made[n_main:]):
        assert all(a.span.end <= b.span.start for a, b in pairwise(run))
    in_order = sorted(each.span for each in made)
    assert all(a.end <= b.start for a, b in pairwise(in_order))
    for each in made:
        assert 0 <= each.span.start < each.span.end <= len(text.body)
        assert each.span.end - each.span.start <= PASSAGE_MAX_CHARS
        assert words(text, each.span)
        for block in text.blocks:
            if block.kind == "heading" and words(text, block.span):
                alone = block.span.start <= each.span.start and each.span.end <= block.span.end
                assert alone or each.span.end <= block.span.start or each.span.start >= block.span.end


@given(PARTS)
@settings(max_examples=200, deadline=None)
def test_every_sentence_of_the_main_content_is_in_exactly_one_passage_and_no_passage_has_more_than_four(
    parts: list[tuple[BlockKind, str, dict[str, object]]],
) -> None:
    text = text_of(*parts)
    made = passages(text)
    for block in text.blocks:
        if not block.main or block.kind == "heading" or block.link_share > 0.8:
            continue
        for sentence in sentences(text.body, block.span, text.language):
            if sentence.end - sentence.start <= PASSAGE_MAX_CHARS // 2 or block.kind not in ("code", "term"):
                first = [each for each in made if each.span.start <= sentence.start < each.span.end]
                last = [each for each in made if each.span.start < sentence.end <= each.span.end]
                assert len(first) == len(last) == 1
                is_long = sentence.end - sentence.start > PASSAGE_MAX_CHARS - 10
                assert first == last or is_long or block.kind in ("code", "term", "item", "row")
    for each in made:
        if each.kind in ("paragraph", "quote", "caption"):
            assert len(sentences(text.body, each.span, text.language)) <= PASSAGE_MAX_SENTENCES + 1


def words(text: Text, span: Span) -> str:
    return text.body[span.start : span.end].strip()
