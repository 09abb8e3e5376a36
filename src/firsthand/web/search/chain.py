"""The order in which providers are asked, and when one is left alone.

Theory of operation. An *answer* is ``ok`` or ``empty``; everything else is a failure and the next provider is asked.
A first answer with fewer than three hits, or none, is not trusted alone: one more answer is asked for. So a search
ends with one good answer, with two answers, or with nobody left.

A provider that blocks us is left alone for a while: by the kind of block, by its own Retry-After, and from the third
block in a row for 10 minutes, doubling up to 2 hours. An answer forgets the blocks.

``next_provider`` and ``noted`` are pure: from the same values they decide the same, so a run that is continued after
a crash asks the same providers again and finds their receipts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from firsthand.ports import Searched
from firsthand.values import Outcome, Query
from firsthand.web.search.codec import OUTCOMES

ENOUGH_HITS = 3
INTERVAL_S = 1.0  # between two calls to one provider
COOLDOWN_S: dict[Outcome, float] = {"rate_limited": 180, "refused": 180, "bot_wall": 3600}
MAX_RETRY_AFTER_S = 7200  # a provider's word is taken up to here
BLOCKS_TO_REST = 3
REST_S = 600
MAX_REST_S = 7200


@dataclass(frozen=True, slots=True)
class Breaker:
    """What is remembered of one provider: blocks in a row, and until when it is left alone, on the chain's clock."""

    n_blocks: int = 0
    rests_until: float = 0.0


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
    """*breaker* after the provider's latest outcome. A time-out or a breakdown is no block and changes nothing."""
    if searched.outcome in ("ok", "empty"):
        return Breaker()
    cooldown = COOLDOWN_S.get(searched.outcome)
    if cooldown is None:
        return breaker
    if searched.retry_after_s is not None:
        cooldown = min(searched.retry_after_s, MAX_RETRY_AFTER_S)
    n_blocks = breaker.n_blocks + 1
    if n_blocks >= BLOCKS_TO_REST:
        # The exponent is bounded so that a provider that blocks for a year does not overflow.
        cooldown = max(cooldown, min(REST_S * 2 ** min(n_blocks - BLOCKS_TO_REST, 10), MAX_REST_S))
    return Breaker(n_blocks, now + cooldown)


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

    async def ask(self, order: Sequence[str], query: Query, search_one: SearchOne) -> list[Searched]:
        """One value for each provider asked or left alone, in that order; merge their hits with ``merge``."""
        so_far: list[Searched] = []
        while (name := next_provider(order, so_far, self.breakers, self._clock())) is not None:
            so_far += self._left_alone(order[: order.index(name)], so_far)
            await self._wait_for_turn(name)
            searched = await search_one(name, query)
            self.breakers[name] = noted(self.breakers.get(name, Breaker()), searched, self._clock())
            so_far.append(searched)
        if not any(searched.outcome == "ok" for searched in so_far):
            so_far += self._left_alone(order, so_far)  # "nothing found" must name who could not be asked
        return so_far

    def _left_alone(self, names: Sequence[str], so_far: Sequence[Searched]) -> list[Searched]:
        """A refusal for each of *names* that rests, so that nobody takes its silence for "nothing found"."""
        seen, now = {searched.provider for searched in so_far}, self._clock()
        code = "provider_resting"
        return [
            Searched(name, OUTCOMES[code], (), code, f"{name}: left alone for {left:.0f} s, because it refused us.")
            for name in names
            if name not in seen and (left := self.breakers.get(name, Breaker()).rests_until - now) > 0
        ]

    async def _wait_for_turn(self, name: str) -> None:
        """Return when *name* may be called again; calls that wait together are spaced out."""
        now = self._clock()
        turn_at = max(now, self._free_at.get(name, now))
        self._free_at[name] = turn_at + self._interval_s
        if turn_at > now:
            await self._sleep(turn_at - now)
