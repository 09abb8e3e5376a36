"""P4: a fetch ends, also one whose every step is just in time. On a clock that only moves when the network is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import pytest

from firsthand.errors import FetchFailed
from firsthand.values import HttpRequest, HttpResponse
from firsthand.web.address import Policy
from firsthand.web.client import Reading
from firsthand.web.connection import Deadline, Incoming
from firsthand.web.fetch import Fetcher
from firsthand.web.gate import Admitted, Gate
from firsthand.web.limits import LIMITS
from firsthand.web.pace import Pacer
from firsthand.web.reply import failed
from tests.trust.responses import SECONDS_MAX


class Ready:
    """A wire on which there is always more: nobody who waits for it waits."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)

    async def send(self, data: bytes) -> None:
        return None

    async def receive(self) -> bytes:
        return next(self._pieces, b"")

    def hang_up(self) -> None:
        return None

    def close(self) -> None:
        return None


async def test_server_that_is_never_waited_for_leaves_others_their_turn() -> None:
    n_pieces, n_turns = 200, 0
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (n_pieces * 1000)

    async def others() -> None:
        nonlocal n_turns
        while True:
            await asyncio.sleep(0)
            n_turns += 1

    other = asyncio.create_task(others())
    with Deadline(30.0) as deadline:
        incoming = Incoming(Ready([head, *[b"x" * 1000] * n_pieces]), deadline, LIMITS)
        await incoming.head()
        n_bytes = 0
        while piece := await incoming.piece():
            n_bytes += len(piece)
    other.cancel()
    assert n_bytes == n_pieces * 1000
    assert n_turns > n_pieces // 2


class Slow:
    """Every name, robots file and page is there, each after its time; every page redirects to the next host."""

    limits = LIMITS
    user_agent = "Firsthand/0"

    def __init__(self, *, name_s: float = 0.0, robots_s: float = 0.0, page_s: float = 0.0) -> None:
        self.now = 0.0
        self.gate = Gate(self._look_up)
        self._name_s, self._robots_s, self._page_s = name_s, robots_s, page_s
        self.n_pages = 0

    def clock(self) -> float:
        return self.now

    async def _look_up(self, host: str) -> Sequence[str]:
        self.now += self._name_s
        return ["93.184.216.34"]

    async def exchange(
        self, admitted: Admitted, request: HttpRequest, *, total_s: float | None = None, reading: Reading | None = None
    ) -> HttpResponse:
        is_robots = request.url.endswith("/robots.txt")
        takes_s, left_s = self._robots_s if is_robots else self._page_s, total_s or 0.0
        self.now += min(takes_s, left_s)
        if takes_s > left_s:
            raise failed("timeout", "The server took too long.")
        if is_robots:
            return HttpResponse(request.url, 404, {}, b"")
        self.n_pages += 1
        return HttpResponse(request.url, 302, {"location": f"http://n{self.n_pages}.example.com/"}, b"")

    async def aclose(self) -> None:
        return None


@pytest.mark.parametrize(
    ("slow", "most_s"),
    [
        (Slow(page_s=9.9), LIMITS.total_s),
        (Slow(name_s=4.9), SECONDS_MAX),  # a look-up that was begun in time is waited for
        (Slow(name_s=4.9, page_s=9.9), SECONDS_MAX),
        (Slow(robots_s=9.9), 20.0),  # two robots files, the second begun in time
        (Slow(name_s=4.9, robots_s=9.9, page_s=9.9), SECONDS_MAX + 20.0),
    ],
    ids=["pages", "names", "names and pages", "robots files", "all of them"],
)
async def test_chain_of_hosts_that_are_slow_in_everything_ends_in_time(slow: Slow, most_s: float) -> None:
    fetcher = Fetcher(slow, Policy(), Pacer(interval_s=0, clock=slow.clock), clock=slow.clock)
    with pytest.raises(FetchFailed) as ended:
        await fetcher.fetch("http://n0.example.com/")
    assert (ended.value.outcome, ended.value.code) == ("timeout", "timeout")
    assert slow.now <= most_s
