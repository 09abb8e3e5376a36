"""The providers of an installation, by name, and one call to one of them.

``call`` is the unit that a receipt is kept for: it asks once (a provider without a price, that asks us to come back at
once, twice), and a refusal is a value. What one call may have cost is part of what it says.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from firsthand.errors import Error, InvalidInput, OutsideError, ProviderFailed, whereabouts
from firsthand.ports import Searched
from firsthand.values import HttpRequest, HttpResponse, Query
from firsthand.web.search.brave import URL as BRAVE_URL
from firsthand.web.search.brave import Brave
from firsthand.web.search.codec import Codec, Hits, clean, failure
from firsthand.web.search.ddgs import Ddgs
from firsthand.web.search.duckduckgo import URL as DUCKDUCKGO_URL
from firsthand.web.search.duckduckgo import DuckDuckGoHtml
from firsthand.web.search.exa import URL as EXA_URL
from firsthand.web.search.exa import Exa
from firsthand.web.search.facts import FACTS, EngineFacts
from firsthand.web.search.linkup import URL as LINKUP_URL
from firsthand.web.search.linkup import Linkup
from firsthand.web.search.mediawiki import WIKIPEDIA, MediaWiki
from firsthand.web.search.parallel import URL as PARALLEL_URL
from firsthand.web.search.parallel import Parallel
from firsthand.web.search.phrasing import REGIONS, Clock, split_sites
from firsthand.web.search.searxng import SearXNG
from firsthand.web.search.tavily import URL as TAVILY_URL
from firsthand.web.search.tavily import Tavily

TIMEOUT_S = 15.0  # one provider, everything included
RETRY_AT_ONCE_S = 3.0  # a Retry-After up to here is waited for, once (guess: half of what a person notices)
MAX_DETAIL_CHARS = 500
KEYLESS = ("ddgs", "duckduckgo-html", "searxng")  # what "duckduckgo" means; searxng only if there is one
NAMES = ("duckduckgo", *FACTS)
# Where the services are that the operator does not have to name; R12: nothing else can be reached with a query.
VENDOR_URLS: Mapping[str, tuple[str, ...]] = {
    "duckduckgo-html": (DUCKDUCKGO_URL,),
    "mediawiki": tuple(WIKIPEDIA.format(language=language) for language in REGIONS),
    "brave": (BRAVE_URL,),
    "exa": (EXA_URL,),
    "tavily": (TAVILY_URL,),
    "linkup": (LINKUP_URL,),
    "parallel": (PARALLEL_URL,),
}
# Where the scholars are, for a provider that has no such category.
ACADEMIC_SITES = ("arxiv.org", "ncbi.nlm.nih.gov", "semanticscholar.org", "nature.com", "science.org", "jstor.org")

Send = Callable[[HttpRequest], Awaitable[HttpResponse]]
"""Sends a request to a provider: brings every status, follows no redirect, caps the body, raises OutsideError."""


def codecs(
    *,
    searxng_url: str = "",
    mediawiki_url: str = "",
    keys: Mapping[str, str] | None = None,
    urls: Mapping[str, str] | None = None,
    clock: Clock | None = None,
) -> dict[str, Codec]:
    """The providers that are asked over HTTP and are set up, by name, in the order of the table of facts.

    *keys* and *urls* are by provider: its key, and where it is instead of at its vendor's. An empty text is none.
    Raises: InvalidInput for a key that no header can carry or an address that is not plain http(s).
    """
    key = {name: value for name, value in (keys or {}).items() if value}
    at = {name: value for name, value in (urls or {}).items() if value}
    made: list[Codec] = [DuckDuckGoHtml(at.get("duckduckgo-html", DUCKDUCKGO_URL))]
    if searxng_url:
        made.append(SearXNG(searxng_url))
    made.append(MediaWiki(mediawiki_url))
    if "brave" in key:
        made.append(Brave(key["brave"], base_url=at.get("brave", BRAVE_URL)))
    if "exa" in key:
        made.append(Exa(key["exa"], clock=clock, base_url=at.get("exa", EXA_URL)))
    if "tavily" in key:
        made.append(Tavily(key["tavily"], base_url=at.get("tavily", TAVILY_URL)))
    if "linkup" in key:
        made.append(Linkup(key["linkup"], clock=clock, base_url=at.get("linkup", LINKUP_URL)))
    if "parallel" in key:
        made.append(Parallel(key["parallel"], clock=clock, base_url=at.get("parallel", PARALLEL_URL)))
    return {codec.name: codec for codec in made}


@dataclass(frozen=True, slots=True)
class Call:
    """What one call brought, and what it took. Without ``is_known`` nobody can tell whether it was carried out."""

    searched: Searched
    is_known: bool = True
    n_calls: int = 1
    n_bytes: int = 0
    cost_microusd: int = 0


class Providers:
    """The providers of one installation. Holds no state between two calls."""

    def __init__(
        self,
        codecs: Mapping[str, Codec],
        ddgs: Ddgs,
        *,
        timeout_s: float = TIMEOUT_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if timeout_s <= 0:
            raise InvalidInput("invalid_timeout", "A search needs a time limit above 0 seconds.")
        self._codecs = codecs
        self._ddgs = ddgs
        self._timeout_s = timeout_s
        self._sleep = sleep

    def orders(self, names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        """The chains that *names* stand for: each name is one, ``a/b`` asks b if a fails. No provider is in two.

        A provider that is named by itself is not also a link behind "duckduckgo".
        Raises: InvalidInput for a name that does not exist or is not set up.
        """
        asked = [[part.strip() for part in name.split("/") if part.strip()] for name in names]
        named = [part for parts in asked for part in parts]
        for part in named:
            if part not in NAMES:
                message = f"There is no search provider {part!r}; there are {', '.join(NAMES)}."
                raise InvalidInput("unknown_provider", message)
        for part in named:
            self._check_set_up(part)
        seen: set[str] = set()
        found = []
        for parts in asked:
            order: list[str] = []
            for part in parts:
                links = [link for link in KEYLESS if self._is_set_up(link)] if part == "duckduckgo" else [part]
                order += [link for link in links if link == part or link not in named]
            order = [link for link in dict.fromkeys(order) if link not in seen]
            seen.update(order)
            if order:
                found.append(tuple(order))
        return tuple(found)

    def is_set_up(self) -> Mapping[str, bool]:
        """Every single provider, and whether it can be asked here."""
        return {name: self._is_set_up(name) for name in FACTS}

    def price_microusd(self, name: str) -> int:
        """What one call costs at least; 0 for a provider without a price."""
        return FACTS[name].price_microusd if name in FACTS else 0

    def takes_key(self, name: str) -> bool:
        """Whether the provider recognises a request that is sent twice by our key, and charges it once."""
        return name in FACTS and FACTS[name].has_idempotency_key

    async def call(self, name: str, query: Query, send: Send, key: str = "") -> Call:
        """Ask one provider one query. What the world does is in the outcome, never an exception.

        *key* names the request for a provider that charges one key once.
        Raises: InvalidInput for a blank query or a limit below 1; nothing is sent then.
        """
        if not clean(query.text, len(query.text)):
            raise InvalidInput("blank_query", "There is nothing to search for: the query is blank.")
        if query.max_hits < 1:
            raise InvalidInput("invalid_max_hits", "A search must ask for at least one hit.")
        counted = _Counted(send, key if self.takes_key(name) else "")
        try:
            async with asyncio.timeout(self._timeout_s):
                hits, applied = await self._ask(name, query, counted)
        except TimeoutError:
            late = failure(name, "provider_timeout", f"no answer within {self._timeout_s:g} seconds.")
            return self._failed(name, late, counted)
        except OutsideError as error:
            return self._failed(name, error, counted)
        except Error:
            raise
        except OSError:  # a sender that lets the transport's own error through
            return self._failed(name, failure(name, "provider_unreachable", "could not be reached."), counted)
        except Exception as error:  # a fault of ours on the way there must not cost the other providers' answers
            sentence = f"could not be asked, by a fault of Firsthand ({whereabouts(error)}); {_NAME_ANOTHER}"
            return self._failed(name, failure(name, "provider_unreachable", sentence), counted)
        searched = Searched(name, "ok" if hits else "empty", tuple(hits), "", _dropped(hits.n_dropped), applied)
        cost = self._cost_microusd(name, query, hits)
        return Call(searched, n_calls=max(1, counted.n_calls), n_bytes=counted.n_bytes, cost_microusd=cost)

    async def search_one(self, name: str, query: Query, send: Send) -> Searched:
        """``call``, without what it took."""
        return (await self.call(name, query, send)).searched

    async def _ask(self, name: str, query: Query, send: _Counted) -> tuple[Hits, str | None]:
        """The hits, and the time filter that was really applied."""
        if name in FACTS:
            query = fitted(query, FACTS[name])
        if name == self._ddgs.name:
            return await self._ddgs.search(query), self._ddgs.time_filter(query)
        codec = self._codecs.get(name)
        if codec is None:
            raise failure(name, "provider_not_configured", how_to_set_up(name))
        try:
            return _read(codec, query, await send(codec.request(query)))
        except ProviderFailed as error:
            wait_s = error.retry_after_s
            is_free = self.price_microusd(name) == 0  # what may cost money is never sent again by itself
            if error.outcome != "rate_limited" or wait_s is None or wait_s > RETRY_AT_ONCE_S or not is_free:
                raise
        await self._sleep(wait_s)
        return _read(codec, query, await send(codec.request(query)))

    def _failed(self, name: str, error: OutsideError, counted: _Counted) -> Call:
        was_given = error.code == "provider_bad_response" and error.status == 200
        is_known = self.price_microusd(name) == 0 or counted.n_calls == 0 or was_given or _is_refusal(error)
        said = error.message.removeprefix(f"{name}: ")  # the value names its provider beside it
        detail = clean(said, MAX_DETAIL_CHARS) + ("" if is_known else " It may have been charged.")
        searched = Searched(name, error.outcome, (), error.code, detail, None, error.retry_after_s)
        cost = self.price_microusd(name) if was_given else 0  # an answer that we cannot read is paid for like others
        return Call(searched, is_known, max(1, counted.n_calls), counted.n_bytes, cost)

    def _cost_microusd(self, name: str, query: Query, hits: Hits) -> int:
        """What the provider says that it cost, else its price."""
        if hits.cost_microusd is not None:
            return hits.cost_microusd
        return FACTS[name].cost_microusd(query.max_hits) if name in FACTS else 0

    def _is_set_up(self, name: str) -> bool:
        return name == self._ddgs.name or name in self._codecs

    def _check_set_up(self, name: str) -> None:
        if name != "duckduckgo" and not self._is_set_up(name):
            code = "searxng_unset" if name == "searxng" else "provider_key_unset"
            raise InvalidInput(code, f"{FACTS[name].title}: {how_to_set_up(name)}", provider=name)


_NAME_ANOTHER = "name another provider with --search and report this line."


def _read(codec: Codec, query: Query, response: HttpResponse) -> tuple[Hits, str | None]:
    """The hits in *response*, and the time filter that was really applied.

    Raises: ProviderFailed, also where the codec breaks: the answer is there, and our fault is this provider's failure.
    """
    try:
        return codec.hits(query, response), codec.time_filter(query)
    except Error:
        raise
    except Exception as error:
        sentence = f"answered, but by a fault of Firsthand its answer cannot be read ({whereabouts(error)}); "
        status = response.status
        raise failure(codec.name, "provider_bad_response", sentence + _NAME_ANOTHER, status=status) from error


class _Counted:
    """A sender that counts, and names each request by our key where the provider takes one."""

    def __init__(self, send: Send, key: str) -> None:
        self._send = send
        self._key = key
        self.n_calls = 0
        self.n_bytes = 0

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        if self._key:
            request = replace(request, headers={**request.headers, "idempotency-key": self._key})
        self.n_calls += 1
        try:
            response = await self._send(request)
        except OutsideError as error:
            if error.code in _NOT_SENT or error.outcome == "blocked_by_policy":
                self.n_calls -= 1
            raise
        self.n_bytes += len(response.body)
        return response


_NOT_SENT = frozenset({"dns", "connect_failed", "tls_error"})  # the client's codes for "no byte of it left us"


def _is_refusal(error: OutsideError) -> bool:
    """Whether the provider said clearly that it did not do what was asked. Source: evidence specification, 2.4."""
    if error.outcome in ("rate_limited", "refused") or error.code in ("provider_bad_request", "provider_no_credit"):
        return True
    return error.status is not None and 400 <= error.status < 500 and error.status != 408


def fitted(query: Query, facts: EngineFacts) -> Query:
    """*query* as this provider can be asked: what it has no way to say becomes a filter, or a plain word."""
    text, time_filter, category = query.text, query.time_filter, query.category
    if facts.sites == "none":
        text = _SITE_WORD.sub(lambda said: said[1], text)
    if category is not None and category not in facts.categories:
        if category == "news" and "month" in facts.time_filters:
            time_filter = time_filter or "month"
        elif category == "academic" and facts.sites != "none" and not split_sites(text)[1]:
            text = f"{text} {_any_site(ACADEMIC_SITES, facts)}"
        else:
            text = f"{text} {category}"
        category = None
    return replace(query, text=text, time_filter=time_filter, category=category)


_SITE_WORD = re.compile(r"(?<!\S)site:(?:www\.)?([\w\-]{1,63})(?:\.[\w.\-]{1,200})?(?!\S)", re.IGNORECASE)


def _any_site(sites: Sequence[str], facts: EngineFacts) -> str:
    """Any of *sites*, as the provider's operator says it; a codec with a field of its own reads the words."""
    if facts.sites == "field":
        return " ".join(f"site:{site}" for site in sites)
    return f"({' OR '.join(f'site:{site}' for site in sites)})"


def how_to_set_up(name: str) -> str:
    """The setting that *name* waits for, in a sentence."""
    if name == "searxng":
        return "name your instance first, like FIRSTHAND_SEARXNG_URL=http://127.0.0.1:8888."
    setting = FACTS[name].key_setting if name in FACTS else ""
    return f"its key is missing; set FIRSTHAND_{setting.upper()}." if setting else "there is no such provider."


def _dropped(n: int) -> str:
    if n == 0:
        return ""
    return f"{n} {'row' if n == 1 else 'rows'} had no usable address and {'was' if n == 1 else 'were'} left out."
