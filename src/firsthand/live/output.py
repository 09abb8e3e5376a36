"""Writing an answer where it was asked for: answer.md, answer.html, then answer.json, whose presence means complete.

Each file is written beside its name, synced, and put in place with its folder synced. A file of somebody else's is
never overwritten, and a symbolic link is never followed.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from firsthand import fault
from firsthand.errors import StoreFailed
from firsthand.page import to_html
from firsthand.render import to_json, to_markdown
from firsthand.values import Answer

COMPLETE = "answer.json"
MARK = "firsthand.answer/"  # stands in the first characters of each of the three
MARK_WITHIN_CHARS = 200


def write_answer(answer: Answer, folder: Path) -> None:
    """The three files of *answer* in *folder*, which is made if it is missing.

    An earlier answer's files are replaced; the same answer is written again as it was.
    Raises: StoreFailed (``output_taken``, ``output_unwritable``).
    """
    value = to_json(answer)
    contents = {
        "answer.md": to_markdown(answer),
        "answer.html": to_html(answer),
        COMPLETE: json.dumps(value, ensure_ascii=False, indent=2) + "\n",
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_foreign(folder, contents)
        (folder / COMPLETE).unlink(missing_ok=True)  # incomplete until the new one is there
        for name, content in contents.items():
            _replace(folder / name, content)
            fault.point("output.between_files")
    except OSError as error:
        raise StoreFailed(
            "output_unwritable",
            f"The answer is kept, but {folder} cannot be written ({error.strerror}); name another folder with --out.",
            folder=str(folder),
        ) from error


def _refuse_foreign(folder: Path, names: dict[str, str]) -> None:
    """Raise if a name is a link, not a file, or a file that no answer of ours wrote."""
    taken = [name for name in names if not _is_free(folder / name)]
    if taken:
        raise StoreFailed(
            "output_taken",
            f"{folder / taken[0]} was not written by Firsthand and is left alone; move it away, or name another "
            "folder with --out. The answer is kept.",
            file=str(folder / taken[0]),
        )


def _is_free(target: Path) -> bool:
    """Whether nothing is there, or a file that carries the mark which ours begin with."""
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return True
    if not stat.S_ISREG(mode):  # a link, a folder, a pipe that would never answer
        return False
    with target.open(encoding="utf-8", errors="replace") as file:
        return MARK in file.read(MARK_WITHIN_CHARS)


def _replace(target: Path, content: str) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fault.point("output.before_replace")
    beside.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
