"""P3: whatever a machine's owner or a site has left lying about, none of it goes along with a fetch.

    python -m tests.trust.traps        (started by ``spring``; prints one JSON object)

The environment names a proxy of every kind and a netrc, all of them traps: the proxy is a server that counts, the
netrc has a password for every host. Two sites ask for credentials in every way, set cookies and redirect to each other;
both note every byte they are sent.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firsthand.errors import OutsideError
from firsthand.values import HttpRequest
from firsthand.web.address import Policy, operator_policy
from firsthand.web.client import Client
from firsthand.web.fetch import Fetcher
from firsthand.web.gate import Gate
from firsthand.web.pace import Pacer
from tests.web.raw_server import Served, raw_server, response

ROOT = Path(__file__).parents[2]
PROXIES = ("http", "https", "all", "ftp", "socks", "ws", "wss")
LOGIN, PASSWORD, COOKIE, KEY = "trap-login", "trap-password", "trap-cookie", "trap-key"
SECRETS = [
    *(text.encode() for text in (LOGIN, PASSWORD, COOKIE)),
    base64.b64encode(f"{LOGIN}:{PASSWORD}".encode()).rstrip(b"="),
]
EXPECTED = {b"host", b"user-agent", b"accept", b"accept-encoding", b"connection"}
CHALLENGES = ("Basic realm=x", "Digest realm=x, nonce=y", "NTLM", "Negotiate", "Bearer", "Basic realm=x, NTLM")
_SETS = {
    "set-cookie": f"{COOKIE}=1; Path=/; SameSite=None",
    "referrer-policy": "unsafe-url",
    "link": "</x>; rel=preload",
}


@dataclass
class Sprung:
    """What the traps and the sites saw."""

    trap_connections: int = 0
    credentials: list[str] = field(default_factory=list)
    certificates: int = 0  # that a client showed to a server which asked for one
    requests: int = 0
    rows: list[dict[str, object]] = field(default_factory=list)


def spring() -> dict[str, Any]:
    """Run every scenario in a process whose environment is full of traps."""
    from tests.trust.peers import watched

    with tempfile.TemporaryDirectory() as home:
        netrc = Path(home, ".netrc")
        netrc.write_text(f"default login {LOGIN} password {PASSWORD}\n", encoding="utf-8")
        netrc.chmod(0o600)
        path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
        env = watched({"PATH": os.environ["PATH"], "PYTHONPATH": path, "HOME": home, "NETRC": str(netrc)})
        ran = subprocess.run(
            [sys.executable, "-m", "tests.trust.traps"],
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return dict(json.loads(ran.stdout))


def scenarios(port: int) -> dict[str, bytes]:
    """What a site answers by path; redirects lead to the other site, at *port*."""
    pages = {"/page": response(headers=_SETS), "/robots.txt": response(b"", 404, _SETS)}
    for n, challenge in enumerate(CHALLENGES):
        pages[f"/401/{n}"] = response(b"no", 401, {"www-authenticate": challenge, **_SETS})
        pages[f"/407/{n}"] = response(b"no", 407, {"proxy-authenticate": challenge, **_SETS})
    for status in (301, 302, 303, 307, 308):
        pages[f"/here/{status}"] = response(b"", status, {"location": "/page", **_SETS})
        pages[f"/there/{status}"] = response(b"", status, {"location": f"http://127.0.0.1:{port}/page", **_SETS})
    pages["/userinfo"] = response(b"", 302, {"location": f"http://{LOGIN}:{PASSWORD}@127.0.0.1:{port}/page", **_SETS})
    return pages


async def run() -> Sprung:
    """Every scenario, once."""
    sprung = Sprung()
    first: dict[str, bytes] = {}
    second: dict[str, bytes] = {}
    async with raw_server(_site({})) as trap, raw_server(_site(first)) as one, raw_server(_site(second)) as two:
        for name in PROXIES:
            os.environ[f"{name}_proxy"] = os.environ[f"{name.upper()}_PROXY"] = trap.url
        first |= scenarios(two.port)
        second |= scenarios(one.port)
        policy = Policy(allow_private=frozenset({("127.0.0.1", one.port), ("127.0.0.1", two.port)}))
        fetcher = Fetcher(Client(), policy, Pacer(interval_s=0))
        for served, pages in ((one, first), (two, second)):
            for path in pages:
                await _fetch(fetcher, f"{served.url}{path}", sprung)
        await _send_with_a_key(one, two, sprung)
        await fetcher.aclose()
        sprung.trap_connections = trap.n_connections
        _look_through([*one.heads, *two.heads], sprung)
    await _with_tls(sprung)
    return sprung


async def _fetch(fetcher: Fetcher, url: str, sprung: Sprung) -> None:
    try:
        end = str((await fetcher.fetch(url)).status)
    except OutsideError as error:
        end = error.code
    sprung.rows.append({"url": url.partition("127.0.0.1")[2].partition("/")[2], "end": end})


async def _send_with_a_key(one: Served, two: Served, sprung: Sprung) -> None:
    """A provider's key goes to the provider alone, also if that redirects."""
    client = Client()
    policy = operator_policy(operator_urls=(one.url, two.url))
    request = HttpRequest("GET", f"{one.url}/there/307", {"Authorization": KEY})
    answered = await client.send(request, policy)
    await client.aclose()
    keyed = [head for head in one.heads if KEY.encode() in head]
    sprung.rows.append({"url": "provider", "end": str(answered.status), "sent": len(keyed)})
    one.heads = [head for head in one.heads if head not in keyed]


async def _with_tls(sprung: Sprung) -> None:
    """A server that asks for a client's certificate gets none."""
    with tempfile.TemporaryDirectory() as folder:
        pem, key = Path(folder, "cert.pem"), Path(folder, "key.pem")
        make_certificate("shop.example.com", pem, key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, key)
        context.load_verify_locations(pem)
        context.verify_mode = ssl.CERT_OPTIONAL
        shown: list[object] = []

        async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
            shown.append(writer.get_extra_info("peercert"))
            writer.write(response(headers=_SETS))

        async def lookup(host: str) -> list[str]:
            return ["127.0.0.1"]

        async with raw_server(answer, ssl=context) as served:
            client = Client(gate=Gate(lookup), tls=ssl.create_default_context(cafile=str(pem)))
            policy = Policy(allow_private=frozenset({("shop.example.com", served.port)}))
            fetcher = Fetcher(client, policy, Pacer(interval_s=0))
            await _fetch(fetcher, f"https://shop.example.com:{served.port}/page", sprung)
            await fetcher.aclose()
            _look_through(served.heads, sprung)
    sprung.certificates = sum(bool(certificate) for certificate in shown)


def _look_through(heads: list[bytes], sprung: Sprung) -> None:
    sprung.requests += len(heads)
    for head in heads:
        names = {line.split(b":")[0].lower() for line in head.split(b"\r\n")[1:] if line}
        sprung.credentials += [name.decode("latin-1") for name in sorted(names - EXPECTED)]
        sprung.credentials += [secret.decode() for secret in (*SECRETS, KEY.encode()) if secret in head]


def _site(pages: dict[str, bytes]) -> Any:
    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(pages.get(head.split(b" ")[1].decode(), response(b"<p>Nothing here.</p>", 404)))

    return answer


def make_certificate(name: str, pem: Path, key: Path) -> None:
    """A certificate for *name* and its key, which signs itself."""
    words = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -addext subjectAltName=DNS:{name}"
    subprocess.run([*words.split(), "-keyout", str(key), "-out", str(pem)], check=True, capture_output=True)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run()).__dict__))
