"""A name server over UDP that changes its answer at every query, and a client that asks it as a resolver does.

Only what a look-up needs of RFC 1035: one question, A and AAAA, no compression but the pointer to the question.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

KINDS = {"A": (1, socket.AF_INET), "AAAA": (28, socket.AF_INET6)}
_KIND_OF = {number: kind for kind, (number, _) in KINDS.items()}
_FAMILY_OF = {number: family for number, family in KINDS.values()}
_POINTER = b"\xc0\x0c"  # the question's name, at byte 12
NOT_THERE = 3  # NXDOMAIN

Says = Callable[[str, str, int], Sequence[str] | None]
"""The addresses for a name, a kind and the number of that query, from 1; None if there is no such name."""


class NameServer(asyncio.DatagramProtocol):
    """Answers from *says* and counts what it is asked, by (name, kind)."""

    def __init__(self, says: Says) -> None:
        self._says = says
        self.asked: Counter[tuple[str, str]] = Counter()
        self.address: tuple[str, int] = ("", 0)

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self.address = transport.get_extra_info("sockname")

    def datagram_received(self, data: bytes, peer: Any) -> None:
        name, number, question = _question(data)
        kind = _KIND_OF.get(number, str(number))
        self.asked[name, kind] += 1
        given = self._says(name, kind, self.asked[name, kind])
        records = [
            _POINTER + struct.pack(">HHIH", number, 1, 0, len(packed)) + packed  # class IN, to be kept for 0 s
            for packed in (socket.inet_pton(_FAMILY_OF[number], address) for address in given or ())
        ]
        flags = 0x8180 | (NOT_THERE if given is None else 0)
        head = struct.pack(">HHHHHH", int.from_bytes(data[:2], "big"), flags, 1, len(records), 0, 0)
        self._transport.sendto(head + question + b"".join(records), peer)


@asynccontextmanager
async def name_server(says: Says, *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[NameServer]:
    """A name server on loopback."""
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: NameServer(says), local_addr=(host, port))
    try:
        yield server
    finally:
        transport.close()


async def look_up_at(server: tuple[str, int], host: str) -> list[str]:
    """What *server* says of *host*: one query for A and one for AAAA, as the system's resolver sends them."""
    loop = asyncio.get_running_loop()
    found: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.setblocking(False)
        await loop.sock_connect(asking, server)
        for number, family in KINDS.values():
            labels = b"".join(bytes([len(label)]) + label.encode() for label in host.split("."))
            question = labels + b"\0" + struct.pack(">HH", number, 1)
            await loop.sock_sendall(asking, struct.pack(">HHHHHH", number, 0x0100, 1, 0, 0, 0) + question)
            answer = await loop.sock_recv(asking, 512)
            size = 4 if family == socket.AF_INET else 16
            for at in range(12 + len(question), len(answer), 12 + size):
                found.append(socket.inet_ntop(family, answer[at + 12 : at + 12 + size]))
    return found


def _question(data: bytes) -> tuple[str, int, bytes]:
    """Name in lower case, kind, and the question's bytes."""
    labels, at = [], 12
    while size := data[at]:
        labels.append(data[at + 1 : at + 1 + size].decode("ascii").lower())
        at += 1 + size
    return ".".join(labels), int.from_bytes(data[at + 1 : at + 3], "big"), data[12 : at + 5]
