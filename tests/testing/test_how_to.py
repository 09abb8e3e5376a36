"""The how-to page about the world: its Python runs, and it names every engine and trouble there is."""

from __future__ import annotations

import re
from pathlib import Path

from firsthand.testing.world import ENGINE_NAMES, TROUBLES

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "test-against-a-world-that-misbehaves.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_examples_of_the_page_run_one_after_the_other() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(blocks) == 2


def test_the_page_names_every_engine_and_trouble() -> None:
    assert [name for name in ENGINE_NAMES if f"`{name}`" not in TEXT] == []
    assert [name for name in TROUBLES if f"\n{name} " not in TEXT] == []
