"""A reader as a later release may have one: another version, every word of a page elsewhere, and all that a text can say."""

from __future__ import annotations

from dataclasses import replace

from firsthand.evidence.entry import Entry, prepare
from firsthand.values import Anchor, Block, HiddenBlock, Span, Text
from firsthand.web.extract import extract

VERSION = "later"
FIRST = "Read by a later release.\n\n"
UNSEEN = HiddenBlock("paragraph", "Zebras are for nobody to see.", "display_none", 0)
LINK = "https://later.example/"


def work(payload: bytes, url: str, content_type: str | None) -> tuple[Text, Entry]:
    """The text of *payload* with a line before it. Runs in real worker processes."""
    text = replace(moved(extract(payload, url=url, content_type=content_type)), extractor_version=VERSION)
    return text, prepare(text)


def moved(text: Text) -> Text:
    """*text* behind one more paragraph."""
    blocks = [replace(block, span=_moved(block.span)) for block in text.blocks]
    anchors = [replace(anchor, span=_moved(anchor.span)) for anchor in text.anchors]
    hidden = [replace(block, at=block.at + len(FIRST)) for block in text.hidden]
    first = Block("paragraph", Span(0, len(FIRST.strip())), visibility="collapsed", reason="details")
    return replace(
        text,
        body=FIRST + text.body,
        blocks=(first, *blocks),
        links=(*text.links, LINK),
        anchors=(Anchor(Span(0, 4), len(text.links)), *anchors),
        hidden=(UNSEEN, *hidden),
        fact_sources={**text.fact_sources, "title": "title"},
        n_invisible=text.n_invisible + 1,
    )


def _moved(span: Span) -> Span:
    return Span(span.start + len(FIRST), span.end + len(FIRST))
