"""The command line as a person and a program meet it: real processes, real files, a web on loopback."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import (
    COMMAND,
    PATIENCE_S,
    Reply,
    Web,
    as_dicts,
    environment,
    group_members,
    one_object,
    page,
    run,
    start,
    web,
    zipped,
)

PLANS = page("Plans of Nimbus Board", "The Standard plan of Nimbus Board allows 25 members in a workspace.")
SHORES = page(
    "Lake shores",
    "Water lilies grow at the shore of the lake, and herons build their nests in the reeds beside them.",
)
QUESTION = "How many members does the Standard plan of Nimbus Board allow?"
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVIL = "\x1b]0;owned\x07\x1b[31mred\u202egpj.exe"


@pytest.fixture(scope="session")
def kept_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder whose library ``plans`` holds three pages; copied by each test that uses it."""
    folder = tmp_path_factory.mktemp("kept")
    pages = folder / "pages"
    pages.mkdir()
    (pages / "plans.html").write_bytes(PLANS.body)
    (pages / "shores.html").write_bytes(SHORES.body)
    (pages / "notes.txt").write_text("The export of Nimbus Board writes a file with one row for each card.\n")
    ran = run(folder / "home", "add", str(pages), "--library", "plans", "--base-url", "https://nimbus.example/docs")
    assert (ran.returncode, ran.stdout) == (0, "3 kept, 0 unchanged, 0 failed; 3 pages in library plans now\n")
    return folder / "home"


@pytest.fixture
def home(kept_home: Path, tmp_path: Path) -> Path:
    """A home folder of this test's own, with the library ``plans``."""
    return Path(shutil.copytree(kept_home, tmp_path / "home"))


@pytest.fixture(scope="session")
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder whose database is ready and holds nothing; copying it is quicker than making it."""
    home = tmp_path_factory.mktemp("empty") / "home"
    assert run(home, "recall", "anything").returncode == 0
    return home


@pytest.fixture
def empty(empty_home: Path, tmp_path: Path) -> Path:
    """A home folder of this test's own, with nothing in it."""
    return Path(shutil.copytree(empty_home, tmp_path / "home"))


@pytest.fixture
def nimbus() -> Iterator[Web]:
    """A web whose search finds the plans on two sites."""
    with web() as made:
        made.one.replies["/plans"] = PLANS
        made.other.replies["/review"] = page(
            "A review of Nimbus Board", "With the Standard plan, Nimbus Board allows 25 members in each workspace."
        )
        made.hits += [made.one.url("/plans"), made.other.url("/review")]
        yield made


def ask(home: Path, *words: str, **settings: str) -> dict[str, Any]:
    """The answer object of an ``ask`` in the library, which must succeed."""
    ran = run(home, "ask", *(words or (QUESTION,)), "--library", "plans", "--json", **settings)
    assert (ran.returncode, ran.stderr) == (0, "")
    return one_object(ran)


# -- Every command, and what it prints


def test_help_names_every_command_and_needs_no_home(tmp_path: Path) -> None:
    ran = run(tmp_path / "never", "--help")
    assert ran.returncode == 0
    for command in [
        "ask",
        "add",
        "search",
        "read",
        "batch",
        "verify",
        "export",
        "recall",
        "show",
        "doctor",
        "demo",
        "config",
        "serve",
        "mcp",
        "worker",
    ]:
        assert re.search(rf"^  {command}\s", ran.stdout, re.MULTILINE), command
    assert not (tmp_path / "never").exists()


def test_version_is_one_line(empty: Path) -> None:
    assert re.fullmatch(r"firsthand \d+\.\d+\.\d+\S*\n", run(empty, "--version").stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask"], "The question is missing. See 'firsthand ask --help'."),
        (["add", "x"], "--library is missing. See 'firsthand add --help'."),
        (["ask", "q", "--max-age", "x"], "--max-age must be a whole number. See 'firsthand ask --help'."),
        (["ask", "q", "--max-age=-1"], "--max-age must be 0 or more. See 'firsthand ask --help'."),
        (["ask", "q", "--max-sources", "99"], "--max-sources must be 50 or less. See 'firsthand ask --help'."),
        (["search", "q", "--limit"], "--limit needs a value. See 'firsthand --help'."),
        (["ask", "two", "words"], "There is no place for 'words'; put quotes around a question. "),
        (["ask", "q", "--max-sourcs", "1"], "There is no option --max-sourcs; is it --max-sources"),
        (["bogus"], "There is no command 'bogus'"),
        (["--bogus"], "There is no option --bogus"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_exits_2_and_says_why_in_one_sentence_or_one_object(
    empty: Path, words: list[str], said: str
) -> None:
    ran = run(empty, *words)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith(f"firsthand: {said}")
    ran = run(empty, *words[:1], "--json", *words[1:])
    error = one_object(ran)
    assert (ran.returncode, ran.stderr, error["schema"]) == (2, "", "firsthand.error/1")
    assert error["error"]["code"] == "usage" and error["error"]["message"].endswith("--help'.")


def test_no_words_at_all_are_answered_with_the_help(empty: Path) -> None:
    ran = run(empty)
    assert ran.returncode == 2 and "Commands:" in ran.stderr and "Traceback" not in ran.stderr


BREAKS = """
import sys
import firsthand.app
def unexpected(*_, **__):
    raise {error}
{broken} = unexpected
from firsthand.__main__ import main
main()
"""


def broken(home: Path, what: str, error: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in which *what* raises *error*."""
    command = [sys.executable, "-c", BREAKS.format(broken=what, error=error), *words]
    return subprocess.run(
        command, env=environment(home), cwd=home.parent, capture_output=True, encoding="utf-8", timeout=PATIENCE_S
    )


@pytest.mark.parametrize(
    ("what", "error", "name"),
    [
        ("firsthand.app.App.recall", "KeyError('words of a page')", "KeyError"),
        ("firsthand.app.App.recall", "ExceptionGroup('words', [ZeroDivisionError()])", "ZeroDivisionError"),
        ("firsthand.app.open_app", "ModuleNotFoundError('words')", "ModuleNotFoundError"),
        ("firsthand.app.load_settings", "TimeoutError()", "TimeoutError"),
    ],
)
def test_a_fault_of_ours_is_one_sentence_or_one_object_and_exit_1(
    empty: Path, what: str, error: str, name: str
) -> None:
    ran = broken(empty, what, error, "recall", "herons")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1), ran.stderr
    assert ran.stderr.startswith(f"firsthand: something unexpected happened ({name}") and "words" not in ran.stderr
    ran = broken(empty, what, error, "recall", "herons", "--json")
    said = json.loads(ran.stdout)
    assert (ran.returncode, ran.stderr, said["schema"]) == (1, "", "firsthand.error/1")
    assert (said["error"]["code"], said["error"]["exception"]) == ("internal", name)


def test_a_fault_of_ours_names_its_line(empty: Path) -> None:
    ran = broken(empty, "firsthand.app.recall.search_kept", "KeyError()", "recall", "herons")
    assert re.search(r"\(KeyError in firsthand\.\S+:\d+\)", ran.stderr), ran.stderr


def test_an_error_of_ours_in_a_group_is_that_error(empty: Path) -> None:
    group = "ExceptionGroup('', [__import__('firsthand.errors').errors.NotFound('gone', 'It is gone.')])"
    ran = broken(empty, "firsthand.app.App.recall", group, "recall", "herons")
    assert (ran.returncode, ran.stderr) == (1, "firsthand: It is gone.\n")


def test_what_the_system_refuses_is_one_object_with_json(empty: Path) -> None:
    ran = broken(empty, "firsthand.app.App.recall", "PermissionError(13, 'No', '/x')", "recall", "herons", "--json")
    said = json.loads(ran.stdout)["error"]
    assert (ran.returncode, said["code"], said["message"]) == (1, "system_refused", "the system refused: No (/x).")


@pytest.mark.parametrize("command", ["serve", "mcp", "worker"])
def test_a_door_of_a_later_release_says_so(empty: Path, command: str) -> None:
    ran = run(empty, command)
    assert ran.returncode == 1 and "not in this release" in ran.stderr


def test_config_prints_every_setting_as_text_and_as_one_object(empty: Path) -> None:
    printed = one_object(run(empty, "config", "--json", max_sources="3"))
    assert printed["max_sources"] == "3" and printed["home"] == str(empty)
    text = run(empty, "config", max_sources="3").stdout
    assert all(re.search(rf"^{name} = ", text, re.MULTILINE) for name in printed)


def test_an_answer_from_a_library_is_cited_checked_exported_and_found_again(home: Path, tmp_path: Path) -> None:
    answer = ask(home, QUESTION, "--out", str(tmp_path / "out"))
    assert (answer["schema"], answer["status"]) == ("firsthand.answer/1", "answered")
    assert "25 members" in answer["claims"][0]["citations"][0]["quote"]
    assert answer["sources"][0]["url"] == "https://nimbus.example/docs/plans.html"
    assert json.loads((tmp_path / "out" / "answer.json").read_text()) == answer
    for target in (str(answer["id"]), str(tmp_path / "out" / "answer.json")):
        ran = run(home, "verify", target)
        assert ran.returncode == 0 and ran.stdout.endswith("all where they should be\n")
    bundle = tmp_path / "bundle"
    exported = one_object(run(home, "export", answer["id"], "--out", str(bundle), "--json"))
    assert exported == {"bundle": str(bundle), "pages": len(answer["sources"])}
    checked = one_object(run(tmp_path / "elsewhere", "verify", str(bundle), "--json"))
    assert checked["ok"] is True and checked["answer_id"] == answer["id"] and checked["citations"]
    payload = next((bundle / "payloads").iterdir()) if (bundle / "payloads").is_dir() else None
    assert payload is not None
    payload.write_bytes(payload.read_bytes().replace(b"25", b"99"))
    assert run(tmp_path / "elsewhere", "verify", str(bundle)).returncode == 1


def test_recall_finds_kept_pages_and_show_reads_them_in_slices(home: Path) -> None:
    found = one_object(run(home, "recall", "herons reeds", "--library", "plans", "--json"))
    assert set(found) == {"items", "cursor"} and {"handle", "title", "url", "snippet", "score"} <= set(
        found["items"][0]
    )
    shown = one_object(run(home, "show", found["items"][0]["handle"], "--json"))
    assert "herons" in shown["text"] and shown["next_offset"] is None
    assert "herons" in run(home, "show", found["items"][0]["handle"]).stdout
    assert "Lake shores" in run(home, "recall", "herons").stdout
    nothing = run(home, "recall", "xylophone")
    assert (nothing.returncode, nothing.stdout) == (0, "") and nothing.stderr


def test_search_in_a_library_gives_hits_one_a_line(home: Path) -> None:
    found = one_object(run(home, "search", "members", "--library", "plans", "--json"))
    assert found["hits"][0]["provider"] == "library" and found["failures"] == []
    lines = run(home, "search", "members", "--library", "plans").stdout.splitlines()
    assert [line.partition("  ")[0] for line in lines] == [hit["url"] for hit in found["hits"]]
    assert [line.partition("  ")[2] for line in lines] == [hit["title"] for hit in found["hits"]]


def test_read_prints_markdown_or_one_object_a_line_and_fails_only_if_all_fail(empty: Path, tmp_path: Path) -> None:
    (tmp_path / "good.html").write_bytes(PLANS.body)
    ran = run(empty, "read", "good.html", "missing.html", "/dev/zero", str(tmp_path), "--json")
    assert ran.returncode == 0
    good, missing, device, folder = (json.loads(line) for line in ran.stdout.splitlines())
    assert (good["outcome"], good["title"], good["blocks"][0]["kind"]) == ("ok", "Plans of Nimbus Board", "heading")
    assert [row["outcome"] for row in (missing, device, folder)] == ["not_found", "unsupported", "unsupported"]
    text = run(empty, "read", "good.html").stdout
    assert text.startswith("# Plans of Nimbus Board\n") and "25 members" in text
    bad = run(empty, "read", "missing.html")
    assert (bad.returncode, bad.stdout) == (1, "") and "not_found" in bad.stderr


def test_demo_answers_three_questions_and_every_quote_stands(tmp_path: Path) -> None:
    ran = run(tmp_path / "new", "demo", "--out", str(tmp_path / "demo"), workers="0")
    assert ran.returncode == 0, ran.stderr
    found = re.search(r"(\d+) of (\d+) quotes stand where they should", ran.stdout)
    assert found and found[1] == found[2] != "0"
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == ["1", "2", "3"]


def test_doctor_names_the_store_the_disk_the_gate_and_each_provider(home: Path, nimbus: Web) -> None:
    # Every other provider is out of reach here and may say so; only the store and the disk are needed.
    ran = run(home, "doctor", "--json", **nimbus.settings)
    checks = {check["name"]: check for check in one_object(ran)["checks"]}
    assert ran.returncode == 0
    assert checks["store"]["ok"] and "plans (3 pages)" in checks["store"]["detail"]
    assert checks["disk"]["ok"] and nimbus.one.pair in checks["gate"]["detail"]
    assert checks["search searxng"]["ok"]


# -- What is refused, and how


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["ask", "q", "--library", "nope"], 2, "unknown_library"),
        (["ask", "   "], 2, "empty_question"),
        (["ask", "why " * 1250], 2, "question_too_long"),
        (["ask", "q", "--mode", "bogus"], 2, "unknown_mode"),
        (["ask", "q", "--verify", "bogus"], 2, "unknown_verify"),
        (["ask", "q", "--model", "openai:gpt"], 2, "model_unavailable"),
        (["ask", "q", "--search", "bogus"], 2, "unknown_provider"),
        (["ask", "q", "--search", "searxng"], 2, "searxng_unset"),
        (["ask", "q", "--allow-origin", "http://a:99999/"], 2, "invalid_origin"),
        (["verify", "ans-nothing"], 1, "unknown_answer"),
        (["verify", "x" * 5000], 1, "unknown_answer"),
        (["show", "bogus"], 1, "unknown_handle"),
        (["recall", "x", "--cursor", "bogus"], 2, "invalid_cursor"),
        (["add", ".", "--library", " "], 2, "invalid_library"),
        (["add", ".", "--library", "a", "--base-url", "nonsense"], 2, "invalid_base_url"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_the_caller_can_mend_is_one_json_object_or_one_sentence(
    home: Path, words: list[str], code: int, kind: str
) -> None:
    ran = run(home, *words, "--json")
    assert ran.returncode == code, ran.stdout + ran.stderr
    error = one_object(ran)
    assert error["schema"] == "firsthand.error/1" and error["error"]["code"] == kind
    assert error["error"]["message"].endswith((".", "'")) and ran.stderr == ""


def test_an_error_without_json_is_one_sentence_on_stderr(home: Path) -> None:
    ran = run(home, "ask", "q", "--library", EVIL)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("firsthand: There is no library") and "plans" in ran.stderr
    assert ran.stderr.count("\n") == 1 and not STEERING.search(ran.stderr)


def test_an_unknown_setting_is_named_and_the_settings_are_listed_all_the_same(empty: Path) -> None:
    ran = run(empty, "config", bogus="1", max_sources="3", browser="maybe")
    assert ran.returncode == 2 and "\nmax_sources = 3\n" in ran.stdout and "\nbrowser = False\n" in ran.stdout
    assert ran.stderr == (
        "firsthand: There is no setting FIRSTHAND_BOGUS; 'firsthand config' lists them.\n"
        "firsthand: Setting browser must be on or off, not 'maybe'.\n"
    )
    ran = run(empty, "config", "--json", bogus="1", max_sources="3")
    error = one_object(ran)["error"]
    assert (ran.returncode, error["code"], error["settings"]["max_sources"]) == (2, "unknown_setting", "3")
    ran = run(empty, "recall", "herons", bogus="1")
    assert ran.returncode == 2 and "FIRSTHAND_BOGUS" in ran.stderr


@pytest.mark.parametrize("source", ["ftp://x.org/", "GOPHER://x.org", "file:///etc/hostname"])
def test_an_address_of_another_scheme_is_no_missing_file(empty: Path, source: str) -> None:
    ran = run(empty, "read", source)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == f"{source}: blocked_by_policy: The address was not asked: it is not http or https.\n"
    ran = run(empty, "add", source, "--library", "a")
    assert ran.returncode == 1 and "only http and https are fetched" in ran.stderr


@pytest.mark.parametrize("place", ["under a file", "a file", "proc", "garbage"])
def test_a_home_that_cannot_be_used_is_one_clear_sentence_and_exit_1(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "garbage").mkdir()
    (tmp_path / "garbage" / "firsthand.db").write_bytes(b"this is no database, but it is long enough. " * 100)
    homes = {"under a file": tmp_path / "file" / "home", "a file": tmp_path / "file", "proc": Path("/proc/firsthand")}
    ran = run(homes.get(place, tmp_path / place), "ask", "why?", "--json")
    error = one_object(ran)["error"]
    assert ran.returncode == 1 and "Traceback" not in ran.stderr
    assert "FIRSTHAND_HOME" in error["message"] or "database" in error["message"]


# -- Adding


def test_good_and_bad_sources_together_succeed_and_the_bad_ones_are_rows(empty: Path, tmp_path: Path) -> None:
    (tmp_path / "good.html").write_bytes(PLANS.body)
    (tmp_path / f"bad{EVIL}\n.pdf").write_bytes(b"%PDF-1.7 broken")
    (tmp_path / "nothing").mkdir()
    os.mkfifo(tmp_path / "pipe.html")
    sources = ["good.html", f"bad{EVIL}\n.pdf", "nothing", "pipe.html", "missing", "n" * 5000]
    ran = run(empty, "add", *sources, "--library", "mixed", "--json")
    added = one_object(ran)
    assert (ran.returncode, added["library"], added["pages"], added["kept"]) == (0, "mixed", 1, 1)
    outcomes = [row["outcome"] for row in added["failed"]]
    assert sorted(outcomes) == sorted(["empty", "unsupported", "not_found", "not_found", outcomes[-1]])
    again = run(empty, "add", *sources, "--library", "mixed")
    assert again.stdout == "0 kept, 1 unchanged, 5 failed; 1 page in library mixed now\n"
    assert not STEERING.search(again.stderr)
    assert len([line for line in again.stderr.splitlines() if ": " in line and "bad" in line]) == 1


def test_what_a_folder_has_beside_pages_is_told_with_the_command_that_adds_it(empty: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my pages"
    folder.mkdir()
    (folder / "good.html").write_bytes(PLANS.body)
    feed = "<title>Tides</title><item><title>Noon</title><description>The tide turns at noon.</description></item>"
    (folder / "feed.xml").write_text(f'<?xml version="1.0"?><rss version="2.0"><channel>{feed}</channel></rss>')
    (folder / "a.json").write_text('{"tide": "at noon"}')
    (folder / "b.JSON").write_text('{"tide": "at ten"}')
    (folder / "README").write_text("The tide turns at noon.")
    (folder / ".hidden.json").write_text("{}")
    added = run(empty, "add", str(folder), "--library", "tides")
    assert added.stdout == "1 kept, 0 unchanged, 0 failed; 1 page in library tides now\n"
    (said,) = [line for line in added.stderr.splitlines() if "left out" in line]
    sentence, command = said.split(" To add a file of data, name it: ")
    assert sentence == "4 files of other kinds were left out: 2 .json, 1 without an ending, 1 .xml."
    assert run(empty, *shlex.split(command)[1:]).stdout.startswith("1 kept, 0 unchanged, 0 failed; 2 pages")
    as_json = run(empty, "add", str(folder), "--library", "tides", "--json")
    assert list(one_object(as_json)) == ["library", "pages", "kept", "unchanged", "failed"]


def test_a_folder_that_does_not_exist_is_a_row_and_exit_1(empty: Path) -> None:
    ran = run(empty, "add", "missing", "--library", "x", "--json")
    assert ran.returncode == 1
    assert one_object(ran) == {
        "library": "x",
        "pages": 0,
        "kept": 0,
        "unchanged": 0,
        "failed": [{"source": "missing", "outcome": "not_found", "detail": "There is no file or folder of that name."}],
    }


def test_a_site_is_kept_page_by_page_with_what_was_missed(empty: Path, nimbus: Web) -> None:
    here = nimbus.one
    here.replies["/"] = page(
        "Start", "Nimbus Board is a board for cards and plans.", links=("/plans", "/gone", "/no/x")
    )
    here.replies["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /no/\n", headers={"content-type": "text/plain"})
    ran = run(empty, "add", here.url("/"), "--library", "site", "--json", **nimbus.settings)
    added = one_object(ran)
    assert (ran.returncode, added["kept"], added["pages"]) == (0, 2, 2)
    assert {(row["source"], row["outcome"]) for row in added["failed"]} == {
        (here.url("/gone"), "not_found"),
        (here.url("/no/x"), "robots"),
    }
    assert here.count("/no/x") == 0


# -- What is shown, and where


def test_progress_is_plain_lines_on_stderr_and_nothing_with_json(home: Path) -> None:
    ran = run(home, "ask", QUESTION, "--library", "plans")
    assert "weighed" in ran.stderr and "\x1b" not in ran.stderr + ran.stdout and "\r" not in ran.stderr
    assert ran.stdout.startswith(QUESTION)


def in_terminal(home: Path, *words: str, columns: int = 60, **settings: str) -> tuple[str, int]:
    """What a command shows in a terminal, results and progress in one stream; and its exit code."""
    leader, follower = pty.openpty()
    given = {**environment(home, **settings), "TERM": "xterm", "COLUMNS": str(columns)}
    running = subprocess.Popen([*COMMAND, *words], env=given, cwd=home.parent, stdout=follower, stderr=follower)
    os.close(follower)
    shown = b""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and select.select([leader], [], [], PATIENCE_S)[0]:
        try:
            piece = os.read(leader, 65_536)
        except OSError:  # the last writer closed its side
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    return shown.decode(), running.wait(PATIENCE_S)


def test_a_terminal_shows_one_changing_line_and_then_the_answer(home: Path, tmp_path: Path) -> None:
    shown, code = in_terminal(home, "ask", QUESTION, "--library", "plans", columns=60)
    before, _, result = shown.rpartition("\r\x1b[K")
    assert code == 0 and "\n" not in before and "weighed" in before
    assert result.startswith("\x1b[1mHow many members")
    assert (
        "\x1b" not in in_terminal(home, "ask", QUESTION, "--library", "plans", NO_COLOR="1")[0].rpartition("\x1b[K")[2]
    )


def test_a_narrow_terminal_gets_narrow_lines(home: Path) -> None:
    ran = run(home, "ask", QUESTION, "--library", "plans", COLUMNS="30")
    lines = [line for line in ran.stdout.splitlines() if "http" not in line and "firsthand verify" not in line]
    assert ran.returncode == 0 and max(map(len, lines)) <= 30


def test_nothing_that_a_page_says_steers_the_terminal(empty: Path, tmp_path: Path) -> None:
    folder = tmp_path / "evil"
    folder.mkdir()
    quoted = EVIL.replace("\x07", "&#7;").replace("\x1b", "&#27;")
    html = f"<html><head><title>Tide {quoted} {EVIL}</title></head><body><p>The tide table {EVIL} lists 31 ports.</p><p>The tide table of the south lists 31 ports.</p></body></html>"
    (folder / f"tide{EVIL}.html").write_text(html)
    (folder / "second.txt").write_text(f"The tide table of the north lists 40 ports. {EVIL}\n")
    commands = [
        ["add", str(folder), "--library", "tides"],
        ["ask", "How many ports does the tide table list?", "--library", "tides"],
        ["recall", "tide"],
        ["search", "tide", "--library", "tides"],
        ["read", f"evil/tide{EVIL}.html"],
    ]
    for words in commands:
        for extra in ([], ["--json"]):
            ran = run(empty, *words, *extra)
            assert ran.returncode == 0, (words, ran.stderr)
            assert not STEERING.search(ran.stdout) and not STEERING.search(ran.stderr), (words, extra)
    shown, _ = in_terminal(empty, *commands[0])
    assert not STEERING.search(shown.replace("\r\x1b[K", "").replace("\r\n", "\n"))


def test_output_goes_into_a_file_and_into_a_pipe_that_closes(home: Path, tmp_path: Path) -> None:
    with (tmp_path / "out.json").open("wb") as file:
        words = [*COMMAND, "ask", QUESTION, "--library", "plans", "--json"]
        subprocess.run(words, env=environment(home), stdout=file, check=True, timeout=PATIENCE_S)
    assert json.loads((tmp_path / "out.json").read_text())["status"] == "answered"
    pages = " ".join(["home/../good.html"] * 30)
    (tmp_path / "good.html").write_bytes(PLANS.body * 20)
    command = " ".join(f"'{word}'" for word in COMMAND)
    ran = subprocess.run(
        f"set -o pipefail; {command} read {pages} | head -1",
        shell=True,
        executable="/bin/bash",
        cwd=tmp_path,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "# Plans of Nimbus Board\n", "")


def test_a_full_device_is_one_sentence(home: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        words = [*COMMAND, "ask", QUESTION, "--library", "plans"]
        ran = subprocess.run(
            words, env=environment(home), stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False
        )
    assert ran.returncode == 1 and b"No space left on device" in ran.stderr and b"Traceback" not in ran.stderr


# -- Delivery


def test_a_foreign_file_is_left_alone_the_answer_is_kept_and_delivered_once_it_is_gone(
    home: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "answer.md").write_text("my own notes")
    words = ("ask", QUESTION, "--library", "plans", "--out", str(out), "--json")
    refused = run(home, *words)
    assert refused.returncode == 1
    assert one_object(refused)["error"]["code"] == "output_taken"
    assert str(out / "answer.md") in one_object(refused)["error"]["message"]
    assert [path.name for path in out.iterdir()] == ["answer.md"] and (out / "answer.md").read_text() == "my own notes"
    (out / "answer.md").rename(tmp_path / "notes.md")
    answer = one_object(run(home, *words))
    assert json.loads((out / "answer.json").read_text()) == answer
    assert one_object(run(home, *words))["id"] != answer["id"]  # finished: the same words start a new turn
    assert {path.name for path in out.iterdir()} == {"answer.json", "answer.md", "answer.html"}


def test_a_link_a_pipe_or_a_folder_in_the_way_is_never_followed(home: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("firsthand.answer/1 but not yours")
    plants: list[Callable[[Path], None]] = [lambda path: path.symlink_to(precious), os.mkfifo, Path.mkdir]
    for number, plant in enumerate(plants):
        out = tmp_path / f"out{number}"
        out.mkdir()
        plant(out / "answer.html")
        ran = run(home, "ask", QUESTION, "--library", "plans", "--session", f"s{number}", "--out", str(out), "--json")
        assert ran.returncode == 1 and one_object(ran)["error"]["code"] == "output_taken"
    assert precious.read_text() == "firsthand.answer/1 but not yours"


def test_an_output_folder_that_cannot_be_made_is_one_sentence(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = run(home, "ask", QUESTION, "--library", "plans", "--out", str(tmp_path / "file" / "out"))
    assert ran.returncode == 1 and "--out" in ran.stderr and ran.stderr.splitlines()[-1].startswith("firsthand: ")


# -- Batch


def questions(folder: Path, *rows: object) -> Path:
    """A file of questions."""
    file = folder / "questions.jsonl"
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return file


def test_a_batch_answers_what_is_missing_and_repairs_a_torn_line(home: Path, tmp_path: Path) -> None:
    rows = [{"id": f"q{n}", "question": QUESTION if n % 2 else "Where do herons build their nests?"} for n in range(5)]
    file = questions(tmp_path, *rows, "")
    out = tmp_path / "answers" / "out.jsonl"
    words = ("batch", str(file), "--out", str(out), "--library", "plans", "--concurrency", "3")
    ran = run(home, *words)
    assert (ran.returncode, ran.stdout) == (0, "") and "5 answered now, 0 were there already, 0 failed" in ran.stderr
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted(line["id"] for line in lines) == ["q0", "q1", "q2", "q3", "q4"]
    assert all(line["status"] == "answered" and line["answer_id"].startswith("ans-") for line in lines)
    whole = out.read_text().splitlines(keepends=True)
    out.write_text("".join(whole[:3]) + whole[3][:40])
    again = run(home, *words)
    assert "2 answered now, 3 were there already" in again.stderr
    assert out.read_text().splitlines(keepends=True)[:3] == whole[:3]
    assert sorted(json.loads(line)["id"] for line in out.read_text().splitlines()) == ["q0", "q1", "q2", "q3", "q4"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"id": "a", "question": "x"}, "{broken"], "line 2: not JSON"),
        ([{"id": "a", "question": "x"}, {"id": "a", "question": "y"}], "line 2: the id 'a' was there before"),
        ([{"id": 1, "question": "x"}], "line 1: a question needs"),
        ([{"id": "a", "question": " "}], "line 1: There is no question"),
        ([{"id": "a", "question": "why " * 1250}], "line 1: A question may have"),
    ],
)
def test_a_bad_line_is_named_before_anything_is_asked(
    home: Path, tmp_path: Path, rows: list[object], says: str
) -> None:
    ran = run(home, "batch", str(questions(tmp_path, *rows)), "--out", "out.jsonl", "--library", "plans")
    assert ran.returncode == 2 and says in ran.stderr and not (tmp_path / "out.jsonl").exists()


def test_a_batch_leaves_a_foreign_file_alone(home: Path, tmp_path: Path) -> None:
    file = questions(tmp_path, {"id": "a", "question": QUESTION})
    before = file.read_text()
    (tmp_path / "mine.txt").write_text("dear diary\n")
    for out in (tmp_path / "mine.txt", tmp_path, file):
        ran = run(home, "batch", str(file), "--out", str(out), "--library", "plans")
        assert ran.returncode == 2, ran.stderr
    assert (tmp_path / "mine.txt").read_text() == "dear diary\n" and file.read_text() == before


# -- Interrupted


def assert_gone(group: int) -> None:
    """Every process of *group* ends within moments; they notice by themselves, so this looks again until then."""
    until = time.monotonic() + PATIENCE_S
    while group_members(group) and time.monotonic() < until:
        os.sched_yield()
    assert group_members(group) == []


def interrupt(running: subprocess.Popen[str]) -> str:
    """Ctrl-C to the whole group, as a terminal sends it; what it said. It must leave nothing behind."""
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130
    assert_gone(running.pid)
    assert said.count("Interrupted.") == 1 and "Traceback" not in said
    return said


def first_line(running: subprocess.Popen[str], words: str) -> None:
    """Return when *running* has said *words* on stderr."""
    assert running.stderr is not None
    for line in running.stderr:
        if words in line:
            return
    raise AssertionError(f"it never said {words!r}")


def many_pages(folder: Path, n: int) -> Path:
    """A folder of *n* different pages."""
    folder.mkdir()
    for number in range(n):
        (folder / f"{number:03}.html").write_bytes(page(f"Page {number}", f"Number {number} is written here.").body)
    return folder


def test_an_interrupted_add_keeps_what_it_had_and_goes_on(empty: Path, tmp_path: Path) -> None:
    folder = many_pages(tmp_path / "many", 120)
    running = start(empty, "add", str(folder), "--library", "many")
    first_line(running, "/120 ")
    interrupt(running)
    added = one_object(run(empty, "add", str(folder), "--library", "many", "--json"))
    assert added["unchanged"] >= 1 and added["kept"] >= 1
    assert (added["pages"], added["kept"] + added["unchanged"], added["failed"]) == (120, 120, [])


def test_a_killed_add_leaves_no_worker_behind(empty: Path, tmp_path: Path) -> None:
    running = start(empty, "add", str(many_pages(tmp_path / "many", 120)), "--library", "many")
    first_line(running, "/120 ")
    running.kill()
    running.communicate(timeout=PATIENCE_S)
    assert_gone(running.pid)


def test_an_interrupted_ask_goes_on_without_searching_again(empty: Path, nimbus: Web) -> None:
    hold = threading.Event()
    nimbus.other.replies["/review"] = Reply(PLANS.body, headers=PLANS.headers, hold=hold)
    running = start(empty, "ask", QUESTION, **nimbus.settings)
    nimbus.other.wait_for("/review")
    interrupt(running)
    hold.set()
    answer = one_object(run(empty, "ask", QUESTION, "--json", **nimbus.settings))
    assert answer["status"] == "answered" and nimbus.searxng.count("/search") == 1


def test_a_killed_ask_fetches_no_finished_page_again(empty: Path, nimbus: Web) -> None:
    hold = threading.Event()
    nimbus.other.replies["/review"] = Reply(
        page("Review", "Nimbus Board allows 25 members in its Standard plan.").body, headers=PLANS.headers, hold=hold
    )
    running = start(empty, "ask", QUESTION, **nimbus.settings)
    first_line(running, f"read {nimbus.one.url('/plans')}")
    nimbus.other.wait_for("/review")
    running.kill()
    running.communicate(timeout=PATIENCE_S)
    hold.set()
    answer = one_object(run(empty, "ask", QUESTION, "--json", **nimbus.settings))
    assert answer["status"] == "answered" and len(answer["sources"]) >= 1
    counted = nimbus.searxng.count("/search"), nimbus.one.count("/plans"), nimbus.other.count("/review")
    assert counted == (1, 1, 2)


def test_a_page_of_a_moment_ago_stands_in_if_you_say_so_and_read_tells_when_it_changed(
    empty: Path, nimbus: Web
) -> None:
    def asked() -> tuple[int, int]:
        return nimbus.one.count("/plans"), nimbus.other.count("/review")

    first = one_object(run(empty, "ask", QUESTION, "--json", **nimbus.settings))
    young = one_object(run(empty, "ask", QUESTION, "--max-age", "3600", "--json", **nimbus.settings))
    assert (asked(), first["text"]) == ((1, 1), young["text"])
    by_setting = run(empty, "ask", QUESTION, "--json", max_age_s="3600", **nimbus.settings)
    assert (by_setting.returncode, asked()) == (0, (1, 1))
    nimbus.one.replies["/plans"] = page("Plans", "All plans of Nimbus Board ended this spring.")
    url = nimbus.one.url("/plans")
    stale = run(empty, "read", url, "--max-age", "3600", **nimbus.settings)
    assert ("ended" in stale.stdout, stale.stderr, asked()) == (False, "", (1, 1))
    changed = run(empty, "read", url, **nimbus.settings)
    assert "ended" in changed.stdout and changed.stderr.startswith(f"{url}: changed since it was kept on 20")
    assert asked() == (2, 1)
    refused = run(empty, "ask", QUESTION, "--max-age", "-1", **nimbus.settings)
    assert refused.returncode == 2


def test_two_asks_in_one_session_at_once_both_succeed(home: Path) -> None:
    first = start(home, "ask", QUESTION, "--library", "plans", "--json")
    second = start(home, "ask", "Where do herons build their nests?", "--library", "plans", "--json")
    for running in (first, second):
        printed, said = running.communicate(timeout=PATIENCE_S)
        assert (running.returncode, said) == (0, "")
        assert json.loads(printed)["status"] == "answered"


# -- The web


def test_an_answer_from_the_web_cites_fetched_pages_and_lists_what_failed(empty: Path, nimbus: Web) -> None:
    one, other = nimbus.one, nimbus.other
    one.replies["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /private\n", headers={"content-type": "text/plain"})
    one.replies["/zipped"] = zipped(page("Cards", "A card of Nimbus Board can hold 40 files.", "Files are kept."))
    one.replies["/moved"] = Reply(b"", 302, {"location": other.url("/review")})
    one.replies["/copy"] = PLANS
    one.replies["/broken"] = Reply(b"sorry", 503, {"content-type": "text/html", "retry-after": "0"})
    one.replies["/private"] = PLANS
    paths = ["/plans", "/broken", "/private", "/copy", "/moved", "/zipped", "/gone"]
    nimbus.hits[:] = [one.url(path) for path in paths] + [other.url("/omitted")]
    ran = run(
        empty, "ask", QUESTION, "--max-sources", "3", "--json", "--out", str(empty.parent / "out"), **nimbus.settings
    )
    answer = one_object(ran)
    assert (ran.returncode, answer["status"]) == (0, "answered")
    assert nimbus.questions == [QUESTION]
    fetched = {one.url("/plans"), one.url("/copy"), other.url("/review"), one.url("/zipped")}
    assert {source["url"] for source in answer["sources"]} <= fetched
    assert answer["claims"] and "9999" not in answer["text"]
    outcomes = {row["target"]: row["outcome"] for row in as_dicts(answer["failures"])}
    assert outcomes == {one.url("/broken"): "failed", one.url("/private"): "robots"}
    assert one.count("/private") == 0
    assert any(one.url("/copy") in row for row in answer["limitations"])
    assert answer["omitted"] == [one.url("/gone"), other.url("/omitted")]
    assert any(one.pair in row and "FIRSTHAND_ALLOW_PRIVATE" in row for row in answer["limitations"])
    assert run(empty, "verify", answer["id"]).returncode == 0


def test_only_allowed_origins_are_asked_not_even_by_a_redirect(empty: Path, nimbus: Web) -> None:
    nimbus.one.replies["/away"] = Reply(b"", 302, {"location": nimbus.other.url("/review")})
    nimbus.hits[:] = [nimbus.one.url("/away"), nimbus.one.url("/plans"), nimbus.other.url("/review")]
    words = ("ask", QUESTION, "--allow-origin", nimbus.one.url("/"), "--json")
    answer = one_object(run(empty, *words, **nimbus.settings))
    assert answer["status"] == "answered" and nimbus.other.asked == []
    assert {row["target"]: row["outcome"] for row in answer["failures"]} == {
        nimbus.one.url("/away"): "blocked_by_policy"
    }
    assert answer["omitted"] == [nimbus.other.url("/review")]


def test_two_sites_that_agree_corroborate_and_one_alone_does_not(empty: Path, nimbus: Web) -> None:
    agreed = one_object(run(empty, "ask", QUESTION, "--cross-check", "--json", **nimbus.settings))
    assert (agreed["status"], agreed["claims"][0]["corroboration"]) == ("answered", "corroborated")
    assert len({citation["source"] for citation in agreed["claims"][0]["citations"]}) >= 2
    nimbus.hits.pop()
    alone = one_object(run(empty, "ask", QUESTION, "--cross-check", "--session", "second", "--json", **nimbus.settings))
    assert (alone["status"], alone["claims"][0]["corroboration"]) == ("insufficient_evidence", "single")
    assert alone["limitations"]


def test_two_sites_that_disagree_are_a_conflict(empty: Path, nimbus: Web) -> None:
    nimbus.other.replies["/review"] = page(
        "A review of Nimbus Board", "The Standard plan of Nimbus Board allows 40 members in a workspace."
    )
    answer = one_object(run(empty, "ask", QUESTION, "--cross-check", "--json", **nimbus.settings))
    assert answer["status"] == "conflicting_evidence" and answer["conflicts"]


def test_two_facts_of_one_page_are_no_conflict(empty: Path, nimbus: Web) -> None:
    nimbus.one.replies["/plans"] = page(
        "Plans of Nimbus Board",
        "The Standard plan of Nimbus Board allows 25 members in a workspace.",
        "The Enterprise plan of Nimbus Board allows 200 members in a workspace.",
    )
    assert one_object(run(empty, "ask", QUESTION, "--json", **nimbus.settings))["status"] == "answered"


@pytest.mark.parametrize("dead", ["search", "pages"])
def test_an_outage_fails_the_answer_names_the_cause_and_a_later_run_succeeds(
    empty: Path, nimbus: Web, dead: str
) -> None:
    broken = Reply(b"sorry", 503, {"content-type": "text/html"})
    searching, pages = nimbus.searxng.replies["/search"], dict(nimbus.one.replies)
    if dead == "search":
        nimbus.searxng.replies["/search"] = broken
    else:
        nimbus.hits[:] = [nimbus.one.url("/plans")]
        nimbus.one.replies["/plans"] = Reply(b"no", 403, {"content-type": "text/html"})
    ran = run(empty, "ask", QUESTION, "--json", **nimbus.settings)
    failed = one_object(ran)
    assert (ran.returncode, failed["status"], failed["claims"]) == (1, "failed", [])
    assert [row["stage"] for row in failed["failures"]] == ["search" if dead == "search" else "fetch"]
    nimbus.searxng.replies["/search"] = searching
    nimbus.one.replies.update(pages)
    assert one_object(run(empty, "ask", QUESTION, "--json", **nimbus.settings))["status"] == "answered"


def test_a_page_that_asks_for_patience_once_is_asked_again(empty: Path, nimbus: Web) -> None:
    busy = [Reply(b"busy", 429, {"content-type": "text/html", "retry-after": "0"})]
    nimbus.one.replies["/plans"] = lambda query: busy.pop() if busy else PLANS
    nimbus.hits.pop()
    answer = one_object(run(empty, "ask", QUESTION, "--json", **nimbus.settings))
    assert (answer["status"], answer["failures"], nimbus.one.count("/plans")) == ("answered", [], 2)


def test_nothing_found_is_no_failure_and_a_vague_question_asks_nobody(empty: Path, nimbus: Web) -> None:
    vague = one_object(run(empty, "ask", "What about that?", "--json", **nimbus.settings))
    assert vague["status"] == "needs_clarification" and nimbus.searxng.asked == []
    nimbus.hits.clear()
    ran = run(empty, "ask", QUESTION, "--json", **nimbus.settings)
    answer = one_object(ran)
    assert (ran.returncode, answer["status"], answer["claims"], answer["failures"]) == (
        0,
        "insufficient_evidence",
        [],
        [],
    )
