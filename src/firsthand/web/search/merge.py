"""Several lists of hits into one. Pure.

Two hits are the same if their addresses are, less what does not change the page: the fragment, a default port, a
trailing slash, the order of parameters and tracking parameters. That is a hint for merging only; a hit keeps the
address its provider gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, urlencode

import ada_url

from firsthand.values import Hit

RRF_K = 60  # Cormack, Clarke and Büttcher, SIGIR 2009: reciprocal rank fusion
_TRACKING = frozenset({"fbclid", "gclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid", "_hsenc", "_hsmi"})
_TRACKING_PREFIX = "utm_"


def merge(lists: Iterable[Sequence[Hit]], limit: int) -> list[Hit]:
    """The hits of all lists, one list after the other, each page once: its first row wins."""
    kept: dict[str, Hit] = {}
    for hits in lists:
        for hit in hits:
            kept.setdefault(same_page_key(hit.url), hit)
    return list(kept.values())[:limit]


def fuse(lists: Sequence[Sequence[Hit]], limit: int) -> list[Hit]:
    """The hits of several providers by reciprocal rank fusion, each page once, as its best-ranked row.

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
    return [best[key] for key in sorted(scores, key=lambda key: -scores[key])][:limit]


def same_page_key(url: str) -> str:
    """A key that near-identical addresses share; never an address to open."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return url
    pairs = parse_qsl(parsed.search.removeprefix("?"), keep_blank_values=True)
    kept = sorted((name, value) for name, value in pairs if not _is_tracking(name))
    host = parsed.hostname.removeprefix("www.")
    port = f":{parsed.port}" if parsed.port else ""
    return f"{host}{port}{parsed.pathname.rstrip('/')}?{urlencode(kept)}"


def _is_tracking(name: str) -> bool:
    return name.lower() in _TRACKING or name.lower().startswith(_TRACKING_PREFIX)
