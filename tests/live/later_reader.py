"""A reader as a later release may have one: another version, and every word of a page stands elsewhere in its text."""

from __future__ import annotations

from dataclasses import replace

from firsthand.evidence.entry import Entry, prepare
from firsthand.values import Block, Span, Text
from firsthand.web.extract import extract

VERSION = "later"
FIRST = "Read by a later release.\n\n"


def work(payload: bytes, url: str, content_type: str | None) -> tuple[Text, Entry]:
    """The text of *payload* with a line before it. Runs in real worker processes."""
    text = replace(moved(extract(payload, url=url, content_type=content_type)), extractor_version=VERSION)
    return text, prepare(text)


def moved(text: Text) -> Text:
    """*text* behind one more paragraph."""
    blocks = [replace(block, span=_moved(block.span)) for block in text.blocks]
    anchors = [replace(anchor, span=_moved(anchor.span)) for anchor in text.anchors]
    hidden = [replace(block, at=block.at + len(FIRST)) for block in text.hidden]
    first = Block("paragraph", Span(0, len(FIRST.strip())))
    return replace(text, body=FIRST + text.body, blocks=(first, *blocks), anchors=tuple(anchors), hidden=tuple(hidden))


def _moved(span: Span) -> Span:
    return Span(span.start + len(FIRST), span.end + len(FIRST))
