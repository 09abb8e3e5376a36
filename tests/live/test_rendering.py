"""What a person gets when the browser is on: the text that scripts draw, kept with a note of how it was made."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path

import pytest
import sqlalchemy as sa

from firsthand.app import open_app
from firsthand.db import Database
from firsthand.live.extraction import Extraction
from firsthand.live.health import Check, examine
from firsthand.live.reach import Reach
from firsthand.settings import Settings
from firsthand.web.browser import why_not
from tests.commands import Reply, site

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=f"no page is rendered here: {REASON}")
ARTICLE = "The gauge at the old pier has been read every six hours since 1871, with one gap of eleven days in 1917."
SHELL = f"<!doctype html><html><head><title>Tides</title></head><body><div id=root></div><script>document.getElementById('root').innerHTML = '<h1>Tides</h1><p>{ARTICLE}</p>'</script></body></html>"
# Its text is there, but no reader would see it: the script shows it.
HIDDEN = f"<!doctype html><html><head><title>Tides</title></head><body><div id=app style='display:none'><h1>Tides</h1><p>{ARTICLE * 12}</p></div><script>document.getElementById('app').style.display = 'block'</script></body></html>"


def settings(home: Path, pair: str, *, browser: bool) -> Settings:
    return Settings(home=home, allow_private=pair, host_interval_s=0.0, browser=browser)


@pytest.mark.parametrize("source", [SHELL, HIDDEN], ids=["an empty shell", "text that a script shows"])
async def test_read_gives_the_text_that_scripts_draw_only_if_the_browser_is_on(tmp_path: Path, source: str) -> None:
    with site() as one:
        one.replies["/"] = Reply(source.encode())
        found = {}
        for browser in (False, True):
            async with open_app(settings(tmp_path / str(browser), one.pair, browser=browser)) as app:
                found[browser] = await app.read(one.url("/"))
    assert found[False].outcome == "needs_javascript"
    assert found[True].outcome == "ok"
    text = found[True].text
    assert text is not None and ARTICLE in text.body


async def test_a_rendered_page_is_kept_by_the_digest_of_what_was_rendered_with_how_it_was_made(tmp_path: Path) -> None:
    with site() as one:
        one.replies["/"] = Reply(SHELL.encode(), headers={"etag": '"shell"'})
        async with open_app(settings(tmp_path, one.pair, browser=True)) as app:
            added = await app.add([one.url("/")], "tides", base_url=None, max_pages=1, watch=lambda *_: None)
    assert added.pages == 1 and not added.failed
    with sa.create_engine(f"sqlite:///{tmp_path / 'firsthand.db'}").connect() as connection:
        row = connection.exec_driver_sql("SELECT * FROM capture").mappings().one()
        kept = connection.exec_driver_sql("SELECT * FROM snapshot").mappings().one()
    headers = row["headers"] if isinstance(row["headers"], dict) else json.loads(row["headers"])
    assert headers["firsthand-rendered"].startswith("Chromium ") and "etag" not in headers
    assert kept["media_type"] == "text/html"
    payload = kept["payload"]
    if kept["coding"] == "zlib":
        payload = zlib.decompress(payload)
    assert kept["digest"] == f"sha256:{hashlib.sha256(payload).hexdigest()}"
    assert ARTICLE.encode() in payload and b"<script" not in payload


async def test_the_doctor_says_whether_pages_are_rendered(tmp_path: Path, sqlite_database: Database) -> None:
    async def told(**given: object) -> dict[str, Check]:
        settings = Settings(home=tmp_path, **given)  # type: ignore[arg-type]
        reach, extraction = Reach(settings), Extraction(1)
        found = await examine(settings, sqlite_database, reach, reach.acts(extraction), ())
        await reach.aclose()
        extraction.close()
        return {check.name: check for check in found}

    assert "browser" not in await told()
    assert (await told(browser=True))["browser"].ok
    missing = (await told(browser=True, browser_path="/nowhere/chromium"))["browser"]
    assert not missing.ok and not missing.is_needed and "FIRSTHAND_BROWSER_PATH" in missing.detail
