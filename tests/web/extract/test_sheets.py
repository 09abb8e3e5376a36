"""Styles: which declarations hide and why, which rules of a page's sheets hold, and that no sheet runs away."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.web.extract.sheets import MAX_SHEET_CHARS, Styles, declarations, reason, style_sources


@pytest.mark.parametrize(
    ("style", "why"),
    [
        ("display:none", "display_none"),
        ("DISPLAY : NONE !important", "display_none"),
        ("color:red;display:none", "display_none"),
        ("/* x */ display:/* y */none", "display_none"),
        ("content-visibility:hidden", "display_none"),
        ("visibility:hidden", "visibility_hidden"),
        ("visibility: collapse", "visibility_hidden"),
        ("opacity:0", "opacity_zero"),
        ("opacity: 0.0", "opacity_zero"),
        ("font-size:0px", "tiny_font"),
        ("font-size: 1px", "tiny_font"),
        ("position:absolute; left:-9999px", "off_screen"),
        ("position:fixed;top:-999em", "off_screen"),
        ("text-indent:-9999px", "off_screen"),
        ("transform:scale(0)", "off_screen"),
        ("width:0;height:0", "zero_size"),
        ("max-height:0;overflow:hidden", "zero_size"),
        ("position:absolute;clip:rect(0 0 0 0)", "clipped"),
        ("clip-path:inset(100%)", "clipped"),
        ("color:#fff;background:#ffffff", "same_colour"),
        ("color:white;background-color:rgb(255,255,255)", "same_colour"),
        ("color:rgba(0,0,0,0)", "same_colour"),
        ("color:transparent", "same_colour"),
        ("color:var(--a);background:var(--a)", "same_colour"),
        ("color:#fff0", "same_colour"),
        ("color:#fefefe;background:#fff", "same_colour"),
        ("color:#ffff;background:#fff", "same_colour"),
        ("color:#A7D2FF;background-color:#a7d2ffff", "same_colour"),
        ("color:rgb(1 2 3 / 100%);background:#010203", "same_colour"),
    ],
)
def test_these_styles_hide(style: str, why: str) -> None:
    assert reason(declarations(style)) == why


@pytest.mark.parametrize(
    "style",
    [
        "",
        "display:block",
        "opacity:0.5",
        "font-size:10px",
        "font-size:0.9em",
        "margin-top:-100px",
        "left:-20px;position:relative",
        "width:0",
        "color:#fff",
        "color:#fff;background:#000",
        "color:var( --text ); background-color: var( --accent )",
        "color:inherit;background:inherit",
        "color:#eee;background:#fff",
        "color:#zzz;background:url(a.png)",
        "background-color:#861d2620;color:#861d26",
        "background:rgba(0,0,0,.1);color:#000",
        "height:100px;overflow:hidden",
        "text-decoration:none",
        "-webkit-display:none-x",
        ";;:;a",
    ],
)
def test_these_styles_do_not(style: str) -> None:
    assert reason(declarations(style)) == ""


def hidden(sheet: str, **attributes: str) -> str:
    styles = Styles.of(style_sources(f"<style>{sheet}</style>"))
    return (
        ""
        if styles is None
        else reason(styles.rules("p", {name.strip("_"): value for name, value in attributes.items()}))
    )


@pytest.mark.parametrize(
    ("sheet", "why"),
    [
        (".x{display:none}", "display_none"),
        ("a , p.x\n{ color:red; visibility : hidden }", "visibility_hidden"),
        ("p{opacity:0}", "opacity_zero"),
        ("/* } */ .x{/* { */font-size:0}", "tiny_font"),
        ('.a:after{content:"}"}.x{position:absolute;left:-9999px}', "off_screen"),
        (".x{color:#fff;background:#fff}", "same_colour"),
        ("@import url(a.css);.x{clip:rect(0,0,0,0)}", "clipped"),
        ("@media all{.a{color:red}.x{display:none}}", "display_none"),
        ("@media screen{.a{color:red}}.x{display:none}", "display_none"),
        ("@font-face{src:url(a)}@layer base{.x{display:none}}", "display_none"),
        (".x{display:none}.x{color:red}", "display_none"),
        (".x{display:none}.x{display:block}", ""),
        (".x{display:none}p.x{display:inline}", ""),
        ("@media print{.x{display:none}}", ""),
        ("@media (max-width: 600px){.a{color:red}.x{display:none}.b{color:red}}", ""),
        ("@supports (a:b){@media all{.x{display:none}}}", ""),
        ("@keyframes k{from{opacity:0}to{opacity:1}}", ""),
        (".x:hover{display:none}", ""),
        (".menu .x{display:none}", ""),
        (".y{display:none}", ""),
        (".x{display:none", "display_none"),
        ("", ""),
        ("}}}{{{", ""),
    ],
)  # fmt: skip
def test_a_rule_with_a_simple_selector_that_holds_on_a_screen_hides(sheet: str, why: str) -> None:
    assert hidden(sheet, class_="x") == why


@given(
    st.lists(
        st.sampled_from(
            ["{", "}", ";", ":", ",", ".x", "#x", "p", " ", "/*", "*/", '"', "@media print", "display", "none"]
        )
        | st.text(max_size=3),
        max_size=30,
    ).map("".join)
)
def test_any_sheet_is_read_and_a_rule_after_it_still_hides_unless_it_is_inside_something(sheet: str) -> None:
    Styles.of([sheet])
    if not set(sheet) & set("{}@\"'*/"):
        assert hidden(f"{sheet};}}.y{{display:none}}", class_="y") == "display_none"


def test_an_id_counts_beside_the_class_and_what_is_remembered_of_one_element_is_not_said_of_another() -> None:
    styles = Styles.of([".x{display:none}#a{opacity:0}p#b{opacity:0}"])
    assert styles is not None
    seen = [reason(styles.rules(tag, {"class": "x", "id": name})) for tag, name in [("p", "c"), ("p", "a"), ("p", "c")]]
    assert seen == ["display_none"] * 3
    assert [
        reason(styles.rules(tag, {"id": name})) for tag, name in [("p", "a"), ("p", "b"), ("b", "b"), ("p", "c")]
    ] == [
        "opacity_zero",
        "opacity_zero",
        "",
        "",
    ]


@pytest.mark.parametrize(
    "page",
    [
        "<style media=print>.x{display:none}</style>",
        "<noscript><style>.x{display:none}</style></noscript>",
        "<style media='(max-width: 9em)'>.x{display:none}</style>",
        "<script>.x{display:none}</script>",
    ],
)
def test_sheets_for_others_are_not_read(page: str) -> None:
    assert Styles.of(style_sources(page)) is None


def test_sheets_for_all_screens_are_read_in_order_whatever_their_case_and_if_they_never_end() -> None:
    page = "<noscript>a</noscript><STYLE media=screen>.x{color:red}</STYLE><style type='text/css'>.x{opacity:0}"
    assert style_sources(page) == [".x{color:red}", ".x{opacity:0}"]


@pytest.mark.parametrize(
    "sheet",
    [
        "{" * MAX_SHEET_CHARS,
        "/*" * (MAX_SHEET_CHARS // 2),
        "/**" * (MAX_SHEET_CHARS // 3),
        '"' + "\\" * MAX_SHEET_CHARS,
        "a{display:none}" * (MAX_SHEET_CHARS // 15),
        "@media x{" * (MAX_SHEET_CHARS // 9),
        "@layer x{a{opacity:0}" * (MAX_SHEET_CHARS // 21),
        "a" * MAX_SHEET_CHARS + "{display:none}",
        ".a," * (MAX_SHEET_CHARS // 3) + "b{display:none}",
        ".x{" + "display:none;" * (MAX_SHEET_CHARS // 13) + "}",
        "<style>" * (MAX_SHEET_CHARS // 7),
    ],
    ids=["braces", "comments", "stars", "string", "rules", "nesting", "layers", "name", "list", "declarations", "elements"],
)  # fmt: skip
def test_hostile_sheets_are_read_in_bounded_time(sheet: str) -> None:
    began = time.process_time()
    Styles.of(style_sources(f"<style>{sheet}"))
    Styles.of([sheet])
    assert time.process_time() - began < 10  # seconds; each takes below one
