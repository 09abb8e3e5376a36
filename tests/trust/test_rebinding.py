"""P2: one look-up a name and fetch, whatever the name server says the next time."""

from __future__ import annotations

import pytest

from firsthand.web.address import Policy, Target
from firsthand.web.gate import Admitted, Gate, Known
from tests.trust.rebinding import PLANS, loopback, rebind, run


def test_200_fetches_of_rebinding_names_look_up_once_a_hop_and_meet_no_wrong_peer() -> None:
    counted = rebind(200)
    assert (counted["fetches"], counted["second_look_ups"], counted["wrong_peers"]) == (200, 0, 0)
    assert counted["wrong_ends"] == []
    assert counted["look_ups"] == counted["owed_look_ups"] > 200
    assert counted["queries"] == 2 * counted["look_ups"]  # A and AAAA


async def test_the_same_holds_where_no_network_of_its_own_is_to_be_had() -> None:
    counted = await run(loopback(), 2 * len(PLANS), "a look-up of the test")
    assert (counted.second_look_ups, counted.wrong_peers, counted.wrong_ends) == (0, 0, [])
    assert (counted.look_ups, counted.queries) == (counted.owed_look_ups, 2 * counted.owed_look_ups)


async def test_a_gate_that_forgets_what_it_looked_up_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    admit = Gate.admit

    async def forgets(self: Gate, target: Target, policy: Policy, known: Known | None = None) -> Admitted:
        return await admit(self, target, policy, None)

    monkeypatch.setattr(Gate, "admit", forgets)
    counted = await run(loopback(), len(PLANS), "a look-up of the test")
    assert counted.second_look_ups and counted.wrong_ends


async def test_a_gate_that_judges_no_answer_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async def trusts(self: Gate, target: Target, policy: Policy, known: Known | None = None) -> Admitted:
        return Admitted(target, tuple(await self._lookup(target.host))[::-1])

    monkeypatch.setattr(Gate, "admit", trusts)
    counted = await run(loopback(), 4, "a look-up of the test")
    assert counted.wrong_peers and counted.wrong_ends
