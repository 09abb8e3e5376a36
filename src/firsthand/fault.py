"""Named fault points for crash tests: a no-op unless FIRSTHAND_FAULT names a point.

``FIRSTHAND_FAULT=point:n[:action]``: at the n-th passage of *point* the process kills itself with signal 9, or raises
(action ``raise``). ``FIRSTHAND_FAULT=trace:PATH`` appends every point passed to a file instead.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

_SPEC = os.environ.get("FIRSTHAND_FAULT", "")
_passed: Counter[str] = Counter()


class InjectedFault(Exception):
    """Raised by a fault point in tests only."""


def point(name: str) -> None:
    """Mark a place where a crash must lose nothing."""
    if not _SPEC:
        return
    kind, _, rest = _SPEC.partition(":")
    if kind == "trace":
        with Path(rest).open("a", encoding="utf-8") as file:
            file.write(name + "\n")
        return
    nth, _, action = rest.partition(":")
    _passed[name] += 1
    if name == kind and _passed[name] == int(nth or 1):
        if action == "raise":
            raise InjectedFault(name)
        os.kill(os.getpid(), signal.SIGKILL)
