"""All that reaches out, made once: the gate's client, the fetcher for pages, the providers for searches.

Nothing is opened before it is needed: an answer from a library imports no HTTP client.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from urllib.parse import urlsplit

from firsthand.errors import ExtractionFailed, InvalidInput
from firsthand.live.acts import LiveActs
from firsthand.live.extraction import Extraction
from firsthand.ports import Searched
from firsthand.settings import Settings, child_environment
from firsthand.values import Failure, Hit, HttpRequest, HttpResponse, Page, Query
from firsthand.web.address import Policy, host_port_pairs, operator_policy, origin
from firsthand.web.client import Client
from firsthand.web.crawl import Missed, crawl
from firsthand.web.extract import extract
from firsthand.web.fetch import Fetcher
from firsthand.web.pace import Pacer
from firsthand.web.search import NAMES, Chain, Ddgs, Providers, codecs, merge

DUCKDUCKGO_HTML = "https://html.duckduckgo.com/"


class Reach:
    """The ways out of one process."""

    def __init__(self, settings: Settings) -> None:
        searxng = (settings.searxng_url,) if settings.searxng_url else ()
        self._searxng_url = settings.searxng_url
        self._services = operator_policy(operator_urls=searxng, vendor_urls=(DUCKDUCKGO_HTML,))
        self._client = Client(user_agent=settings.user_agent)
        self._allow_private = host_port_pairs(settings.allow_private)
        self._pacer = Pacer(interval_s=settings.host_interval_s, concurrency=settings.host_concurrency)
        self._fetcher = Fetcher(self._client, Policy(allow_private=self._allow_private), self._pacer)
        self._providers = Providers(codecs(searxng_url=settings.searxng_url), Ddgs(child_environment()))
        self.chain = Chain(clock=time.monotonic, sleep=asyncio.sleep)

    def acts(self, extraction: Extraction, allow_origins: Sequence[str] = ()) -> LiveActs:
        """The acts behind the operations port. Only *allow_origins* are asked, if there are some, by no redirect either."""
        fetcher = self._fetcher
        if allow_origins:
            only = host_port_pairs(",".join(_pair(url) for url in allow_origins))
            fetcher = Fetcher(self._client, Policy(allow_private=self._allow_private, only=only), self._pacer)
        return LiveActs(self._providers, self.send, fetcher, extraction)

    def allowed_private(self, urls: Iterable[str]) -> list[str]:
        """The pairs of FIRSTHAND_ALLOW_PRIVATE that *urls* belong to."""
        pairs = set()
        for url in urls:
            parts = urlsplit(url)
            pairs.add((parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)))
        return sorted(f"{host}:{port}" for host, port in pairs & self._allow_private)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a provider's request; only the services that the operator's settings name can be reached (R12)."""
        return await self._client.send(request, self._services)

    async def fetch(self, url: str) -> Page:
        """One page, through the gate."""
        return await self._fetcher.fetch(url)

    def expand(self, names: Sequence[str]) -> tuple[str, ...]:
        """The single providers that *names* stand for. Raises: InvalidInput."""
        if "searxng" in names and not self._searxng_url:
            raise InvalidInput(
                "searxng_unset", "Name your SearXNG instance first, like FIRSTHAND_SEARXNG_URL=http://127.0.0.1:8888."
            )
        return self._providers.expand(names)

    def provider_names(self) -> tuple[str, ...]:
        """Every single provider that can be asked here."""
        return self._providers.expand(name for name in NAMES if name != "searxng" or self._searxng_url)

    async def ask(self, names: Sequence[str], query: Query) -> list[Searched]:
        """Ask providers in order, outside of any turn: no receipt is kept."""

        async def search_one(name: str, query: Query) -> Searched:
            return await self._providers.search_one(name, query, self.send)

        return await self.chain.ask(self.expand(names), query, search_one)

    def merged(self, asked: Sequence[Searched], limit: int) -> tuple[Hit, ...]:
        """The hits of several providers, each page once."""
        return tuple(merge([searched.hits for searched in asked], limit))

    async def crawl(self, url: str, *, max_pages: int) -> AsyncIterator[Page | Failure]:
        """The pages of a site: same origin, robots obeyed, politely paced; what was missed is a value."""
        async for found in crawl(url, max_pages=max_pages, fetch=self.fetch, links=_links):
            if isinstance(found, Missed):
                yield Failure("fetch", found.url, found.error.outcome, found.error.message)
            else:
                yield found

    async def aclose(self) -> None:
        """Close what was opened."""
        await self._fetcher.aclose()


def _pair(url: str) -> str:
    """Host and port of an address, the port always written."""
    scheme, _, authority = origin(url).partition("://")
    return authority if authority.rpartition(":")[2].isdigit() else f"{authority}:{443 if scheme == 'https' else 80}"


def _links(page: Page) -> tuple[str, ...]:
    """The links of a page; a page that cannot be read has none, and says so when it is kept."""
    try:
        return extract(page.payload, url=page.url, content_type=page.headers.get("content-type")).links
    except ExtractionFailed:
        return ()
