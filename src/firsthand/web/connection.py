"""One connection: dialled at a judged address, its peer compared, one request out, one response in, then gone.

The parser and its protocol are aiohttp's; its session and its pool are not used: they look names up, keep connections
and send a request again by themselves, and the checks against all that cost more than to dial. A dialled address is a
literal by its bytes, so there is nothing that a resolver could be asked.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from functools import cache
from typing import TYPE_CHECKING, Any

from firsthand.errors import AddressRefused, FetchFailed
from firsthand.web.limits import Limits
from firsthand.web.reply import failed
from firsthand.web.wire import Framing

if TYPE_CHECKING:
    from aiohttp import StreamReader
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.http import RawResponseMessage

READ_BYTES = 65_536  # held back by a connection while nobody reads; the parser's own default


async def dial(
    address: str, port: int, *, tls: ssl.SSLContext | None = None, name: str = "", limits: Limits
) -> ResponseHandler:
    """A connection to *address*, which must be a literal; with *tls*, the certificate is checked against *name*.

    Raises: FetchFailed (``connect_failed``, ``tls_error``, ``timeout``); AddressRefused if *address* is a name, or if
    another peer answers.
    """
    try:
        async with asyncio.timeout(limits.connect_s):
            return await _dial(address, port, tls, name, limits)
    except TimeoutError as error:
        raise failed("timeout", "The server took too long.") from error
    except ssl.SSLError as error:
        raise failed("tls_error", "No secure connection could be made to the server.") from error
    except OSError as error:
        raise failed("connect_failed", "The server could not be connected to.") from error


async def _dial(address: str, port: int, tls: ssl.SSLContext | None, name: str, limits: Limits) -> ResponseHandler:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    wanted = _packed(family, address)
    if wanted is None:
        raise AddressRefused("address", "The address was not asked: its name was not judged.")
    loop = asyncio.get_running_loop()
    dialled = socket.socket(family, socket.SOCK_STREAM)
    try:
        dialled.setblocking(False)
        await loop.sock_connect(dialled, (address, port))
        if _packed(family, dialled.getpeername()[0]) != wanted:
            raise AddressRefused("address", "The address was not asked: another peer answered.")
        make = _handler_class()
        options: dict[str, Any] = {} if tls is None else {"ssl": tls, "server_hostname": name}
        handler: ResponseHandler
        _, handler = await loop.create_connection(lambda: make(limits), sock=dialled, **options)
    except BaseException:
        dialled.close()
        raise
    return handler


def _packed(family: int, address: str) -> bytes | None:
    """The bytes of a literal; None for anything else."""
    try:
        return socket.inet_pton(family, address)
    except OSError:
        return None


async def read_head(handler: ResponseHandler) -> tuple[RawResponseMessage, StreamReader]:
    """The head of the response, interim ones passed over, and the stream of its body."""
    while True:
        message, content = await handler.read()
        if not 100 <= message.code <= 199 or message.code == 101:
            return message, content


@cache
def _handler_class() -> Any:
    """Made at the first call: a process that fetches nothing imports no HTTP client."""
    from aiohttp.client_proto import ResponseHandler

    class FramedHandler(ResponseHandler):
        """Sees the framing of its one response before the parser does, and knows a reset from an end."""

        def __init__(self, limits: Limits) -> None:
            super().__init__(asyncio.get_running_loop())
            self._framing = Framing(limits)
            self.set_response_params(
                read_until_eof=True,
                auto_decompress=False,
                read_timeout=max(limits.first_byte_s, limits.between_reads_s),
                read_bufsize=READ_BYTES,
                max_line_size=limits.head_bytes,
                max_field_size=limits.head_bytes,
                max_headers=limits.n_headers,
            )

        def data_received(self, data: bytes) -> None:
            if data:
                try:
                    data = self._framing.feed(data)
                except FetchFailed as error:
                    self._fail(error)
                    return
                if not data:
                    return
            super().data_received(data)

        def connection_lost(self, exc: BaseException | None) -> None:
            if exc is not None:
                self._fail(failed("connection_lost", "The connection was lost before the answer was complete."))
            super().connection_lost(exc)

        def _fail(self, error: FetchFailed) -> None:
            if self._payload is not None and not self._payload.is_eof():
                self._payload.set_exception(error)
            if self._payload is None:
                self.set_exception(error)
            if self.transport is not None:
                self.transport.abort()

    return FramedHandler
