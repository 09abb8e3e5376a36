"""One search, one fetch: a refusal is a result, and a page is kept together with its proof."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from firsthand.db import Database
from firsthand.durable.operations import fetched_of, searched_of
from firsthand.evidence import recall, store
from firsthand.live.extraction import Extraction
from firsthand.live.reach import Reach
from firsthand.ports import Scope
from firsthand.settings import Settings
from firsthand.values import Query
from tests.commands import Reply, Web, page, web


@pytest.fixture
def world() -> Iterator[Web]:
    with web() as made:
        made.one.replies["/herons"] = page("Herons", "Herons build their nests in the reeds by the lake.")
        made.one.replies["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /no", headers={"content-type": "text/plain"})
        made.hits.append(made.one.url("/herons"))
        yield made


def reach_of(world: Web, folder: Path) -> Reach:
    allowed = world.one.pair
    return Reach(Settings(home=folder, searxng_url=world.searxng.url("/"), allow_private=allowed, host_interval_s=0.0))


async def test_a_page_is_kept_and_indexed_by_the_function_that_the_act_brings(
    sqlite_database: Database, tmp_path: Path, world: Web
) -> None:
    reach, extraction = reach_of(world, tmp_path), Extraction(1)
    try:
        act = await reach.acts(extraction).fetch(world.one.url("/herons"))
        assert act.store is not None and (await sqlite_database.read(store.page_refs, [1])) == {}  # nothing kept yet
        fetched = fetched_of(await sqlite_database.write(act.store))
        assert (fetched.outcome, fetched.title) == ("ok", "Herons") and fetched.text_id is not None
        found = await sqlite_database.read(recall.search_kept, "reeds", Scope((), (fetched.text_id,)), 5, None)
        assert [item.url for item in found.items] == [world.one.url("/herons")]
        again = fetched_of(await sqlite_database.write(act.store))  # a rolled-back commit may run it twice
        assert again == fetched
    finally:
        await reach.aclose()
        extraction.close()


@pytest.mark.parametrize(
    ("path", "outcome"), [("/gone", "not_found"), ("/no/entry", "robots"), ("/picture", "unsupported")]
)
async def test_a_refusal_is_a_result_with_its_outcome(tmp_path: Path, world: Web, path: str, outcome: str) -> None:
    world.one.replies["/picture"] = Reply(b"\x89PNG\r\n\x1a\n", headers={"content-type": "image/png"})
    reach, extraction = reach_of(world, tmp_path), Extraction(1)
    try:
        act = await reach.acts(extraction).fetch(world.one.url(path))
    finally:
        await reach.aclose()
        extraction.close()
    fetched = fetched_of(act.result)
    assert (fetched.outcome, fetched.text_id, act.store, act.state) == (outcome, None, None, "done")
    assert fetched.detail.endswith(".")


async def test_a_search_is_a_result_whether_it_found_or_failed(tmp_path: Path, world: Web) -> None:
    reach, extraction = reach_of(world, tmp_path), Extraction(1)
    try:
        acts = reach.acts(extraction)
        found = searched_of((await acts.search("searxng", Query("herons", 5), "key")).result)
        assert (found.outcome, [hit.url for hit in found.hits]) == ("ok", [world.one.url("/herons")])
        world.searxng.replies["/search"] = Reply(b"no", 429, {"retry-after": "60"})
        refused = searched_of((await acts.search("searxng", Query("herons", 5), "key")).result)
        assert (refused.outcome, refused.retry_after_s) == ("rate_limited", 60)
    finally:
        await reach.aclose()
        extraction.close()
