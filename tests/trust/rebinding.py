"""P2: fetches of names whose answer changes at every query; the look-ups and the peers are counted.

    python -m tests.trust.rebinding N        (started by ``rebind``; prints one JSON object)

Where the system lets us, this runs in a network and a mount of its own: the resolver is the system's (``getaddrinfo``,
with this name server in resolv.conf, port 53), the addresses are public ones that only exist there, the policy is the
product's. Elsewhere the gate asks the same server through a look-up of the test's, and a block of loopback stands for
the public addresses. The result says which (``resolver``).

One look-up is one query for A and one for AAAA: that is what ``getaddrinfo`` sends. A second query of the same kind for
the same name within a fetch is a second look-up. A fetch here has three hops at two names, and their robots files.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from firsthand.errors import OutsideError
from firsthand.web.address import Policy
from firsthand.web.client import Client
from firsthand.web.fetch import Fetcher
from firsthand.web.gate import Gate
from firsthand.web.pace import Pacer
from tests.trust.names import NameServer, look_up_at, name_server
from tests.web.raw_server import raw_server, response

ROOT = Path(__file__).parents[2]
PLANS = ("ipv4", "ipv6", "both", "private-first", "mixed", "missing-first")
TRAPS = {"A": "127.0.0.1", "AAAA": "::1"}  # what every later query is told
ISOLATED = "--isolated"


@dataclass(frozen=True, slots=True)
class World:
    """The addresses that a name's first answer is taken from, and how they are reached."""

    ipv4: tuple[str, ...]
    ipv6: tuple[str, ...]
    port: int  # 0: any that is free
    dns_port: int
    allow: tuple[str, ...] = ()

    def policy(self, port: int) -> Policy:
        """The product's own, but for what stands for public addresses here."""
        return Policy(ports=frozenset({port}), allow_ranges=tuple(map(ip_network, self.allow)))


PUBLIC = World(
    tuple(f"93.184.216.{n}" for n in range(30, 38)), tuple(f"2606:2800:220:1::{n}" for n in range(1, 9)), 8080, 53
)
_LO = [f"ip addr add {ip} dev lo" for ip in (*(f"{ip}/32" for ip in PUBLIC.ipv4), *(f"{ip}/128" for ip in PUBLIC.ipv6))]
_RESOLV_CONF = r"search inner.example.org\nnameserver 127.0.0.1\n"
_IN_ISOLATION = " && ".join(
    [
        "ip link set lo up",
        *_LO,
        f"printf '{_RESOLV_CONF}' > $1/resolv.conf",
        "mount --bind $1/resolv.conf /etc/resolv.conf",
        # A resolver that is asked over a UNIX socket would answer from the network outside.
        "printf 'hosts: files dns\\n' > $1/nsswitch.conf",
        "{ [ ! -e /etc/nsswitch.conf ] || mount --bind $1/nsswitch.conf /etc/nsswitch.conf; }",
        "shift",
        'exec "$@"',
    ]
)


def loopback() -> World:
    """Where there is no network of its own to be had; with IPv6, if this machine has it."""
    ipv6: tuple[str, ...] = ()
    with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        ipv6 = ("::1",)
    return World(tuple(f"127.0.1.{n}" for n in range(1, 9)), ipv6, 0, 0, ("127.0.1.0/24", "::1/128"))


@dataclass
class Tally:
    """What was counted, over all fetches."""

    resolver: str
    fetches: int = 0
    look_ups: int = 0
    owed_look_ups: int = 0  # one for each name of a fetch: two if it goes on, one if its first is refused
    queries: int = 0
    second_look_ups: int = 0
    wrong_peers: int = 0
    wrong_ends: list[str] = field(default_factory=list)
    requests: int = 0


def rebind(n_fetches: int) -> dict[str, Any]:
    """Run it in a process of its own; with a network of its own, if the system lets us."""
    from tests.trust.peers import UNWATCHED, watched

    program = [sys.executable, "-m", "tests.trust.rebinding", str(n_fetches)]
    base = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with tempfile.TemporaryDirectory() as folder:
        for rights in ((), ("--map-root-user",)):
            isolated = ["unshare", *rights, "--net", "--mount", "sh", "-c", _IN_ISOLATION, "sh", folder]
            env = {**base, **UNWATCHED}  # its public addresses are its own
            with contextlib.suppress(FileNotFoundError):
                if subprocess.run([*isolated, "true"], env=env, capture_output=True).returncode == 0:
                    return _said([*isolated, *program, ISOLATED], env)
    return _said(program, watched(base))


def _said(program: list[str], env: dict[str, str]) -> dict[str, Any]:
    ran = subprocess.run(program, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(ran.stdout))


async def run(world: World, n_fetches: int, resolver: str) -> Tally:
    """Fetch *n_fetches* names, each new, each by the next plan."""
    tally = Tally(resolver)
    peers: list[tuple[str, str]] = []  # host asked for, address it was asked at

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
        host, path = fields[b"Host"].decode().rsplit(":", 1)[0], head.split(b" ")[1].decode()
        peers.append((host, writer.get_extra_info("sockname")[0]))
        other = host.replace("first", "second")
        port = writer.get_extra_info("sockname")[1]
        hops = {"/start": "/next", "/next": f"http://{other}:{port}/page"}
        if path == "/robots.txt":
            writer.write(response(b"", 404))
        elif path in hops:
            writer.write(response(b"", 302, {"location": hops[path]}))
        else:
            writer.write(response())

    async with AsyncExitStack() as stack:
        names = await stack.enter_async_context(name_server(partial(_says, world), port=world.dns_port))
        port = world.port
        for host in dict.fromkeys([TRAPS["A"], *world.ipv4, *world.ipv6, *([TRAPS["AAAA"]] if world.ipv6 else [])]):
            port = (await stack.enter_async_context(raw_server(answer, host=host, port=port))).port
        gate = Gate() if resolver == "getaddrinfo" else Gate(partial(look_up_at, names.address))
        fetcher = Fetcher(Client(gate=gate), world.policy(port), Pacer(interval_s=0))
        plans = [plan for plan in PLANS if world.ipv6 or plan != "ipv6"]
        for n in range(n_fetches):
            first = f"first{n}.{plans[n % len(plans)]}.example.com"
            before = Counter(names.asked)
            try:
                page = await fetcher.fetch(f"http://{first}:{port}/start")
                end = page.url
            except OutsideError as error:
                end = error.code
            _count(tally, world, names, before, peers, first, end)
        await fetcher.aclose()
    return tally


def _count(
    tally: Tally,
    world: World,
    names: NameServer,
    before: Counter[tuple[str, str]],
    peers: list[tuple[str, str]],
    first: str,
    end: str,
) -> None:
    plan, asked = first.split(".")[1], names.asked - before
    second = first.replace("first", "second")
    wanted = {"private-first": "address", "mixed": "address", "missing-first": "dns"}.get(plan, f"/{second}:")
    expected = {first, second} if wanted.startswith("/") else {first}
    tally.fetches += 1
    tally.queries += sum(asked.values())
    tally.look_ups += len({name for name, _ in asked})
    tally.owed_look_ups += len(expected)
    tally.second_look_ups += sum(n - 1 for n in asked.values()) + len({name for name, _ in asked} - expected)
    tally.requests += len(peers)
    tally.wrong_peers += sum(
        host not in expected or not wanted.startswith("/") or address not in _first_answers(world, host)
        for host, address in peers
    )
    if wanted not in end:
        tally.wrong_ends.append(f"{first}: {end}")
    peers.clear()


def _first_answers(world: World, host: str) -> list[str]:
    return [ip for kind in ("A", "AAAA") for ip in _says(world, host, kind, 1) or ()]


def _says(world: World, name: str, kind: str, n_query: int) -> list[str] | None:
    """The first answer is one that may be asked, by the plan in the name; every later one leads into a trap."""
    label, _, rest = name.partition(".")
    plan = rest.split(".")[0]
    if plan not in PLANS or n_query > 1:
        return [TRAPS[kind]] if kind in TRAPS else []
    number = int("".join(c for c in label if c.isdigit()))
    public = {
        kind: [addresses[number % len(addresses)]] if addresses else []
        for kind, addresses in (("A", world.ipv4), ("AAAA", world.ipv6))
    }
    if plan == "missing-first":
        return None
    if plan == "private-first":
        return [TRAPS[kind]] if kind == "A" else []
    if plan == "mixed":
        return [*public["A"], "10.0.0.1"] if kind == "A" else public["AAAA"]
    return public[kind] if plan == "both" or (plan == "ipv4") == (kind == "A") else []


if __name__ == "__main__":
    chosen = (PUBLIC, "getaddrinfo") if ISOLATED in sys.argv else (loopback(), "a look-up of the test")
    print(json.dumps(asyncio.run(run(chosen[0], int(sys.argv[1]), chosen[1])).__dict__))
