"""HTTP/1.1 as the world speaks it: a request read whole, a response of exactly the bytes it is given.

Standard library only. It is a server for tests: it trusts its clients to be clients, and bounds nothing but a head.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

MAX_HEAD_BYTES = 1 << 20  # also of one line; far above what any client sends
REASONS = {
    200: "OK", 202: "Accepted", 301: "Moved Permanently", 302: "Found", 304: "Not Modified", 400: "Bad Request",
    401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found", 422: "Unprocessable Entity",
    429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole response; ``content-length`` is added when it is sent.

    A page gets ``ETag`` and ``Last-Modified`` too, unless its headers have them; an empty value leaves one out.
    """

    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


def json_reply(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """*value* as JSON."""
    return Reply(json.dumps(value).encode(), status, "application/json", headers or {})


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it was read; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the target; of several with one name, the last."""
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.target).query).items()}

    @property
    def host(self) -> str:
        """The Host header, with its port."""
        return self.headers.get("host", "127.0.0.1")

    @property
    def is_json(self) -> bool:
        return "json" in self.headers.get("content-type", "")

    def json(self) -> dict[str, Any]:
        """The body as a JSON object. Raises: ValueError."""
        value = json.loads(self.body or b"{}")
        if not isinstance(value, dict):
            raise ValueError("the body is not a JSON object")
        return value

    def form(self) -> dict[str, str]:
        """The body as a form."""
        return {name: values[-1] for name, values in parse_qs(self.body.decode("utf-8", "replace")).items()}

    def given(self) -> dict[str, Any]:
        """Target's parameters and the body's, JSON or form. Raises: ValueError."""
        body: Mapping[str, Any] = self.json() if self.is_json else self.form() if self.method == "POST" else {}
        return {**self.query, **body}


class Out:
    """One response on its way. A body is not sent to a HEAD."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request) -> None:
        self._reader = reader
        self.writer = writer
        self.request = request
        self.status = 0  # 0: nothing that is HTTP was sent
        self._is_chunked = False
        self._is_head = request.method == "HEAD"
        self.closes = False  # whether the connection ends with this response

    @property
    def is_alone(self) -> bool:
        """Whether the client has left."""
        return self.writer.is_closing() or self._reader.at_eof()

    async def until_alone(self) -> None:
        """Return when the client has left; what it still sends is dropped."""
        while await self._reader.read(MAX_HEAD_BYTES):
            pass

    def start(self, status: int, content_type: str, n_bytes: int | None, headers: Mapping[str, str]) -> None:
        """Send the head; a body of unknown length (None) is sent in chunks."""
        self.status = status
        self._is_chunked = n_bytes is None
        lines = {"Content-Type": content_type}
        lines |= {"Transfer-Encoding": "chunked"} if n_bytes is None else {"Content-Length": str(n_bytes)}
        text = "".join(f"{name}: {value}\r\n" for name, value in {**lines, **headers}.items())
        self.raw(f"HTTP/1.1 {status} {REASONS.get(status, 'Other')}\r\n{text}\r\n".encode("latin-1", "replace"))

    def write(self, data: bytes) -> None:
        """Send a piece of the body."""
        if data and not self._is_head:
            self.raw(b"%x\r\n%b\r\n" % (len(data), data) if self._is_chunked else data)

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)

    def send(self, reply: Reply) -> None:
        """Send a whole response."""
        self.start(reply.status, reply.content_type, len(reply.body), reply.headers)
        self.write(reply.body)

    def event(self, value: object, name: str | None = None) -> None:
        """Send one server-sent event; a string as it is, any other value as JSON."""
        data = value if isinstance(value, str) else json.dumps(value)
        self.write((f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode())

    async def end(self) -> None:
        """Send the end of a body of unknown length, and wait until the client keeps up."""
        if self._is_chunked and not self._is_head:
            self.raw(b"0\r\n\r\n")
        await self.writer.drain()


Answer = Callable[[Request, Out], Awaitable[None]]


async def serve(answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection, one after the other, until either side has enough."""
    try:
        while True:
            request = await read(reader)
            out = Out(reader, writer, request)
            await answer(request, out)
            await writer.drain()
            if out.closes or request.headers.get("connection", "").lower() == "close":
                break
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        pass  # the client left, or spoke no HTTP
    finally:
        writer.close()


async def read(reader: asyncio.StreamReader) -> Request:
    """The next request. Raises: IncompleteReadError at the end of the connection, ValueError if it is not HTTP."""
    head = await reader.readuntil(b"\r\n\r\n")
    line, *rows = head.decode("latin-1").split("\r\n")
    method, target, _ = line.split(" ", 2)
    pairs = (row.partition(":") for row in rows if row)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    if "chunked" in headers.get("transfer-encoding", ""):
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, target, headers, body)
