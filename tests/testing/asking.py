"""A plain client for tests of the world: one request, one answer, no redirect followed, nothing decoded."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

PATIENCE_S = 20.0
Wrong = (http.client.HTTPException, OSError)  # how a conversation that breaks shows


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> dict[str, Any]:
        value = json.loads(self.body)
        assert isinstance(value, dict)
        return value


def ask(
    url: str, body: bytes | Mapping[str, Any] | None = None, *, method: str | None = None, **headers: str
) -> Answer:
    """Ask *url*, with a body as JSON if it is a mapping; ``x_api_key=`` is the header X-Api-Key."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, Mapping):
        body, given = json.dumps(body).encode(), {"content-type": "application/json", **given}
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
    try:
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request(method or ("GET" if body is None else "POST"), path, body, given)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())
    finally:
        connection.close()
