"""The world as a command."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.testing.asking import PATIENCE_S, ask

SOURCE = Path(__file__).parents[3] / "src"
COMMAND = [sys.executable, "-m", "firsthand.testing.world"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
ASKS = "import os,sys,urllib.request as r; sys.exit(len(r.urlopen(os.environ['WORLD']+'/site/a.html').read()))"


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.html").write_text("<p>12345")
    return folder


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_stop_and_then_its_log_is_whole(pages: Path, tmp_path: Path, stop: int) -> None:
    log = tmp_path / "log.jsonl"
    command = [*COMMAND, "--pages", str(pages), "--log", str(log), "--run", "first", "--page-ms", "5"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as world:
        assert world.stdout is not None
        port = world.stdout.readline().split()[1]
        answer = ask(f"http://127.0.0.2:{port}/site/a.html")
        world.send_signal(stop)
        assert world.wait(PATIENCE_S) == 0
    (row,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert (answer.status, row["run"], row["kind"], row["wait_s"]) == (200, "first", "page", 0.005)


def test_its_log_has_a_request_as_soon_as_it_ended(pages: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    os.mkfifo(log)
    command = [*COMMAND, "--pages", str(pages), "--log", str(log)]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as world:
        try:
            with log.open(encoding="utf-8") as lines:
                assert world.stdout is not None
                port = world.stdout.readline().split()[1]
                for name in ("a.html", "b.html"):
                    status = ask(f"http://127.0.0.2:{port}/site/{name}").status
                    assert select.select([lines], [], [], PATIENCE_S)[0], "nothing was logged while the world went on"
                    row = json.loads(lines.readline())
                    assert (row["kind"], row["path"], row["status"]) == ("page", name, status)
        finally:
            world.terminate()


def test_it_says_how_to_use_it_and_which_pages_no_search_finds(pages: Path) -> None:
    (pages / "long.html").write_text("<title>Tides</title><p>" + "The tide turns at noon. " * 20)
    (pages / "huge.html").write_text("<p>" + "The tide turns at noon. " * 20_000)
    with subprocess.Popen(
        [*COMMAND, "--pages", str(pages)], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    ) as world:
        assert world.stdout is not None
        said = [world.stdout.readline().rstrip() for _ in range(5)]
        exports = [world.stdout.readline() for _ in range(5)]
        shown = subprocess.run(
            ["sh", "-c", "".join(exports) + 'echo "$FIRSTHAND_SEARXNG_URL $FIRSTHAND_ALLOW_PRIVATE"'],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        search_url, pairs = shown.stdout.split()
        found = ask(f"{search_url}/search?q=tide&format=json").json()["results"]
        world.terminate()
    port = said[0].removeprefix("port ")
    assert said[1:4] == [
        "pages 1",
        f"http://127.0.0.1:{port}/",
        "Served too, but found by no search: 1 with at most 200 characters of text and 1 with more than 300,000 bytes.",
    ]
    assert [row["title"] for row in found] == ["Tides"]
    assert found[0]["url"].split("/")[2] in pairs.split(",")


def test_a_command_finds_the_world_and_gives_its_exit_code(pages: Path) -> None:
    assert run("--pages", pages, "--", sys.executable, "-c", ASKS).returncode == len("<p>12345")


def test_a_trouble_is_named_where_it_shall_be(pages: Path) -> None:
    ran = run("--pages", pages, "--trouble", "page=404", "--", sys.executable, "-c", ASKS)
    assert "HTTP Error 404" in ran.stderr


def test_a_log_is_summed_up(pages: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    run("--pages", pages, "--log", log, "--run", "x", "--", sys.executable, "-c", ASKS)
    (summary,) = [json.loads(line) for line in run("--trace", log).stdout.splitlines()]
    assert (summary["run"], summary["page"]["count"]) == ("x", 1)


@pytest.mark.parametrize(
    "words", [["--pages", "nowhere"], ["--trouble", "page"], ["--trouble", "page=tea"], ["--", "no-such-command"]]
)
def test_options_that_describe_no_world_are_refused_in_one_sentence(words: list[str]) -> None:
    ran = run(*words)
    assert ran.returncode == 2 and ran.stderr and "Traceback" not in ran.stderr


def test_the_troubles_are_printed() -> None:
    assert "bot-wall" in run("--troubles").stdout


def test_nothing_but_the_standard_library_is_imported() -> None:
    code = "import sys, firsthand.testing.world as w, firsthand.testing.world.__main__; print(*sorted(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    roots = {name.partition(".")[0] for name in ran.stdout.split()}
    assert roots - set(sys.stdlib_module_names) <= {"firsthand", "__main__"}
    ours = {name for name in ran.stdout.split() if name.startswith("firsthand.")}
    assert {name for name in ours if not name.startswith("firsthand.testing")} == set()


def test_the_product_starts_without_the_world() -> None:
    code = "import sys, firsthand.cli; print(*[name for name in sys.modules if name.startswith('firsthand.testing')])"
    ran = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
