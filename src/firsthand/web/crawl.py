"""A site, page by page: breadth first, one origin, each address once. Order and politeness; no opinion on content."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass

from firsthand.errors import AddressRefused, OutsideError
from firsthand.values import Page
from firsthand.web.address import canonical_url, origin
from firsthand.web.reply import failed

MISSES_PER_PAGE = 4  # guess: a site whose links are mostly dead ends the crawl, not our patience
REFUSALS_MAX = 3  # in a row that say "too many": the site has had enough for today
QUEUE_MAX = 100_000  # addresses remembered; bounds memory on a site that makes links without end


@dataclass(frozen=True, slots=True)
class Missed:
    """An address of the site that brought no page, and why."""

    url: str
    error: OutsideError


async def crawl(
    start_url: str,
    *,
    max_pages: int,
    fetch: Callable[[str], Awaitable[Page]],
    links: Callable[[Page], Awaitable[Iterable[str]]],
    concurrency: int = 2,
) -> AsyncIterator[Page | Missed]:
    """The pages of *start_url*'s site as they are reached, and what was missed, until *max_pages* pages came.

    Order: breadth first; with *concurrency* fetches under way, results still come in the order of the queue. The site is
    the origin that the first page was finally found at. Redirects out of it are missed, not followed. The crawl ends at
    once when the run may send no more (``run_ceiling``), and when the site asked to be left alone three times running.
    Raises: what *fetch* raises beyond OutsideError; AddressRefused if *start_url* is no address.
    """
    walk = _Walk(canonical_url(start_url))
    running: deque[tuple[str, asyncio.Task[Page]]] = deque()
    n_pages = n_missed = n_refusals = 0
    try:
        while (walk.queue or running) and n_pages < max_pages and n_missed < max_pages * MISSES_PER_PAGE:
            while walk.queue and len(running) < min(concurrency, max_pages - n_pages):
                url = walk.queue.popleft()
                running.append((url, asyncio.ensure_future(_run(fetch, url))))
            url, task = running[0]
            result = await _outcome(url, task, walk)
            running.popleft()
            if result is None:
                continue
            if isinstance(result, Page):
                n_pages += 1
                walk.add(await links(result))
                n_refusals = 0
            else:
                n_missed += 1
                n_refusals = n_refusals + 1 if result.error.outcome == "rate_limited" else 0
            yield result
            if n_refusals == REFUSALS_MAX or (isinstance(result, Missed) and result.error.code == "run_ceiling"):
                return
    finally:
        for _, task in running:
            task.cancel()
        await asyncio.gather(*(task for _, task in running), return_exceptions=True)


async def _run(fetch: Callable[[str], Awaitable[Page]], url: str) -> Page:
    return await fetch(url)


async def _outcome(url: str, task: asyncio.Task[Page], walk: _Walk) -> Page | Missed | None:
    """What came of *url*: None if it led to a page that was there already."""
    try:
        page = await task
    except OutsideError as error:
        return Missed(url, error)
    if walk.site is None:
        walk.site = origin(page.url)
    if origin(page.url) != walk.site:
        return Missed(url, failed("other_origin", "The address redirects to another site."))
    if page.url != url and page.url in walk.seen:
        return None
    walk.seen.add(page.url)
    return page


class _Walk:
    """The queue of a crawl and all addresses that were ever in it."""

    def __init__(self, start_url: str) -> None:
        self.site: str | None = None
        self.queue = deque([start_url])
        self.seen = {start_url}

    def add(self, urls: Iterable[str]) -> None:
        """Queue the addresses of this site that were not seen before."""
        for url in urls:
            if len(self.seen) >= QUEUE_MAX:
                return
            try:
                canonical = canonical_url(url)
            except AddressRefused:
                continue  # a link that is no address of the web: mailto, javascript, a typing mistake
            if canonical not in self.seen and origin(canonical) == self.site:
                self.seen.add(canonical)
                self.queue.append(canonical)
