"""One connection: dialled at a judged address, its peer compared, one request out, one response in, then gone.

The parser is aiohttp's; its session, its pool and its protocol are not used: they look names up, keep connections and
send a request again by themselves, and the checks against all that cost more than to dial. A dialled address is a
literal by its bytes, so there is nothing that a resolver could be asked. We ask for every piece of the answer, so there
is never more of it here than one piece.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import ssl
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from firsthand.errors import AddressRefused
from firsthand.web.limits import Limits
from firsthand.web.reply import failed
from firsthand.web.wire import Framing

if TYPE_CHECKING:
    from aiohttp import StreamReader
    from aiohttp.http import RawResponseMessage

_INET, _INET6, _STREAM = int(socket.AF_INET), int(socket.AF_INET6), int(socket.SOCK_STREAM)  # enums cost a look-up each
_UNDER_WAY = frozenset({0, errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY, errno.EINTR})
PIECE_BYTES = 65_536  # asked of the network at a time; the parser holds back twice as much before it would pause


class Deadline:
    """The time that an exchange has left, and its next step: whichever ends first. Ends its block as ``asyncio.timeout``.

    Steps end later and later as a rule, so a step only notes when it ends; one timer looks at the note.
    """

    __slots__ = ("_due", "_is_over", "_loop", "_n_cancels", "_task", "_total_at", "_watch")

    def __init__(self, total_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._total_at = self._due = self._loop.time() + total_s
        self._watch: asyncio.TimerHandle | None = None
        self._is_over = False

    def __enter__(self) -> Deadline:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._n_cancels = task.cancelling()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: Any) -> None:
        if self._watch is not None:
            self._watch.cancel()
        # As asyncio.timeout: a cancellation from outside that came at the same time is passed on.
        is_ours = self._is_over and self._task.uncancel() <= self._n_cancels
        if is_ours and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error

    def step(self, seconds: float) -> None:
        """The next step may take *seconds*."""
        self._due = min(self._total_at, self._loop.time() + seconds)
        if self._watch is None or self._watch.when() > self._due:
            self._look_at(self._due)

    def _look_at(self, moment: float) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._watch = self._loop.call_at(moment, self._look)

    def _look(self) -> None:
        self._watch = None
        if self._is_over:
            return
        if self._due > self._loop.time():
            self._look_at(self._due)
            return
        self._is_over = True
        self._task.cancel()


class Wire(Protocol):
    """What bytes go through: a socket, or TLS over one."""

    async def send(self, data: bytes) -> None:
        """Send all of *data*."""

    async def receive(self) -> bytes:
        """The next bytes, ``PIECE_BYTES`` at most; none if the other side has ended."""

    def hang_up(self) -> None:
        """End it: who waits for bytes gets none."""

    def close(self) -> None:
        """Let go of it. Nobody may be waiting."""


async def dial(address: str, port: int, *, tls: ssl.SSLContext | None = None, name: str = "") -> Wire:
    """A wire to *address*, which must be a literal; with *tls*, the certificate is checked against *name*.

    Raises: FetchFailed (``connect_failed``, ``tls_error``); AddressRefused if *address* is a name, or if another peer
    answers; TimeoutError as the network does.
    """
    try:
        return await _dial(address, port, tls, name)
    except TimeoutError:
        raise
    except ssl.SSLError as error:
        raise failed("tls_error", "No secure connection could be made to the server.") from error
    except OSError as error:
        raise failed("connect_failed", "The server could not be connected to.") from error


async def _dial(address: str, port: int, tls: ssl.SSLContext | None, name: str) -> Wire:
    family = _INET6 if ":" in address else _INET
    wanted = _packed(family, address)
    if wanted is None:
        raise AddressRefused("address", "The address was not asked: its name was not judged.")
    loop = asyncio.get_running_loop()
    dialled = socket.socket(family, _STREAM)
    try:
        dialled.setblocking(False)
        peer = await _connect(dialled, (address, port), loop)
        if peer != address and _packed(family, peer) != wanted:
            raise AddressRefused("address", "The address was not asked: another peer answered.")
        if tls is None:
            return _Plain(dialled, loop)
        return _Secure(*await asyncio.open_connection(sock=dialled, ssl=tls, server_hostname=name, limit=PIECE_BYTES))
    except BaseException:
        dialled.close()
        raise


async def _connect(dialled: socket.socket, place: tuple[str, int], loop: asyncio.AbstractEventLoop) -> str:
    """Connect; the address of the peer, which has one as soon as it is there. One near by is there at once."""
    if sys.platform == "win32":  # a loop there has no writers
        await loop.sock_connect(dialled, place)
        return str(dialled.getpeername()[0])
    refused = dialled.connect_ex(place)
    if refused not in _UNDER_WAY:
        raise OSError(refused, os.strerror(refused))
    try:
        return str(dialled.getpeername()[0])
    except OSError:
        await _writable(dialled, loop)
    if refused := dialled.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
        raise OSError(refused, os.strerror(refused))
    return str(dialled.getpeername()[0])


async def _writable(dialled: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_writer(dialled, _wake, ready)
    try:
        await ready
    finally:
        loop.remove_writer(dialled)


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _packed(family: int, address: str) -> bytes | None:
    """The bytes of a literal; None for anything else."""
    try:
        return socket.inet_pton(family, address)
    except OSError:
        return None


class _Plain:
    """A socket. Half the work of a transport, which reads ahead of whoever wants to read."""

    __slots__ = ("_loop", "_socket")

    def __init__(self, dialled: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        self._socket = dialled
        self._loop = loop

    async def send(self, data: bytes) -> None:
        try:
            n_sent = self._socket.send(data)
        except BlockingIOError:
            n_sent = 0
        if n_sent < len(data):
            await self._loop.sock_sendall(self._socket, memoryview(data)[n_sent:])

    async def receive(self) -> bytes:
        try:
            return self._socket.recv(PIECE_BYTES)
        except BlockingIOError:
            return await self._loop.sock_recv(self._socket, PIECE_BYTES)

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):  # a server that broke it off was faster
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()


class _Secure:
    """TLS by asyncio's own streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def receive(self) -> bytes:
        return await self._reader.read(PIECE_BYTES)

    def hang_up(self) -> None:
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.transport.abort()


class Silence(Exception):
    """The server hung up before a word of its answer."""


class Incoming:
    """The one response of a wire, read as it comes. Framing looks at the bytes before the parser does."""

    def __init__(self, wire: Wire, deadline: Deadline, limits: Limits) -> None:
        self._wire = wire
        self._deadline = deadline
        self._limits = limits
        self._framing = Framing(limits)
        self._content: StreamReader | None = None
        self._is_over = False
        self._parser = _parser_class()(
            _UNPAUSED,  # all that the parser wants of a protocol
            asyncio.get_running_loop(),
            PIECE_BYTES,
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=limits.head_bytes,
            max_field_size=limits.head_bytes,
            max_headers=limits.n_headers,
        )

    async def head(self) -> RawResponseMessage:
        """The head of the response; interim ones are passed over. Its first byte is the step that the caller began.

        Raises: Silence; FetchFailed and what the parser raises if it is none.
        """
        n_received = 0
        await asyncio.sleep(0)  # others' turn, in which the answer comes; without it, a near server would stop everyone
        while True:
            if n_received:
                self._deadline.step(self._limits.between_reads_s)
            data = await self._wire.receive()
            if not data and n_received:
                raise failed("connection_lost", "The connection was lost before the answer was complete.")
            if not data:
                raise Silence
            n_received += len(data)
            messages: list[tuple[RawResponseMessage, StreamReader]] = self._parser.feed_data(self._framing.feed(data))[
                0
            ]
            for message, content in messages:
                if not 100 <= message.code <= 199 or message.code == 101:
                    self._content = content
                    return message

    async def piece(self) -> bytes:
        """The next bytes of the body, as they came; none at its end. The head was read before."""
        content = self._content
        assert content is not None
        while not (found := content.read_nowait()):
            if content.is_eof():
                return b""
            if self._is_over:
                raise failed("connection_lost", "The connection was lost before the answer was complete.")
            await self._more(content)
        return found

    async def _more(self, content: StreamReader) -> None:
        self._deadline.step(self._limits.between_reads_s)
        await asyncio.sleep(0)  # what is there already is received without a pause: a fast server would stop everyone
        data = await self._wire.receive()
        if data:
            self._parser.feed_data(self._framing.feed(data))
        else:
            self._is_over = True
            self._parser.feed_eof()  # ends a body that says no length; says so if another is cut
        if (error := content.exception()) is not None:
            raise error


@cache
def parser_error() -> type[Exception]:
    """What the parser raises. A process that fetches nothing imports no HTTP client."""
    from aiohttp.http import HttpProcessingError

    return HttpProcessingError


@cache
def _parser_class() -> Any:
    from aiohttp.http import HttpResponseParser

    return HttpResponseParser


class _Unpaused:
    """Stands in for the protocol that a parser would pause: it never is given more than it may hold."""

    _reading_paused = False

    def pause_reading(self) -> None:
        """There is nothing that reads by itself."""

    def resume_reading(self, resume_parser: bool = True) -> None:
        """The same."""


_UNPAUSED = _Unpaused()
