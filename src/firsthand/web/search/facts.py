"""What is known of every search provider, in one table: limits, filters, languages, price. Pure.

A fact has a source and the day it was read; ``docs/reference/providers/`` says the same in words, and a test compares
the two. Nothing here is a promise of the provider: a codec that is told otherwise by a response believes the response.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

READ = "2026-11-30"  # when the sources below were read


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """One provider. ``price_microusd`` is what one call with up to ``hits_in_price`` hits costs; 0: free."""

    name: str
    title: str  # as people call it
    source: str  # where these facts come from
    max_hits: int  # in one request
    max_query_chars: int
    max_query_words: int | None = None
    sites: Literal["operator", "field", "none"] = "none"  # how it is told ``site:host``; none: plain words only
    operators: tuple[str, ...] = ()  # of the query's text: what the provider documents
    time_filters: tuple[str, ...] = ()  # those it can really apply
    categories: tuple[str, ...] = ()  # of ``values.Category``: those it has of its own
    has_language: bool = False
    has_region: bool = False  # a request of ours names one
    safe_search: str = ""  # what every request of ours asks for; empty: the provider has no such switch, or decides
    price_microusd: int = 0
    hits_in_price: int = 10
    extra_hit_microusd: int = 0
    price_source: str = ""
    key_setting: str = ""  # the setting that holds its key; empty: no key
    has_idempotency_key: bool = False  # it recognises a request that is sent twice; none of these documents it

    @property
    def needs_key(self) -> bool:
        return bool(self.key_setting)

    def cost_microusd(self, max_hits: int) -> int:
        """What one call that asks for *max_hits* costs at most: the amount to reserve before it is sent."""
        extra = max(0, min(max_hits, self.max_hits) - self.hits_in_price)
        return self.price_microusd + extra * self.extra_hit_microusd


_DAYS = ("day", "week", "month", "year")
_OPERATORS = ("quotes", "minus", "site", "filetype", "intitle")

_TABLE = (
    EngineFacts(
        "ddgs",
        "ddgs",
        "the ddgs package 9.16.1 and the search services it asks",
        max_hits=30,
        max_query_chars=400,  # Brave's, the smallest among the services asked
        max_query_words=50,
        sites="operator",
        operators=("quotes", "minus", "site"),
        time_filters=_DAYS,
        has_language=True,
        has_region=True,
        safe_search="moderate",
    ),
    EngineFacts(
        "duckduckgo-html",
        "DuckDuckGo",
        "the page html.duckduckgo.com and duckduckgo.com/duckduckgo-help-pages (search syntax)",
        max_hits=30,
        max_query_chars=499,  # it refuses 500 and more; observed by the SearXNG project
        sites="operator",
        operators=_OPERATORS,
        time_filters=_DAYS,
        has_language=True,
        has_region=True,
    ),
    EngineFacts(
        "searxng",
        "SearXNG",
        "docs.searxng.org, search API and search syntax",
        max_hits=50,  # guess: an instance gives 10 to 30 a page and has no parameter for it
        max_query_chars=499,  # SearXNG takes more, but its DuckDuckGo engine stays silent from 500 on
        sites="operator",  # passed on to its engines
        operators=("quotes", "minus", "site"),
        time_filters=_DAYS,
        categories=("news", "academic"),
        has_language=True,
    ),
    EngineFacts(
        "mediawiki",
        "MediaWiki (Wikipedia)",
        "mediawiki.org, API:Search and Help:CirrusSearch",
        max_hits=50,  # it gives 500; more than a page of hits is never read
        max_query_chars=300,  # CirrusSearch refuses more
        operators=("quotes", "minus", "intitle", "insource"),
        has_language=True,
    ),
    EngineFacts(
        "brave",
        "Brave Search",
        "api-dashboard.search.brave.com, web search API reference",
        max_hits=20,
        max_query_chars=400,
        max_query_words=50,
        sites="operator",
        operators=_OPERATORS,
        time_filters=_DAYS,
        has_language=True,
        safe_search="moderate",
        price_microusd=5_000,
        hits_in_price=20,
        price_source="api-dashboard.search.brave.com/app/plans: $5.00 per 1,000 requests",
        key_setting="brave_api_key",
    ),
    EngineFacts(
        "exa",
        "Exa",
        "exa.ai/docs and the package exa-py 2.28.0",
        max_hits=10,  # it gives 100, but each above ten costs extra and none of them is read
        max_query_chars=2_000,  # guess: no limit is documented; longer questions only blur the search
        sites="field",
        time_filters=_DAYS,
        categories=("news", "academic"),
        price_microusd=7_000,
        extra_hit_microusd=1_000,
        price_source="exa.ai/docs/admin/pricing: $7 per 1,000 requests with up to 10 results, highlights included",
        key_setting="exa_api_key",
    ),
    EngineFacts(
        "tavily",
        "Tavily",
        "docs.tavily.com, search endpoint, and the package tavily-python 0.8.5",
        max_hits=20,
        max_query_chars=400,
        sites="field",
        time_filters=_DAYS,
        categories=("news",),
        price_microusd=8_000,
        hits_in_price=20,
        price_source="docs.tavily.com, credits: a basic search is 1 credit, $0.008 as you go",
        key_setting="tavily_api_key",
    ),
    EngineFacts(
        "linkup",
        "Linkup",
        "docs.linkup.so, search endpoint, and the package linkup-sdk 0.24.0",
        max_hits=20,  # guess: no limit is documented
        max_query_chars=2_000,  # guess: no limit is documented
        sites="field",
        time_filters=_DAYS,
        price_microusd=5_000,
        hits_in_price=20,
        price_source="docs.linkup.so, pricing: $0.005 for depth fast or standard with searchResults",
        key_setting="linkup_api_key",
    ),
    EngineFacts(
        "parallel",
        "Parallel",
        "docs.parallel.ai, search, and the package parallel-web 1.3.7",
        max_hits=10,  # more cost extra
        max_query_chars=200,  # of one search query; the objective takes 5,000 beside it
        sites="field",
        time_filters=_DAYS,
        price_microusd=5_000,
        extra_hit_microusd=1_000,
        price_source="docs.parallel.ai/getting-started/pricing: $5 per 1,000 requests (basic), up to 10 results",
        key_setting="parallel_api_key",
    ),
)

FACTS: Mapping[str, EngineFacts] = {facts.name: facts for facts in _TABLE}
