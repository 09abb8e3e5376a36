"""The one table of limits and refusals for reaching out; everything in this room reads its numbers here.

Source: the hostile corpora's defaults (``tests/data/hostile-defaults.json``); a test compares this module with that file.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

SCHEMES = frozenset({"http", "https"})
PORTS = frozenset({80, 443, 8080, 8443})
MAX_URL_CHARS = 8192
MAX_REDIRECTS = 10

# IANA special-purpose registry, read 2026-11, plus one cloud's platform channel (168.63.129.16) that looks public.
# Our own table: on Python 3.11 ``ipaddress.is_private`` is wrong on 25 of the corpus's 56 refused addresses.
REFUSED_IPV4 = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
ALLOWED_IPV6 = IPv6Network("2000::/3")
REFUSED_IPV6 = tuple(IPv6Network(block) for block in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
NEVER_IPV4 = tuple(
    IPv4Network(block) for block in ("169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32")
)
NEVER_IPV6 = tuple(IPv6Network(block) for block in ("fd00:ec2::254/128", "fd20:ce::254/128"))

REFUSED_SUFFIXES = frozenset(
    {
        "localhost",
        "local",
        "internal",
        "intranet",
        "lan",
        "home",
        "corp",
        "private",
        "onion",
        "i2p",
        "invalid",
        "test",
        "home.arpa",
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one exchange may take. The defaults are the product's; tests pass smaller ones."""

    connect_s: float = 5.0  # name look-up, and each connection with its TLS handshake
    first_byte_s: float = 10.0
    between_reads_s: float = 10.0
    total_s: float = 30.0  # time on the network in one fetch, all its hops together; waits for our turn not counted
    head_bytes: int = 65_536
    n_headers: int = 200
    wire_bytes: int = 10_485_760
    decoded_bytes: int = 10_485_760
    codings_max: int = 2
    gzip_members_max: int = 1000


LIMITS = Limits()

MAX_RETRIES = 1  # of 429, 502, 503, 504 in one fetch: one polite one
PATIENCE_S = 30.0  # what one fetch waits because hosts ask for it: as long as it may take on the network
SITE_PATIENCE_S = 300.0  # the same while a whole site is kept: nobody sits and waits for one page of it
RUN_REQUESTS_MAX = 1_000  # a site's default of 200 pages with the four misses a page that a crawl puts up with
RETRY_DEFAULT_S = 1.0  # when the server does not say
ROBOTS_BYTES = 512_000  # RFC 9309, section 2.5: at least 500 KiB must be parsed
ROBOTS_REDIRECTS = 5  # RFC 9309, section 2.3.1.2
ROBOTS_CACHE_S = 86_400.0  # RFC 9309, section 2.4
ROBOTS_RETRY_S = 300.0  # guess: how long an unreachable robots file is not asked for again
CRAWL_DELAY_MAX_S = 60.0  # a site may slow us down, not park us
