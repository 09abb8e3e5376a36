"""Searching and reading for one question: which hits are opened, what takes the place of one that fails, what is said.

Places are for distinct readable pages: a page that fails or repeats another makes room for the next hit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from firsthand.errors import first_of
from firsthand.events import Event
from firsthand.ports import Fetched, Finder, Found, Operations, Scope
from firsthand.research.plan import Plan
from firsthand.research.profile import Profile
from firsthand.values import Category, Failure, Hint, Query, Usage

ATTEMPTS_PER_PLACE = 2  # so many hits are tried at most for each page that may be read (guess)
HITS_PER_PLACE = 3
SITES: Mapping[Hint, str] = {"github": "github.com", "reddit": "reddit.com", "x": "x.com"}
CATEGORIES: Mapping[Hint, Category] = {"news": "news", "academic": "academic"}


@dataclass(frozen=True, slots=True)
class Reached:
    """What reaching out for one question brought."""

    text_ids: tuple[int, ...] = ()
    failures: tuple[Failure, ...] = ()
    omitted: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    is_cut_off: bool = False  # something failed and nothing came

    def scope(self, profile: Profile) -> Scope:
        """Where to look now: the libraries of the profile and what was fetched."""
        return Scope(profile.libraries, self.text_ids)


async def reach_out(plan: Plan, profile: Profile, operations: Operations, finder: Finder) -> Reached:
    """Search for the question and its parts, and read the best pages, as many at a time as there are places."""
    found = [await finder.find(query) for query in _queries(plan, profile)]
    failures = [await _said(number, each, operations) for number, each in enumerate(found)]
    urls = list(dict.fromkeys(hit.url for each in found for hit in each.hits))
    allowed = [url for url in urls if is_allowed(url, profile.allow_origins)]
    pages = _Pages(profile.max_sources)
    waiting = allowed[: profile.max_sources * ATTEMPTS_PER_PLACE]
    n_tried = n_kept = 0
    while waiting and pages.n_free:
        batch, waiting = waiting[: pages.n_free], waiting[pages.n_free :]
        n_tried += len(batch)
        for fetched in await _read(batch, operations):
            pages.take(fetched)
            n_kept += fetched.is_kept
    failed = tuple(failure for some in failures for failure in some) + tuple(pages.failures)
    return Reached(
        text_ids=tuple(pages.text_ids),
        failures=failed,
        omitted=tuple(url for url in urls if url not in allowed[:n_tried]),
        duplicates=tuple(pages.duplicates),
        usage=Usage(searches=sum(one.was_asked for each in found for one in each.asked), fetches=n_tried - n_kept),
        is_cut_off=bool(failed) and not pages.text_ids,
    )


def is_allowed(url: str, origins: Sequence[str]) -> bool:
    """Whether *url* is of one of the origins; an empty list allows all."""
    return not origins or _origin(url) in {_origin(origin) for origin in origins}


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _queries(plan: Plan, profile: Profile) -> list[Query]:
    # Whole: each provider's codec cuts it to what that provider takes, and keeps the names, which may stand at the end.
    questions = [plan.asked or plan.question, *(part.question for part in plan.parts)]
    texts = dict.fromkeys(questions[: profile.max_queries])
    n_hits = profile.max_sources * HITS_PER_PLACE
    hints: Sequence[Hint] = plan.hints or ("web",)
    # Breadth first: every question once per hint. Who names more hints than there are queries asked for each of them.
    queries = [
        Query(_hinted(text, hint), n_hits, profile.time_filter, plan.language, CATEGORIES.get(hint))
        for text in texts
        for hint in hints
    ]
    return queries[: max(profile.max_queries, len(hints))]


def _hinted(text: str, hint: Hint) -> str:
    """*text* for one site, in the words that a search service knows; a codec whose service has none leaves them out."""
    return f"{text} site:{SITES[hint]}" if hint in SITES else text


async def _said(number: int, found: Found, operations: Operations) -> list[Failure]:
    """Tell what each provider did; its failures."""
    failures = []
    for searched in found.asked:
        key = f"search:{number}:{searched.provider}"
        if searched.outcome in ("ok", "empty"):
            told = Event("SearchFinished", key, {"provider": searched.provider, "n_hits": len(searched.hits)})
        else:
            told = Event("SearchFailed", key, {"provider": searched.provider, "outcome": searched.outcome})
            failures.append(Failure("search", searched.provider, searched.outcome, searched.detail))
        await operations.say(told)
    return failures


async def _read(urls: Sequence[str], operations: Operations) -> list[Fetched]:
    """Fetch all of *urls* side by side; the results in their order."""

    async def one(url: str) -> Fetched:
        fetched = await operations.fetch(url)
        if fetched.outcome == "ok":
            await operations.say(Event("PageKept", f"page:{url}", {"url": fetched.final_url, "title": fetched.title}))
        else:
            await operations.say(Event("PageFailed", f"page:{url}", {"url": url, "outcome": fetched.outcome}))
        return fetched

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(url)) for url in urls]
    except BaseExceptionGroup as error:
        raise first_of(error) from error
    return [task.result() for task in tasks]


class _Pages:
    """The places for pages that can be read, and who took them."""

    def __init__(self, n_places: int) -> None:
        self.n_free = n_places
        self.text_ids: list[int] = []
        self.failures: list[Failure] = []
        self.duplicates: list[str] = []

    def take(self, fetched: Fetched) -> None:
        """Give *fetched* a place, or note why it has none."""
        if fetched.text_id is None:
            self.failures.append(Failure("fetch", fetched.url, fetched.outcome, fetched.detail))
        elif fetched.text_id in self.text_ids:
            self.duplicates.append(fetched.url)
        else:
            self.text_ids.append(fetched.text_id)
            self.n_free -= 1
