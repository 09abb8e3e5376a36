"""A server on loopback that sends exactly the bytes it is told to, and the recipes of the response corpus."""

from __future__ import annotations

import asyncio
import importlib
import random
import re
import socket
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from backports import zstd

from tests.trust.pdfs import built

GOOD_PAGE = b"<html><head><title>Good</title></head><body><p>A good page about the river Zambezi.</p></body></html>"
brotli: Any = importlib.import_module("brotli")  # has no types
PIECE = 1 << 20
Row = dict[str, Any]


@dataclass
class Served:
    """What a raw server saw: the head of every request, in order, and how many connections were opened."""

    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    n_connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [head.split(b" ")[1].decode() for head in self.heads]


Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw_server(
    answer: Answer, *, host: str = "127.0.0.1", port: int = 0, **options: Any
) -> AsyncIterator[Served]:
    """Serve every connection with *answer*, which gets the request's head and writes what it likes."""
    served = Served()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        served.n_connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            served.heads.append(head)
            await answer(head, writer)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(serve, host, port, **options)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # aborted connections are taken down in the loop's next round


def response(body: bytes = GOOD_PAGE, status: int = 200, headers: dict[str, str] | None = None) -> bytes:
    """A plain, correct response."""
    lines = {"content-type": "text/html; charset=utf-8", "content-length": str(len(body)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body


def site(pages: dict[str, bytes]) -> Answer:
    """An answer that serves whole responses by path; anything else is 404."""

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ")[1].decode()
        writer.write(pages.get(path, response(b"<p>Nothing here.</p>", 404)))

    return answer


def ready(row: Row) -> Row:
    """*row*, with a body that cannot be streamed (a bomb inside a coding) made beforehand."""
    if "gzip" not in row["body"].get("gzip", ()):
        return row
    return {**row, "body": {"hex": b"".join(recipe(row["body"])).hex()}}


async def send_row(row: Row, writer: asyncio.StreamWriter) -> None:
    """Send a row of the response corpus, streamed: a bomb is made only as far as someone reads it."""
    wire = row.get("wire", {})
    if wire.get("silent"):
        await asyncio.Event().wait()
    if "raw" in wire:
        for piece in _raw(wire["raw"]):
            writer.write(piece)
            await writer.drain()
        return
    if "interim" in wire:
        for _ in range(wire["interim"]["times"]):
            writer.write(f"HTTP/1.1 {wire['interim']['status']} Early\r\n\r\n".encode())
            await writer.drain()
    head = _head(row)
    if "head_drip" in wire:
        await _drip(head, wire["head_drip"], writer)
    else:
        writer.write(head)
    await _send_body(row, wire, writer)


async def _send_body(row: Row, wire: Row, writer: asyncio.StreamWriter) -> None:
    pieces = recipe(row["body"])
    if wire.get("endless"):
        block = b"".join(pieces) * 1000
        while True:
            writer.write(block)
            await writer.drain()
    if "drip" in wire:
        await _drip(b"".join(pieces), wire["drip"], writer)
        return
    if "hang_after" in wire:
        writer.write(b"".join(pieces)[: wire["hang_after"]])
        await writer.drain()
        await asyncio.Event().wait()
    if "reset_after" in wire:
        writer.write(b"".join(pieces)[: wire["reset_after"]])
        await writer.drain()
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return
    if "pieces" in wire:
        body = b"".join(pieces)
        size = max(1, len(body) // wire["pieces"])
        for at in range(0, len(body), size):
            writer.write(body[at : at + size])
            await writer.drain()
            await asyncio.sleep(wire["every_ms"] / 1000)
        return
    if "chunked" in wire:
        body, size = b"".join(pieces), wire["chunked"]["size"]
        chunks = [b"%x\r\n%b\r\n" % (len(c), c) for c in (body[i : i + size] for i in range(0, len(body), size))]
        trailers = "".join(f"{n}: {v}\r\n" for n, v in wire["chunked"].get("trailers", []))
        writer.write(b"".join(chunks) + b"0\r\n" + trailers.encode() + b"\r\n")
        return
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
        if writer.is_closing():
            return  # a bomb is made only as far as someone reads it
    writer.write(wire.get("append_raw", "").encode())


def _head(row: Row) -> bytes:
    wire = row.get("wire", {})
    charset = wire.get("header_charset", "utf-8")
    lines = [f"HTTP/1.1 {row['status']} X"]
    for name, value in row["headers"]:
        if wire.get("repeat_header", [None])[0] == name:
            lines += [f"{name}: {value.replace('{i}', str(i))}" for i in range(wire["repeat_header"][1])]
        else:
            lines.append(f"{name}: {value}")
    if "chunked" in wire:
        lines.append("transfer-encoding: chunked")
    return ("\r\n".join(lines) + "\r\n\r\n").encode(charset)


async def _drip(data: bytes, how: Row, writer: asyncio.StreamWriter) -> None:
    for at in range(0, len(data), how["bytes"]):
        writer.write(data[at : at + how["bytes"]])
        await writer.drain()
        await asyncio.sleep(how["every_ms"] / 1000)


def _raw(text: str) -> Iterator[bytes]:
    """The raw text with ``{A*n}`` and ``{line*n}`` written out."""
    at = 0
    for match in re.finditer(r"\{([^{}]+)\*(\d+)\}", text):
        yield text[at : match.start()].encode("latin-1")
        unit, left = match[1].encode("latin-1"), int(match[2])
        while left:
            n = min(left, max(1, PIECE // len(unit)))
            yield unit * n
            left -= n
        at = match.end()
    yield text[at:].encode("latin-1")


def recipe(body: Row) -> Iterator[bytes]:
    """The pieces of a body recipe."""
    match body:
        case {"none": _}:
            return
        case {"builder": _}:
            yield built(body)
        case {"text": text, "charset": charset}:
            yield text.encode(charset)
        case {"hex": digits}:
            yield bytes.fromhex(digits)
        case {"zeros": n}:
            for at in range(0, n, PIECE):
                yield bytes(min(PIECE, n - at))
        case {"random": n, "seed": seed}:
            yield random.Random(seed).randbytes(n)
        case {"repeat": unit, "times": times}:
            yield b"".join(recipe(unit)) * times
        case {"cat": parts}:
            for part in parts:
                yield from recipe(part)
        case {"gzip": {"zeros": n}} if n % PIECE == 0:
            yield from _gzip_of_zeros(n // PIECE)
        case {"gzip": inner}:
            yield from _compressed(zlib.compressobj(6, zlib.DEFLATED, 31), inner)
        case {"deflate": inner}:
            yield from _compressed(zlib.compressobj(6, zlib.DEFLATED, -15 if body.get("raw") else 15), inner)
        case {"br": inner}:
            packer = brotli.Compressor(quality=4)
            for piece in recipe(inner):
                yield packer.process(piece)
            yield packer.finish()
        case {"zstd": inner}:
            yield from _compressed(zstd.ZstdCompressor(level=3), inner)
        case {"layers": inner, "codec": "gzip", "times": times}:
            data = b"".join(recipe(inner))
            for _ in range(times):
                data = b"".join(_compressed(zlib.compressobj(6, zlib.DEFLATED, 31), {"hex": data.hex()}))
            yield data
        case {"gzip_members": inner, "times": times}:
            yield b"".join(recipe({"gzip": inner})) * times
        case {"cut": inner, "keep": keep}:
            yield b"".join(recipe(inner))[:keep]
        case {"flip": inner, "at": at}:
            flipped = bytearray(b"".join(recipe(inner)))
            flipped[at] ^= 0xFF
            yield bytes(flipped)
        case {"nest": {"open": opening, "close": closing, "times": times, "inner": text}}:
            yield (opening * times + text + closing * times).encode()
        case {"count": text, "times": times}:
            yield "".join(text.replace("{i}", str(i)) for i in range(times)).encode()
        case _:
            raise AssertionError(f"unknown recipe {sorted(body)}")


def _gzip_of_zeros(n_mib: int) -> Iterator[bytes]:
    """A gzip member of *n_mib* MiB of zeros, made by repeating one compressed block instead of compressing them all."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(PIECE)) + packer.flush(zlib.Z_FULL_FLUSH)
    yield bytes.fromhex("1f8b08000000000000ff")
    checksum = 0
    for _ in range(n_mib):
        checksum = zlib.crc32(bytes(PIECE), checksum)
        yield block
    yield b"\x03\x00" + struct.pack("<II", checksum, n_mib * PIECE % 2**32)


def _compressed(packer: Any, inner: Row) -> Iterator[bytes]:
    for piece in recipe(inner):
        yield packer.compress(piece)  # often nothing yet; the sender looks at its connection in between
    yield packer.flush()
