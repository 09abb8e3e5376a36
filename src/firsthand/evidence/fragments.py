"""Builds links that open a live page at the quoted words.

``url#:~:text=[prefix-,]start[,end][,-suffix]``: each term lies inside one block and begins and ends at a word's edge,
and the browser takes the first place that fits. Browsers act on it only when a person follows the link, and a page may
have changed since, so the link is a convenience; the snapshot is the proof.
Source: URL Fragment Text Directives, community group draft.
"""

from __future__ import annotations

import re
from urllib.parse import quote as percent_encode

from firsthand.evidence.quotes import UNSPACED
from firsthand.values import Quote

MAX_TERM_CHARS = 300  # a longer quote is given by its first and last words; the draft's own advice for long text
EDGE_WORDS = 5  # words at each end of a long quote, and of context
EDGE_UNSPACED_CHARS = 12  # the same where no space parts words

_BREAK = re.compile(r"[\n\t]+")
_UNSPACED = f"[{UNSPACED}]"


def text_fragment(url: str, quote: Quote, *, body: str = "") -> str:
    """*url* with a text directive for *quote*. A fragment that *url* has is kept, a directive is replaced.

    *body* is the text the quote was cut from: if the words stand in it more than once, context is added. Without it
    the context is always added. A quote without words gives *url* as it is.
    """
    lines = [line.strip() for line in _BREAK.split(_whole_words(quote)) if line.strip()]
    if not lines:
        return url
    if len(lines) == 1 and len(lines[0]) <= MAX_TERM_CHARS:
        terms = [lines[0]]
    else:
        terms = [_first_words(lines[0]), _last_words(lines[-1])]
    before = after = ""
    if not body or _n_places(body, terms[0]) > 1:
        before = _last_words(_without_cut_word(_BREAK.split(quote.prefix)[-1], at_start=True))
        after = _first_words(_without_cut_word(_BREAK.split(quote.suffix)[0], at_start=False))
    directive = ",".join(_encode(term) for term in terms)
    if before:
        directive = f"{_encode(before)}-,{directive}"
    if after:
        directive = f"{directive},-{_encode(after)}"
    base, _, fragment = url.partition("#")
    return f"{base}#{fragment.partition(':~:')[0]}:~:text={directive}"


def _whole_words(quote: Quote) -> str:
    """The quote without half a word at either end: no browser matches inside a word."""
    text = quote.text
    if quote.prefix and text and _same_word(quote.prefix[-1], text[0]):
        text = re.sub(r"^\w+", "", text)
    if quote.suffix and text and _same_word(text[-1], quote.suffix[0]):
        text = re.sub(r"\w+\Z", "", text)
    return text


def _same_word(one: str, other: str) -> bool:
    both = one + other
    return both.isalnum() and not re.search(_UNSPACED, both)


def _without_cut_word(context: str, *, at_start: bool) -> str:
    """Context that was cut at 32 characters without the word that the cut may have halved."""
    if re.search(_UNSPACED, context):
        return context.strip()
    return re.sub(r"^\S+" if at_start else r"\S+\Z", "", context).strip()


def _first_words(text: str) -> str:
    if len(re.findall(_UNSPACED, text)) * 2 > len(text):
        return text[:EDGE_UNSPACED_CHARS].strip()
    return " ".join(text.split()[:EDGE_WORDS])


def _last_words(text: str) -> str:
    if len(re.findall(_UNSPACED, text)) * 2 > len(text):
        return text[-EDGE_UNSPACED_CHARS:].strip()
    return " ".join(text.split()[-EDGE_WORDS:])


def _n_places(body: str, words: str) -> int:
    """How often *words* stand in *body* as a browser compares them: letter case and white space aside."""
    return " ".join(body.casefold().split()).count(" ".join(words.casefold().split()))


def _encode(term: str) -> str:
    """*term* percent-encoded, and the three signs that mean something in a directive as well."""
    return percent_encode(" ".join(term.split()), safe="", errors="replace").replace("-", "%2D")
