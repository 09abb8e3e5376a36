"""Checking and exporting answers from the store, a file and a bundle."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from firsthand.app import App, open_app
from firsthand.db import Connection
from firsthand.errors import Error, InvalidInput, NotFound
from firsthand.settings import Settings
from firsthand.values import Answer
from tests.test_app import QUESTION, options, unseen


@pytest.fixture
async def opened(sqlite_url: str, tmp_path: Path) -> AsyncIterator[App]:
    (tmp_path / "a.html").write_text(
        "<html><body><p>Herons build their nests in the reeds at the shore.</p></body></html>"
    )
    async with open_app(Settings(home=tmp_path, database_url=sqlite_url)) as made:
        await made.add([str(tmp_path / "a.html")], "lake", base_url="https://a.example", max_pages=1, watch=unseen)
        yield made


@pytest.fixture
async def answer(opened: App, tmp_path: Path) -> Answer:
    return await opened.ask(QUESTION, options(), out=tmp_path / "out")


async def test_an_answer_is_checked_by_its_id_its_file_and_its_bundle(
    opened: App, answer: Answer, tmp_path: Path
) -> None:
    assert await opened.export(answer.id, tmp_path / "bundle") == 1
    for target in (answer.id, str(tmp_path / "out" / "answer.json"), str(tmp_path / "bundle")):
        checked = await opened.verify(target)
        assert checked.ok and checked.answer_id == answer.id and len(checked.lines()) >= 2


async def test_a_quote_that_was_altered_in_the_file_is_found(opened: App, answer: Answer, tmp_path: Path) -> None:
    file = tmp_path / "out" / "answer.json"
    file.write_text(file.read_text().replace("in the reeds", "on the roofs"))
    checked = await opened.verify(str(file))
    assert not checked.ok and checked.lines()[-1].endswith("not where they should be")


async def test_a_payload_that_was_altered_in_the_store_is_found(opened: App, answer: Answer) -> None:
    def alter(connection: Connection) -> None:
        connection.execute(sa.text("UPDATE snapshot SET payload = zeroblob(length(payload))"))

    await opened._database.write(alter)
    assert not (await opened.verify(answer.id)).ok


async def test_a_bundle_goes_nowhere_that_exists(opened: App, answer: Answer, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine").write_text("mine")
    with pytest.raises(Error):
        await opened.export(answer.id, tmp_path / "there")
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["mine"]
    with pytest.raises(NotFound):
        await opened.export("ans-nothing", tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", '"x"', "[" * 100_000, '{"schema": "firsthand.answer/1", "claims": 3}']
)
async def test_a_file_that_is_no_answer_is_refused(opened: App, tmp_path: Path, body: str) -> None:
    (tmp_path / "x.json").write_text(body)
    with pytest.raises(InvalidInput):
        await opened.verify(str(tmp_path / "x.json"))


async def test_a_name_of_nothing_is_not_found(opened: App, tmp_path: Path) -> None:
    for target in ("ans-nothing", "n" * 5000, str(tmp_path / "missing.json")):
        with pytest.raises(NotFound):
            await opened.verify(target)


async def test_an_address_in_a_file_cannot_forge_a_line(opened: App, answer: Answer, tmp_path: Path) -> None:
    file = tmp_path / "out" / "answer.json"
    value = json.loads(file.read_text())
    value["claims"][0]["citations"][0]["url"] = "https://x/\nok    claim 9"
    file.write_text(json.dumps(value))
    checked = await opened.verify(str(file))
    assert not checked.ok or all(line.count("\n") == 0 for line in checked.lines())
