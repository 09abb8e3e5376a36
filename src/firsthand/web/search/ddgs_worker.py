"""The process that runs the ``ddgs`` package: one JSON line in, one JSON line out, then it ends.

``ddgs`` is synchronous, starts threads and brings its own network client; in a process of its own it can be killed at
any moment and what it does to memory, signals or standard output stays there. Nothing that a search service sent
leaves here except rows of results.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any, TextIO

MAX_LINE_CHARS = 1 << 20


def main() -> None:
    """Answer the one request on standard input."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # a library that prints must not speak in our place
    try:
        asked = json.loads(sys.stdin.readline(MAX_LINE_CHARS))
        answer = search(asked)
    except Exception:  # the edge of the process: whatever happened, one line goes back
        answer = {"state": "failed", "statuses": []}
    _say(answers, answer)


def search(asked: dict[str, Any]) -> dict[str, Any]:
    """Run one text search; ``state`` is ``ok``, ``nothing``, ``failed``, ``timeout`` or ``missing``.

    ``ddgs`` raises one exception both for "nothing found" and for "every engine failed", and treats an engine that
    answered 403 as one that found nothing. The text of the exception tells the first two apart, the statuses of the
    responses tell the third.
    """
    try:
        ddgs = importlib.import_module("ddgs")
        exceptions = importlib.import_module("ddgs.exceptions")
    except ImportError:
        return {"state": "missing", "statuses": []}
    statuses = _watch_statuses()
    try:
        rows = ddgs.DDGS(proxy=None, timeout=asked["engine_timeout_s"]).text(
            asked["text"],
            region=asked["region"],
            safesearch="moderate",
            timelimit=asked["timelimit"],
            max_results=asked["max_results"],
            backend=",".join(asked["backends"]),
        )
    except exceptions.TimeoutException:
        return {"state": "timeout", "statuses": statuses}
    except exceptions.DDGSException as error:
        state = "nothing" if "no results found" in str(error).lower() else "failed"
        return {"state": state, "statuses": statuses}
    named = [row for row in map(_row, rows) if row[0] or row[1]]  # a "no results" page becomes a row without words
    return {"state": "ok" if named else "nothing", "rows": named, "statuses": statuses}


def _watch_statuses() -> list[int]:
    """The HTTP statuses that ``ddgs`` gets from now on; stays empty if its client is not the one we know."""
    statuses: list[int] = []
    try:
        client: Any = importlib.import_module("ddgs.http_client").HttpClient
        request = client.request
    except (ImportError, AttributeError):
        return statuses

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        response = request(self, *args, **kwargs)
        status = getattr(response, "status_code", None)
        if isinstance(status, int):
            statuses.append(status)
        return response

    client.request = watched
    return statuses


def _row(row: Any) -> list[str]:
    """Address, title and snippet; no address where the row is not what ``ddgs`` promises."""
    values = [row.get(key) for key in ("href", "title", "body")] if isinstance(row, dict) else ["", "?", ""]
    return [value if isinstance(value, str) else "" for value in values]


def _say(stream: TextIO, answer: dict[str, Any]) -> None:
    stream.write(json.dumps(answer) + "\n")
    stream.flush()


if __name__ == "__main__":
    main()
