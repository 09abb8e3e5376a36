"""From a score for each block to the set of main blocks.

The set with the best expected F1 wins: blocks in the order of their scores, cut where twice the expected words in
common over the words of both is largest. So a page with clear scores is cut high and a muddled one low. Articles and
manuals then get what is known of their kind: an article is one place of a page, a manual keeps its lists and code whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.web.extract.drafts import Draft
from firsthand.web.extract.elements import CAPTION, FOOTER, NAV, QUOTE
from firsthand.web.extract.walk import Container

Array = NDArray[Any]
UNCONVINCING = 0.15  # expected F1 below which a page has no main text; best of 0.05 to 0.35 on WCXB dev
_COMMENTS = frozenset({"comment", "comments", "respond", "disqus", "reply", "replies"})
_CREDITS = frozenset({"caption", "credit", "credits"})
_LIKELY, _OWN_WORDS = 0.5, 30  # a page with less beside its "comments" only calls its text so
_QUOTED = 0.6  # the least score of a quotation in an article
_COPY_CHARS, _COPY_HEADS = 600, 3
_COPY_LOOKS, _COPY_LOOK_CHARS = 200, 5000  # so that a page of long blocks costs no more than others
_MANUAL_CUT = 0.2
_HEADING_SCORE = 0.3  # guess
_WHOLE_SHARE = 0.4  # of a list, a table or a code block chosen: then all of it is
_ONE_PLACE_SHARE = 0.9


def choose(scores: Array, words: Array) -> tuple[Array, float]:
    """The blocks with the largest expected F1, as booleans, and that F1."""
    order = np.argsort(-scores, kind="stable")
    likely = scores * words
    expected = 2 * np.cumsum(likely[order]) / (np.cumsum(words[order]) + likely.sum() + 1e-9)
    last = int(np.argmax(expected))
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[order[: last + 1]] = True
    return chosen, float(expected[last])


def choose_article(
    drafts: Sequence[Draft], containers: Sequence[Container], scores: Array, words: Array, start: Array, end: Array
) -> tuple[Array, Array]:
    """The main blocks of an article, and their scores as this kind of page changes them: comments and copies are not
    main, captions and credits half as likely, what is quoted in the article's best place is."""
    scores = scores.copy()
    own = np.array([draft.container for draft in drafts])
    flags = np.array([container.flags for container in containers])[own]
    is_comment, is_credit = _under(containers, _COMMENTS)[own], _under(containers, _CREDITS)[own]
    if words[(scores >= _LIKELY) & ~is_comment].sum() >= _OWN_WORDS:
        scores[is_comment] = 0.0
    scores[is_credit | (flags & CAPTION > 0) | np.array([draft.kind == "caption" for draft in drafts])] *= 0.5
    scores[_copies(drafts)] = 0.0
    best = _best_place(scores, words, start, end)
    at = np.arange(len(drafts))
    quoted = (at >= start[best]) & (at < end[best]) & (flags & QUOTE > 0) & ~is_comment
    scores[quoted] = np.maximum(scores[quoted], _QUOTED)
    return choose(scores, words)[0], scores


def choose_manual(
    drafts: Sequence[Draft], containers: Sequence[Container], scores: Array, words: Array, start: Array, end: Array
) -> Array:
    """The main blocks of documentation: a low cut, and lists, tables, code and headings whole, its title first."""
    chosen = (scores >= _MANUAL_CUT) & (words > 0)
    total = float((words * chosen).sum())
    if not total:
        return chosen
    sums = np.concatenate([[0.0], np.cumsum(words * chosen)])
    held = sums[end] - sums[start]
    place = int(np.flatnonzero(held >= _ONE_PLACE_SHARE * total)[-1])
    at = np.arange(len(drafts))
    inside = (at >= start[place]) & (at < end[place])
    flags = np.array([container.flags for container in containers])[[draft.container for draft in drafts]]
    inside &= (flags & (NAV | FOOTER) == 0) & (words > 0)
    groups = np.array([draft.group for draft in drafts])
    n_groups = int(groups.max(initial=0)) + 1
    of_group = np.bincount(groups, words, n_groups)
    share = np.bincount(groups, words * chosen, n_groups) / np.maximum(1e-9, of_group)
    whole = share >= _WHOLE_SHARE
    whole[0] = False
    units = np.array([draft.kind in ("heading", "term", "code", "row") for draft in drafts])
    main: Array = chosen | (inside & (units | whole[groups]))
    title = next((at for at, draft in enumerate(drafts) if draft.level == 1 and draft.kind == "heading"), None)
    if title is not None:
        main[title] |= words[title] > 0
    return main


def with_headings(drafts: Sequence[Draft], scores: Array, chosen: Array) -> Array:
    """*chosen*, with the headings below the title that stand right above what is chosen."""
    chosen = chosen.copy()
    is_followed = False
    for at in range(len(drafts) - 1, -1, -1):
        draft = drafts[at]
        if draft.visibility == "hidden":
            continue
        if draft.kind != "heading":
            is_followed = bool(chosen[at])
        elif draft.level > 1 and is_followed and scores[at] >= _HEADING_SCORE:
            chosen[at] = True
    return chosen


def _under(containers: Sequence[Container], words: frozenset[str]) -> Array:
    """Which containers have one of *words*, or stand in one that has."""
    found = np.zeros(len(containers), dtype=bool)
    for number, container in enumerate(containers):
        if container.start < container.end:
            found[number] = found[container.parent] or not words.isdisjoint(container.words)
    return found


def _best_place(scores: Array, words: Array, start: Array, end: Array) -> int:
    """The container in which most is main and least is not."""
    sums = np.concatenate([[0.0], np.cumsum(words * (scores - 0.5))])
    gains = sums[end] - sums[start]
    return int(np.flatnonzero(gains >= gains.max() - 1e-9)[-1])


def _copies(drafts: Sequence[Draft]) -> Array:
    """Long blocks that hold the beginnings of three others: the article once more, for a script."""
    copies = np.zeros(len(drafts), dtype=bool)
    longest = [number for number, draft in enumerate(drafts) if len(draft.text) >= _COPY_CHARS]
    heads = [draft.text[:40] for draft in drafts if len(draft.text) >= 80]
    if len(heads) > 3:
        for number in longest[:20]:
            text = drafts[number].text
            copies[number] = sum(head in text for head in heads) > _COPY_HEADS
    return copies
