"""How much of a page's gold text a reader kept, by three measures, from strings alone.

* **Words**: the multiset of lower-case ``\\w+`` words; precision, recall and F1 a page, then the mean over pages. A page
  without gold scores 1 when the reader gave nothing and 0 otherwise. This is WCXB's own measure.
* **Shingles**: the multiset of runs of four words, as the article set counts them: the shares of one page add up to 1,
  precision and recall are means over the pages where they are defined, F1 comes from the two means.
* **Snippets**: the share of the snippets given with a page that occur in the text, letter case aside.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHINGLE_WORDS = 4  # the article set's own size
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Match:
    """Precision, recall and F1 of one text against its gold."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Shingles:
    """Shares of one page's shingles: in both texts, in the reader's alone, in the gold's alone."""

    both: float
    extra: float
    missed: float


def words(text: str) -> list[str]:
    """The words of *text*, lower case, in order."""
    return _WORD.findall(text.lower())


def match(text: str, gold: str) -> Match:
    """The words of *text* against those of *gold*, order aside."""
    found, wanted = Counter(words(text)), Counter(words(gold))
    if not wanted:
        return Match(0.0, 0.0, 0.0) if found else Match(1.0, 1.0, 1.0)
    common = (found & wanted).total()
    if not common:
        return Match(0.0, 0.0, 0.0)
    precision, recall = common / found.total(), common / wanted.total()
    return Match(precision, recall, 2 * precision * recall / (precision + recall))


def shingles(text: str, gold: str) -> Shingles:
    """The runs of four words of *text* against those of *gold*. Letter case counts here, as in the set's own scorer."""
    found, wanted = Counter(_runs(text)), Counter(_runs(gold))
    both = (found & wanted).total()
    extra, missed = found.total() - both, wanted.total() - both
    total = both + extra + missed
    if not total:
        return Shingles(0.0, 0.0, 0.0)
    return Shingles(both / total, extra / total, missed / total)


def _runs(text: str) -> list[tuple[str, ...]]:
    found = _WORD.findall(text)
    if not found:
        return []
    return [tuple(found[i : i + SHINGLE_WORDS]) for i in range(max(1, len(found) - SHINGLE_WORDS + 1))]


def shingle_match(pages: Sequence[Shingles]) -> Match:
    """The measure of a whole set of pages by shingles."""
    precision = mean(page.both / (page.both + page.extra) for page in pages if page.both + page.extra)
    recall = mean(page.both / (page.both + page.missed) for page in pages if page.both + page.missed)
    if not precision + recall:
        return Match(precision, recall, 0.0)
    return Match(precision, recall, 2 * precision * recall / (precision + recall))


def snippet_share(text: str, snippets: Sequence[str]) -> float:
    """The share of *snippets* that occur in *text*; 1 when there is none."""
    if not snippets:
        return 1.0
    lowered = text.lower()
    return sum(snippet.lower() in lowered for snippet in snippets) / len(snippets)


def mean(values: Iterable[float]) -> float:
    """The mean, 0 of nothing."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def standard_error(values: Sequence[float]) -> float:
    """How far a mean would swing if other pages had been drawn: one standard deviation."""
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least *share* of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))] if ordered else 0.0
