"""Figures of blocks: what they count, and that one page has one table of them."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from firsthand.web.extract.drafts import Draft
from firsthand.web.extract.features import Page, measure
from firsthand.web.extract.walk import Container

TITLE = "river house"  # two words of one length: which is asked for first must not be left to chance
TELLS = f"""
import hashlib
from firsthand.web.extract.drafts import Draft
from firsthand.web.extract.features import Page, measure
from firsthand.web.extract.walk import Container
blocks = [Draft("paragraph", "river riverbank"), Draft("paragraph", "Some more words")]
table = measure(blocks, [Container("", None, 0, 0, 0)], Page({TITLE!r}), {{}}).table
print(hashlib.sha256(table.tobytes()).hexdigest())
"""


def told(seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        [sys.executable, "-c", TELLS], env=environment, check=True, capture_output=True
    ).stdout.decode()


def test_one_page_has_one_table_in_every_process() -> None:
    assert len({told(seed) for seed in range(6)}) == 1


def column(name: str, drafts: list[Draft], containers: list[Container], **more: object) -> list[float]:
    measured = measure(drafts, containers, Page(TITLE), {"nav": -2.0, "post": 1.0})
    return [round(float(value), 3) for value in measured.table[:, measured.names.index(name)]]


def page() -> tuple[list[Draft], list[Container]]:
    """A menu of two links, a title, two long paragraphs and one more that nobody sees."""
    long = "A sentence that says something. " * 8
    drafts = [Draft("item", "Home", link_share=1.0, container=1), Draft("item", "Home", link_share=1.0, container=1)]
    drafts += [Draft("heading", "River House", level=1, container=2)]
    drafts += [Draft("paragraph", long, container=2), Draft("paragraph", long[2:], container=2)]
    drafts += [Draft("paragraph", long, container=2, visibility="hidden", reason="off_screen")]
    containers = [Container("", None, 0, 0, 0), Container("ul", ("nav", None, None), 0, 1, 0)]
    containers += [Container("div", ("post", None, None), 0, 0, 2)]
    for container, end in zip(containers, (6, 2, 6), strict=True):
        container.end = end
    return drafts, containers


def test_what_stands_around_a_block_is_told() -> None:
    assert column("flag0", *page()) == [1, 1, 0, 0, 0, 0]
    assert column("lex_own", *page()) == [-2, -2, 1, 1, 1, 1]
    assert column("inside_core", *page()) == [0, 0, 1, 1, 1, 1]
    assert column("up0_links", *page()) == [1, 1, 0, 0, 0, 0]


def test_a_block_knows_its_place_from_the_title_and_what_stood_before() -> None:
    assert column("after_title", *page()) == [0, 0, 0, 1, 1, 1]
    assert column("from_title", *page()) == [-2, -1, 0, 1, 2, 3]
    assert column("dup_earlier", *page())[:2] == [0, 1]


def test_what_nobody_sees_has_no_size_and_adds_none() -> None:
    drafts, containers = page()
    measured = measure(drafts, containers, Page(TITLE), {})
    assert measured.words[5] == 0 and (measured.words[:5] > 0).all()
    whole = measured.table[0, measured.names.index("page_size")]
    containers[0].end = containers[2].end = 5
    seen = measure(drafts[:5], containers, Page(TITLE), {})
    assert np.isclose(whole, seen.table[0, seen.names.index("page_size")])


def test_scripts_without_spaces_count_by_characters() -> None:
    containers = [Container("", None, 0, 0, 0)]
    containers[0].end = 2
    japanese, english = (
        "潮位は一日に二回変わり、港の入口では三メートルに達する。",
        "The tide changes twice a day and reaches three metres.",
    )
    words = measure([Draft("paragraph", japanese), Draft("paragraph", english)], containers, Page(), {}).words
    assert 0.5 < words[0] / words[1] < 2
