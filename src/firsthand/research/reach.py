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
from firsthand.ports import Fetched, Finder, Found, Operations, Scope, Shelf
from firsthand.research.named import spelled
from firsthand.research.plan import Plan
from firsthand.research.profile import Profile
from firsthand.values import Category, Failure, Hint, Query, Usage

ATTEMPTS_PER_PLACE = 2  # so many hits are tried at most for each page that may be read (guess)
HITS_PER_PLACE = 3
ONLY_LIBRARIES = "Not read: only libraries were asked, and they hold no page of this address."
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
    named: Mapping[str, int] = field(default_factory=dict)  # the addresses in the question, and their texts
    unread: tuple[str, ...] = ()  # the addresses in the question that brought no page

    def scope(self, profile: Profile) -> Scope:
        """Where to look now: the libraries of the profile and what was fetched."""
        return Scope(profile.libraries, self.text_ids)


async def reach_out(plan: Plan, profile: Profile, operations: Operations, finder: Finder) -> Reached:
    """Read the pages that the question names, search for it and its parts, and read the best pages that were found.

    As many are read at a time as there are places; a page that is named comes first, whatever the search brings.
    """
    pages = _Pages(profile.max_sources)
    asked_for = plan.addresses[: profile.max_sources]
    brought = await _read(asked_for, operations)
    for fetched in brought:
        pages.take(fetched)
    n_kept = sum(fetched.is_kept for fetched in brought)
    found = [] if plan.is_about_page else [await finder.find(query) for query in _queries(plan, profile)]
    failures = [await _said(number, each, operations) for number, each in enumerate(found)]
    known = {spelled(url) for fetched in brought for url in (fetched.url, fetched.final_url)}
    urls = list(dict.fromkeys(hit.url for each in found for hit in each.hits if spelled(hit.url) not in known))
    allowed = [url for url in urls if is_allowed(url, profile.allow_origins)]
    waiting = allowed[: profile.max_sources * ATTEMPTS_PER_PLACE]
    n_tried = 0
    while waiting and pages.n_free:
        batch, waiting = waiting[: pages.n_free], waiting[pages.n_free :]
        n_tried += len(batch)
        for fetched in await _read(batch, operations):
            pages.take(fetched)
            n_kept += fetched.is_kept
    n_sent = len(asked_for) + n_tried - n_kept
    failed = tuple(failure for some in failures for failure in some) + tuple(pages.failures)
    return Reached(
        text_ids=tuple(pages.text_ids),
        failures=failed,
        omitted=(*plan.addresses[len(asked_for) :], *(url for url in urls if url not in allowed[:n_tried])),
        duplicates=tuple(pages.duplicates),
        usage=Usage(searches=sum(one.was_asked for each in found for one in each.asked), fetches=n_sent),
        is_cut_off=bool(failed) and not pages.text_ids,
        named={fetched.url: fetched.text_id for fetched in brought if fetched.text_id is not None},
        unread=tuple(fetched.url for fetched in brought if fetched.text_id is None),
    )


async def look_up_named(plan: Plan, profile: Profile, shelf: Shelf) -> Reached:
    """The pages that the question names, as the libraries hold them; nothing is fetched."""
    held = {url: await shelf.held(spelled(url), Scope(profile.libraries)) for url in plan.addresses}
    unread = tuple(url for url, text_id in held.items() if text_id is None)
    return Reached(
        failures=tuple(Failure("fetch", url, "blocked_by_policy", ONLY_LIBRARIES) for url in unread),
        named={url: text_id for url, text_id in held.items() if text_id is not None},
        unread=unread,
    )


def is_allowed(url: str, origins: Sequence[str]) -> bool:
    """Whether *url* is of one of the origins; an empty list allows all."""
    return not origins or _origin(url) in {_origin(origin) for origin in origins}


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    """None for what is no address; it is of no origin."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None


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
        self._digests: set[str] = set()

    def take(self, fetched: Fetched) -> None:
        """Give *fetched* a place, or note why it has none."""
        if fetched.text_id is None:
            self.failures.append(Failure("fetch", fetched.url, fetched.outcome, fetched.detail))
        elif fetched.text_id in self.text_ids or (fetched.text_digest and fetched.text_digest in self._digests):
            self.duplicates.append(fetched.url)
        else:
            self._digests.add(fetched.text_digest)
            self.text_ids.append(fetched.text_id)
            self.n_free -= 1
