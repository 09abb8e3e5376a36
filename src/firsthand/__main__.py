"""The command: ``firsthand``, or ``python -m firsthand``."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """The entry point; Ctrl-C counts from the first import on."""
    try:
        from firsthand.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
