"""What a reader sees, what a reader can open, and what nobody sees: a fact of an element, with its reason.

``hides`` looks at an element's own tag and attributes and at what the page's ``<style>`` elements say of them; sheets
from elsewhere are not read. ``opens`` says whether what is hidden waits for a reader's hand: then it is *collapsed*,
and may be quoted with that mark. Everything else that is hidden is kept apart from the body and can be quoted by
nobody: an instruction in it reaches no model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from firsthand.web.extract.sheets import Controls, Styles, declarations

# Every pattern looks at one declaration's value and has no nested repetition.
_OFF_SCREEN = re.compile(r"-(?:\d{4,}|9\d\d)(?:px|pt)?|-\d{3,}(?:em|rem|vw|vh|%|cm)|-[5-9]\d(?:em|rem)")
_ZERO = re.compile(r"0*\.?0+(?:px|em|rem|%|pt|vw|vh)?$")
_TINY_FONT = re.compile(r"(?:0*\.?0+|0?\.\d+|1)(?:px|pt)$|0*\.?0+(?:em|rem|%|vw|vh)?$|0?\.0\d*(?:em|rem)$")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*([\d.]+%?)\s*)?\)")
_CLIPPED = re.compile(
    r"rect\(\s*(?:0|1px)(?:px)?[\s,]+(?:0|1px)(?:px)?[\s,]+(?:0|1px)(?:px)?[\s,]+(?:0|1px)(?:px)?\s*\)"
)
_KEYWORDS = ("inherit", "initial", "unset", "revert", "currentcolor", "none")
_NAMED = {"white": "ffffff", "black": "000000", "red": "ff0000", "yellow": "ffff00", "blue": "0000ff", "snow": "fffafa"}

OPENABLE = frozenset(
    ["hidden_attribute", "display_none", "visibility_hidden", "opacity_zero", "zero_size", "popover", "aria_hidden"]
)
REVEALABLE = frozenset(["hidden_attribute", "display_none", "visibility_hidden", "opacity_zero"])
_TAGS = {"template": "template", "noscript": "noscript"}
# Names that style sheets in wide use give to text for screen readers only (Bootstrap, Tailwind, WordPress, GOV.UK ...).
SCREEN_READER_ONLY = frozenset(
    [
        "sr-only",
        "sr_only",
        "u-sr-only",
        "show-for-sr",
        "screen-reader",
        "screen-reader-only",
        "screen-reader-text",
        "screenreader",
        "screenreader-only",
        "visually-hidden",
        "visuallyhidden",
        "visually_hidden",
        "u-visually-hidden",
        "is-visually-hidden",
        "hidden-visually",
        "govuk-visually-hidden",
        "cdk-visually-hidden",
        "usa-sr-only",
        "a11y-hidden",
        "accessibly-hidden",
        "element-invisible",
        "hide-visually",
    ]
)


def hides(tag: str, attributes: Mapping[str, str | None], styles: Styles | None = None) -> str:
    """Why no reader sees this element at once, in one word; empty if it is seen."""
    reason = _TAGS.get(tag)
    if reason:
        return reason
    style = attributes.get("style")
    rules = _styled(style) if style else ("", "")
    if styles is not None:
        said = styles.rules(tag, attributes)
        if said:
            rules = _judged(said | declarations(style) if style else said)
    reason, display = rules
    if reason:
        return reason
    if "hidden" in attributes and not display:
        return "hidden_attribute"
    if tag == "dialog" and "open" not in attributes:
        return "dialog"
    names = attributes.get("class")
    if names and _is_for_screen_readers(names):
        return "screen_reader_only"
    if (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return "aria_hidden"
    return ""


def opens(tag: str, attributes: Mapping[str, str | None], controls: Controls, styles: Styles | None = None) -> str:
    """What lets a reader open an element that is hidden, in one word; empty if nothing does.

    Ask only when ``hides`` gave one of OPENABLE, and for every ``details``: what stands in it beside its ``summary``
    is collapsed unless the element is open.
    """
    if tag == "details":
        return "" if "open" in attributes else "details"
    if (attributes.get("hidden") or "").strip().lower() == "until-found":
        return "until_found"
    return controls.opens(attributes)


def is_hidden(attributes: Mapping[str, str | None]) -> bool:
    """Whether these attributes take the element from a reader's sight, but for what a search in the page opens."""
    return (attributes.get("hidden") or "").lower() != "until-found" and bool(hides("", attributes))


def is_revealed(hidden_chars: int, shown_chars: int, reason: str, n_long_blocks: int) -> bool:
    """Whether a hidden wrapper round nearly all of a page's long text is one that a script reveals."""
    return reason in REVEALABLE and n_long_blocks >= 5 and hidden_chars >= 2000 and hidden_chars >= 4 * shown_chars


@lru_cache(maxsize=4096)
def _is_for_screen_readers(names: str) -> bool:
    return not SCREEN_READER_ONLY.isdisjoint(names.lower().split())


@lru_cache(maxsize=4096)
def _styled(style: str) -> tuple[str, str]:
    return _judged(declarations(style))


def _judged(rules: Mapping[str, str]) -> tuple[str, str]:
    """Why these declarations hide, and the display they set if it shows."""
    display = rules.get("display", "")
    return _reason(rules), "" if display == "none" else display


def _reason(rules: Mapping[str, str]) -> str:
    if rules.get("display") == "none" or rules.get("content-visibility") == "hidden":
        return "display_none"
    if rules.get("visibility") in ("hidden", "collapse"):
        return "visibility_hidden"
    if _ZERO.match(rules.get("opacity", "1")):
        return "opacity_zero"
    if _TINY_FONT.match(rules.get("font-size", "")):
        return "tiny_font"
    zero_sides = [side for side in ("width", "height", "max-width", "max-height") if _ZERO.match(rules.get(side, "x"))]
    if len(zero_sides) > 1 or (zero_sides and rules.get("overflow") in ("hidden", "clip")):
        return "zero_size"
    is_placed = rules.get("position") in ("absolute", "fixed", "relative")
    if is_placed and any(_OFF_SCREEN.match(rules.get(side, "")) for side in ("left", "top", "right", "bottom")):
        return "off_screen"
    if any(_OFF_SCREEN.match(rules.get(name, "")) for name in ("text-indent", "margin-left")):
        return "off_screen"
    if _CLIPPED.match(rules.get("clip", "")) or re.match(r"inset\(\s*(?:50|100)%", rules.get("clip-path", "")):
        return "clipped"
    if re.match(r"(?:translate[xy]?\(\s*-\d{4,}|scale\(\s*0)", rules.get("transform", "")):
        return "off_screen"
    if "override" in rules.get("unicode-bidi", "") and rules.get("direction") == "rtl":
        return "reversed"
    return "same_colour" if _same_colour(rules) else ""


def _same_colour(rules: Mapping[str, str]) -> bool:
    """Whether the words have the colour of what is behind them, or none."""
    ink = _colour(rules.get("color", ""))
    if ink is None:
        return False
    paper = _colour(rules.get("background-color", "") or rules.get("background", ""))
    return ink == "transparent" or (ink == paper and ink not in _KEYWORDS)


def _colour(value: str) -> str | None:
    """*value* as six hex digits, ``transparent``, or None when it is something else."""
    value = value.strip()
    if value == "transparent":
        return value
    rgb = _RGB.match(value)
    if rgb:
        if rgb[4] is not None and _ZERO.match(rgb[4]):
            return "transparent"
        return "".join(f"{min(int(part), 255):02x}" for part in rgb.group(1, 2, 3))
    word = value.split(" ", 1)[0] if value else ""
    if word.startswith("#"):
        digits = word[1:]
        if (len(digits) == 4 and digits[3] == "0") or (len(digits) == 8 and digits[6:] == "00"):
            return "transparent"
        return "".join(digit * 2 for digit in digits[:3]) if len(digits) in (3, 4) else digits[:6]
    return _NAMED.get(word, word or None)
