"""Cuts quotes from a text and finds them again.

A quote is cut from kept text by us, so it is exact by construction. Words that a model or a person proposes are
looked for as they are first, then *folded*. ``fold`` is the one place that says which differences do not count:

- compatibility forms: full and half width, ligatures, presentation forms, no-break spaces; letters are composed (NFC).
  Superscripts, fractions and circled digits stay apart: 10² is not 102;
- every run of white space is one space, and none between two characters of scripts that are written without spaces;
- quote marks, apostrophes and primes are one single and one double mark; dashes, hyphens and minus signs are one;
- what is not seen is dropped: soft hyphens, zero-width characters, variation selectors, bidi marks. Bidi *overrides*
  stay, because they change what a reader sees.

Letter case, digits, look-alike letters and all other punctuation count.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from firsthand.errors import InvalidInput
from firsthand.values import Quote, Span, Verdict

CONTEXT_CHARS = 32  # prefix and suffix; what the Web Annotation examples and text fragments use
MAX_FOLDED_CHARS = 1 << 20  # of one text; beyond it only an exact quote is found
MIN_WORDS = 5  # a shorter quote proves little, unless its block is no longer
MIN_UNSPACED_CHARS = 12  # the same, in scripts without spaces
MAX_CLUSTER_CHARS = 32  # a letter with its marks; longer runs are cut, because sorting marks is quadratic

Objection = Literal["no_content_word", "too_short"]

# Scripts written without spaces between words: Thai to Burmese, Khmer, kana, Han, and their wide punctuation.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"

_SINGLE_MARKS = "'`´‘’‚‛′‵ʹʻʼʽˈ‹›＇"
_DOUBLE_MARKS = '"“”„‟″‶«»〝〞〟＂'
_DASHES = "-‐‑‒–—―⁃−﹘﹣－"
_UNIFIED = {
    **dict.fromkeys(_SINGLE_MARKS, "'"),
    **dict.fromkeys(_DOUBLE_MARKS, '"'),
    **dict.fromkeys(_DASHES, "-"),
}
_OVERRIDES = "\u202d\u202e"
_SEEN_FORMATS = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2\U000110bd\U000110cd") | set(_OVERRIDES)
_KEPT_APART = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>", "<compat> 0020 ")  # the last: a mark alone

# Characters that fold to themselves: most letters of most texts. Latin leaves out the few that are compatibility forms.
_SPACED_PLAIN = r"!-_a-~À-ıĴ-ľŁ-ňŊ-ž\u0400-\u0482\u048a-\u052f\u05d0-\u05ea\u0621-\u064a\uac00-\ud7a3"
_UNSPACED_PLAIN = r"\u3001\u3002\u3008-\u3011\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff"
# Each alternative takes at least one character, and gives back at most one space, so the scan is linear.
_PIECE = re.compile(
    rf"(?P<plain>[{_SPACED_PLAIN}]+(?: [{_SPACED_PLAIN}]+)*|[{_UNSPACED_PLAIN}]+)|(?P<space>\s+)|.", re.DOTALL
)
_UNSPACED_CHAR = f"[{UNSPACED}]"  # this and the next take 24 ms to compile, so it is done when a text needs them
_WORD = rf"[^\W_{UNSPACED}]+(?:['’.\-][^\W_{UNSPACED}]+)*"
_LATIN_WORD = r"[^\W_]+(?:['’.\-][^\W_]+)*"
_CONTENT_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text with what does not count taken out; ``starts[i]:ends[i]`` are the original's points behind ``text[i]``."""

    text: str
    starts: array[int]
    ends: array[int]

    def parts(self, at: int) -> bool:
        """Whether *at* stands inside a letter with its marks, or a ligature: what is cut there would show more."""
        return 0 < at < len(self.text) and self.starts[at] == self.starts[at - 1]

    def span(self, start: int, end: int) -> Span:
        """The span of the original behind ``text[start:end]``, which must not be empty."""
        return Span(self.starts[start], self.ends[end - 1])


def cut(body: str, span: Span) -> Quote:
    """The exact words of *body* at *span*, with up to 32 code points before and after.

    Raises: InvalidInput if the span is empty or reaches outside the text.
    """
    if not 0 <= span.start < span.end <= len(body):
        raise InvalidInput("span_outside", f"The span {span.start}:{span.end} is empty or not inside the text.")
    return Quote(
        text=body[span.start : span.end],
        span=span,
        prefix=body[max(0, span.start - CONTEXT_CHARS) : span.start],
        suffix=body[span.end : span.end + CONTEXT_CHARS],
    )


def locate(
    quote: str, body: str, *, prefix: str = "", suffix: str = "", near: Span | None = None
) -> tuple[Span, Verdict]:
    """Find *quote* in *body*: exactly, else folded.

    Shape: the span is in code points of *body*; ``body[span.start:span.end]`` is what may be published. When the
    quote is missing the span is ``Span(0, 0)``.
    Ties: the most of *prefix* and *suffix*, then nearest to the start of *near*, then the first.
    Cost: linear in the text. Folding reads at most 1 MiB of code points: around *near*, else from the start.
    Source: Web Annotation Data Model, text quote selector.
    """
    if not quote.strip():
        return Span(0, 0), "missing"
    wanted = near.start if near is not None else None
    found = _best(quote, body, prefix, suffix, wanted)
    if found is not None:
        return Span(found, found + len(quote)), "exact"
    # A window that is cut anywhere may cut a letter from its marks; that can only lose a match at the very edge.
    base = max(0, (wanted or 0) - MAX_FOLDED_CHARS // 2) if len(body) > MAX_FOLDED_CHARS else 0
    text = _fold_cached(body[base : base + MAX_FOLDED_CHARS])
    needle = fold(quote[:MAX_FOLDED_CHARS]).text.strip()
    if not needle or len(quote) > MAX_FOLDED_CHARS:
        return Span(0, 0), "missing"
    target = None if wanted is None else _folded_index(text, wanted - base)
    start = _best(needle, text.text, _fold_inside(prefix), _fold_inside(suffix), target, text.parts)
    if start is None:
        return Span(0, 0), "missing"
    span = text.span(start, start + len(needle))
    return Span(span.start + base, span.end + base), "normalised"


def objection(quote: str, block: str = "") -> Objection | None:
    """Why *quote* is too thin to bear a claim, or None. *block* is the whole block it was cut from.

    Example: "25 m" carries no content word; "the limit is" is too short, unless the block says no more.
    """
    n_unspaced = 0 if quote.isascii() else len(re.findall(_UNSPACED_CHAR, quote))
    if not _CONTENT_WORD.search(quote) and n_unspaced < 2:
        return "no_content_word"
    n_words = len(re.findall(_WORD if n_unspaced else _LATIN_WORD, quote))
    if n_words >= MIN_WORDS or n_unspaced >= MIN_UNSPACED_CHARS:
        return None
    if n_unspaced + n_words >= MIN_UNSPACED_CHARS:  # 「SQLite は 64 個まで」 mixes both
        return None
    return None if block and fold(quote).text.strip() == fold(block).text.strip() else "too_short"


def _fold_inside(context: str) -> str:
    """*context* folded as part of a text: a space at its edge stays."""
    return fold(f"x{context}x").text[1:-1]


def same_words(one: str, other: str) -> bool:
    """Whether two strings are equal when folded."""
    return one == other or fold(one).text.strip() == fold(other).text.strip()


def fold(text: str) -> Folded:
    """*text* without the differences that do not count (see the module), with the way back.

    Cost: linear; measured on a MiB of code points: prose 0.2 s, the worst found (marks on every letter) 3.6 s.
    """
    out: list[str] = []
    starts: array[int] = array("L")
    ends: array[int] = array("L")
    gap: tuple[int, int] | None = None  # white space seen, not yet written
    last = ""
    for start, end, folded in _pieces(text):
        if folded == " ":
            gap = gap or (start, end)
            continue
        if gap is not None:
            if last and not (re.match(_UNSPACED_CHAR, last) and re.match(_UNSPACED_CHAR, folded)):
                out.append(" ")
                starts.append(gap[0])
                ends.append(start)
            gap = None
        out.append(folded)
        if len(folded) == end - start:  # one to one, which is nearly all of any text
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            starts.extend([start] * len(folded))
            ends.extend([end] * len(folded))
        last = folded[-1]
    return Folded("".join(out), starts, ends)


# A turn locates many quotes in one page; two texts are what one conflict needs.
_fold_cached = lru_cache(maxsize=2)(fold)


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """The text in pieces: plain runs as they are, white space as one space, any other letter with its marks, folded."""
    at, size = 0, len(text)
    while at < size:
        match = _PIECE.match(text, at)
        assert match is not None  # the alternatives cover every character
        end = match.end()
        if match.lastgroup == "space":
            yield at, end, " "
            at = end
            continue
        if match.lastgroup == "plain":
            if end == size or not _joins(text[end]):
                yield at, end, match.group()
                at = end
                continue
            if end - at > 1:  # the last letter of the run belongs to the marks that follow
                yield at, end - 1, text[at : end - 1]
            at = end - 1
        while end < size and end - at < MAX_CLUSTER_CHARS and _joins(text[end]):
            end += 1
        folded = _fold_cluster(text[at:end])
        if folded.strip():
            yield at, end, folded.strip()
        elif folded:
            yield at, end, " "
        at = end


def _joins(char: str) -> bool:
    """Whether *char* may join the letter before it: a mark, a later part of a Hangul syllable, something unseen."""
    return char > "\x7f" and (
        unicodedata.category(char)[0] == "M"
        or "\u1160" <= char <= "\u11ff"
        or "\ud7b0" <= char <= "\ud7fb"
        or _is_unseen(char)
    )


def _fold_cluster(cluster: str) -> str:
    """One letter with its marks, folded; empty if it is not seen, blank if it is a space."""
    if len(cluster) == 1 and cluster in _UNIFIED:
        return _UNIFIED[cluster]
    kept = []
    for char in cluster:
        unified = _UNIFIED.get(char)
        if unified is not None:
            kept.append(unified)
        elif _is_unseen(char):
            continue
        else:
            form = unicodedata.decomposition(char)
            apart = not form.startswith("<") or form.startswith(_KEPT_APART)
            kept.append(char if apart else unicodedata.normalize("NFKC", char))
    composed = unicodedata.normalize("NFC", "".join(kept))
    return "".join(_UNIFIED.get(char, char) for char in composed)


def _is_unseen(char: str) -> bool:
    """Whether a reader sees nothing of *char*: format characters, variation selectors, grapheme joiner."""
    if char == "\u034f" or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return True
    return unicodedata.category(char) == "Cf" and char not in _SEEN_FORMATS


def _best(
    needle: str,
    body: str,
    prefix: str,
    suffix: str,
    wanted: int | None,
    parts: Callable[[int], bool] = lambda at: False,
) -> int | None:
    """Where *needle* stands in *body*, the best of its places; None if nowhere. None begins or ends where it *parts*."""
    first = body.find(needle)
    while first >= 0 and (parts(first) or parts(first + len(needle))):
        first = body.find(needle, first + len(needle))
    if first < 0 or not (prefix or suffix or wanted is not None):
        return first if first >= 0 else None
    prefix, suffix = prefix[-CONTEXT_CHARS:], suffix[:CONTEXT_CHARS]
    best, best_rank = first, (-1, 0)
    at = first
    while at >= 0:
        context = _shared_end(body[max(0, at - CONTEXT_CHARS) : at], prefix)
        context += _shared_start(body[at + len(needle) : at + len(needle) + CONTEXT_CHARS], suffix)
        rank = (context, -abs(at - wanted) if wanted is not None else 0)
        if rank > best_rank and not (parts(at) or parts(at + len(needle))):
            best, best_rank = at, rank
        # Places that overlap are one place repeated; stepping over them keeps this linear.
        at = body.find(needle, at + len(needle))
    return best


def _shared_end(one: str, other: str) -> int:
    return _shared_start(one[::-1], other[::-1])


def _shared_start(one: str, other: str) -> int:
    n = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        n += 1
    return n


def _folded_index(text: Folded, position: int) -> int:
    """The folded index of the first code point at or after *position* of the original."""
    low, high = 0, len(text.starts)
    while low < high:
        middle = (low + high) // 2
        if text.starts[middle] < position:
            low = middle + 1
        else:
            high = middle
    return low
