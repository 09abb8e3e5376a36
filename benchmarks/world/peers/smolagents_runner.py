"""smolagents: a ToolCallingAgent with its own web search tool (Brave's dialect) and VisitWebpageTool."""

from __future__ import annotations

import os

from benchmarks.world import clock


def load() -> clock.Ask:
    """The program, imported."""
    from smolagents import ApiWebSearchTool, OpenAIServerModel, ToolCallingAgent, VisitWebpageTool  # type: ignore[import-not-found,import-untyped,unused-ignore]

    world = os.environ["WORLD"]

    def ask(question: str) -> str:
        model = OpenAIServerModel("double", api_base=f"{world}/v1", api_key="sk-world")
        search = ApiWebSearchTool(endpoint=f"{world}/res/v1/web/search", api_key="world", rate_limit=None)
        agent = ToolCallingAgent(tools=[search, VisitWebpageTool()], model=model, max_steps=8, verbosity_level=0)
        return str(agent.run(question))

    return ask


if __name__ == "__main__":
    clock.main(load)
