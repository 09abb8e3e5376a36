"""What a question asks: its words as weighted groups, its parts, its names, the site it speaks of, or that it is unclear.

Two steps, because weights need the index. ``needed_terms`` says which terms to count; ``make_plan`` takes the counts.
``lookups`` turns the plan into looks into the index. Nothing here opens a page or a database.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from firsthand.evidence.languages import guess_language
from firsthand.evidence.terms import index_terms, is_hiragana
from firsthand.ports import Lookup, Site
from firsthand.research import lexicon

GroupKind = Literal["word", "identifier", "name", "number", "quoted", "pair", "implied", "phrase"]

QUESTION_MAX_CHARS = 2_000  # what is read of a question; the rest repeats itself (guess)
MAX_GROUPS = 40
MAX_SOFT = 14  # expansions of one group that are looked up, rarest first
# Weights of groups: recipe, section 3. The last two are for words that the index does not hold as they stand.
IDENTIFIER_WEIGHT = 1.25
SITE_WEIGHT = 0.35
IMPLIED_WEIGHT = 0.45
IMPLIED_IDF_MAX = 4.0
PHRASE_WEIGHT = 0.6
UNIT_WEIGHT = 0.4  # a unit beside a number: a page may write it otherwise (guess)
COMPOUND_PART_WEIGHT = 0.6
UNKNOWN_IDF_SHARE = 0.5  # a word that no passage holds tells passages apart only by its expansions
PART_QUALITY = 0.4  # a part of an identifier, for pages that write it as words
SPELLED_MIN_CHARS = 5  # shorter words have too many neighbours
SPELLING_QUALITY = 0.75  # the nearest word of the index, for one that it does not hold
# FTS5 scores every match of a look-up. Terms are taken rarest first until their matches are this share of all passages;
# the words that are left out still count in ranking.
BUDGET_SHARE = 0.12
BUDGET_SHARE_OF_SITE = 0.25  # only a site's own matches are scored
BUDGET_SHARE_OF_PAGES = 0.4  # a page look-up scores a thousand times fewer rows
BUDGET_SHARE_ELSEWHERE = 0.04
BUDGET_MIN = 2_000
# Asking back: recipe, section 6.
CLEAR_RARITY = 0.04
UNCLEAR_MAX_WORDS = 3
UNCLEAR_MAX_WORDS_BESIDE_PRONOUN = 2

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
_UNSPACED_RUN = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


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
class Plan:
    """A question made ready: what to look up, and what a passage must hold to answer it."""

    question: str
    language: str
    groups: tuple[Group, ...]
    kinds: frozenset[str]
    sites: tuple[str, ...] = ()  # named by the question; empty: none is named
    has_sites: bool = False  # whether the scope has more than one site
    site_languages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parts: tuple[Plan, ...] = ()  # sub-questions, if it asks two things
    is_comparison: bool = False
    clarification: str | None = None
    n_passages: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[Group, ...]:
        """The groups that must be met."""
        return tuple(group for group in self.groups if group.is_name and not group.is_site)


@dataclass(frozen=True, slots=True)
class _Token:
    word: str
    start: int
    is_quoted: bool = False
    joined: str = ""  # the word with hyphens that it is a part of


def question_language(question: str) -> str:
    """The language a question is asked in, two letters; English if nothing tells."""
    return guess_language(question) or "en"


def needed_terms(question: str, sites: Sequence[Site]) -> list[str]:
    """The terms whose counts ``make_plan`` wants to know, each once."""
    language = question_language(question)
    terms: dict[str, None] = {}
    for group in _groups(question[:QUESTION_MAX_CHARS], language, sites):
        terms.update(dict.fromkeys(group.terms))
        terms.update(dict.fromkeys(group.soft))
        terms.update(dict.fromkeys(part for halves in _halves(group, language) for part in halves))
    return list(terms)


def unknown_terms(question: str, sites: Sequence[Site], rarity: tuple[int, Mapping[str, int]]) -> list[str]:
    """The question's own terms that no passage holds: candidates for another spelling."""
    language = question_language(question)
    return [
        group.terms[0]
        for group in _groups(question[:QUESTION_MAX_CHARS], language, sites)
        if group.kind == "word"  # "JSONB" is another thing than "JSON"; a name is met or it is not
        and group.terms
        and len(group.terms[0]) >= SPELLED_MIN_CHARS
        and not any(rarity[1].get(term) for term in group.terms)
    ]


def make_plan(
    question: str,
    rarity: tuple[int, Mapping[str, int]],
    sites: Sequence[Site],
    similar: Mapping[str, Sequence[str]] | None = None,
) -> Plan:
    """The plan of *question*, given how many passages hold each of its terms, and the sites in scope.

    *similar* holds, for terms that no passage holds, the nearest terms of the index.
    """
    question = question[:QUESTION_MAX_CHARS]
    language = question_language(question)
    n_passages, counts = rarity
    groups = _groups(question, language, sites)
    groups = _with_spellings(groups, counts, similar or {})
    groups = [*groups, *_compound_groups(groups, counts, language)]
    named = _named_sites(groups, sites)
    groups = [_weighed(group, n_passages, counts) for group in groups]
    plan = Plan(
        question=question,
        language=language,
        groups=tuple(groups[:MAX_GROUPS]),
        kinds=lexicon.kinds_of(question),
        sites=named,
        has_sites=len(sites) > 1,
        site_languages={site.site: site.languages for site in sites},
        n_passages=n_passages,
        counts=dict(counts),
    )
    plan = replace(plan, clarification=_clarification(plan))
    return replace(plan, **_split(plan, sites))  # type: ignore[arg-type]


def lookups(plan: Plan) -> list[Lookup]:
    """The looks into the index for *plan* and its parts. Names are ``<part>.<kind>``; part 0 is the whole question."""
    made = _lookups_of(plan, "0", 12)
    for number, part in enumerate(plan.parts, 1):
        made += _lookups_of(part, str(number), 6)
    return made


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


def _groups(question: str, language: str, sites: Sequence[Site]) -> list[Group]:
    """The question's words as groups, unweighed, with expansions, in order."""
    spaced = lexicon.without_question_phrases(question) if language in lexicon.UNSPACED else question
    names = {name for site in sites for name in _names_of(site)}
    said = set(index_terms(spaced, language))
    targets = _target_languages(language, [site for site in sites if said.intersection(_names_of(site))] or sites)
    groups: list[Group] = []
    covered = _strings(spaced, language, targets)
    for token in _tokens(spaced):
        if _UNSPACED_RUN.search(token.word):
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
        is_pair = _UNSPACED_RUN.search(term) is not None
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


def _halves(group: Group, language: str) -> list[tuple[str, str]]:
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


def _compound_groups(groups: Sequence[Group], counts: Mapping[str, int], language: str) -> list[Group]:
    """For a compound that no passage holds: its two halves, where passages hold both; the rarer split wins."""
    made = []
    for group in groups:
        if any(counts.get(term) for term in group.terms):
            continue
        known = [halves for halves in _halves(group, language) if all(counts.get(half, 0) > 1 for half in halves)]
        if known:
            best = max(known, key=lambda halves: min(counts[half] for half in halves))
            made += [Group(half, "word", (half,), position=group.position) for half in best]
    return made


def _with_spellings(
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


def _weighed(group: Group, n_passages: int, counts: Mapping[str, int]) -> Group:
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


# -- Sites


def _names_of(site: Site) -> tuple[str, ...]:
    return tuple(name for name in site.names if name not in _GENERIC_NAMES and not name.isdigit() and len(name) > 1)


def _named_sites(groups: Sequence[Group], sites: Sequence[Site]) -> tuple[str, ...]:
    """The sites whose name stands in the question, in the order of their names there."""
    if len(sites) < 2:
        return ()
    by_name: dict[str, list[str]] = {}
    for site in sites:
        for name in _names_of(site):
            by_name.setdefault(name, []).append(site.site)
    named: dict[str, None] = {}
    for group in groups:
        for term in group.terms:
            # A plain word names a site only if its address has it: every page of a web server is titled "server".
            is_said = group.is_name or group.kind in ("identifier", "name", "quoted")
            owners = [site for site in by_name.get(term, ()) if is_said or term in site.lower()]
            if owners and len(owners) <= max(1, len(sites) // 2):
                named.update(dict.fromkeys(owners))
    return tuple(named)


# -- Asking back


def _clarification(plan: Plan) -> str | None:
    """A sentence that asks what is meant, if nothing in the question tells."""
    words = [group for group in plan.groups if group.position >= 0]
    if any(group.kind in ("identifier", "name", "number", "quoted") for group in words) or plan.sites:
        return None
    n_words = _n_words(words)
    if plan.language in lexicon.UNSPACED:
        # Pairs of characters cannot be told to be vague; there, few words that are all common mean the same.
        n_rare = max(1.0, plan.n_passages * CLEAR_RARITY)
        is_vague = n_words <= UNCLEAR_MAX_WORDS and all(_n_with(plan, group) > n_rare for group in words)
        is_vague = is_vague or (n_words <= UNCLEAR_MAX_WORDS_BESIDE_PRONOUN and lexicon.has_pronoun(plan.question))
    else:
        is_vague = all(any(lexicon.is_vague(term, plan.language) for term in group.terms) for group in words)
    return lexicon.say("clarify", plan.language) if is_vague or not words else None


def _n_with(plan: Plan, group: Group) -> int:
    """How many passages hold the group's most frequent term."""
    return max((plan.counts.get(term, 0) for term in group.terms), default=0)


def _n_words(groups: Sequence[Group]) -> int:
    """How many words the groups are; overlapping pairs of one run count as one word for every two."""
    n_pairs = sum(group.kind == "pair" for group in groups)
    return len(groups) - n_pairs + (n_pairs + 1) // 2


# -- Sub-questions

_AND_ASKS = re.compile(
    r"[,;]?\s+(?:and|und|et|y|e|и|ve)\s+(?=(?:(?:with|from|in|to|at|on|for|by|mit|aus|von|de|en|dans|con|da|с|из|в)\s+)?"
    r"(?:how|what|which|where|when|why|who|does|do|did|is|are|can|could|will|would|has|wie|was|welche\w*|wo|wann|warum|kann|combien|comment|quel\w*|où|"
    r"quand|cómo|cuánt\w+|cuál\w*|qué|dónde|come|quant\w+|quale|quali|dove|como|qual|quais|onde|как\w*|сколько|где|когда|почему|"
    r"nasıl|kaç|hangi|nerede)\b)",
    re.IGNORECASE,
)
_AND_UNSPACED = re.compile(
    r"[，、；,](?=[^，、；,]*(?:多少|怎样|怎么|如何|什么|哪|几|何|いくつ|どの|どう|なに|몇|무엇|어떻게|얼마))"
)
_PART_MIN_CHARS = 12


def _split(plan: Plan, sites: Sequence[Site]) -> dict[str, object]:
    """The parts of a question that asks two things, or that compares two names."""
    pattern = _AND_UNSPACED if plan.language in ("zh", "ja") else _AND_ASKS
    cut = next((m for m in pattern.finditer(plan.question) if m.start() >= _PART_MIN_CHARS), None)
    is_comparison = "compare" in plan.kinds
    if is_comparison:
        halves = _by_names(plan)
        if halves:
            return {"parts": halves, "is_comparison": True}
    if cut is None or len(plan.question) - cut.end() < _PART_MIN_CHARS:
        return {"is_comparison": is_comparison}
    first = _part(plan, 0, cut.start())
    second = _part(plan, cut.end(), len(plan.question))
    if not any(g.position >= 0 for g in first.groups) or not any(g.position >= 0 for g in second.groups):
        return {"is_comparison": is_comparison}
    return {"parts": (first, second), "is_comparison": is_comparison}


def _part(plan: Plan, start: int, end: int) -> Plan:
    """The part of a question between two places; it inherits the names and identifiers of what came before."""
    words = plan.question[start:end]
    held = set(index_terms(words, plan.language)) | set(words.split())
    lowered = words.lower()
    groups = []
    for group in plan.groups:
        stands = any(term in held for term in group.terms) or (group.position >= 0 and group.word.lower() in lowered)
        inherited = start > 0 and (group.is_name or group.is_site or group.kind == "identifier")
        if group.kind == "phrase":
            stands = group.word in lowered
        if group.kind == "implied":
            implied = {
                t
                for w in lexicon.implied_words(words)
                for t in index_terms(w, "en" if w.isascii() else plan.language)[:1]
            }
            soft = {term: quality for term, quality in group.soft.items() if term in implied}
            if soft:
                groups.append(replace(group, soft=soft))
        elif stands:
            groups.append(group)
        elif inherited:
            groups.append(replace(group, weight=round(group.weight * 0.6, 4)))
    sites = tuple(s for s in plan.sites)
    return replace(plan, question=words, groups=tuple(groups), kinds=lexicon.kinds_of(words), sites=sites, parts=())


def _by_names(plan: Plan) -> tuple[Plan, ...]:
    """A comparison of two sites, or of two names beside each other, as one question for each."""
    if len(plan.sites) >= 2:
        return tuple(_about(plan, site) for site in plan.sites[:2])
    pair = re.search(
        r"([\w.@$()-]+)\s+(?:and|or|vs\.?|versus|und|oder|et|ou|y|o|e|и|или|ve|veya|with|from|than)\s+([\w.@$()-]+)",
        plan.question,
    )
    if pair is None:
        return ()
    left, right = ([t for t in index_terms(pair[i], plan.language)[:1]] for i in (1, 2))
    sides = [group for group in plan.groups if group.terms and group.terms[0] in (*left, *right)]
    if len(sides) != 2 or not all(g.is_name or g.kind in ("identifier", "name") for g in sides):
        return ()
    parts = []
    for drop in (sides[1], sides[0]):
        kept = (g for g in plan.groups if g is not drop and "compare" not in lexicon.kinds_of(g.word))
        parts.append(replace(plan, groups=tuple(kept), parts=()))
    return tuple(parts)


def _about(plan: Plan, site: str) -> Plan:
    """The same question about one site: the other sites' names left out."""
    kept = tuple(g for g in plan.groups if not g.is_site and "compare" not in lexicon.kinds_of(g.word))
    return replace(plan, groups=kept, sites=(site,), parts=())


# -- Look-ups


def _lookups_of(plan: Plan, part: str, n_pages: int) -> list[Lookup]:
    """Exact words, words with expansions, and pages; within the site if the question names one, and beside it a short
    look at all the others."""
    exact = {term: plan.counts.get(term, 0) for group in plan.groups if not group.is_site for term in group.terms}
    exact = exact or {term: plan.counts.get(term, 0) for group in plan.groups for term in group.terms}
    soft = {t: plan.counts.get(t, 0) for group in plan.groups for t in group.soft if t not in exact}
    if not exact and not soft:
        return []
    made: list[Lookup] = []
    places: tuple[str | None, ...] = plan.sites[:2] or (None,)
    for number, site in enumerate(places):
        share = BUDGET_SHARE if site is None else BUDGET_SHARE_OF_SITE
        words = _affordable(exact, plan.n_passages * share)
        wide = _as_groups({**words, **_affordable(soft, plan.n_passages * share)})
        pages = _as_groups(
            _affordable(exact, plan.n_passages * BUDGET_SHARE_OF_PAGES) or _affordable(soft, plan.n_passages)
        )
        if words and site is None:
            made.append(Lookup(f"{part}.exact", _as_groups(words), limit=120))
        made.append(Lookup(f"{part}.wide{number}", wide, limit=140, site=site))
        made.append(Lookup(f"{part}.pages{number}", pages, of="pages", limit=n_pages, site=site))
    if plan.sites and exact and part == "0":
        words = _affordable(exact, plan.n_passages * BUDGET_SHARE_ELSEWHERE)
        made.append(Lookup(f"{part}.elsewhere", _as_groups(words), limit=60))
    return made


def _affordable(counts: Mapping[str, int], budget: float) -> dict[str, int]:
    """The rarest terms, as many as the budget of matches allows, three at least: every match of a look-up is scored."""
    budget = max(BUDGET_MIN, budget)
    known = sorted((n, term) for term, n in counts.items() if n > 0)
    kept: dict[str, int] = {}
    spent = 0
    for n, term in known:
        if len(kept) >= 3 and spent + n > budget:
            break
        if kept and n > budget:
            break
        kept[term] = n
        spent += n
    return kept


def _as_groups(terms: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    return tuple((term,) for term in terms)
