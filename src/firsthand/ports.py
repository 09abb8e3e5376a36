"""The ports: all that the engine sees of the world.

``Operations`` is the one door to the outside; every act through it leaves a receipt. ``Shelf`` is computation over
kept text and leaves none. Both have a scripted and a live implementation; the engine cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from firsthand.events import Event
from firsthand.values import Answer, Hit, Outcome, Passage, Query, Text

# -- Operations: what leaves the process


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search brought. ``outcome`` is ``ok`` or ``empty`` when the provider answered; anything else is a failure."""

    provider: str
    outcome: Outcome
    hits: tuple[Hit, ...] = ()
    code: str = ""
    detail: str = ""
    applied_time_filter: str | None = None  # the filter the provider really honoured
    retry_after_s: float | None = None  # the provider's own word on when to ask again; or how long it is left alone
    was_asked: bool = True  # False: it was left alone, nothing was sent


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of one address. Only ``ok`` has a ``text_id``: a kept, indexed, citable page."""

    url: str  # as asked
    outcome: Outcome
    text_id: int | None = None
    final_url: str = ""
    title: str = ""
    code: str = ""
    detail: str = ""
    retry_after_s: float | None = None  # the site's own word on when to ask again
    text_digest: str = ""  # two addresses of one digest are one page
    is_kept: bool = False  # a page that was fetched before stands in; nothing was sent


class Operations(Protocol):
    """The only way the engine acts on the outside."""

    async def search(self, provider: str, query: Query) -> Searched:
        """Ask one provider one query. A refusal is a value with its outcome, never an empty list."""
        ...

    async def fetch(self, url: str) -> Fetched:
        """Bring, keep, extract and index one page. A refusal is a value with its outcome."""
        ...

    async def deliver(self, answer: Answer) -> None:
        """Write the answer where it was asked for, once."""
        ...

    async def say(self, event: Event) -> None:
        """Record an event; returns when it is durable."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """One query asked of several providers: each that was asked or left alone, and their hits, each page once."""

    asked: tuple[Searched, ...]
    hits: tuple[Hit, ...]


class Finder(Protocol):
    """Decides which providers are asked, and in which order, until a search is done."""

    async def find(self, query: Query) -> Found:
        """Ask until one provider answered well, or nobody is left. Each call passes ``Operations.search``."""
        ...


# -- Shelf: what is kept


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: libraries by name (None: all of them), and texts fetched in this turn."""

    libraries: tuple[str, ...] | None = None
    text_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PageRef:
    """A kept page as the engine sees it: where its text came from, and where to find it again."""

    text_id: int
    url: str
    title: str
    language: str | None
    media_type: str
    snapshot: str  # "sha256:…" of the payload
    text_digest: str
    extractor: str  # name/version
    retrieved_at: str
    published_at: str | None
    site: str  # origin and first folder, or origin alone: the unit that has a name of its own
    library: str | None = None  # None: fetched in a turn
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Lookup:
    """One look into the index.

    ``groups`` are alternatives: a passage meets a group if it holds any of its terms; ``require`` says whether it must
    meet all groups or any. Terms are index terms, as ``evidence.terms`` makes them, never user text.
    """

    name: str
    groups: tuple[tuple[str, ...], ...]
    require: Literal["all", "any"] = "any"
    of: Literal["passages", "pages"] = "passages"
    limit: int = 100
    site: str | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    """The index terms of a passage, by field, in reading order."""

    title: tuple[str, ...]
    headings: tuple[str, ...]
    body: tuple[str, ...]
    context: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that a look-up found. ``scores`` holds BM25 by look-up name, higher is better."""

    passage_id: int
    page: PageRef
    passage: Passage
    body: str  # the passage's own words, cut from the text
    fields: Fields
    scores: Mapping[str, float] = field(default_factory=dict)
    page_score: float = 0.0  # BM25 of its page in the best page look-up; 0 if none found it


@dataclass(frozen=True, slots=True)
class Site:
    """A set of pages under one origin and first folder, with the words that name it."""

    site: str
    names: tuple[str, ...]  # index terms found in at least 40 % of its titles, or its folder
    n_pages: int
    languages: tuple[str, ...]


class Shelf(Protocol):
    """Kept pages, texts and passages, read only."""

    async def lookup(self, lookups: Sequence[Lookup], scope: Scope) -> list[Candidate]:
        """The passages that the look-ups found, each once, with all its scores.

        A look-up of pages brings the best 25 passages of each page it found.
        """
        ...

    async def rarity(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many passages the index holds, and how many of them hold each term."""
        ...

    async def similar(self, terms: Sequence[str]) -> dict[str, list[str]]:
        """For each of *terms*, the index's terms that are a slip of the finger away, most frequent first."""
        ...

    async def held(self, url: str, scope: Scope) -> int | None:
        """The text that the libraries of the scope hold under *url*, the one added last; None if they hold none."""
        ...

    async def sites(self, scope: Scope) -> list[Site]:
        """The sites in the scope."""
        ...

    async def passages(self, wanted: Mapping[int, Sequence[int] | None]) -> dict[int, list[Candidate]]:
        """The passages of some texts, in reading order, without scores.

        Of each text only those at most 40 places from one of the ``seq`` that *wanted* names; all if it names None.
        """
        ...

    async def text(self, text_id: int) -> Text:
        """One text, checked against its digest."""
        ...
