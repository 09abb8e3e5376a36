"""open_deep_research: its own Tavily search with the address of the world, all models the double."""

from __future__ import annotations

import os
from typing import Any

from benchmarks.world import clock

MODELS = ("research_model", "summarization_model", "compression_model", "final_report_model")


def load() -> clock.Ask:
    """The program, imported."""
    os.environ |= {"TAVILY_API_KEY": "tvly-world", "GET_API_KEYS_FROM_CONFIG": "false", "LANGSMITH_TRACING": "false"}
    clock.use_shipped_tokenizer()
    import tavily  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from open_deep_research import utils  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from open_deep_research.deep_researcher import deep_researcher  # type: ignore[import-not-found,import-untyped,unused-ignore]

    def client(api_key: str | None = None, **_: Any) -> Any:
        return tavily.AsyncTavilyClient(api_key="tvly-world", api_base_url=f"{os.environ['WORLD']}/tavily")

    utils.AsyncTavilyClient = client
    chosen = {**dict.fromkeys(MODELS, "openai:double"), "allow_clarification": False, "search_api": "tavily"}

    async def ask(question: str) -> str:
        messages = {"messages": [{"role": "user", "content": question}]}
        state = await deep_researcher.ainvoke(messages, {"configurable": chosen})
        return str(state["final_report"])

    return ask


if __name__ == "__main__":
    clock.main(load)
