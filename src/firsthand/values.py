"""The values that travel between rooms: frozen, without behaviour beyond their own shape.

The order is the main path's: question → query → hit → page → text → passage → evidence → claim → citation → answer.
Positions are half-open and count Unicode code points of one text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]

Outcome = Literal[
    "ok",
    "empty",
    "rate_limited",
    "refused",
    "bot_wall",
    "cookie_wall",
    "paywall",
    "robots",
    "not_found",
    "timeout",
    "too_large",
    "needs_javascript",
    "unsupported",
    "blocked_by_policy",
    "failed",
]
Mode = Literal["search", "news", "research"]
Verify = Literal["off", "annotate", "strict"]
Status = Literal["answered", "insufficient_evidence", "conflicting_evidence", "needs_clarification", "failed"]
Verdict = Literal["exact", "normalised", "missing"]
Support = Literal["supported", "partial", "unsupported", "contradicted", "not_checked"]
Corroboration = Literal["single", "corroborated", "disputed"]
TimeFilter = Literal["hour", "day", "week", "month", "year"]
Hint = Literal["web", "news", "academic", "github", "reddit", "x"]  # said in a question as @news
Category = Literal["news", "academic"]  # what a query asks for, where a provider can tell
Visibility = Literal["shown", "collapsed", "hidden"]  # collapsed: a reader can open it
BlockKind = Literal["heading", "paragraph", "item", "term", "definition", "code", "row", "caption", "quote"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points of one text."""

    start: int
    end: int


# -- Reaching out


@dataclass(frozen=True, slots=True)
class Query:
    """One string sent to one search provider."""

    text: str
    max_hits: int = 10
    time_filter: TimeFilter | None = None
    language: str | None = None  # two letters, as in the answer's language; None: the provider's choice
    category: Category | None = None  # None: the whole web


@dataclass(frozen=True, slots=True)
class Hit:
    """One row a provider returned. Never evidence: its words are not quoted."""

    url: str
    title: str
    snippet: str
    rank: int  # from 1, as the provider ordered them
    provider: str
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request that a codec asks its sender to send."""

    method: Literal["GET", "POST"]
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What came back: header names in lower case, body decoded from its content codings."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """What a fetch brought, or a file that was added under a name."""

    requested_url: str
    url: str  # final, canonical, without fragment
    status: int
    headers: Mapping[str, str]  # names in lower case; Set-Cookie and credentials left out
    payload: bytes  # decoded from content codings, otherwise as received
    retrieved_at: datetime
    redirects: tuple[str, ...] = ()
    validator: str = ""  # the request header by which the server said that the payload did not change (status 304)
    is_file: bool = False  # it came from a file that was named by its address, not from there


# -- Text


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of a text: a heading, a paragraph, an item, a table row, a code block.

    ``headings`` is the path of headings above it. A row carries its table's ``header`` cells and ``caption``;
    its own words stand in the text with a tab between cells. ``page_number`` is set for PDF only.
    """

    kind: BlockKind
    span: Span
    headings: tuple[str, ...] = ()
    main: bool = True
    score: float = 1.0  # how sure the extractor is that it is main content, 0 to 1
    level: int = 0  # heading: 1 to 6; item: nesting depth from 1; else 0
    header: tuple[str, ...] = ()
    caption: str = ""
    group: int = 0  # blocks of one list, table or definition list share a number; 0: none
    link_share: float = 0.0  # share of its characters that stand inside links
    page_number: int | None = None
    ordinal: int | None = None  # item of a numbered list: its number
    row_heads: int = 0  # row: how many of its first cells name the row
    visibility: Visibility = "shown"  # never "hidden": what is hidden stands in Text.hidden
    reason: str = ""  # why it is not shown at once: details, tab_panel, display_none ...


@dataclass(frozen=True, slots=True)
class HiddenBlock:
    """Words of the page that no reader sees. Kept to be shown as such; no part of the body, so nothing can quote them."""

    kind: BlockKind
    text: str
    reason: str  # display_none, off_screen, same_colour, template, comment ...
    at: int  # place in the body before which it stands


@dataclass(frozen=True, slots=True)
class Anchor:
    """Linked words of a body."""

    span: Span
    link: int  # position in Text.links


@dataclass(frozen=True, slots=True)
class Text:
    """What extraction made of a payload. ``body[span.start:span.end]`` is what a block says."""

    body: str
    blocks: tuple[Block, ...]
    media_type: str
    charset: str | None = None
    declared_charset: str | None = None
    title: str = ""
    language: str | None = None  # two letters, declared or guessed
    author: str | None = None
    published_at: str | None = None  # ISO 8601, as the page says
    modified_at: str | None = None
    canonical_url: str | None = None
    site_name: str | None = None
    links: tuple[str, ...] = ()  # absolute addresses of link elements, in order, each once
    anchors: tuple[Anchor, ...] = ()  # where the links stand, in order
    fact_sources: Mapping[str, str] = field(default_factory=dict)  # field → what of the page says so: "meta author"
    hidden: tuple[HiddenBlock, ...] = ()
    n_hidden: int = 0  # blocks that were left out because a reader would not see them
    n_invisible: int = 0  # characters without width that were dropped: soft hyphens, zero-width spaces, tags ...
    extractor: str = ""
    extractor_version: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a text chosen for reading: a block, one to four sentences of it, or a term with its definition."""

    seq: int  # position among the passages of its text, from 0
    span: Span
    kind: BlockKind
    headings: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    caption: str = ""
    group: int = 0
    lead: str = ""  # the end of the paragraph that announces it; indexed, never quoted with it
    main: bool = True  # False: beside the main content, or seen only when a reader opens it


# -- Evidence and answer


@dataclass(frozen=True, slots=True)
class Quote:
    """Exact words of a text, with what stands before and after for finding them again."""

    text: str
    span: Span
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """Claim + quote + snapshot: what we can be held to."""

    source: int  # number of the source in this answer, from 1
    url: str
    quote: str
    prefix: str
    suffix: str
    snapshot: str  # "sha256:" and 64 hex digits, of the payload
    text_digest: str  # the same, of the text
    start: int
    end: int
    verdict: Verdict
    support: Support = "not_checked"
    score: float | None = None
    method: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer that can be true or false; ``text`` stands at its span in the answer's text."""

    text: str
    start: int
    end: int
    citations: tuple[Citation, ...]
    corroboration: Corroboration = "single"


@dataclass(frozen=True, slots=True)
class Source:
    """A page with its number in one answer."""

    n: int
    url: str
    title: str
    site: str
    retrieved_at: str
    published_at: str | None
    snapshot: str
    media_type: str


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be reached or used, and why, in one word and one sentence."""

    stage: Literal["search", "fetch", "extract", "verify", "deliver"]
    target: str
    outcome: Outcome
    detail: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer spent."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    searches: int = 0
    fetches: int = 0
    cost_microusd: int = 0


@dataclass(frozen=True, slots=True)
class Engine:
    """What made an answer."""

    version: str
    model: str | None
    extractor: str
    search: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Claims with citations, gaps named, spend stated. The JSON form is ``firsthand.answer/1``."""

    id: str
    question: str
    language: str
    mode: Mode
    verify: Verify
    status: Status
    text: str
    claims: tuple[Claim, ...]
    sources: tuple[Source, ...]
    missing: tuple[str, ...]
    conflicts: tuple[str, ...]
    limitations: tuple[str, ...]
    failures: tuple[Failure, ...]
    omitted: tuple[str, ...]
    follow_ups: tuple[str, ...]
    usage: Usage
    elapsed_ms: int
    engine: Engine

    schema = "firsthand.answer/1"
