"""``python -m firsthand``: the command line."""

from firsthand.cli import main

if __name__ == "__main__":
    main()
