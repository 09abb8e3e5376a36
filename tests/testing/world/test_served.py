"""The world as tests use it: started and ended, set, asked what it saw, and what its log says."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from firsthand.testing.world import ENGINE_NAMES, World, trace
from tests.testing.asking import ask

PAGES = {
    "a.html": '<title>A</title><p>Of lighthouses along the coast, and how they burn in fog and storm for ships that have lost their way, since the first of them was lit on Pharos, an island that is no island any more. <a href="b.html">B</a>',
    "b.html": "<title>B</title><p>Of lighthouses inland, which are rare.",
}


def test_nothing_listens_before_and_after_the_block() -> None:
    world = World(PAGES, hosts=1)
    with world:
        url = world.url("a.html")
        assert ask(url).status == 200
    with pytest.raises(ConnectionRefusedError):
        ask(url)
    with pytest.raises(RuntimeError):
        world.stats()


def test_who_still_waits_when_the_world_ends_is_cut_off() -> None:
    seen: list[str] = []
    with World(PAGES, hosts=1) as world:
        url = world.trouble_url("hang")

        def wait() -> None:
            try:
                ask(url)
            except ConnectionError as error:
                seen.append(type(error).__name__)

        waiting = threading.Thread(target=wait)
        waiting.start()
        world.wait_for("/trouble/hang")
    waiting.join()
    assert len(seen) == 1


def test_pages_and_services_are_on_different_hosts_unless_there_is_only_one() -> None:
    with World(PAGES, hosts=2) as world:
        assert "127.0.0.1:" not in world.url("a.html") and world.origin.startswith("http://127.0.0.1:")
        assert world.pairs.count(str(world.port)) == 3
    with World(PAGES, hosts=0) as world:
        assert world.url("a.html") == f"{world.origin}/site/a.html"
        assert world.pairs == f"127.0.0.1:{world.port}"


def test_requests_are_what_was_asked_in_order() -> None:
    with World(PAGES, hosts=1) as world:
        ask(world.url("a.html") + "?utm=1", user_agent="tester/1")
        ask(f"{world.search_url}/search?q=lighthouses&format=json")
        page, search = world.requests()
        assert (page.kind, page.path, page.query, page.status) == ("page", "/site/a.html", {"utm": "1"}, 200)
        assert page.headers["user-agent"] == "tester/1"
        assert (search.kind, search.engine, search.query["q"]) == ("search", "searxng", "lighthouses")
        assert world.requests("page") == (page,)
        with pytest.raises(TimeoutError):
            world.wait_for("/site/b.html", timeout_s=0.01)


def test_a_reset_begins_a_run_with_settings_of_its_own() -> None:
    with World(PAGES, hosts=1, trouble={"page": "503"}) as world:
        assert ask(world.url("a.html")).status == 503
        answer = ask(f"{world.origin}/reset", {"run": "b", "search_ms": 10, "trouble": {"brave": ["429?times=1"]}})
        assert (answer.status, answer.json()["trouble"]) == (200, {"brave": ["429?times=1"]})
        assert (world.requests(), world.stats()["events"]) == ((), 0)
        assert ask(world.url("a.html")).status == 200
        world.reset(run="c")
        assert world.stats()["settings"]["search_ms"] == 0


@pytest.mark.parametrize(
    "wrong",
    [{"serch_ms": 1}, {"search_ms": "soon"}, {"trouble": {"page": "tea"}}, {"found": {"": [{"title": "x"}]}}, [1]],
)
def test_a_setting_that_is_none_is_refused_and_changes_nothing(wrong: object) -> None:
    with World(PAGES, hosts=1, run="kept") as world:
        answer = ask(f"{world.origin}/reset", json.dumps(wrong).encode(), content_type="application/json")
        assert (answer.status, world.stats()["settings"]["run"]) == (400, "kept")
        if isinstance(wrong, dict):
            with pytest.raises(ValueError):
                world.set(**wrong)


def test_a_wait_depends_on_what_is_asked_and_not_on_when() -> None:
    with World(PAGES, hosts=1, search_ms=20, jitter=0.5) as world:
        waits = []
        for query in ("one", "two", "one"):
            world.reset(search_ms=20, jitter=0.5)
            ask(f"{world.search_url}/search?q={query}&format=json")
            waits.append(world.stats()["search"]["wait_s"])
    assert waits[0] == waits[2] != waits[1] and all(0.01 <= wait <= 0.03 for wait in waits)


def test_the_log_of_a_run_gives_its_critical_path(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    waits: dict[str, Any] = {
        "search_ms": 40,
        "page_ms": 30,
        "first_token_ms": 20,
        "tokens_per_s": 10_000,
        "snippet_words": 4,
    }
    with World(PAGES, hosts=1, log=log, run="whole", **waits) as world:
        results = ask(f"{world.search_url}/search?q=lighthouses&format=json").json()["results"]
        texts = [ask(result["url"]).text for result in results]
        prompt = {"model": "double", "messages": [{"role": "user", "content": "\n".join(texts)}]}
        ask(f"{world.model_url}/chat/completions", prompt)
        stats = world.stats()
    assert stats["model"]["count"] == 1 and stats["page"]["count"] == 2
    model_s = stats["model"]["wait_s"]
    assert stats["serial_s"] == pytest.approx(0.04 + 2 * 0.03 + model_s, abs=0.002)
    assert stats["critical_path_s"] == pytest.approx(0.04 + 0.03 + model_s, abs=0.002)  # the pages could have been one
    (logged,) = trace.runs(log)
    settings_left_out = {name: value for name, value in stats.items() if name != "settings"}
    assert logged == {"run": "whole", **settings_left_out}


def test_the_peak_counts_what_was_open_together_and_not_what_came_after() -> None:
    with World(PAGES, hosts=1, trouble={"/site/b.html": "hold"}) as world:
        for _ in range(3):
            ask(world.url("a.html"))
        assert world.stats()["page"]["peak_concurrency"] == 1
        held = threading.Thread(target=ask, args=(world.url("b.html"),))
        held.start()
        world.wait_for("/site/b.html")
        ask(world.url("a.html"))
        world.release()
        held.join()
        assert world.stats()["page"]["peak_concurrency"] == 2


def test_a_request_that_outlives_its_run_counts_in_no_other(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with World(PAGES, hosts=1, log=log, run="one", trouble={"page": "hold"}) as world:
        held = threading.Thread(target=ask, args=(world.url("a.html"),))
        held.start()
        world.wait_for("/site/a.html")
        world.reset(run="two")  # lets it go on
        held.join()
        assert world.stats()["events"] == 0
    assert [run["run"] for run in trace.runs(log)] == ["one"]


def test_tavilys_raw_content_is_waited_for_like_its_slowest_page() -> None:
    with World(PAGES, hosts=1, search_ms=20, page_ms=30) as world:
        for is_raw in (False, True):
            asked = {"query": "lighthouses", "include_raw_content": is_raw}
            results = ask(world.engine_url("tavily") + "/search", asked, authorization="Bearer k").json()["results"]
            assert ["lighthouses" in str(row["raw_content"]) for row in results] == [is_raw, is_raw]
        assert world.stats()["search"]["wait_s"] == pytest.approx(0.02 + 0.05)


def test_a_page_that_only_another_links_to_waits_for_it() -> None:
    with World(PAGES, hosts=1, page_ms=20) as world:
        first = world.url("a.html")
        ask(first)
        ask(first.replace("a.html", "b.html"))
        assert world.stats()["critical_path_s"] == pytest.approx(0.04)


def test_who_misbehaved_gave_nothing_that_others_could_need() -> None:
    with World(PAGES, hosts=1, search_ms=30, page_ms=20, trouble={"search": "429"}) as world:
        ask(f"{world.search_url}/search?q=lighthouses&format=json")
        ask(world.url("a.html"))
        assert world.stats()["critical_path_s"] == pytest.approx(0.03)


def test_an_engine_that_is_none_is_refused() -> None:
    with World(PAGES) as world:
        assert all(world.engine_url(name).endswith(name) for name in ENGINE_NAMES)
        with pytest.raises(ValueError):
            world.engine_url("altavista")
