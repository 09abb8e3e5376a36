"""The words of a question as groups of index terms: what each is, what else may stand for it, how much it weighs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from firsthand.evidence.terms import index_terms, is_hiragana
from firsthand.ports import Site
from firsthand.research import lexicon

GroupKind = Literal["word", "identifier", "name", "number", "quoted", "pair", "implied", "phrase"]

MAX_SOFT = 14  # expansions of one group that are looked up, rarest first
# Weights of groups: recipe, section 3. The last two are for words that the index does not hold as they stand.
IDENTIFIER_WEIGHT = 1.25
SITE_WEIGHT = 0.35
IMPLIED_WEIGHT = 0.45
IMPLIED_IDF_MAX = 4.0
PHRASE_WEIGHT = 0.6
UNIT_WEIGHT = 0.4  # a unit beside a number: a page may write it otherwise (guess)
UNKNOWN_IDF_SHARE = 0.5  # a word that no passage holds tells passages apart only by its expansions
PART_QUALITY = 0.4  # a part of an identifier, for pages that write it as words
SPELLING_QUALITY = 0.75  # the nearest word of the index, for one that it does not hold

_GENERIC_NAMES = frozenset(
    index_terms(
        "doc docs documentation manual reference html index en guide page release version user the a of and book help com org net www "
        "io readthedocs latest stable main home wiki",
        "en",
    )
)
_UNITS = frozenset(
    (
        "b",
        "kb",
        "mb",
        "gb",
        "tb",
        "kib",
        "mib",
        "gib",
        "tib",
        "byte",
        "bytes",
        "bit",
        "bits",
        "ms",
        "s",
        "sec",
        "min",
        "hz",
        "khz",
        "mhz",
        "ghz",
        "px",
        "kbit",
        "mbit",
    )
)
_WORD = re.compile(r"[^\s,;!?¿¡()\[\]{}<>\"“”„«»。、，；！？（）「」『』【】《》：…]+")
_EDGES = ".:'’`*‘"
_QUOTED = re.compile(r"[\"“„«「『]([^\"“”„«»「」『』]{2,80})[\"”“»」』]|(?<!\w)['‘`]([^'’`‘]{2,80})['’`](?!\w)")
_HUMP = re.compile(r"[a-z][A-Z][a-z]")  # ThreadPool
_BRAND = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")  # macOS, PostgreSQL
_IDENTIFIER = re.compile(r"[_@$/\\=]|::|^-|\w\.\w|^\.\w|[A-Za-z]\d|\d[A-Za-z]{2}")
_HYPHENATED = re.compile(r"[^\W_]+(?:[-‐‑][^\W_]+)+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|[¿¡\"“(])$")
_UNSPACED_RUN = "[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]"  # compiled when first needed: 3 ms


@dataclass(frozen=True, slots=True)
class Group:
    """One word of the question with everything that meets it: spellings as asked, and expansions with their quality."""

    word: str
    kind: GroupKind
    terms: tuple[str, ...]  # index terms that are the word itself
    soft: Mapping[str, float] = field(default_factory=dict)  # expansions, 0 to 1
    weight: float = 1.0
    is_name: bool = False  # must be met: a thing that nothing else can stand for
    is_site: bool = False  # merely names the site
    position: int = 0  # place in the question, for proximity
    idf: float = 0.0


@dataclass(frozen=True, slots=True)
class _Token:
    word: str
    start: int
    is_quoted: bool = False
    joined: str = ""  # the word with hyphens that it is a part of


def idf(n_passages: int, n_with: int) -> float:
    """Inverse document frequency as BM25 has it, never below 0.1."""
    return max(0.1, math.log(1 + (n_passages - n_with + 0.5) / (n_with + 0.5)))


# -- Words


def _tokens(question: str) -> list[_Token]:
    quoted = [match.span(match.lastindex or 0) for match in _QUOTED.finditer(question)]
    tokens = []
    for match in _WORD.finditer(question):
        word = match[0]
        lead = len(word) - len(word.lstrip(_EDGES.replace(".", ""))) if not re.match(r"\.\w", word) else 0
        stripped = word[lead:].rstrip(_EDGES)
        if stripped:
            start = match.start() + lead
            inside = any(left <= start < right for left, right in quoted)
            tokens += _parts_of(_Token(stripped, start, inside))
    return tokens


def _parts_of(token: _Token) -> list[_Token]:
    """A word with hyphens as its parts; the joined form is known to each of them."""
    if not _HYPHENATED.fullmatch(token.word):
        return [token]
    parts = re.split("[-‐‑]", token.word)
    at = token.start
    made = []
    for part in parts:
        made.append(_Token(part, at, token.is_quoted, token.word))
        at += len(part) + 1
    return made


def _kind_of(token: _Token, question: str, language: str) -> tuple[GroupKind, bool]:
    """What kind of word it is, and whether it is a name that must be met."""
    word = token.word
    letters = [char for char in word if char.isalpha()]
    if not letters:
        return "number", len(word) > 1 and ("." in word or len(word) >= 4)
    if _IDENTIFIER.search(word) or _HUMP.search(word):
        return "identifier", True
    if not word.isascii():  # a page may write a name in another script, or with other endings
        return ("quoted", True) if token.is_quoted else ("word", False)
    if (_BRAND.search(word) and len(letters) > 2) or (word.isupper() and len(letters) >= 2 and not question.isupper()):
        return "name", True
    if word[0].isupper() and not _SENTENCE_START.search(question[: token.start]) and language != "de":
        return "name", True
    return ("quoted", True) if token.is_quoted else ("word", False)


def groups_of(question: str, language: str, sites: Sequence[Site]) -> list[Group]:
    """The question's words as groups, unweighed, with expansions, in order."""
    spaced = lexicon.without_question_phrases(question) if language in lexicon.UNSPACED else question
    names = {name for site in sites for name in names_of(site)}
    said = set(index_terms(spaced, language))
    targets = _target_languages(language, [site for site in sites if said.intersection(names_of(site))] or sites)
    groups: list[Group] = []
    covered = _strings(spaced, language, targets)
    for token in _tokens(spaced):
        if not token.word.isascii() and re.search(_UNSPACED_RUN, token.word):
            groups += _pair_groups(token.word, language, len(groups), covered)
        elif not lexicon.is_stop(token.word, language) or token.is_quoted:
            groups += _word_groups(token, spaced, language, targets, len(groups))
    groups = _without_repetition(groups)
    groups = [replace(group, is_site=any(term in names for term in group.terms)) for group in groups]
    implied = _implied_groups(question, language, groups)
    groups, implied = _with_phrases(groups, implied)
    return [*groups, *implied]


def _with_phrases(groups: list[Group], implied: list[Group]) -> tuple[list[Group], list[Group]]:
    """A word that a phrase consists of ("how big") takes over what the phrase stands for."""
    left = []
    for phrase in implied:
        stems = phrase.word.split() if phrase.kind == "phrase" else []
        owner = next((g for g in groups if g.terms and g.terms[0] in stems), None)
        if owner is None:
            left.append(phrase)
        else:
            soft = {**owner.soft, **dict.fromkeys(phrase.soft, lexicon.GLOSSARY_QUALITY)}
            groups = [replace(g, soft=soft) if g is owner else g for g in groups]
    return groups, left


def _target_languages(language: str, sites: Sequence[Site]) -> tuple[str, ...]:
    """The languages to translate into: those of sites that have nothing in the question's own."""
    wanted: dict[str, None] = {}
    for site in sites:
        if language not in site.languages:
            found = ("en",) if "en" in site.languages else site.languages
            wanted.update(dict.fromkeys(each for each in found if each in lexicon.LANGUAGES))
    if language != "en":
        wanted["en"] = None  # identifiers and untranslated paragraphs stand on pages of every language
    wanted.pop(language, None)
    return tuple(wanted)


def _word_groups(token: _Token, question: str, language: str, targets: Sequence[str], at: int) -> list[Group]:
    kind, is_name = _kind_of(token, question, language)
    word = token.word
    made = index_terms(word, language)
    if not made:
        return []
    terms = [made[0], *(index_terms(word, each)[0] for each in targets if index_terms(word, each))]
    terms += index_terms(token.joined, language)[:1] if token.joined else []
    group = _group(word, kind, tuple(dict.fromkeys(terms)), word, language, targets, at)
    if kind == "identifier":
        parts = [part for part in made[1:] if len(part) > 2]
        soft = dict.fromkeys(parts, PART_QUALITY) if len(parts) > 1 else {}
        return [replace(group, soft={**soft, **group.soft}, is_name=is_name)]
    return [replace(group, is_name=is_name)]


def _group(
    word: str, kind: GroupKind, terms: tuple[str, ...], asked: str, language: str, targets: Sequence[str], at: int
) -> Group:
    soft: dict[str, float] = {}
    if kind in ("word", "quoted", "name"):
        rows = lexicon.rows_of_word(asked, language)
        for spelling in lexicon.terms_of_rows(rows, targets):
            soft.update(dict.fromkeys(spelling[:3], lexicon.GLOSSARY_QUALITY))
    if language == "en" and kind == "word":
        for term in lexicon.paraphrases_of(terms[0]):
            soft.setdefault(term, lexicon.PARAPHRASE_QUALITY)
    return Group(word, kind, terms, {term: q for term, q in soft.items() if term not in terms}, position=at)


def _strings(question: str, language: str, targets: Sequence[str]) -> dict[str, dict[str, float]]:
    """For each pair of characters of a glossary string in the question, the translations of that string."""
    covered: dict[str, dict[str, float]] = {}
    for string, rows in lexicon.strings_in(question, language):
        terms = {term for spelling in lexicon.terms_of_rows(rows, targets) for term in spelling[:3]}
        for pair in index_terms(string, language):
            covered.setdefault(pair, {}).update(dict.fromkeys(terms, lexicon.GLOSSARY_QUALITY))
    return covered


def _pair_groups(run: str, language: str, at: int, covered: Mapping[str, Mapping[str, float]]) -> list[Group]:
    """A run of a script without spaces: each pair of characters is a group; Latin words in it are groups of their own."""
    groups: list[Group] = []
    for term in index_terms(run, language):
        if is_hiragana(term):
            continue
        is_pair = re.search(_UNSPACED_RUN, term) is not None
        kind: GroupKind = "pair" if is_pair else "name" if not term.isdigit() else "number"
        groups.append(
            Group(term, kind, (term,), dict(covered.get(term, {})), position=at + len(groups), is_name=kind == "name")
        )
    return groups


def _without_repetition(groups: Iterable[Group]) -> list[Group]:
    seen: dict[str, Group] = {}
    for group in groups:
        seen.setdefault(group.terms[0], group)
    return [replace(group, position=at) for at, group in enumerate(seen.values())]


def _implied_groups(question: str, language: str, groups: Sequence[Group]) -> list[Group]:
    """Groups for what is implied and for phrases whose words are all too common to say it."""
    held = {term for group in groups for term in group.terms}
    made: list[Group] = []
    for phrase, others in lexicon.phrases_in(question.lower()) if language == "en" else ():
        soft = {term: 1.0 for term in others if term not in held}
        if soft:
            made.append(Group(phrase, "phrase", (), soft, position=-1))
            held |= set(soft)
    words = lexicon.implied_words(question)
    terms = list(
        dict.fromkeys(term for word in words for term in index_terms(word, "en" if word.isascii() else language)[:1])
    )
    terms = [term for term in terms if term not in held]
    if terms:
        made.append(Group(" ".join(words), "implied", (), dict.fromkeys(terms, 1.0), position=-1))
    return made


# -- Weights


def halves(group: Group, language: str) -> list[tuple[str, str]]:
    """The ways to cut a compound in two words, as terms."""
    word = group.word.lower()
    if language not in lexicon.COMPOUNDING or group.kind != "word" or len(word) < 9 or not word.isalpha():
        return []
    cuts = []
    for at in range(4, len(word) - 3):
        for joint in ("", "s", "n"):
            head = word[:at].removesuffix(joint) if joint and word[:at].endswith(joint) else word[:at]
            left, right = index_terms(head, language)[:1], index_terms(word[at:], language)[:1]
            if len(head) >= 4 and left and right:
                cuts.append((left[0], right[0]))
    return list(dict.fromkeys(cuts))


def compound_groups(groups: Sequence[Group], counts: Mapping[str, int], language: str) -> list[Group]:
    """For a compound that no passage holds: its two halves, where passages hold both; the rarer split wins."""
    made = []
    for group in groups:
        if any(counts.get(term) for term in group.terms):
            continue
        known = [halves for halves in halves(group, language) if all(counts.get(half, 0) > 1 for half in halves)]
        if known:
            best = max(known, key=lambda halves: min(counts[half] for half in halves))
            made += [Group(half, "word", (half,), position=group.position) for half in best]
    return made


def with_spellings(
    groups: Sequence[Group], counts: Mapping[str, int], similar: Mapping[str, Sequence[str]]
) -> list[Group]:
    """Words that no passage holds get the nearest terms of the index as expansions."""
    made = []
    for group in groups:
        near = similar.get(group.terms[0], ()) if group.terms else ()
        if near and not any(counts.get(term) for term in group.terms):
            group = replace(group, soft={**group.soft, **dict.fromkeys(near[:3], SPELLING_QUALITY)})
        made.append(group)
    return made


def weighed(group: Group, n_passages: int, counts: Mapping[str, int]) -> Group:
    known = [counts[term] for term in group.terms if counts.get(term)]
    soft = {term: quality for term, quality in group.soft.items() if counts.get(term, 0) > 0}
    soft = dict(sorted(soft.items(), key=lambda item: (-item[1], counts.get(item[0], 0)))[:MAX_SOFT])
    if known:
        rarest = idf(n_passages, min(known))
    elif soft:
        rarest = idf(n_passages, max(1, sorted(counts[term] for term in soft)[len(soft) // 2]))
        rarest = rarest if group.kind in ("implied", "phrase") else max(rarest, idf(n_passages, 0) * UNKNOWN_IDF_SHARE)
    else:
        rarest = idf(n_passages, 0) * (1.0 if group.is_name else UNKNOWN_IDF_SHARE)
    weight = rarest
    if group.kind == "implied":
        weight = min(rarest, IMPLIED_IDF_MAX) * IMPLIED_WEIGHT
    elif group.kind == "phrase":
        weight = rarest * PHRASE_WEIGHT
    elif group.is_site:
        weight *= SITE_WEIGHT
    elif group.word.lower() in _UNITS:
        weight *= UNIT_WEIGHT
    elif group.kind == "identifier":
        weight *= IDENTIFIER_WEIGHT
    return replace(group, soft=soft, weight=round(weight, 4), idf=round(rarest, 4))


def names_of(site: Site) -> tuple[str, ...]:
    return tuple(name for name in site.names if name not in _GENERIC_NAMES and not name.isdigit() and len(name) > 1)
