"""What is known only after the whole page was walked: who can see a block, and which headings stand above it."""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.web.extract.drafts import Draft
from firsthand.web.extract.elements import FOOTER, NAV
from firsthand.web.extract.seen import is_revealed
from firsthand.web.extract.walk import Container

_NO_WORDS_OF_THE_PAGE = frozenset({"comment", "template"})  # what stands on both sides of these is one text
_LONG_CHARS = 80  # the unit of seen.is_revealed
# Guesses: a page that shows less than a line, or a small part of what noscript holds, has its words there.
_LINE_CHARS = 60
_NOSCRIPT_CHARS, _NOSCRIPT_RATIO = 1000, 5
_MAY_BE_MAIN = 0.2  # guess: a heading of less is another page's, or an advertisement's


def settle(drafts: Sequence[Draft]) -> None:
    """Set each draft's visibility and its reason, and where words of the page are left out before it."""
    _set_visibility(drafts)
    is_after_hidden = False
    for draft in drafts:
        if draft.visibility == "hidden":
            is_after_hidden = is_after_hidden or draft.reason not in _NO_WORDS_OF_THE_PAGE
        else:
            draft.is_after_gap = draft.is_after_gap or is_after_hidden
            is_after_hidden = False


def set_headings(drafts: Sequence[Draft], containers: Sequence[Container]) -> None:
    """Set each draft's heading path. Above what is main stand headings that may be main themselves, and the title."""
    everything, mains = _Path(), _Path()
    for draft in drafts:
        if draft.visibility == "hidden":
            continue
        path = mains if draft.main else everything
        draft.headings = path.above(draft)
        if draft.kind == "heading" and not containers[draft.container].flags & (NAV | FOOTER):
            everything.add(draft)
            if draft.main or draft.level == 1 or draft.score >= _MAY_BE_MAIN:
                mains.add(draft)


class _Path:
    """The headings that stand above a place."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._titles: tuple[str, ...] = ()

    def above(self, draft: Draft) -> tuple[str, ...]:
        if draft.kind != "heading":
            return self._titles
        return tuple(title for level, title in self._path if level < draft.level)

    def add(self, heading: Draft) -> None:
        self._path = [(level, title) for level, title in self._path if level < heading.level]
        self._path.append((heading.level, heading.text))
        self._titles = tuple(title for _, title in self._path)


def _set_visibility(drafts: Sequence[Draft]) -> None:
    """Everything stands in the body but what is hidden and neither opens nor is revealed."""
    hidden = [draft for draft in drafts if draft.hiding is not None]
    if not hidden:
        return
    shown = sum(len(draft.text) for draft in drafts if draft.hiding is None or not draft.hiding.closed)
    noscript = 0
    by_reason: dict[str, list[int]] = {}  # what one reason alone hides: characters of long blocks, and their number
    for draft in hidden:
        assert draft.hiding is not None
        n_chars, reasons = len(draft.text), draft.hiding.closed
        if reasons == {"noscript"}:
            noscript += n_chars
        elif len(reasons) == 1 and n_chars >= _LONG_CHARS:
            amounts = by_reason.setdefault(min(reasons), [0, 0])
            amounts[0] += n_chars
            amounts[1] += 1
    revealed = {reason for reason, (chars, blocks) in by_reason.items() if is_revealed(chars, shown, reason, blocks)}
    if shown < _LINE_CHARS or (noscript >= _NOSCRIPT_CHARS and noscript >= _NOSCRIPT_RATIO * shown):
        revealed.add("noscript")
    for draft in hidden:
        assert draft.hiding is not None
        left = draft.hiding.closed - revealed
        draft.visibility = "hidden" if left else "collapsed"
        own = draft.hiding.opens or draft.hiding.reason
        draft.reason = own if not left or own in left else min(left)
