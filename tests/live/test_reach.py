"""The ways out of one process, as the settings allow them."""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand.errors import InvalidInput
from firsthand.live.extraction import Extraction
from firsthand.live.reach import Reach
from firsthand.settings import Settings
from firsthand.values import Page
from tests.commands import Reply, page, site


def reach(tmp_path: Path, **settings: object) -> Reach:
    return Reach(Settings(home=tmp_path, host_interval_s=0.0, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("pair", ["127.0.0.1", "127.0.0.1:http", ":80", "a b:80"])
def test_a_private_pair_that_is_none_is_refused_at_once(tmp_path: Path, pair: str) -> None:
    with pytest.raises(InvalidInput):
        reach(tmp_path, allow_private=pair)


def test_which_private_pairs_were_used_is_said_by_the_addresses_asked(tmp_path: Path) -> None:
    allowed = reach(tmp_path, allow_private="127.0.0.1:8080,wiki.internal:80")
    urls = ["http://127.0.0.1:8080/a", "http://wiki.internal/b", "https://wiki.internal/c", "https://example.org/"]
    assert allowed.allowed_private(urls) == ["127.0.0.1:8080", "wiki.internal:80"]
    assert allowed.allowed_private(["https://example.org/", "file:///tmp/x"]) == []


async def test_allowed_origins_close_every_other_one_also_by_redirect(tmp_path: Path) -> None:
    extraction = Extraction(1)
    with site() as one, site("127.0.0.2") as other:
        one.replies["/away"] = Reply(b"", 302, {"location": other.url("/page")})
        one.replies["/page"] = other.replies["/page"] = page("Herons", "Herons nest in the reeds by the lake.")
        made = reach(tmp_path, allow_private=f"{one.pair},{other.pair}")
        try:
            open_acts = made.acts(extraction)
            closed_acts = made.acts(extraction, [one.url("/")])
            assert (await closed_acts.fetch(other.url("/page"))).result["outcome"] == "blocked_by_policy"
            assert (await closed_acts.fetch(one.url("/away"))).result["outcome"] == "blocked_by_policy"
            assert other.asked == []
            assert (await closed_acts.fetch(one.url("/page"))).store is not None
            assert (await open_acts.fetch(one.url("/away"))).store is not None
        finally:
            await made.aclose()
            extraction.close()


async def test_a_crawl_says_what_it_missed(tmp_path: Path) -> None:
    with site() as one:
        one.replies["/"] = page(
            "Start", "The start of a small site about herons.", links=("/a", "/gone", "mailto:x@y.z")
        )
        one.replies["/a"] = page("A", "Herons nest in the reeds by the lake.")
        made = reach(tmp_path, allow_private=one.pair)
        extraction = Extraction(1)
        try:
            found = [each async for each in made.crawl(one.url("/"), max_pages=10, extraction=extraction)]
        finally:
            await made.aclose()
            extraction.close()
    said = [each.url if isinstance(each, Page) else f"{each.outcome} {each.target}" for each in found]
    assert said == [one.url("/"), one.url("/a"), f"not_found {one.url('/gone')}"]
