"""The world as a command: serve until interrupted, or for as long as another command runs.

    python -m firsthand.testing.world --pages FOLDER --port 8900 --log run.jsonl
    python -m firsthand.testing.world --pages FOLDER --trouble searxng=429 -- firsthand search "lighthouses"
    python -m firsthand.testing.world --troubles
    python -m firsthand.testing.world --trace run.jsonl

A command after ``--`` finds the world in its environment: WORLD, OPENAI_BASE_URL and OPENAI_API_KEY, and for Firsthand
FIRSTHAND_SEARXNG_URL and FIRSTHAND_ALLOW_PRIVATE. The world ends with it, and with its exit code. Without a command the
world prints these variables for you to export, and serves until it is interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from firsthand.testing.world import trace, trouble
from firsthand.testing.world.double import ANSWER_TOKENS, TOOL_CALLS
from firsthand.testing.world.served import World
from firsthand.testing.world.settings import NUMBERS, Settings

_HELP = {
    "search_ms": "wait before a search is answered",
    "page_ms": "wait before a page is answered",
    "page_kbps": "how fast a page arrives; 0: at once",
    "first_token_ms": "wait before a model's first token",
    "tokens_per_s": "how fast a model writes; 0: at once",
    "embed_ms": "wait before vectors are answered",
    "jitter": "0.3: each wait lies between 0.7 and 1.3 times its setting, the same for the same request",
    "snippet_words": "length of the snippets that engines show",
}


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(
        prog="python -m firsthand.testing.world",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--pages", type=Path, help="folder of HTML pages, served below /site/")
    made.add_argument("--port", type=int, default=0, help="0 takes a free one; it is printed as 'port N'")
    made.add_argument("--hosts", type=int, default=4, help="pages are spread over this many loopback addresses")
    made.add_argument("--log", type=Path, help="JSON lines, one for each page, search and model call, when it ends")
    made.add_argument("--keep-prompts", action="store_true", help="log whole prompts too")
    made.add_argument("--robots", type=Path, help="the robots.txt of every host; by default all is allowed")
    made.add_argument(
        "--trouble", action="append", default=[], metavar="WHERE=NAME", help="who misbehaves how; repeatable"
    )
    made.add_argument("--troubles", action="store_true", help="print what --trouble can name, and leave")
    made.add_argument("--trace", type=Path, metavar="LOG", help="print what each run of a log waited for, and leave")
    made.add_argument("--questions", type=Path, help="the questions of a benchmark, one a line, for the model double")
    made.add_argument("--answer-tokens", type=int, default=ANSWER_TOKENS, help="length of a model's prose")
    made.add_argument("--tool-calls", type=int, default=TOOL_CALLS, help="tool calls that a model makes in one turn")
    made.add_argument("--run", default="run", help="name of the first run in the log")
    for name in NUMBERS:
        made.add_argument(
            f"--{name.replace('_', '-')}", type=float, default=getattr(Settings(), name), help=_HELP[name]
        )
    made.add_argument("command", nargs=argparse.REMAINDER, help="after --: run this, then end")
    return made


def world_of(given: argparse.Namespace) -> World:
    """The world that the options describe. Raises: ValueError or OSError for options that describe none."""
    troubles: dict[str, list[str]] = {}
    for pair in given.trouble:
        where, is_pair, name = pair.partition("=")
        if not is_pair:
            raise ValueError(f"--trouble {pair} is not WHERE=NAME, like searxng=429.")
        troubles.setdefault(where, []).append(name)
    settings = {name: getattr(given, name) for name in NUMBERS} | {"run": given.run, "trouble": troubles}
    if given.robots is not None:
        settings["robots"] = given.robots.read_text("utf-8")
    questions = given.questions.read_text("utf-8").splitlines() if given.questions else ()
    return World(
        given.pages,
        hosts=given.hosts,
        port=given.port,
        log=given.log,
        keep_prompts=given.keep_prompts,
        questions=[question for question in questions if question.strip()],
        answer_tokens=given.answer_tokens,
        tool_calls=given.tool_calls,
        **settings,
    )


def main() -> int:
    """Serve; 2 for wrong options."""
    options = parser()
    given = options.parse_args()
    if given.troubles:
        print(trouble.table())
        return 0
    if given.trace:
        for summary in trace.runs(given.trace):
            print(json.dumps(summary))
        return 0
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    try:
        made = world_of(given)
    except (ValueError, OSError) as error:
        options.error(str(error))
    stops = {signal.SIGINT, signal.SIGTERM}
    if not command:
        signal.pthread_sigmask(signal.SIG_BLOCK, stops)  # also in the world's thread: they are waited for below
    try:
        with made as world:
            if command:
                return subprocess.run(command, env={**os.environ, **world.environment}, check=False).returncode
            print(_where(world), flush=True)
            signal.sigwait(stops)
            return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:  # a port that is taken, a folder or a command that is not there
        print(error, file=sys.stderr)
        return 2


def _where(world: World) -> str:
    """What to know of a world that serves: for programs a port and how many pages are found, for people the rest."""
    lines = [f"port {world.port}", f"pages {world.n_found}", f"{world.origin}/"]
    lines += [world.never_found] if world.never_found else []
    lines.append("Programs find this world with")
    lines += [f"export {name}={shlex.quote(value)}" for name, value in world.environment.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
