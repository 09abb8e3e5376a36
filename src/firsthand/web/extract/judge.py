"""Which blocks of a page are its main content. Nothing is dropped: a block that is not main is kept and said to be so.

Features of blocks go through a forest (``trees``); the set of blocks with the best expected F1 is main; articles and
manuals get what is known of their kind (``choice``). Hidden blocks are neither judged nor main.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from firsthand.web.extract.choice import UNCONVINCING, choose, choose_article, choose_manual, with_headings
from firsthand.web.extract.drafts import Draft
from firsthand.web.extract.elements import BUTTON, DIALOG, FOOTER, NAV
from firsthand.web.extract.features import Page, measure
from firsthand.web.extract.trees import load_trees
from firsthand.web.extract.walk import Container

Array = NDArray[Any]
_ARTICLE = re.compile(
    r'"@type"\s*:\s*\[?\s*"(?:\w{0,30}Article|BlogPosting|Report)"|og:type"?\s+content="?article|content="article"\s+property="og:type'
)
_MANUAL_MAKER = re.compile(
    "sphinx|docbook|docutils|asciidoc|mkdocs|docusaurus|doxygen|javadoc|gitbook|texinfo|makeinfo|groff|rustdoc",
    re.IGNORECASE,
)
_MAKER_CHARS = 120
_FORUM_PATH = re.compile(r"/(?:forums?|topics?|threads?|discussions?|t|questions?|viewtopic|showthread)\b")
_MANUAL_PATH = re.compile(r"/(?:docs?|manual|man\d?|reference|api|library|tutorial)(?:/|$|[-_.])", re.IGNORECASE)
# Guesses: what a manual has of code and definitions, by words; and a page that has a path of one needs less of it.
_MANUAL_SHARE, _MANUAL_SHARE_WITH_PATH = 0.15, 0.05
# A page of so few words, or one whose elements have no class that the model knows, is judged by its elements alone: all
# of it is main but links and what stands in furniture, which class words of this weight tell unless nearly the whole
# page is inside.
_PLAIN_WORDS, _PLAIN_SCORE = 100, 0.6
_TELLING_ODDS, _WHOLE = -1.5, 0.9
_FURNITURE = NAV | FOOTER | DIALOG | BUTTON


def judge(drafts: Sequence[Draft], containers: Sequence[Container], title: str, source: str, url: str) -> None:
    """Set ``score`` and ``main`` of every draft that is not hidden."""
    page = page_of(title, source, url)
    trees = load_trees()
    measured = measure(drafts, containers, page, trees.lexicon)
    visible = np.array([draft.visibility != "hidden" for draft in drafts])
    scores = np.zeros(len(drafts))
    scores[visible] = trees.scores(measured.table[visible])
    words, start, end = measured.words, measured.start, measured.end
    if words.sum() < _PLAIN_WORDS or _is_bare(containers, trees.lexicon):
        scores = _plain(drafts, containers, scores, words, trees.lexicon)
    chosen, expected = choose(scores, words)
    if is_manual(drafts, words, source, page):
        chosen = choose_manual(drafts, containers, scores, words, start, end)
    elif expected < UNCONVINCING:
        chosen[:] = False
    elif page.is_article and not _FORUM_PATH.search(page.path):
        chosen, scores = choose_article(drafts, containers, scores, words, start, end)
    chosen = with_headings(drafts, scores, chosen)
    for draft, is_main, score in zip(drafts, (chosen & visible).tolist(), scores.tolist(), strict=True):
        draft.main, draft.score = is_main, round(score, 3)


def page_of(title: str, source: str, url: str) -> Page:
    """What a page says of itself as a whole."""
    return Page(title, _ARTICLE.search(source) is not None, urlsplit(url).path)


def is_manual(drafts: Sequence[Draft], words: Array, source: str, page: Page) -> bool:
    """Whether the page looks like documentation: by what made it, or by its code and definitions."""
    if page.is_article:
        return False
    maker = source.find("generator")
    if maker >= 0 and _MANUAL_MAKER.search(source, max(0, maker - _MAKER_CHARS), maker + _MAKER_CHARS):
        return True
    if "sphinxsidebar" in source:
        return True
    technical = np.array([draft.kind in ("code", "term", "definition") for draft in drafts])
    share = float((words * technical).sum()) / max(1.0, float(words.sum()))
    return share >= _MANUAL_SHARE or (share >= _MANUAL_SHARE_WITH_PATH and _MANUAL_PATH.search(page.path) is not None)


def _is_bare(containers: Sequence[Container], lexicon: Mapping[str, float]) -> bool:
    return not any(word in lexicon for c in containers if c.start < c.end for word in c.words)


def _plain(
    drafts: Sequence[Draft],
    containers: Sequence[Container],
    scores: Array,
    words: Array,
    lexicon: Mapping[str, float],
) -> Array:
    """*scores*, raised for what is neither a link nor furniture."""
    sums = np.concatenate([[0.0], np.cumsum(words)])
    is_furniture = [False] * len(containers)
    for number, container in enumerate(containers):
        held = sums[container.end] - sums[container.start]
        told = any(lexicon.get(word, 0.0) < _TELLING_ODDS for word in container.words) and held < _WHOLE * sums[-1]
        is_furniture[number] = is_furniture[container.parent] or told or bool(container.flags & _FURNITURE)
    left = [is_furniture[draft.container] or draft.link_share > 0.5 for draft in drafts]
    return np.where(left, scores, np.maximum(scores, _PLAIN_SCORE))
