"""One turn from the question to the delivered answer: lease, run, receipts, engine, finish."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import cast

from firsthand import ids
from firsthand.db import Connection, Database
from firsthand.durable import journal, ledger
from firsthand.durable.journal import JsonObject
from firsthand.durable.lease import Lease
from firsthand.durable.operations import DurableOperations, Policy
from firsthand.errors import DigestMismatch, Error, InvalidInput
from firsthand.events import Event
from firsthand.evidence.recall import SqlShelf
from firsthand.live.acts import LiveFinder
from firsthand.live.checking import check_answer
from firsthand.live.extraction import Extraction
from firsthand.live.kept import KeptPages, MaxAge
from firsthand.live.output import write_answer
from firsthand.live.reach import Reach
from firsthand.render import from_json, to_json
from firsthand.research.answer import answer_question
from firsthand.research.profile import Profile
from firsthand.values import Answer

QUESTION_MAX_CHARS = 4_000  # guess: a page of text; providers cut further by themselves

Watch = Callable[[Event], None]


def checked_question(text: str) -> str:
    """The question in *text*, on one line.

    Raises: InvalidInput if there is none, or too much of it.
    """
    question = " ".join(text.split())
    if not question:
        raise InvalidInput("empty_question", "There is no question; write one in quotes.")
    if len(question) > QUESTION_MAX_CHARS:
        message = f"A question may have {QUESTION_MAX_CHARS:,} characters; this one has {len(question):,}."
        raise InvalidInput("question_too_long", message, chars=len(question))
    return question


class Asking:
    """Answers questions of one session, under its lease."""

    def __init__(
        self,
        database: Database,
        reach: Reach,
        extraction: Extraction,
        shelf: SqlShelf,
        lease: Lease,
        in_doubt: Policy = "ask",
    ) -> None:
        """*in_doubt* is what becomes of a paid call that an interrupted run may have made."""
        self._database = database
        self._reach = reach
        self._extraction = extraction
        self._lease = lease
        self._shelf = shelf
        self._in_doubt: Policy = in_doubt

    async def answer(
        self,
        question: str,
        profile: Profile,
        *,
        out: Path | None,
        watch: Watch | None,
        key: str | None,
        is_awaited: bool = False,
    ) -> Answer:
        """The answer, kept, delivered and finished. A turn that a crash left is continued from its receipts.

        With *is_awaited* an answer that was finished but never seen is given again instead of a new one.

        Raises: StoreFailed, LeaseLost, InDoubt, DigestMismatch; the turn then stays unfinished and goes on when it is asked again.
        """
        started = time.monotonic()
        options = _plain(cast(JsonObject, {**asdict(profile), "key": key}))
        if is_awaited:
            unseen = await self._database.read(journal.awaited_answer, self._lease.session_id, question, options)
            if unseen is not None:
                answer = from_json(unseen.body)
                if out is not None:
                    write_answer(answer, out)
                return answer
        turn, run = await self._database.write(journal.start, self._lease, question, options)

        async def deliver(body: JsonObject) -> None:
            if out is not None:
                write_answer(from_json(body), out)

        destination = "" if out is None else str(out)
        spent = await self._database.read(ledger.turn_totals, turn.turn_id)  # by earlier runs of the turn
        acts = self._reach.acts(
            self._extraction,
            profile.allow_origins,
            kept=KeptPages(self._database),
            max_age=MaxAge(profile.max_age_s, profile.is_age_asked_for),
            n_sent=spent.fetch.calls,
        )
        operations = _Watched(
            self._database,
            run,
            acts,
            answer_json=to_json,
            deliver=deliver,
            destination=destination,
            policy=self._in_doubt,
            decided_by="setting in_doubt",
        )
        operations.watch = watch
        try:
            body = await self._body(question, profile, operations, turn.turn_id, started)
            await self._database.read(_check, body)
            body = await operations.deliver_body(body)
            if out is not None:
                await operations.say(Event("AnswerDelivered", "delivered", {"answer_id": body["id"]}))
            claims = body["claims"]
            told: JsonObject = {"answer_id": body["id"], "status": body["status"]}
            told["n_claims"] = len(claims) if isinstance(claims, list) else 0
            last = Event("AnswerFinished", "finished", told)
            finished = await self._database.write(journal.finish_turn, run, body, last, is_awaited=is_awaited)
        except BaseException as error:
            if isinstance(error, Error) or not isinstance(error, Exception):
                await _leave(self._database, run)
            raise
        operations.show(last)
        return from_json(finished)

    async def _body(
        self, question: str, profile: Profile, operations: _Watched, turn_id: str, started: float
    ) -> JsonObject:
        """The answer as an object: the kept one if an earlier run got so far, else made now."""
        kept = await self._database.read(journal.answer_of_turn, turn_id)
        if kept is not None:
            return kept.body
        answer = await answer_question(
            question,
            profile,
            operations,
            LiveFinder(self._reach.services.chain, profile.providers, operations),
            self._shelf,
            answer_id=ids.new_id("ans"),
            elapsed_ms=lambda: round((time.monotonic() - started) * 1000),
        )
        spent = await self._database.read(ledger.turn_totals, turn_id)
        answer = replace(answer, usage=replace(answer.usage, cost_microusd=spent.cost_microusd))
        return to_json(self._said_private(answer, operations.visited))

    def _said_private(self, answer: Answer, visited: Iterable[str]) -> Answer:
        """*answer*, which says if it needed leave to reach a private address."""
        pairs = self._reach.allowed_private(visited)
        if not pairs:
            return answer
        said = f"Read from a private address, as FIRSTHAND_ALLOW_PRIVATE allows: {', '.join(pairs)}"
        return replace(answer, limitations=(*answer.limitations, said))


class _Watched(DurableOperations):
    """Durable operations that also show each event to whoever watches, once it is kept."""

    watch: Watch | None = None
    visited: tuple[str, ...] = ()  # every page that was asked for, also if an earlier run of the turn asked

    async def say(self, event: Event) -> None:
        await super().say(event)
        if event.type in ("PageKept", "PageFailed"):
            self.visited += (str(event.data.get("url", "")),)
        self.show(event)

    def show(self, event: Event) -> None:
        """Tell the one who watches."""
        if self.watch is not None:
            self.watch(event)


def _check(connection: Connection, body: JsonObject) -> None:
    """Check an answer as anybody will who gets it, before it leaves.

    Raises: DigestMismatch if a page or a text that it cites is no longer what was kept (A22).
    """
    wrong = sorted({code for row in check_answer(connection, body).rows for code in row.wrong})
    if wrong:
        message = "A kept page that the answer cites was changed; nothing was published. Restore the data folder."
        raise DigestMismatch("citation_broken", message, wrong=", ".join(wrong))


async def _leave(database: Database, run: journal.Run) -> None:
    """Say that this run ended without finishing; if even that fails, the next run finds out by itself."""
    try:
        await database.write(journal.end_run, run)
    except Error:
        return


def _plain(options: JsonObject) -> JsonObject:
    """Tuples as lists: the form in which JSON gives them back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
