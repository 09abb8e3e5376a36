"""The providers of an installation, by name, and one call to one of them.

``search_one`` is the unit that a receipt is kept for: it asks exactly once, and a refusal is a value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

from firsthand.errors import InvalidInput, OutsideError, ProviderFailed
from firsthand.ports import Searched
from firsthand.values import HttpRequest, HttpResponse, Query
from firsthand.web.search.codec import OUTCOMES, Codec, Hits, clean, failure
from firsthand.web.search.ddgs import Ddgs
from firsthand.web.search.duckduckgo import DuckDuckGoHtml
from firsthand.web.search.searxng import SearXNG

TIMEOUT_S = 15.0  # one provider, everything included
MAX_DETAIL_CHARS = 500
KEYLESS = ("ddgs", "duckduckgo-html", "searxng")  # what "duckduckgo" means; searxng only if there is one
NAMES = ("duckduckgo", *KEYLESS)

Send = Callable[[HttpRequest], Awaitable[HttpResponse]]
"""Sends a request to a provider: brings every status, follows no redirect, caps the body, raises OutsideError."""


def codecs(*, searxng_url: str = "") -> dict[str, Codec]:
    """The providers that are asked over HTTP, by name."""
    duckduckgo = DuckDuckGoHtml()
    table: dict[str, Codec] = {duckduckgo.name: duckduckgo}
    if searxng_url:
        searxng = SearXNG(searxng_url)
        table[searxng.name] = searxng
    return table


class Providers:
    """The providers of one installation. Holds no state between two calls."""

    def __init__(self, codecs: Mapping[str, Codec], ddgs: Ddgs, *, timeout_s: float = TIMEOUT_S) -> None:
        if timeout_s <= 0:
            raise InvalidInput("invalid_timeout", "A search needs a time limit above 0 seconds.")
        self._codecs = codecs
        self._ddgs = ddgs
        self._timeout_s = timeout_s

    def expand(self, names: Iterable[str]) -> tuple[str, ...]:
        """The single providers that *names* stand for, each once, in order.

        Raises: InvalidInput for a name that does not exist.
        """
        order: dict[str, None] = {}
        for name in names:
            if name not in NAMES:
                raise InvalidInput(
                    "unknown_provider", f"There is no search provider {name!r}; there are {', '.join(NAMES)}."
                )
            if name == "duckduckgo":
                order.update((single, None) for single in KEYLESS if single != "searxng" or single in self._codecs)
            else:
                order[name] = None
        return tuple(order)

    async def search_one(self, name: str, query: Query, send: Send) -> Searched:
        """Ask one provider one query, once. What the world does is in the outcome, never an exception.

        Raises: InvalidInput for a blank query or a limit below 1; nothing is sent then.
        """
        if not clean(query.text, len(query.text)):
            raise InvalidInput("blank_query", "There is nothing to search for: the query is blank.")
        if query.max_hits < 1:
            raise InvalidInput("invalid_max_hits", "A search must ask for at least one hit.")
        try:
            async with asyncio.timeout(self._timeout_s):
                hits, applied = await self._ask(name, query, send)
        except TimeoutError:
            return _failed(name, "provider_timeout", f"{name}: no answer within {self._timeout_s:g} seconds.")
        except OutsideError as error:
            detail = clean(error.message, MAX_DETAIL_CHARS)
            return Searched(name, error.outcome, (), error.code, detail, None, error.retry_after_s)
        except OSError:  # a sender that lets the transport's own error through
            return _failed(name, "provider_unreachable", f"{name}: could not be reached.")
        return Searched(name, "ok" if hits else "empty", tuple(hits), "", _dropped(hits.n_dropped), applied)

    async def _ask(self, name: str, query: Query, send: Send) -> tuple[Hits, str | None]:
        if name == self._ddgs.name:
            return await self._ddgs.search(query), self._ddgs.time_filter(query)
        codec = self._codecs.get(name)
        if codec is None:
            raise _not_configured(name)
        return codec.hits(query, await send(codec.request(query))), codec.time_filter(query)


def _not_configured(name: str) -> ProviderFailed:
    hint = "set FIRSTHAND_SEARXNG_URL to your instance." if name == "searxng" else "there is no such provider."
    return failure(name, "provider_not_configured", hint)


def _dropped(n: int) -> str:
    if n == 0:
        return ""
    return f"{n} {'row' if n == 1 else 'rows'} had no usable address and {'was' if n == 1 else 'were'} left out."


def _failed(name: str, code: str, detail: str) -> Searched:
    return Searched(name, OUTCOMES[code], (), code, detail)
