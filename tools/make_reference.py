"""Writes the generated pages of docs/reference: the command line and the settings. A test compares them with the code.

python tools/make_reference.py            write them
"""

from __future__ import annotations

import sys
from pathlib import Path

from typer.testing import CliRunner

from firsthand.cli import app
from firsthand.settings import describe, load_settings

ROOT = Path(__file__).parents[1]
WIDTH = 100


def pages() -> dict[str, str]:
    """Every generated page by its path below the project."""
    return {"docs/reference/command-line.md": _command_line(), "docs/reference/settings.md": _settings()}


def _command_line() -> str:
    parts = [
        "# Command line\n",
        "Results go to stdout, progress and errors to stderr; `--json` prints one JSON object on stdout and nothing"
        " else.\n",
        "| exit code | means |\n|---|---|\n"
        "| 0 | finished, whatever the status of the answer; of several sources at least one succeeded |\n"
        "| 1 | failed; none of several sources succeeded |\n"
        "| 2 | wrong usage |\n| 130 | interrupted; what was read is kept |\n",
    ]
    runner = CliRunner(env={"COLUMNS": str(WIDTH), "TERMINAL_WIDTH": str(WIDTH)})
    for command in app.registered_commands:
        name = str(command.name or getattr(command.callback, "__name__", ""))
        shown = runner.invoke(app, [name, "--help"], prog_name="firsthand").stdout
        lines = "\n".join(line.rstrip() for line in shown.strip().splitlines())
        parts.append(f"## `firsthand {name}`\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


def _settings() -> str:
    rows = ["# Settings\n"]
    rows.append(
        "A setting is a `FIRSTHAND_*` variable (`FIRSTHAND_MAX_SOURCES=3`) or a line of `firsthand.toml` in the home"
        " folder (`max_sources = 3`); the variable wins. `firsthand config` prints what is in force.\n"
    )
    rows.append("| setting | default | what it does |\n|---|---|---|")
    for name, value, help_line in describe(load_settings({"HOME": "~", "FIRSTHAND_HOME": "~/.local/share/firsthand"})):
        shown = "~/.local/share/firsthand" if name == "home" else value
        rows.append(f"| `{name}` | {f'`{shown}`' if shown else ''} | {help_line} |")
    return "\n".join(rows) + "\n"


def main() -> int:
    """Write the pages."""
    for name, content in pages().items():
        (ROOT / name).write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
