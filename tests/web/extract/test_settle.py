"""Who sees a block and which headings stand above it, once the whole page is known."""

from __future__ import annotations

from firsthand.web.extract.drafts import Draft, Hiding
from firsthand.web.extract.elements import FOOTER
from firsthand.web.extract.settle import set_headings, settle
from firsthand.web.extract.walk import Container

LONG = "A sentence of some length, which says what a page that loads its words late would say. " * 4


def hidden(text: str, *reasons: tuple[str, str]) -> Draft:
    """A block inside elements that hide, from the outermost in: (reason, what opens it)."""
    hiding: Hiding | None = None
    for reason, opener in reasons:
        hiding = Hiding(reason, opener, hiding)
    return Draft("paragraph", text, hiding=hiding)


def seen(*drafts: Draft) -> list[tuple[str, str]]:
    settle(drafts)
    return [(draft.visibility, draft.reason) for draft in drafts]


def test_what_opens_is_collapsed_and_what_does_not_is_hidden() -> None:
    told = seen(Draft("paragraph", LONG), hidden("a", ("details", "details")), hidden("b", ("display_none", "")))
    assert told == [("shown", ""), ("collapsed", "details"), ("hidden", "display_none")]


def test_nothing_that_opens_shows_what_an_element_around_or_inside_it_hides_for_good() -> None:
    around = hidden("a", ("off_screen", ""), ("details", "details"))
    inside = hidden("b", ("details", "details"), ("off_screen", ""))
    assert seen(Draft("paragraph", LONG), around, inside)[1:] == [("hidden", "off_screen")] * 2


def test_a_wrapper_round_nearly_the_whole_page_is_revealed_and_one_paragraph_never_is() -> None:
    menu = Draft("paragraph", "Menu")
    assert set(seen(menu, *(hidden(LONG, ("opacity_zero", "")) for _ in range(12)))[1:]) == {
        ("collapsed", "opacity_zero")
    }
    assert seen(menu, hidden(LONG * 50, ("opacity_zero", "")))[1:] == [("hidden", "opacity_zero")]
    assert set(seen(menu, *(hidden(LONG, ("off_screen", "")) for _ in range(12)))[1:]) == {("hidden", "off_screen")}


def test_noscript_is_read_where_the_page_shows_nearly_nothing_else() -> None:
    assert seen(Draft("paragraph", "Loading"), hidden(LONG, ("noscript", "")))[1] == ("collapsed", "noscript")
    assert seen(Draft("paragraph", LONG), hidden("Turn it on.", ("noscript", "")))[1] == ("hidden", "noscript")


def test_a_gap_is_noted_where_words_of_the_page_are_left_out_and_not_at_a_comment() -> None:
    before, after, last = Draft("paragraph", LONG), Draft("paragraph", "b"), Draft("paragraph", "c")
    seen(before, hidden("x", ("display_none", "")), after, hidden("y", ("comment", "")), last)
    assert [draft.is_after_gap for draft in (before, after, last)] == [False, True, False]


def test_main_text_stands_under_main_headings_and_the_title_and_the_rest_under_all() -> None:
    containers = [Container("", None, 0, 0, 0), Container("footer", None, 0, FOOTER, 0)]
    drafts = [
        Draft("heading", "Title", level=1, main=False, score=0.1),
        Draft("heading", "Part", level=2),
        Draft("paragraph", "one"),
        Draft("heading", "Read also", level=3, main=False, score=0.1),
        Draft("paragraph", "teaser", main=False),
        Draft("paragraph", "two"),
        Draft("heading", "About us", level=2, container=1),
        Draft("paragraph", "three"),
    ]
    set_headings(drafts, containers)
    assert [draft.headings for draft in drafts if draft.kind == "paragraph"] == [
        ("Title", "Part"),
        ("Title", "Part", "Read also"),
        ("Title", "Part"),
        ("Title", "Part"),
    ]
