"""What a person watching sees on stderr while work is done: one changing line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys

from firsthand.events import Event
from firsthand.render import counted, cut_to_width, visible_line
from firsthand.values import JsonValue


class Progress:
    """Shows events and counts; ``clear`` takes the changing line away before a result is printed."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._is_live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._has_line = False
        self._last_tenth = -1

    def event(self, event: Event) -> None:
        """Show what happened in a turn."""
        words = _EVENT_WORDS.get(event.type)
        if words:
            self._show(words.format_map({**_BLANK, **event.data, **_counts(event)}))

    def count(self, done: int, total: int, what: str) -> None:
        """Show how far a long job is; a plain log gets a line each tenth, or each tenth page if nobody knows the end."""
        tenth = 10 * done // total if total else done // 10
        if self._is_live or tenth != self._last_tenth:
            self._last_tenth = tenth
            self._show(f"{done}/{total} {what}" if total else f"{done} {what}")

    def clear(self) -> None:
        """Take the changing line away, before a result is printed."""
        if self._has_line:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._has_line = False

    def _show(self, line: str) -> None:
        if self._is_quiet:
            return
        line = visible_line(line)
        if self._is_live:
            sys.stderr.write("\r\x1b[K" + cut_to_width(line, _stderr_width() - 1))
            self._has_line = True
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()


_BLANK: dict[str, JsonValue] = {"provider": "", "url": "", "outcome": ""}
_COUNTED = {"n_hits": "hit", "n_passages": "passage", "n_claims": "claim"}
_EVENT_WORDS = {
    "TurnStarted": "looking at the question",
    "SearchFinished": "searched {provider}: {n_hits}",
    "SearchFailed": "searched {provider}: {outcome}",
    "PageKept": "read {url}",
    "PageFailed": "not read ({outcome}) {url}",
    "PassagesRanked": "weighed {n_passages}",
    "AnswerFinished": "checked {n_claims}",
}


def _counts(event: Event) -> dict[str, str]:
    """The event's counts as words: "1 hit", "2 hits"."""
    numbers = {name: event.data.get(name, 0) for name in _COUNTED}
    return {name: counted(n, _COUNTED[name]) for name, n in numbers.items() if isinstance(n, int)}


def _stderr_width() -> int:
    """The columns of the terminal that shows progress, which need not be where the results go."""
    try:
        return int(os.environ.get("COLUMNS", "")) or 80
    except ValueError:
        pass
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
