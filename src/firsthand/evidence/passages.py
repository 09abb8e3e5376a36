"""Passages: the spans of a text that are chosen for reading.

A passage is one block, or one to four sentences of a longer one, with the joins a reader would make: a term stands with
the beginning of its definition, a row, an item or a code block remembers what announced it. It never crosses a heading.
A passage is a contiguous span of the body, so what is quoted from it stands in the text as it is.

Which passages a text has follows from the text alone, so a text and a place in it name a passage for good. Another rule
is another ``PASSAGES_VERSION``; what was indexed by an older one is indexed again when its page is next added.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from firsthand.evidence.sentences import sentences
from firsthand.values import Block, Passage, Span, Text

PASSAGES_VERSION = 2
PASSAGE_MAX_CHARS = 600
PASSAGE_MAX_SENTENCES = 4
LEAD_CHARS = 250  # recipe, section 2: the end of the paragraph before
LINKS_MAX_SHARE = 0.8  # recipe, section 2: more is a list of links, not a statement ...
LINKS_MAX_CHARS = 400  # ... unless it is long
OFF_MAIN_LINKS_MAX_SHARE = 0.5  # beside the main content more is a menu
OFF_MAIN_MIN_CHARS = 40  # ... and less a label or a button
ANNOUNCED = ("code", "row", "item")
LINES = ("code", "term")
WHOLE = (*LINES, "row", "item")  # one passage whatever the number of sentences, if it is not too long
MAX_LINES = 40
GAP_MAX_CHARS = 2  # white space between two pieces of a block that belongs to the first: they stay next to each other
UNIT_MAX_CHARS = PASSAGE_MAX_CHARS - GAP_MAX_CHARS
BREAK_COST = 40_000  # of a cut through a paragraph of code, in squared characters
PIECE_COST = 10**9  # fewer pieces before even ones
_SENTENCE_MARKS = ".!?\n"
_SPACES = re.compile(r"\s+")
_CLAUSE_END = re.compile(r"[,;:)\]–—](?=\s)|[、，；：]|\t")


def passages(text: Text) -> tuple[Passage, ...]:
    """The passages of *text*: of its main content in reading order, then of what stands beside it, marked as such.

    Shape: spans do not overlap; none is longer than 600 characters. Terms that share a definition stand in one passage
    with its first paragraph; later paragraphs carry the terms as their last heading. Links, headings with something under
    them and empty blocks are no passages, nor menus and labels beside the main content. If nothing is main content,
    everything is.
    """
    blocks = [block for block in text.blocks if text.body[block.span.start : block.span.end].strip()]
    if any(block.main and block.kind != "heading" for block in blocks):
        blocks = [block for block in blocks if block.main or block.kind == "heading" or _is_worth_keeping(block)]
    else:
        blocks = [replace(block, main=True) for block in blocks]
    places = list(enumerate(blocks))
    main = [place for place in places if place[1].main]
    beside = [place for place in places if not place[1].main and place[1].kind != "heading"]
    made = [*_passages_of(text, main), *(replace(each, main=False) for each in _passages_of(text, beside))]
    return tuple(replace(passage, seq=seq) for seq, passage in enumerate(made))


def _is_worth_keeping(block: Block) -> bool:
    """Whether a block beside the main content says something."""
    is_long = block.span.end - block.span.start >= OFF_MAIN_MIN_CHARS
    return is_long and block.link_share < OFF_MAIN_LINKS_MAX_SHARE


def _passages_of(text: Text, places: Sequence[tuple[int, Block]]) -> list[Passage]:
    """The passages of some blocks of *text*, given with their places among all."""
    made: list[Passage] = []
    lead = ""
    lead_headings: tuple[str, ...] = ()
    terms: list[Block] = []  # of the definition that is open
    for i, (_, block) in enumerate(places):
        words = text.body[block.span.start : block.span.end]
        if block.kind == "heading":
            lead, terms = "", []
            if not _has_content_below(places, i):
                made += _cut(text, block, block.span, "")
            continue
        if block.headings != lead_headings:
            lead, lead_headings = "", block.headings
        if block.kind == "term":
            if terms and not (
                _follows(places, i) and places[i - 1][1].kind == "term" and terms[0].group == block.group
            ):
                terms = []
            terms.append(block)
            if not _opens_definition(places, i):
                made += _cut(text, block, Span(terms[0].span.start, block.span.end), "")
                lead = words[-LEAD_CHARS:]
            continue
        if (
            block.kind == "definition"
            and terms
            and places[i - 1][1].kind == "term"
            and _opens_definition(places, i - 1)
        ):
            made += _joined(text, terms, block)
        elif not _is_links(block, words):
            within = block
            if terms and block.group == terms[0].group and block.kind == "definition":
                within = replace(block, headings=(*block.headings, _words_of(text, terms)))
            elif block.kind != "definition":
                terms = terms if block.kind in ANNOUNCED else []
            made += _cut(text, within, block.span, lead if block.kind in ANNOUNCED else "")
        if block.kind not in ANNOUNCED and block.kind != "caption":
            lead = words[-LEAD_CHARS:]
    return made


def _has_content_below(places: Sequence[tuple[int, Block]], i: int) -> bool:
    """Whether something stands under the heading at *i* before a heading that is not deeper."""
    for _, block in places[i + 1 :]:
        if block.kind != "heading":
            return True
        if block.level <= places[i][1].level:
            return False
    return False


def _follows(places: Sequence[tuple[int, Block]], i: int) -> bool:
    """Whether nothing else of the text stands between the block at *i* and the one before."""
    return i > 0 and places[i][0] == places[i - 1][0] + 1


def _opens_definition(places: Sequence[tuple[int, Block]], i: int) -> bool:
    """Whether the term at *i* is followed by a definition, or by another term of the same list."""
    if i + 1 >= len(places) or not _follows(places, i + 1):
        return False
    following = places[i + 1][1]
    return following.group == places[i][1].group and following.kind in ("term", "definition")


def _is_links(block: Block, words: str) -> bool:
    return block.link_share > LINKS_MAX_SHARE and len(words) < LINKS_MAX_CHARS


def _words_of(text: Text, terms: Sequence[Block]) -> str:
    said = ", ".join(text.body[term.span.start : term.span.end] for term in terms)
    return _SPACES.sub(" ", said)[:LEAD_CHARS]


# -- Cutting


def _joined(text: Text, terms: Sequence[Block], definition: Block) -> list[Passage]:
    """The terms with the beginning of their definition; what does not fit follows under them."""
    label = Span(terms[0].span.start, terms[-1].span.end)
    first, *rest = _pieces(text, definition, definition.span, label)
    under = replace(definition, headings=(*definition.headings, _words_of(text, terms)))
    return [_passage(definition, first, ""), *(_passage(under, piece, "") for piece in rest)]


def _cut(text: Text, block: Block, span: Span, lead: str) -> list[Passage]:
    return [_passage(block, piece, lead) for piece in _pieces(text, block, span, None)]


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
        main=block.visibility == "shown",
    )


def _pieces(text: Text, block: Block, span: Span, label: Span | None) -> list[Span]:
    """*span*, or its parts where it is too long: even ones that end with a sentence, a line (code) or at least a word.

    A *label* before it stands with the first of them. Parts of one block stand next to each other.
    """
    body = text.body
    start = label.start if label is not None else span.start
    if span.end - start <= PASSAGE_MAX_CHARS and (block.kind in WHOLE or not _may_have_many_sentences(body, span)):
        return [Span(start, span.end)]
    units = _lines(body, span) if block.kind in LINES else sentences(body, span, text.language)
    if span.end - start <= PASSAGE_MAX_CHARS and len(units) <= PASSAGE_MAX_SENTENCES:
        return [Span(start, span.end)]
    units = [part for unit in units for part in _at_most(body, unit)]
    if label is not None and units:
        fits = units[0].end - label.start <= UNIT_MAX_CHARS
        units = [Span(label.start, units[0].end), *units[1:]] if fits else [*_at_most(body, label), *units]
    return _grouped(body, units, MAX_LINES if block.kind in LINES else PASSAGE_MAX_SENTENCES)


def _may_have_many_sentences(body: str, span: Span) -> bool:
    words = body[span.start : span.end]
    return not words.isascii() or sum(words.count(mark) for mark in _SENTENCE_MARKS) >= PASSAGE_MAX_SENTENCES


def _grouped(body: str, units: Sequence[Span], max_units: int) -> list[Span]:
    """Runs of at most *max_units* units within the limit: as few as possible, then as even as possible.

    Cost: linear in the units; at most *max_units* are looked at for each.
    """
    ends = [
        following.start if following.start - unit.end <= GAP_MAX_CHARS else unit.end
        for unit, following in zip(units, [*units[1:], Span(units[-1].end, units[-1].end)], strict=True)
    ]
    costs, firsts = [0], [0]
    for last, end in enumerate(ends):
        breaks = 0 if max_units != MAX_LINES or "\n\n" in body[units[last].end : units[last].end + 3] else BREAK_COST
        best = None
        for first in range(last, max(-1, last - max_units), -1):
            length = end - units[first].start
            if length > PASSAGE_MAX_CHARS:
                break
            cost = costs[first] + PIECE_COST + length * length + breaks
            if best is None or cost < best[0]:
                best = cost, first
        assert best is not None  # no unit is longer than a passage
        costs.append(best[0])
        firsts.append(best[1])
    runs: list[Span] = []
    last = len(units)
    while last:
        runs.append(Span(units[firsts[last]].start, ends[last - 1]))
        last = firsts[last]
    return runs[::-1]


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
    """*unit*, or its parts if it is too long for a passage: cut after a clause, else after a word, else anywhere."""
    parts: list[Span] = []
    start, end = unit.start, unit.end
    while end - start > UNIT_MAX_CHARS:
        low, high = start + UNIT_MAX_CHARS // 2, start + UNIT_MAX_CHARS
        clauses = [clause.end() for clause in _CLAUSE_END.finditer(body, low, high)]
        cut = clauses[-1] if clauses else max(body.rfind(space, low, high) for space in " \t\n\u00a0") + 1
        if cut <= start:
            cut = high
            while cut > low and _belongs_to_the_last(body[cut]):
                cut -= 1
        _append_trimmed(parts, body, start, cut)
        start = cut
    _append_trimmed(parts, body, start, end)
    return parts


def _belongs_to_the_last(sign: str) -> bool:
    """Whether *sign* is an accent, a joiner or a selector, which nothing may part from what stands before it."""
    return unicodedata.category(sign) in ("Mn", "Mc", "Me", "Cf", "Sk")


def _append_trimmed(found: list[Span], body: str, start: int, end: int) -> None:
    while start < end and body[start].isspace():
        start += 1
    while start < end and body[end - 1].isspace():
        end -= 1
    if start < end:
        found.append(Span(start, end))
