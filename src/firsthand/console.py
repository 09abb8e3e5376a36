"""What the command line writes, and where: text and JSON for a reader, sentences for the person beside it."""

from __future__ import annotations

import json
import os
import shutil
import sys

from firsthand.render import escape_unseen, visible_line
from firsthand.values import JsonValue


def put(text: str) -> None:
    """Write *text* to standard output, now."""
    sys.stdout.write(text)
    sys.stdout.flush()


def put_json(value: JsonValue) -> None:
    """Write one JSON value on one line; what steers a terminal can only stand inside of strings, and is spelled there."""
    put(escape_unseen(json.dumps(value, ensure_ascii=False)) + "\n")


def say(line: str) -> None:
    """Write one line to standard error, with what steers a terminal made visible."""
    sys.stderr.write(visible_line(line) + "\n")
    sys.stderr.flush()


def width() -> int:
    """Columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def is_coloured() -> bool:
    """Whether standard output is a terminal that shows colours, and nobody said NO_COLOR."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
