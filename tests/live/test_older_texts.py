"""What an older extractor read stays what it was: answers stand, texts are not touched, and what is new is found.

The home is one that version 2 really filled. It is read anew by this release, and by one that moves every word.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from firsthand.app import App, open_app
from firsthand.db import Connection
from firsthand.evidence import index, store, tables
from firsthand.live import adding, health, kept, remaking
from firsthand.live.adding import Added
from firsthand.live.extraction import READER, Extraction
from firsthand.live.reach import Reach
from firsthand.settings import Settings
from firsthand.web.extract import EXTRACTOR, EXTRACTOR_VERSION
from tests import kept_before
from tests.live import later_reader
from tests.test_app import options, unseen
from tools.verify_bundle import main as verify_bundle

OLD = f"{EXTRACTOR}/{kept_before.VERSION}"
PAGES = kept_before.FOLDER / "pages"
QUESTIONS = (kept_before.FOLDER / "questions.txt").read_text(encoding="utf-8").splitlines()


@dataclass
class Home:
    """An app over the old home, whose extractor is a newer one."""

    app: App
    version: str

    async def add(self, folder: Path = PAGES) -> Added:
        return await self.app.add(
            [str(folder)], kept_before.LIBRARY, base_url=kept_before.SITE, max_pages=1, watch=unseen
        )

    async def rows(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        return await self.app._database.read(lambda c: [dict(row) for row in c.execute(query).mappings()])

    async def texts(self) -> list[dict[str, Any]]:
        return await self.rows(sa.select(tables.text).order_by("text_id"))

    async def indexed(self) -> list[int]:
        return [row["text_id"] for row in await self.rows(sa.select(index.page.c.text_id).order_by("text_id"))]


@asynccontextmanager
async def reading_as(release: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Home]:
    """An app of *release*, which is newer than the one that filled the home."""
    version, reader = EXTRACTOR_VERSION, READER
    if release == "a later release":
        version, reader = later_reader.VERSION, later_reader.__name__
    elif version == kept_before.VERSION:
        pytest.skip("the home was filled by this release")
    with monkeypatch.context() as patch:
        for module in (adding, health, kept):
            patch.setattr(module, "EXTRACTOR_VERSION", version)
        patch.setattr(remaking, "OURS", f"{EXTRACTOR}/{version}")
        async with open_app(settings) as opened:
            extraction = Extraction(1, reader=reader)
            try:
                yield Home(App(settings, opened._database, opened._reach, extraction), version)
            finally:
                extraction.close()


@pytest.fixture(params=["this release", "a later release"])
async def home(
    request: pytest.FixtureRequest, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Home]:
    kept_before.fill(database_url, tmp_path)
    async with reading_as(request.param, Settings(home=tmp_path, database_url=database_url), monkeypatch) as made:
        yield made


async def test_answers_stand_word_for_word_after_their_pages_were_read_anew(home: Home, tmp_path: Path) -> None:
    before = await home.texts()
    added = await home.add()
    assert (added.kept, added.read_anew, added.changed, added.unchanged, added.older) == (3, 3, 0, 0, 0)

    after = await home.texts()
    assert after[:3] == before and [row["text_digest"] for row in before] == old_digests()
    assert {row["extractor_version"] for row in after[3:]} == {home.version} and len(after) == 6
    assert Counter(row["snapshot"] for row in after) == dict.fromkeys({row["snapshot"] for row in before}, 2)
    same = set(old_digests()) & {row["text_digest"] for row in after[3:]}  # of a page that both read alike
    for bundle in kept_before.ANSWERS:
        answer = json.loads((bundle / "answer.json").read_text(encoding="utf-8"))
        for target in (answer["id"], str(bundle), str(bundle / "answer.json")):
            checked = await home.app.verify(target)
            assert checked.ok and checked.changed == {}
            assert [row.verdict for row in checked.report.rows] == ["exact"] * n_citations(answer)
            assert checked.remade
            for one in checked.remade:
                ours = (f"{EXTRACTOR}/{home.version}", "same")
                is_ours = one.text_digest in same and target != str(bundle)
                assert (one.extractor, one.outcome) == (ours if is_ours else (OLD, "not_installed"))
                said = f"made by {OLD}, which is not in this release ({ours[0]})"
                assert is_ours or said in "\n".join(checked.lines()[-3:-1])
        again = tmp_path / "bundle"
        shutil.copytree(bundle, again)
        await home.app.export(answer["id"], again)  # refused if one byte of it were another
        shutil.rmtree(again)


def old_digests() -> list[str]:
    return [row["text_digest"] for row in kept_before.rows("text")]


def n_citations(answer: dict[str, Any]) -> int:
    return sum(len(claim["citations"]) for claim in answer["claims"])


@pytest.mark.parametrize("bundle", kept_before.ANSWERS, ids=lambda path: path.name)
def test_a_bundle_of_an_older_extractor_satisfies_the_checker_of_strangers(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify_bundle([str(bundle)]) == 0
    assert capsys.readouterr().out.endswith("good; 0 faults\n")


async def test_what_is_found_is_the_new_text_and_nothing_of_the_old(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await home.indexed() == [1, 2, 3]
    added = await home.add()
    assert (added.read_anew, added.failed) == (3, [])
    assert await home.indexed() == [4, 5, 6]
    found = await home.app.recall("shaft seal", (), limit=10, cursor=None)
    assert found.items and {item.text_id for item in found.items} <= {4, 5, 6}
    answer = await home.app.ask(QUESTIONS[1], options(libraries=(kept_before.LIBRARY,)))
    cited = {citation.text_digest for claim in answer.claims for citation in claim.citations}
    new = {row["text_digest"] for row in (await home.texts())[3:]}
    assert cited and cited <= new

    checked = await home.app.verify(answer.id)
    assert checked.ok and {one.outcome for one in checked.remade} == {"same"}

    release = "a later release" if home.version == later_reader.VERSION else "this release"
    fresh = Settings(home=tmp_path / "fresh", database_url=f"sqlite:///{tmp_path / 'fresh.db'}")
    async with reading_as(release, fresh, monkeypatch) as other:
        await other.add()
        terms = sa.select(index.term).order_by("term")
        assert await home.rows(terms) == await other.rows(terms)


@pytest.mark.parametrize("home", ["a later release"], indirect=True)
async def test_all_that_a_text_says_is_kept_and_what_no_reader_sees_is_not_found(home: Home) -> None:
    await home.add()
    for text_id in await home.indexed():
        text = await home.app._database.read(store.load_text, text_id)
        assert text.hidden[0] == later_reader.UNSEEN and text.n_invisible >= 1
        first = text.anchors[0]
        assert text.body[first.span.start : first.span.end] == "Read" and text.links[first.link] == later_reader.LINK
        assert text.fact_sources["title"] == "title" and text.blocks[0].reason == "details"
    assert (await home.app.recall("zebras", (), limit=10, cursor=None)).items == ()
    answer = await home.app.ask("Who sees zebras?", options(libraries=(kept_before.LIBRARY,)))
    assert "ebras are" not in answer.text


async def test_until_all_of_it_is_there_the_old_text_is_found(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await state(home)
    shutil.copy(PAGES / "pump.html", tmp_path)

    def too_late(connection: Connection, text_id: int) -> None:
        index.remove_text(connection, text_id)
        raise ZeroDivisionError

    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(adding, "_retire", too_late)
        await home.add(tmp_path / "pump.html")
    assert await state(home) == before
    assert (await home.add(tmp_path / "pump.html")).read_anew == 1 and len(await home.indexed()) == 3
    assert await state(home) != before


async def state(home: Home) -> list[list[dict[str, Any]]]:
    queries = [sa.select(table) for table in (tables.text, tables.holding, index.page, index.passage, index.term)]
    return [sorted(await home.rows(query), key=repr) for query in queries]


async def test_a_turn_that_was_killed_finds_what_it_had_read(home: Home) -> None:
    """Its receipt names a text; when it goes on, that text's passages must still be there."""

    def begin(connection: Connection) -> None:
        turn = kept_before.rows("turn")[0]
        running = {**turn, "turn_id": "turn-killed", "state": "running", "answer_id": None, "finished_at": None}
        receipt = {
            **kept_before.rows("receipt")[0],
            "turn_id": "turn-killed",
            "kind": "fetch",
            "result": json.dumps({"text_id": 2}),
        }
        for name, row in (("turn", running), ("receipt", receipt)):
            kept_before.insert(connection, name, row)

    await home.app._database.write(begin)
    assert (await home.add()).read_anew == 3
    assert await home.indexed() == [2, 4, 5, 6]


async def test_a_text_that_another_library_holds_is_found_there_until_that_is_added_again(home: Home) -> None:
    def hold(connection: Connection) -> None:
        store.hold(connection, "other", kept_before.SITE + "pump.html", 2, 2)

    await home.app._database.write(hold)
    assert (await home.add()).older == 0
    assert await home.indexed() == [2, 4, 5, 6]
    checks = {check.name: check for check in await health.examine(home.app.settings, home.app._database, *reach(home))}
    assert checks["texts"].detail.startswith("1 page in libraries was read by another version")

    await home.app.add([str(PAGES)], "other", base_url=kept_before.SITE, max_pages=1, watch=unseen)
    assert await home.indexed() == [4, 5, 6]


def reach(home: Home) -> tuple[Reach, Any, tuple[str, ...]]:
    return home.app._reach, home.app._reach.acts(home.app._extraction), ()


async def test_whoever_upgraded_is_told_how_many_pages_an_older_extractor_read(home: Home, tmp_path: Path) -> None:
    checks = {check.name: check for check in await health.examine(home.app.settings, home.app._database, *reach(home))}
    check = checks["texts"]
    assert check.ok and not check.is_needed
    assert check.detail.startswith("3 pages in libraries were read by another version of the extractor")
    assert f"{EXTRACTOR}/{home.version}" in check.detail

    shutil.copy(PAGES / "pump.html", tmp_path)
    added = await home.add(tmp_path / "pump.html")
    assert (added.read_anew, added.older, added.pages) == (1, 2, 3)
    assert added.as_json()["read_anew"] == 1 and added.as_json()["read_by_another_version"] == 2
    assert added.older_words().startswith("2 pages of the library were read by another version")
    assert (await home.add()).older_words() == ""


async def test_a_page_that_really_changed_is_told_from_one_that_was_read_anew(home: Home, tmp_path: Path) -> None:
    shutil.copytree(PAGES, tmp_path / "pages")
    changed = tmp_path / "pages" / "notice.html"
    changed.write_text(changed.read_text(encoding="utf-8").replace("1,240", "2,480"), encoding="utf-8")
    added = await home.add(tmp_path / "pages")
    assert (added.kept, added.read_anew, added.changed) == (3, 2, 1)
    assert len(await home.indexed()) == 3
    assert (await home.add(tmp_path / "pages")).unchanged == 3


async def test_a_text_whose_passages_were_taken_out_is_found_again_when_it_is_kept_again(
    home: Home, tmp_path: Path
) -> None:
    """The page goes back to what it was: its text is there from before, and must be found as it was then."""
    await home.add()
    shutil.copytree(PAGES, tmp_path / "pages")
    (tmp_path / "pages" / "cli.html").write_text("<p>The program tern is gone from this page for good.</p>")
    await home.add(tmp_path / "pages")
    assert len(await home.indexed()) == 3 and 7 in await home.indexed()
    assert (await home.add()).changed == 1
    assert await home.indexed() == [4, 5, 6]


async def test_a_text_that_comes_out_otherwise_under_the_same_version_is_pointed_at_and_still_the_reference(
    database_url: str, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path, database_url=database_url)
    async with open_app(settings) as opened:
        await opened.add([str(PAGES)], kept_before.LIBRARY, base_url=kept_before.SITE, max_pages=1, watch=unseen)
        answer = await opened.ask(QUESTIONS[0], options(libraries=(kept_before.LIBRARY,)))
        assert {one.outcome for one in (await opened.verify(answer.id)).remade} == {"same"}

        extraction = Extraction(1, reader="tests.live.other_reader")
        checked = await App(settings, opened._database, opened._reach, extraction).verify(answer.id)
        extraction.close()

    assert checked.ok and {one.outcome for one in checked.remade} == {"differs"}
    notes = [line for line in checked.lines() if line.startswith("NOTE")]
    assert len(notes) == len(checked.remade) and all("the kept text is the reference" in line for line in notes)
    assert [row["made_again"] for row in checked.as_json()["texts"]] == ["differs"] * len(notes)  # type: ignore[union-attr, call-overload, index]
