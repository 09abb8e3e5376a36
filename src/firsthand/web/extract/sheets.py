"""What a page's own style sheets and controls say of its elements: which they hide, and which a reader can open.

Only simple selectors are read: ``p``, ``.name``, ``#name``, ``p.name``, in lists. That is what hides a passage from
a reader by a class of the page's own; what a longer selector says depends on where an element stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

MAX_SHEET_CHARS = 400_000  # of all style elements of a page together; what stands beyond is not read
_MAX_STYLE_CHARS = 4000  # of one style attribute or rule
_COMMENT = re.compile(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/")


def declarations(style: str) -> dict[str, str]:
    """The declarations of a style attribute or a rule: names and values in lower case, the last of a name wins."""
    style = style[:_MAX_STYLE_CHARS].lower()
    if "/*" in style:
        style = _COMMENT.sub("", style)
    rules: dict[str, str] = {}
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            rules[name.strip()] = value.replace("!important", "").strip()
    return rules


class Styles:
    """The rules of a page that hide something, by simple selector."""

    def __init__(self, by_selector: Mapping[str, Mapping[str, str]]) -> None:
        self._by_selector = by_selector

    @classmethod
    def of(cls, sources: Sequence[str]) -> Styles | None:
        """The rules that hide in these sheets, in order; None if there are none, which is soon found out."""
        return None

    def rules(self, tag: str, attributes: Mapping[str, str | None]) -> dict[str, str]:
        """What is declared for an element; empty for nearly all."""
        return {}


class Controls:
    """What the buttons, links and tabs of a page open. Looked for when first asked, because few pages need it."""

    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def named(self) -> frozenset[str]:
        """The ids that a control names as what it opens."""
        return frozenset()

    def opens(self, attributes: Mapping[str, str | None]) -> str:
        """What lets a reader open an element with these attributes, in one word; empty if nothing does."""
        return ""
