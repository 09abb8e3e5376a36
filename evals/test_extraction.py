"""The scorer of main text counts what is right as right, and its figures come from its rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from evals import extraction, extraction_docs, extraction_readers
from evals.extraction_score import (
    Match,
    Shingles,
    match,
    quantile,
    shingle_match,
    shingles,
    snippet_share,
    standard_error,
)
from evals.extraction_sets import Case, every, load, registered_domain
from firsthand.values import Block, HiddenBlock, Span, Text


def test_words_are_compared_as_a_multiset_without_letter_case_and_order() -> None:
    assert match("the Cat, the dog!", "DOG the cat the") == Match(1.0, 1.0, 1.0)
    told = match("a a b x", "a b b c d e")  # a and b are common, once each
    assert (told.precision, told.recall) == (2 / 4, 2 / 6)
    assert told.f1 == pytest.approx(2 * 0.5 * (1 / 3) / (0.5 + 1 / 3))
    assert match("x", "y") == match("", "y") == Match(0.0, 0.0, 0.0)


def test_a_page_without_main_text_is_right_only_when_nothing_is_given() -> None:
    assert match(" — ", "") == Match(1.0, 1.0, 1.0)
    assert match("Page not found", "") == Match(0.0, 0.0, 0.0)


def test_shingles_are_runs_of_four_words_and_shares_of_one_page() -> None:
    told = shingles("one two three four five six", "zero one two three four five")
    assert told == Shingles(2 / 4, 1 / 4, 1 / 4)
    assert shingles("a b", "a b") == Shingles(1.0, 0.0, 0.0)  # a text shorter than a run is one run
    assert shingles("A b c d", "a b c d").both == 0.0
    assert shingles("", "") == Shingles(0.0, 0.0, 0.0)


def test_the_measure_by_shingles_leaves_pages_out_where_it_is_not_defined() -> None:
    pages = [Shingles(0.5, 0.25, 0.25), Shingles(0.0, 0.0, 1.0)]
    told = shingle_match(pages)  # nothing was given for the second: it has no precision
    assert told.precision == pytest.approx(2 / 3)
    assert told.recall == pytest.approx((2 / 3 + 0) / 2)
    assert told.f1 == pytest.approx(2 * (2 / 3) * (1 / 3) / (2 / 3 + 1 / 3))
    assert shingle_match([]).f1 == 0.0


def test_snippets_quantiles_and_errors_are_counted_plainly() -> None:
    assert snippet_share("Tides of the Bay", ["tides OF", "bay", "moon", "sun"]) == 0.5
    assert snippet_share("anything", []) == 1.0
    assert [quantile([4, 1, 3, 2], share) for share in (0.25, 0.5, 0.95)] == [1, 2, 4]
    assert quantile(list(range(1, 101)), 0.95) == 95
    assert standard_error([1.0, 3.0]) == pytest.approx(1.0)
    assert standard_error([1.0]) == 0.0


def test_a_sample_is_spread_evenly_and_always_the_same() -> None:
    cases = [Case(str(i), Path(), "") for i in range(10)]
    assert [case.page for case in every(cases, 5)] == ["1", "3", "5", "7", "9"]
    assert every(cases, 99) == every(cases, None) == cases


def test_a_domain_is_what_a_registry_sells() -> None:
    addresses = ["https://a.shop.co.uk/x", "http://news.example.com:80/", "http://127.0.0.1/"]
    assert [registered_domain(url) for url in addresses] == ["shop.co.uk", "example.com", "127.0.0.1"]


PAGE = "<!doctype html><title>Tides</title><nav><a href=/>Home</a></nav><main><h1>Tides</h1><p>{}</p></main>"
SENTENCE = "The sea rises and falls twice a day here, and the boats in the bay lie on their sides in the mud meanwhile."


def _wcxb(folder: Path, part: str, page: str, url: str, gold: str, *, kind: str = "article") -> None:
    for name in ("ground-truth", "html"):
        (folder / part / name).mkdir(parents=True, exist_ok=True)
    truth = {"url": url, "_internal": {"page_type": {"primary": kind}}}
    truth["ground_truth"] = {"main_content": gold, "with": ["twice a day"], "without": ["home"]}
    (folder / part / "ground-truth" / f"{page}.json").write_text(json.dumps(truth))
    (folder / part / "html" / f"{page}.html.gz").write_bytes(gzip.compress(PAGE.format(SENTENCE).encode()))


def test_a_part_of_wcxb_is_read_with_kinds_and_with_the_domains_that_dev_has(tmp_path: Path) -> None:
    _wcxb(tmp_path, "dev", "0001", "https://blog.tides.example.com/", SENTENCE)
    _wcxb(tmp_path, "test", "0002", "https://www.example.com/a", SENTENCE, kind="category")
    _wcxb(tmp_path, "test", "0003", "https://example.org/a", SENTENCE, kind="forum")
    cases = load("wcxb-test", tmp_path)
    assert [(case.page, case.kind, case.is_seen) for case in cases] == [
        ("0002", "collection", True),
        ("0003", "forum", False),
    ]
    assert b"twice a day" in cases[0].payload()
    assert [case.is_seen for case in load("wcxb-dev", tmp_path)] == [None]


def test_the_figures_of_a_set_come_from_its_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _wcxb(tmp_path, "dev", "0001", "https://example.com/", f"Tides {SENTENCE}")
    _wcxb(tmp_path, "dev", "0002", "https://example.org/", "The sea rises", kind="forum")
    rows = tmp_path / "rows.jsonl"
    arguments = ["--set", "wcxb-dev", str(tmp_path), "--rows", str(rows), "--ours-only"]
    assert extraction.main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    ours = told["readers"]["firsthand"]
    kept = [json.loads(line) for line in rows.read_text().splitlines()]
    part = match(f"Tides {SENTENCE}", "The sea rises")
    assert [(row["page"], row["f1"], row["outcome"]) for row in kept] == [("0001", 1.0, "ok"), ("0002", part.f1, "ok")]
    assert (told["pages"], ours["recall"], ours["empty_pages"]) == (2, 1.0, 0)
    assert ours["f1"] == pytest.approx((1 + part.f1) / 2, abs=1e-4)
    assert ours["precision"] == pytest.approx((1 + part.precision) / 2, abs=1e-4)
    assert ours["by_kind"]["article"] == {"pages": 1, "f1": 1.0, "precision": 1.0, "recall": 1.0}
    assert (ours["with_snippets"], ours["without_snippets"]) == (1.0, 0.0)
    assert ours["speed"]["p95_ms"] > 0
    assert extraction.report(kept)["readers"]["firsthand"] == ours


def test_a_page_that_cannot_be_read_counts_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"<!doctype html><title>Nothing</title><body></body>")
    cases = [Case("a", path, "https://example.com/", gold="Words"), Case("b", path, "https://example.com/", gold="")]
    rows = list(extraction.measure(cases, ours_only=True))
    ours = extraction.report(rows)["readers"]["firsthand"]
    assert (ours["empty_pages"], ours["pages_without_gold"], ours["empty_as_it_should_be"]) == (2, 1, 1)
    assert [(row["f1"], row["is_empty"], row["outcome"]) for row in rows] == [
        (0.0, True, "no_text"),
        (1.0, True, "no_text"),
    ]


def test_a_reader_may_take_several_pages_in_a_turn(tmp_path: Path) -> None:
    _wcxb(tmp_path, "dev", "0001", "https://example.com/", f"Tides {SENTENCE}")
    _wcxb(tmp_path, "dev", "0002", "https://example.org/", "The sea rises")
    _wcxb(tmp_path, "dev", "0003", "https://example.org/", "The boats")
    cases = load("wcxb-dev", tmp_path)
    by_turn = [list(extraction.measure(cases, ours_only=True, in_a_row=n)) for n in (1, 2)]
    one, two = ([(row["page"], row["f1"]) for row in rows] for rows in by_turn)
    assert one == two
    assert [page for page, _ in one] == ["0001", "0002", "0003"]


def test_the_article_set_is_read_by_the_names_in_its_truth(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "ab.html.gz").write_bytes(gzip.compress(b"<p>Words</p>"))
    truth = {"ab": {"url": "https://example.com/", "articleBody": "Words"}}
    (tmp_path / "ground-truth.json").write_text(json.dumps(truth))
    assert [(case.page, case.gold, case.payload()) for case in load("articles", tmp_path)] == [
        ("ab", "Words", b"<p>Words</p>")
    ]


def test_hidden_and_collapsed_words_are_told_apart() -> None:
    text = Text(
        body="Seen\nOpened\nMenu",
        blocks=(
            Block("paragraph", Span(0, 4)),
            Block("paragraph", Span(5, 11), visibility="collapsed", reason="details"),
            Block("item", Span(12, 16), main=False),
        ),
        media_type="text/html",
        hidden=(HiddenBlock("paragraph", "Unseen", "display_none", 11),),
    )
    assert extraction_readers.main_text(text) == "Seen\nOpened"
    assert extraction_readers.main_text(text, collapsed=False) == "Seen"
    assert extraction_readers.main_text(text, hidden=True) == "Seen\nOpened\nUnseen"
    assert extraction_readers.all_text(text) == "Seen\nOpened\nMenu"
    assert extraction_readers.main_text(None) == extraction_readers.all_text(None) == ""


# -- Documentation

MANUAL = b"""<!doctype html><div class="menu"><ul><li>Home</li></ul></div><div class=toc><ul><li>Part one</li></ul></div>
<h1>Part <em>one</em><a class=headerlink href=#a>link</a></h1><p>It<b>s</b> words.<p hidden>Unseen.</p>
<ul><li>Outer words <ul><li>inner</li></ul> after</li></ul><dl><dt><code>--flag</code>, <code>-f</code></dt><dd>Does it.</dd></dl>
<pre>  if x:
      y()  </pre><table><tr><td>1</td><td>one</td></tr><tr><td><table><tr><td>2</td></tr></table></td></tr></table>"""


def test_the_elements_of_a_manual_are_read_without_its_furniture() -> None:
    found = [(element.kind, element.said) for element in extraction_docs.gold(MANUAL)]
    assert found == [
        ("contents_entry", "part one"),
        ("heading", "part one"),
        ("paragraph", "its words"),
        ("item", "outer words"),
        ("item", "inner"),
        ("term", "flag f"),
        ("definition", "does it"),
        ("code", "if x y"),
        ("row", "1 one"),
        ("row", "2"),
    ]


def test_a_permalink_sign_is_no_word_of_its_heading() -> None:
    assert extraction_docs.gold(b"<h2>Modes<a class=headerlink href=#m>anchor</a></h2>")[0].said == "modes"


def test_what_a_text_keeps_is_told_by_kind_and_code_must_keep_its_lines() -> None:
    elements = extraction_docs.gold(MANUAL)
    whole = extraction_docs.kept(elements, "Part one\nIts words.\nOuter words\n1\tone\n  if x:\n      y()\n--flag, -f")
    told = extraction_docs.figures([whole])
    assert {kind: told[kind]["main"] for kind in ("heading", "paragraph", "item", "term", "code", "code_lines")} == {
        "heading": 1.0,
        "paragraph": 1.0,
        "item": 0.5,
        "term": 1.0,
        "code": 1.0,
        "code_lines": 1.0,
    }
    assert told["row"] == {"n": 2, "main": 0.5}
    flat = extraction_docs.figures([extraction_docs.kept(elements, "if x: y() its word s one 1")])
    assert (flat["code"]["main"], flat["code_lines"]["main"], flat["paragraph"]["main"]) == (1.0, 0.0, 0.0)
    assert flat["row"]["main"] == 0.0
    longer = extraction_docs.kept(extraction_docs.gold(b"<li>art one</li>"), "part one, art ones, art one")
    shorter = extraction_docs.kept(extraction_docs.gold(b"<li>art one</li>"), "part one, art ones")
    assert [kept["elements"][0][2] for kept in (longer, shorter)] == [True, False]  # whole words only


def test_what_fifteen_pages_repeat_is_a_menu_and_not_counted() -> None:
    rows = [{"elements": [["item", "home", False], ["item", f"own {i}", True]]} for i in range(15)]
    assert extraction_docs.figures(rows)["item"] == {"n": 15, "main": 1.0}
    assert extraction_docs.figures(rows[:14])["item"] == {"n": 28, "main": 0.5}


def test_manuals_give_an_equal_share_of_pages(tmp_path: Path) -> None:
    for name, n in (("a", 4), ("b", 30)):
        (tmp_path / name).mkdir()
        for i in range(n):
            (tmp_path / name / f"{i:02}.html").write_bytes(MANUAL)
    for name in ("genindex-A", "doc_backlink_crossref"):
        (tmp_path / "a" / f"{name}.html").write_bytes(MANUAL)
    found = [case.path.stem for case in extraction_docs.sample([tmp_path / "a", tmp_path / "b"], n_pages=6)]
    assert found == ["00", "02", "03", "05", "15", "25"]
