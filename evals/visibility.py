"""How much of what each reason hides stands in the reference text of a page: what hiding costs, and what it spares.

    python -m evals.visibility FOLDER [--rows FILE.jsonl] [--limit N]

FOLDER is the local clone of WCXB (``extraction_sets``); its dev part is read. A word is in the reference text if it
stands there in a run of four that the page has too. Every word is counted for the outermost element that hides it;
``reason>opener`` is what a reader can open, ``reason@sheet`` what only the page's own styles hide. ``revealed`` names the
pages whose hidden text is taken for shown by a script, with the share of the reference text that is in it.

Prints one JSON object; writes a row for each page and reason.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evals.extraction_score import words
from evals.extraction_sets import Case, every, load
from firsthand.web.extract.charset import decode
from firsthand.web.extract.controls import Controls
from firsthand.web.extract.elements import ACTIONS, BLOCK_LEVEL, NOT_TEXT
from firsthand.web.extract.seen import OPENABLE, hides, is_revealed, opens
from firsthand.web.extract.sheets import Styles, style_sources

LONG_CHARS = 80  # of a block that counts for is_revealed
_RUN = 4
_SKIPPED = {tag for tag, act in ACTIONS.items() if act == NOT_TEXT} | {"script", "style", "head", "title", "template"}

Row = dict[str, Any]


def rows(cases: Sequence[Case]) -> Iterator[Row]:
    """A row for each page and reason, ``shown`` among them."""
    for case in cases:
        gold = words(case.gold)
        runs = {tuple(gold[at : at + _RUN]) for at in range(len(gold) - _RUN + 1)}
        by_reason: dict[str, list[str]] = defaultdict(list)
        for reason, block in blocks(decode(case.payload()).text):
            by_reason[reason].append(block)
        shown_long = _long(by_reason.get("shown", []))
        for reason, parts in by_reason.items():
            said = [word for part in parts for word in words(part)]
            long = _long(parts)
            yield {
                "page": case.page,
                "reason": reason,
                "words": len(said),
                "in_gold": _in_runs(said, runs),
                "gold_words": len(gold),
                "is_revealed": is_revealed(sum(long), sum(shown_long), reason.removesuffix("@sheet"), len(long)),
            }


def blocks(source: str) -> Iterator[tuple[str, str]]:
    """The runs of words of a page, each with why it is hidden, or ``shown``."""
    styles, controls = Styles.of(style_sources(source)), Controls(source)
    run: list[str] = []
    run_reason = "shown"
    stack: list[tuple[LexborNode | None, str]] = [(LexborHTMLParser(source).root, "shown")]
    while stack:
        node, reason = stack.pop()
        tag = node.tag if node is not None else None
        if node is None or tag in BLOCK_LEVEL:
            text = " ".join("".join(run).split())
            run.clear()
            if text:
                yield run_reason, text
        if node is None or tag is None or tag in _SKIPPED or (tag[0] == "-" and tag != "-text"):
            continue
        if tag == "-text":
            run.append(node.text_content or "")
            run_reason = reason
            continue
        inner = _reason(tag, node.attributes, styles, controls) if reason == "shown" else reason
        if inner != reason or tag in BLOCK_LEVEL:
            stack.append((None, reason))
        children = []
        child = node.first_child
        while child is not None:
            children.append((child, inner))
            child = child.next
        stack.extend(reversed(children))
        if inner != reason:
            stack.append((None, inner))


def _reason(tag: str, attributes: Any, styles: Styles | None, controls: Controls) -> str:
    alone = hides(tag, attributes)
    reason = alone or hides(tag, attributes, styles)
    if tag == "details" and not reason:
        return opens(tag, attributes, controls) or "shown"
    opener = opens(tag, attributes, controls, styles) if reason in OPENABLE else ""
    return (reason or "shown") + (f">{opener}" if opener else "") + ("@sheet" if reason and not alone else "")


def _long(parts: Sequence[str]) -> list[int]:
    return [len(part) for part in parts if len(part) >= LONG_CHARS]


def _in_runs(said: Sequence[str], runs: set[tuple[str, ...]]) -> int:
    covered: set[int] = set()
    for at in range(len(said) - _RUN + 1):
        if tuple(said[at : at + _RUN]) in runs:
            covered.update(range(at, at + _RUN))
    return len(covered)


def report(found: Sequence[Row]) -> Row:
    """The figures of the rows, the reason with most words first."""
    by_reason: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        by_reason[row["reason"]].append(row)
    figures: Row = {}
    for reason, own in sorted(by_reason.items(), key=lambda item: -sum(row["words"] for row in item[1])):
        n_words = sum(row["words"] for row in own)
        share = sum(row["in_gold"] for row in own) / n_words if n_words else 0.0
        figures[reason] = {"pages": len(own), "words": n_words, "share_in_gold": round(share, 3)}
    revealed = {
        row["page"]: round(row["in_gold"] / max(1, row["gold_words"]), 2) for row in found if row["is_revealed"]
    }
    return {"reasons": figures, "revealed": revealed}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--limit", type=int)
    options = parser.parse_args(arguments)
    found = list(rows(every(load("wcxb-dev", options.folder), options.limit)))
    if options.rows:
        options.rows.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    print(json.dumps(report(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
