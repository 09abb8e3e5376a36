"""Cuts quotes from a passage and what stands around it: what answers, what it announces, what a short one needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from firsthand.evidence.sentences import sentences
from firsthand.evidence.terms import index_terms
from firsthand.ports import Candidate
from firsthand.research.plan import Plan
from firsthand.research.rank import WEB_TYPES, numbers_in, says_default
from firsthand.values import Span

TITLE_MAX_CHARS = 70
_ENDS = frozenset('.!?;:…。！？；：)"”»')
QUOTE_MAX_CHARS = 450  # ≤ 300 lost 0.05 of recall, ≤ 700 won 0.01 (recipe, section 5)
LABEL_MAX_CHARS = 150  # a term that is quoted with its definition
LIST_MAX_CHARS = 700  # a list that is quoted whole
SHORT_CHARS = 250  # a passage below this takes its neighbours along
NEIGHBOURS = 2
MAX_ITEMS = 16
ITEM_MAX_CHARS = 160
GIVEN_WORTH = 0.6  # of a word that stands over the passage anyway
KIND_WORTH = 0.35  # guess
GLUED = ("paragraph", "item", "row", "code", "quote", "caption")


@dataclass(frozen=True, slots=True)
class Cut:
    """Exact words of a kept text, cut by span."""

    text_id: int
    span: Span
    text: str


def quotes_of(plan: Plan, candidate: Candidate, around: Sequence[Candidate]) -> Iterator[Cut]:
    """The quotes of one passage: what answers, then what it announces, its siblings or its neighbours."""
    here = next((i for i, each in enumerate(around) if each.passage.seq == candidate.passage.seq), None)
    if here is None:
        yield from _own_quotes(plan, candidate)
        return
    announces = candidate.body.rstrip().endswith((":", "："))
    is_short = len(candidate.body) < SHORT_CHARS
    glued = _glued(around, here, LIST_MAX_CHARS if announces else QUOTE_MAX_CHARS)
    if glued is not None:
        yield glued
    else:
        yield from _own_quotes(plan, candidate)
    yield from _label_before(candidate, around, here)
    if "list" in plan.kinds:
        yield from _siblings(candidate, around, here)
    if announces:
        yield from _announced(candidate, around, here)
    elif is_short:
        yield from _neighbours(plan, candidate, around, here)


def _glued(around: Sequence[Candidate], here: int, limit: int) -> Cut | None:
    """A passage with as many of its next ones as fit, as one quote; None if none can be joined to it.

    Only blocks that stand next to each other under one heading are joined, and never a term with its definition: pages
    put marks there that are no text. The line breaks between blocks are all that is between two spans.
    """
    first = around[here]
    if first.passage.kind not in GLUED or first.page.media_type not in WEB_TYPES:
        return None  # between two blocks of a text file or PDF stand marks that are part of neither
    words, last = first.body, first
    end_words, end = words, first  # up to the last block that is no title of what comes next
    for each in around[here + 1 : here + 1 + MAX_ITEMS]:
        gap = each.passage.span.start - last.passage.span.end
        fits = len(words) + gap + len(each.body) <= limit
        if (
            each.passage.kind not in GLUED
            or each.passage.headings != first.passage.headings
            or not 0 <= gap <= 2
            or not fits
        ):
            break
        before = last.body.rstrip()
        words += "\n" * gap + each.body
        last = each
        if not _is_title(each, after=before):
            end_words, end = words, each
    if end is first:
        return None
    said = end_words.rstrip()
    return Cut(first.page.text_id, Span(first.passage.span.start, first.passage.span.start + len(said)), said)


def _is_title(candidate: Candidate, *, after: str) -> bool:
    """Whether a block only announces what comes next: short and without an end, after prose that announces no list."""
    body = candidate.body.rstrip()
    is_short = len(body) <= TITLE_MAX_CHARS and body[-1:] not in _ENDS
    is_after_prose = len(after) > TITLE_MAX_CHARS and after[-1:] not in ":："
    return is_short and (candidate.passage.kind == "paragraph" or (candidate.passage.kind == "item" and is_after_prose))


def _own_quotes(plan: Plan, candidate: Candidate) -> Iterator[Cut]:
    span = candidate.passage.span
    if _is_labelled(candidate):
        label, rest = _label_and_rest(candidate)
        said = _run(plan, candidate, rest)
        whole = _with_label(candidate, label, rest, said)
        if whole is not None:
            yield whole
            return
        named = list(_clip(candidate, label))
        yield from [*named, said] if _asks_for_label(plan, named, said) else [said, *named]
    elif candidate.passage.kind == "code":
        yield _lines(plan, candidate, span)
    else:
        yield _run(plan, candidate, span)


def _with_label(candidate: Candidate, label: Span, rest: Span, said: Cut) -> Cut | None:
    """A term and the beginning of its definition as one quote, if the page has nothing between them that is left out."""
    whole = Span(label.start, said.span.end)
    words = _words(candidate, whole)
    is_next = said.span.start == rest.start and 1 <= rest.start - label.end <= 2
    if not is_next or "\n\n\n" in words or len(words) > QUOTE_MAX_CHARS + LABEL_MAX_CHARS:
        return None
    return Cut(candidate.page.text_id, whole, words)


def _asks_for_label(plan: Plan, label: Sequence[Cut], said: Cut) -> bool:
    """Whether an option's name answers and not what is said about it: how to do something, and no option in the text."""
    return "howto" in plan.kinds and any(cut.text.startswith("-") for cut in label) and " -" not in said.text


def _label_and_rest(candidate: Candidate) -> tuple[Span, Span]:
    """A term (or several) and its definition: cut apart, because pages put marks between them that are not text."""
    start = candidate.passage.span.start
    lines = candidate.body.split("\n")
    n_label = 1
    at = len(lines[0])
    while n_label < len(lines) - 1 and len(lines[n_label]) < 80 and not lines[n_label].rstrip().endswith("."):
        at += 1 + len(lines[n_label])
        n_label += 1
    return Span(start, start + at), Span(start + at + 1, candidate.passage.span.end)


def _clip(candidate: Candidate, span: Span) -> Iterator[Cut]:
    """The span's last line at least, whole if it is short."""
    words = _words(candidate, span)
    if "\n" in words:
        for line in words.split("\n"):
            at = candidate.body.find(line, span.start - candidate.passage.span.start)
            if line.strip() and at >= 0:
                start = candidate.passage.span.start + at
                yield from _trimmed(candidate, Span(start, min(start + QUOTE_MAX_CHARS, start + len(line))))
    else:
        yield from _trimmed(candidate, Span(span.start, min(span.end, span.start + QUOTE_MAX_CHARS)))


def _words(candidate: Candidate, span: Span) -> str:
    start = candidate.passage.span.start
    return candidate.body[span.start - start : span.end - start]


def _trimmed(candidate: Candidate, span: Span) -> Iterator[Cut]:
    words = _words(candidate, span)
    start = span.start + len(words) - len(words.lstrip())
    kept = words.strip()
    if kept:
        yield Cut(candidate.page.text_id, Span(start, start + len(kept)), kept)


def _run(plan: Plan, candidate: Candidate, span: Span) -> Cut:
    """The longest run of sentences around the one that meets the question best, within the limit."""
    words = _words(candidate, span)
    offset = span.start
    parts = sentences(words, Span(0, len(words)), candidate.page.language)
    if not parts or len(words.strip()) <= QUOTE_MAX_CHARS:
        return next(_trimmed(candidate, span), Cut(candidate.page.text_id, span, words))
    best = max(range(len(parts)), key=lambda i: (_worth(plan, words[parts[i].start : parts[i].end], candidate), -i))
    first = last = best
    while True:
        grew = False
        if last + 1 < len(parts) and parts[last + 1].end - parts[first].start <= QUOTE_MAX_CHARS:
            last, grew = last + 1, True
        if first > 0 and parts[last].end - parts[first - 1].start <= QUOTE_MAX_CHARS:
            first, grew = first - 1, True
        if not grew:
            break
    end = parts[last].end
    return next(_trimmed(candidate, Span(offset + parts[first].start, offset + end)))


def _worth(plan: Plan, words: str, candidate: Candidate) -> float:
    """How much of the question a sentence meets beyond what its headings and its term already say.

    A number where one is asked, and a default where one is asked, count as much as a third of the question's words.
    """
    held = set(index_terms(words, candidate.page.language))
    label = candidate.body.partition("\n")[0] if _is_labelled(candidate) else ""
    given = {*index_terms(label, candidate.page.language), *candidate.fields.headings, *candidate.fields.title}
    worth = total = 0.0
    for group in plan.groups:
        share = GIVEN_WORTH if any(term in given for term in group.terms) else 1.0
        total += group.weight
        if any(term in held for term in group.terms):
            worth += share * group.weight
        else:
            worth += share * group.weight * max((q for term, q in group.soft.items() if term in held), default=0.0)
    if "number" in plan.kinds and numbers_in(words):
        worth += KIND_WORTH * total
    if "default" in plan.kinds and "yesno" not in plan.kinds and says_default(held):
        worth += KIND_WORTH * total
    return worth


def _lines(plan: Plan, candidate: Candidate, span: Span) -> Cut:
    """The lines of a code block around the one that meets the question best, within the limit."""
    words = _words(candidate, span)
    if len(words) <= QUOTE_MAX_CHARS:
        return next(_trimmed(candidate, span), Cut(candidate.page.text_id, span, words))
    lines: list[Span] = []
    at = 0
    for line in words.splitlines(keepends=True):
        lines.append(Span(at, at + len(line.rstrip("\n"))))
        at += len(line)
    best = max(range(len(lines)), key=lambda i: (_worth(plan, words[lines[i].start : lines[i].end], candidate), -i))
    first = last = best
    while last + 1 < len(lines) and lines[last + 1].end - lines[first].start <= QUOTE_MAX_CHARS:
        last += 1
    while first > 0 and lines[last].end - lines[first - 1].start <= QUOTE_MAX_CHARS:
        first -= 1
    end = min(lines[last].end, lines[first].start + QUOTE_MAX_CHARS)
    return next(
        _trimmed(candidate, Span(span.start + lines[first].start, span.start + end)),
        Cut(candidate.page.text_id, span, words[:QUOTE_MAX_CHARS]),
    )


def _announced(candidate: Candidate, around: Sequence[Candidate], here: int) -> Iterator[Cut]:
    """The list, rows or code that a passage ending in a colon announces."""
    n_chars = 0
    group = around[here + 1].passage.group if here + 1 < len(around) else 0
    for each in around[here + 1 : here + 1 + MAX_ITEMS]:
        if n_chars and (each.passage.group != group or not group):
            break
        if each.passage.kind not in ("item", "row", "code", "definition", "term", "paragraph", "quote"):
            break
        for cut in _clip(each, each.passage.span) if each.passage.kind == "definition" else _head(each):
            n_chars += len(cut.text)
            yield cut
        if n_chars > QUOTE_MAX_CHARS:
            break


def _head(candidate: Candidate) -> Iterator[Cut]:
    """The beginning of a passage, at most a quote long, cut at a line or a word."""
    words = candidate.body[:QUOTE_MAX_CHARS]
    if len(words) < len(candidate.body):
        cut = max(words.rfind("\n"), words.rfind(" ", QUOTE_MAX_CHARS // 2))
        words = words[:cut] if cut > 0 else words
    start = candidate.passage.span.start
    yield from _trimmed(candidate, Span(start, start + len(words)))


def _siblings(candidate: Candidate, around: Sequence[Candidate], here: int) -> Iterator[Cut]:
    """For a list question: the beginning of every item of the list that the passage is in, or that follows it."""
    group = candidate.passage.group
    if not group:
        following = next((each for each in around[here + 1 : here + 3] if each.passage.group), None)
        if (
            following is None
            or following.passage.headings[: len(candidate.passage.headings)] != candidate.passage.headings
        ):
            return
        group = following.passage.group
    items = [each for each in around if each.passage.group == group]
    if len(items) > MAX_ITEMS:  # a reference, not a list that a sentence can hold
        return
    for each in items:
        if each.passage.kind in ("item", "definition", "term", "row"):
            yield from _head_of(each)


def _head_of(candidate: Candidate) -> Iterator[Cut]:
    """An item's first line and sentence, shortened at a word's end."""
    span = candidate.passage.span
    line = candidate.body.split("\n", 1)[0]
    whole = Span(span.start, span.start + len(line))
    parts = sentences(candidate.body, Span(0, len(line)), candidate.page.language)
    end = parts[0].end if parts else len(line)
    if end > ITEM_MAX_CHARS:
        cut = line.rfind(" ", 60, ITEM_MAX_CHARS)
        end = cut if cut > 0 else ITEM_MAX_CHARS
    yield from _trimmed(candidate, replace(whole, end=span.start + end))


def _neighbours(plan: Plan, candidate: Candidate, around: Sequence[Candidate], here: int) -> Iterator[Cut]:
    """The next passages of the section that a short passage belongs to; of a definition, what else it says."""
    n_chars = len(candidate.body)
    is_definition = candidate.passage.kind == "definition"
    before = candidate.body.rstrip()
    for each in around[here + 1 : here + 1 + NEIGHBOURS]:
        if each.passage.headings[: len(candidate.passage.headings)] != candidate.passage.headings:
            break
        if _is_title(each, after=before):
            break  # something else begins
        before = each.body.rstrip()
        if n_chars >= QUOTE_MAX_CHARS or (is_definition and each.passage.kind == "definition" and _is_labelled(each)):
            break
        cut = _lines(plan, each, each.passage.span) if each.passage.kind == "code" else None
        for one in [cut] if cut else list(_own_quotes(plan, each)):
            n_chars += len(one.text)
            yield one


def _is_labelled(candidate: Candidate) -> bool:
    """Whether a definition begins with its term."""
    return candidate.passage.kind == "definition" and "\n" in candidate.body


def _label_before(candidate: Candidate, around: Sequence[Candidate], here: int) -> Iterator[Cut]:
    """The term that a later paragraph of a definition belongs to: without it nobody knows what is defined."""
    if candidate.passage.kind != "definition" or _is_labelled(candidate) or not candidate.passage.headings:
        return
    for each in reversed(around[max(0, here - MAX_ITEMS) : here]):
        if _is_labelled(each) and each.passage.group == candidate.passage.group:
            label, _ = _label_and_rest(each)
            if index_terms(_words(each, label), None)[:2] == index_terms(candidate.passage.headings[-1], None)[:2]:
                yield from _clip(each, label)
            return
