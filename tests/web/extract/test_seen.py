"""What a reader would not see, by an element's own attributes."""

from __future__ import annotations

import pytest

from firsthand.web.extract.seen import is_hidden


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "DISPLAY : NONE !important",
        "color:red;display:none",
        "/* x */ display:/* y */none",
        "visibility:hidden",
        "visibility: collapse",
        "opacity:0",
        "opacity: 0.0",
        "font-size:0px",
        "font-size: 1px",
        "position:absolute; left:-9999px",
        "position:fixed;top:-999em",
        "text-indent:-9999px",
        "width:0;height:0",
        "max-height:0;overflow:hidden",
        "position:absolute;clip:rect(0 0 0 0)",
        "clip-path:inset(100%)",
        "color:#fff;background:#ffffff",
        "color:white;background-color:rgb(255,255,255)",
        "color:rgba(0,0,0,0)",
        "color:transparent",
        "transform:scale(0)",
    ],
)
def test_these_styles_hide(style: str) -> None:
    assert is_hidden({"style": style})


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
        "color:inherit;background:inherit",
        "height:100px;overflow:hidden",
        "-webkit-display:none-x",
        ";;:;a",
    ],
)
def test_these_styles_do_not(style: str) -> None:
    assert not is_hidden({"style": style})


def test_attributes_hide_too() -> None:
    assert is_hidden({"hidden": None})
    assert is_hidden({"hidden": ""})
    assert is_hidden({"aria-hidden": "TRUE"})
    assert not is_hidden({"hidden": "until-found"})
    assert not is_hidden({"aria-hidden": "false"})
    assert not is_hidden({"class": "hidden", "style": None})
