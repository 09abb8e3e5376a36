"""What is kept of the things that documentation is made of: paragraphs, headings, items, terms, code, table rows.

**Pages**: 160, an equal share from each folder given (SQLite, PostgreSQL, Python and Git as Debian packages them:
``sqlite3-doc``, ``postgresql-doc-15``, ``python3.11-doc``, ``git-doc``), evenly spread over the folder's ``*.html`` in the
order of their paths: with n pages and a share of m, number ``(2i + 1) * n // 2m`` for i below m. Indexes that a machine
made (``INDEXES``) are left out: they are links and nothing else, and one of them alone has more items than all else.

**Gold** is read from the source by ``gold`` below, which shares no code with the extractor. An element counts when it has a
word; one is kept when its words stand in the text, one after the other, between the same kind of borders. An item's
words, and a definition's, end where a list inside it begins; a row's are those of all its cells, of a row that holds
no other table. ``code_lines`` are blocks of code whose lines stand in the text as lines, indentation included. Not counted:
what stands in the furniture of a manual (``FURNITURE``), what no reader sees (``hidden``, ``display:none``), and anything
that the same kind of element repeats word for word on 15 pages or more of the sample, which is the site's menu.
Entries of a contents list (in an element of class ``toc`` or ``contents``) are a kind of their own: whether they belong
to a page's main text can be argued either way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evals import extraction_readers as readers
from evals.extraction_score import mean, words
from evals.extraction_sets import Case, every

N_PAGES = 160
MENU_PAGES = 15  # an element repeated on as many pages of the sample is the site's, not the page's
KINDS = ("paragraph", "heading", "item", "term", "definition", "code", "code_lines", "row", "contents_entry")
FURNITURE = frozenset(
    ["nav", "navheader", "navfooter", "menu", "sphinxsidebar", "related", "footer", "headerlink", "mobile-nav"]
)
CONTENTS = frozenset(["toc", "contents", "fancy_toc", "fancy-toc"])
INDEXES = re.compile(r"genindex|modindex|bookindex|keyword_index|_crossref|sitemap")
_TAGS = {"p": "paragraph", "li": "item", "dt": "term", "dd": "definition", "tr": "row", "pre": "code"} | {
    f"h{level}": "heading" for level in range(1, 7)
}
_LISTS = frozenset(["ul", "ol", "dl"])
_SKIPPED = frozenset(["script", "style", "template", "noscript", "svg", "math", "head", "iframe", "object", "select"])
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Element:
    """One thing of a page: its kind, its words with a space between, and for code its lines."""

    kind: str
    said: str
    lines: str = ""


def sample(folders: Sequence[Path], n_pages: int = N_PAGES) -> list[Case]:
    """The pages, an equal share from each folder."""
    cases: list[Case] = []
    for folder in folders:
        paths = sorted(path for path in folder.rglob("*.html") if path.is_file() and not INDEXES.search(path.name))
        found = [
            Case(f"{folder}/{path.relative_to(folder)}", path, f"https://docs.example/{path.relative_to(folder)}")
            for path in paths
        ]
        cases += every(found, n_pages // len(folders))
    return cases


def gold(payload: bytes) -> list[Element]:
    """The elements of a page, in order."""
    body = LexborHTMLParser(payload).body
    return [] if body is None else list(_elements(body, is_contents=False))


def _elements(node: LexborNode, *, is_contents: bool) -> Iterator[Element]:
    for child in node.iter(include_text=False):
        tag = child.tag or ""
        names = frozenset((child.attributes.get("class") or "").split())
        if _is_left_out(child, tag) or names & FURNITURE:
            continue
        inside = is_contents or bool(names & CONTENTS)
        kind = _TAGS.get(tag)
        if kind and not (kind == "row" and child.css_first("table")):
            pieces: list[str] = []
            _read(child, pieces, ends_at=_LISTS if tag in ("li", "dd") else frozenset())
            written = "".join(pieces)
            if said := " ".join(words(written)):
                listed = inside and kind in ("item", "term")
                yield Element("contents_entry" if listed else kind, said, _lines(written) if tag == "pre" else "")
        yield from _elements(child, is_contents=inside)


def _is_left_out(node: LexborNode, tag: str) -> bool:
    if tag in _SKIPPED or tag[:1] == "-":
        return True
    attributes = node.attributes
    return "hidden" in attributes or bool(_HIDDEN.search(attributes.get("style") or ""))


def _read(node: LexborNode, pieces: list[str], *, ends_at: frozenset[str]) -> bool:
    """Add what stands in *node*; False when an element of *ends_at* ended it."""
    for child in node.iter(include_text=True):
        tag = child.tag or ""
        if tag == "-text":
            pieces.append(child.text_content or "")
        elif tag in ends_at:
            return False
        elif tag == "br":
            pieces.append("\n")
        elif not _is_left_out(child, tag) and child.attributes.get("class") != "headerlink":
            border = "" if tag in _INLINE else "\n"
            pieces.append(border)
            if not _read(child, pieces, ends_at=ends_at):
                return False
            pieces.append(border)
    return True


def _lines(written: str) -> str:
    """The lines of *written* as they stand, without what cannot be seen at their ends."""
    return "\n".join(line.rstrip().replace("\xa0", " ") for line in written.strip("\n").split("\n")).rstrip()


def kept(elements: Sequence[Element], found: Any) -> dict[str, Any]:
    """For a page's row: each element's kind, words, and whether they are in all blocks (ours only) and in the main text."""
    main = found if isinstance(found, str) else readers.main_text(found)
    texts = [main] if isinstance(found, str) else [main, readers.all_text(found)]
    said = [f" {' '.join(words(text))} " for text in texts]
    lines = [f"\n{_lines(text)}\n" for text in texts]
    told: list[list[Any]] = []
    for element in elements:
        told.append([element.kind, element.said, *(f" {element.said} " in text for text in said)])
        if element.lines:
            told.append(["code_lines", element.said, *(f"\n{element.lines}\n" in text for text in lines)])
    return {"elements": told}


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The share kept of each kind, over all pages together, menus left out."""
    pages: Counter[tuple[str, str]] = Counter()
    for row in rows:
        pages.update({(kind, said) for kind, said, *_ in row["elements"]})
    own = [e for row in rows for e in row["elements"] if pages[e[0], e[1]] < MENU_PAGES]
    told: dict[str, Any] = {}
    for kind in KINDS:
        of_kind = [element for element in own if element[0] == kind]
        told[kind] = {"n": len(of_kind), "main": round(mean(element[2] for element in of_kind), 4)}
        if of_kind and len(of_kind[0]) > 3:
            told[kind]["all_blocks"] = round(mean(element[3] for element in of_kind), 4)
    return told
