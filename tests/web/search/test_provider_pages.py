"""The pages of docs/reference/providers beside the table of facts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firsthand.web.search.codec import OUTCOMES
from firsthand.web.search.facts import FACTS, EngineFacts
from tools.make_provider_pages import FOLDER, ROOT, pages

PAGES = sorted(path.name for path in FOLDER.glob("*.md"))


def test_every_provider_has_a_page_and_every_page_a_provider() -> None:
    assert sorted([*(f"{name}.md" for name in FACTS), "README.md", "library.md"]) == PAGES


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_page_says_what_the_table_says(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == pages()[name], "run: python tools/make_provider_pages.py"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_only_codes_that_exist(name: str) -> None:
    text = (Path(FOLDER) / name).read_text(encoding="utf-8")
    assert set(re.findall(r"`(provider_\w+)`", text)) <= set(OUTCOMES)


@pytest.mark.parametrize("facts", FACTS.values(), ids=lambda facts: facts.name)
def test_the_facts_of_a_provider_agree_with_each_other(facts: EngineFacts) -> None:
    assert bool(facts.price_microusd) == facts.needs_key == bool(facts.price_source)
    assert facts.key_setting in ("", f"{facts.name}_api_key")
    assert set(facts.time_filters) <= {"day", "week", "month", "year"} and set(facts.categories) <= {"news", "academic"}
    assert facts.max_hits >= 1 and facts.max_query_chars >= 200
