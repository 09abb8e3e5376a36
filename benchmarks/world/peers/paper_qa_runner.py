"""paper-qa over the five pages that a search finds, as local HTML files: it does not search the web itself."""

from __future__ import annotations

import json
import os
import urllib.parse
import urllib.request
from pathlib import Path

from benchmarks.world import clock

N_PAGES = 5


def found(question: str) -> list[Path]:
    """The files of the pages that the world finds."""
    url = f"{os.environ['WORLD']}/search?format=json&q={urllib.parse.quote(question)}"
    with urllib.request.urlopen(url) as reply:
        rows = json.load(reply)["results"][:N_PAGES]
    return [Path(os.environ["PQA_PAGES"], urllib.parse.unquote(row["url"].split("/site/")[1])) for row in rows]


def load() -> clock.Ask:
    """The program, imported."""
    clock.use_shipped_tokenizer()
    from paperqa import Docs, Settings  # type: ignore[import-not-found,import-untyped,unused-ignore]

    at = {"api_base": f"{os.environ['WORLD']}/v1", "api_key": "sk-world"}
    model = {"model_list": [{"model_name": "openai/double", "litellm_params": {"model": "openai/double", **at}}]}
    settings = Settings(
        llm="openai/double",
        summary_llm="openai/double",
        llm_config=model,
        summary_llm_config=model,
        embedding="openai/text-embedding-3-small",
        embedding_config={"kwargs": at},
    )
    settings.parsing.use_doc_details = False

    async def ask(question: str) -> str:
        docs = Docs()
        for n, file in enumerate(found(question)):
            await docs.aadd(file, citation=f"{file.stem}, SQLite, 2026", docname=f"doc{n}", settings=settings)
        return str((await docs.aquery(question, settings=settings)).formatted_answer)

    return ask


if __name__ == "__main__":
    clock.main(load)
