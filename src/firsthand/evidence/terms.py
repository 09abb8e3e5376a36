"""Index terms: what a text says, in the spelling that both databases and every process agree on.

A term is letters and digits only, case-folded, without accents, at most 64 characters, so any tokenizer that splits
at white space keeps it whole. Words are stemmed in the language of their page. Identifiers give their joined form and
their parts. Scripts without spaces give pairs of characters, so that a word of two characters can be found.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import Stemmer

from firsthand.evidence.languages import NOT_LATIN, STEMMERS, STOP_WORDS, guess_language

PAGE_MIN_CHARS = 1_000  # longer is a page: indexes and keyword lists without declaration are mostly English
TERM_MAX_CHARS = 64  # longer is no word: encoded data, hashes; the beginning tells them apart
CACHE_MAX_WORDS = 40_000  # per language; about 8 MB when full

# Scripts that are written without spaces (or, Korean, with endings glued on): runs become pairs of characters.
_HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HIRAGANA = "\u3041-\u309f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
_SOUTH_EAST_ASIAN = ("\u0e01-\u0e3a\u0e40-\u0e4e", "\u0e81-\u0ecd\u0edc-\u0edf", "\u1000-\u109f", "\u1780-\u17d3")
# Patterns over large scripts take up to 20 ms to compile. Those that a text in Latin letters does not need are strings
# here and below, for the functions of ``re``, which compile them when they are first used and keep them.
_RUN = "|".join(f"[{script}]+" for script in (_HAN, _KATAKANA, _HIRAGANA, _HANGUL, *_SOUTH_EAST_ASIAN))
_HIRAGANA_ONLY = f"[{_HIRAGANA}]+"
# Marks that Python's \w leaves out although words are written with them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0970-\u0dff\u0e01-\u0e4e\u0e81-\u0ecd"
    "\u1000-\u109f\u1780-\u17d3\u200c\u200d"
)
# One pass, no nesting: each alternative starts with a different class of characters, so matching is linear.
_CHUNK = re.compile(rf"[\w{_MARKS}]+(?:(?:[-.'’‑]|::|(?<=\d),(?=\d\d\d(?!\d)))[\w{_MARKS}]+)*(?:\+\+|\#(?![\w#]))?")
_SPLIT = re.compile(r"[-._‑]|::")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{3})(?=[A-Z][a-z]{2})")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d\d\d(?!\d))")
_NOT_TERM = re.compile(rf"[^\w{_MARKS}]+|_+")
_POSSESSIVE = re.compile(r"['’][sS]$")
_LATIN_WORD = re.compile(r"[a-z\u00c0-\u024f]+")
_FOLDABLE = "[\u00c0-\u024f\u0370-\u03ff\u0451\u1e00-\u1fff]"
_ACCENTS = re.compile("[\u0300-\u036f]")
_HARAKAT = re.compile("[\u064b-\u0652\u0670\u0640\u200c\u200d]")
# What French, Italian and Catalan put before an apostrophe; the word proper stands after it.
_ELIDED = frozenset(
    [
        "l",
        "d",
        "j",
        "m",
        "n",
        "s",
        "t",
        "c",
        "qu",
        "jusqu",
        "lorsqu",
        "puisqu",
        "quelqu",
        "un",
        "all",
        "dall",
        "dell",
        "nell",
        "sull",
        "quest",
        "quell",
    ]
)
_NAMED_SIGNS = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", "g++": "gplusplus"}
_FIXED_FOLDS = str.maketrans({"ı": "i", "ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ё": "е"})

Groups = tuple[tuple[str, ...], ...]


_stemmers: dict[str, Stemmer.Stemmer] = {}
_cache: dict[str, dict[str, tuple[str, ...]]] = {}


def language_of(body: str, declared: str | None) -> str | None:
    """The language of a page, two letters: declared if that is not English, else guessed, else as declared.

    English is what templates declare on pages in any language, so that alone is not believed.
    """
    code = (declared or "").strip().lower().replace("_", "-").partition("-")[0]
    code = code if re.fullmatch(r"[a-z]{2}", code) else ""
    if code and code != "en":
        return code
    expected = code or ("en" if len(body) > PAGE_MIN_CHARS else None)  # a question has no such likelihood
    return guess_language(body, expected) or code or None


def index_terms(text: str, language: str | None) -> list[str]:
    """The terms of *text* in reading order, with repetitions.

    Shape: see the module; ``foreign_keys`` gives foreignkeys, foreign, key; ``1,600`` gives 1600; 量子力学 gives
    量子, 子力, 力学. The same in every process and on every database.
    Cost: linear; a word seen before costs one look into a table.
    """
    known = _cache.setdefault(language or "", {})
    terms: list[str] = []
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    for chunk in _CHUNK.findall(text):
        made = known.get(chunk)
        if made is None:
            made = _terms_of(chunk, language)
            if len(known) >= CACHE_MAX_WORDS:
                known.clear()
            if len(chunk) <= TERM_MAX_CHARS:
                known[chunk] = made
        terms += made
    return terms


def query_groups(question: str, language: str | None, also: tuple[str, ...] = ("en",)) -> Groups:
    """*question* as groups of alternatives: one group for each word that carries a subject.

    Each group holds the word's terms in *language* and in the languages *also*, for pages in other languages. An
    identifier is one group, its joined form; each pair of characters of a script without spaces is one group. Stop
    words and hiragana are left out unless nothing else is there.
    """
    languages: tuple[str | None, ...] = tuple(dict.fromkeys((language, *also)))
    groups: dict[tuple[str, ...], None] = {}
    weak: dict[tuple[str, ...], None] = {}
    for chunk in _CHUNK.findall(unicodedata.normalize("NFKC", question)):
        spellings = [_terms_of(chunk, each) for each in languages]
        if not spellings[0]:
            continue
        into = weak if is_stop_word(chunk, language) else groups
        if not chunk.isascii() and re.search(_RUN, chunk):
            for term in spellings[0]:
                (weak if is_hiragana(term) else into)[(term,)] = None
        else:
            into[tuple(dict.fromkeys(terms[0] for terms in spellings if terms))] = None
    return tuple(groups or weak)


def is_stop_word(word: str, language: str | None) -> bool:
    """Whether *word*, as written, carries no subject; an upper-case word of three letters or more always does."""
    if len(word) >= 3 and word.isupper():
        return False
    stop = STOP_WORDS.get(language or "en")
    return stop is not None and word.lower().replace("’", "'") in stop


def is_hiragana(term: str) -> bool:
    """Whether *term* is hiragana only: found by recall, of no use for ranking (recipe: endings and particles)."""
    return not term.isascii() and re.fullmatch(_HIRAGANA_ONLY, term) is not None


def is_term(term: str) -> bool:
    """Whether *term* can be an index term at all; anything else is never handed to a database's query language."""
    return 0 < len(term) <= TERM_MAX_CHARS and _NOT_TERM.search(term) is None


def fold(word: str) -> str:
    """*word* case-folded and without accents (Latin and Greek scripts, Arabic vowel marks, ё)."""
    folded = word.replace("İ", "i").casefold()
    if folded.isascii():
        return folded
    folded = _HARAKAT.sub("", folded).translate(_FIXED_FOLDS)
    if re.search(_FOLDABLE, folded):
        folded = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFKC", folded)


def _terms_of(chunk: str, language: str | None) -> tuple[str, ...]:
    """The terms of one chunk: a word, an identifier, a number, or text in a script without spaces."""
    if (
        chunk.isascii() and chunk.isalpha() and chunk.islower() and language != "tr"
    ):  # most words; what follows, in short
        word = _stem(chunk, "en" if language in NOT_LATIN else language) if 2 < len(chunk) <= TERM_MAX_CHARS else chunk
        return (word[:TERM_MAX_CHARS],)
    if chunk[-1] in "+#":
        named = _NAMED_SIGNS.get(chunk.lower())
        if named:
            return (named,)
        chunk = chunk.rstrip("+#")
    if not chunk.isascii() and re.search(_RUN, chunk):
        return _terms_of_runs(chunk, language)
    chunk = _THOUSANDS.sub("", _POSSESSIVE.sub("", chunk))
    if "'" in chunk or "’" in chunk:
        before, _, after = chunk.replace("’", "'").partition("'")
        if before.lower() in _ELIDED:
            return _terms_of(after, language) if after else ()
        chunk = before if language == "tr" else before + after.replace("'", "")
    parts = [part for piece in _SPLIT.split(chunk) for part in _CAMEL.split(piece) if part]
    if len(parts) > 1:
        joined = fold("".join(parts))[:TERM_MAX_CHARS]
        inner = [_word(part, language) for part in parts if len(part) > 1 or part.isdigit()]
        return tuple(term for term in (joined, *inner) if term)
    word = _word(parts[0], language) if parts else ""
    return (word,) if word else ()


def _terms_of_runs(chunk: str, language: str | None) -> tuple[str, ...]:
    terms: list[str] = []
    at = 0
    for run in re.finditer(_RUN, chunk):
        between = chunk[at : run.start()].strip("-.'’_")
        if between:
            terms += _terms_of(between, language)
        chars = run[0]
        terms += [chars] if len(chars) == 1 else [chars[i : i + 2] for i in range(len(chars) - 1)]
        at = run.end()
    rest = chunk[at:].strip("-.'’_")
    if rest:
        terms += _terms_of(rest, language)
    return tuple(terms)


def _word(word: str, language: str | None) -> str:
    if language == "tr":
        word = word.replace("I", "ı") if not word.isupper() else word
    lowered = word.replace("İ", "i").casefold() if not word.isascii() else word.lower()
    if language in NOT_LATIN and _LATIN_WORD.fullmatch(lowered):
        language = "en"
    if 2 < len(lowered) <= TERM_MAX_CHARS and not any(char.isdigit() for char in lowered):
        lowered = _stem(lowered, language)
    return _NOT_TERM.sub("", fold(lowered))[:TERM_MAX_CHARS]


def _stem(word: str, language: str | None) -> str:
    algorithm = STEMMERS.get(language or "en")
    if algorithm is None:
        return word
    stemmer = _stemmers.get(algorithm)
    if stemmer is None:
        stemmer = _stemmers[algorithm] = Stemmer.Stemmer(algorithm, 0)  # no cache of its own
    return stemmer.stemWord(word) or word  # keeps state while it stems, and the interpreter's lock with it


@lru_cache(maxsize=64)
def stop_terms(language: str | None) -> frozenset[str]:
    """The terms of the language's stop words, for telling them from subjects in a list of terms."""
    words = STOP_WORDS.get(language or "en", frozenset())
    return frozenset(term for word in words for term in index_terms(word, language))
