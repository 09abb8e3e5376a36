"""Word lists as data, read when first needed: stop words, a glossary in eleven languages, paraphrases, cues.

The lists hold general words of documentation. They are extended from documentation at large, never from the questions
an evaluation misses: a list that has seen its test proves nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files

from firsthand.evidence.terms import index_terms, is_stop_word

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "ru", "ja", "zh", "ko", "tr")
GLOSSARY_QUALITY = 0.8  # a translation meets a word nearly as well as the word itself (recipe: 0.8)
PARAPHRASE_QUALITY = 0.55  # a word of like meaning, half as well (recipe: 0.55)
UNSPACED = ("ja", "zh", "ko")  # their words are found inside a question, not between spaces
SUFFIXING = ("tr", "ru")  # endings pile up beyond what a stemmer takes off, so a beginning is enough ...
SUFFIXED_MIN_CHARS = 5  # ... if it is this long
COMPOUNDING = ("de", "nl", "sv", "da", "fi")

CUE_NAMES = ("number", "date", "default", "howto", "list", "compare", "yesno", "why", "where")


def _lines(name: str) -> list[str]:
    text = files("firsthand.research").joinpath("words", name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@lru_cache(maxsize=1)
def _stop_words() -> Mapping[str, frozenset[str]]:
    return {line[:2]: frozenset(line[3:].split()) for line in _lines("stop.txt")}


def is_stop(word: str, language: str) -> bool:
    """Whether *word* carries no subject in a question; an upper-case word of three letters or more always does."""
    if len(word) >= 3 and word.isupper():
        return False
    lowered = word.lower().replace("’", "'")
    return lowered in _stop_words().get(language, frozenset()) or is_stop_word(word, language)


@lru_cache(maxsize=16)
def _vague_terms(language: str) -> frozenset[str]:
    lines = {line[:2]: line[3:].split() for line in _lines("vague.txt")}
    return frozenset(term for word in lines.get(language, ()) for term in index_terms(word, language)[:1])


def is_vague(term: str, language: str) -> bool:
    """Whether an index term of *language* speaks about a subject without naming one."""
    return term in _vague_terms(language)


# -- Glossary


@lru_cache(maxsize=1)
def _glossary() -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Rows of columns of spellings, in the order of LANGUAGES."""
    rows = []
    for line in _lines("glossary.txt"):
        columns = tuple(tuple(part.strip() for part in column.split(",")) for column in line.split("|"))
        rows.append(columns)
    return tuple(rows)


@lru_cache(maxsize=16)
def _spellings(language: str) -> tuple[Mapping[str, tuple[int, ...]], tuple[tuple[str, int], ...]]:
    """The rows by term, and the beginnings (or, in scripts without spaces, the strings) with their row."""
    if language not in LANGUAGES:
        return {}, ()
    at = LANGUAGES.index(language)
    by_term: dict[str, tuple[int, ...]] = {}
    strings: list[tuple[str, int]] = []
    for number, row in enumerate(_glossary()):
        for spelling in row[at]:
            if language in UNSPACED or spelling.endswith("~"):
                strings.append((spelling.rstrip("~"), number))
            elif " " not in spelling:
                if language in SUFFIXING and len(spelling) >= SUFFIXED_MIN_CHARS:
                    strings.append((spelling, number))
                for term in index_terms(spelling, language)[:1]:
                    by_term[term] = (*by_term.get(term, ()), number)
    strings.sort(key=lambda item: -len(item[0]))
    return by_term, tuple(strings)


def rows_of_word(word: str, language: str) -> tuple[int, ...]:
    """The glossary rows that *word* of *language* belongs to; a compound belongs to those of its parts."""
    if language in UNSPACED:
        return ()
    by_term, beginnings = _spellings(language)
    lowered = word.lower()
    for term in index_terms(word, language)[:1]:
        if term in by_term:
            return by_term[term]
    found = [number for beginning, number in beginnings if lowered.startswith(beginning)]
    if found or language not in COMPOUNDING or len(lowered) < 9:
        return tuple(dict.fromkeys(found))
    return _rows_of_parts(lowered, language)


def _rows_of_parts(word: str, language: str) -> tuple[int, ...]:
    """The rows of a compound's two halves, where both are in the glossary, with or without a joining letter."""
    by_term, _ = _spellings(language)
    for cut in range(4, len(word) - 3):
        tail = index_terms(word[cut:], language)[:1]
        if not tail or tail[0] not in by_term:
            continue
        for joint in ("", "s", "es", "n", "en"):
            head = word[:cut].removesuffix(joint) if joint else word[:cut]
            term = index_terms(head, language)[:1]
            if len(head) >= 3 and term and term[0] in by_term:
                return (*by_term[term[0]], *by_term[tail[0]])
    return ()


def strings_in(question: str, language: str) -> list[tuple[str, tuple[int, ...]]]:
    """The glossary strings that stand in a question of a script without spaces, longest first, each place once."""
    if language not in UNSPACED:
        return []
    _, strings = _spellings(language)
    left = question
    found: dict[str, tuple[int, ...]] = {}
    for string, number in strings:
        if string in found:
            found[string] = (*found[string], number)
        elif string and string in left:
            found[string] = (number,)
            left = left.replace(string, " ")
    return list(found.items())


def terms_of_rows(rows: Iterable[int], languages: Iterable[str]) -> list[tuple[str, ...]]:
    """The index terms of the spellings in *languages*; a spelling of several terms stays together."""
    made: dict[tuple[str, ...], None] = {}
    for number in rows:
        for language in languages:
            if language in LANGUAGES:
                for spelling in _glossary()[number][LANGUAGES.index(language)]:
                    if not spelling.endswith("~"):
                        made[tuple(index_terms(spelling, language))] = None
    return [terms for terms in made if terms]


# -- Paraphrases


@lru_cache(maxsize=1)
def _paraphrases() -> tuple[Mapping[str, tuple[str, ...]], tuple[tuple[str, tuple[str, ...]], ...]]:
    """Words of like meaning by term, and by phrase of several words: as they stand in the list, stemmed when needed.

    Stemming all of them took a quarter of a second, half of what an answer may cost.
    """
    by_term: dict[str, dict[str, None]] = {}
    phrases: dict[str, dict[str, None]] = {}
    for line in _lines("paraphrases.txt"):
        left, colon, right = line.partition(":")
        words = [word.strip() for word in (right if colon else left).split(",")]
        others = dict.fromkeys(word for word in words if " " not in word)
        asked = [word.strip() for word in left.split(",")] if colon else words[:1]
        for word in asked:
            if " " in word:
                phrases.setdefault(_stems(word), {}).update(others)
            else:
                for term in index_terms(word, "en")[:1]:
                    by_term.setdefault(term, {}).update(others)
    longest_first = sorted(phrases, key=lambda phrase: -len(phrase))
    return {term: tuple(others) for term, others in by_term.items()}, tuple(
        (phrase, tuple(phrases[phrase])) for phrase in longest_first
    )


def paraphrases_of(term: str) -> tuple[str, ...]:
    """English terms that documentation uses for *term*."""
    return tuple(other for other in _first_terms(_paraphrases()[0].get(term, ())) if other != term)


def phrases_in(question: str) -> list[tuple[str, tuple[str, ...]]]:
    """The phrases of several words in an English question, by their stems, with the terms they stand for."""
    padded = f" {_stems(question)} "
    found = []
    for phrase, words in _paraphrases()[1]:
        if f" {phrase} " in padded:
            found.append((phrase, _first_terms(words)))
            padded = padded.replace(f" {phrase} ", "  ")
    return found


def _first_terms(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for word in words for term in index_terms(word, "en")[:1]))


@lru_cache(maxsize=4_096)
def _stem_of(word: str) -> str:
    return (index_terms(word, "en") or [word])[0]


def _stems(words: str) -> str:
    """*words* stem by stem, so that "falls back" is "fall back" and "don't" is the same in list and question."""
    plain = re.findall(r"[a-z0-9]+", words.lower().replace("’", "").replace("'", ""))
    return " ".join(_stem_of(word) for word in plain)


# -- Cues


@lru_cache(maxsize=1)
def _cues() -> Mapping[str, re.Pattern[str]]:
    text = files("firsthand.research").joinpath("words", "cues.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    patterns = {name: re.compile("|".join(table[name])) for name in (*CUE_NAMES, "pronoun")}
    cut = sorted(table["cut"], key=len, reverse=True)
    return {**patterns, "cut": re.compile("|".join(map(re.escape, cut)))}


def kinds_of(question: str) -> frozenset[str]:
    """What a question asks for: a number, a date, a default, a list … by its words."""
    lowered = question.lower()
    return frozenset(name for name in CUE_NAMES if _cues()[name].search(lowered))


def has_pronoun(question: str) -> bool:
    """Whether the question points at something it does not name."""
    return _cues()["pronoun"].search(question.lower()) is not None


def without_question_phrases(question: str) -> str:
    """A question in Chinese or Japanese without the phrases that make it a question."""
    return _cues()["cut"].sub(" ", question)


@lru_cache(maxsize=1)
def _implied() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    rows = (line.split("\t") for line in _lines("implied.txt"))
    return tuple((re.compile(pattern), tuple(words.split())) for pattern, words in rows)


def implied_words(question: str) -> list[str]:
    """Words that the question implies without saying them: how big → size, maximum, limit."""
    lowered = question.lower()
    return list(dict.fromkeys(word for pattern, words in _implied() if pattern.search(lowered) for word in words))


# -- Messages


@lru_cache(maxsize=1)
def _messages() -> Mapping[str, Mapping[str, str]]:
    text = files("firsthand.research").joinpath("words", "messages.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def say(key: str, language: str, **facts: object) -> str:
    """A fixed sentence in *language*, English if it is not one of ours, with *facts* filled in."""
    sentences = _messages()[key]
    return sentences.get(language, sentences["en"]).format(**facts)
