"""Runs the command line in a fork of a process that has imported it: the same words and exit, without the imports.

    python tests/forge.py            one JSON request a line on stdin, one JSON reply a line on stdout

A request is ``{"words", "env", "cwd", "out", "err"}``, the last two names of files; a reply is ``{"code"}``. The hundred
commands that the tests run would import the same modules a hundred times; those that are killed, interrupted or timed
are started as real commands instead.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from typing import Any


def main() -> None:
    """Serve until stdin ends."""
    import firsthand.app
    import firsthand.web.extract.html  # noqa: F401
    from firsthand.cli import main as command

    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(_child(request, command))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(json.dumps({"code": os.waitstatus_to_exitcode(status)}) + "\n")
        sys.stdout.flush()


def _child(request: Any, command: Any) -> int:
    for number, name in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
        opened = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    os.setsid()
    signal.alarm(60)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.argv = ["firsthand", *request["words"]]
    try:
        command()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    main()
