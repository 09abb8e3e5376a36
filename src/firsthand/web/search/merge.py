"""Several lists of hits into one: each page once, the places spread over hosts, nothing thrown away. Pure.

Two hits are the same if their addresses are, less what does not change the page: scheme, ``www.``, a default port, the
fragment (unless a script reads it as a path), a trailing slash, the spelling of escapes, the order of parameters and
tracking parameters. That is a hint for merging only; a hit keeps the address its provider gave.

Hits of one host beyond its share, and hits whose words another hit has already, go behind the others: a snippet is no
evidence that two pages are one, so it may cost a hit its place, never its being in the list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

import ada_url

from firsthand.values import Hit

RRF_K = 60  # Cormack, Clarke and Büttcher, SIGIR 2009: reciprocal rank fusion
HOST_CAP = 2  # hits of one host before those of others (guess, between the 1 and 3 of the answer engine's modes)
UNCAPPED = "library"  # the provider whose hits are our own pages: the cap is no use there (R1)
SIMILAR = 0.8  # share of shingles in common; answer-engine specification, W17
SHINGLE_CHARS = 5  # characters, not words: scripts without spaces have no others
SIMILAR_MIN_CHARS = 80  # guess: shorter texts are alike by chance ("Home", "Search results")
MAX_COMPARED = 200  # hits; comparing is quadratic, and no list of ours is longer

# Names that only tell who sent the reader. Source: the parameters that public link cleaners remove on every site.
_TRACKING = frozenset(
    {
        "fbclid", "gclid", "gclsrc", "gbraid", "wbraid", "dclid", "msclkid", "yclid", "ysclid", "ttclid", "twclid",
        "igshid", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "oly_anon_id", "oly_enc_id", "rb_clickid", "s_cid",
        "srsltid", "vero_conv", "vero_id", "wickedid", "_hsenc", "_hsmi", "_openstat",
    }
)  # fmt: skip
_TRACKING_PREFIX = "utm_"
_ROUTE = re.compile(r"#!?/")  # a fragment that a script reads as a path
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")  # RFC 3986, section 2.3


def merge(lists: Iterable[Sequence[Hit]], limit: int) -> list[Hit]:
    """The hits of all lists, one list after the other, each page once: its first row wins. Spread as ``spread``."""
    kept: dict[str, Hit] = {}
    for hits in lists:
        for hit in hits:
            kept.setdefault(same_page_key(hit.url), hit)
    return spread(list(kept.values()))[:limit]


def fuse(lists: Sequence[Sequence[Hit]], limit: int) -> list[Hit]:
    """The hits of several providers by reciprocal rank fusion, each page once, as its best-ranked row; spread.

    Order: the sum over the lists of 1 / (60 + rank); ties keep the order of the lists.
    """
    scores: dict[str, float] = {}
    best: dict[str, Hit] = {}
    for hits in lists:
        counted: set[str] = set()
        for place, hit in enumerate(hits, start=1):
            key = same_page_key(hit.url)
            if key in counted:  # a provider that repeats a page does not vote twice
                continue
            counted.add(key)
            scores[key] = scores.get(key, 0.0) + 1 / (RRF_K + place)
            if key not in best or hit.rank < best[key].rank:
                best[key] = hit
    return spread([best[key] for key in sorted(scores, key=lambda key: -scores[key])])[:limit]


def spread(hits: Sequence[Hit], host_cap: int = HOST_CAP) -> list[Hit]:
    """*hits* with those beyond *host_cap* of one host behind the others, and those whose words stood before behind all.

    Order: as given within each of the three. Hits of a library keep their places; hosts that are numbers have no cap.
    """
    n_of: Counter[str] = Counter()
    seen: list[tuple[frozenset[str], frozenset[str]]] = []
    parts: tuple[list[Hit], list[Hit], list[Hit]] = ([], [], [])
    for hit in hits:
        if hit.provider == UNCAPPED:
            parts[0].append(hit)
            continue
        told = _told(hit)
        if told is not None and any(_is_alike(told, other) for other in seen[:MAX_COMPARED]):
            parts[2].append(hit)
            continue
        if told is not None:
            seen.append(told)
        host = _host(hit.url)
        n_of[host] += 1
        parts[0 if not host or n_of[host] <= max(1, host_cap) else 1].append(hit)
    return [hit for part in parts for hit in part]


def same_page_key(url: str) -> str:
    """A key that near-identical addresses share; never an address to open."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return url
    pairs = parse_qsl(parsed.search.removeprefix("?"), keep_blank_values=True)
    kept = sorted((name, value) for name, value in pairs if not _is_tracking(name))
    host = parsed.hostname.removeprefix("www.").removesuffix(".")
    port = f":{parsed.port}" if parsed.port else ""
    path = _ESCAPE.sub(_plain, parsed.pathname).rstrip("/")
    route = parsed.hash if _ROUTE.match(parsed.hash) else ""
    return f"{host}{port}{path}?{urlencode(kept)}{route}"


def _plain(escape: re.Match[str]) -> str:
    """An escape that needs none as its character, any other in upper case."""
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()


def _is_tracking(name: str) -> bool:
    return name.lower() in _TRACKING or name.lower().startswith(_TRACKING_PREFIX)


def _host(url: str) -> str:
    """The host of a canonical address, without ``www.``; empty for a number, which names a machine and no publisher."""
    host = urlsplit(url).hostname or ""
    return "" if ":" in host or host.rpartition(".")[2].isdigit() else host.removeprefix("www.")


def _told(hit: Hit) -> tuple[frozenset[str], frozenset[str]] | None:
    """What title and snippet say, as shingles and numbers; None if they say too little to compare."""
    text = f"{hit.title} {hit.snippet}".casefold()
    letters = "".join(character for character in text if character.isalnum())
    if len(letters) < SIMILAR_MIN_CHARS:
        return None
    shingles = frozenset(letters[at : at + SHINGLE_CHARS] for at in range(len(letters) - SHINGLE_CHARS + 1))
    return shingles, frozenset(re.findall(r"\d+", text))


def _is_alike(one: tuple[frozenset[str], frozenset[str]], other: tuple[frozenset[str], frozenset[str]]) -> bool:
    """Whether two texts say the same. One number apart they do not: release notes differ in little else."""
    shingles, others = one[0], other[0]
    return one[1] == other[1] and len(shingles & others) >= SIMILAR * len(shingles | others)
