"""URLs made of the corpus' pieces, and whether the gate and the standard's parser ever differ over one.

    python -m tests.trust.generated [N] [SEED]

A difference is: a host, port or scheme that the parser reads otherwise; a URL that is let through although an address
that would be dialled is refused by a second table (made from the corpus' defaults, sharing no code with the gate's), or
refused for its address although none is; a canonical form that is judged otherwise than its URL.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

import ada_url
from yarl import URL

from firsthand.errors import AddressRefused
from firsthand.web.address import Policy, Target, follow, judge
from firsthand.web.gate import Gate
from tests.trust.urls import DEFAULTS, ROWS

POLICY = Policy()
CORPUS = sorted({row["url"] for row in ROWS.values() if len(row["url"]) < 300})
_CUT = re.compile(r"[A-Za-z0-9]+|%[0-9A-Fa-f]{2}|.", re.DOTALL)
HOSTS = sorted({re.split(r"[/?#\\]", url.partition("://")[2])[0] for url in CORPUS})
PIECES = sorted({piece for url in CORPUS for piece in _CUT.findall(url)})
SIGNS = list("/\\@:#?.%[]-_ \t\n。＠／​­é")
RESTS = ["", "/", "/a?b#c", "?q=http://127.0.0.1/", "#@127.0.0.1/", "/../%2e%2e/", ":80/", ":8443/x", ":22/", "\\x"]
BASES = ["http://base.example.com/a/b?q=1", "https://base.example.com:8443/"]
REDIRECTS_SHARE = 5  # one in so many is the location of a redirect
ANSWERS = sorted({address for row in ROWS.values() for look_ups in row.get("dns", {}).values() for one in look_ups for address in one})  # fmt: skip

_RANGES = DEFAULTS["refused_ranges"]
_REFUSED = [ip_network(block) for block in (*_RANGES["ipv4"], *_RANGES["ipv6_refused_inside"])]
_ALLOWED_IPV6 = ip_network(_RANGES["ipv6_allowed_block"])


def urls(seed: int) -> Iterator[str]:
    """URLs without end: corpus URLs with a few pieces changed, hosts joined with rests, pieces in a row."""
    rng = random.Random(seed)
    while True:
        kind = rng.random()
        if kind < 0.5:
            pieces = _CUT.findall(rng.choice(CORPUS))
            for _ in range(rng.randint(1, 3)):
                _change(pieces, rng)
            yield "".join(pieces)
        elif kind < 0.8:
            host = rng.choice(HOSTS) if rng.random() < 0.6 else _literal(rng)
            yield f"{rng.choice(['http', 'https', 'HTTP', 'hTTps'])}://{host}{rng.choice(RESTS)}"
        else:
            lead = rng.choice(["http://", "https://", "http:", "//", ""])
            yield lead + "".join(rng.choices(PIECES, k=rng.randint(1, 8)))


def _change(pieces: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(pieces) + 1)
    match rng.randrange(4):
        case 0:
            pieces.insert(at, rng.choice(SIGNS))
        case 1:
            pieces.insert(at, rng.choice(PIECES))
        case 2 if pieces[at:]:
            del pieces[at]
        case _ if pieces[at:]:
            pieces[at] = rng.choice(PIECES)


def _literal(rng: random.Random) -> str:
    """An address in one of its spellings, near the edge of a refused range or anywhere."""
    if rng.random() < 0.6:
        block = rng.choice([b for b in _REFUSED if b.version == 4])
        value = (int(block[0]) + rng.choice([-1, 0, 1, block.num_addresses - 1, block.num_addresses])) % 2**32
        parts = [value >> 24, value >> 16 & 255, value >> 8 & 255, value & 255]
        forms = ["{}.{}.{}.{}", "0x{:x}.{}.{}.{}", "{:o}.{}.{}.{}", "[::ffff:{}.{}.{}.{}]", "[64:ff9b::{}.{}.{}.{}]"]
        return rng.choice([rng.choice(forms).format(*parts), str(value), hex(value)])
    wide = rng.choice([*(b for b in _REFUSED if b.version == 6), _ALLOWED_IPV6])
    value = (int(wide[0]) + rng.choice([-1, 0, 1, wide.num_addresses - 1, wide.num_addresses])) % 2**128
    return f"[{ip_address(value.to_bytes(16, 'big'))}]"


async def differences(url: str, answers: Sequence[str]) -> tuple[str, list[str]]:
    """What the gate says of *url* if its name resolves to *answers* (``allow`` or a code), and where the others differ."""
    return await _differences(url, answers, lambda: judge(url, POLICY))


async def differences_of_redirect(location: str, base: str, answers: Sequence[str]) -> tuple[str, list[str]]:
    """The same of a redirect from *base*: the parser joins the two, the gate follows in its own way."""
    try:
        joined = ada_url.join_url(base, location)
    except ValueError:
        joined = "no address"
    return await _differences(joined, answers, lambda: follow(location, judge(base, POLICY), POLICY))


async def _differences(url: str, answers: Sequence[str], judged: Callable[[], Target]) -> tuple[str, list[str]]:
    async def lookup(host: str) -> Sequence[str]:
        return answers

    try:
        target = judged()
        dialled = (await Gate(lookup).admit(target, POLICY)).addresses
    except AddressRefused as refused:
        return refused.code, _differences_of_refusal(url, refused.code, answers)
    found = [f"{address} would be dialled" for address in dialled if not is_allowed(address)]
    if not target.is_literal and tuple(dialled) != tuple(answers):
        found.append(f"{dialled} is not what the name resolves to")
    return "allow", found + _differences_of_reading(url, target)


def _differences_of_reading(url: str, target: Target) -> list[str]:
    try:
        parsed = ada_url.URL(url)
        again = judge(target.url, POLICY)
    except (ValueError, AddressRefused) as error:
        return [f"{type(error).__name__}: accepted, and not by another reading"]
    found = []
    port = int(parsed.port or {"http:": 80, "https:": 443}[parsed.protocol])
    host = parsed.hostname.strip("[]").removesuffix(".")
    if (parsed.protocol, host, port) != (f"{target.scheme}:", target.host, target.port):
        found.append(f"the parser reads {parsed.protocol} {host} {port}, the gate {target}")
    if parsed.username or parsed.password:
        found.append("credentials passed")
    if again != target:
        found.append(f"its canonical form means {again}")
    others = {urlsplit(target.url).hostname, URL(target.url, encoded=True).raw_host}
    if others != {target.host}:
        found.append(f"other parsers read {others} in the canonical form")
    return found


def _differences_of_refusal(url: str, code: str, answers: Sequence[str]) -> list[str]:
    """A refusal for an address must have an address that is refused; every other refusal connects nowhere."""
    if code != "address":
        return []
    try:
        host = ada_url.URL(url).hostname.strip("[]").removesuffix(".")
    except ValueError:
        return ["refused for its address, and it has none"]
    judged = [host] if _is_address(host) else answers
    return ["refused, although every address is allowed"] if all(map(is_allowed, judged)) else []


def is_allowed(address: str) -> bool:
    """The second table: the corpus' defaults, read plainly."""
    ip = ip_address(address)
    if ip.version == 6 and ip not in _ALLOWED_IPV6:
        return False
    return not any(ip.version == block.version and ip in block for block in _REFUSED)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


async def run(n_urls: int, seed: int) -> dict[str, object]:
    """Counts, and the first differences."""
    rng = random.Random(-seed)
    found: list[dict[str, object]] = []
    made = urls(seed)
    verdicts: Counter[str] = Counter()
    for number in range(n_urls):
        url = next(made)
        answers = rng.sample(ANSWERS, rng.choice([1, 1, 1, 2]))
        if number % REDIRECTS_SHARE:
            verdict, different = await differences(url, answers)
        else:  # whole, without its scheme, or from its path on
            url = rng.choice([url, url.partition(":")[2], "/" + url.partition("://")[2].partition("/")[2]])
            verdict, different = await differences_of_redirect(url, rng.choice(BASES), answers)
        verdicts[verdict] += 1
        if different:
            found.append({"url": url, "answers": answers, "differences": different})
    return {
        "generated": n_urls,
        "seed": seed,
        "differences": len(found),
        "first": found[:20],
        "verdicts": dict(verdicts.most_common()),
    }


if __name__ == "__main__":
    n_urls, seed = (int(text) for text in [*sys.argv[1:], *["20000", "1"][len(sys.argv) - 1 :]])
    print(json.dumps(asyncio.run(run(n_urls, seed))))
