"""A scripted stand-in for the ddgs package: what it does is in the file that DDGS_SCRIPT names.

It follows the interface of ddgs 9.16.1 (2026-11-30) and writes what it was asked to the file that DDGS_ASKED names.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

from ddgs import exceptions
from ddgs.http_client import HttpClient


class DDGS:
    def __init__(self, proxy: str | None = None, timeout: int | None = 5, *, verify: bool | str = True) -> None:
        self.proxy = proxy

    def text(self, query: str, **kwargs: Any) -> list[Any]:
        print("a library that prints")
        environment = sorted(name for name in os.environ if "proxy" in name.lower())
        asked = {"query": query, "proxy": self.proxy, "environment": environment, **kwargs}
        Path(os.environ["DDGS_ASKED"]).write_text(json.dumps(asked))
        script = json.loads(Path(os.environ["DDGS_SCRIPT"]).read_text())
        if "hang" in script:
            with socket.create_connection(("127.0.0.1", script["hang"])) as connection:
                connection.recv(1)
        if "exit" in script:
            sys.exit(script["exit"])
        for status in script["statuses"]:
            HttpClient(status).request("GET", "https://search.example/")
        if "raise" in script:
            name, text = script["raise"]
            raise getattr(exceptions, name, ZeroDivisionError)(text)
        rows: list[Any] = script["rows"]
        return rows[: kwargs["max_results"]]
