"""What came instead of the page is told from the page: by rows, through a real fetch, and in bounded work."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.walls import figures, judge, judge_folder, pages_figures, read_rows, response_of
from firsthand.errors import FetchFailed
from firsthand.values import HttpResponse, Page
from firsthand.web.recognise import SENTENCES, Wall, recognise
from firsthand.web.reply import OUTCOME_OF_CODE
from firsthand.web.skim import LOOKED_AT_BYTES, TAGS_MAX, has_much_text, n_words, skim, source_of
from tests.web.raw_server import raw_server, response, site
from tests.web.test_fetch import fetching, outcome_of

ROWS = read_rows()
HTML = {"content-type": "text/html; charset=utf-8"}
SENTENCE = "The gauge at the old pier has been read every six hours since 1871, with one gap of eleven days. "


def page(body: str, *, title: str = "Tides", status: int = 200, head: str = "") -> HttpResponse:
    source = f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return HttpResponse("https://site.example/a", status, HTML, source.encode())


def code_of(wall: Wall | None) -> str:
    return "" if wall is None else wall.code


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']}-{row['kind']}")
def test_a_reply_has_the_outcome_its_row_states(row: dict[str, Any]) -> None:
    judged = judge(row)
    assert judged.found == row["expect"], judged.code
    if "code" in row:
        assert judged.code == row["code"]


def test_the_rows_are_enough_of_both_kinds_and_say_where_they_come_from() -> None:
    walls = [row for row in ROWS if row["expect"] != "ok"]
    assert len(walls) >= 50 and len(ROWS) - len(walls) >= 70
    assert {row["kind"] for row in walls} >= {
        "bot_wall", "cookie_wall", "paywall", "shell", "soft_404", "login", "parked", "empty",
    }  # fmt: skip
    assert all(row["note"] for row in ROWS)
    for name in ("dev", "held"):
        counted = figures(judge(row) for row in ROWS if row["set"] == name)
        assert counted["n_walls"] >= 25 and counted["n_pages"] >= 35


async def test_rows_of_every_kind_end_the_same_way_through_a_real_fetch_and_only_ok_is_a_page() -> None:
    rows = {f"/{row['id']}": row for row in ROWS if "asked" not in row and row["status"] not in (429, 503, 999)}
    # A host that says 429 is left alone afterwards, and 503 waits; both are judged above.
    pages = {path: _served(row) for path, row in rows.items()}
    wrong = []
    async with raw_server(site(pages)) as served, fetching(served) as fetcher:
        for path, row in rows.items():
            code, result = await outcome_of(fetcher, f"{served.url}{path}")
            outcome = "ok" if isinstance(result, Page) else result.outcome
            if outcome != row["expect"]:
                wrong.append((row["id"], outcome, code))
    assert not wrong
    assert [path for path in served.paths if path != "/robots.txt"] == list(rows), "a wall was asked twice"


def _served(row: dict[str, Any]) -> bytes:
    reply = response_of(row)
    return response(reply.body, reply.status, {name: str(value) for name, value in reply.headers.items()})


# -- User inputs 15, 16 and 17


async def fetched(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> tuple[str, str, int]:
    """Outcome, sentence, and how often the server was asked for the page."""
    async with raw_server(site({"/": response(body, status, headers)})) as served, fetching(served) as fetcher:
        _, result = await outcome_of(fetcher, f"{served.url}/")
        n_asked = served.paths.count("/")
    return ("ok", "", n_asked) if isinstance(result, Page) else (result.outcome, result.message, n_asked)


async def test_input_15_a_challenge_is_a_bot_wall_and_a_script_shell_needs_javascript_and_neither_is_empty() -> None:
    challenge = response_of(next(row for row in ROWS if "user inputs 15 (a)" in row["note"]))
    shell = response_of(next(row for row in ROWS if "user inputs 15 (b)" in row["note"]))
    assert len(shell.body) > 90_000 and "loading app." in skim(source_of(shell.body)).text
    outcome, sentence, n_asked = await fetched(challenge.body)
    assert (outcome, n_asked) == ("bot_wall", 1) and "Cloudflare" in sentence and "not asked again" in sentence
    outcome, sentence, n_asked = await fetched(shell.body)
    assert (outcome, n_asked) == ("needs_javascript", 1) and "FIRSTHAND_BROWSER=on" in sentence


async def test_input_16_an_article_whose_comment_form_loads_a_captcha_is_a_page() -> None:
    article = f"<article><h1>Tides</h1>{f'<p>{SENTENCE * 4}</p>' * 28}</article>"
    form = "<form><div class=g-recaptcha></div></form><script src=https://www.google.com/recaptcha/api.js></script>"
    assert n_words(SENTENCE) * 4 * 28 >= 2000
    assert (await fetched(page(article + form).body))[0] == "ok"


async def test_input_17_a_refusal_with_a_consent_form_is_a_cookie_wall_and_a_banner_before_an_article_is_none() -> None:
    consent = page("<h1>Cookies</h1><p>We use cookies.</p><button>Accept all cookies</button>", title="Cookies")
    for status in (403, 429, 503):
        outcome, sentence, n_asked = await fetched(consent.body, status, {"retry-after": "1"})
        assert (outcome, n_asked) == ("cookie_wall", 1), "asked again"
        assert "consent" in sentence and "not asked again in this run" in sentence
    banner = "<div id=banner><p>We use cookies.</p><button>Accept all cookies</button></div>"
    footer = "<footer><a>Subscribe</a> Subscribe to our newsletter</footer>"
    assert (await fetched(page(f"{banner}<article><p>{SENTENCE * 30}</p></article>{footer}").body))[0] == "ok"


# -- Failures say what to do


@pytest.mark.parametrize("row", [row for row in ROWS if row["expect"] != "ok"], ids=lambda row: row["id"])
def test_a_wall_is_never_to_be_retried_and_its_sentence_says_what_a_person_can_do(row: dict[str, Any]) -> None:
    wall = recognise(response_of(row), asked=row.get("asked", ""))
    if wall is None:
        assert row["status"] >= 400  # the status alone says it
        return
    with pytest.raises(FetchFailed) as caught:
        from firsthand.web import reply

        reply.check_status(response_of(row))
        reply.check_walls(response_of(row), asked=row.get("asked", ""))
    assert not caught.value.retryable
    assert caught.value.outcome == OUTCOME_OF_CODE[wall.code] == row["expect"]
    assert "{" not in wall.sentence and "<" not in wall.sentence
    if wall.code in ("bot_wall", "cookie_wall", "paywall", "login_wall"):
        assert "not asked again" in wall.sentence


def test_every_kind_of_wall_has_an_outcome_and_a_sentence() -> None:
    assert {name.removesuffix("_busy") for name in SENTENCES} <= set(OUTCOME_OF_CODE)
    assert all(sentence.strip().endswith(".") for sentence in SENTENCES.values())


# -- A sign alone is no wall


@pytest.mark.parametrize(
    "signs",
    [
        "<script>window._cf_chl_opt={}</script>",
        "<div id=px-captcha></div>",
        "<form><input type=password><button>Log in</button></form>",
        "<button>Accept all cookies</button><p>We use cookies.</p>",
        "<p>Subscribe to continue reading</p>",
        "<p>Buy this domain</p>",
        "<div id=root></div><script>" + "var a=1;" * 20_000 + "</script>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><script src=a.js></script>",
    ],
)
def test_no_sign_makes_a_wall_of_a_page_with_a_body(signs: str) -> None:
    article = f"<article><p>{SENTENCE * 30}</p></article>"
    assert recognise(page(signs + article)) is None
    assert recognise(page(article + signs, title="Just a moment...")) is None


def test_legacy_charsets_are_read_before_phrases_are_looked_for() -> None:
    source = "<html><head><meta charset=windows-1251><title>Страница не найдена</title></head><body><h1>Страница не найдена</h1></body></html>"
    found = recognise(
        HttpResponse("https://site.example/a", 200, {"content-type": "text/html"}, source.encode("cp1251"))
    )
    assert code_of(found) == "soft_404"


def test_a_redirect_to_a_log_in_is_one_only_if_the_address_was_another() -> None:
    source = page("<h1>Sign in</h1><p>Use your account.</p><button>Next</button>", title="Sign in").body
    reply = HttpResponse("https://site.example/login", 200, HTML, source)
    assert code_of(recognise(reply, asked="https://site.example/secret")) == "login_wall"
    assert code_of(recognise(reply, asked="https://site.example/login")) == ""


def test_a_page_larger_than_what_is_looked_at_is_left_to_the_reader() -> None:
    body = b'<p title="' + b"a" * LOOKED_AT_BYTES + b'">Needle</p>'
    assert recognise(HttpResponse("https://site.example/a", 200, HTML, body)) is None


# -- The work is bounded

_EVIL: dict[str, Callable[[int], str]] = {
    "openings without end": lambda n: "<a" * n,
    "tags in tags": lambda n: "<div " * n + ">",
    "less-than signs": lambda n: "<" * n,
    "greater-than signs": lambda n: ">" * n,
    "comments that do not end": lambda n: "<!--" * n,
    "scripts that do not end": lambda n: "<script>" * n,
    "scripts that end and begin": lambda n: "<script></script>" * n,
    "endings alone": lambda n: "</script>" * n,
    "entities": lambda n: "&amp" * n,
    "passwords nearly": lambda n: "type=" * n,
    "white space": lambda n: " " * n,
    "words": lambda n: "word " * n,
    "titles": lambda n: "<title>" * n,
    "forms": lambda n: "<form" * n,
    "nested boxes": lambda n: "<div id=onetrust>" * n,
    "buttons": lambda n: "<button>accept" * n,
}


def n_steps(source: str) -> int:
    """How many lines of Python the whole judgement takes."""
    steps = 0

    def watch(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal steps
        steps += event == "line"
        return watch

    reply = HttpResponse("https://site.example/a", 200, HTML, source.encode())
    sys.settrace(watch)
    try:
        recognise(reply, asked="https://site.example/b")
    finally:
        sys.settrace(None)
    return steps


@pytest.mark.parametrize("name", list(_EVIL))
def test_five_megabytes_of_hostile_markup_take_a_bounded_number_of_steps(name: str) -> None:
    unit = len(_EVIL[name](1))
    assert n_steps(_EVIL[name](5_000_000 // unit)) < 60 * TAGS_MAX


@pytest.mark.parametrize("name", list(_EVIL))
def test_twice_the_markup_takes_at_most_twice_the_steps(name: str) -> None:
    once, twice = n_steps(_EVIL[name](400)), n_steps(_EVIL[name](800))
    assert twice <= 2.2 * once + 200


def test_what_is_looked_at_is_bounded_in_bytes_and_tags() -> None:
    assert len(source_of(b"a" * 5_000_000)) == LOOKED_AT_BYTES
    assert skim("<p>" * 100_000).n_tags == TAGS_MAX


def test_long_text_is_told_quickly_and_not_from_scripts() -> None:
    long = "<p>" + SENTENCE * 30
    assert has_much_text(long, 400)
    assert not has_much_text(f"<script>a>{SENTENCE * 60}</script>", 400)
    assert not has_much_text("<a>menu</a>" * 2_000, 400)
    assert not has_much_text("<div style=display:none>+((!+[]+(!![])+!![]+!![]))</div>" * 300, 400)
    assert has_much_text(f"<p>{'潮汐是海水在月球和太阳引力作用下发生的周期性涨落现象。' * 2}</p>" * 30, 400)


@settings(deadline=None, max_examples=500)
@given(
    st.lists(st.sampled_from(["<p>", "<", ">", "a word ", "x" * 39, "y" * 41, "\n", "<script>", "潮汐 "]), max_size=25)
)
def test_words_between_tags_are_those_of_runs_that_no_sign_interrupts(pieces: list[str]) -> None:
    source = "".join(pieces).replace("<script>", "<i>")
    n_all = sum(len(run.split()) + sum(c >= "\u0e00" for c in run) // 2 for run in re.findall(r">[^<>]{40,}", source))
    assert has_much_text(source, n_all) or not n_all
    assert not has_much_text(source, n_all + 1)


@settings(deadline=None, max_examples=500)
@given(st.text(alphabet="ab \n\t\x1cé\u2028\u0e01潮", max_size=20))
def test_words_are_what_white_space_parts(text: str) -> None:
    assert n_words(text) == len(text.split()) + sum(c >= "\u0e00" for c in text) // 2


# -- The figures notice


def test_a_folder_of_pages_is_counted(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_bytes(page(f"<p>{SENTENCE * 5}</p>").body)
    (tmp_path / "gone.html.gz").write_bytes(gzip.compress(page("<h1>Page not found</h1>", title="Page not found").body))
    counted = pages_figures(list(judge_folder(tmp_path)))
    assert (counted["n_pages"], counted["taken_for_walls"]) == (2, {"soft_404": 1})


def test_the_figures_turn_red_when_a_rule_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    floors = json.loads((Path(__file__).parents[2] / "evals" / "floors-walls.json").read_text(encoding="utf-8"))
    from evals.walls import below
    from firsthand.web import signs

    def measured() -> dict[str, Any]:
        return {name: figures(judge(row) for row in ROWS if row["set"] == name) for name in ("dev", "held")}

    assert not list(below(measured(), floors))
    monkeypatch.setattr(signs, "ACCEPTING", ())
    assert list(below(measured(), floors))
