"""Search engines that fail honestly, are paid once, and are told where to look: the real command line, services on
this machine. Inputs 10 to 14 of the users' complaints are named as such.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.commands import PATIENCE_S, Ran, Reply, Web, as_dicts, environment, one_object, page, run, start, web

QUESTION = "How long does a heron stay on its nest?"
HERONS = "A heron stays on its nest for 27 days before the young come out. Herons build their nests in high trees."
KEY = "canary-5e1f0a9c77d2"
BRAVE = "/res/v1/web/search"
JSON = {"content-type": "application/json"}


class Services(Web):
    """The web of the commands with more services at the same address, and what each was asked."""

    asked: list[tuple[str, str]]

    @property
    def paid(self) -> dict[str, str]:
        """The settings with which a command pays Brave, here."""
        return {**self.settings, "brave_url": self.searxng.url(""), "brave_api_key": KEY}

    def said_to(self, name: str) -> list[str]:
        """The queries that one service got."""
        return [text for to, text in self.asked if to == name]

    def put(self, path: str, name: str, reply: Reply) -> None:
        """*path* answers with *reply*; its queries are remembered under *name*."""

        def answer(said: str) -> Reply:
            self.asked.append((name, parse_qs(said).get("q", parse_qs(said).get("srsearch", [""]))[0]))
            return reply

        self.searxng.replies[path] = answer


@pytest.fixture
def services() -> Iterator[Services]:
    with web() as made:
        here = Services(made.searxng, made.one, made.other)
        here.asked = []
        here.one.replies["/herons"] = page("Herons", HERONS)
        here.hits.append(here.one.url("/herons"))
        rows = [{"url": here.hits[0], "title": "Herons", "content": "About herons."}]
        here.put("/search", "searxng", Reply(json.dumps({"results": rows}).encode(), headers=JSON))
        found = {"web": {"results": [{"url": here.hits[0], "title": "Herons", "description": "About herons."}]}}
        here.put(BRAVE, "brave", Reply(json.dumps({"type": "search", "query": {}, **found}).encode(), headers=JSON))
        here.put("/html/", "duckduckgo-html", Reply(b"<html><body>One moment.</body></html>", 202))
        yield here


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def failures(ran: Ran) -> list[tuple[str, str, str]]:
    return [(row["target"], row["outcome"], row["detail"]) for row in as_dicts(one_object(ran)["failures"])]


def ask(home: Path, search: str, settings: dict[str, str], question: str = QUESTION) -> Ran:
    return run(home, "ask", question, "--search", search, "--json", **settings)


# -- Failing honestly


def test_input_10_an_engine_that_answers_202_is_rate_limited_and_the_next_one_is_asked(
    home: Path, services: Services
) -> None:
    ran = ask(home, "duckduckgo-html/searxng", services.settings)
    answer = one_object(ran)
    assert answer["status"] == "answered" and "27 days" in answer["text"]
    assert [row[:2] for row in failures(ran)] == [("duckduckgo-html", "rate_limited")]
    assert [name for name, _ in services.asked] == ["duckduckgo-html", "searxng"]


def test_input_10_in_the_same_process_it_is_left_alone_and_the_answer_says_for_how_long(
    home: Path, services: Services, tmp_path: Path
) -> None:
    rows = [{"id": str(n), "question": f"{QUESTION} ({n})"} for n in range(3)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ("batch", str(tmp_path / "q.jsonl"), "--out", str(tmp_path / "a.jsonl"), "--concurrency", "1")
    ran = run(home, *words, "--search", "duckduckgo-html/searxng", **services.settings)
    assert ran.returncode == 0, ran.stderr
    answers = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(services.said_to("duckduckgo-html")) == 1  # of three
    assert all(answer["status"] == "answered" for answer in answers)
    details = sorted(row["detail"] for answer in answers for row in answer["failures"])
    assert sum("left alone for another" in detail and "slow down" in detail for detail in details) == 2
    assert all(answer["usage"]["searches"] == (1 if "left alone" in str(answer) else 2) for answer in answers)


def test_input_11_searxng_without_json_is_refused_with_the_hint_how_to_mend_it(home: Path, services: Services) -> None:
    services.put("/search", "searxng", Reply(b"<html>Forbidden</html>", 403, {"content-type": "text/html"}))
    ran = ask(home, "searxng", services.settings)
    assert (ran.returncode, one_object(ran)["status"]) == (1, "failed")
    ((target, outcome, detail),) = failures(ran)
    assert (target, outcome) == ("searxng", "refused")
    assert "'json' to search.formats in the instance's settings.yml" in detail


def test_input_12_no_results_from_engines_that_did_not_answer_is_failed_and_names_them(
    home: Path, services: Services
) -> None:
    silent = [["google", "timeout"], ["bing", "access denied"], ["qwant", "captcha"], ["mojeek", "parsing error"]]
    body = json.dumps({"results": [], "unresponsive_engines": silent}).encode()
    services.put("/search", "searxng", Reply(body, headers=JSON))
    ran = ask(home, "searxng", services.settings)
    ((target, outcome, detail),) = failures(ran)
    assert (one_object(ran)["status"], target, outcome) == ("failed", "searxng", "failed")
    assert all(name in detail for name in ("google", "bing", "qwant", "mojeek"))


@pytest.mark.parametrize("path", ["/search", BRAVE])
def test_input_13_a_message_instead_of_results_is_a_refusal_and_the_run_goes_on(
    path: str, home: Path, services: Services
) -> None:
    first, second = ("searxng", "brave") if path == "/search" else ("brave", "searxng")
    services.put(path, first, Reply(b'{"message": "quota"}', headers=JSON))
    ran = ask(home, f"{first}/{second}", services.paid)
    assert one_object(ran)["status"] == "answered"
    assert [row[:2] for row in failures(ran)] == [(first, "rate_limited")]


def test_input_14_a_long_question_is_shortened_for_the_engine_and_kept_whole_in_the_run(
    home: Path, services: Services
) -> None:
    filler = "and there is, as everybody who has been there in spring will know, much that could be said about that "
    question = f"How long does a Grey Heron of Lake Constance stay on its nest {filler * 40}"[:2490] + " in Lindau?"
    ran = ask(home, "brave", services.paid, question)
    (asked,) = services.said_to("brave")
    assert len(question) > 2_400 and len(asked) <= 400 and len(asked.split()) <= 50
    assert set(asked.split()) <= set(question.replace("?", "").replace(",", "").split())  # cut at word borders
    assert all(name in asked for name in ("Grey", "Heron", "Lake", "Constance", "Lindau"))
    assert one_object(ran)["question"] == question


@pytest.mark.parametrize(("retry_after", "n_asked", "status"), [("0", 2, "answered"), ("120", 1, "failed")])
def test_come_back_at_once_is_done_once(
    retry_after: str, n_asked: int, status: str, home: Path, services: Services
) -> None:
    busy = Reply(b"busy", 429, {"retry-after": retry_after})
    well = services.searxng.replies["/search"]
    replies = [busy, well]
    n: list[str] = []

    def in_turn(said: str) -> Reply:
        n.append(said)
        now = replies.pop(0) if len(replies) > 1 else replies[0]
        return now(said) if callable(now) else now

    services.searxng.replies["/search"] = in_turn
    assert one_object(ask(home, "searxng", services.settings))["status"] == status
    assert len(n) == n_asked


def test_when_every_engine_refuses_the_answer_says_so_and_is_failed(home: Path, services: Services) -> None:
    services.put("/search", "searxng", Reply(b"no", 503))
    services.put(BRAVE, "brave", Reply(b"{}", 401))
    ran = ask(home, "duckduckgo-html,searxng,brave", services.paid)
    answer = one_object(ran)
    assert (ran.returncode, answer["status"], answer["claims"]) == (1, "failed", [])
    outcomes = [row[:2] for row in failures(ran)]
    assert outcomes == [("duckduckgo-html", "rate_limited"), ("searxng", "failed"), ("brave", "refused")]
    assert answer["usage"]["cost_microusd"] == 0


def test_several_engines_are_all_asked_and_their_hits_are_fused(home: Path, services: Services) -> None:
    second = services.one.url("/storks")
    services.one.replies["/storks"] = page("Storks", "A stork stays on its nest for 33 days.")
    rows = [{"url": second, "title": "Storks"}, {"url": f"{services.hits[0]}?utm_source=brave#top", "title": "Herons"}]
    body = json.dumps({"type": "search", "query": {}, "web": {"results": rows}}).encode()
    services.put(BRAVE, "brave", Reply(body, headers=JSON))
    ran = run(home, "search", QUESTION, "--search", "brave,searxng", "--json", **services.paid)
    hits = as_dicts(one_object(ran)["hits"])
    assert [hit["url"] for hit in hits] == [services.hits[0], second]  # what both found comes first, once
    assert sorted(name for name, _ in services.asked) == ["brave", "searxng"]


def test_an_engine_that_never_answers_ends_at_its_time_limit_and_the_others_are_used(
    home: Path, services: Services
) -> None:
    held = threading.Event()
    services.searxng.replies["/w/api.php"] = Reply(b"{}", hold=held)
    try:
        ran = ask(home, "mediawiki,searxng", {**services.settings, "search_timeout_s": "3"})
    finally:
        held.set()
    assert one_object(ran)["status"] == "answered"
    assert failures(ran) == [("mediawiki", "timeout", "no answer within 3 seconds.")]


# -- Paid once


def killed_at(point: str, home: Path, services: Services) -> None:
    command = start(home, "ask", QUESTION, "--search", "brave", fault=point, **services.paid)
    _, said = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == -9, said


def in_doubt(ran: Ran) -> dict[str, Any]:
    error = one_object(ran)["error"]
    assert (ran.returncode, error["code"]) == (1, "in_doubt"), error
    return dict(error)


def test_what_a_paid_search_cost_stands_in_the_answer(home: Path, services: Services) -> None:
    answer = one_object(ask(home, "brave", services.paid))
    assert (answer["status"], answer["usage"]["cost_microusd"], answer["usage"]["searches"]) == ("answered", 5_000, 1)
    assert answer["engine"]["search"] == ["brave"]
    assert one_object(ask(home, "searxng", services.paid))["usage"]["cost_microusd"] == 0


@pytest.mark.parametrize("point", ["op.before_begin:1", "op.in_begin:1"])
def test_killed_before_it_was_recorded_a_paid_search_is_made_once(point: str, home: Path, services: Services) -> None:
    killed_at(point, home, services)
    assert services.said_to("brave") == []
    answer = one_object(ask(home, "brave", services.paid))
    assert (answer["status"], answer["usage"]["cost_microusd"]) == ("answered", 5_000)
    assert services.said_to("brave") == [QUESTION]


@pytest.mark.parametrize(
    ("point", "n_sent"), [("op.after_begin:1", 0), ("op.after_act:1", 1), ("op.in_settle:1", 1), ("op.settled:1", 1)]
)
def test_killed_between_record_and_settlement_a_paid_search_is_in_doubt_listed_and_not_repeated(
    point: str, n_sent: int, home: Path, services: Services
) -> None:
    killed_at(point, home, services)
    doctor = one_object(run(home, "doctor", "--json", **services.settings))  # names it at once, whoever asks what
    assert ["brave at " in row["detail"] for row in as_dicts(doctor["checks"]) if row["name"] == "ledger"] == [True]
    for _ in range(2):
        error = in_doubt(ask(home, "brave", services.paid))
        ((listed),) = error["operations"]
        assert (listed["kind"], listed["arguments"]["provider"]) == ("search", "brave")
        assert "FIRSTHAND_IN_DOUBT=repeat" in error["message"]
    assert len(services.said_to("brave")) == n_sent
    answer = one_object(ask(home, "brave", {**services.paid, "in_doubt": "repeat"}))
    assert (answer["status"], answer["usage"]["cost_microusd"]) == ("answered", 5_000)
    assert len(services.said_to("brave")) == n_sent + 1


def test_a_doubt_that_is_skipped_leaves_the_other_engines_and_is_said(home: Path, services: Services) -> None:
    command = start(home, "ask", QUESTION, "--search", "brave/searxng", fault="op.after_act:1", **services.paid)
    command.communicate(timeout=PATIENCE_S)
    ran = ask(home, "brave/searxng", {**services.paid, "in_doubt": "skip"})
    assert one_object(ran)["status"] == "answered"
    assert [row[:2] for row in failures(ran)] == [("brave", "failed")]
    assert (len(services.said_to("brave")), len(services.said_to("searxng"))) == (1, 1)


@pytest.mark.parametrize("point", ["op.after_settle:1", "op.after_settle:2", "say.after:5", "turn.in_finish:1"])
def test_killed_after_it_was_settled_a_paid_search_is_not_made_again(
    point: str, home: Path, services: Services
) -> None:
    killed_at(point, home, services)
    answer = one_object(ask(home, "brave", services.paid))
    assert (answer["status"], answer["usage"]["cost_microusd"]) == ("answered", 5_000)
    assert services.said_to("brave") == [QUESTION]


def test_a_batch_with_a_doubt_answers_the_other_questions_and_stops_for_the_decision_at_its_end(
    home: Path, services: Services, tmp_path: Path
) -> None:
    rows = [{"id": str(n), "question": f"{QUESTION} ({n})"} for n in range(3)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = tmp_path / "a.jsonl"
    words = ("batch", str(tmp_path / "q.jsonl"), "--out", str(out), "--search", "brave", "--concurrency", "2")
    command = start(home, *words, fault="op.after_act:1", **services.paid)
    command.communicate(timeout=PATIENCE_S)
    n_doubts = len(services.said_to("brave"))  # one or two: two questions are asked at a time
    ran = run(home, *words, **services.paid)
    assert ran.returncode == 1 and "FIRSTHAND_IN_DOUBT=repeat" in ran.stderr
    n_answered = len(out.read_text(encoding="utf-8").splitlines())
    assert n_answered in (1, 2) and (" and 1 more" in ran.stderr) is (n_answered == 1)
    ran = run(home, *words, **{**services.paid, "in_doubt": "repeat"})
    assert ran.returncode == 0 and len(out.read_text(encoding="utf-8").splitlines()) == 3
    asked = services.said_to("brave")
    assert {f"{QUESTION} ({n})" for n in range(3)} == set(asked) and len(asked) <= 3 + n_doubts


def test_a_paid_search_that_broke_is_listed_by_the_doctor_and_not_made_again(home: Path, services: Services) -> None:
    services.put(BRAVE, "brave", Reply(b"oops", 500))
    ran = ask(home, "brave/searxng", services.paid)
    ((_, outcome, detail),) = failures(ran)
    assert (one_object(ran)["status"], outcome) == ("answered", "failed")
    assert detail.endswith("It may have been charged.")
    assert len(services.said_to("brave")) == 1


BREAKS = """
import sys
from firsthand.web.search.brave import Brave
def hits(self, query, response):
    import a_module_that_is_not_there
Brave.hits = hits
from firsthand.__main__ import main
main()
"""


def broken(home: Path, *words: str, **settings: str) -> Ran:
    """A command whose reader of Brave's answers is broken."""
    command = [sys.executable, "-c", BREAKS, *words]
    env = environment(home, **settings)
    ran = subprocess.run(
        command, env=env, cwd=home.parent, capture_output=True, encoding="utf-8", timeout=PATIENCE_S, check=False
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def test_an_answer_that_we_cannot_read_is_a_failure_of_its_engine_and_is_settled(
    home: Path, services: Services
) -> None:
    ran = broken(home, "ask", QUESTION, "--search", "brave/searxng", "--json", **services.paid)
    answer = one_object(ran)
    assert (ran.returncode, answer["status"], answer["usage"]["cost_microusd"]) == (0, "answered", 5_000)
    ((target, outcome, detail),) = failures(ran)
    assert (target, outcome) == ("brave", "failed") and "ModuleNotFoundError in " in detail
    doctor = one_object(run(home, "doctor", "--json", **services.settings))
    assert [row["ok"] for row in as_dicts(doctor["checks"]) if row["name"] == "ledger"] in ([], [True])
    assert one_object(ask(home, "brave", services.paid))["status"] == "answered"  # no doubt stands in its way
    ran = broken(home, "search", "herons", "--search", "brave", "--json", **services.paid)
    assert ran.returncode == 1 and "ModuleNotFoundError" in one_object(ran)["failures"][0]["detail"]
    ran = broken(home, "search", "herons", "--search", "brave", **services.paid)
    assert ran.stderr.count("\n") == 1 and ran.stderr.startswith("brave: failed: answered, but")


# -- Told where to look


@pytest.mark.parametrize(
    ("hint", "asked"),
    [
        ("@github", {"q": [f"{QUESTION} site:github.com"]}),
        ("@Reddit", {"q": [f"{QUESTION} site:reddit.com"]}),
        ("@x", {"q": [f"{QUESTION} site:x.com"]}),
        ("@news", {"q": [QUESTION], "categories": ["news"]}),
        ("@academic", {"q": [QUESTION], "categories": ["science"]}),
        ("@web", {"q": [QUESTION]}),
        ("@nobody", {"q": [f"{QUESTION} @nobody"]}),
    ],
)
def test_a_hint_is_left_out_of_the_question_and_said_in_the_engines_own_way(
    hint: str, asked: dict[str, list[str]], home: Path, services: Services
) -> None:
    got: list[dict[str, list[str]]] = []
    well = services.searxng.replies["/search"]

    def search(said: str) -> Reply:
        got.append(parse_qs(said))
        assert callable(well)
        return well(said)

    services.searxng.replies["/search"] = search
    answer = one_object(ask(home, "searxng", services.settings, f"{QUESTION} {hint}"))
    assert [{name: each[name] for name in ("q", "categories") if name in each} for each in got] == [asked]
    assert answer["question"] == f"{QUESTION} {hint}"
    assert (answer["status"] == "answered") is (hint != "@nobody")  # which is a name, and on no page


@pytest.mark.parametrize(
    ("engine", "hint", "asked"),
    [
        ("brave", "@github", {"q": f"{QUESTION} site:github.com"}),
        ("brave", "@news", {"q": QUESTION, "freshness": "pm"}),
        ("mediawiki", "@github", {"srsearch": f"{QUESTION} github"}),
        ("mediawiki", "@news", {"srsearch": f"{QUESTION} news"}),
        ("tavily", "@news", {"query": QUESTION, "topic": "news"}),
        ("exa", "@reddit", {"query": QUESTION, "includeDomains": ["reddit.com"]}),
        ("linkup", "@x", {"q": QUESTION, "includeDomains": ["x.com"]}),
    ],
)
def test_an_engine_is_told_what_it_can_be_told(
    engine: str, hint: str, asked: dict[str, object], home: Path, services: Services
) -> None:
    got: list[dict[str, object]] = []

    def remember(said: str) -> Reply:
        value = json.loads(said) if said.startswith("{") else {k: v[0] for k, v in parse_qs(said).items()}
        got.append({name: value[name] for name in asked})
        return Reply(b"busy", 503)

    for path in (BRAVE, "/w/api.php", "/search", "/v1/search"):
        services.searxng.replies[path] = remember
    keys = {f"{name}_api_key": KEY for name in ("brave", "tavily", "exa", "linkup")}
    urls = {f"{name}_url": services.searxng.url("") for name in ("brave", "tavily", "exa", "linkup")}
    ask(home, engine, {**services.settings, **keys, **urls}, f"{hint} {QUESTION}")
    assert got == [asked]


def test_two_hints_are_two_queries(home: Path, services: Services) -> None:
    ask(home, "searxng", services.settings, f"@github @reddit {QUESTION}")
    assert services.said_to("searxng") == [f"{QUESTION} site:github.com", f"{QUESTION} site:reddit.com"]


# -- Keys stay where they are


def test_no_key_is_in_the_store_the_output_or_the_settings_that_are_shown(home: Path, services: Services) -> None:
    keys = {f"{name}_api_key": f"{KEY}-{name}" for name in ("brave", "exa", "tavily", "linkup", "parallel")}
    urls = {f"{name}_url": services.searxng.url("") for name in ("brave", "exa", "tavily", "linkup", "parallel")}
    settings = {**services.settings, **keys, **urls}
    echo = json.dumps({"error": {"code": f"{KEY}-brave", "detail": f"bad key {KEY}-brave"}}).encode()
    services.put("/v1/search", "linkup", Reply(echo, 401, JSON))
    ran = [
        ask(home, "brave", settings),
        ask(home, "exa,tavily,linkup,parallel/searxng", settings),
        run(home, "search", QUESTION, "--search", "brave,linkup", **settings),
        run(home, "config", **settings),
        run(home, "config", "--json", **settings),
        run(home, "ask", QUESTION, "--search", "exa", **{**settings, "exa_api_key": f"{KEY} \x01"}),
    ]
    services.put(BRAVE, "brave", Reply(echo, 500, JSON))
    ran.append(run(home, "search", "again", "--search", "brave", "--json", **settings))
    shown = "".join(each.stdout + each.stderr for each in ran)
    assert KEY not in shown
    assert "brave_api_key = ********" in shown
    kept = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    assert kept and [file for file, body in kept.items() if KEY.encode() in body] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("searxng_url", "http://169.254.169.254/"),
        ("brave_url", "ftp://a.example/"),
        ("exa_url", "http://u:p@a.example/"),
    ],
)
def test_an_address_that_may_never_be_asked_is_refused_at_the_start(
    name: str, value: str, home: Path, services: Services
) -> None:
    keys = {"brave_api_key": KEY, "exa_api_key": KEY}
    ran = run(home, "ask", QUESTION, "--json", **{**services.settings, **keys, name: value})
    assert ran.returncode == 2 and one_object(ran)["error"]["kind"] == "caller"
