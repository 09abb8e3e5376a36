"""The benchmark of fetching: it serves what it measures, and turns red when a page is wrong or the goal is missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import fetch


def rows(firsthand_us: float, *, n_wrong: int = 0) -> list[dict[str, Any]]:
    """Three rounds in which every client costs the same each time."""
    cost = {"firsthand": firsthand_us, "aiohttp": 100.0, "aiohttp_closing": 200.0}
    return [
        {
            "round": number,
            "client": client,
            "pages": 10,
            "concurrency": 2,
            "cpu_us": cost[client],
            "requests_a_second": 1e6 / cost[client],
            "n_wrong": n_wrong if client == "firsthand" else 0,
        }
        for number in (1, 2, 3)
        for client in fetch.CLIENTS
    ]


def test_goal_is_met_up_to_the_stated_ratio_and_only_with_right_pages() -> None:
    assert fetch.summary(rows(300.0))["met"]
    assert not fetch.summary(rows(301.0))["met"]
    assert not fetch.summary(rows(150.0, n_wrong=1))["met"]


def test_ratios_are_to_the_client_that_closes_and_to_the_one_that_keeps_connections() -> None:
    figures = fetch.summary(rows(300.0))
    assert (figures["cpu_ratio"], figures["cpu_ratio_to_kept_connections"]) == (1.5, 3.0)


def test_missing_nginx_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fetch, "find_nginx", lambda: None)
    monkeypatch.setattr("sys.argv", ["fetch"])
    assert fetch.main() == 1
    assert "needs nginx" in capsys.readouterr().err


@pytest.mark.skipif(fetch.find_nginx() is None, reason="nginx is not installed")
@pytest.mark.parametrize("client", fetch.CLIENTS)
async def test_every_client_brings_every_page_of_the_server_it_is_measured_on(client: str, tmp_path: Path) -> None:
    nginx = fetch.find_nginx()
    assert nginx is not None
    with fetch.serving(nginx, tmp_path, 12) as (origin, warm_up):
        row = await fetch.run_client(client, origin, warm_up, 12, 4)
        (tmp_path / "site" / "12.html").write_text(fetch.page(4), encoding="utf-8")
        wrong = await fetch.run_client(client, origin, "", 13, 4)
    assert (row["n_wrong"], row["pages"], wrong["n_wrong"]) == (0, 12, 1)
