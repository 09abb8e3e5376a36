"""Passages: the spans of a text that are chosen for reading.

A passage is one block, with the joins a reader would make: a term stands with the beginning of its definition, a row,
an item or a code block remembers what announced it. A passage is a contiguous span of the body, so what is quoted
from it stands in the text as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from firsthand.evidence.sentences import sentences
from firsthand.values import Block, Passage, Span, Text

LEAD_CHARS = 250  # recipe, section 2: the end of the paragraph before
PASSAGE_MAX_CHARS = 1_200  # longer blocks are split at sentence ends
PASSAGE_GOAL_CHARS = 600  # a split piece ends at the first sentence end after this many
LINKS_MAX_SHARE = 0.8  # recipe, section 2: more is a list of links, not a statement ...
LINKS_MAX_CHARS = 400  # ... unless it is long
ANNOUNCED = ("code", "row", "item")


_SPACES = re.compile(r"\s+")


def passages(text: Text) -> tuple[Passage, ...]:
    """The passages of *text* in reading order.

    Shape: spans do not overlap. Terms that share a definition stand in one passage with its first paragraph; later
    paragraphs carry the terms as their last heading. Links, headings with something under them, empty blocks and
    blocks that are not main content are no passages; if nothing is main content, everything counts.
    """
    blocks = [block for block in text.blocks if block.span.start < block.span.end]
    main = [block for block in blocks if block.main]
    if not any(block.kind != "heading" for block in main):
        main = blocks
    made: list[Passage] = []
    lead = ""
    lead_headings: tuple[str, ...] = ()
    terms: list[Block] = []  # of the definition that is open
    for i, block in enumerate(main):
        words = text.body[block.span.start : block.span.end]
        if block.kind == "heading":
            lead, terms = "", []
            if not _has_content_below(main, i):
                made += _cut(block, words, block.span, "", text.language)
            continue
        if block.headings != lead_headings:
            lead, lead_headings = "", block.headings
        if block.kind == "term":
            if terms and (main[i - 1].kind != "term" or terms[0].group != block.group):
                terms = []
            terms.append(block)
            if not _opens_definition(main, i):
                made += _cut(block, words, Span(terms[0].span.start, block.span.end), "", text.language)
                lead = words[-LEAD_CHARS:]
            continue
        if block.kind == "definition" and terms and main[i - 1].kind == "term" and _opens_definition(main, i - 1):
            made += _joined(text, terms, block)
        elif not _is_links(block, words):
            within = block
            if terms and block.group == terms[0].group and block.kind == "definition":
                within = replace(block, headings=(*block.headings, _words_of(text, terms)))
            elif block.kind != "definition":
                terms = terms if block.kind in ANNOUNCED else []
            made += _cut(within, words, block.span, lead if block.kind in ANNOUNCED else "", text.language)
        if block.kind not in ANNOUNCED and block.kind != "caption":
            lead = words[-LEAD_CHARS:]
    return tuple(replace(passage, seq=seq) for seq, passage in enumerate(made))


def _has_content_below(blocks: Sequence[Block], i: int) -> bool:
    """Whether something stands under the heading at *i* before a heading that is not deeper."""
    for block in blocks[i + 1 :]:
        if block.kind != "heading":
            return True
        if block.level <= blocks[i].level:
            return False
    return False


def _opens_definition(blocks: Sequence[Block], i: int) -> bool:
    """Whether the term at *i* is followed by a definition, or by another term of the same list."""
    following = blocks[i + 1] if i + 1 < len(blocks) else None
    return following is not None and following.group == blocks[i].group and following.kind in ("term", "definition")


def _is_links(block: Block, words: str) -> bool:
    return block.link_share > LINKS_MAX_SHARE and len(words) < LINKS_MAX_CHARS


def _words_of(text: Text, terms: Sequence[Block]) -> str:
    said = ", ".join(text.body[term.span.start : term.span.end] for term in terms)
    return _SPACES.sub(" ", said)[:LEAD_CHARS]


def _joined(text: Text, terms: Sequence[Block], definition: Block) -> list[Passage]:
    """The terms with the first paragraph of their definition; what does not fit follows under them."""
    span = Span(terms[0].span.start, definition.span.end)
    if span.end - span.start <= PASSAGE_MAX_CHARS:
        return [_passage(definition, span, "")]
    first, *rest = _pieces(text.body, span, "definition", text.language)
    under = replace(definition, headings=(*definition.headings, _words_of(text, terms)))
    return [_passage(definition, first, ""), *(_passage(under, piece, "") for piece in rest)]


def _cut(block: Block, words: str, span: Span, lead: str, language: str | None) -> list[Passage]:
    if span.end - span.start <= PASSAGE_MAX_CHARS:
        return [_passage(block, span, lead)] if words.strip() else []
    offset = block.span.start if span == block.span else span.start
    pieces = _pieces(words, Span(0, len(words)), block.kind, language) if span == block.span else [Span(0, len(words))]
    return [_passage(block, Span(offset + piece.start, offset + piece.end), lead) for piece in pieces]


def _passage(block: Block, span: Span, lead: str) -> Passage:
    return Passage(
        seq=0,
        span=span,
        kind=block.kind,
        headings=block.headings,
        header=block.header,
        caption=block.caption,
        group=block.group,
        lead=lead,
    )


def _pieces(body: str, span: Span, kind: str, language: str | None) -> list[Span]:
    """*span* in pieces of 600 to 1,200 characters that end with a sentence, a line (code) or at least a word."""
    units = _lines(body, span) if kind == "code" else sentences(body, span, language)
    units = [part for unit in units for part in _at_most(body, unit)]
    pieces: list[Span] = []
    start: int | None = None
    for n, unit in enumerate(units):
        start = unit.start if start is None else start
        following_end = units[n + 1].end if n + 1 < len(units) else None
        is_full = unit.end - start >= PASSAGE_GOAL_CHARS
        would_overflow = following_end is not None and following_end - start > PASSAGE_MAX_CHARS
        if following_end is None or is_full or would_overflow:
            pieces.append(Span(start, unit.end))
            start = None
    if len(pieces) > 1 and pieces[-1].end - pieces[-2].start <= PASSAGE_MAX_CHARS:
        last = pieces.pop()
        pieces[-1] = Span(pieces[-1].start, last.end)
    return pieces


def _lines(body: str, span: Span) -> list[Span]:
    found: list[Span] = []
    start = span.start
    while start < span.end:
        at = body.find("\n", start, span.end)
        end = span.end if at < 0 else at
        if body[start:end].strip():
            found.append(Span(start, end))
        start = end + 1
    return found


def _at_most(body: str, unit: Span) -> list[Span]:
    """*unit*, or its parts if it is longer than a passage may be: cut after white space, else anywhere."""
    parts: list[Span] = []
    start = unit.start
    while unit.end - start > PASSAGE_MAX_CHARS:
        window = body[start : start + PASSAGE_MAX_CHARS]
        cut = max(window.rfind(space, PASSAGE_GOAL_CHARS) for space in (" ", "\t", "\n", "、", "，"))
        end = start + (cut + 1 if cut > 0 else PASSAGE_MAX_CHARS)
        _append_trimmed(parts, body, start, end)
        start = end
    _append_trimmed(parts, body, start, unit.end)
    return parts


def _append_trimmed(found: list[Span], body: str, start: int, end: int) -> None:
    while start < end and body[start].isspace():
        start += 1
    while start < end and body[end - 1].isspace():
        end -= 1
    if start < end:
        found.append(Span(start, end))
