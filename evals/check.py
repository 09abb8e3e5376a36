"""Checks a question file against the pages it was written from.

A question is only as good as its gold. So every page named must exist under its package's root, and every
evidence string must stand in the text of one of those pages, after entities are decoded and white space is
folded. A page that carries none of its question's evidence is a fault too: nobody could say why it is gold.

    python -m evals.check QUESTIONS.jsonl... --roots README.md [--root PACKAGE=DIR]...

The roots come from a Markdown table with the columns package, root and path (see README.md); --root overrides one.
Exit status: 0 when every question is sound, 1 when one is not, 2 when the arguments or the roots are wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

TYPES = {"fact", "howto", "number", "list", "compare", "multi-hop", "unanswerable", "ambiguous", "conflict"}
NO_PAGES = {"unanswerable", "ambiguous"}  # the right outcome of these cites nothing
TWO_PAGES = {"compare", "multi-hop", "conflict"}
REQUIRED = {
    "id": str,
    "lang": str,
    "question": str,
    "type": str,
    "package": str,
    "pages": list,
    "answers": list,
    "evidence": list,
    "note": str,
}
OPTIONAL = {"where": str, "also": list}
PLACES = {"prose", "table", "code"}

UNSEEN = {"script", "style", "template"}
# Elements that end a line of text. Every other tag joins its neighbours: "<code>a</code>b" reads "ab".
BREAKING = set(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "br",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "td",
        "textarea",
        "tfoot",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
    ]
)
NO_WIDTH = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))  # soft hyphen, zero-width space, word joiner, BOM


@dataclass(frozen=True, slots=True)
class Root:
    """Where a package's pages lie on disk, and the URL path they are served under."""

    directory: Path
    path: str


class Text(HTMLParser):
    """The words of a page in the order of its source, a line break at each block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNSEEN:
            self._unseen += 1
        elif tag in BREAKING:
            self.parts.append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BREAKING:  # <script/> in XHTML holds nothing, so it must not hide what follows
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in BREAKING:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(data)


def fold(text: str) -> str:
    """*text* in NFC, without zero-width characters, each run of white space one space, none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).translate(NO_WIDTH).split())


def decode(body: bytes) -> str:
    """The characters of an HTML file: by its BOM, else the charset it declares early on, else UTF-8, else Latin-1."""
    if body.startswith(b"\xef\xbb\xbf"):
        return body[3:].decode("utf-8", "replace")
    declared = re.search(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", body[:2048], re.IGNORECASE)
    for name in ([declared[1].decode("ascii")] if declared else []) + ["utf-8"]:
        try:
            return body.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return body.decode("latin-1")


@lru_cache(maxsize=64)
def page_text(file: Path) -> str:
    """The folded text of an HTML file; any other file is read as plain text."""
    source = decode(file.read_bytes())
    if file.suffix.lower() not in {".html", ".htm", ".xhtml"}:
        return fold(source)
    parser = Text()
    parser.feed(source)
    parser.close()
    return fold("".join(parser.parts))


def read_roots(table: str) -> dict[str, Root]:
    """The roots in the first Markdown table of *table* that has the columns package, root and path."""
    columns: list[str] | None = None
    roots: dict[str, Root] = {}
    for line in table.splitlines():
        if not line.lstrip().startswith("|"):
            if roots:
                break
            columns = None
            continue
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if columns is None:
            columns = [cell.lower() for cell in cells]
        elif {"package", "root", "path"} <= set(columns) and not set("".join(cells)) <= set("-: "):
            row = dict(zip(columns, cells, strict=False))
            roots[row["package"]] = Root(Path(row["root"]), row["path"])
    return roots


def gather_roots(tables: list[str], overrides: list[str]) -> dict[str, Root]:
    """The roots of all *tables*, with each PACKAGE=DIR of *overrides* laid over them."""
    roots: dict[str, Root] = {}
    for table in tables:
        found = read_roots(Path(table).read_text(encoding="utf-8"))
        if not found:
            raise ValueError(f"{table}: no table with the columns package, root and path")
        roots |= found
    for override in overrides:
        package, equals, directory = override.partition("=")
        if not equals:
            raise ValueError(f"--root {override}: write it as PACKAGE=DIR")
        path = roots[package].path if package in roots else f"/{package}/"
        roots[package] = Root(Path(directory), path)
    return roots


def locate(page: str, package: str, roots: dict[str, Root]) -> Path | None:
    """The file behind a page name: relative to *package*, or ``other-package:page``; None if it is not there."""
    owner, colon, rest = page.partition(":")
    if not colon:
        owner, rest = package, page
    if owner not in roots:
        return None
    file = roots[owner].directory / rest
    return file if file.is_file() else None


def shape_faults(question: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the fields themselves, before any page is opened."""
    for name, kind in REQUIRED.items():
        if not isinstance(question.get(name), kind):
            yield f"field {name} is missing or not a {kind.__name__}"
    for name in set(question) - set(REQUIRED) - set(OPTIONAL):
        yield f"unknown field {name}"
    if question.get("type") not in TYPES:
        yield f"unknown type {question.get('type')!r}"
    if question.get("where", "prose") not in PLACES:
        yield f"unknown place {question['where']!r}"


def answer_faults(answers: list[Any]) -> Iterator[str]:
    """Answers are any-of groups of patterns, all groups needed; each must compile and none may match nothing."""
    for group in groups(answers):
        if not group:
            yield "an answer group is empty"
        for pattern in group:
            try:
                if re.compile(pattern, re.IGNORECASE).search(""):
                    yield f"answer {pattern!r} matches the empty string"
            except re.error as error:
                yield f"answer {pattern!r} is no regular expression: {error}"


def groups(answers: list[Any]) -> list[list[str]]:
    """*answers* as a list of groups: a flat list of strings is one group."""
    return answers if answers and isinstance(answers[0], list) else ([answers] if answers else [])


def hits(pattern: str, text: str) -> bool:
    """Whether *pattern* stands in *text*, as a plain substring or as a regular expression, letter case aside.

    The second search takes only ASCII for letters, so that ``\\b30\\b`` also finds the number in "30秒", where no
    boundary lies between digit and letter otherwise. The first is needed for letter case beyond ASCII.
    """
    return (
        pattern.casefold() in text.casefold()
        or re.search(pattern, text, re.IGNORECASE) is not None
        or re.search(pattern, text, re.IGNORECASE | re.ASCII) is not None
    )


def page_faults(question: dict[str, Any], roots: dict[str, Root]) -> Iterator[str]:
    """What is wrong between the question's gold and the pages on disk."""
    package, pages, evidence = question["package"], question["pages"], question["evidence"]
    if package not in roots and package != "*":
        yield f"no root for package {package}"
        return
    if question["type"] in NO_PAGES:
        if pages or evidence or question["answers"]:
            yield f"a question of type {question['type']} has no pages, evidence or answers"
        return
    if not pages or not evidence or not question["answers"]:
        yield "pages, evidence and answers must not be empty"
    if question["type"] in TWO_PAGES and len(pages) < 2:
        yield f"a question of type {question['type']} needs two pages"
    texts: dict[str, str] = {}
    for page in pages + question.get("also", []):
        file = locate(page, package, roots)
        if file is None:
            yield f"no such page: {page}"
        elif page in pages:
            texts[page] = page_text(file)
    wanted = [fold(item) for item in evidence]
    for item in wanted:
        if not any(item in text for text in texts.values()):
            yield f"evidence is on no page of the question: {item}"
    for page, text in texts.items():
        if not any(item in text for item in wanted):
            yield f"page {page} holds none of the evidence"
    for group in groups(question["answers"]):
        if not any(hits(pattern, item) for pattern in group for item in wanted):
            yield f"the evidence holds none of the answers {group}"


def faults(question: dict[str, Any], roots: dict[str, Root]) -> list[str]:
    """Everything wrong with one question."""
    found = list(shape_faults(question)) or list(answer_faults(question["answers"]))
    return found or list(page_faults(question, roots))  # no page is opened for patterns that do not compile


def main(arguments: list[str]) -> int:
    """Check each file named, print every fault and the counts."""
    parser = argparse.ArgumentParser(description="Check question files against the installed pages.")
    parser.add_argument("questions", nargs="+", help="question files, one JSON object a line")
    parser.add_argument(
        "--roots", action="append", default=[], metavar="FILE", help="Markdown file with the table of roots"
    )
    parser.add_argument(
        "--root", action="append", default=[], metavar="PACKAGE=DIR", help="a package's root; wins over --roots"
    )
    options = parser.parse_args(arguments)
    try:
        roots = gather_roots(options.roots, options.root)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2

    seen: dict[str, str] = {}
    n_bad = 0
    for name in options.questions:
        counts: dict[str, Counter[str]] = {key: Counter() for key in ("type", "lang", "package", "where")}
        n_questions = 0
        for number, line in enumerate(Path(name).read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip():
                continue
            n_questions += 1
            try:
                question = json.loads(line)
                found = faults(question, roots)
            except ValueError as error:
                question, found = {}, [f"not a JSON object: {error}"]
            for key in ("id", "question"):
                value = str(question.get(key))
                if value in seen:
                    found.append(f"the same {key} as {seen[value]}")
                seen[value] = f"{name}:{number}"
            for key, counter in counts.items():
                counter[str(question.get(key, "prose" if key == "where" else None))] += 1
            for fault in found:
                print(f"{name}:{number}: {question.get('id')}: {fault}")
            n_bad += bool(found)
        print(json.dumps({"file": Path(name).name, "questions": n_questions} | counts, ensure_ascii=False))
    print(f"{n_bad} with faults")
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
