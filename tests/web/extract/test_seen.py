"""What a reader sees, can open, or never sees: judged from an element and the sheets and controls of its page."""

from __future__ import annotations

import pytest

from firsthand.web.extract.controls import Controls
from firsthand.web.extract.seen import SCREEN_READER_ONLY, hides, is_revealed, opens
from firsthand.web.extract.sheets import Styles


@pytest.mark.parametrize(
    ("tag", "attributes", "reason"),
    [
        ("p", {"hidden": None}, "hidden_attribute"),
        ("p", {"hidden": ""}, "hidden_attribute"),
        ("p", {"hidden": "until-found"}, "hidden_attribute"),
        ("p", {"hidden": "", "style": "display:block"}, ""),
        ("p", {"hidden": "", "style": "display:none"}, "display_none"),
        ("p", {"aria-hidden": "TRUE"}, "aria_hidden"),
        ("p", {"aria-hidden": "false"}, ""),
        ("div", {"class": "hidden", "style": None}, ""),
        ("div", {"popover": ""}, "popover"),
        ("span", {"class": "a Visually-Hidden"}, "screen_reader_only"),
        ("span", {"class": "sr-only-focusable"}, ""),
        ("template", {}, "template"),
        ("noscript", {}, "noscript"),
        ("dialog", {}, "dialog"),
        ("dialog", {"open": ""}, ""),
        ("details", {}, ""),
        ("del", {}, "deleted"),
        ("s", {}, "deleted"),
        ("span", {"style": "text-decoration: line-through"}, "deleted"),
        ("bdo", {"dir": "RTL"}, "reversed"),
        ("bdo", {"dir": "ltr"}, ""),
        ("span", {"style": "unicode-bidi:bidi-override;direction:rtl"}, "reversed"),
        ("body", {"style": "opacity:0"}, ""),
        ("html", {"hidden": ""}, ""),
    ],
)
def test_a_reason_is_named_for_what_is_not_seen(tag: str, attributes: dict[str, str | None], reason: str) -> None:
    assert hides(tag, attributes) == reason


@pytest.mark.parametrize("name", sorted(SCREEN_READER_ONLY))
def test_every_name_for_screen_readers_hides_alone_and_among_others(name: str) -> None:
    assert hides("span", {"class": name}) == hides("b", {"class": f"x {name}\ty"}) == "screen_reader_only"
    assert hides("span", {"class": f"{name}x"}) == ""


def test_no_padding_hides_what_a_style_says() -> None:
    for style in (
        "display:none;" + "a:b;" * 9000,
        "a:b;" * 9000 + "display:none",
        "a:b;" * 5000 + "opacity:0;" + "a:b;" * 5000,
    ):
        assert hides("p", {"style": style})


def test_until_a_search_opens_it_is_not_hidden_for_good() -> None:
    assert hides("p", {"hidden": "until-found"}) == hides("p", {"hidden": ""}) == "hidden_attribute"
    assert opens("p", {"hidden": "until-found"}, Controls("")) == "until_found"
    assert opens("p", {"hidden": ""}, Controls("")) == ""


def test_a_sheet_hides_by_tag_class_and_id_and_the_element_itself_has_the_last_word() -> None:
    styles = Styles.of(["p.x { display:none } #y{visibility:hidden}", "u{font-size:0}"])
    assert hides("p", {"class": "a x"}, styles) == "display_none"
    assert hides("div", {"class": "x"}, styles) == ""
    assert hides("div", {"id": "y"}, styles) == "visibility_hidden"
    assert hides("u", {}, styles) == "tiny_font"
    assert hides("p", {"class": "x", "style": "display:block"}, styles) == ""


PAGE = """<button aria-controls="a b" aria-expanded=false>A</button><a href="#c" data-bs-target='.d'>C</a><a href='#e'>E</a>
<button popovertarget=f>F</button><template id="B:1"></template>"""


@pytest.mark.parametrize(
    ("tag", "attributes", "opener"),
    [
        ("div", {"id": "a"}, "controlled"),
        ("div", {"id": "b"}, "controlled"),
        ("div", {"class": "x d"}, "controlled"),
        ("div", {"id": "f"}, "controlled"),
        ("div", {"id": "e"}, ""),
        ("div", {"id": "e", "class": "tab-pane fade"}, "tab_panel"),
        ("div", {"role": "tabpanel"}, "tab_panel"),
        ("div", {"class": "accordion__content"}, "accordion"),
        ("div", {"class": "card-collapse collapse"}, "accordion"),
        ("div", {"class": "c-faq-item_answer"}, "accordion"),
        ("div", {"class": "read-more-text"}, "read_more"),
        ("div", {"class": "moreover recollapsed tableau"}, ""),
        ("div", {"hidden": "until-found"}, "until_found"),
        ("div", {"id": "S:1"}, "streamed"),
        ("div", {"id": "S:2"}, ""),
        ("div", {"id": "1"}, ""),
        ("div", {}, ""),
        ("details", {}, "details"),
        ("details", {"open": ""}, ""),
    ],
)
def test_what_a_reader_can_open_says_how(tag: str, attributes: dict[str, str | None], opener: str) -> None:
    assert opens(tag, attributes, Controls(PAGE)) == opener


@pytest.mark.parametrize("attributes", [{"role": "tabpanel"}, {"class": "accordion-body"}, {"id": "a"}])
def test_without_a_control_on_the_page_nothing_opens(attributes: dict[str, str | None]) -> None:
    assert opens("div", attributes, Controls("<p>words</p>")) == ""


def test_what_a_longer_selector_shows_again_can_be_opened() -> None:
    styles = Styles.of([".x{display:none}.y{display:none}.x.is-open{display:block}"])
    assert [opens("div", {"class": name}, Controls(""), styles) for name in ("x", "y")] == ["revealed", ""]


@pytest.mark.parametrize(
    ("hidden", "shown", "reason", "n_blocks", "is_it"),
    [
        (13_000, 0, "opacity_zero", 42, True),
        (4_312, 0, "visibility_hidden", 34, True),
        (11_000, 1_059, "opacity_zero", 47, True),
        (9_000, 300, "hidden_attribute", 30, True),
        (47_000, 8_662, "display_none", 161, False),  # forms beside an article
        (130, 78, "display_none", 1, False),  # an instruction longer than all that is shown
        (90_000, 78, "display_none", 1, False),
        (1_132, 0, "display_none", 5, False),
        (13_000, 0, "aria_hidden", 42, False),
        (13_000, 0, "off_screen", 42, False),
        (13_000, 0, "same_colour", 42, False),
        (13_000, 0, "template", 42, False),
    ],
)
def test_only_a_wrapper_round_nearly_all_of_a_page_is_revealed_by_its_script(
    hidden: int, shown: int, reason: str, n_blocks: int, is_it: bool
) -> None:
    assert is_revealed(hidden, shown, reason, n_blocks) is is_it
