"""Orders the passages that were found: how well each meets the question, on features that mean the same everywhere.

Each feature is standardised with constants and added with a round weight. Nothing is learned: weights learned on one set
of questions lost a tenth of their recall on packages they had not seen (recipe, section 4).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from firsthand.evidence.terms import index_terms
from firsthand.ports import Candidate
from firsthand.research.grouping import PART_QUALITY
from firsthand.research.plan import Plan

FEATURES = (
    "bm",
    "any",
    "body",
    "met",
    "heading",
    "section",
    "near",
    "page",
    "default",
    "number",
    "site",
    "language",
    "label",
    "about",
    "fits",
)
# Mean and deviation of each feature over the candidates of the open questions (evals/reader_lab.py --constants).
SCALE: Mapping[str, tuple[float, float]] = {
    "bm": (0.419, 0.233),
    "any": (0.271, 0.145),
    "body": (0.208, 0.147),
    "met": (0.249, 0.172),
    "heading": (0.083, 0.118),
    "section": (0.406, 0.225),
    "near": (0.037, 0.097),
    "page": (0.471, 0.374),
    "default": (0.059, 0.236),
    "number": (0.052, 0.181),
    "site": (0.809, 0.292),
    "language": (0.951, 0.215),
    "label": (0.025, 0.157),
    "about": (0.22, 0.207),
    "fits": (0.182, 0.386),
}
# Every other feature counts 1 (recipe, section 4). "about" at a half helped in three packages of six and hurt in none.
WEIGHT: Mapping[str, float] = {"bm": 2.0, "about": 0.5}
_GENERIC = frozenset(
    index_terms("the a an of and or in to for on with by chapter section appendix part page manual", "en")
)
LABEL_MAX_CHARS = 200
CLIP = 4.0  # deviations; one rare feature shall not outweigh all others
CONTEXT_QUALITY = 0.9  # a word in what announces the passage
NEAR = ((1, 1.0), (3, 2 / 3), (6, 0.5))  # tokens apart
ROW_BONUS = 0.5
CODE_MALUS = 0.5
LENGTH_SCALE = (5.2, 0.9)  # mean and deviation of the logarithm of the length in characters
HEADING_MALUS = 3.0  # a heading, or a term without a definition, answers nothing by itself
DEFAULT_NEAR = 6  # terms between "default" and its number
RUN_PASSAGES = 8
WEB_TYPES = ("text/html", "application/xhtml+xml")
TWIN_MALUS = 9.0  # beside a site's web pages a text file or PDF is mostly one of them again, and quotes worse (guess)
# Beside the main content. From 1 to 3 the answers to two sets of questions were the same (2026-12-01).
BESIDE_MALUS = 3.0
# What the passages before and after one say for it. From 0.1 to 0.3 more answers were among the first five in both sets
# of questions; the first place lost, so it is left alone.
NEIGHBOUR_REACH = 2
NEIGHBOUR_WEIGHT = 0.2
NOT_FOUND = -100.0  # for a part of the question, of a passage that its look-ups did not find
NUMBER_WORD_WORTH = 0.6  # "two" stands in many passages that give no number (guess)
_SAYS_DEFAULT = frozenset(
    term
    for language, words in {
        "en": "default defaults initially normally",
        "de": "standardmäßig standard voreinstellung vorgabe",
        "fr": "défaut",
        "es": "predeterminado omisión defecto",
        "it": "predefinito predefinita default",
        "pt": "padrão omissão predefinição",
        "ru": "умолчанию",
        "tr": "varsayılan",
        "zh": "默认 缺省",
        "ja": "既定 デフォルト",
        "ko": "기본값",
    }.items()
    for word in words.split()
    for term in index_terms(word, language)[:1]
)
# A number that can answer "how many": not part of a version, a date, an address or an identifier.
# ASCII, so that a number between Chinese or Japanese characters stands alone.
_NUMBER = re.compile(r"(?<![\w.\-/:])(\d+(?:,\d{3})*(?:\.\d+)?)(?!\w*\.\d)(?=\W|[a-zA-Z%]{1,3}\b|$)", re.ASCII)
_BECAUSE = re.compile(
    r"\b(because|since|therefore|so that|reason|weil|da|denn|deshalb|daher|parce|car|puisque|porque|ya que|perché|poiché|pois|потому|"
    r"поскольку|так как|çünkü)\b|因为|由于|因此|ため|から|때문",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?<!\w)--?[a-z]|\w\(|\w_\w|\w=\w|\w\.\w+\(|\b(use|run|set|call|type|press|using|enter|add)\b|[A-Z]{4,}"
)
_VERDICT = re.compile(
    r"\b(not|no|never|cannot|can't|only|always|doesn't|don't|without|supported|possible|nicht|kein\w*|nie|nur|immer|pas|jamais|no|nunca|"
    r"non|mai|não|не|нет|никогда|değil)\b|不|没有|ません|ない|않",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\w/\w|/\w|\b(directory|folder|file|table|in the|located|stored|under)\b|目录|文件|ディレクトリ|ファイル"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER_WORDS = frozenset(
    index_terms(
        "two three four five six seven eight nine ten eleven twelve sixteen twenty thirty forty fifty hundred thousand million billion "
        "half twice unlimited zero none",
        "en",
    )
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score and what made it."""

    candidate: Candidate
    score: float
    features: Mapping[str, float]
    met: frozenset[int]  # groups of the plan that the passage's own words meet
    around: frozenset[int]  # groups that it meets with its headings, title and lead; by more than a part of a name
    parts: tuple[float, ...] = ()  # its score for each part of the question

    @property
    def reasons(self) -> tuple[str, ...]:
        """The features that spoke most for it, strongest first."""
        spoken = sorted(((value - SCALE[name][0]) / SCALE[name][1], name) for name, value in self.features.items())
        return tuple(name for value, name in reversed(spoken) if value > 0)[:3]


@dataclass(frozen=True, slots=True)
class _Matcher:
    """The plan's groups turned round: which groups a term meets, and how well."""

    by_term: Mapping[str, tuple[tuple[int, float], ...]]
    weights: tuple[float, ...]
    total: float
    n_words: int
    pairs: tuple[tuple[int, int], ...]  # neighbours in the question
    words: frozenset[int]
    labels: frozenset[str]  # identifiers
    asked_numbers: frozenset[str]


def rank(plan: Plan, candidates: Sequence[Candidate]) -> list[Ranked]:
    """*candidates* by how well they answer *plan*, best first; equal scores keep the order of page and place.

    After the first, neighbours that meet the question too lift a passage a little.

    For a question of several parts each also gets its score for every part. Cost: about 0.1 ms a candidate and part.
    """
    ranked = _rank(plan, candidates, "0")
    if plan.parts:
        scores = []
        for number, part in enumerate(plan.parts, 1):
            own = [each for each in candidates if any(name.startswith(f"{number}.") for name in each.scores)]
            scores.append({each.candidate.passage_id: each.score for each in _rank(part, own, str(number))})
        ranked = [
            replace(r, parts=tuple(each.get(r.candidate.passage_id, NOT_FOUND) for each in scores)) for r in ranked
        ]
    return with_neighbours(sorted(ranked, key=lambda r: (-r.score, r.candidate.page.url, r.candidate.passage.seq)))


def with_neighbours(ranked: list[Ranked]) -> list[Ranked]:
    """*ranked* with what stands among other passages that meet the question moved up; the best one stays in front."""
    scores = {(r.candidate.page.text_id, r.candidate.passage.seq): max(0.0, r.score) for r in ranked}
    apart = [step for step in range(-NEIGHBOUR_REACH, NEIGHBOUR_REACH + 1) if step]

    def supported(r: Ranked) -> float:
        text_id, seq = r.candidate.page.text_id, r.candidate.passage.seq
        return r.score + NEIGHBOUR_WEIGHT * sum(scores.get((text_id, seq + step), 0.0) for step in apart) / len(apart)

    return ranked[:1] + sorted(ranked[1:], key=lambda r: -supported(r))


def _rank(plan: Plan, candidates: Sequence[Candidate], part: str) -> list[Ranked]:
    """*candidates* with their scores for one part, in their order; *part* is the number that its look-ups carry."""
    if not candidates or not plan.groups:
        return []
    matcher = _matcher(plan)
    best = _best_scores(candidates, part)
    best_page = max((candidate.page_score for candidate in candidates), default=0.0) or 1.0
    rows = [_met(matcher, candidate) for candidate in candidates]
    sections = _sections(candidates, rows, len(plan.groups))
    with_web_pages = {each.page.site for each in candidates if each.page.media_type in WEB_TYPES}
    ranked = []
    for candidate, row in zip(candidates, rows, strict=True):
        section = sections[_section_of(candidate)]
        features = {
            "bm": max((candidate.scores.get(name, 0.0) / top for name, top in best.items()), default=0.0),
            "any": _share(matcher, row.around),
            "body": _share(matcher, row.body),
            "met": sum(1 for i in matcher.words if row.body[i] >= 0.5) / max(1, matcher.n_words),
            "heading": _share(matcher, row.heading),
            "section": _share(matcher, section),
            "near": _near(matcher, row.places),
            "page": candidate.page_score / best_page,
            "default": float("default" in plan.kinds and not _SAYS_DEFAULT.isdisjoint(candidate.fields.body)),
            "number": _number(plan, matcher, candidate, row.places) if "number" in plan.kinds else 0.0,
            "site": _site(plan, candidate),
            "language": _language(plan, candidate),
            "label": _label(matcher, candidate),
            "about": _about(matcher, candidate),
            "fits": _fits(plan, candidate),
        }
        score = _shape(candidate)
        for name, value in features.items():
            score += WEIGHT.get(name, 1.0) * min(CLIP, (value - SCALE[name][0]) / SCALE[name][1])
        if candidate.page.media_type not in WEB_TYPES and candidate.page.site in with_web_pages:
            score -= TWIN_MALUS
        if not candidate.passage.main:
            score -= BESIDE_MALUS
        body = frozenset(i for i, quality in enumerate(row.body) if quality > 0)
        around = frozenset(i for i, quality in enumerate(row.around) if quality > PART_QUALITY)
        ranked.append(Ranked(candidate, round(score, 4), features, body, around))
    return ranked


# -- Matching


@dataclass(slots=True)
class _Row:
    body: list[float]
    heading: list[float]
    around: list[float]
    places: list[list[int]]  # of each group, in the body


def _matcher(plan: Plan) -> _Matcher:
    by_term: dict[str, list[tuple[int, float]]] = {}
    for i, group in enumerate(plan.groups):
        for term, quality in group.soft.items():
            by_term.setdefault(term, []).append((i, quality))
        for term in group.terms:
            by_term.setdefault(term, []).append((i, 1.0))
    words = [i for i, group in enumerate(plan.groups) if group.position >= 0 and not group.is_site]
    in_order = sorted(words, key=lambda i: plan.groups[i].position)
    return _Matcher(
        by_term={term: tuple(places) for term, places in by_term.items()},
        weights=tuple(group.weight for group in plan.groups),
        total=sum(group.weight for group in plan.groups) or 1.0,
        n_words=len(words),
        pairs=tuple(itertools.pairwise(in_order)),
        words=frozenset(words),
        labels=frozenset(
            g.terms[0] for g in plan.groups if g.kind in ("identifier", "name") and g.terms and not g.is_site
        ),
        asked_numbers=frozenset(term for group in plan.groups for term in group.terms if term[:1].isdigit()),
    )


def _best_scores(candidates: Sequence[Candidate], part: str) -> dict[str, float]:
    """The best score of each look-up of this part."""
    best: dict[str, float] = {}
    for candidate in candidates:
        for name, score in candidate.scores.items():
            if name.startswith(part + ".") and score > best.get(name, 0.0):
                best[name] = score
    return best


def _met(matcher: _Matcher, candidate: Candidate) -> _Row:
    n = len(matcher.weights)
    body, heading, places = [0.0] * n, [0.0] * n, [[] for _ in range(n)]  # type: tuple[list[float], list[float], list[list[int]]]
    by_term = matcher.by_term
    for at, term in enumerate(candidate.fields.body):
        if term in by_term:
            for i, quality in by_term[term]:
                if quality > body[i]:
                    body[i] = quality
                places[i].append(at)
    around = list(body)
    for terms, is_exact in ((candidate.fields.headings, True), (candidate.fields.title, True)):
        for term in terms:
            for i, quality in by_term.get(term, ()):
                if quality > around[i]:
                    around[i] = quality
                if is_exact and quality == 1.0:
                    heading[i] = 1.0
    for term in candidate.fields.context:
        for i, quality in by_term.get(term, ()):
            if quality * CONTEXT_QUALITY > around[i]:
                around[i] = quality * CONTEXT_QUALITY
    return _Row(body, heading, around, places)


_Section = tuple[int, tuple[str, ...], int]


def _section_of(candidate: Candidate) -> _Section:
    """Text and headings; where there are no headings, a run of passages, or a whole book would be one section."""
    passage = candidate.passage
    return candidate.page.text_id, passage.headings, 0 if passage.headings else passage.seq // RUN_PASSAGES


def _sections(candidates: Sequence[Candidate], rows: Sequence[_Row], n_groups: int) -> dict[_Section, list[float]]:
    """What all candidates of one section meet together."""
    sections: dict[_Section, list[float]] = {}
    for candidate, row in zip(candidates, rows, strict=True):
        met = sections.setdefault(_section_of(candidate), [0.0] * n_groups)
        for i, quality in enumerate(row.around):
            if quality > met[i]:
                met[i] = quality
    return sections


# -- Features


def _share(matcher: _Matcher, met: Sequence[float]) -> float:
    return sum(w * q for w, q in zip(matcher.weights, met, strict=True)) / matcher.total


def _near(matcher: _Matcher, places: Sequence[Sequence[int]]) -> float:
    """How many neighbours of the question stand near each other in the passage."""
    total = 0.0
    for left, right in matcher.pairs:
        if places[left] and places[right]:
            apart = min((abs(a - b) for a in places[left][:20] for b in places[right][:20] if a != b), default=99)
            total += next((value for limit, value in NEAR if apart <= limit), 0.0)
    return total / len(matcher.pairs) if matcher.pairs else 0.0


def _about(matcher: _Matcher, candidate: Candidate) -> float:
    """How much of the page's title, or of the passage's last heading, the question asks about."""
    best = 0.0
    label = candidate.body.partition("\n")[0] if candidate.passage.kind == "definition" else ""
    for words in (*candidate.passage.headings[-1:], candidate.page.title, label):
        terms = _label_terms(words[:LABEL_MAX_CHARS], candidate.page.language)
        if terms:
            met = sum(max((q for _, q in matcher.by_term.get(term, ())), default=0.0) for term in terms)
            best = max(best, met / (len(terms) + 0.5))
    return best


@lru_cache(maxsize=8_192)
def _label_terms(words: str, language: str | None) -> frozenset[str]:
    """The terms of a title or heading that say what it is about; many candidates share theirs."""
    return frozenset(term for term in index_terms(words, language) if term not in _GENERIC and not term.isdigit())


def _fits(plan: Plan, candidate: Candidate) -> float:
    """Whether the passage looks like an answer of the kind that is asked for; numbers and defaults have features of their own."""
    body = candidate.body
    if "why" in plan.kinds:
        return float(_BECAUSE.search(body) is not None)
    if "howto" in plan.kinds:
        return float(candidate.passage.kind == "code" or _COMMAND.search(body) is not None)
    if "list" in plan.kinds:
        return float(
            body.rstrip().endswith((":", "："))
            or candidate.passage.kind == "item"
            or body.count(",") + body.count("、") >= 3
        )
    if "yesno" in plan.kinds:
        return float(_VERDICT.search(body) is not None)
    if "where" in plan.kinds:
        return float(_PLACE.search(body) is not None)
    return 0.0


def says_default(terms: Collection[str]) -> bool:
    """Whether terms of a text say that something is a default, in any of our languages."""
    return not _SAYS_DEFAULT.isdisjoint(terms)


def numbers_in(body: str, asked: frozenset[str] = frozenset()) -> list[str]:
    """The numbers in *body* that can answer "how many": as written, years, versions and *asked* ones left out."""
    found = []
    for match in _NUMBER.finditer(body):
        number = match[1].replace(",", "")
        is_section = body[match.start() - 1 : match.start()] == "(" and body[match.end() : match.end() + 1] == ")"
        if number not in asked and not _YEAR.fullmatch(number) and not is_section:
            found.append(match[1])
    return found


def _number(plan: Plan, matcher: _Matcher, candidate: Candidate, places: Sequence[Sequence[int]]) -> float:
    """How near a number that was not asked stands to a heavy word of the question; 0 if there is none."""
    wanted = {number.replace(",", "").replace(".", "") for number in numbers_in(candidate.body, matcher.asked_numbers)}
    at = [i for i, term in enumerate(candidate.fields.body) if term in wanted]
    worth_of_number = 1.0
    if not at:
        at = [i for i, term in enumerate(candidate.fields.body) if term in _NUMBER_WORDS]
        worth_of_number = NUMBER_WORD_WORTH
    if not at:
        return 0.0
    heaviest = max(matcher.weights)
    best = 0.15
    if "default" in plan.kinds:
        said = [i for i, term in enumerate(candidate.fields.body) if term in _SAYS_DEFAULT]
        if any(abs(i - number) <= DEFAULT_NEAR for i in said for number in at):
            return worth_of_number
    for i in matcher.words:
        worth = matcher.weights[i] / heaviest
        if worth <= best:
            continue
        for place in places[i][:12]:
            apart = min(abs(place - number) for number in at)
            if apart:
                best = max(best, worth * (1.0 if apart <= 4 else 0.8 if apart <= 10 else 0.5 if apart <= 25 else 0.3))
    return best * worth_of_number


def _site(plan: Plan, candidate: Candidate) -> float:
    return 0.5 if not plan.sites else float(candidate.page.site in plan.sites)


def _language(plan: Plan, candidate: Candidate) -> float:
    """1 in the question's language, or where the site has none in it (English is then next best)."""
    language = candidate.page.language
    if language is None or language == plan.language:
        return 1.0
    offered = plan.site_languages.get(candidate.page.site, ())
    if plan.language in offered:
        return 0.0
    return 1.0 if language == "en" or "en" not in offered else 0.0


def _label(matcher: _Matcher, candidate: Candidate) -> float:
    """Whether the last heading, or the passage itself, starts with an identifier of the question."""
    if not matcher.labels:
        return 0.0
    if candidate.passage.kind in ("definition", "term", "row") and not matcher.labels.isdisjoint(
        candidate.fields.body[:4]
    ):
        return 1.0
    headings = candidate.passage.headings
    return float(
        bool(headings) and not matcher.labels.isdisjoint(index_terms(headings[-1], candidate.page.language)[:4])
    )


def _shape(candidate: Candidate) -> float:
    kind = candidate.passage.kind
    value = -(math.log(max(8, len(candidate.body))) - LENGTH_SCALE[0]) / LENGTH_SCALE[1]
    value = max(-1.5, min(1.5, value))
    if kind == "row":
        value += ROW_BONUS
    elif kind == "code":
        value -= CODE_MALUS
    elif kind in ("heading", "term"):
        value -= HEADING_MALUS
    return value
