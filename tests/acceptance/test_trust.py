"""P13, and the house's own rules: judged by a reader of the store that shares no code with what made it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from firsthand.app import DEMO_LIBRARY, DEMO_QUESTIONS, DEMO_SITE, demo_pages
from tests.acceptance.world import QUESTION, World, options

ROOT = Path(__file__).parents[2]


@dataclass
class Judge:
    """Reads a store with the standard library alone. ``wrong`` names each citation that is not where it should be."""

    n_answers: int = 0
    n_citations: int = 0
    wrong: list[str] = field(default_factory=list)

    def read(self, file: Path) -> None:
        """Every answer in the store, every citation, against the pages and texts beside them."""
        store = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
        try:
            for (body,) in store.execute("SELECT body FROM answer").fetchall():
                answer = json.loads(body)
                self.n_answers += 1
                for claim in answer["claims"]:
                    assert answer["text"][claim["start"] : claim["end"]] == claim["text"]
                    for citation in claim["citations"]:
                        self.n_citations += 1
                        self._judge(store, citation)
        finally:
            store.close()

    def _judge(self, store: sqlite3.Connection, citation: dict[str, str | int]) -> None:
        asked = (citation["snapshot"],)
        stored, coding = store.execute("SELECT payload, coding FROM snapshot WHERE digest = ?", asked).fetchone()
        payload = zlib.decompress(stored) if coding == "zlib" else stored
        found = store.execute(
            "SELECT body FROM text WHERE snapshot = ? AND text_digest = ?", (*asked, citation["text_digest"])
        ).fetchall()
        bodies = {body for (body,) in found}
        body = bodies.pop() if len(bodies) == 1 else ""
        facts = {
            "payload": f"sha256:{hashlib.sha256(payload).hexdigest()}" == citation["snapshot"],
            "text": f"sha256:{hashlib.sha256(body.encode()).hexdigest()}" == citation["text_digest"],
            "quote": body[int(citation["start"]) : int(citation["end"])] == citation["quote"] != "",
            "verdict": citation["verdict"] == "exact",
        }
        self.wrong += [f"{name} of {citation['quote']!r}" for name, holds in facts.items() if not holds]


async def test_p13_every_quote_of_every_demo_answer_stands_in_its_page(
    orchid: World, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (ROOT / "demo" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [*DEMO_QUESTIONS, *(json.loads(row)["question"] for row in rows)]
    async with orchid.app(home, workers=2) as app:
        await app.add([str(demo_pages())], DEMO_LIBRARY, base_url=DEMO_SITE, max_pages=1, watch=lambda *_: None)
        for question in questions:
            await app.ask(question, options(libraries=(DEMO_LIBRARY,)))
    judge = Judge()
    await asyncio.to_thread(judge.read, home / "firsthand.db")
    assert (judge.n_answers, judge.wrong) == (len(questions), [])
    assert judge.n_citations >= len(questions)
    with capsys.disabled():
        print(
            f"\nP13: {judge.n_citations} citations of {judge.n_answers} answers: {judge.n_citations} exact, 0 missing"
        )


async def test_p13_the_judge_notices_a_changed_byte(orchid: World, home: Path) -> None:
    await orchid.ask(home)
    for change in (
        "UPDATE text SET body = replace(body, '25 members', '52 members')",
        "UPDATE snapshot SET payload = x'00', coding = ''",
        "UPDATE answer SET body = replace(body, '\"start\": 14', '\"start\": 15')",
    ):
        copy = home / "copy.db"
        with sqlite3.connect(home / "firsthand.db") as store, sqlite3.connect(copy) as changed:
            store.backup(changed)
            changed.execute(change)
        store.close()
        changed.close()
        judge = Judge()
        judge.read(copy)
        assert judge.wrong, change
        copy.unlink()


async def test_n13_two_that_ask_the_same_at_once_take_turns_and_both_get_an_answer(orchid: World, home: Path) -> None:
    async with orchid.app(home) as one, orchid.app(home) as other:
        answers = await asyncio.gather(one.ask(QUESTION, options()), other.ask(QUESTION, options()))
    assert [answer.status for answer in answers] == ["answered", "answered"]
    assert answers[0].id != answers[1].id
    assert len(orchid.web.questions) == 2


async def test_a45_rooms_import_downwards_and_the_engine_does_no_io() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    checked = await asyncio.create_subprocess_exec(
        command, "--no-cache", cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await checked.communicate()
    assert checked.returncode == 0, said.decode()
    assert b"0 broken" in said
