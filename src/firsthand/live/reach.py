"""All that reaches out, made once: the gate's client, the fetcher for pages, the search services.

Nothing is opened before it is needed: an answer from a library imports no HTTP client.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from urllib.parse import urlsplit

from firsthand.errors import ExtractionFailed
from firsthand.live.acts import LiveActs, read_or_render
from firsthand.live.extraction import Extraction
from firsthand.live.kept import KeptPages, MaxAge
from firsthand.live.searching import SearchServices
from firsthand.settings import Settings
from firsthand.values import Failure, Page, Text
from firsthand.web.address import Policy, host_port_pairs, origin
from firsthand.web.client import Client
from firsthand.web.crawl import Missed, crawl
from firsthand.web.fetch import Allowance, Fetcher, Renderer
from firsthand.web.limits import PATIENCE_S, SITE_PATIENCE_S
from firsthand.web.pace import Ceiling, Pacer


class Reach:
    """The ways out of one process."""

    def __init__(self, settings: Settings) -> None:
        self._client = Client(user_agent=settings.user_agent)
        self._allow_private = host_port_pairs(settings.allow_private)
        self._requests_max = settings.run_requests_max
        self._pacer = Pacer(interval_s=settings.host_interval_s, concurrency=settings.host_concurrency)
        renderer = _browser(settings.browser_path) if settings.browser else None
        policy = Policy(allow_private=self._allow_private)
        self._fetcher = Fetcher(self._client, policy, self._pacer, renderer=renderer)
        self.services = SearchServices(settings, self._client)

    def acts(
        self,
        extraction: Extraction,
        allow_origins: Sequence[str] = (),
        *,
        kept: KeptPages | None = None,
        max_age: MaxAge | None = None,
        n_sent: int = 0,
    ) -> LiveActs:
        """The acts behind the operations port, for one run of a turn that has sent *n_sent* requests already.

        Only *allow_origins* are asked, if there are some, by no redirect either. A page of *kept* that is younger than
        *max_age* stands in without a request; an older one is asked for only if it changed.
        """
        allowance = self._allowance(kept, n_sent=n_sent)
        if allow_origins:
            only = host_port_pairs(",".join(_pair(url) for url in allow_origins))
            allowance.policy = Policy(allow_private=self._allow_private, only=only)
        return LiveActs(self.services, self._fetcher, extraction, allowance, kept, max_age)

    def allowed_private(self, urls: Iterable[str]) -> list[str]:
        """The pairs of FIRSTHAND_ALLOW_PRIVATE that *urls* belong to."""
        pairs = set()
        for url in urls:
            try:
                parts = urlsplit(url)
                pairs.add((parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)))
            except ValueError:  # no address at all: it was refused, and is of no pair
                continue
        return sorted(f"{host}:{port}" for host, port in pairs & self._allow_private)

    def judged(self, url: str) -> str:
        """*url* in its canonical form, if it may be asked at all. Raises: AddressRefused."""
        return self._fetcher.judged(url)

    async def fetch(self, url: str, kept: KeptPages | None = None) -> Page:
        """One page, through the gate; a run of its own. Status 304: a page of *kept* that did not change."""
        return await self._fetcher.fetch(url, allowance=self._allowance(kept))

    async def read(self, page: Page, extraction: Extraction) -> tuple[Page, Text]:
        """*page*, or what its scripts make of it if it cannot be read without them, and its text. Raises: OutsideError."""
        page, (text, _) = await read_or_render(page, extraction, self._fetcher, self._allowance(None))
        return page, text

    def _allowance(self, kept: KeptPages | None, *, patience_s: float = PATIENCE_S, n_sent: int = 0) -> Allowance:
        ceiling = Ceiling(self._requests_max, n_sent=n_sent)
        return Allowance(ceiling, kept=None if kept is None else kept.last, patience_s=patience_s)

    async def crawl(
        self, url: str, *, max_pages: int, extraction: Extraction, kept: KeptPages | None = None
    ) -> AsyncIterator[Page | Failure]:
        """The pages of a site: same origin, robots obeyed, politely paced; what was missed is a value.

        A page of *kept* that the server says did not change comes with status 304.
        """
        allowance = self._allowance(kept, patience_s=SITE_PATIENCE_S)

        async def fetch(url: str) -> Page:
            return await self._fetcher.fetch(url, allowance=allowance)

        async def links(page: Page) -> tuple[str, ...]:
            """The links of a page; a page that cannot be read has none, and says so when it is kept."""
            try:
                content_type = page.headers.get("content-type")
                return (await extraction.one(page.payload, url=page.url, content_type=content_type))[0].links
            except ExtractionFailed:
                return ()

        async for found in crawl(url, max_pages=max_pages, fetch=fetch, links=links):
            if isinstance(found, Missed):
                yield Failure("fetch", found.url, found.error.outcome, found.error.message)
            else:
                yield found

    async def aclose(self) -> None:
        """Close what was opened."""
        await self._fetcher.aclose()


def _browser(program: str) -> Renderer:
    from firsthand.web.browser import Chromium  # only who switched it on pays for it at start

    return Chromium(program)


def _pair(url: str) -> str:
    """Host and port of an address, the port always written."""
    scheme, _, authority = origin(url).partition("://")
    return authority if authority.rpartition(":")[2].isdigit() else f"{authority}:{443 if scheme == 'https' else 80}"
