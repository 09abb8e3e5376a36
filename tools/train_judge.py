"""Makes the model of what is main content: ``src/firsthand/web/extract/trees.txt``.

    python -m tools.train_judge FOLDER [--out FILE] [--folds N] [--rows FILE.jsonl]

FOLDER is a clone of github.com/Murrough-Foley/web-content-extraction-benchmark (CC-BY-4.0); only its dev part is used.
Needs LightGBM (``pip install lightgbm``), which nothing else here does. Takes ten minutes on one core.

A block's label is the share of its words that the reference text has, in order (longest common subsequence); what the
reference has elsewhere is given to blocks that it repeats. A class word's weight is the log-odds that text under it is
main, each page counting once; a page is shown the weights that the other domains' pages give. With ``--folds`` the
figure of a cross-validation is printed first, its folds cut by registered domain.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.extraction_score import mean, words
from evals.extraction_sets import Case, load
from firsthand.errors import ExtractionFailed
from firsthand.web.extract import EXTRACTOR_VERSION, charset
from firsthand.web.extract.choice import choose
from firsthand.web.extract.features import Page, measure
from firsthand.web.extract.html import walked
from firsthand.web.extract.judge import page_of
from firsthand.web.extract.walk import Walk

Array = NDArray[Any]
OUT = Path(__file__).parent.parent / "src/firsthand/web/extract/trees.txt"
N_TREES, SEED = 220, 7
SETTINGS: dict[str, Any] = {
    "objective": "cross_entropy",
    "num_leaves": 20,
    "max_depth": 7,
    "learning_rate": 0.065,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "num_threads": 1,  # with two, on busy cores, it takes many times as long
    "deterministic": True,
    "seed": SEED,
    "verbosity": -1,
}
_WORD_PAGES = 8  # a class word of fewer pages has no weight
_SHINGLE = 4
_COPIED_SHARE = 0.7


@dataclass(slots=True)
class Sample:
    """A page of the set, walked and labelled."""

    case: Case
    walk: Walk
    page: Page
    words: list[list[str]]  # of each block; none of a hidden one
    labels: Array


def main() -> None:
    """Train, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--rows", type=Path, help="where to write each page's F1 of the cross-validation")
    asked = parser.parse_args()
    samples = [sample for case in load("wcxb-dev", asked.folder) if (sample := sample_of(case)) is not None]
    print(f"{len(samples)} pages", file=sys.stderr)
    if asked.folds:
        rows = cross_validate(samples, asked.folds)
        if asked.rows:
            asked.rows.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        print(json.dumps({"folds": asked.folds, "pages": len(rows), "f1": round(mean(row["f1"] for row in rows), 4)}))
    lexicon = Lexicon(samples)
    model = fit(samples, lexicon)
    asked.out.write_text(table(model, lexicon.weights(), feature_names(samples[0])), encoding="utf-8")


def sample_of(case: Case) -> Sample | None:
    """The page of *case*, or None if it cannot be read or shows nothing."""
    source = charset.decode(case.payload(), content_type="text/html").text
    try:
        walk = walked(source, case.url)
    except ExtractionFailed:
        return None
    found = [[] if draft.visibility == "hidden" else words(draft.text) for draft in walk.drafts]
    if not any(found):
        return None
    return Sample(case, walk, page_of(walk.facts.title, source, case.url), found, label(found, words(case.gold)))


def label(blocks: Sequence[Sequence[str]], gold: Sequence[str]) -> Array:
    """The share of each block's words that stand in *gold*, in order; copies that *gold* has words left for count whole."""
    matched, is_used = _common(blocks, gold)
    labels = np.array([count / len(block) if block else 0.0 for count, block in zip(matched, blocks, strict=True)])
    left = Counter(word for word, used in zip(gold, is_used, strict=True) if not used)
    runs = set(_runs(gold))
    for number in sorted(range(len(blocks)), key=lambda at: -len(blocks[at])):
        block = blocks[number]
        if labels[number] >= 0.5 or len(block) < _SHINGLE:
            continue
        here = _runs(block)
        counts = Counter(block)
        is_copy = sum(run in runs for run in here) >= _COPIED_SHARE * len(here)
        if is_copy and (counts & left).total() >= _COPIED_SHARE * len(block):
            labels[number] = 1.0
            left -= counts
    return labels


def _common(blocks: Sequence[Sequence[str]], gold: Sequence[str]) -> tuple[list[int], list[bool]]:
    """How many words of each block are in a longest common subsequence with *gold*, and which of *gold*'s words are.

    One bit for each word of *gold*, one row for each word of the page that it has (Hyyrö 2004).
    """
    places: dict[str, int] = {}
    for at, word in enumerate(gold):
        places[word] = places.get(word, 0) | 1 << at
    all_bits = (1 << len(gold)) - 1
    state, rows, owners = all_bits, [], []
    for number, block in enumerate(blocks):
        for word in block:
            if word in places:
                both = state & places[word]
                state = ((state + both) | (state - both)) & all_bits
                rows.append(state)
                owners.append(number)
    matched, is_used = [0] * len(blocks), [False] * len(gold)
    row, at = len(rows), len(gold)
    while row and at:
        if rows[row - 1] >> (at - 1) & 1:
            at -= 1
            continue
        row -= 1
        if not (row and not rows[row - 1] >> (at - 1) & 1):
            at -= 1
            matched[owners[row]] += 1
            is_used[at] = True
    return matched, is_used


def _runs(found: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(found[at : at + _SHINGLE]) for at in range(len(found) - _SHINGLE + 1)]


class Lexicon:
    """Class words and how much of the text under each is main, counted by domain."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._all: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
        self._of_domain: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0, 0]))
        for sample in samples:
            for word, share in _shares(sample).items():
                for counts in (self._all[word], self._of_domain[sample.case.domain][word]):
                    counts[0] += share
                    counts[1] += 1 - share
                    counts[2] += 1

    def weights(self, *, without: str = "") -> dict[str, float]:
        """The log-odds of each word of enough pages, by the pages of all domains but *without*."""
        own = self._of_domain.get(without, {})
        found = {}
        for word, counts in self._all.items():
            main, rest, n_pages = (a - b for a, b in zip(counts, own.get(word, (0, 0, 0)), strict=True))
            if n_pages >= _WORD_PAGES:
                found[word] = round(math.log((main + 1) / (rest + 1)), 1)
        return found


def _shares(sample: Sample) -> dict[str, float]:
    """For each class word of a page, the share of the words under it that are main."""
    sizes = np.array([len(block) for block in sample.words], dtype=float)
    all_words = np.concatenate([[0.0], np.cumsum(sizes)])
    main_words = np.concatenate([[0.0], np.cumsum(sizes * sample.labels)])
    under: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for container in sample.walk.containers:
        amount = all_words[container.end] - all_words[container.start]
        if amount > 0:
            for word in container.words:
                under[word][0] += main_words[container.end] - main_words[container.start]
                under[word][1] += amount
    return {word: main / amount for word, (main, amount) in under.items()}


def fit(samples: Sequence[Sample], lexicon: Lexicon) -> Any:
    """Trees for *samples*, each page seen with the class words of the other domains."""
    import lightgbm  # of no use to anything else

    tables, labels, weights = [], [], []
    for sample in samples:
        is_seen = np.array([bool(block) for block in sample.words])
        tables.append(_table(sample, lexicon.weights(without=sample.case.domain))[is_seen])
        labels.append(sample.labels[is_seen])
        sizes = np.array([len(block) for block in sample.words], dtype=float)[is_seen]
        whole = len(words(sample.case.gold)) or sizes.sum()
        weights.append(np.sqrt(np.minimum(1.0, sizes / whole)))
    data = lightgbm.Dataset(np.concatenate(tables), np.concatenate(labels), weight=np.concatenate(weights))
    return lightgbm.train(SETTINGS, data, N_TREES)


def _table(sample: Sample, weights: Mapping[str, float]) -> Array:
    return measure(sample.walk.drafts, sample.walk.containers, sample.page, weights).table


def cross_validate(samples: Sequence[Sample], n_folds: int) -> list[dict[str, Any]]:
    """The word F1 of each page under a model that saw no page of its domain; without the rules for kinds of pages."""
    rows = []
    for fold in range(n_folds):
        others = [sample for sample in samples if zlib.crc32(sample.case.domain.encode()) % n_folds != fold]
        lexicon = Lexicon(others)
        model, weights = fit(others, lexicon), lexicon.weights()
        for sample in samples:
            if zlib.crc32(sample.case.domain.encode()) % n_folds != fold:
                continue
            sizes = np.array([len(block) for block in sample.words], dtype=float)
            chosen, _ = choose(model.predict(_table(sample, weights)) * (sizes > 0), sizes)
            counts = Counter(
                word for block, is_main in zip(sample.words, chosen, strict=True) if is_main for word in block
            )
            gold = Counter(words(sample.case.gold))
            common = (counts & gold).total()
            f1 = 2 * common / (counts.total() + gold.total()) if common else float(not gold and not counts)
            rows.append({"page": sample.case.page, "kind": sample.case.kind, "f1": round(f1, 4)})
    return rows


def feature_names(sample: Sample) -> tuple[str, ...]:
    """The names of the features, in their order."""
    return measure(sample.walk.drafts, sample.walk.containers, sample.page, {}).names


def table(model: Any, weights: Mapping[str, float], names: Sequence[str]) -> str:
    """The model as ``trees.parse_trees`` reads it."""
    lines = [
        "# Which blocks of a page are main content. Generated by tools/train_judge.py; not to be edited.",
        "# From the dev part of WCXB, the Web Content Extraction Benchmark, (c) 2026 Murrough Foley, CC-BY-4.0.",
        f"# {N_TREES} trees of {SETTINGS['num_leaves']} leaves, seed {SEED}; for extractor version {EXTRACTOR_VERSION}.",
        *(f"feature {name}" for name in names),
        *(f"word {word} {odds}" for word, odds in sorted(weights.items()) if odds),
    ]
    for tree in model.dump_model()["tree_info"]:
        nodes: list[str] = []
        _put(tree["tree_structure"], nodes)
        lines.append("tree " + " ".join(nodes))
    return "\n".join(lines) + "\n"


def _put(node: Mapping[str, Any], nodes: list[str]) -> int:
    """Append *node* and what is below it; its place."""
    place = len(nodes)
    nodes.append("")
    if "leaf_value" in node:
        nodes[place] = f"={node['leaf_value']:.4g}"
        return place
    left, right = _put(node["left_child"], nodes), _put(node["right_child"], nodes)
    nodes[place] = f"{node['split_feature']}:{node['threshold']:.6g}:{left}:{right}"
    return place


if __name__ == "__main__":
    main()
