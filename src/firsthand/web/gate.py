"""The gate: from a judged address to network addresses that may be dialled, with one look-up and no second thought.

What leaves here has no name to look up any more: ``Admitted.addresses`` is all that the client connects to. TLS and
the Host header still use the name.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from firsthand.web.address import Policy, Target, judge_answer
from firsthand.web.limits import LIMITS, Limits
from firsthand.web.reply import failed

HOSTS_FILE = Path(r"C:\Windows\System32\drivers\etc\hosts" if sys.platform == "win32" else "/etc/hosts")

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
            raise failed("timeout", "The name look-up took too long.") from error
        except OSError as error:
            raise failed("dns", f"The name {host} could not be looked up.", retryable=True) from error
        if not answers:
            raise failed("dns", f"There is no host named {host}.")
        return answers


async def system_lookup(host: str) -> list[str]:
    """The addresses that this machine knows for *host*, asked for once; none if it knows no such name.

    A name with dots is looked for in the hosts file, then asked of the resolver as it stands, with its root dot: without
    it, a name that does not exist would be asked again, and then under each of the machine's search domains.
    Order: IPv4 first. A guess with a reason: IPv6 that is configured but leads nowhere is the common fault, and costs
    a connect time-out when it is tried first.
    """
    return await _in_thread(_known_addresses, host)


def _known_addresses(host: str) -> list[str]:
    if "." in host:
        if written := _hosts_file(HOSTS_FILE).get(host):
            return _in_order(written)
        host += "."
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)):
            return []
        raise
    return _in_order(str(row[4][0]) for row in rows)


def _in_order(addresses: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(addresses), key=lambda address: ":" in address)


def _hosts_file(path: Path) -> dict[str, list[str]]:
    """The addresses of each name in the hosts file; nothing if there is none. Source: hosts(5)."""
    try:
        found = path.stat()
    except OSError:
        return {}
    return _read_hosts(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=1)  # some hosts files block 100,000 names; read again when the file has changed
def _read_hosts(path: Path, mtime_ns: int, size_bytes: int) -> dict[str, list[str]]:
    hosts: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        for name in names:
            hosts.setdefault(name.lower().removesuffix("."), []).append(address)
    return hosts


async def _in_thread(look_up: Callable[[str], list[str]], host: str) -> list[str]:
    """*look_up* in a thread of its own. A pool's would be waited for when the program ends, and a resolver that hangs
    (20 s and more, by its own count) would hold up the names of others and every exit.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[list[str]] = loop.create_future()

    def answer(set_it: Callable[..., None], value: object) -> None:
        if not future.done():
            set_it(value)

    def work() -> None:
        try:
            given: tuple[Callable[..., None], object] = (future.set_result, look_up(host))
        except Exception as error:
            given = (future.set_exception, error)
        with suppress(RuntimeError):  # nobody waits any more: the loop is closed
            loop.call_soon_threadsafe(answer, *given)

    threading.Thread(target=work, name="look-up", daemon=True).start()
    return await future
