"""Chooses the passages that answer, and cuts quotes from them: the reader that needs no model.

``decline`` says what is missing, if nothing answers. ``wanted`` names the texts whose passages are needed for context,
and ``choose`` makes evidence of it all: the passage that answers best first, each with the quotes that a reader needs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from firsthand.evidence.passages import sentences
from firsthand.evidence.terms import index_terms
from firsthand.ports import Candidate, PageRef
from firsthand.research import lexicon
from firsthand.research.plan import Group, Plan
from firsthand.research.rank import WEB_TYPES, Ranked, numbers_in, says_default
from firsthand.values import Passage, Span

MAX_PASSAGES = 5
PART_PASSAGES = 3  # of each half of a question that asks two things
PAGE_MAX = 4  # passages of one page; single facts want no cap, comparisons want one (recipe, section 5)
PAGE_MAX_OF_PARTS = 2
TITLE_MAX_CHARS = 70
_ENDS = frozenset(".!?;:…。！？；：)\"”»")
QUOTE_MAX_CHARS = 450  # ≤ 300 lost 0.05 of recall, ≤ 700 won 0.01 (recipe, section 5)
LABEL_MAX_CHARS = 150  # a term that is quoted with its definition
LIST_MAX_CHARS = 700  # a list that is quoted whole
SHORT_CHARS = 250  # a passage below this takes its neighbours along
NEIGHBOURS = 2
MAX_ITEMS = 16
ITEM_MAX_CHARS = 160
SECOND_VALUE_DEPTH = 15  # how far down a page that gives another value is looked for

SAME_SUBJECT_SHARE = 0.75  # of the first passage's words that another value must meet as well (guess)
SAME_SHARE = 0.85  # of the words of two passages that are one text in two editions (guess)
SAME_MIN_TERMS = 6
SPARE = 5  # passages beyond the limit, for those that were quoted with others already
GIVEN_WORTH = 0.6  # of a word that stands over the passage anyway
KIND_WORTH = 0.35  # guess
GLUED = ("paragraph", "item", "row", "code", "quote", "caption")

Role = Literal["answer", "support", "other_value"]


@dataclass(frozen=True, slots=True)
class Cut:
    """Exact words of a kept text, cut by span."""

    text_id: int
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage judged to answer, with the quotes cut from it and around it; the first quote is the one that answers."""

    page: PageRef
    passage: Passage
    quotes: tuple[Cut, ...]
    score: float
    reasons: tuple[str, ...] = ()
    role: Role = "answer"
    part: int = 0  # of the question: 0 the whole, else the number of the sub-question


@dataclass(frozen=True, slots=True)
class _Chosen:
    ranked: Ranked
    part: int
    role: Role = "answer"


# -- Choosing


def wanted(plan: Plan, ranked: Sequence[Ranked], max_passages: int = MAX_PASSAGES) -> list[int]:
    """The texts whose passages ``choose`` may need, in the order of their use."""
    return list(dict.fromkeys(each.ranked.candidate.page.text_id for each in _queue(plan, ranked, max_passages)))


def choose(
    plan: Plan,
    ranked: Sequence[Ranked],
    texts: Mapping[int, Sequence[Candidate]],
    max_passages: int = MAX_PASSAGES,
) -> list[Evidence]:
    """At most *max_passages* passages with their quotes, the best answer first.

    *texts* holds the passages of each wanted text. No word is quoted twice: a passage that an earlier one has quoted
    already gives its place to the next.
    """
    taken: dict[int, list[Span]] = {}
    made: list[Evidence] = []
    for each in _queue(plan, ranked, max_passages):
        if len(made) == max_passages:
            break
        candidate = each.ranked.candidate
        asked = plan.parts[each.part - 1] if each.part else plan
        quotes = list(_quotes(asked, candidate, texts.get(candidate.page.text_id, ())))
        spans = taken.setdefault(candidate.page.text_id, [])
        fresh = _not_yet_quoted(quotes, spans)
        if not fresh or fresh[0] is not quotes[0]:
            continue
        spans += [cut.span for cut in fresh]
        role: Role = each.role if made else "answer"
        reasons = each.ranked.reasons
        made.append(Evidence(candidate.page, candidate.passage, fresh, each.ranked.score, reasons, role, each.part))
    return made


def _not_yet_quoted(quotes: Sequence[Cut], spans: Sequence[Span]) -> tuple[Cut, ...]:
    fresh: list[Cut] = []
    for cut in quotes:
        held = [*spans, *(each.span for each in fresh)]
        n_shared = max((min(s.end, cut.span.end) - max(s.start, cut.span.start) for s in held), default=0)
        if 2 * n_shared < cut.span.end - cut.span.start:
            fresh.append(cut)
    return tuple(fresh)


def _queue(plan: Plan, ranked: Sequence[Ranked], k: int) -> list[_Chosen]:
    """The passages to quote, in order; more than *k*, because some will have been quoted with others."""
    if plan.parts:
        return _queue_of_parts(plan, ranked)
    chosen = [_Chosen(each, 0) for each in _spread(ranked, k + SPARE, PAGE_MAX + 1)]
    return _with_other_value(plan, ranked, chosen, k)


def _queue_of_parts(plan: Plan, ranked: Sequence[Ranked]) -> list[_Chosen]:
    """The parts in turn, best first; a passage that serves both counts once."""
    queues = []
    for number in range(len(plan.parts)):
        pool = sorted(ranked, key=lambda each: -each.parts[number])
        queues.append([_Chosen(each, number + 1) for each in _spread(pool, PART_PASSAGES, PAGE_MAX_OF_PARTS)])
    chosen: list[_Chosen] = []
    held: set[str] = set()
    for place in range(PART_PASSAGES):
        for queue in queues:
            if place < len(queue) and (key := _key(queue[place].ranked)) not in held:
                held.add(key)
                chosen.append(queue[place])
    return chosen


def _key(ranked: Ranked) -> str:
    return " ".join(ranked.candidate.body.split())


def _spread(pool: Sequence[Ranked], k: int, page_max: int) -> list[Ranked]:
    """The best *k*, what says the same once, at most *page_max* of one page."""
    of_page: Counter[int] = Counter()
    said: list[frozenset[str]] = []
    chosen: list[Ranked] = []
    for each in pool:
        page = each.candidate.page.text_id
        terms = frozenset(each.candidate.fields.body)
        if of_page[page] >= page_max or any(_says_the_same(terms, other) for other in said):
            continue
        said.append(terms)
        of_page[page] += 1
        chosen.append(each)
        if len(chosen) == k:
            break
    return chosen


def _says_the_same(terms: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two passages have nearly all words in common, and the same numbers."""
    if terms == other:
        return True
    n_least, n_most = sorted((len(terms), len(other)))
    if n_least < SAME_MIN_TERMS or n_least < SAME_SHARE * n_most or len(terms & other) < SAME_SHARE * n_most:
        return False
    return not any(term[0].isdigit() for term in terms ^ other)


def _with_other_value(plan: Plan, pool: Sequence[Ranked], chosen: list[_Chosen], k: int) -> list[_Chosen]:
    """The last place goes to a page not yet chosen that gives another value for the same subject, if one is near."""
    if k < 3 or len(chosen) < 2 or not plan.kinds & {"number", "default", "date"}:
        return chosen
    first = chosen[0].ranked
    asked = frozenset(term for group in plan.groups for term in group.terms if term[:1].isdigit())
    pages = {each.ranked.candidate.page.text_id for each in chosen[:k]}
    said = set(numbers_in(first.candidate.body, asked))
    for each in pool[:SECOND_VALUE_DEPTH]:
        other = each.candidate
        if other.page.text_id in pages or _key(each) == _key(first) or other.page.site != first.candidate.page.site:
            continue
        values = set(numbers_in(other.body, asked))
        differs = bool(values - said) if "number" in plan.kinds else each.features["default"] > 0
        if differs and each.features["body"] >= SAME_SUBJECT_SHARE * first.features["body"]:
            return [*chosen[: k - 1], _Chosen(each, 0, "other_value"), *chosen[k - 1 :]]
    return chosen


# -- Declining

# Below this no passage answers. Three of the 12 unanswerable open questions lie below it, and no answerable English one
# (7.1 is the least); chosen with room to spare, because twelve are few.
SCORE_FLOOR = 6.4
# Of the question's weight, in the best passage with its headings: below it only a few chance words are met. Four of the 12
# lie below it, the least answerable English question of three sets at 0.28. Pairs of characters across words count too in
# scripts without spaces, and no page can meet those.
COVERAGE_FLOOR = 0.27
COVERAGE_FLOOR_FOREIGN = 0.2
COVERAGE_FLOOR_UNSPACED = 0.12
COMMON_NAME_SHARE = 0.04  # a name in more passages than this is what the library is about, and says nothing
WHOLE_VOCABULARY = 20_000  # passages from which an index holds nearly every ordinary word of its language
UNKNOWN_MIN_CHARS = 6
_BRITISH = re.compile(r"is(?:e[dsr]?|ing|ations?)$|ou?r|tre$|ll")  # spelt otherwise by most manuals
OFF_SITE_MAX = 0.7


def decline(plan: Plan, ranked: Sequence[Ranked]) -> tuple[str, ...] | None:
    """What is missing, a sentence each in the question's language; None if the passages may answer."""
    pool = ranked
    if not pool:
        return (lexicon.say("missing_answer", plan.language, question=plan.question),)
    missing = _missing_names(plan, pool)
    if missing:
        return tuple(lexicon.say("missing_name", plan.language, name=name) for name in missing)
    top = pool[:MAX_PASSAGES]
    if plan.sites and _site_speaks(plan):
        off = sum(each.candidate.page.site not in plan.sites for each in top) / len(top)
        if off >= OFF_SITE_MAX:
            return (lexicon.say("missing_answer", plan.language, question=plan.question),)
    coverage = max(each.features["any"] for each in top)
    if top[0].score < SCORE_FLOOR or coverage < _coverage_floor(plan.language):
        return (lexicon.say("missing_answer", plan.language, question=plan.question),)
    return None


def _coverage_floor(language: str) -> float:
    if language == "en":
        return COVERAGE_FLOOR
    return COVERAGE_FLOOR_UNSPACED if language in lexicon.UNSPACED else COVERAGE_FLOOR_FOREIGN


def _site_speaks(plan: Plan) -> bool:
    """Whether a site that is named has pages in the question's language."""
    return any(plan.language in plan.site_languages.get(site, ()) for site in plan.sites)


def _missing_names(plan: Plan, pool: Sequence[Ranked]) -> list[str]:
    """The names that no section of a top passage holds; for a named site, sections of that site count only.

    Each part of a question has top passages of its own: what one part is about need not stand where the other is answered.
    """
    top = list(pool[:MAX_PASSAGES])
    for number in range(len(plan.parts)):
        top += sorted(pool, key=lambda each: -each.parts[number])[:MAX_PASSAGES]
    in_site = (
        [each for each in top if each.candidate.page.site in plan.sites] if plan.sites and _site_speaks(plan) else top
    )
    sections = {(each.candidate.page.text_id, each.candidate.passage.headings) for each in in_site}
    met = {
        i
        for each in pool
        if (each.candidate.page.text_id, each.candidate.passage.headings) in sections
        for i in each.around
    }
    return [
        group.word
        for i, group in enumerate(plan.groups)
        if i not in met and not group.is_site and (_must_be_met(plan, group) or _is_unheard_of(plan, group))
    ]


def _must_be_met(plan: Plan, group: Group) -> bool:
    """Whether *group* is a name that tells pages apart."""
    n_with = max((plan.counts.get(term, 0) for term in group.terms), default=0)
    return group.is_name and n_with <= plan.n_passages * COMMON_NAME_SHARE


def _is_unheard_of(plan: Plan, group: Group) -> bool:
    """Whether *group* is an English word that a large index holds in no spelling and no other words: a name in lower case."""
    return (
        plan.language == "en"
        and group.kind == "word"
        and plan.n_passages >= WHOLE_VOCABULARY
        and len(group.word) >= UNKNOWN_MIN_CHARS
        and not _BRITISH.search(group.word)
        and not any(plan.counts.get(term) for term in (*group.terms, *group.soft))
    )


# -- Quotes


def _quotes(plan: Plan, candidate: Candidate, around: Sequence[Candidate]) -> Iterator[Cut]:
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
            or not 1 <= gap <= 2
            or not fits
        ):
            break
        words += "\n" * gap + each.body
        last = each
        if not _is_title(each):
            end_words, end = words, each
    if end is first:
        return None
    return Cut(first.page.text_id, Span(first.passage.span.start, end.passage.span.end), end_words)


def _is_title(candidate: Candidate) -> bool:
    """Whether a paragraph only announces: short, and without an end."""
    body = candidate.body.rstrip()
    return candidate.passage.kind == "paragraph" and len(body) <= TITLE_MAX_CHARS and body[-1:] not in _ENDS


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
    for each in around[here + 1 : here + 1 + NEIGHBOURS]:
        if each.passage.headings[: len(candidate.passage.headings)] != candidate.passage.headings:
            break
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
