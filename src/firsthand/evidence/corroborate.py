"""Counts who says the same, and notices who says otherwise.

Two citations corroborate a claim when they come from two sites (by the public suffix list, so ``www.`` and the bare
host are one, and two tenants of a shared host are two) and their quotes are not one text. Different sites are a hint,
never proof of independent editors.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from firsthand.evidence.quantities import Quantity, read_amounts
from firsthand.evidence.quotes import UNSPACED, fold
from firsthand.evidence.terms import index_terms, stop_terms
from firsthand.values import Citation, Claim, Corroboration, Span

SHINGLE_WORDS = 5  # as web-page near-duplicate work has it since Broder 1997
SAME_TEXT = 0.6  # share of the shorter text's shingles; guess: a 22-word wire sentence with two other bylines has 0.76
SAME_ATTRIBUTE = 0.75  # shared content terms of two sentences that differ in a number only; at 0.6 most were false
SAME_ATTRIBUTE_TERMS = 2  # captions and labels share a word without being about one thing

Relation = Literal["independent", "same_site", "near_duplicate"]


@dataclass(frozen=True, slots=True)
class Said:
    """A quote as it is screened: its words and where they stand."""

    text: str
    text_digest: str
    span: Span
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two quotes that give different numbers for what looks like one attribute. A candidate, not a judgement."""

    one: Said
    other: Said
    attribute: tuple[str, ...]  # the content terms they share
    values: tuple[str, str]  # the numbers, as written


def site_of(url: str) -> str:
    """The site of *url*: its registrable domain, or its host where there is none (addresses, bare names)."""
    host = _host(url)
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        pass
    else:
        return host
    labels = [_unicode_label(label) for label in host.split(".")]
    n_suffix = _suffix_labels(labels)
    return host if n_suffix >= len(labels) else ".".join(host.split(".")[-n_suffix - 1 :])


def same_site(one: str, other: str) -> bool:
    """Whether two addresses belong to one site. Equal hosts are compared without the suffix list."""
    return _host(one) == _host(other) or site_of(one) == site_of(other)


def near_duplicate(one: str, other: str) -> bool:
    """Whether two quotes are one text: most shingles of the shorter stand in the longer (byline and agency aside)."""
    words, others = _words(one), _words(other)
    if not words or not others:
        return False
    width = min(SHINGLE_WORDS, len(words), len(others))
    shingles, theirs = _shingles(words, width), _shingles(others, width)
    return len(shingles & theirs) >= SAME_TEXT * min(len(shingles), len(theirs))


def relation(one: Citation, other: Citation) -> Relation:
    """What two citations of one claim are to each other."""
    if same_site(one.url, other.url):
        return "same_site"
    if one.text_digest == other.text_digest or near_duplicate(one.quote, other.quote):
        return "near_duplicate"
    return "independent"


def corroboration(citations: Sequence[Citation], disputed: bool) -> Corroboration:
    """``disputed`` wins; ``corroborated`` needs two citations that are found, supported and independent."""
    if disputed:
        return "disputed"
    bearing = [
        one for one in citations if one.verdict != "missing" and one.support not in ("unsupported", "contradicted")
    ]
    for index, one in enumerate(bearing):
        if any(relation(one, other) == "independent" for other in bearing[index + 1 :]):
            return "corroborated"
    return "single"


def candidate_conflicts(quotes: Sequence[Said]) -> list[Conflict]:
    """Pairs of quotes with different numbers for the same attribute, in order.

    Cost: every pair is compared; meant for the quotes of one answer, a few dozen.
    """
    found = []
    read = [[_statement(sentence, said.language) for sentence in _sentences(said.text)] for said in quotes]
    for index, said in enumerate(quotes):
        for later in range(index + 1, len(quotes)):
            conflict = _first_conflict(said, quotes[later], read[index], read[later])
            if conflict is not None:
                found.append(conflict)
    return found


def is_disputed(claim: Claim, conflicts: Sequence[Conflict], language: str | None = None) -> bool:
    """Whether *claim* rests on a side of a conflict: it cites the span and speaks of the attribute or the number.

    A claim that cites the same passage for something else is not disputed.
    """
    terms = _terms(claim.text, language)
    values = _values(claim.text, language)
    for conflict in conflicts:
        for said, written in zip((conflict.one, conflict.other), conflict.values, strict=True):
            if not any(_overlaps(citation, said) for citation in claim.citations):
                continue
            shared = len(terms & set(conflict.attribute))
            if values & _values(written, said.language) or (not values and shared * 2 > len(conflict.attribute)):
                return True
    return False


# -- Sites


@lru_cache(maxsize=1)
def _suffixes() -> frozenset[str]:
    """The rules of the public suffix list, private section included, from the copy that ``tldextract`` brings.

    The file is read without importing the package: that takes 0.4 s of CPU, half of what a whole answer may take, for
    an HTTP client that must never run here. Where the file has moved, the package is asked.
    """
    spec = find_spec("tldextract")
    for place in (spec.submodule_search_locations or []) if spec else []:
        file = Path(place) / ".tld_set_snapshot"
        if file.is_file():
            lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
            return frozenset(line.split()[0] for line in lines if line and not line.startswith("//"))
    from tldextract import TLDExtract

    bundled = TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
    return frozenset(bundled.tlds)


def _suffix_labels(labels: Sequence[str]) -> int:
    """How many labels at the end of a host are public suffix; one where no rule is known.

    Source: publicsuffix.org/list, the algorithm: an exception wins, else the longest rule, else ``*``.
    """
    rules = _suffixes()
    for start in range(len(labels)):
        name = ".".join(labels[start:])
        if f"!{name}" in rules:
            return len(labels) - start - 1
        if name in rules or ".".join(["*", *labels[start + 1 :]]) in rules:
            return len(labels) - start
    return 1


def _unicode_label(label: str) -> str:
    """A label as the list writes it."""
    try:
        return label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
    except UnicodeError:
        return label


def _host(url: str) -> str:
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    return (host or url).rstrip(".").lower()


# -- Texts

_TOKEN = rf"[{UNSPACED}]|[^\W_]+"  # compiled when first needed


def _words(text: str) -> list[str]:
    """Words for shingles, lower case; each character of a script without spaces is one."""
    found: list[str] = re.findall(_TOKEN, fold(text).text.casefold())
    return found


def _shingles(words: Sequence[str], width: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + width]) for at in range(len(words) - width + 1)}


# -- Conflicts

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class _Statement:
    terms: frozenset[str]
    names: frozenset[str]  # of them, those of words with a capital inside the sentence
    quantities: tuple[Quantity, ...]


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def _statement(sentence: str, language: str | None) -> _Statement:
    amounts = read_amounts(sentence, language)
    dated = tuple(
        Quantity(frozenset(Decimal(year) for year, _, _ in date.readings if year), "date", date.written)
        for date in amounts.dates
    )
    terms = frozenset(_terms(sentence, language))
    capitals = [word for word in sentence.split()[1:] if word[:1].isupper()]
    names = terms & frozenset(index_terms(" ".join(capitals), language))
    return _Statement(terms, names, amounts.quantities + dated)


def _terms(text: str, language: str | None) -> set[str]:
    """Content terms without those that spell a number."""
    terms = {term for term in index_terms(text, language) if not term[0].isdigit()} - stop_terms(language)
    for quantity in read_amounts(text, language).quantities:
        terms -= set(index_terms(quantity.written, language))
    return terms


def _first_conflict(
    one: Said, other: Said, statements: Sequence[_Statement], others: Sequence[_Statement]
) -> Conflict | None:
    for mine in statements:
        for theirs in others:
            shared = mine.terms & theirs.terms
            if len(shared) < SAME_ATTRIBUTE_TERMS or len(shared) < SAME_ATTRIBUTE * min(
                len(mine.terms), len(theirs.terms)
            ):
                continue
            if mine.names - theirs.terms and theirs.names - mine.terms:
                continue  # each names something that the other does not: two things, not two values of one
            values = _differing(mine.quantities, theirs.quantities)
            if values is not None:
                return Conflict(one, other, tuple(sorted(shared)), values)
    return None


def _differing(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> tuple[str, str] | None:
    """The first numbers of one unit that the two sides do not share; None if each number has its match."""
    for unit in dict.fromkeys(quantity.unit for quantity in mine):
        ours = [quantity for quantity in mine if quantity.unit == unit]
        their = [quantity for quantity in theirs if quantity.unit == unit]
        left = [one for one in ours if not any(one.values & other.values for other in their)]
        right = [one for one in their if not any(one.values & other.values for other in ours)]
        if len(left) == len(right) == 1:  # with more, nobody knows which stands against which
            return left[0].written, right[0].written
    return None


def _values(text: str, language: str | None) -> set[Decimal | str]:
    """The numbers of *text* without their units, and the years of its dates."""
    amounts = read_amounts(text, language)
    bare = [read_amounts(quantity.written, language).quantities for quantity in amounts.quantities]
    values: set[Decimal | str] = {value for quantities in bare for quantity in quantities for value in quantity.values}
    return values | {Decimal(year) for date in amounts.dates for year, _, _ in date.readings if year}


def _overlaps(citation: Citation, said: Said) -> bool:
    return (
        citation.text_digest == said.text_digest and citation.start < said.span.end and said.span.start < citation.end
    )
