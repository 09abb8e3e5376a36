"""Runs the vendors' own clients against our bodies on loopback, and records what they send.

They are no dependency of ours. In an environment that has exa-py, tavily-python, linkup-sdk and parallel-web:
``python tests/web/search/official_clients.py`` prints a JSON line for each body with what the client made of it, and
rewrites ``tests/data/search/official_requests.json``. Exit code 1 if a client reads a body otherwise than we do.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data" / "search"
KEY = "test-key"
TEXT, SITE, DAY, MAX_HITS = "how to install", "github.com", "2026-10-30", 10
KEY_HEADERS = ("authorization", "x-api-key")
PACKAGES = {"exa": "exa-py", "tavily": "tavily-python", "linkup": "linkup-sdk", "parallel": "parallel-web"}
# The status of each refusal, and what the client calls it.
REFUSALS: dict[str, dict[str, tuple[int, str]]] = {
    "exa": {
        "bad_key": (401, "ValueError"),
        "no_credit": (402, "ValueError"),
        "rate_limited": (429, "ValueError"),
        "bad_request": (400, "ValueError"),
    },
    "tavily": {
        "bad_key": (401, "InvalidAPIKeyError"),
        "no_credit": (432, "ForbiddenError"),
        "rate_limited": (429, "UsageLimitExceededError"),
        "bad_request": (400, "BadRequestError"),
    },
    "linkup": {
        "bad_key": (401, "LinkupAuthenticationError"),
        "no_credit": (429, "LinkupInsufficientCreditError"),
        "budget": (429, "LinkupBudgetLimitExceededError"),
        "rate_limited": (429, "LinkupTooManyRequestsError"),
        "bad_request": (400, "LinkupInvalidRequestError"),
        "nothing": (400, "LinkupNoResultError"),
    },
    "parallel": {
        "bad_key": (401, "AuthenticationError"),
        "no_credit": (402, "APIStatusError"),
        "rate_limited": (429, "RateLimitError"),
        "bad_request": (422, "UnprocessableEntityError"),
    },
}


@dataclass
class Service:
    """Answers every POST with one body, and keeps what was sent."""

    body: bytes = b""
    status: int = 200
    sent: list[dict[str, Any]] = field(default_factory=list)

    def handler(service: Service) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = self.rfile.read(int(headers["content-length"]))
                key = {name: headers[name] for name in KEY_HEADERS if name in headers}
                service.sent.append({"method": "POST", "path": self.path, "key": key, "json": json.loads(asked)})
                self.send_response(service.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(service.body)))
                self.end_headers()
                self.wfile.write(service.body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def searches(base: str) -> dict[str, Callable[[], list[list[str]]]]:
    """One search with each client, and the rows that it read: address, title, snippet."""
    exa = importlib.import_module("exa_py").Exa(KEY, base_url=base)
    tavily = importlib.import_module("tavily").TavilyClient(KEY, api_base_url=base)
    linkup = importlib.import_module("linkup").LinkupClient(KEY, base_url=base + "/v1")
    parallel = importlib.import_module("parallel").Parallel(api_key=KEY, base_url=base, max_retries=0)

    def ask_exa() -> list[list[str]]:
        found = exa.search(
            TEXT,
            type="auto",
            num_results=MAX_HITS,
            contents={"highlights": True},
            include_domains=[SITE],
            start_published_date=f"{DAY}T00:00:00.000Z",
        )
        return [[row.url, row.title, " … ".join(row.highlights)] for row in found.results]

    def ask_tavily() -> list[list[str]]:
        found = tavily.search(
            TEXT,
            search_depth="basic",
            max_results=MAX_HITS,
            include_domains=[SITE],
            time_range="month",
            include_usage=True,
        )
        return [[row["url"], row["title"], row["content"]] for row in found["results"]]

    def ask_linkup() -> list[list[str]]:
        found = linkup.search(
            TEXT,
            depth="standard",
            output_type="searchResults",
            max_results=MAX_HITS,
            include_domains=[SITE],
            from_date=DAY,
        )
        return [[row.url, row.name, row.content] for row in found.results if row.type == "text"]

    def ask_parallel() -> list[list[str]]:
        found = parallel.search(
            objective=TEXT,
            search_queries=[TEXT],
            mode="basic",
            max_chars_total=30_000,
            advanced_settings={
                "max_results": MAX_HITS,
                "excerpt_settings": {"max_chars_per_result": 3_000},
                "source_policy": {"include_domains": [SITE], "after_date": DAY},
            },
        )
        return [[row.url, row.title, " … ".join(row.excerpts)] for row in found.results]

    return {"exa": ask_exa, "tavily": ask_tavily, "linkup": ask_linkup, "parallel": ask_parallel}


def main() -> int:
    service = Service()
    server = ThreadingHTTPServer(("127.0.0.1", 0), service.handler())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rows = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))["rows"]
    recorded: dict[str, Any] = {}
    n_wrong = 0
    for name, search in searches(f"http://127.0.0.1:{server.server_port}").items():
        bodies: dict[str, tuple[int, Any]] = {"results": (200, rows), "empty": (200, []), **REFUSALS[name]}
        for body, (status, expected) in bodies.items():
            service.body, service.status = (DATA / name / f"{body}.json").read_bytes(), status
            try:
                read: Any = search()
            except Exception as error:  # each client has its own
                read = type(error).__name__
            n_wrong += read != expected
            said = read if isinstance(read, str) else f"{len(read)} rows"
            print(json.dumps({"client": name, "body": body, "status": status, "read": said, "ok": read == expected}))
        recorded[name] = {"client": f"{PACKAGES[name]} {version(PACKAGES[name])}", **service.sent[-1]}
    server.shutdown()
    text = json.dumps(recorded, indent=1, sort_keys=True)
    (DATA / "official_requests.json").write_text(text + "\n", encoding="utf-8")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
