"""A yardstick, no product: search, read in parallel, answer once, straight on aiohttp and the standard library.

It keeps nothing and checks nothing; it shows what the same calls cost when little stands between them. WORLD_MODE is
``quick`` (search the question itself) or ``planned`` (a model call makes three queries; meanwhile the question itself
is searched). WORLD_MODEL=none leaves the model out: search and read only.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.world import clock

N_PAGES = 5
MAX_PAGE_CHARS = 6000
PLAN = 'Write 3 search queries for: "{}". Respond with a list of strings in the following format: ["query 1", "query 2", "query 3"].'


@asynccontextmanager
async def load() -> AsyncIterator[clock.Ask]:
    """A client, opened."""
    import aiohttp

    from firsthand.testing.world import read_html

    world = os.environ["WORLD"]
    async with aiohttp.ClientSession() as client:

        async def search(query: str) -> list[str]:
            async with client.get(f"{world}/search", params={"q": query, "format": "json"}) as reply:
                return [str(row["url"]) for row in (await reply.json())["results"]]

        async def read(url: str) -> str:
            async with client.get(url) as reply:
                return f"Source: {url}\n{read_html(await reply.text())[1][:MAX_PAGE_CHARS]}"

        async def model(prompt: str) -> str:
            body = {"model": "double", "stream": True, "messages": [{"role": "user", "content": prompt}]}
            parts = []
            async with client.post(f"{world}/v1/chat/completions", json=body) as reply:
                async for line in reply.content:
                    if line.startswith(b"data: {"):
                        parts.append(json.loads(line[6:])["choices"][0]["delta"].get("content") or "")
            return "".join(parts)

        async def ask(question: str) -> str:
            first = asyncio.create_task(search(question))
            lists: list[list[str]] = []
            if os.environ.get("WORLD_MODE") == "planned":
                queries = json.loads(await model(PLAN.format(question)))
                lists = list(await asyncio.gather(*map(search, queries)))
            lists = [await first, *lists]
            ranked = list(dict.fromkeys(url for row in zip(*lists, strict=False) for url in row))
            pages = await asyncio.gather(*map(read, ranked[:N_PAGES]))
            if os.environ.get("WORLD_MODEL") == "none":
                return "\n".join(ranked[:N_PAGES])
            return await model(f"{question}\n\n" + "\n\n".join(pages) + f"\n\nAnswer with links: {question}")

        yield ask


if __name__ == "__main__":
    clock.main(load)
