"""What the buttons, links and tabs of a page open: the difference between what is collapsed and what is hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache

# Each pattern begins with literal characters and has bounded parts: linear, and a fast search. All are compiled when a
# page needs them.
_NAMING = ("aria-controls", "data-target", "data-bs-target", "popovertarget")
_VALUE = r"""\s{0,4}=\s{0,4}(?:"([^"]{1,400})"|'([^']{1,400})'|([^\s"'>]{1,200}))"""
_LINKED = r"""href\s{0,4}=\s{0,4}["']?#([^\s"'>]{1,200})"""
_MAX_CLASS_CHARS = 1000  # of a class attribute that is looked at, and remembered
_TOGGLES = ("aria-expanded", 'role="tab"', "role='tab'", "data-toggle", "data-bs-toggle", "data-accordion", "data-tab")
_PANEL = (
    r"(?:^|[\s_-])(?:(?P<tab_panel>tabs?[_-]{0,2}(?:pane|panel|content|body)|tabpanel)"
    r"|(?P<accordion>accordion|collaps(?:e|ed|er|ible)|faq[_-]{0,2}\w{0,20}[_-]{0,2}(?:answer|content|body)"
    r"|toggle[_-]{0,2}(?:content|body))"
    r"|(?P<read_more>read-?more|show-?more|more[_-](?:text|content)|expand(?:able|ed|er)?))(?![a-z])"
)


class Controls:
    """What the buttons, links and tabs of a page open. Looked for when first asked, because few pages need it."""

    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def named(self) -> frozenset[str]:
        """The ids, and classes with their dot, that a control names as what it opens."""
        names: set[str] = set()
        for attribute in _NAMING:
            if attribute in self._source:
                for values in re.findall(attribute + _VALUE, self._source):
                    names.update(name.removeprefix("#") for name in "".join(values).split())
        return frozenset(names)

    @cached_property
    def linked(self) -> frozenset[str]:
        """The ids that a link of the page points at."""
        return frozenset(re.findall(_LINKED, self._source))

    @cached_property
    def has_toggles(self) -> bool:
        """Whether anything on the page says that it opens something else."""
        return any(word in self._source for word in _TOGGLES)

    @cached_property
    def _placeholders(self) -> frozenset[str]:
        """The places that a server streams content for: React's, which moves ``S:1`` to where ``B:1`` or ``P:1`` is."""
        return frozenset(re.findall(r"id=\"[BP]:([0-9a-f]{1,8})\"", self._source))

    def opens(self, attributes: Mapping[str, str | None]) -> str:
        """What lets a reader open an element with these attributes, in one word; empty if nothing does."""
        name, names = attributes.get("id") or "", attributes.get("class") or ""
        if name[:2] == "S:" and name[2:] in self._placeholders:
            return "streamed"
        kind = _panel(names[:_MAX_CLASS_CHARS])
        if (attributes.get("role") or "").strip().lower() == "tabpanel":
            kind = "tab_panel"
        if kind and (self.has_toggles or (name and (name in self.named or name in self.linked))):
            return kind
        if name and name in self.named:
            return "controlled"
        return "controlled" if any(f".{word}" in self.named for word in names.split()) else ""


@lru_cache(maxsize=1024)
def _panel(names: str) -> str:
    panel = re.search(_PANEL, names, re.IGNORECASE)
    return (panel.lastgroup or "") if panel else ""
