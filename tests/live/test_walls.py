"""User inputs 15, 16 and 17 through the whole house: only a page is kept; of a wall, its name and what to do."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from evals.walls import read_rows, response_of
from firsthand.app import open_app
from firsthand.settings import Settings
from tests.commands import Reply, site

ROWS = {row["note"].partition(":")[0]: row for row in read_rows() if row["note"].startswith("user inputs")}
EXPECTED = {
    "user inputs 15 (a)": "bot_wall",
    "user inputs 15 (b)": "needs_javascript",
    "user inputs 16": "ok",
    "user inputs 17 (a)": "cookie_wall",
    "user inputs 17 (b)": "ok",
}


async def test_only_what_is_a_page_is_kept_and_a_wall_is_named_and_asked_once(tmp_path: Path) -> None:
    assert set(ROWS) == set(EXPECTED)
    with site() as one:
        paths = {name: f"/{number}" for number, name in enumerate(EXPECTED)}
        for name, path in paths.items():
            reply = response_of(ROWS[name])
            one.replies[path] = Reply(reply.body, reply.status)
        settings = Settings(home=tmp_path, allow_private=one.pair, host_interval_s=0.0)
        async with open_app(settings) as app:
            for name, path in paths.items():
                added = await app.add([one.url(path)], "walls", base_url=None, max_pages=1, watch=lambda *_: None)
                outcome = added.failed[0].outcome if added.failed else "ok"
                assert outcome == EXPECTED[name], (name, added.failed)
                assert outcome == "ok" or "in this run" in added.failed[0].detail or "Install" in added.failed[0].detail
        for path in paths.values():
            assert one.asked.count(path) == 1, path
    with sa.create_engine(f"sqlite:///{tmp_path / 'firsthand.db'}").connect() as connection:
        kept = {row[0] for row in connection.exec_driver_sql("SELECT url FROM capture")}
    assert kept == {one.url(paths[name]) for name, outcome in EXPECTED.items() if outcome == "ok"}
