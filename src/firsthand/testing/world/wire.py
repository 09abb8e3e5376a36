"""How each trouble goes over the wire."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, urlencode, urlsplit

from firsthand.testing.world import walls
from firsthand.testing.world.http import Out, Reply
from firsthand.testing.world.trouble import Trouble

PIECE = 64 * 1024
MIB = 1 << 20
STATUS_TITLES = {
    202: "Your results are on their way",
    401: "401 Authorization Required",
    402: "402 Payment Required",
    403: "403 Forbidden",
    404: "404 Not Found",
    429: "429 Too Many Requests",
    503: "503 Service Temporarily Unavailable",
}


async def misbehave(trouble: Trouble, out: Out) -> int:
    """Answer *out*'s request with *trouble*; the bytes of the body. A refusal that holds a status is a plain page."""
    send = _SENDERS.get(trouble.name)
    if send is not None:
        out.closes = True
        return await send(trouble, out)
    reply = reply_of(trouble, out.request.target)
    out.send(reply)
    await out.end()
    return len(reply.body)


def reply_of(trouble: Trouble, target: str) -> Reply:
    """The whole response of a trouble that is one. Raises: KeyError for one that is not."""
    name = trouble.name
    if name in walls.PAGES:
        return walls.PAGES[name]()
    if name == "empty":
        return Reply()
    if name == "garbage":
        return Reply(bytes(range(256)) * 8, content_type="text/html")
    if name in ("quota", "unresponsive"):
        return Reply(b'{"message": "Quota exceeded."}', content_type="application/json")
    if name.startswith("redirect"):
        return Reply(
            status=302, headers={"Location": _next_hop(target) if name == "redirect-loop" else trouble.option("to")}
        )
    status = int(trouble.option("code")) if name == "status" else int(name)
    waits = trouble.option("retry_after_s") if status in (429, 503) and name != "status" else ""
    return walls.refusal(status, STATUS_TITLES.get(status, f"{status}"), {"Retry-After": waits} if waits else {})


def _next_hop(target: str) -> str:
    """The same address with another number: a loop that no list of seen addresses ends."""
    parts = urlsplit(target)
    pairs = dict(parse_qsl(parts.query))
    return f"{parts.path}?{urlencode({**pairs, 'hop': int(pairs.get('hop', 0)) + 1})}"


async def _hang(_: Trouble, out: Out) -> int:
    """Say nothing until the client leaves."""
    await out.until_alone()
    return 0


async def _drip(trouble: Trouble, out: Out) -> int:
    every_s, n = trouble.seconds("every_ms"), 0
    out.start(200, "text/html; charset=utf-8", None, {})
    text = walls.captcha_article().body
    while not out.is_alone:
        out.write(text[n % len(text) :][:1])
        await out.writer.drain()
        await asyncio.sleep(every_s)
        n += 1
    return n


async def _endless(_: Trouble, out: Out) -> int:
    block, n = b"<p>And so it goes on and on.</p>\n" * (PIECE // 33), 0
    out.start(200, "text/html; charset=utf-8", None, {})
    while not out.is_alone:
        out.write(block)
        await out.writer.drain()
        await asyncio.sleep(0)  # a drain that need not wait lets nobody else on
        n += len(block)
    return n


async def _bomb(trouble: Trouble, out: Out) -> int:
    """A gzip member of zeros, made by repeating one compressed block: nobody compresses gigabytes for it.

    Source: RFC 1952; a full flush makes each block independent of the others.
    """
    n_mib, n = int(trouble.option("mib")), 0
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    out.start(200, "text/html; charset=utf-8", None, {"Content-Encoding": "gzip"})
    out.write(gzip.compress(b"")[:10])
    checksum = zeros = zlib.crc32(bytes(MIB))
    for at in range(n_mib):
        if out.is_alone:
            return n
        out.write(block)
        await out.writer.drain()
        await asyncio.sleep(0)  # a drain that need not wait lets nobody else on
        n += len(block)
        checksum = zeros if at == 0 else zlib.crc32(bytes(MIB), checksum)
    out.write(b"\x03\x00" + struct.pack("<II", checksum, n_mib * MIB % 2**32))
    await out.end()
    return n


async def _cut(_: Trouble, out: Out) -> int:
    body = walls.captcha_article().body
    out.start(200, "text/html; charset=utf-8", len(body), {})
    out.write(body[: len(body) // 2])
    await out.writer.drain()
    return len(body) // 2


async def _reset(trouble: Trouble, out: Out) -> int:
    n = await _cut(trouble, out)
    raw: socket.socket = out.writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close with RST: socket(7)
    out.writer.transport.abort()
    return n


async def _no_http(_: Trouble, out: Out) -> int:
    out.raw(b"SSH-2.0-OpenSSH_9.2\r\n" + bytes(range(128, 256)) + b"\r\n\r\n")
    await out.writer.drain()
    return 0


_SENDERS: dict[str, Callable[[Trouble, Out], Awaitable[int]]] = {
    "hang": _hang,
    "drip": _drip,
    "endless": _endless,
    "bomb": _bomb,
    "cut": _cut,
    "reset": _reset,
    "no-http": _no_http,
}
