"""The composition: what settings and options become, who waits for whom, and the library as a provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from firsthand import app as app_module
from firsthand import fault
from firsthand.app import App, AskOptions, ask_options, open_app
from firsthand.db import Connection
from firsthand.durable import lease
from firsthand.errors import InvalidInput, NotAllowed, StoreFailed
from firsthand.events import Event
from firsthand.ports import Searched
from firsthand.settings import Settings

QUESTION = "Where do herons build their nests?"


def options(**changes: Any) -> AskOptions:
    given: dict[str, Any] = {
        "libraries": ("lake",),
        "search": None,
        "mode": "search",
        "model": "none",
        "verify": "annotate",
        "cross_check": False,
        "allow_origins": (),
        "max_sources": None,
        "session": "default",
    }
    return ask_options(**{**given, **changes})


@pytest.fixture
async def open_one(sqlite_url: str, tmp_path: Path) -> AsyncIterator[App]:
    """An app whose library ``lake`` holds two pages."""
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a.txt").write_text("Herons build their nests in the reeds at the northern shore.\n")
    (tmp_path / "lake" / "b.txt").write_text("Boats are rented at the southern shore from May to October.\n")
    async with open_app(Settings(home=tmp_path, database_url=sqlite_url, search="duckduckgo-html")) as opened:
        await opened.add([str(tmp_path / "lake")], "lake", base_url="https://lake.example", max_pages=1, watch=unseen)
        yield opened


def unseen(done: int, total: int, what: str) -> None:
    return


async def test_an_answer_is_said_event_by_event_and_kept(open_one: App) -> None:
    seen: list[Event] = []
    answer = await open_one.ask(QUESTION, options(), watch=seen.append)
    assert answer.status == "answered" and "reeds" in answer.text
    assert [seen[0].type, seen[-1].type] == ["TurnStarted", "AnswerFinished"]
    assert (await open_one.verify(answer.id)).ok


async def test_a_turn_that_stopped_after_its_answer_was_kept_goes_on_to_the_same_answer(
    open_one: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fault, "_SPEC", "output.between_files:1:raise")
    monkeypatch.setattr(fault, "_passed", type(fault._passed)())
    with pytest.raises(fault.InjectedFault):
        await open_one.ask(QUESTION, options(), out=tmp_path / "out")
    monkeypatch.setattr(fault, "_SPEC", "")
    answer = await open_one.ask(QUESTION, options(), out=tmp_path / "out")
    assert json.loads((tmp_path / "out" / "answer.json").read_text())["id"] == answer.id
    assert (await open_one.ask(QUESTION, options(), out=tmp_path / "out")).id != answer.id


async def test_two_asks_of_one_session_wait_for_each_other(open_one: App) -> None:
    answers = await asyncio.gather(
        open_one.ask(QUESTION, options()), open_one.ask("Where are boats rented?", options())
    )
    assert [answer.status for answer in answers] == ["answered", "answered"]


async def test_a_session_that_stays_busy_is_named_and_its_holder_too(
    open_one: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "SESSION_WAIT_S", 0.0)
    async with lease.hold(open_one._database, "default", 30.0):
        with pytest.raises(NotAllowed, match="another --session") as caught:
            await open_one.ask(QUESTION, options())
    assert caught.value.code == "session_busy"
    assert (await open_one.ask(QUESTION, options())).status == "answered"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"mode": "x"}, "unknown_mode"),
        ({"verify": "x"}, "unknown_verify"),
        ({"model": "x"}, "model_unavailable"),
        ({"session": " "}, "invalid_session"),
        ({"session": "s" * 201}, "invalid_session"),
        ({"allow_origins": ("example.org",)}, "invalid_origin"),
        ({"allow_origins": ("https://a.org", "file:///etc")}, "invalid_origin"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_opened(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        options(**changes)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("setting", "option", "mode", "expected"),
    [(0, None, "search", 5), (0, None, "research", 10), (3, None, "research", 3), (3, 7, "search", 7)],
)
async def test_pages_read_are_the_options_else_the_settings_else_the_modes(
    sqlite_url: str, tmp_path: Path, setting: int, option: int | None, mode: str, expected: int
) -> None:
    async with open_app(Settings(home=tmp_path, database_url=sqlite_url, max_sources=setting)) as opened:
        profile = await opened._profile(options(libraries=(), search=(), max_sources=option, mode=mode))
    assert profile.max_sources == expected


async def test_a_library_alone_asks_nobody_outside_and_no_library_asks_the_setting(open_one: App) -> None:
    assert (await open_one._profile(options())).providers == ()
    assert (await open_one._profile(options(libraries=()))).providers == ("duckduckgo-html",)
    assert (await open_one._profile(options(search=("duckduckgo-html",)))).providers == ("duckduckgo-html",)


async def test_a_store_that_fails_leaves_the_turn_for_a_later_run(open_one: App) -> None:
    def rename(connection: Connection, one: str, other: str) -> None:
        connection.execute(sa.text(f"ALTER TABLE {one} RENAME TO {other}"))

    await open_one._database.write(rename, "answer", "gone")
    with pytest.raises(StoreFailed):
        await open_one.ask(QUESTION, options())
    await open_one._database.write(rename, "gone", "answer")
    assert (await open_one.ask(QUESTION, options())).status == "answered"


# -- The library as a provider: what tests/web/search/test_contract.py asks of the others, as far as it can be in it


async def searched(opened: App, text: str, limit: int = 10) -> Searched:
    return await opened._search_libraries(text, ("lake",), limit)


async def test_the_librarys_results_are_ranked_hits_with_one_line_snippets(open_one: App) -> None:
    found = await searched(open_one, "shore")
    assert (found.provider, found.outcome, found.code) == ("library", "ok", "")
    assert {hit.url for hit in found.hits} == {"https://lake.example/a.txt", "https://lake.example/b.txt"}
    assert [hit.rank for hit in found.hits] == [1, 2]
    assert all(hit.provider == "library" and hit.snippet and "\n" not in hit.snippet for hit in found.hits)
    assert len((await searched(open_one, "shore", limit=1)).hits) == 1


@pytest.mark.parametrize("text", ["xqzzy", "", '"', "a AND (", "*", "NEAR(", "\x00", "shore" * 500])
async def test_a_library_without_the_words_is_empty_and_no_failure(open_one: App, text: str) -> None:
    found = await searched(open_one, text)
    assert (found.outcome, found.hits, found.code) == ("empty", (), "")
