"""pydantic-ai: one Agent with its DuckDuckGo tool, led to the world, and its web_fetch tool, local addresses allowed."""

from __future__ import annotations

import os

from benchmarks.world import clock

PROMPT = "Answer from the web. Search, read pages, then answer with links."


def load() -> clock.Ask:
    """The program, imported."""
    from ddgs import engines  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from ddgs.engines import duckduckgo  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from pydantic_ai import Agent  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from pydantic_ai.common_tools.duckduckgo import duckduckgo_search_tool  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from pydantic_ai.common_tools.web_fetch import web_fetch_tool  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from pydantic_ai.models.openai import OpenAIChatModel  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from pydantic_ai.providers.openai import OpenAIProvider  # type: ignore[import-not-found,import-untyped,unused-ignore]

    world = os.environ["WORLD"]
    duckduckgo.Duckduckgo.search_url = f"{world}/html/"  # the library has the address in a class attribute
    engines.ENGINES["text"] = {"duckduckgo": duckduckgo.Duckduckgo}
    model = OpenAIChatModel("double", provider=OpenAIProvider(base_url=f"{world}/v1", api_key="sk-world"))
    tools = [duckduckgo_search_tool(), web_fetch_tool(allow_local_urls=True)]
    agent = Agent(model, tools=tools, system_prompt=PROMPT)

    async def ask(question: str) -> str:
        return str((await agent.run(question)).output)

    return ask


if __name__ == "__main__":
    clock.main(load)
