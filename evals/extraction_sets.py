"""The pages of a set with their gold, read from a local clone. The sets are not part of this project.

* ``articles``: github.com/scrapinghub/article-extraction-benchmark, 181 news articles (MIT).
* ``wcxb-dev``, ``wcxb-test``: github.com/Murrough-Foley/web-content-extraction-benchmark, 1,497 and 511 pages of seven
  kinds (CC-BY-4.0). FOLDER is the clone; a page of the test part knows whether dev has its registered domain.
* ``golden``: ``evals/data/extraction``, pages of many kinds that were written for this project, a folder each with
  ``page.html`` and its main text, ``main.txt``. Their floors are pinned; the sets above say how good extraction is.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SETS = ("articles", "wcxb-dev", "wcxb-test", "docs", "golden")


@dataclass(frozen=True, slots=True)
class Case:
    """One page: where its source lies, its address, and what a person said its main text is."""

    page: str
    path: Path
    url: str
    gold: str = ""
    kind: str = "article"
    snippets: tuple[str, ...] = ()  # must occur in the text
    furniture: tuple[str, ...] = ()  # must not
    domain: str = ""
    is_seen: bool | None = None  # whether the dev part has a page of this domain; None: does not apply

    def payload(self) -> bytes:
        """The page as served."""
        data = self.path.read_bytes()
        return gzip.decompress(data) if self.path.suffix == ".gz" else data


def load(name: str, folder: Path) -> list[Case]:
    """The cases of set *name*, in the order of their names."""
    if name == "articles":
        return _articles(folder)
    if name == "golden":
        return _golden(folder)
    part = name.removeprefix("wcxb-")
    seen = frozenset[str]()
    if part == "test":
        seen = frozenset(registered_domain(_url(data)) for data in _gold_files(folder / "dev").values())
    return [_wcxb(folder / part, page, data, seen, part) for page, data in _gold_files(folder / part).items()]


def _articles(folder: Path) -> list[Case]:
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    return [
        Case(page, folder / "html" / f"{page}.html.gz", row["url"], row.get("articleBody") or "")
        for page, row in sorted(truth.items())
    ]


def _golden(folder: Path) -> list[Case]:
    return [
        Case(
            path.parent.name,
            path,
            f"https://golden.example/{path.parent.name}",
            path.with_name("main.txt").read_text("utf-8"),
        )
        for path in sorted(folder.glob("*/page.html"))
    ]


def _gold_files(part: Path) -> dict[str, dict[str, Any]]:
    paths = sorted((part / "ground-truth").glob("*.json"))
    if not paths:
        raise SystemExit(f"{part / 'ground-truth'} has no gold: give the folder of a clone of the set")
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def _wcxb(folder: Path, page: str, data: dict[str, Any], seen: frozenset[str], part: str) -> Case:
    gold = data["ground_truth"]
    domain = registered_domain(_url(data))
    return Case(
        page,
        folder / "html" / f"{page}.html.gz",
        _url(data),
        gold.get("main_content") or "",
        kind=_kind(data),
        snippets=tuple(gold.get("with") or ()),
        furniture=tuple(gold.get("without") or ()),
        domain=domain,
        is_seen=domain in seen if part == "test" else None,
    )


def _url(data: dict[str, Any]) -> str:
    return data.get("url") or "https://unknown.invalid/"  # one page of dev has none


def _kind(data: dict[str, Any]) -> str:
    """The page's type; what the set calls a category it also counts as a collection."""
    stated = (data.get("_internal") or {}).get("page_type", {})
    kind = stated.get("primary", "article") if isinstance(stated, dict) else stated
    return "collection" if kind == "category" else str(kind or "article")


def registered_domain(url: str) -> str:
    """``shop.example.co.uk`` → ``example.co.uk``, by the list that comes with tldextract; a bare host stays."""
    found = _extractor()(url)
    return str(found.top_domain_under_public_suffix or found.fqdn or found.domain).lower()


@cache
def _extractor() -> Any:
    import tldextract

    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())  # no network


def every(cases: Sequence[Case], limit: int | None) -> list[Case]:
    """At most *limit* of *cases*, evenly spread over them."""
    if limit is None or limit >= len(cases):
        return list(cases)
    return [cases[(2 * i + 1) * len(cases) // (2 * limit)] for i in range(limit)]
