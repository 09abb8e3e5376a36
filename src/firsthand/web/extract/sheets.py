"""What a page's style attributes and ``<style>`` elements hide, and why.

Of a sheet only simple selectors are read: ``p``, ``.name``, ``#name``, ``p.name``, in lists. That is what hides a
passage by a class of the page's own; what a longer selector says depends on where an element stands. Longer ones count
only where they show something again: then a script or a pointer reveals it. Sheets from elsewhere are not fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_SHEET_CHARS = 400_000  # of all style elements together; of 1,497 real pages 1 in 70 has more (WCXB dev, 2026-12)
_MAX_REMEMBERED = 5000
_COMMENT = re.compile(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/")  # each character is taken by one branch only: linear
_STRING = re.compile(r"\"[^\"\\\n]*\"|'[^'\\\n]*'")
_STYLE = re.compile(r"<[sS][tT][yY][lL][eE]\b([^>]{0,500})>")  # not IGNORECASE: that takes three times as long
_STYLE_END = re.compile(r"</[sS][tT][yY][lL][eE]\b")
_MEDIA = re.compile(r"""\bmedia\s?=\s?["']?([^"'>]{0,100})""", re.IGNORECASE)
_SHOWN_ON = frozenset({"", "all", "screen", "only screen"})
_SIMPLE = re.compile(r"([a-z][a-z0-9]*)?(?:([.#])(-?[a-z_][\w-]*))?", re.IGNORECASE)
_NAMES = re.compile(r"[.#]-?[a-z_][\w-]*", re.IGNORECASE)
# Every pattern is tried at the beginning of one declaration's value and has no nested repetition.
_OFF_SCREEN = re.compile(r"-(?:\d{4,}|9\d\d)(?:px|pt)?|-\d{3,}(?:em|rem|vw|vh|%|cm)|-[5-9]\d(?:em|rem)")
_ZERO = re.compile(r"0*\.?0+(?:px|em|rem|%|pt|vw|vh)?$")
_TINY_FONT = re.compile(r"(?:0*\.?0+|0?\.\d+|1)(?:px|pt)$|0*\.?0+(?:em|rem|%|vw|vh)?$|0?\.0\d*(?:em|rem)$")
# These two are compiled when a page needs them.
_RGB = r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*([\d.]+%?)\s*)?\)"
_CLIPPED = r"rect\(\s*(?:0|1px)(?:px)?[\s,]+(?:0|1px)(?:px)?[\s,]+(?:0|1px)(?:px)?[\s,]+(?:0|1px)(?:px)?\s*\)"
_INSET = re.compile(r"inset\(\s*(?:50|100)%")
_MOVED_AWAY = re.compile(r"(?:translate[xy]?\(\s*-\d{4,}|scale\(\s*0)")
_SIDES = ("width", "height", "max-width", "max-height")
_SIX = "[0-9a-f]{6}"
_SAME_SHADE = 8  # of 255; guess: nobody tells #f8f8f8 from white as ink on paper
_KEYWORDS = ("inherit", "initial", "unset", "revert", "currentcolor", "none")
_COLOURS = {
    "white": "ffffff",
    "black": "000000",
    "red": "ff0000",
    "yellow": "ffff00",
    "blue": "0000ff",
    "snow": "fffafa",
}


def declarations(style: str) -> dict[str, str]:
    """The declarations of a style attribute or a rule: names and values in lower case, the last of a name wins."""
    style = style.lower()
    if "/*" in style:
        style = _COMMENT.sub("", style)
    rules: dict[str, str] = {}
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            rules[name.strip()] = value.replace("!important", "").strip()
    return rules


def reason(rules: Mapping[str, str]) -> str:
    """Why an element with these declarations is not seen, in one word; empty if it is."""
    if rules.get("display") == "none" or rules.get("content-visibility") == "hidden":
        return "display_none"
    if rules.get("visibility") in ("hidden", "collapse"):
        return "visibility_hidden"
    if "opacity" in rules and _ZERO.match(rules["opacity"]):
        return "opacity_zero"
    if "font-size" in rules and _TINY_FONT.match(rules["font-size"]):
        return "tiny_font"
    zero_sides = [side for side in _SIDES if side in rules and _ZERO.match(rules[side])]
    if len(zero_sides) > 1 or (zero_sides and rules.get("overflow") in ("hidden", "clip")):
        return "zero_size"
    if _is_off_screen(rules):
        return "off_screen"
    if "clip" in rules and re.match(_CLIPPED, rules["clip"]):
        return "clipped"
    if "clip-path" in rules and _INSET.match(rules["clip-path"]):
        return "clipped"
    if "override" in rules.get("unicode-bidi", "") and rules.get("direction") == "rtl":
        return "reversed"
    if "line-through" in rules.get("text-decoration", "") or "line-through" in rules.get("text-decoration-line", ""):
        return "deleted"
    return "same_colour" if "color" in rules and _same_colour(rules) else ""


def _is_off_screen(rules: Mapping[str, str]) -> bool:
    places: tuple[str, ...] = ("text-indent", "margin-left")
    if rules.get("position") in ("absolute", "fixed", "relative"):
        places += ("left", "top", "right", "bottom")
    if any(place in rules and _OFF_SCREEN.match(rules[place]) for place in places):
        return True
    return "transform" in rules and _MOVED_AWAY.match(rules["transform"]) is not None


def _same_colour(rules: Mapping[str, str]) -> bool:
    """Whether the words have the colour of what is behind them, or none."""
    ink = _colour(rules.get("color", ""))
    if ink is None:
        return False
    paper = _colour(rules.get("background-color", "") or rules.get("background", ""))
    if ink == "transparent" or (ink == paper and ink not in _KEYWORDS):
        return True
    return (
        paper is not None
        and re.fullmatch(_SIX, ink) is not None
        and re.fullmatch(_SIX, paper) is not None
        and all(abs(int(ink[at : at + 2], 16) - int(paper[at : at + 2], 16)) <= _SAME_SHADE for at in (0, 2, 4))
    )


def _colour(value: str) -> str | None:
    """*value* as six hex digits, ``transparent``, as it is, or None when nothing is said."""
    value = value.strip()
    if not value or value == "transparent":
        return value or None
    rgb = re.match(_RGB, value) if value[:3] == "rgb" else None
    if rgb:
        if rgb[4] is not None and rgb[4] not in ("1", "1.0", "100%"):  # what shines through is another colour
            return "transparent" if _ZERO.match(rgb[4]) else value
        return "".join(f"{min(int(part), 255):02x}" for part in rgb.group(1, 2, 3))
    if "(" in value:
        return value
    word = value.split(None, 1)[0]
    if word.startswith("#"):
        digits = word[1:] if len(word) > 5 else "".join(digit * 2 for digit in word[1:])
        if len(digits) == 8 and digits[6:] != "ff":
            return "transparent" if digits[6:] == "00" else digits
        return digits[:6]
    return _COLOURS.get(word, word)


def style_sources(source: str) -> list[str]:
    """What stands in the ``style`` elements of a page that hold for a screen, outside ``noscript``."""
    sources: list[str] = []
    n_chars = end = 0
    has_noscript = "<noscript" in source
    while n_chars < MAX_SHEET_CHARS:
        found = _STYLE.search(source, end)
        if found is None:
            break
        before, start = end, found.end()
        ending = _STYLE_END.search(source, start)
        end = ending.start() if ending else len(source)
        media = _MEDIA.search(found[1])
        is_conditional = media is not None and media[1].strip().lower() not in _SHOWN_ON
        noscript = source.rfind("<noscript", before, start) if has_noscript else -1
        if is_conditional or (noscript >= 0 and source.find("</noscript", noscript, start) < 0):
            continue
        sources.append(source[start:end][: MAX_SHEET_CHARS - n_chars])
        n_chars += len(sources[-1])
    return sources


class Styles:
    """The rules of a page that hide something, by simple selector."""

    def __init__(self, by_selector: Mapping[str, Mapping[str, str]], shown: frozenset[str]) -> None:
        self._by_selector = by_selector
        self._shown = shown
        self._has_ids = any("#" in key for key in by_selector)
        self._found: dict[tuple[str, str | None], Mapping[str, str]] = {}  # a page repeats its class attributes

    @classmethod
    def of(cls, sources: Sequence[str]) -> Styles | None:
        """The rules that hide in these sheets, in order; None if there are none, which is soon found out.

        Cost: linear in the sheets; on real pages about a third of the time that parsing takes (WCXB dev, 2026-12).
        """
        rules = [rule for source in sources for rule in _rules(source[:MAX_SHEET_CHARS])]
        hiding: set[str] = set()
        for selectors, body, holds in rules:
            if holds and _may_hide(body) and reason(declarations(body)):
                hiding.update(filter(None, map(_simple, selectors.split(","))))
        if not hiding:
            return None
        by_selector: dict[str, dict[str, str]] = {key: {} for key in hiding}
        shown: set[str] = set()
        names = {name for key in hiding for name in _NAMES.findall(key) or [key]}
        has_tags = any(name[0] not in ".#" for name in names)
        for selectors, body, holds in rules:
            if not has_tags and names.isdisjoint(_NAMES.findall(selectors)):
                continue
            for selector in selectors.split(","):
                key = _simple(selector)
                if holds and (key in hiding or (key and not hiding.isdisjoint(_NAMES.findall(key)))):
                    by_selector.setdefault(key, {}).update(declarations(body))
                    continue
                last = (selector.split() or [""])[-1]
                again = hiding.intersection([key] if key else _NAMES.findall(last))
                if again and _shows(declarations(body)):
                    shown |= again
        return cls(by_selector, frozenset(shown))

    def rules(self, tag: str, attributes: Mapping[str, str | None]) -> Mapping[str, str]:
        """What is declared for an element by tag, class and id, in this order; empty for nearly all."""
        name = attributes.get("id") if self._has_ids else None
        if name and (f"#{name}" in self._by_selector or f"{tag}#{name}" in self._by_selector):
            return self._merged(self._keys(tag, attributes))
        of_class = (tag, attributes.get("class"))
        found = self._found.get(of_class)
        if found is None:
            if len(self._found) >= _MAX_REMEMBERED:
                self._found.clear()
            found = self._found[of_class] = self._merged(self._keys(tag, {"class": of_class[1]}))
        return found

    def reveals(self, tag: str, attributes: Mapping[str, str | None]) -> bool:
        """Whether a longer selector, or one for other screens, shows again what hides this element."""
        return any(key in self._shown for key in self._keys(tag, attributes))

    def _merged(self, keys: Iterable[str]) -> Mapping[str, str]:
        return {name: value for key in keys for name, value in self._by_selector[key].items()}

    def _keys(self, tag: str, attributes: Mapping[str, str | None]) -> Iterable[str]:
        names = [f".{name}" for name in (attributes.get("class") or "").split()]
        keys = [tag, *names, *(tag + name for name in names)]
        name = attributes.get("id")
        if name:
            keys += [f"#{name}", f"{tag}#{name}"]
        return [key for key in keys if key in self._by_selector]


def _rules(source: str) -> Iterator[tuple[str, str, bool]]:
    """Selectors and declarations of each rule that may hide or show, and whether it holds on every screen."""
    if "/*" in source:
        source = _COMMENT.sub("", source)
    if any(mark in source for mark in ('"}', '}"', '"{', '{"', "'}", "}'", "'{", "{'")):
        source = _STRING.sub("", source)
    conditions: list[bool] = []
    n_failing = 0
    for chunk in source.split("}"):
        opening = chunk.rfind("{")
        if opening < 0:
            if conditions:
                n_failing -= not conditions.pop()
            continue
        body = chunk[opening + 1 :]
        prelude = chunk[:opening]
        if "{" in prelude:
            *outer, prelude = prelude.split("{")
            entered = [_holds(part) for part in outer]
            conditions += entered
            n_failing += entered.count(False)
        if "display" in body or _may_hide(body):
            selectors = prelude.rsplit(";", 1)[-1]
            if "@" not in selectors:
                yield selectors, body, not n_failing


def _may_hide(body: str) -> bool:
    """Whether a rule's declarations hold a word without which nothing hides. In the order of how much each decides."""
    return (
        ("none" in body and "display" in body)
        or "visib" in body
        or "opacity" in body
        or ("color" in body and ("background" in body or "transparent" in body))
        or ("hidden" in body and ":0" in body.replace(" ", ""))
        or "-9" in body
        or "clip" in body
        or "font-size:0" in body
        or "font-size: 0" in body
        or "font-size:1px" in body
        or "line-through" in body
        or "scale(0" in body
        or "bidi" in body
    )


def _holds(prelude: str) -> bool:
    name, _, query = prelude.rsplit(";", 1)[-1].strip().lower().partition(" ")
    return name == "@layer" or (name == "@media" and query.strip() in _SHOWN_ON)


def _simple(selector: str) -> str:
    """A simple selector as a key, or nothing."""
    selector = selector.strip()
    found = _SIMPLE.fullmatch(selector) if selector else None
    return f"{(found[1] or '').lower()}{found[2] or ''}{found[3] or ''}" if found else ""


def _shows(rules: Mapping[str, str]) -> bool:
    return (
        rules.get("display", "none") not in ("none", "")
        or rules.get("visibility") == "visible"
        or rules.get("opacity", "0").strip("0.") != ""
    )
