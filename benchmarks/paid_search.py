"""Kills the real command line around a paid search, runs it again, and counts what was paid for at the service.

    python -m benchmarks.paid_search [--hits N] [--random N] [--double N] [--out FILE]

The service is Brave's double in the test world; it recognises no key, so a call that was cut cannot be repeated safely.
After each kill and recovery must hold: a search that was settled is not sent again; one that was never sent is sent
once; one that was cut in between stops the recovery until somebody decides (here: repeat), and that decision is signed;
the charge stands in the ledger once, and in the answer. One JSON line a row goes to --out; the figures are the last line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from firsthand.app import open_app
from firsthand.db import Connection, open_database
from firsthand.durable.journal import answer_table
from firsthand.durable.ledger import charge_table
from firsthand.durable.receipts import receipt_table
from firsthand.settings import load_settings
from firsthand.testing.world import World
from tests.crash.sweep import Subject, Summary, sweep

QUESTION = "How many tables can a join of the Orchid database hold?"
PAGE = "<title>Joins</title><p>In Orchid, a join is planned before it runs. A join may hold at most 64 tables.</p>"
PRICE_MICROUSD = 5_000


@dataclass(frozen=True, slots=True)
class Seen:
    """The state between the kill and the recovery."""

    n_sent: int
    state: str  # of the receipt; empty: there is none
    is_over: bool  # an answer was finished and may have been shown: the same question may then be a new one


class Case:
    """The command under test, its data folder, and what must hold after its recovery."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.home = folder / "home"
        self.template = folder / "template"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "FIRSTHAND_HOME": str(self.home),
            "FIRSTHAND_BRAVE_URL": world.engine_url("brave"),
            "FIRSTHAND_BRAVE_API_KEY": "any",
            "FIRSTHAND_ALLOW_PRIVATE": world.pairs,
            "FIRSTHAND_HOST_INTERVAL_S": "0",
        }
        self.states: Counter[str] = Counter()
        asyncio.run(self._make_template())

    async def _make_template(self) -> None:
        async with open_app(load_settings(self.env)):
            pass
        shutil.copytree(self.home, self.template)

    @property
    def subject(self) -> Subject:
        """The real command line; its second recovery carries a decision."""
        command = [sys.executable, "-m", "firsthand", "ask", QUESTION, "--search", "brave"]
        decided = ["env", "FIRSTHAND_IN_DOUBT=repeat", *command]
        return Subject(command, self.env, self.reset, self.compare, self.observe, recoveries=[command, decided])

    def reset(self) -> None:
        """A data folder with an empty schema, and no request counted."""
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.template, self.home)
        self.world.reset()

    @property
    def n_sent(self) -> int:
        """How many searches the service was paid for."""
        return len(self.world.requests("search"))

    def observe(self) -> Seen:
        """What the service and the store know when the program is dead."""
        receipt, _, answers = self._read(_record)
        seen = Seen(self.n_sent, receipt.state if receipt else "", bool(answers))
        self.states[seen.state] += 1
        return seen

    def compare(self, seen: Seen) -> list[str]:
        """What is wrong after the recovery."""
        receipt, charges, answers = self._read(_record)
        n_more = self.n_sent - seen.n_sent
        wrong = []
        if seen.is_over and len(answers) == 2:  # shown already: asked anew, and paid anew
            return [] if n_more == 1 else [f"asked anew, and sent {n_more} times"]
        if seen.state == "done" and n_more:
            wrong.append("a settled search was sent again")
        if seen.state == "begun" and n_more and not receipt.decided_by:
            wrong.append("a search in doubt was sent again without a decision")
        if n_more > 1:
            wrong.append(f"the recovery sent {n_more} searches")
        if receipt.state != "done" or [row.cost_microusd for row in charges] != [PRICE_MICROUSD]:
            wrong.append(f"the receipt is {receipt.state}, its charges are {[row.cost_microusd for row in charges]}")
        if [answer["usage"]["cost_microusd"] for answer in answers] != [PRICE_MICROUSD]:
            wrong.append("the answer does not say what it cost, or there is none")
        return wrong

    def _read(self, fn: Any) -> Any:
        database = open_database(f"sqlite:///{self.home / 'firsthand.db'}")
        try:
            return database.read_now(fn)
        finally:
            database.close()


def _record(connection: Connection) -> tuple[Any, list[Any], list[Any]]:
    """The first search's receipt, its charges, and the answers."""
    searched = receipt_table.c.kind == "search"
    receipt = connection.execute(sa.select(receipt_table).where(searched).order_by(receipt_table.c.begun_at)).first()
    mine = charge_table.c.receipt_key == (receipt.key if receipt else "")
    charges = connection.execute(sa.select(charge_table).where(mine)).all()
    return receipt, list(charges), [row.body for row in connection.execute(sa.select(answer_table.c.body))]


def figures(summary: Summary, states: Counter[str]) -> dict[str, object]:
    """One JSON object: the sweep's figures, and where the kills fell."""
    return {
        **summary.figures(),
        "killed_before_recorded": states[""],
        "killed_in_between": states["begun"],
        "killed_after_settled": states["done"] - 1,  # the undisturbed run was looked at, too
        "stopped_to_ask": sum(row.n_recoveries > 1 for row in summary.rows),
        "paid_again_without_decision": sum("again" in text for row in summary.bad for text in row.problems),
    }


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hits", type=int, help="passages tried of each point; default: all")
    parser.add_argument("--random", type=int, default=0, help="kills at random moments")
    parser.add_argument("--double", type=int, default=0, help="kills whose recovery is killed too")
    parser.add_argument("--out", type=Path, help="file for the rows, a JSON object a line")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, World({"joins.html": PAGE}) as world:
        case = Case(world, Path(folder))
        options = {"hits": given.hits, "n_random": given.random, "n_double": given.double, "out": given.out}
        summary = sweep(case.subject, **options)
        for row in summary.bad:
            print(row)
        print(json.dumps(figures(summary, case.states)))
    return 1 if summary.bad else 0


if __name__ == "__main__":
    sys.exit(main())
