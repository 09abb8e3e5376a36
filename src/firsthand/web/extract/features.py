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
Columns = dict[str, Array]
KINDS = ("heading", "paragraph", "item", "term", "definition", "code", "row", "caption", "quote")
_HEADING, _PARAGRAPH, _ITEM, _, _, _CODE, _ROW, _CAPTION, _QUOTE = range(len(KINDS))
_COUNT, _SIZE, _LINKED, _LONG_SIZE, _PROSE, _STOPS, _HEADINGS, _ITEM_SIZE = range(8)  # what is summed
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
    """The features of every draft, of which there is one at least.

    *lexicon*: class word → log-odds that text under it is main.
    """
    sums = _Sums(drafts)
    start = np.array([container.start for container in containers])
    end = np.array([container.end for container in containers])
    around = _Around(drafts, containers, sums.through[end] - sums.through[start], lexicon, sums.total_long)
    columns = {**_own(sums, drafts), **_places(sums)}
    titles, title_score = _titles(sums, drafts, page.title)
    columns |= {**titles, **_neighbours(sums), **_surroundings(sums, around), **_groups(sums, around)}
    facts = {"title_score": title_score, **_of_page(sums, around, page)}
    facts["page_dup"] = float(columns["dup_earlier"].mean())
    facts["page_lexical"] = float(around.lexical["lex_near"].mean())
    table = np.empty((len(drafts), len(columns) + len(facts)), dtype=np.float32)
    for number, values in enumerate(columns.values()):
        table[:, number] = values
    table[:, len(columns) :] = list(facts.values())
    return Measured(table, sums.words, start, end, (*columns, *facts))


class _Sums:
    """Amounts of each block, and their sums that run through the page: blocks × (_COUNT, _SIZE ...)."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        shape = _shapes(drafts)
        visible = np.array([draft.visibility != "hidden" for draft in drafts], dtype=np.float64)
        self.n = len(drafts)
        self.index = np.arange(self.n)
        self.shape = shape
        self.size, self.words, self.links = shape["size"] * visible, shape["words"] * visible, shape["links"]
        self.kinds = np.array([KINDS.index(draft.kind) for draft in drafts])
        self.is_long = (self.size >= _LONG) & (self.links < _LOW_LINKS)
        amounts = [
            np.ones(self.n),
            self.size,
            self.links * self.size,
            self.size * self.is_long,
            self.size * ((self.kinds == _PARAGRAPH) | (self.kinds == _QUOTE)),
            shape["stops"],
            self.kinds == _HEADING,
            self.size * (self.kinds == _ITEM),
        ]
        self.through = np.zeros((self.n + 1, len(amounts)))
        np.cumsum(np.stack(amounts, axis=1), axis=0, out=self.through[1:])
        self.total = max(1.0, float(self.through[-1, _SIZE]))
        self.total_long = max(1.0, float(self.through[-1, _LONG_SIZE]))


def _own(sums: _Sums, drafts: Sequence[Draft]) -> Columns:
    """The block itself."""
    earlier, again = _duplicates(drafts)
    return {
        "is_heading": sums.kinds == _HEADING,
        "is_caption": sums.kinds == _CAPTION,
        "level": np.array([draft.level for draft in drafts]),
        "size": np.log1p(sums.size),
        "links": sums.links,
        "capitals": sums.shape["capitals"] / np.maximum(1.0, sums.size),
        "stops": sums.shape["stops"],
        "word_size": sums.shape["word_size"],
        "ends": sums.shape["ends"],
        "dup_earlier": earlier,
        "dup_count": again,
    }


def _places(sums: _Sums) -> Columns:
    """Where in the page it stands."""
    heads = np.maximum.accumulate(np.where(sums.kinds == _HEADING, sums.index, -1))
    return {
        "place": sums.index / max(1, sums.n - 1),
        "size_before": sums.through[:-1, _SIZE] / sums.total,
        "size_after": 1.0 - sums.through[1:, _SIZE] / sums.total,
        "index_back": np.minimum(sums.n - 1 - sums.index, 200),
        "long_before": sums.through[:-1, _LONG_SIZE] / sums.total_long,
        "since_heading": np.where(heads < 0, 50, np.minimum(50, sums.index - heads)),
    }


def _titles(sums: _Sums, drafts: Sequence[Draft], title: str) -> tuple[Columns, float]:
    """Where it stands from what repeats the page's title and from its first heading; how well the title is repeated."""
    none = np.full(sums.n, -1.0)
    match, score = _title_block(drafts, title)
    columns: Columns = dict.fromkeys(("after_title", "from_title", "size_from_title"), none)
    if match >= 0:
        before = sums.through[:-1, _SIZE]
        columns["after_title"] = sums.index > match
        columns["from_title"] = np.clip(sums.index - match, -60, 120)
        columns["size_from_title"] = (before - before[match]) / sums.total
    h1 = next((i for i, draft in enumerate(drafts) if draft.level == 1 and draft.kind == "heading"), -1)
    columns["after_h1"] = sums.index > h1 if h1 >= 0 else none
    return columns, score


def _neighbours(sums: _Sums) -> Columns:
    """What stands before and after it."""
    columns: Columns = {}
    for name, values in (("size", np.log1p(sums.size)), ("links", sums.links)):
        columns[f"{name}-1"] = np.concatenate([[0.0], values[:-1]])
        columns[f"{name}+1"] = np.concatenate([values[1:], [0.0]])
    for reach in (4, 12):
        low, high = np.maximum(0, sums.index - reach), np.minimum(sums.n, sums.index + reach + 1)
        window = sums.through[high] - sums.through[low]
        amount = np.maximum(1.0, window[:, _SIZE])
        columns[f"window_long{reach}"] = window[:, _LONG_SIZE] / amount
        columns[f"window_links{reach}"] = window[:, _LINKED] / amount
        columns[f"window_size{reach}"] = np.log1p(window[:, _SIZE] / (high - low))
    return columns


def _surroundings(sums: _Sums, around: _Around) -> Columns:
    """The containers around it."""
    own = around.own
    flags = around.flags[own]
    columns: Columns = {f"flag{bit}": (flags >> bit) & 1 for bit in range(N_JUDGED_FLAGS)}
    columns["depth"] = around.depth[own]
    columns |= {name: values[own] for name, values in around.lexical.items()}
    columns["inside_core"] = around.inside[own]
    columns["to_core"] = around.depth[around.core] - around.lca[own]
    level = own
    for number in range(N_LEVELS):
        level = around.wider[level] if number else level
        held = around.held[level]
        amount = np.maximum(1.0, held[:, _SIZE])
        if number:
            columns[f"up{number}_blocks"] = np.log1p(held[:, _COUNT])
            columns[f"up{number}_long"] = held[:, _LONG_SIZE] / sums.total_long
            columns[f"up{number}_stops"] = held[:, _STOPS] / amount * 100
        columns[f"up{number}_mean"] = np.log1p(held[:, _SIZE] / np.maximum(1.0, held[:, _COUNT]))
        columns[f"up{number}_links"] = held[:, _LINKED] / amount
        columns[f"up{number}_prose"] = held[:, _PROSE] / amount
        columns[f"up{number}_share"] = held[:, _SIZE] / sums.total
    return columns


def _groups(sums: _Sums, around: _Around) -> Columns:
    """The containers of the page that look like its own, and like the nearest one that is repeated."""
    columns: Columns = {}
    counts, amounts, linked, longs = around.groups
    for name, groups in (("own", around.signature), ("group", around.repeated)):
        group = groups[around.own]
        amount = np.maximum(1.0, amounts[group])
        columns[f"{name}_count"] = np.log1p(counts[group])
        columns[f"{name}_mean"] = np.log1p(amounts[group] / np.maximum(1, counts[group]))
        columns[f"{name}_links"] = linked[group] / amount
        columns[f"{name}_share"] = amounts[group] / sums.total
        columns[f"{name}_long"] = longs[group] / sums.total_long
    return columns


def _of_page(sums: _Sums, around: _Around, page: Page) -> dict[str, float]:
    """The page, the same for all its blocks."""
    whole = sums.through[-1]
    share = whole / sums.total
    return {
        "core_share": around.held[around.core, _LONG_SIZE] / sums.total_long,
        "page_blocks": np.log1p(sums.n),
        "page_size": np.log1p(sums.total),
        "page_links": share[_LINKED],
        "page_long": share[_LONG_SIZE],
        "page_prose": share[_PROSE],
        "page_stops": share[_STOPS] * 100,
        "page_items": share[_ITEM_SIZE],
        "page_headings": whole[_HEADINGS] / sums.n,
        "page_rows": np.count_nonzero(sums.kinds == _ROW) / sums.n,
        "page_code": float(sums.size[sums.kinds == _CODE].sum()) / sums.total,
        "page_main": float(bool(around.all_flags & MAIN)),
        "page_articles": np.log1p(around.n_articles),
        "page_is_article": float(page.is_article),
        "page_long_blocks": np.log1p(np.count_nonzero(sums.is_long)),
        "page_path": float(page.path.strip("/").count("/")),
        "page_path_size": float(len(page.path)),
    }


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
    longest = max(wanted, key=lambda word: (len(word), word))  # a set has no order of its own
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
        self.held = held
        self.own = np.array([draft.container for draft in drafts], dtype=np.int64)
        self.flags = np.array([c.flags for c in containers])
        self.all_flags = int(np.bitwise_or.reduce(self.flags))
        self.n_articles = sum(c.tag == "article" for c in containers)
        self._set_places(containers, total_long)
        self._set_lexical(containers, lexicon)
        self._set_groups(containers)

    def _set_places(self, containers: Sequence[Container], total_long: float) -> None:
        """Depth, the core (the smallest container with most of the long text), and the next wider container."""
        self.core = 0
        for i, amount in enumerate(self.held[:, _LONG_SIZE].tolist()):  # parents first: the last is the innermost
            if amount >= _CORE_SHARE * total_long and containers[i].end - containers[i].start > 1:
                self.core = i
        chain, at = {0}, self.core
        while at:
            chain.add(at)
            at = containers[at].parent
        m = len(containers)
        depth, lca, inside, wider = [0] * m, [0] * m, [0] * m, [0] * m
        inside[0] = int(self.core == 0)
        for i in range(1, m):
            c = containers[i]
            p, parent = c.parent, containers[c.parent]
            inside[i] = int(i == self.core or inside[p])
            depth[i] = depth[p] + 1
            lca[i] = depth[i] if i in chain else lca[p]
            wider[i] = p if (parent.start != c.start or parent.end != c.end) else wider[p]
        self.depth, self.lca = np.array(depth), np.array(lca)
        self.inside, self.wider = np.array(inside), np.array(wider)

    def _set_lexical(self, containers: Sequence[Container], lexicon: Mapping[str, float]) -> None:
        """What the class words of a container and of those around it say. Of an empty one nobody asks."""
        m = len(containers)
        own, low, high, total, near = ([0.0] * m for _ in range(5))
        scores: dict[tuple[str, ...], tuple[float, float, float]] = {(): (0.0, 0.0, 0.0)}
        for i in range(1, m):
            c = containers[i]
            if c.start == c.end:
                continue
            words, p = c.words, c.parent
            found = scores.get(words)
            if found is None:
                values = [lexicon[word] for word in words if word in lexicon]
                found = scores[words] = (min(values), max(values), sum(values)) if values else scores[()]
            lowest, highest, mine = found
            own[i] = mine
            low[i], high[i] = min(low[p], lowest), max(high[p], highest)
            total[i] = 0.7 * total[p] + mine
            near[i] = mine + 0.5 * own[p] + 0.25 * own[containers[p].parent]
        named = {"lex_own": own, "lex_low": low, "lex_high": high, "lex_total": total, "lex_near": near}
        self.lexical = {name: np.array(values) for name, values in named.items()}

    def _set_groups(self, containers: Sequence[Container]) -> None:
        """Containers of the same element and class words in parents of the same: their number, size, links, long text."""
        m = len(containers)
        signature, repeated = [0] * m, [0] * m
        known: dict[Any, int] = {}
        for i in range(1, m):
            c = containers[i]
            if c.start < c.end:
                parent = containers[c.parent]
                signature[i] = known.setdefault((c.tag, c.words, parent.tag, parent.words), len(known) + 1)
        self.signature, n_groups = np.array(signature), len(known) + 1
        counts = np.bincount(self.signature, minlength=n_groups)
        for i in range(1, m):
            c = containers[i]
            if c.start < c.end:
                repeated[i] = signature[i] if counts[signature[i]] >= 3 and c.words else repeated[c.parent]
        self.repeated = np.array(repeated)
        sizes, linked, longs = (
            np.bincount(self.signature, self.held[:, what], n_groups) for what in (_SIZE, _LINKED, _LONG_SIZE)
        )
        self.groups = (counts, sizes, linked, longs)
