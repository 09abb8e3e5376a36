"""P6: many URLs of one host at once, and what the host sees of it.

The host is a real server on loopback. How many requests it has at a time, and how many it got, is counted there; how far
apart they are is taken where they are sent, since a busy machine delivers one late and the next in time.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from itertools import pairwise

from firsthand.errors import OutsideError
from firsthand.values import HttpRequest, HttpResponse
from firsthand.web.address import Policy
from firsthand.web.client import WHOLE_BODY, Client, Reading
from firsthand.web.fetch import Allowance, Fetcher
from firsthand.web.gate import Admitted
from firsthand.web.pace import Ceiling, Pacer
from tests.web.raw_server import raw_server, response

SLOWNESS = 2.5  # intervals that an answer takes: more than two would be under way if only the interval counted
NOTED_LATE_S = 0.02  # a busy machine may stop us for a moment between giving a turn and noting it


@dataclass
class Seen:
    """What one flood came to."""

    n_urls: int
    interval_s: float
    ceiling: int
    requests: int = 0  # that the server got, its robots file included
    most_at_a_time: int = 0
    least_apart_s: float = 0.0
    ends: dict[str, int] = field(default_factory=dict)

    def faults(self) -> list[str]:
        """What is wrong with it; empty if the host was treated as promised."""
        found = []
        if self.most_at_a_time > 2:
            found.append(f"{self.most_at_a_time} at a time")
        if self.least_apart_s < self.interval_s - min(NOTED_LATE_S, self.interval_s / 2):
            found.append(f"{self.least_apart_s:.3f} s apart, not {self.interval_s:g}")
        if self.requests > self.ceiling:
            found.append(f"{self.requests - self.ceiling} over the ceiling")
        n_pages = min(self.n_urls, self.ceiling - 1)  # one is spent on the robots file
        owed = {"ok": n_pages, "run_ceiling": self.n_urls - n_pages}
        if self.ends != {end: n for end, n in owed.items() if n}:
            found.append(f"ended {self.ends}")
        return found


class _Noting(Client):
    """The product's client, which also notes when a page is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.sent_at: list[float] = []

    async def exchange(
        self, admitted: Admitted, request: HttpRequest, *, total_s: float | None = None, reading: Reading = WHOLE_BODY
    ) -> HttpResponse:
        self.sent_at.append(time.monotonic())
        return await super().exchange(admitted, request, total_s=total_s, reading=reading)


async def flood(
    n_urls: int, *, interval_s: float, ceiling: int, pacer: Pacer | None = None, slowness: float = SLOWNESS
) -> Seen:
    """Fetch *n_urls* addresses of one host, all at once, in one run that may send *ceiling* requests."""
    seen = Seen(n_urls, interval_s, ceiling)
    n_now = 0

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal n_now
        n_now += 1
        seen.requests += 1
        seen.most_at_a_time = max(seen.most_at_a_time, n_now)
        await asyncio.sleep(slowness * interval_s)
        n_now -= 1  # before it is answered: the client may come with the next one at once
        writer.write(response(b"", 404) if head.startswith(b"GET /robots.txt ") else response())

    async with raw_server(answer) as served:
        client = _Noting()
        policy = Policy(allow_private=frozenset({("127.0.0.1", served.port)}))
        fetcher = Fetcher(client, policy, pacer or Pacer(interval_s=interval_s))
        allowance = Allowance(Ceiling(ceiling))

        async def visit(n: int) -> str:
            try:
                await fetcher.fetch(f"{served.url}/{n}", allowance=allowance)
            except OutsideError as error:
                return error.code
            return "ok"

        ends = await asyncio.gather(*(visit(n) for n in range(n_urls)))
        await fetcher.aclose()
    seen.ends = {end: ends.count(end) for end in sorted(set(ends))}
    seen.least_apart_s = min(later - earlier for earlier, later in pairwise(sorted(client.sent_at)))
    return seen
