"""What makes main text of a page: ours, and the libraries one would otherwise take, where they are installed.

Every reader gets the bytes as served and decodes them on its own clock.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from firsthand.errors import ExtractionFailed
from firsthand.values import Block, Text
from firsthand.web.extract import EXTRACTOR_VERSION, extract

OURS = "firsthand"
DEFAULT = "trafilatura"  # the one that ratios are given to
Reader = Callable[[bytes], str]


def ours(payload: bytes, url: str) -> tuple[Text | None, str]:
    """What extraction made of a page, and how that ended: "ok", or the code of the failure, which counts as no text."""
    try:
        return extract(payload, url=url, content_type="text/html"), "ok"
    except ExtractionFailed as failure:
        return None, failure.code


def main_text(text: Text | None, *, collapsed: bool = True, hidden: bool = False) -> str:
    """The main blocks, a line each, as ``firsthand read`` gives them; with what is hidden only to measure its price."""
    if text is None:
        return ""
    lines = [said(text, block) for block in text.blocks if block.main and (collapsed or _is_shown(block))]
    if hidden:
        lines += [block.text for block in text.hidden]
    return "\n".join(lines)


def all_text(text: Text | None) -> str:
    """All blocks, a line each."""
    return "" if text is None else "\n".join(said(text, block) for block in text.blocks)


def said(text: Text, block: Block) -> str:
    """The words of one block."""
    return text.body[block.span.start : block.span.end]


def _is_shown(block: Block) -> bool:
    return block.visibility != "collapsed"


def installed() -> dict[str, Reader]:
    """The other readers that can be had here, by name."""
    found: dict[str, Reader] = {}
    for names, module, make in (
        ((DEFAULT, "trafilatura-fast"), "trafilatura", _trafilatura),
        (("resiliparse",), "resiliparse.extract.html2text", _resiliparse),
        (("readability",), "readability", _readability),
    ):
        try:
            readers = make(importlib.import_module(module))
        except ImportError:
            continue
        found.update(zip(names, readers, strict=True))
    return found


def versions() -> dict[str, str]:
    """What was measured."""
    told = {OURS: EXTRACTOR_VERSION}
    for package in ("trafilatura", "resiliparse", "readability-lxml"):
        try:
            told[package] = version(package)
        except PackageNotFoundError:
            continue
    return told


def _trafilatura(module: Any) -> list[Reader]:
    def default(payload: bytes) -> str:
        return module.extract(payload) or ""  # comments and tables are part of it

    def fast(payload: bytes) -> str:
        return module.extract(payload, fast=True, include_comments=False) or ""

    return [default, fast]


def _resiliparse(module: Any) -> list[Reader]:
    encoding = importlib.import_module("resiliparse.parse.encoding")

    def main_content(payload: bytes) -> str:
        source = encoding.bytes_to_str(payload, encoding.detect_encoding(payload))
        return str(
            module.extract_plain_text(source, main_content=True, alt_texts=False, list_bullets=False)
        )  # its best figures

    return [main_content]


# lxml's text_content puts nothing between blocks.
_BLOCKS = (
    "p div section article li ul ol dl dt dd table tr td th h1 h2 h3 h4 h5 h6 pre blockquote figure figcaption br hr"
)


def _readability(module: Any) -> list[Reader]:
    html = importlib.import_module("lxml.html")
    blocks = frozenset(_BLOCKS.split())

    def summary(payload: bytes) -> str:
        try:
            tree = html.fromstring(module.Document(payload).summary())
        except (module.readability.Unparseable, ValueError):
            return ""
        for element in tree.iter():
            if element.tag in blocks:
                element.text = "\n" + (element.text or "")
                element.tail = "\n" + (element.tail or "")
        return str(tree.text_content())

    return [summary]
