"""The order in which providers are asked, and when one is left alone.

Theory of operation. An *answer* is ``ok`` or ``empty``; everything else is a failure and the next provider is asked.
A first answer with fewer than three hits, or none, is not trusted alone: one more answer is asked for. So a search
ends with one good answer, with two answers, or with nobody left. Several chains are asked side by side, and what they
found is fused.

A provider that blocks us is left alone for a while: by the kind of block, by its own Retry-After, and from the third
block in a row for 10 minutes, doubling up to 2 hours. One that breaks (time-out, no connection, 5xx, nonsense) three
times in a row is left alone for a minute, doubling up to 10 minutes; then one call goes out as a probe while the others
still wait for what it brings. An answer forgets all of it. Everything is remembered per process, for all its turns.

``next_provider`` and ``noted`` are pure: from the same values they decide the same, so a run that is continued after
a crash asks the same providers again and finds their receipts.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from firsthand.ports import Searched
from firsthand.values import Hit, Outcome, Query
from firsthand.web.search.codec import OUTCOMES
from firsthand.web.search.merge import fuse, merge

ENOUGH_HITS = 3
INTERVAL_S = 1.0  # between two calls to one provider
COOLDOWN_S: Mapping[Outcome, float] = {"rate_limited": 180, "refused": 180, "bot_wall": 3600}  # SearXNG's numbers
MAX_RETRY_AFTER_S = 7200  # a provider's word is taken up to here
BLOCKS_TO_REST = 3
REST_S = 600
MAX_REST_S = 7200
BREAKS_TO_REST = 3  # one time-out is the network's weather; three in a row are the provider's
BREAK_REST_S = 60
MAX_BREAK_REST_S = 600
PROBE_S = 30  # how long others wait for a probe at most; longer than a provider's time limit
# Failures that say nothing about the provider's health: they are mended by a setting, not by waiting.
_OURS = frozenset(
    {"provider_missing", "provider_not_configured", "provider_bad_request", "provider_redirected", "in_doubt_skipped"}
)
_BECAUSE: Mapping[Outcome, str] = {
    "rate_limited": "it asked us to slow down",
    "refused": "it refused us",
    "bot_wall": "it took us for a robot",
}


@dataclass(frozen=True, slots=True)
class Breaker:
    """What is remembered of one provider: blocks and breaks in a row, and until when it is left alone, and why.

    ``rests_until`` is on the chain's clock.
    """

    n_blocks: int = 0
    rests_until: float = 0.0
    n_breaks: int = 0
    why: Outcome = "ok"


def next_provider(
    order: Sequence[str], so_far: Sequence[Searched], breakers: Mapping[str, Breaker], now: float
) -> str | None:
    """The provider to ask next, or None if the search is done or nobody is left who may be asked."""
    answers = [searched for searched in so_far if searched.outcome in ("ok", "empty")]
    if len(answers) >= 2 or any(len(answer.hits) >= ENOUGH_HITS for answer in answers):
        return None
    asked = {searched.provider for searched in so_far}
    for name in order:
        if name not in asked and breakers.get(name, Breaker()).rests_until <= now:
            return name
    return None


def noted(breaker: Breaker, searched: Searched, now: float) -> Breaker:
    """*breaker* after the provider's latest outcome."""
    if searched.outcome in ("ok", "empty"):
        return Breaker()
    if searched.code in _OURS or searched.outcome == "blocked_by_policy":
        return breaker
    cooldown = COOLDOWN_S.get(searched.outcome)
    if cooldown is None:
        return _broken(breaker, searched.outcome, now)
    if searched.retry_after_s is not None:
        cooldown = min(searched.retry_after_s, MAX_RETRY_AFTER_S)
    n_blocks = breaker.n_blocks + 1
    if n_blocks >= BLOCKS_TO_REST:
        cooldown = max(cooldown, _doubled(REST_S, n_blocks - BLOCKS_TO_REST, MAX_REST_S))
    return Breaker(n_blocks, now + cooldown, 0, searched.outcome)


def _broken(breaker: Breaker, outcome: Outcome, now: float) -> Breaker:
    n_breaks = breaker.n_breaks + 1
    if n_breaks < BREAKS_TO_REST:
        return replace(breaker, n_breaks=n_breaks)
    rests_until = now + _doubled(BREAK_REST_S, n_breaks - BREAKS_TO_REST, MAX_BREAK_REST_S)
    return Breaker(breaker.n_blocks, max(breaker.rests_until, rests_until), n_breaks, outcome)


def _doubled(first_s: float, n_more: int, most_s: float) -> float:
    # The exponent is bounded so that a provider that is down for a year does not overflow.
    return min(first_s * 2.0 ** min(n_more, 10), most_s)


def combined(chains: Sequence[Sequence[Searched]], limit: int) -> list[Hit]:
    """The hits of all chains, each page once: one chain's in its order, those of several by reciprocal rank fusion."""
    if len(chains) == 1:
        return merge([searched.hits for searched in chains[0]], limit)
    return fuse([merge([searched.hits for searched in chain], limit) for chain in chains], limit)


SearchOne = Callable[[str, Query], Awaitable[Searched]]
"""Makes one call to one provider, with or without a receipt around it."""


class Chain:
    """Asks providers in order until the search is done. Lives as long as the process; one for all sessions."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        interval_s: float = INTERVAL_S,
    ) -> None:
        """*clock* counts seconds, monotonic; *interval_s* lies between two calls to one provider."""
        self._clock = clock
        self._sleep = sleep
        self._interval_s = interval_s
        self._free_at: dict[str, float] = {}
        self.breakers: dict[str, Breaker] = {}

    async def ask_all(
        self, orders: Sequence[Sequence[str]], query: Query, search_one: SearchOne
    ) -> list[list[Searched]]:
        """Ask several chains side by side; what each of them brought, in the order of *orders*.

        Raises: what the first chain that failed raised, once all of them are done: a call that is being paid for is
        not thrown away because another one failed.
        """
        asked = (self.ask(order, query, search_one) for order in orders)
        results = await asyncio.gather(*asked, return_exceptions=True)
        brought = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            brought.append(result)
        return brought

    async def ask(self, order: Sequence[str], query: Query, search_one: SearchOne) -> list[Searched]:
        """One value for each provider asked or left alone, in that order."""
        so_far: list[Searched] = []
        while (name := next_provider(order, so_far, self.breakers, self._clock())) is not None:
            so_far += self._left_alone(order[: order.index(name)], so_far)
            await self._wait_for_turn(name)
            if self.breakers.get(name, Breaker()).rests_until > self._clock():
                continue  # whoever was before us in the line was blocked
            so_far.append(await self._ask_one(name, query, search_one))
        if not any(searched.outcome == "ok" for searched in so_far):
            so_far += self._left_alone(order, so_far)  # "nothing found" must name who could not be asked
        return so_far

    async def _ask_one(self, name: str, query: Query, search_one: SearchOne) -> Searched:
        """One call. After a rest because of breaks it is a probe: until it is back, nobody else calls."""
        before = self.breakers.get(name, Breaker())
        is_probe = before.n_breaks >= BREAKS_TO_REST
        if is_probe:
            self.breakers[name] = replace(before, rests_until=self._clock() + PROBE_S)
        try:
            searched = await search_one(name, query)
        except BaseException:
            if is_probe:
                self.breakers[name] = before  # nothing was learned; the next one may try
            raise
        known = before if is_probe else self.breakers.get(name, Breaker())
        self.breakers[name] = noted(known, searched, self._clock())
        return searched

    def _left_alone(self, names: Sequence[str], so_far: Sequence[Searched]) -> list[Searched]:
        """A refusal for each of *names* that rests, so that nobody takes its silence for "nothing found"."""
        seen, now = {searched.provider for searched in so_far}, self._clock()
        found = []
        for name in names:
            breaker = self.breakers.get(name, Breaker())
            left_s = math.ceil(breaker.rests_until - now)
            if name not in seen and left_s > 0:
                code = "provider_resting" if breaker.why in COOLDOWN_S else "provider_broken"
                because = _BECAUSE.get(breaker.why, f"it failed {breaker.n_breaks} times in a row")
                detail = f"left alone for another {left_s} s, because {because}."
                found.append(Searched(name, OUTCOMES[code], (), code, detail, None, left_s, was_asked=False))
        return found

    async def _wait_for_turn(self, name: str) -> None:
        """Return when *name* may be called again; calls that wait together are spaced out."""
        now = self._clock()
        turn_at = max(now, self._free_at.get(name, now))
        self._free_at[name] = turn_at + self._interval_s
        if turn_at > now:
            await self._sleep(turn_at - now)
