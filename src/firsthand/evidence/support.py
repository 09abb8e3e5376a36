"""Judges, without a model, whether quotes bear a claim: the guards that always run.

A claim that says a quote's own sentences is borne by them. Any other must have its numbers with their units, its dates
and the words it puts in quote marks in one of its quotes: a miss is ``unsupported``. Negation that differs
contradicts. Hedging, names and thin overlap only lower it to ``partial``, because paraphrase makes them unreliable.
What the guards cannot judge, they say: across languages a claim that passes is ``not_checked``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from firsthand.evidence.quantities import Amounts, Date, Quantity, read_amounts
from firsthand.evidence.quotes import Folded, fold, locate
from firsthand.evidence.terms import index_terms, stop_terms
from firsthand.values import Support

ENOUGH_OVERLAP = 0.5  # share of a claim's content terms in its quotes; guess, to be calibrated on labelled claims
SOME_OVERLAP = 0.25  # guess
SAME_STATEMENT = 0.5  # overlap with one sentence from which its negation counts; guess


class Judgement(NamedTuple):
    """What the guards found. ``flags`` are ``code:detail``, in the order found; ``score`` is None if nothing tells."""

    support: Support
    score: float | None
    method: str  # "verbatim" or "guards"
    flags: tuple[str, ...]


def support(
    claim_text: str,
    quotes: Sequence[str],
    *,
    language: str | None = None,
    quote_language: str | None = None,
    context: Sequence[str] = (),
) -> Judgement:
    """Whether *quotes* bear *claim_text*, by rules alone.

    *context* holds words that need not be quoted to be named: page titles, the question, table headers. Languages are
    two letters; a quote without one is taken to be in the claim's.
    """
    claim = plain_claim(claim_text)
    if not quotes or not claim:
        return Judgement("unsupported", 0.0, "guards", ("no_quote",))
    if is_verbatim(claim, quotes):
        return Judgement("supported", 1.0, "verbatim", ())
    quote_language = quote_language or language
    same_language = quote_language == language
    hard = [
        *amount_flags(
            read_amounts(claim, language), [read_amounts(quote, quote_language) for quote in quotes], context
        ),
        *_quoted_flags(claim, quotes),
    ]
    sentences = [sentence for quote in quotes for sentence in _sentences(quote)]
    overlaps = [_overlap(claim, sentence, language) for sentence in sentences] if same_language else []
    against = _contradiction_flags(claim, sentences, overlaps, language) if same_language else []
    soft = [
        *_hedge_flags(claim, sentences, overlaps),
        *_name_flags(claim, [*quotes, *context], language, same_language),
    ]
    score = round(_overlap(claim, " \n".join([*quotes, *context]), language), 3) if same_language else None
    if score is not None and score < ENOUGH_OVERLAP:
        soft.append(f"low_overlap:{score}")
    flags = tuple(hard + against + soft)
    if hard:
        return Judgement("unsupported", 0.0, "guards", flags)
    if against:
        return Judgement("contradicted", 0.0, "guards", flags)
    if score is not None and score < SOME_OVERLAP:
        return Judgement("unsupported", score, "guards", flags)
    if soft:
        return Judgement("partial", score, "guards", flags)
    return Judgement("supported" if same_language else "not_checked", score, "guards", flags)


def plain_claim(text: str) -> str:
    """A claim without its citation marks, links and Markdown signs."""
    text = _LINK.sub(r"\1", _MARK.sub("", text))
    return re.sub(r"\\(?=[^\w\s])|\*\*|`", "", text).strip()


def is_verbatim(claim: str, quotes: Sequence[str]) -> bool:
    """Whether *claim* is one or more whole sentences of its quotes. Half a sentence may say the opposite of it."""
    if any(_OVERRIDE.search(text) for text in (claim, *quotes)):
        return False
    folded = [(quote, fold(quote)) for quote in quotes]
    if _stands_whole(claim, folded):
        return True
    sentences = _sentences(claim)
    return len(sentences) > 1 and all(_stands_whole(sentence, folded) for sentence in sentences)


def amount_flags(claim: Amounts, quotes: Sequence[Amounts], context: Sequence[str] = ()) -> list[str]:
    """One flag for each number, unit or date of the claim that none of its quotes holds."""
    have = [quantity for quote in quotes for quantity in quote.quantities]
    dates = [date for quote in quotes for date in quote.dates]
    named = frozenset[str]().union(*(quote.units for quote in quotes), *(read_amounts(text).units for text in context))
    flags = []
    for quantity in claim.quantities:
        fault = _fault(quantity, have, dates, named)
        if fault:
            flags.append(f"{fault}:{quantity.written}")
    flags += [f"date:{date.written}" for date in claim.dates if not _has_date(date, dates, have)]
    return flags


# -- Verbatim

_MARK = re.compile(r"\s*\[(?:[A-Za-z]{0,3}\d{1,4}|[\w-]{1,40}:[A-Za-z]?\d{1,4})\](?:\([^()\s]*\))?")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_OVERRIDE = re.compile("[\u202d\u202e]")
_END = r".!?。！？…"
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|[\n\t]+")
_TRIM = " \t\n\"'“”„‘’«»‹›" + ".!?。！？…;:,"


def _sentences(text: str) -> list[str]:
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece.strip(_TRIM)]


def _stands_whole(claim: str, quotes: Sequence[tuple[str, Folded]]) -> bool:
    needle = fold(claim).text.strip(_TRIM)
    if not needle:
        return False
    for quote, folded in quotes:
        at = folded.text.find(needle)
        while at >= 0:
            span = folded.span(at, at + len(needle))
            if _begins(quote[: span.start]) and _ends(quote[span.end :]):
                return True
            at = folded.text.find(needle, at + len(needle))
    return False


def _begins(before: str) -> bool:
    """Whether a sentence can begin after *before*: at its end stands a full stop, a line's end, or nothing."""
    bare = before.rstrip(" \"'“”„‘’«»‹›(")
    return not bare or bare[-1] in _END + "\n\t:"


def _ends(after: str) -> bool:
    """Whether a sentence has ended before *after*; "; that is false" is still the same one."""
    bare = after.lstrip(" \"'“”‘’«»‹›)")
    return not bare or bare[0] in _END + "\n\t"


# -- Numbers and dates


def _fault(quantity: Quantity, have: Sequence[Quantity], dates: Sequence[Date], named: frozenset[str]) -> str | None:
    """Why *quantity* is not borne: ``number`` if its value is nowhere, ``unit`` if only with another unit."""
    if quantity.is_word and quantity.unit is None and quantity.values == frozenset({1}):
        return None  # "one" is mostly a pronoun
    same_value = False
    for other in have:
        if quantity.unit == other.unit or quantity.unit is None:
            if quantity.values & other.values:
                return None
            if quantity.unit is None and _written_equal(quantity, other):
                return None  # a claim that leaves the unit out says less than its quote
        if other.unit is None and quantity.unit in named and _written_equal(quantity, other):
            return None  # "Share (%) … 25"
        same_value = same_value or _written_equal(quantity, other)
    if quantity.unit is None and any(_is_part(quantity, date) for date in dates):
        return None
    return "unit" if same_value else "number"


def _written_equal(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities have the same number before their units were applied."""
    bare = (read_amounts(one.written).quantities, read_amounts(other.written).quantities)
    return any(a.values & b.values for a in bare[0] for b in bare[1])


def _is_part(quantity: Quantity, date: Date) -> bool:
    return any(part is not None and part in quantity.values for reading in date.readings for part in reading[:1])


def _has_date(date: Date, dates: Sequence[Date], have: Sequence[Quantity]) -> bool:
    """Whether a quote gives *date* at least as exactly."""
    for other in dates:
        for wanted in date.readings:
            for given in other.readings:
                if all(want is None or want == give for want, give in zip(wanted, given, strict=True)):
                    return True
    return False


# -- Words

_NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "neither",
        "nor",
        "cannot",
        "without",
        "nobody",
        "nothing",
        "nowhere",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "keinem",
        "keiner",
        "keines",
        "nie",
        "niemals",
        "nichts",
        "ohne",
        "weder",
        "pas",
        "jamais",
        "aucun",
        "aucune",
        "sans",
        "nunca",
        "sin",
        "ningún",
        "ninguna",
        "ninguno",
        "non",
        "mai",
        "senza",
        "nessun",
        "nessuna",
        "não",
        "sem",
        "nenhum",
        "nenhuma",
        "niet",
        "geen",
        "nooit",
        "zonder",
        "inte",
        "ingen",
        "ikke",
        "ej",
        "не",
        "нет",
        "никогда",
        "без",
        "ни",
        "değil",
        "yok",
    ]
)
_NEGATION_LETTERS = re.compile("ません|ない(?!し)|なく|ずに|不|没|沒|無い|非ず")
_HEDGES = frozenset(
    [
        "may",
        "might",
        "could",
        "possibly",
        "perhaps",
        "probably",
        "likely",
        "allegedly",
        "reportedly",
        "supposedly",
        "seemingly",
        "suggests",
        "appears",
        "vielleicht",
        "möglicherweise",
        "vermutlich",
        "angeblich",
        "wahrscheinlich",
        "könnte",
        "dürfte",
        "peut-être",
        "probablement",
        "quizás",
        "probablemente",
        "forse",
        "probabilmente",
        "talvez",
        "provavelmente",
        "возможно",
        "вероятно",
    ]
)
_REFUTED = re.compile(
    r"\b(?:(?:is|was|are|were) (?:false|untrue|wrong|incorrect|a myth|not true|debunked)|"
    r"(?:ist|war|sind) (?:falsch|unwahr|nicht wahr|ein mythos)|est faux|es falso|è falso|é falso|это неправда)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_QUOTED = re.compile('“([^“”]{3,400})”|„([^„“”]{3,400})[“”]|«([^«»]{3,400})»|"([^"]{3,400})"')
_IDENTIFIER = re.compile(
    r"(?<!\w)(?=\w*[A-Za-z])(?:\w*[a-z][A-Z]\w*|[A-Z]{2,}\w*|\w*[A-Za-z_]-?\d\w*|[A-Za-z]+_\w+)(?!\w)"
)
_CAPITALISED = re.compile(r"(?<!\w)[A-ZÀ-ÞА-ЯΑ-Ω][^\W\d_]+(?:['’-][^\W\d_]+)*")


def _terms(text: str, language: str | None) -> set[str]:
    terms = {term for term in index_terms(text, language) if not term.isdigit()}
    return terms - stop_terms(language)


def _overlap(claim: str, text: str, language: str | None) -> float:
    """The share of the claim's content terms that *text* holds; 1 if it has none (a bare number)."""
    wanted = _terms(claim, language)
    numbers = {
        word for quantity in read_amounts(claim, language).quantities for word in _terms(quantity.written, language)
    }
    wanted -= numbers
    return len(wanted & _terms(text, language)) / len(wanted) if wanted else 1.0


def _quoted_flags(claim: str, quotes: Sequence[str]) -> list[str]:
    """Words that the claim itself puts in quote marks must be in a quote."""
    flags = []
    for match in _QUOTED.finditer(claim):
        words = next(group for group in match.groups() if group is not None).strip(_TRIM)
        if len(words.split()) > 1 and all(locate(words, quote)[1] == "missing" for quote in quotes):
            flags.append(f"quoted_words:{words[:60]}")
    return flags


def _contradiction_flags(
    claim: str, sentences: Sequence[str], overlaps: Sequence[float], language: str | None
) -> list[str]:
    """Negation or refutation that differs from the sentences that say most of what the claim says."""
    best = max(overlaps, default=0.0)
    if best < SAME_STATEMENT:
        return []
    nearest = [sentence for sentence, overlap in zip(sentences, overlaps, strict=True) if overlap == best]
    amounts = read_amounts(claim, language)
    # Of two that tell of the same thing, the one with the claim's own numbers is what the claim was taken from.
    nearest = [one for one in nearest if not amount_flags(amounts, [read_amounts(one, language)])] or nearest
    if all(_REFUTED.search(sentence) for sentence in nearest) and not _REFUTED.search(claim):
        return ["refuted"]
    odd = _n_negations(claim) % 2
    return ["negation"] if all(_n_negations(sentence) % 2 != odd for sentence in nearest) else []


def _n_negations(text: str) -> int:
    words: list[str] = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    return sum(word in _NEGATIONS or word.endswith("n't") for word in words) + len(_NEGATION_LETTERS.findall(text))


def _hedge_flags(claim: str, sentences: Sequence[str], overlaps: Sequence[float]) -> list[str]:
    """A hedge of the nearest sentence that the claim drops."""
    if not sentences or not overlaps:
        return []
    nearest = sentences[max(range(len(sentences)), key=lambda index: overlaps[index])]
    if _hedges(claim):
        return []
    return [f"hedge:{word}" for word in sorted(_hedges(nearest))[:1]]


def _hedges(text: str) -> set[str]:
    """The hedging words of *text*; "May" with a capital inside a sentence is a month."""
    return {word for word in _WORD.findall(text) if word in _HEDGES}


def _name_flags(claim: str, said: Sequence[str], language: str | None, same_language: bool) -> list[str]:
    """Names of the claim that are said nowhere. German writes every noun with a capital: only identifiers count."""
    known = fold("\n".join(said)).text.casefold()
    names = [match.group() for match in _IDENTIFIER.finditer(claim)]
    if same_language and language != "de":
        for sentence in _sentences(claim):
            names += [match.group() for match in _CAPITALISED.finditer(sentence) if match.start() > 0]
    flags = []
    months = {word.strip(",.") for date in read_amounts(claim, language).dates for word in date.written.split()}
    for name in dict.fromkeys(names):
        bare = re.sub(r"['’]s$", "", name)
        if fold(bare).text.casefold() not in known and bare not in months:
            flags.append(f"name:{bare}")
    return flags
