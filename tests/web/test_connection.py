"""One connection: when its time is over, what it reads, and what is left of it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from pathlib import Path

import pytest

from firsthand.errors import AddressRefused, FetchFailed
from firsthand.web.connection import PIECE_BYTES, Deadline, Incoming, Silence, Wire, dial, parser_error
from firsthand.web.limits import LIMITS
from tests.web.certificates import certificate_for
from tests.web.raw_server import raw_server, response, site

BODY = bytes(range(256)) * 1024


class Recorded:
    """A wire whose bytes are all there, in pieces of a size."""

    def __init__(self, data: bytes, size: int) -> None:
        self._pieces = [data[at : at + size] for at in range(0, len(data), size)]

    async def send(self, data: bytes) -> None:
        """Nobody is there."""

    async def receive(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    def hang_up(self) -> None:
        self._pieces.clear()

    def close(self) -> None:
        self._pieces.clear()


def n_open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def read(wire: Wire) -> tuple[int, bytes]:
    with Deadline(30) as deadline:
        deadline.step(30)
        incoming = Incoming(wire, deadline, LIMITS)
        message = await incoming.head()
        pieces = []
        while piece := await incoming.piece():
            assert len(piece) <= PIECE_BYTES
            pieces.append(piece)
        return message.code, b"".join(pieces)


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"".join(
    b"%x\r\n%b\r\n" % (len(part), part) for part in (BODY[at : at + 7] for at in range(0, len(BODY), 7))
)


@pytest.mark.parametrize(
    "wire",
    [
        response(BODY),
        CHUNKED + b"0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n" + BODY,
        b"HTTP/1.1 103 Early\r\n\r\n" * 3 + response(BODY),
    ],
    ids=["length", "chunked", "to the end", "interim first"],
)
@pytest.mark.parametrize("size", [1000, PIECE_BYTES])
async def test_body_is_the_same_in_every_framing_and_cut(wire: bytes, size: int) -> None:
    assert await read(Recorded(wire, size)) == (200, BODY)


@pytest.mark.parametrize("cut", [10, 60, 5000])
async def test_response_that_stops_early_is_a_lost_connection(cut: int) -> None:
    with pytest.raises((FetchFailed, parser_error())) as lost:
        await read(Recorded(response(BODY)[:cut], 1000))
    assert getattr(lost.value, "code", "") == "connection_lost" or "Not enough data" in str(lost.value)


async def test_server_that_says_nothing_is_silent() -> None:
    with pytest.raises(Silence):
        await read(Recorded(b"", 1))


async def test_name_is_never_dialled() -> None:
    with pytest.raises(AddressRefused):
        await dial("localhost", 80)


@pytest.mark.parametrize("is_served", [True, False])
async def test_peer_that_does_not_answer_at_once_is_waited_for(is_served: bool) -> None:
    """A full queue of connections: the system asks again after a second, and then is answered, or refused."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, contextlib.ExitStack() as open_ones:
        port = server.getsockname()[1]
        for _ in range(8):
            waiting = open_ones.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        dialling = asyncio.create_task(dial("127.0.0.1", port))
        await asyncio.sleep(0)
        assert not dialling.done()
        if not is_served:
            server.close()
            with pytest.raises(FetchFailed) as failure:
                await dialling
            assert failure.value.code == "connect_failed"
            return
        server.setblocking(False)
        while not dialling.done():
            accepting = asyncio.create_task(asyncio.get_running_loop().sock_accept(server))
            await asyncio.wait({dialling, accepting}, return_when=asyncio.FIRST_COMPLETED)
            if accepting.done():
                open_ones.enter_context(accepting.result()[0])
            else:
                accepting.cancel()
        (await dialling).close()


async def test_near_server_leaves_others_their_turn() -> None:
    """Every answer is there at once; somebody else runs as often as there are answers."""
    n_turns = 0

    async def other() -> None:
        nonlocal n_turns
        while True:
            n_turns += 1
            await asyncio.sleep(0)

    running = asyncio.create_task(other())
    for _ in range(20):
        await read(Recorded(response(b"short"), PIECE_BYTES))
    running.cancel()
    assert n_turns >= 20


async def test_cancellation_from_outside_stays_one() -> None:
    async def wait() -> None:
        with Deadline(600) as deadline:
            deadline.step(600)
            await asyncio.Event().wait()

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_time_that_is_over_is_one_timeout_and_the_task_goes_on() -> None:
    for _ in range(2):
        with pytest.raises(TimeoutError), Deadline(0.001) as deadline:
            deadline.step(600)
            await asyncio.Event().wait()
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0


async def test_step_that_is_over_ends_the_exchange() -> None:
    with pytest.raises(TimeoutError), Deadline(600) as deadline:
        deadline.step(600)
        deadline.step(0.001)
        await asyncio.Event().wait()


async def test_total_ends_the_exchange_whatever_its_step_may_take() -> None:
    with pytest.raises(TimeoutError), Deadline(0.001) as deadline:
        deadline.step(600)
        await asyncio.Event().wait()


async def test_later_step_prolongs_an_earlier_one() -> None:
    with Deadline(600) as deadline:
        deadline.step(0.001)
        first = deadline._watch
        deadline.step(600)
        while deadline._watch is first:  # noqa: ASYNC110 - until the first one was looked at; nobody tells
            await asyncio.sleep(0)
    assert first is not None


async def test_dropped_exchanges_leave_no_socket_open() -> None:
    arrived = asyncio.Semaphore(0)

    async def silent(head: bytes, writer: asyncio.StreamWriter) -> None:
        arrived.release()
        await asyncio.Event().wait()

    async def wait_for_it(port: int) -> None:
        wire = await dial("127.0.0.1", port)
        try:
            await wire.send(b"GET / HTTP/1.1\r\n\r\n")
            await wire.receive()
        finally:
            wire.close()

    async with raw_server(silent) as served:
        before = n_open_files()
        tasks = [asyncio.create_task(wait_for_it(served.port)) for _ in range(8)]
        for _ in tasks:
            await arrived.acquire()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        ours = n_open_files() - before
    assert ours <= 8  # the server's ends of the connections; ours are gone


async def test_large_body_comes_whole_through_tls(tmp_path: Path) -> None:
    pem, key = certificate_for("shop.example.com", tmp_path)
    server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_tls.load_cert_chain(pem, key)
    async with raw_server(site({"/": response(BODY * 8)}), ssl=server_tls) as served:
        tls = ssl.create_default_context(cafile=str(pem))
        wire = await dial("127.0.0.1", served.port, tls=tls, name="shop.example.com")
        await wire.send(b"GET / HTTP/1.1\r\n\r\n")
        status, body = await read(wire)
        wire.close()
        await asyncio.sleep(0)
    assert (status, body) == (200, BODY * 8)
