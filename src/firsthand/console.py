"""What the command line writes, and where: text and JSON for a reader, sentences for the person beside it.

A command that fails prints one sentence on stderr, or with ``--json`` one ``firsthand.error/1`` object on stdout,
whatever went wrong: a thing of the world, wrong usage, or a fault of ours.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys

from firsthand.errors import BrokenPromise, Error, InvalidInput, OutsideError, first_of, whereabouts
from firsthand.render import escape_unseen, visible_line
from firsthand.values import JsonValue

FAILED, WRONG_USAGE = 1, 2


class OutputLost(OSError):
    """Standard output takes no more: the disk behind it is full, say."""


def put(text: str) -> None:
    """Write *text* to standard output, now. Raises: OutputLost; BrokenPipeError if its reader went away."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputLost(error.errno, error.strerror) from error


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


def report(error: Exception, *, as_json: bool) -> int:
    """Say what ended a command, and return the exit code that goes with it."""
    known = _known(error)
    if isinstance(error, OutputLost):
        drop_output()
        as_json = False
    if as_json:
        put_json({"schema": "firsthand.error/1", "error": known.as_json()})
    else:
        say(f"firsthand: {known.message}")
    return WRONG_USAGE if isinstance(known, InvalidInput) else FAILED


def drop_output() -> None:
    """From now on standard output leads nowhere, so that what is still in its buffer fails no more at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _known(error: BaseException) -> Error:
    """*error* as one of the tree: what has no place there is a refusal of the system, or a fault of ours."""
    if isinstance(error, BaseExceptionGroup):
        error = first_of(error)
    if isinstance(error, Error):
        return error
    if isinstance(error, OSError) and error.errno is not None:
        where = f" ({error.filename})" if error.filename else ""
        return OutsideError("failed", "system_refused", f"the system refused: {error.strerror or error}{where}.")
    message = (
        f"something unexpected happened ({whereabouts(error)}). This is a fault of Firsthand, not yours; what was read "
        "is kept. Run the same command again, and if it ends like this again, report this line."
    )
    return BrokenPromise("internal", message, exception=type(error).__name__)


# What the reader of the arguments says, and how we say it.
_USAGE = (
    (r"Invalid value for '(.+?)(?: / .+)?': .*valid integer.*", r"\1 must be a whole number."),
    (r"Invalid value for '(.+?)': .*greater than or equal to (-?\d+).*", r"\1 must be \2 or more."),
    (r"Invalid value for '(.+?)': .*less than or equal to (-?\d+).*", r"\1 must be \2 or less."),
    (r"Missing option '(.+?)'\.", r"\1 is missing."),
    (r"Missing (?:argument|parameter) '(.+?)'\.", r"The \1 is missing."),
    (r"No such option: (\S+) \(Possible options?: (.+)\)", r"There is no option \1; is it \2?"),
    (r"No such option: (\S+) Did you mean (.+)\?", r"There is no option \1; is it \2?"),
    (r"No such option: (\S+)", r"There is no option \1."),
    (r"No such command '(.+)'\.", r"There is no command '\1'."),
    (r"Option '(.+)' requires an argument\.", r"\1 needs a value."),
    (
        r"Got unexpected extra arguments?(?:\(s\))? \((.+)\)",
        r"There is no place for '\1'; put quotes around a question.",
    ),
)


def wrong_usage(said: str, command: str) -> InvalidInput:
    """The error for arguments that could not be read; *said* is their reader's sentence, *command* whose they were."""
    said = " ".join(said.split())
    ours = next((re.sub(pattern, to, said) for pattern, to in _USAGE if re.fullmatch(pattern, said)), said)
    return InvalidInput("usage", f"{ours} See '{command} --help'.")
