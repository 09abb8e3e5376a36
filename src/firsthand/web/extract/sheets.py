"""What a page's own style sheets and controls say of its elements: which they hide, and which a reader can open.

Only simple selectors are read: ``p``, ``.name``, ``#name``, ``p.name``, in lists. That is what hides a passage from
a reader by a class of the page's own; what a longer selector says depends on where an element stands. Longer ones
count only where they show something again: then a script or a pointer reveals it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

MAX_SHEET_CHARS = 1_000_000  # of all style elements of a page together; what stands beyond is not read
MAX_STYLE_CHARS = 4000  # of one style attribute or rule
_COMMENT = re.compile(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/")  # each character is taken by one branch only: linear
_STRING = re.compile(r"\"[^\"\\\n]*\"|'[^'\\\n]*'")
_STYLE = re.compile(r"<style\b([^>]{0,500})>", re.IGNORECASE)
_MEDIA = re.compile(r"""\bmedia\s?=\s?["']?([^"'>]{0,100})""", re.IGNORECASE)
# A rule that hides holds one of these; the last is for words in the colour of their ground.
_HIDING = re.compile(
    r"none|hidden|collapse|opacity\s*:\s*0?\.?0*\s*(?:[;!]|$)|font-size\s*:\s*[01.]|indent\s*:\s*-|(?:left|top|right|bottom)\s*:\s*-"
    r"|clip|(?:width|height)\s*:\s*0|scale|translate|bidi|transparent|background.{0,200}[;\s]color\s*:|color\s*:.{0,200}background",
    re.DOTALL,
)
_SIMPLE = re.compile(r"([a-z][a-z0-9]*)?(?:([.#])(-?[a-z_][\w-]*))?", re.IGNORECASE)
_LAST_NAMES = re.compile(r"[.#]-?[a-z_][\w-]*", re.IGNORECASE)
_SHOWN_ON = frozenset({"", "all", "screen", "only screen"})


def declarations(style: str) -> dict[str, str]:
    """The declarations of a style attribute or a rule: names and values in lower case, the last of a name wins."""
    style = style[:MAX_STYLE_CHARS].lower()
    if "/*" in style:
        style = _COMMENT.sub("", style)
    rules: dict[str, str] = {}
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            rules[name.strip()] = value.replace("!important", "").strip()
    return rules


def style_sources(source: str) -> list[str]:
    """What stands in the ``style`` elements of a page that hold for a screen, outside ``noscript``."""
    sources: list[str] = []
    n_chars = end = 0
    while n_chars < MAX_SHEET_CHARS:
        found = _STYLE.search(source, end)
        if found is None:
            break
        before, start = end, found.end()
        end = source.find("</style", start)
        if end < 0:
            end = len(source)
        media = _MEDIA.search(found[1])
        is_conditional = media is not None and media[1].strip().lower() not in _SHOWN_ON
        noscript = source.rfind("<noscript", before, start)
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

    @classmethod
    def of(cls, sources: Sequence[str]) -> Styles | None:
        """The rules that hide in these sheets, in order; None if there are none, which is soon found out.

        Cost: linear in the sheets.
        """
        rules = [rule for source in sources for rule in _rules(source[:MAX_SHEET_CHARS])]
        hiding = {
            key
            for selectors, body, holds in rules
            if holds and _HIDING.search(body)
            for key in map(_simple, selectors.split(","))
            if key
        }
        if not hiding:
            return None
        by_selector: dict[str, dict[str, str]] = {key: {} for key in hiding}
        shown: set[str] = set()
        for selectors, body, holds in rules:
            for selector in selectors.split(","):
                key = _simple(selector)
                if key in hiding and holds:
                    by_selector[key] |= declarations(body)
                elif key in hiding or not key:
                    names = (
                        [key] if key else _LAST_NAMES.findall(selector.rsplit(None, 1)[-1] if selector.strip() else "")
                    )
                    if not hiding.isdisjoint(names) and _shows(declarations(body)):
                        shown.update(hiding.intersection(names))
        return cls(by_selector, frozenset(shown))

    def rules(self, tag: str, attributes: Mapping[str, str | None]) -> dict[str, str]:
        """What is declared for an element by tag, class and id, in this order; empty for nearly all."""
        found: dict[str, str] = {}
        for key in self._keys(tag, attributes):
            found |= self._by_selector[key]
        return found

    def reveals(self, tag: str, attributes: Mapping[str, str | None]) -> bool:
        """Whether a longer selector, or one for other screens, shows again what hides this element."""
        return any(key in self._shown for key in self._keys(tag, attributes))

    def _keys(self, tag: str, attributes: Mapping[str, str | None]) -> list[str]:
        known = self._by_selector
        names = [f".{name}" for name in (attributes.get("class") or "").split()]
        keys = [
            tag,
            *names,
            *(tag + name for name in names),
            f"#{attributes.get('id')}",
            f"{tag}#{attributes.get('id')}",
        ]
        return [key for key in keys if key in known]


def _rules(source: str) -> Iterator[tuple[str, str, bool]]:
    """Selectors and declarations of each rule, and whether it holds on every screen."""
    if "/*" in source:
        source = _COMMENT.sub("", source)
    if '"' in source or "'" in source:
        source = _STRING.sub("", source)
    conditions: list[bool] = []
    for chunk in source.split("}"):
        *preludes, body = chunk.split("{")
        if not preludes:
            if conditions:
                conditions.pop()
            continue
        for prelude in preludes[:-1]:
            conditions.append(_holds(prelude))
        if "@" not in preludes[-1].rsplit(";", 1)[-1]:
            yield preludes[-1].rsplit(";", 1)[-1], body, all(conditions)


def _holds(prelude: str) -> bool:
    name, _, query = prelude.rsplit(";", 1)[-1].strip().lower().partition(" ")
    return name == "@layer" or (name == "@media" and query.strip() in _SHOWN_ON)


def _simple(selector: str) -> str:
    """A simple selector as a key, or nothing."""
    selector = selector.strip()
    found = _SIMPLE.fullmatch(selector) if selector else None
    if found is None:
        return ""
    return f"{(found[1] or '').lower()}{found[2] or ''}{found[3] or ''}"


def _shows(rules: Mapping[str, str]) -> bool:
    return (
        rules.get("display", "none") not in ("none", "")
        or rules.get("visibility") == "visible"
        or rules.get("opacity", "0").strip("0.") != ""
    )


_NAMES = re.compile(
    r"""(?:aria-controls|data-target|data-bs-target|popovertarget)\s{0,4}=\s{0,4}(?:"([^"]{1,400})"|'([^']{1,400})')""",
    re.IGNORECASE,
)
_LINKED = re.compile(r"""href\s{0,4}=\s{0,4}["']?#([^\s"'>]{1,200})""")
_TOGGLES = ("aria-expanded", 'role="tab"', "role='tab'", "data-toggle", "data-bs-toggle", "data-accordion", "data-tab")
_PANEL = re.compile(
    r"(?:^|[\s_-])(?:(?P<tab>tabs?[_-]{0,2}(?:pane|panel|content|body)|tabpanel)"
    r"|(?P<accordion>accordion|collapse|collapsible|panel-collapse|faq[_-]{0,2}\w{0,20}[_-]{0,2}(?:answer|content|body)|toggle[_-]{0,2}(?:content|body))"
    r"|(?P<read_more>read-?more|show-?more|more[_-](?:text|content)|expand(?:able|ed|er)?))(?![a-z])",
    re.IGNORECASE,
)


class Controls:
    """What the buttons, links and tabs of a page open. Looked for when first asked, because few pages need it."""

    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def named(self) -> frozenset[str]:
        """The ids, and classes with their dot, that a control names as what it opens."""
        names: set[str] = set()
        for double, single in _NAMES.findall(self._source):
            names.update(name.removeprefix("#") for name in (double or single).split())
        return frozenset(names)

    @cached_property
    def linked(self) -> frozenset[str]:
        """The ids that a link of the page points at."""
        return frozenset(_LINKED.findall(self._source))

    @cached_property
    def has_toggles(self) -> bool:
        """Whether anything on the page says that it opens something else."""
        return any(word in self._source for word in _TOGGLES)

    def opens(self, attributes: Mapping[str, str | None]) -> str:
        """What lets a reader open an element with these attributes, in one word; empty if nothing does."""
        name, names = attributes.get("id") or "", attributes.get("class") or ""
        panel = _PANEL.search(names)
        kind = (panel.lastgroup or "") if panel else ""
        if (attributes.get("role") or "").strip().lower() == "tabpanel":
            kind = "tab"
        if kind:
            has_control = self.has_toggles or (name != "" and (name in self.named or name in self.linked))
            if has_control:
                return "tab_panel" if kind == "tab" else kind
        if name and name in self.named:
            return "controlled"
        return "controlled" if any(f".{word}" in self.named for word in names.split()) else ""
