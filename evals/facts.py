"""How often a page's title, author and date of publication are read as people read them.

    python -m evals.facts FOLDER [--part dev|test] [--rows FILE.jsonl] [--only ours|trafilatura]

FOLDER is a clone of the repository Murrough-Foley/web-content-extraction-benchmark (CC-BY-4.0): ``dev/`` or ``test/``
with ``ground-truth/*.json`` and ``html/*.html.gz``. If trafilatura is installed, its ``extract_metadata`` runs beside
ours on the same pages.

A title is *exact* if it is the people's but for case, white space and the form of quotes and dashes; its word F1 is
given too. An author is right if the same words name the same people; a date if it is the same day, as each has it.
*Recall* is right / pages that have the fact; *precision* is right / pages for which something was said, those of which
people said nothing included; *precision_where_known* leaves these out, for people wrote down few authors of listings
and products.

Prints one JSON object; writes a row for each page and reader.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import importlib.util
import json
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from firsthand.errors import ExtractionFailed
from firsthand.web.extract import extract

_WORD = re.compile(r"[^\W_]+")
_SAME = str.maketrans("‘’“”«»–—‐‑", '\'\'""""----')
_JOINS_NAMES = frozenset({"and", "by", "und", "et"})
Told = tuple[str | None, str | None, str | None]  # title, author, date


@dataclass(frozen=True, slots=True)
class Row:
    """What people and one reader say of one page. ``title_f1`` is of words; a date is a day."""

    page: str
    type: str
    reader: str
    title: str | None
    title_told: str | None
    is_title_exact: bool
    title_f1: float
    author: str | None
    author_told: str | None
    is_author_right: bool
    date: str | None
    date_told: str | None
    is_date_right: bool
    cpu_ms: float
    failed: str = ""


def rows(folder: Path, part: str, only: str | None = None) -> Iterator[Row]:
    """A row for each page of *part* and each reader that is there, in order of the pages' names."""
    readers = {name: read for name, read in _readers().items() if only in (None, name)}
    for gold in sorted((folder / part / "ground-truth").glob("*.json")):
        payload = gzip.decompress((folder / part / "html" / f"{gold.stem}.html.gz").read_bytes())
        described = json.loads(gold.read_text(encoding="utf-8"))
        for name, read in readers.items():
            yield row(gold.stem, described, payload, name, read)


def row(
    page: str, described: dict[str, object], payload: bytes, reader: str, read: Callable[[bytes, str], Told]
) -> Row:
    """The row of one page, as *described* by people and read by one reader."""
    truth, inside = described["ground_truth"], described["_internal"]
    assert isinstance(truth, dict) and isinstance(inside, dict)
    failed = ""
    told: Told = (None, None, None)
    begun = time.process_time()
    try:
        told = read(payload, str(described.get("url") or f"https://{page}.example/"))
    except ExtractionFailed as error:
        failed = error.code
    cpu_ms = (time.process_time() - begun) * 1000
    title, author, date = truth.get("title") or None, truth.get("author") or None, truth.get("publish_date") or None
    return Row(
        page=page,
        type=str(inside["page_type"]["primary"]),
        reader=reader,
        title=title,
        title_told=told[0],
        is_title_exact=is_same_title(title, told[0]),
        title_f1=round(word_f1(title or "", told[0] or ""), 4),
        author=author,
        author_told=told[1],
        is_author_right=is_same_author(author, told[1]),
        date=date,
        date_told=told[2],
        is_date_right=is_same_day(date, told[2]),
        cpu_ms=round(cpu_ms, 3),
        failed=failed,
    )


def folded(words: str) -> str:
    """*words* without differences of case, white space, compatibility forms, quotes and dashes."""
    return " ".join(unicodedata.normalize("NFKC", words).translate(_SAME).casefold().split())


def is_same_title(gold: str | None, told: str | None) -> bool:
    return bool(gold and told) and folded(gold or "") == folded(told or "")


def is_same_author(gold: str | None, told: str | None) -> bool:
    return bool(gold and told) and _names(gold or "") == _names(told or "")


def is_same_day(gold: str | None, told: str | None) -> bool:
    """Whether both are the same day; or the same month, if people wrote no more than that."""
    return bool(gold and told) and (told or "")[:10].startswith((gold or "")[:10])


def word_f1(gold: str, told: str) -> float:
    """F1 of the words of *told*, each as often as it occurs."""
    expected, found = Counter(_WORD.findall(folded(gold))), Counter(_WORD.findall(folded(told)))
    n_common = (expected & found).total()
    return 2 * n_common / (expected.total() + found.total()) if n_common else 0.0


def summary(found: Sequence[Row]) -> dict[str, object]:
    """The figures of each reader."""
    return {
        reader: _figures([each for each in found if each.reader == reader])
        for reader in dict.fromkeys(each.reader for each in found)
    }


def _figures(found: Sequence[Row]) -> dict[str, object]:
    titled = [each for each in found if each.title]
    return {
        "pages": len(found),
        "failed": sum(bool(each.failed) for each in found),
        "title": {
            "n": len(titled),
            "exact": _share(sum(each.is_title_exact for each in titled), len(titled)),
            "word_f1": _share(sum(each.title_f1 for each in titled), len(titled)),
        },
        "author": _precision([(each.author, each.author_told, each.is_author_right) for each in found]),
        "date": _precision([(each.date, each.date_told, each.is_date_right) for each in found]),
        "cpu_ms_median": round(median(each.cpu_ms for each in found), 3),
    }


def _precision(told: Sequence[tuple[str | None, str | None, bool]]) -> dict[str, float | int | None]:
    n_gold = sum(gold is not None for gold, _, _ in told)
    n_told = sum(said is not None for _, said, _ in told)
    n_both = sum(gold is not None and said is not None for gold, said, _ in told)
    n_right = sum(is_right for _, _, is_right in told)
    return {
        "n": n_gold,
        "told": n_told,
        "right": n_right,
        "precision": _share(n_right, n_told),
        "precision_where_known": _share(n_right, n_both),
        "recall": _share(n_right, n_gold),
    }


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _names(author: str) -> frozenset[str]:
    return frozenset(_WORD.findall(folded(author))) - _JOINS_NAMES


def _readers() -> dict[str, Callable[[bytes, str], Told]]:
    readers: dict[str, Callable[[bytes, str], Told]] = {"ours": _ours}
    if importlib.util.find_spec("trafilatura"):
        readers["trafilatura"] = _trafilatura
    return readers


def _ours(payload: bytes, url: str) -> Told:
    text = extract(payload, url=url, content_type="text/html")
    return text.title or None, text.author, text.published_at


def _trafilatura(payload: bytes, url: str) -> Told:
    trafilatura = importlib.import_module("trafilatura")  # by name: no dependency of ours, and it need not be there
    found = trafilatura.extract_metadata(payload, default_url=url)
    return (found.title or None, found.author or None, found.date or None) if found else (None, None, None)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="evals.facts", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--only", choices=("ours", "trafilatura"))
    parser.add_argument("--rows", type=Path, help="write a row for each page and reader here")
    given = parser.parse_args(arguments)
    found = list(rows(given.folder, given.part, given.only))
    if not found:
        raise SystemExit(f"facts: there is no page in {given.folder / given.part}")
    if given.rows:
        lines = (json.dumps(asdict(each), ensure_ascii=False) + "\n" for each in found)
        given.rows.write_text("".join(lines), encoding="utf-8")
    print(json.dumps(summary(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
