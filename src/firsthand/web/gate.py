"""The gate: from a judged address to network addresses that may be dialled, with one look-up and no second thought.

What leaves here has no name to look up any more: ``Admitted.addresses`` is all that the client connects to. TLS and
the Host header still use the name.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass

from firsthand.errors import FetchFailed
from firsthand.web.address import Policy, Target, judge_answer
from firsthand.web.limits import LIMITS, Limits

Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""Look a host name up: its addresses in the order to try, each once; empty if there is no such name."""

Known = MutableMapping[str, tuple[str, ...]]
"""What one fetch has looked up already, by host: a second hop to a host reuses the first answer."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A target with the addresses, every one of them judged, that it may be asked at."""

    target: Target
    addresses: tuple[str, ...]


class Gate:
    """Resolves once and judges every answer; one refused answer refuses the name."""

    def __init__(self, lookup: Lookup | None = None, *, limits: Limits = LIMITS) -> None:
        self._lookup = system_lookup if lookup is None else lookup
        self._limits = limits

    async def admit(self, target: Target, policy: Policy, known: Known | None = None) -> Admitted:
        """*target* with its judged addresses. A literal is its own answer.

        Raises: AddressRefused if any answer is refused; FetchFailed (``dns``, ``timeout``) if there is none.
        """
        if target.is_literal:
            answers: tuple[str, ...] = (target.host,)
        elif known is not None and target.host in known:
            answers = known[target.host]
        else:
            answers = await self._resolve(target.host)
            if known is not None:
                known[target.host] = answers
        for answer in answers:
            judge_answer(answer, target, policy)
        return Admitted(target, answers)

    async def _resolve(self, host: str) -> tuple[str, ...]:
        try:
            async with asyncio.timeout(self._limits.connect_s):
                answers = tuple(await self._lookup(host))
        except TimeoutError as error:
            raise FetchFailed("timeout", "timeout", "The name look-up took too long.", retryable=True) from error
        except OSError as error:
            raise FetchFailed("failed", "dns", f"The name {host} could not be looked up.", retryable=True) from error
        if not answers:
            raise FetchFailed("failed", "dns", f"There is no host named {host}.")
        return answers


async def system_lookup(host: str) -> list[str]:
    """The addresses that this machine's resolver gives for *host*; none if it knows no such name.

    Order: IPv4 first. A guess with a reason: IPv6 that is configured but leads nowhere is the common fault, and costs
    a connect time-out when it is tried first.
    """
    # With its root dot a name is asked as it stands, without search domains; the hosts file knows only names without.
    spellings = (host + ".", host) if "." in host else (host,)
    rows = []
    for spelling in spellings:
        if rows := await _rows(spelling):
            break
    rows.sort(key=lambda row: row[0] != socket.AF_INET)
    return list(dict.fromkeys(address for _, address in rows))


async def _rows(name: str) -> list[tuple[int, str]]:
    loop = asyncio.get_running_loop()
    try:
        rows = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)):
            return []
        raise
    return [(row[0], str(row[4][0])) for row in rows]
