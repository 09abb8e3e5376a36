"""Writes what the pages of docs/reference/providers take from the table of facts; a test compares them with it.

python tools/make_provider_pages.py       write them
"""

from __future__ import annotations

import sys
from pathlib import Path

from firsthand.web.search.codec import OUTCOMES
from firsthand.web.search.facts import FACTS, READ, EngineFacts

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference" / "providers"
_BEGIN, _END = "<!-- facts -->\n", "<!-- end of facts -->\n"
_SITES = {
    "operator": "`site:host` in the text",
    "field": "`site:host` in the text, sent in a field of its own",
    "none": "none; `site:github.com` becomes the word `github`",
}


def pages() -> dict[str, str]:
    """Every page by its path below the project: the index whole, the others with their facts in place."""
    found = {"docs/reference/providers/README.md": _index()}
    for name, facts in FACTS.items():
        path = FOLDER / f"{name}.md"
        before, _, rest = path.read_text(encoding="utf-8").partition(_BEGIN)
        found[str(path.relative_to(ROOT))] = f"{before}{_BEGIN}{_table(facts)}{_END}{rest.partition(_END)[2]}"
    return found


def _table(facts: EngineFacts) -> str:
    rows = {
        "name for `--search`": f"`{facts.name}`",
        "key": f"`FIRSTHAND_{facts.key_setting.upper()}`" if facts.needs_key else "none",
        "price of one search": _price(facts),
        "hits of one search": f"at most {facts.max_hits}",
        "length of a query": _length(facts),
        "sites": _SITES[facts.sites],
        "operators": ", ".join(facts.operators) or "none",
        "time filters": ", ".join(facts.time_filters) or "none",
        "categories": ", ".join(facts.categories) or "none",
        "language": "sent" if facts.has_language else "not sent",
        "region": "sent with the language" if facts.has_region else "not sent",
        "safe search": f"`{facts.safe_search}`" if facts.safe_search else "not sent",
        "sent twice, charged once": "yes" if facts.has_idempotency_key else "no; a paid search is never sent again",
        "source": f"{facts.source} ({READ})",
    }
    return "| fact | value |\n|---|---|\n" + "".join(f"| {fact} | {value} |\n" for fact, value in rows.items())


def _price(facts: EngineFacts) -> str:
    if not facts.price_microusd:
        return "free"
    text = f"{facts.price_microusd:,} micro-dollars"
    if facts.extra_hit_microusd:
        text += f" up to {facts.hits_in_price} hits, {facts.extra_hit_microusd:,} for each more"
    return f"{text} ({facts.price_source}; {READ})"


def _length(facts: EngineFacts) -> str:
    words = f" and {facts.max_query_words} words" if facts.max_query_words else ""
    return f"{facts.max_query_chars:,} characters{words}; a longer question is cut at a word and keeps its names"


def _index() -> str:
    rows = "".join(
        f"| [{facts.title}]({name}.md) | `{name}` | {'key' if facts.needs_key else 'none'} | "
        f"{f'{facts.price_microusd:,}' if facts.price_microusd else 'free'} | {facts.max_query_chars:,} | "
        f"{facts.sites} | {', '.join(facts.time_filters) or 'none'} |\n"
        for name, facts in FACTS.items()
    )
    codes = "".join(f"| `{code}` | `{outcome}` |\n" for code, outcome in OUTCOMES.items())
    return (
        "# Search providers\n\n"
        "A provider gives addresses; a page is cited only after Firsthand fetched and kept it. Whatever a provider says\n"
        "about a page (a snippet, a highlight, its whole text) is never quoted.\n\n"
        "| provider | `--search` | key | micro-dollars a search | characters | sites | time filters |\n"
        "|---|---|---|---|---|---|---|\n"
        f"{rows}"
        "| [the library](library.md) | `--library NAME` | none | free | | | |\n\n"
        "`--search duckduckgo` is the keyless chain: ddgs, duckduckgo-html, and searxng if there is an instance.\n\n"
        "## How a search can fail\n\n"
        'A provider that refused is never "no results". Each failure has a code and one of the [outcomes](../outcomes.md).\n\n'
        f"| code | outcome |\n|---|---|\n{codes}"
    )


def main() -> int:
    for name, text in pages().items():
        (ROOT / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
