"""The search services of one process: which there are, where they are, and searches outside of an answer.

What a query may reach is decided here, once: the addresses that the operator's settings name, and those of the vendors
whose providers are set up. A search that costs money leaves its receipt and its charge also when no answer is made of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from firsthand import ids
from firsthand.db import Database
from firsthand.durable import journal, lease
from firsthand.durable.operations import Acts, DurableOperations, Payment
from firsthand.errors import AddressRefused, InvalidInput
from firsthand.events import Event
from firsthand.ports import Searched
from firsthand.render import to_json
from firsthand.settings import Settings, child_environment
from firsthand.values import Hit, HttpRequest, HttpResponse, Query
from firsthand.web.address import Policy, judge, operator_policy
from firsthand.web.client import Client
from firsthand.web.search import FACTS, VENDOR_URLS, Call, Chain, Ddgs, Providers, codecs, combined

LEASE_S = 30.0  # of a search by itself: nobody waits for its session, which is its own


class SearchServices:
    """The providers of an installation and the way to them."""

    def __init__(self, settings: Settings, client: Client) -> None:
        """Raises: InvalidInput for a setting that names no address that can be asked, or a key that is none."""
        urls = {name: url for name in FACTS if (url := _url_setting(settings, name))}
        keys = {name: getattr(settings, facts.key_setting) for name, facts in FACTS.items() if facts.needs_key}
        table = codecs(
            searxng_url=urls.get("searxng", ""),
            mediawiki_url=urls.get("mediawiki", ""),
            keys=keys,
            urls=urls,
            clock=lambda: datetime.now(UTC),
        )
        self.providers = Providers(table, Ddgs(child_environment()), timeout_s=settings.search_timeout_s)
        self.chain = Chain(clock=time.monotonic, sleep=asyncio.sleep, interval_s=settings.host_interval_s)
        self._policy = _policy({name: url for name, url in urls.items() if name in table}, table)
        self._client = client

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a provider's request; only the services that the operator's settings name can be reached (R12)."""
        return await self._client.send(request, self._policy)

    async def call(self, name: str, query: Query, key: str) -> Call:
        """Ask one provider once."""
        return await self.providers.call(name, query, self.send, key)

    def payment(self, name: str) -> Payment:
        """Whether a call costs money, and whether it may be repeated under its key."""
        if not self.providers.price_microusd(name):
            return "free"
        return "keyed" if self.providers.takes_key(name) else "paid"

    def set_up(self) -> tuple[str, ...]:
        """Every single provider that can be asked here."""
        return tuple(name for name, is_set_up in self.providers.is_set_up().items() if is_set_up)

    def orders(self, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The chains that *names* stand for. Raises: InvalidInput for a name that does not exist or is not set up."""
        return self.providers.orders(names)

    async def ask(self, names: Sequence[str], query: Query, acts: Acts, database: Database) -> list[list[Searched]]:
        """Ask what *names* stand for, side by side, outside of any answer; what each chain brought.

        Free calls leave nothing behind. Raises: InvalidInput; StoreFailed.
        """
        orders = self.orders(names)
        if all(self.payment(name) == "free" for order in orders for name in order):
            return await self.chain.ask_all(orders, query, self._ask_one)
        session_id = ids.new_id("search")
        async with lease.hold(database, session_id, LEASE_S) as held:
            options: journal.JsonObject = {"providers": [list(order) for order in orders]}
            _, run = await database.write(journal.start, held, query.text, options)
            operations = DurableOperations(database, run, acts, answer_json=to_json)
            chains = await self.chain.ask_all(orders, query, operations.search)
            n_hits = sum(len(searched.hits) for chain in chains for searched in chain)
            told = Event("SearchFinished", "finished", {"n_hits": n_hits})
            await database.write(journal.close_turn, run, told)
        return chains

    def merged(self, chains: Sequence[Sequence[Searched]], limit: int) -> tuple[Hit, ...]:
        """The hits of several chains, each page once."""
        return tuple(combined(chains, limit))

    async def _ask_one(self, name: str, query: Query) -> Searched:
        return await self.providers.search_one(name, query, self.send)


def _url_setting(settings: Settings, name: str) -> str:
    value: str = getattr(settings, _url_setting_name(name), "")
    return value


def _url_setting_name(name: str) -> str:
    return f"{name.removesuffix('-html').replace('-', '_')}_url"


def _policy(urls: Mapping[str, str], names: Mapping[str, object]) -> Policy:
    """What a query may reach: *urls* of the operator, each judged now, and the vendors of the other *names*.

    Raises: InvalidInput for an address that the gate never lets through, whoever names it.
    """
    vendors = tuple(url for name in names if name not in urls for url in VENDOR_URLS.get(name, ()))
    for name, url in urls.items():
        try:
            judge(url, operator_policy(operator_urls=(url,)))
        except AddressRefused as error:
            setting = _url_setting_name(name)
            raise InvalidInput("invalid_setting", f"Setting {setting}: {error.message}", setting=setting) from error
    return operator_policy(operator_urls=tuple(urls.values()), vendor_urls=vendors)
