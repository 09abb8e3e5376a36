"""How many files of a folder are read in their right characters: as they are, and with what they declare blanked out.

    python -m evals.charset FOLDER [--rows FILE.jsonl]

FOLDER holds a folder for each encoding, its name the encoding's and perhaps a language behind ``-`` or ``_``
(``KOI8-R``, ``iso-8859-5-bulgarian``, ``cp1251_uk``), as the test files of the chardet project are laid out (its
repository, ``tests/``). A file is right if it gives the very characters that its encoding gives, as browsers read that
encoding: ``gb2312`` is read as GB 18030, ``iso-8859-1`` as windows-1252. Encodings that no browser reads are counted
apart: they are not read here either, whatever a page declares.

Prints one JSON object; writes a row for each file.
"""

from __future__ import annotations

import argparse
import codecs
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from firsthand.web.extract.charset import decode

# What browsers read under a name, where that is more than the name says. Source: Encoding Standard, section 4.2.
READ_AS = {
    "ascii": "cp1252", "iso-8859-1": "cp1252", "windows-1252": "cp1252", "iso-8859-9": "cp1254", "tis-620": "cp874",
    "windows-874": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949",
    "big5": "big5hkscs", "maccyrillic": "mac-cyrillic", "x-mac-cyrillic": "mac-cyrillic", "macroman": "mac-roman",
    "macintosh": "mac-roman", "utf-8-sig": "utf-8", "utf-16": "utf-16",
}  # fmt: skip
NOT_ON_THE_WEB = frozenset({"ibm855", "johab", "euc-tw", "iso-2022-kr", "utf-32", "utf-32be", "utf-32le", "hz-gb-2312"})
_OPEN = re.compile(r"[\x80-\x9f]")  # C1 controls: what browsers make of bytes that a code page leaves open
_DECLARED = re.compile(rb"""(?:charset|encoding)\s{0,8}=\s{0,8}["']?\s{0,8}[A-Za-z0-9_.:-]{1,40}""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one file. ``is_right`` and ``is_right_bare`` are None where its encoding is not one of the web's."""

    file: str
    encoding: str
    n_bytes: int
    is_ascii: bool
    declared: str | None
    chosen: str
    chosen_bare: str
    is_right: bool | None
    is_right_bare: bool | None


def rows(folder: Path) -> Iterator[Row]:
    """A row for each file of *folder*, in order of their names."""
    for each in sorted(path for path in folder.iterdir() if path.is_dir()):
        encoding = encoding_of(each.name)
        for file in sorted(path for path in each.iterdir() if path.is_file()):
            yield row(file.relative_to(folder).as_posix(), encoding, file.read_bytes())


def row(name: str, encoding: str, payload: bytes) -> Row:
    """The row of one file with *payload* in *encoding*."""
    bare = _DECLARED.sub(lambda found: b" " * len(found[0]), payload)
    as_is, blanked = decode(payload), decode(bare)
    right = right_bare = None
    if encoding not in NOT_ON_THE_WEB:
        right = is_same(as_is.text, payload, encoding)
        right_bare = is_same(blanked.text, bare, encoding)
    return Row(
        name, encoding, len(payload), payload.isascii(), as_is.declared, as_is.chosen, blanked.chosen, right, right_bare
    )


def encoding_of(name: str) -> str:
    """The encoding in a folder's name: the longest beginning that is the name of one.

    Raises: SystemExit if there is none.
    """
    name = name.lower()
    borders = [found.start() for found in re.finditer("[-_]", name)]
    for end in [len(name), *reversed(borders)]:
        candidate = name[:end]
        if candidate in NOT_ON_THE_WEB or candidate in READ_AS or _is_codec(candidate):
            return candidate
    raise SystemExit(f"charset: the folder {name!r} is not named by an encoding")


def is_same(text: str, payload: bytes, encoding: str) -> bool:
    """Whether *text* is what *encoding* gives of *payload*, the byte order mark and bytes that mean nothing aside."""
    expected = payload.decode(READ_AS.get(encoding, encoding), "replace").lstrip("\ufeff")
    return _OPEN.sub("\ufffd", text.lstrip("\ufeff")) == _OPEN.sub("\ufffd", expected)


def summary(found: list[Row]) -> dict[str, object]:
    """The figures: of all files of the web's encodings, and of those among them that are neither ASCII nor UTF-8."""
    web = [each for each in found if each.is_right is not None]
    legacy = [each for each in web if not each.is_ascii and not each.encoding.startswith("utf")]
    wrong = Counter(each.encoding for each in legacy if not each.is_right_bare)
    return {
        "files": len(found),
        "not_on_the_web": len(found) - len(web),
        "web": len(web),
        "right": sum(each.is_right is True for each in web),
        "right_share": _share([each.is_right for each in web]),
        "legacy": len(legacy),
        "legacy_right_share": _share([each.is_right for each in legacy]),
        "legacy_undeclared_right_share": _share([each.is_right_bare for each in legacy]),
        "legacy_undeclared_wrong": dict(sorted(wrong.items())),
    }


def _share(right: list[bool | None]) -> float | None:
    return round(sum(map(bool, right)) / len(right), 4) if right else None


def _is_codec(name: str) -> bool:
    try:
        return codecs.lookup(name)._is_text_encoding
    except LookupError:
        return False


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="evals.charset", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=Path, help="write a row for each file here")
    given = parser.parse_args(arguments)
    found = list(rows(given.folder))
    if not found:
        raise SystemExit(f"charset: there is no file in {given.folder}")
    if given.rows:
        lines = (json.dumps(asdict(each), ensure_ascii=False) + "\n" for each in found)
        given.rows.write_text("".join(lines), encoding="utf-8")
    print(json.dumps(summary(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
