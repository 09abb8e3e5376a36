"""What a reader would not see: judged from an element's own attributes, without styles from elsewhere.

Text that is hidden is not text: it cannot be quoted, and an instruction in it reaches no model. It is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Every pattern looks at one declaration's value, at most _STYLE_CHARS long, and has no nested repetition.
_STYLE_CHARS = 4000
_OFF_SCREEN = re.compile(r"-(?:\d{4,}|9\d\d)(?:px|pt)?|-\d{3,}(?:em|rem|vw|vh|%|cm)|-[5-9]\d(?:em|rem)")
_ZERO = re.compile(r"0*\.?0+(?:px|em|rem|%|pt|vw|vh)?$")
_TINY_FONT = re.compile(r"(?:0*\.?0+|0?\.\d+|1)(?:px|pt)$|0*\.?0+(?:em|rem|%|vw|vh)?$|0?\.0\d*(?:em|rem)$")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*([\d.]+%?)\s*)?\)")
_CLIPPED = re.compile(
    r"rect\(\s*(?:0|1px)(?:px)?[\s,]+(?:0|1px)(?:px)?[\s,]+(?:0|1px)(?:px)?[\s,]+(?:0|1px)(?:px)?\s*\)"
)
_KEYWORDS = ("inherit", "initial", "unset", "revert", "currentcolor", "none")
_NAMED = {"white": "ffffff", "black": "000000", "red": "ff0000", "yellow": "ffff00", "blue": "0000ff", "snow": "fffafa"}


def is_hidden(attributes: Mapping[str, str | None]) -> bool:
    """Whether these attributes take the element from a reader's sight."""
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    if (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return True
    style = attributes.get("style")
    return bool(style) and _style_hides(style or "")


def _style_hides(style: str) -> bool:
    rules = _declarations(style)
    if rules.get("display") == "none" or rules.get("visibility") in ("hidden", "collapse"):
        return True
    if rules.get("content-visibility") == "hidden" or _ZERO.match(rules.get("opacity", "1")):
        return True
    if _TINY_FONT.match(rules.get("font-size", "")):
        return True
    zero_sides = [side for side in ("width", "height", "max-width", "max-height") if _ZERO.match(rules.get(side, "x"))]
    if len(zero_sides) > 1 or (zero_sides and rules.get("overflow") in ("hidden", "clip")):
        return True
    is_placed = rules.get("position") in ("absolute", "fixed", "relative")
    if is_placed and any(_OFF_SCREEN.match(rules.get(side, "")) for side in ("left", "top", "right", "bottom")):
        return True
    if _CLIPPED.match(rules.get("clip", "")) or re.match(r"inset\(\s*(?:50|100)%", rules.get("clip-path", "")):
        return True
    if any(_OFF_SCREEN.match(rules.get(name, "")) for name in ("text-indent", "margin-left")):
        return True
    if re.match(r"(?:translate[xy]?\(\s*-\d{4,}|scale\(\s*0)", rules.get("transform", "")):
        return True
    return _same_colour(rules)


def _declarations(style: str) -> dict[str, str]:
    """The declarations of a style attribute, names and values in lower case, the last of a name wins."""
    style = re.sub(r"/\*[^*]*\*/", "", style[:_STYLE_CHARS]).lower()
    rules: dict[str, str] = {}
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            rules[name.strip()] = value.replace("!important", "").strip()
    return rules


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
