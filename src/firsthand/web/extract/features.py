"""What the judgement knows of each block: figures made from the walk's blocks and containers.

Containers are ranges of blocks, so a figure of a container is a difference of sums that run through the page. Nothing
here depends on the language but the class words; scripts without spaces count by characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.web.extract.drafts import Draft
from firsthand.web.extract.elements import MAIN, N_JUDGED_FLAGS
from firsthand.web.extract.walk import Container

Array = NDArray[Any]
KINDS = ("heading", "paragraph", "item", "term", "definition", "code", "row", "caption", "quote")
N_LEVELS = 5  # of containers around a block
_CHARS_OF_WORD = 6.0  # English with its space
_WIDE = 2.5  # a character of a script without spaces says as much as this many letters; from XQuAD's parallel texts
_LONG = 150.0  # size of a block that is more than a label or a teaser
_LOW_LINKS = 0.3
_CORE_SHARE = 0.6
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Page:
    """What the source says of the page as a whole."""

    title: str = ""
    is_article: bool = False  # og:type or JSON-LD says so
    path: str = ""  # of its address


@dataclass(frozen=True, slots=True)
class Measured:
    """Features of the blocks: ``table[i]`` belongs to draft i."""

    table: Array  # float32, blocks × NAMES
    words: Array  # of each block
    start: Array
    end: Array  # of each container
    names: tuple[str, ...]


def measure(
    drafts: Sequence[Draft], containers: Sequence[Container], page: Page, lexicon: Mapping[str, float]
) -> Measured:
    """The features of every draft. *lexicon*: class word → log-odds that text under it is main."""
    n = len(drafts)
    columns: dict[str, Array] = {}
    shape = _shapes(drafts)
    size, words, links = shape["size"], shape["words"], shape["links"]
    visible = np.array([draft.visibility != "hidden" for draft in drafts], dtype=np.float64)
    size, words = size * visible, words * visible
    link_size = links * size
    is_long = (size >= _LONG) & (links < _LOW_LINKS)
    long_size = size * is_long
    kinds = np.array([KINDS.index(draft.kind) for draft in drafts])
    is_prose = (kinds == 1) | (kinds == 8)
    total = max(1.0, float(size.sum()))
    total_long = max(1.0, float(long_size.sum()))

    # Sums that run through the page, one column each.
    base = np.stack(
        [np.ones(n), size, link_size, long_size, size * is_prose, shape["stops"], kinds == 0, size * (kinds == 2)],
        axis=1,
    )
    sums = np.zeros((n + 1, base.shape[1]))
    np.cumsum(base, axis=0, out=sums[1:])
    start = np.array([c.start for c in containers])
    end = np.array([c.end for c in containers])
    held = sums[end] - sums[start]
    around = _Around(drafts, containers, held, lexicon, total_long)

    # -- the block itself
    columns["is_heading"], columns["is_caption"] = kinds == 0, kinds == 7
    columns["level"] = np.array([draft.level for draft in drafts])
    columns["size"] = np.log1p(size)
    columns["links"] = links
    columns["capitals"] = shape["capitals"] / np.maximum(1.0, size)
    for name in ("stops", "word_size", "ends"):
        columns[name] = shape[name]
    earlier, again = _duplicates(drafts)
    columns["dup_earlier"], columns["dup_count"] = earlier, again

    # -- place in the page
    index = np.arange(n)
    columns["place"] = index / max(1, n - 1)
    before = sums[:-1]
    columns["size_before"] = before[:, 1] / total
    columns["size_after"] = 1.0 - sums[1:, 1] / total
    columns["index_back"] = np.minimum(n - 1 - index, 200)
    columns["long_before"] = before[:, 3] / total_long
    heads = np.maximum.accumulate(np.where(kinds == 0, index, -1))
    columns["since_heading"] = np.where(heads < 0, 50, np.minimum(50, index - heads))

    # -- title
    match, score = _title_block(drafts, page.title)
    if match < 0:
        columns["after_title"] = columns["from_title"] = columns["size_from_title"] = np.full(n, -1.0)
    else:
        columns["after_title"] = index > match
        columns["from_title"] = np.clip(index - match, -60, 120)
        columns["size_from_title"] = (before[:, 1] - before[match, 1]) / total
    h1 = next((i for i, draft in enumerate(drafts) if draft.level == 1 and draft.kind == "heading"), -1)
    columns["after_h1"] = index > h1 if h1 >= 0 else np.full(n, -1.0)

    # -- neighbours
    for name, values in (("size", columns["size"]), ("links", links)):
        columns[f"{name}-1"] = np.concatenate([[0.0], values[:-1]])
        columns[f"{name}+1"] = np.concatenate([values[1:], [0.0]])
    for reach in (4, 12):
        low, high = np.maximum(0, index - reach), np.minimum(n, index + reach + 1)
        window = sums[high] - sums[low]
        amount = np.maximum(1.0, window[:, 1])
        columns[f"window_long{reach}"] = window[:, 3] / amount
        columns[f"window_links{reach}"] = window[:, 2] / amount
        columns[f"window_size{reach}"] = np.log1p(window[:, 1] / (high - low))

    # -- containers around
    own = around.own
    flags = around.flags[own]
    for bit in range(N_JUDGED_FLAGS):
        columns[f"flag{bit}"] = (flags >> bit) & 1
    columns["depth"] = around.depth[own]
    for name, values in around.lexical.items():
        columns[name] = values[own]
    columns["inside_core"] = around.inside[own]
    columns["to_core"] = around.depth[around.core] - around.lca[own]
    level = own
    for number in range(N_LEVELS):
        level = around.wider[level] if number else level
        figures = held[level]
        amount = np.maximum(1.0, figures[:, 1])
        if number:
            columns[f"up{number}_blocks"] = np.log1p(figures[:, 0])
            columns[f"up{number}_long"] = figures[:, 3] / total_long
            columns[f"up{number}_stops"] = figures[:, 5] / amount * 100
        columns[f"up{number}_mean"] = np.log1p(figures[:, 1] / np.maximum(1.0, figures[:, 0]))
        columns[f"up{number}_links"] = figures[:, 2] / amount
        columns[f"up{number}_prose"] = figures[:, 4] / amount
        columns[f"up{number}_share"] = figures[:, 1] / total
    counts, amounts, linked, longs = around.groups
    for name, groups in (("own", around.signature), ("group", around.repeated)):
        group = groups[own]
        amount = np.maximum(1.0, amounts[group])
        columns[f"{name}_count"] = np.log1p(counts[group])
        columns[f"{name}_mean"] = np.log1p(amounts[group] / np.maximum(1, counts[group]))
        columns[f"{name}_links"] = linked[group] / amount
        columns[f"{name}_share"] = amounts[group] / total
        columns[f"{name}_long"] = longs[group] / total_long

    whole = sums[-1] / total
    facts = {
        "title_score": score,
        "core_share": held[around.core, 3] / total_long,
        "page_blocks": np.log1p(n),
        "page_size": np.log1p(total),
        "page_links": whole[2],
        "page_long": whole[3],
        "page_prose": whole[4],
        "page_stops": whole[5] * 100,
        "page_items": whole[7],
        "page_headings": whole[6] * total / n,
        "page_rows": np.count_nonzero(kinds == 6) / n,
        "page_code": float(size[kinds == 5].sum()) / total,
        "page_main": float(bool(around.all_flags & MAIN)),
        "page_articles": np.log1p(around.n_articles),
        "page_is_article": float(page.is_article),
        "page_long_blocks": np.log1p(np.count_nonzero(is_long)),
        "page_path": float(page.path.strip("/").count("/")),
        "page_path_size": float(len(page.path)),
        "page_dup": float(earlier.mean()),
        "page_lexical": float(around.lexical["lex_near"].mean()),
    }
    table = np.empty((n, len(columns) + len(facts)), dtype=np.float32)
    for number, values in enumerate(columns.values()):
        table[:, number] = values
    table[:, len(columns) :] = list(facts.values())
    return Measured(table, words, start, end, (*columns, *facts))


def _shapes(drafts: Sequence[Draft]) -> dict[str, Array]:
    """Counts of sorts of characters, one a block."""
    texts = [draft.text for draft in drafts]
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    stops_at = np.cumsum(lengths)
    starts_at = stops_at - lengths
    chars = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)

    def count(mask: Array) -> Array:
        running = np.zeros(len(chars) + 1)
        np.cumsum(mask, out=running[1:])
        found: Array = running[stops_at] - running[starts_at]
        return found

    wide = (
        count((chars >= 0x2E80) & (chars < 0xFB00) | (chars >= 0x0E00) & (chars < 0x0F00))
        if len(chars) and chars.max() >= 0x0E00
        else np.zeros(len(texts))
    )
    size = lengths + (_WIDE - 1) * wide
    spaces = count((chars == 32) | (chars == 10) | (chars == 9))
    words = np.maximum(spaces + 1, size / (2 * _CHARS_OF_WORD))
    sentence = (chars == 46) | (chars == 33) | (chars == 63) | (chars == 0x3002) | (chars == 0x964)
    last = chars[stops_at - 1] if len(chars) else np.zeros(0, dtype=np.uint32)
    ends = (last == 46) | (last == 33) | (last == 63) | (last == 0x3002) | (last == 0x201D) | (last == 0x964)
    return {
        "size": size,
        "words": words,
        "links": np.array([draft.link_share for draft in drafts]),
        "stops": count(sentence),
        "capitals": count((chars >= 65) & (chars <= 90)),
        "word_size": size / words,
        "ends": ends,
    }


def _duplicates(drafts: Sequence[Draft]) -> tuple[Array, Array]:
    """How often each text stood before, and how often it stands on the page."""
    seen: dict[str, int] = {}
    earlier = []
    for draft in drafts:
        count = seen.get(draft.text, 0)
        earlier.append(min(count, 5))
        seen[draft.text] = count + 1
    return np.array(earlier), np.array([min(seen[draft.text], 10) for draft in drafts])


def _title_block(drafts: Sequence[Draft], title: str) -> tuple[int, float]:
    """The block that repeats the page's title best, and how well; -1 if none does."""
    wanted = set(_WORDS.findall(title.lower()))
    best, best_score = -1, 0.0
    if not wanted:
        return best, best_score
    longest = max(wanted, key=len)
    for i, draft in enumerate(drafts):
        is_heading = draft.kind == "heading"
        if not (12 if not is_heading else 0) <= len(draft.text) <= 300 or draft.visibility == "hidden":
            continue
        text = draft.text.lower()
        if not is_heading and longest not in text:
            continue
        found = set(_WORDS.findall(text))
        score = 2 * len(found & wanted) / (len(found) + len(wanted)) + (0.15 if is_heading else 0.0)
        if score > max(best_score, 0.4):
            best, best_score = i, score
    return best, best_score


class _Around:
    """What is known of each container from those around it."""

    def __init__(
        self,
        drafts: Sequence[Draft],
        containers: Sequence[Container],
        held: Array,
        lexicon: Mapping[str, float],
        total_long: float,
    ) -> None:
        self.own = np.array([draft.container for draft in drafts], dtype=np.int64)
        self.flags = np.array([c.flags for c in containers])
        self.all_flags = int(np.bitwise_or.reduce(self.flags))
        self.n_articles = sum(c.tag == "article" for c in containers)
        sizes = held[:, 3].tolist()
        self.core = 0
        for i, amount in enumerate(sizes):  # parents first: the last that holds enough is the innermost
            if amount >= _CORE_SHARE * total_long and containers[i].end - containers[i].start > 1:
                self.core = i
        chain = set()
        at = self.core
        while at:
            chain.add(at)
            at = containers[at].parent
        chain.add(0)
        m = len(containers)
        depth, lca, inside, wider = [0] * m, [0] * m, [0] * m, [0] * m
        low, high, total, near = [0.0] * m, [0.0] * m, [0.0] * m, [0.0] * m
        own_score = [0.0] * m
        signature, repeated = [0] * m, [0] * m
        known: dict[Any, int] = {}
        scores: dict[tuple[str, ...], tuple[float, float, float]] = {}
        words_of: list[tuple[str, ...]] = [()] * m
        for i, c in enumerate(containers):
            p = c.parent
            inside[i] = int(i == self.core or inside[p])
            if i == 0:
                continue
            depth[i] = depth[p] + 1
            lca[i] = depth[i] if i in chain else lca[p]
            parent = containers[p]
            wider[i] = p if (parent.start != c.start or parent.end != c.end) else wider[p]
            if c.start == c.end:  # empty: no block asks for it
                continue
            words = words_of[i] = c.words
            if words:
                found = scores.get(words)
                if found is None:
                    values = [lexicon[word] for word in words if word in lexicon]
                    found = scores[words] = (min(values), max(values), sum(values)) if values else (0.0, 0.0, 0.0)
                lowest, highest, mine = found
            else:
                lowest = highest = mine = 0.0
            own_score[i] = mine
            low[i], high[i] = min(low[p], lowest), max(high[p], highest)
            total[i] = 0.7 * total[p] + mine
            near[i] = mine + 0.5 * own_score[p] + 0.25 * own_score[parent.parent]
            signature[i] = known.setdefault((c.tag, words, parent.tag, words_of[p]), len(known) + 1)
        self.signature = np.array(signature)
        n_groups = len(known) + 1
        counts = np.bincount(self.signature, minlength=n_groups)
        for i in range(1, m):
            if containers[i].start == containers[i].end:
                continue
            repeated[i] = signature[i] if counts[signature[i]] >= 3 and words_of[i] else repeated[containers[i].parent]
        self.repeated = np.array(repeated)
        self.groups = (
            counts,
            np.bincount(self.signature, held[:, 1], n_groups),
            np.bincount(self.signature, held[:, 2], n_groups),
            np.bincount(self.signature, held[:, 3], n_groups),
        )
        self.depth, self.lca, self.inside = np.array(depth), np.array(lca), np.array(inside)
        self.wider = np.array(wider)
        self.lexical = {
            "lex_own": np.array(own_score),
            "lex_low": np.array(low),
            "lex_high": np.array(high),
            "lex_total": np.array(total),
            "lex_near": np.array(near),
        }
