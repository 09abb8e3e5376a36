"""Firsthand itself: one app over a store of its own, one session a question, as a server would hold them.

WORLD_MODE is the mode (search), WORLD_MODEL the model (none). Waits between requests to one host are switched off by
their named settings, since the world's few hosts stand for many.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.world import clock


@asynccontextmanager
async def load() -> AsyncIterator[clock.Ask]:
    """The app, opened: its store is made, nothing was asked."""
    from firsthand.app import ask_options, open_app

    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"FIRSTHAND_HOME": home, "FIRSTHAND_HOST_INTERVAL_S": "0", "FIRSTHAND_HOST_CONCURRENCY": "64"}
        async with open_app() as app:

            async def ask(question: str) -> str:
                options = ask_options(
                    libraries=(),
                    search=("searxng",),
                    mode=os.environ.get("WORLD_MODE", "search"),
                    model=os.environ.get("WORLD_MODEL", "none"),
                    verify="annotate",
                    cross_check=False,
                    allow_origins=(),
                    max_sources=None,
                    session=question[:60],
                )
                answer = await app.ask(question, options)
                return answer.text

            yield ask


if __name__ == "__main__":
    clock.main(load)
