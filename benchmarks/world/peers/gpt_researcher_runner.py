"""gpt-researcher: report type research_report, SearXNG retriever, its default page scraper."""

from __future__ import annotations

import os

from benchmarks.world import clock

SETTINGS = {
    "RETRIEVER": "searx", "SCRAPER": "bs", "LLM_TEMPERATURE": "0", "FAST_LLM": "openai:double",
    "SMART_LLM": "openai:double", "STRATEGIC_LLM": "openai:double", "EMBEDDING": "openai:text-embedding-3-small",
    "LANGSMITH_TRACING": "false",
}  # fmt: skip


def load() -> clock.Ask:
    """The program, imported."""
    os.environ |= {**SETTINGS, "SEARX_URL": os.environ["WORLD"]}
    clock.use_shipped_tokenizer()
    from gpt_researcher import GPTResearcher  # type: ignore[import-not-found,import-untyped,unused-ignore]

    async def ask(question: str) -> str:
        researcher = GPTResearcher(query=question, report_type="research_report", verbose=False)
        await researcher.conduct_research()
        return str(await researcher.write_report())

    return ask


if __name__ == "__main__":
    clock.main(load)
