"""Perplexica (Vane): its built server, asked over its search API in its default mode, speed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.world import clock

START_S = 60.0


@asynccontextmanager
async def load() -> AsyncIterator[clock.Ask]:
    """The server, answering; it ends before the CPU seconds are taken."""
    with _server() as origin:
        yield lambda question: _asked(f"{origin}/api/search", question)


@contextmanager
def _server() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        data.mkdir()
        (data / "config.json").write_text(json.dumps(_config(os.environ["WORLD"])))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")} | {
            "HOSTNAME": "127.0.0.1", "PORT": str(port), "DATA_DIR": folder,
            "SEARXNG_API_URL": os.environ["WORLD"], "NODE_ENV": "production",
        }  # fmt: skip
        at = os.environ["PERPLEXICA"]
        server = subprocess.Popen(["node", "server.js"], cwd=at, env=environment, stdout=sys.stderr, stderr=sys.stderr)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/config")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def _config(world: str) -> dict[str, Any]:
    named = [{"name": "double", "key": "double"}]
    provider = {
        "id": "world", "name": "world", "type": "openai", "hash": "world", "chatModels": named,
        "embeddingModels": named, "config": {"apiKey": "sk-world", "baseURL": f"{world}/v1"},
    }  # fmt: skip
    about: dict[str, Any] = {"version": 1, "setupComplete": True, "preferences": {}, "personalization": {}}
    return {**about, "modelProviders": [provider], "search": {"searxngURL": world}}


def _wait_for(url: str) -> None:
    given_up = time.monotonic() + START_S
    while time.monotonic() < given_up:
        try:
            urllib.request.urlopen(url, timeout=5).read()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError("The server did not answer.")


def _asked(url: str, question: str) -> str:
    model = {"providerId": "world", "key": "double"}
    body = {
        "query": question,
        "sources": ["web"],
        "chatModel": model,
        "embeddingModel": model,
        "optimizationMode": "speed",
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as reply:
        said = json.load(reply)
    return "\n".join([said["message"], *(source["metadata"]["url"] for source in said["sources"])])


if __name__ == "__main__":
    clock.main(load)
