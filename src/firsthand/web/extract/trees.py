"""The model of the judgement: trees and class words, read from a table of text that a script in the repository makes.

The table says where its numbers come from. No library of trees is needed to use it: the trees lie in flat arrays, and
all blocks go down all trees one level at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
TABLE = "trees.txt"
# A block whose odds are this far from doubt after so many trees is left at it: half the time, and 0.4 % of the words of
# every twelfth page of WCXB dev are decided otherwise (2026-12-01).
_FIRST_TREES, _SURE = 60, 2.0
_ROWS_AT_ONCE = 500  # so that a page's size costs no memory here


@dataclass(frozen=True, slots=True)
class Trees:
    """A forest whose leaves add up to log-odds."""

    names: tuple[str, ...]  # of the features, in the order of a row
    lexicon: dict[str, float]
    roots: Array
    feature: Array  # of each node; a leaf asks for none
    threshold: Array
    child: Array  # where a row goes: 2 * node if not above the threshold, 2 * node + 1 if above
    value: Array
    depth: int

    def scores(self, table: Array) -> Array:
        """The chance that each row is main content: rows × features (float32) → rows."""
        odds = np.concatenate(
            [self._odds(table[at : at + _ROWS_AT_ONCE]) for at in range(0, len(table), _ROWS_AT_ONCE)]
            or [np.zeros(0, dtype=np.float32)]
        )
        scores: Array = 1.0 / (1.0 + np.exp(-odds))
        return scores

    def _odds(self, table: Array) -> Array:
        n_first = min(_FIRST_TREES, len(self.roots))
        odds = self._sum(table, self.roots[:n_first])
        doubtful = np.flatnonzero(np.abs(odds) < _SURE)
        if len(doubtful) and n_first < len(self.roots):
            odds[doubtful] += self._sum(table[doubtful], self.roots[n_first:])
        return odds

    def _sum(self, table: Array, roots: Array) -> Array:
        n_rows, n_columns = table.shape
        flat = np.ascontiguousarray(table).ravel()
        at = np.tile(roots, n_rows)
        row = np.repeat(np.arange(n_rows) * n_columns, len(roots))
        for _ in range(self.depth):
            above = flat.take(row + self.feature.take(at)) > self.threshold.take(at)
            at = self.child.take(2 * at + above)
        sums: Array = self.value.take(at).reshape(n_rows, len(roots)).sum(axis=1)
        return sums


@cache
def load_trees() -> Trees:
    """The model that ships with this version of the extractor."""
    return parse_trees((files(__package__) / TABLE).read_text(encoding="utf-8"))


def parse_trees(source: str) -> Trees:
    """Read a table: ``#`` remarks, ``feature NAME``, ``word NAME LOG_ODDS``, and a line for each tree.

    A tree is its nodes from the root, parted by spaces: ``feature:threshold:left:right`` or ``=value``; children are
    named by their place in the line.
    """
    names: list[str] = []
    lexicon: dict[str, float] = {}
    roots: list[int] = []
    feature: list[int] = []
    threshold: list[float] = []
    child: list[int] = []
    value: list[float] = []
    for line in source.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "feature":
            names.append(rest)
        elif kind == "word":
            word, odds = rest.split()
            lexicon[word] = float(odds)
        elif kind == "tree":
            root = len(feature)
            roots.append(root)
            for node in rest.split():
                here = len(feature)
                if node[0] == "=":
                    feature.append(0)
                    threshold.append(np.inf)
                    child += [here, here]
                    value.append(float(node[1:]))
                else:
                    column, cut, left, right = node.split(":")
                    feature.append(int(column))
                    threshold.append(float(cut))
                    child += [root + int(left), root + int(right)]
                    value.append(0.0)
    children = np.array(child, dtype=np.int64)
    return Trees(
        names=tuple(names),
        lexicon=lexicon,
        roots=np.array(roots, dtype=np.int64),
        feature=np.array(feature, dtype=np.int64),
        threshold=np.array(threshold, dtype=np.float32),
        child=children,
        value=np.array(value, dtype=np.float32),
        depth=_depth(children, roots),
    )


def _depth(child: Array, roots: list[int]) -> int:
    at = np.array(roots, dtype=np.int64)
    depth = 0
    while True:
        below = np.unique(child[np.concatenate([2 * at, 2 * at + 1])])
        if np.array_equal(below, np.unique(at)) or depth > 64:
            return depth
        at = np.unique(below)
        depth += 1
