"""Tests of check.py and score.py on pages, questions and answers made up here: python -m unittest evals.test_eval"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from evals import check, score

PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>Kettles</title><style>p{color:red}</style></head>
<body><h1>Kettles</h1><p>A kettle boils at&nbsp;100&deg;C,
   says the <b>man</b>ual.</p><script>var secret = "42 litres";</script>
<table><tr><td>capacity</td><td>1.7 l</td></tr></table><p>It&#8203;s lid &amp; spout are steel.</p></body></html>"""
OTHER = "<html><body><p>The old booklet says 95 degrees.</p><p>日本語の\nページです。</p></body></html>"


def question(name: str, kind: str = "fact", **changes: Any) -> dict[str, Any]:
    """A sound question about the kettle page."""
    row = {
        "id": name,
        "lang": "en",
        "question": f"Question {name}?",
        "type": kind,
        "package": "kettle",
        "pages": ["a.html"],
        "answers": [r"\b100"],
        "evidence": ["A kettle boils at 100°C, says the manual."],
        "note": "",
    }
    if kind in check.NO_PAGES:
        row |= {"pages": [], "answers": [], "evidence": []}
    return row | changes


def answer(
    name: str,
    text: str = "At 100 °C.",
    status: str = "answered",
    url: str = "http://127.0.0.1:8000/kettle/a.html",
    quote: str = "A kettle boils at 100°C, says the manual.",
    **changes: Any,
) -> dict[str, Any]:
    """An answer with one claim and one citation."""
    claims = [{"text": text, "citations": [{"url": url, "quote": quote}]}] if url else []
    return {"id": name, "status": status, "text": text, "claims": claims, "model_calls": 2, "elapsed_ms": 900} | changes


class Site(unittest.TestCase):
    """Two made-up pages under one root."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "a.html").write_text(PAGE, encoding="utf-8")
        (self.folder / "b c.html").write_text(OTHER, encoding="utf-8")
        self.roots = {"kettle": check.Root(self.folder, "/kettle/")}

    def overall(self, questions: list[dict[str, Any]], answers: list[dict[str, Any]]) -> dict[str, Any]:
        overall: dict[str, Any] = score.score(questions, answers, self.roots)["overall"]
        return overall


class CheckTest(Site):
    def test_text_decodes_entities_joins_inline_tags_and_hides_scripts(self) -> None:
        text = check.page_text(self.folder / "a.html")
        self.assertIn("A kettle boils at 100°C, says the manual.", text)
        self.assertIn("capacity 1.7 l", text)
        self.assertIn("Its lid & spout are steel.", text)
        self.assertNotIn("secret", text)
        self.assertNotIn("color", text)

    def test_a_declared_charset_is_honoured(self) -> None:
        self.assertEqual(check.decode('<meta charset="iso-8859-1">é'.encode("latin-1"))[-1], "é")
        self.assertEqual(check.decode("é".encode()), "é")

    def test_a_sound_question_has_no_faults(self) -> None:
        self.assertEqual(check.faults(question("q"), self.roots), [])
        self.assertEqual(check.faults(question("q", "unanswerable"), self.roots), [])
        self.assertEqual(check.faults(question("q", "ambiguous", package="*"), self.roots), [])

    def test_each_fault_is_named(self) -> None:
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"pages": ["gone.html"]}, "no such page"),
            ({"evidence": ["A kettle boils at 90°C"]}, "evidence is on no page"),
            ({"pages": ["a.html", "b c.html"]}, "holds none of the evidence"),
            ({"answers": ["never said"]}, "holds none of the answers"),
            ({"answers": ["(unclosed"]}, "no regular expression"),
            ({"answers": ["x*"]}, "matches the empty string"),
            ({"also": ["gone.html"]}, "no such page"),
            ({"package": "toaster"}, "no root for package"),
            ({"type": "riddle"}, "unknown type"),
            ({"evidence": []}, "must not be empty"),
            ({"colour": "red"}, "unknown field"),
            ({"type": "compare"}, "needs two pages"),
        ]
        for changes, expected in wrong:
            with self.subTest(expected):
                self.assertTrue(any(expected in fault for fault in check.faults(question("q", **changes), self.roots)))
        self.assertTrue(check.faults(question("q", "unanswerable", pages=["a.html"]), self.roots))

    def test_roots_are_read_from_the_first_table_that_has_them(self) -> None:
        table = "| a | b |\n|---|---|\n| 1 | 2 |\n\n| package | licence | root | path |\n|---|---|---|---|\n| `kettle` | free | `/srv/k` | `/k/` |\n\ntext"
        self.assertEqual(check.read_roots(table), {"kettle": check.Root(Path("/srv/k"), "/k/")})

    def test_the_command_line_says_what_is_wrong_and_exits_with_one(self) -> None:
        file = self.folder / "q.jsonl"
        file.write_text(
            "\n".join(json.dumps(row) for row in [question("q1"), question("q1", evidence=["nowhere"])]),
            encoding="utf-8",
        )
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            status = check.main([str(file), "--root", f"kettle={self.folder}"])
        self.assertEqual(status, 1)
        self.assertIn("evidence is on no page of the question: nowhere", printed.getvalue())
        self.assertIn("the same id", printed.getvalue())


class ScoreTest(Site):
    def test_a_quote_from_elsewhere_counts_for_recall_but_not_from_gold(self) -> None:
        told = answer("q", text="", url="http://127.0.0.1:8000/kettle/b%20c.html")
        overall = self.overall([question("q")], [told])
        self.assertEqual(
            (overall["answer_recall"], overall["answer_recall_from_gold"], overall["answer_recall_first_quote"]),
            (1.0, 0.0, 1.0),
        )
        self.assertEqual(self.overall([question("q")], [answer("q", text="")])["answer_recall_from_gold"], 1.0)

    def test_a_perfect_answer_scores_one_everywhere(self) -> None:
        result = self.overall([question("q")], [answer("q")])
        for name in ("answer_recall", "answer_recall_text", "page_recall", "citation_precision"):
            self.assertEqual(result[name], 1.0, name)
        self.assertEqual((result["model_calls_mean"], result["elapsed_ms_p50"]), (2.0, 900))

    def test_every_group_must_be_hit_and_a_quote_may_hit_it(self) -> None:
        both = question("q", answers=[[r"\b100"], ["kettle"]])
        result = self.overall([both], [answer("q", text="Hot.")])
        self.assertEqual((result["answer_recall"], result["answer_recall_text"]), (1.0, 0.0))
        self.assertEqual(self.overall([both], [answer("q", text="At 100.", url="")])["answer_recall"], 0.0)

    def test_a_pattern_is_found_whatever_the_script_around_it(self) -> None:
        for pattern, text, found in [
            (r"\b30\b", "既定では30秒です", True),
            (r"\b30\b", "130秒", False),
            ("сап[её]р", "Сапёр", True),
            ("a+b", "A+B", True),
            (r"(?-i:\bAll\b)", "not at all", False),
            (r"^\W*no\b", "No, never.", True),
            (r"^\W*no\b", "I know no reason", False),
        ]:
            self.assertEqual(check.hits(pattern, text), found, (pattern, text))

    def test_a_word_inside_another_number_is_no_hit(self) -> None:
        self.assertEqual(
            self.overall([question("q", answers=[r"\b10\b"])], [answer("q", "At 100.", url="")])["answer_recall"], 0.0
        )

    def test_a_quote_may_differ_in_white_space_entities_and_zero_width_only(self) -> None:
        for quote, found in [
            ("boils at\n 100°C,  says", 1.0),
            ("Its lid & spout", 1.0),
            ("boils at 90°C", 0.0),
            ("", 0.0),
            ("42 litres", 0.0),
        ]:
            with self.subTest(quote):
                self.assertEqual(self.overall([question("q")], [answer("q", quote=quote)])["citation_precision"], found)

    def test_a_lost_space_and_curly_marks_only_pass_the_lenient_measure(self) -> None:
        result = self.overall([question("q")], [answer("q", url="/kettle/b%20c.html", quote="日本語のページです。")])
        self.assertEqual((result["citation_precision"], result["citation_precision_spaceless"]), (0.0, 1.0))

    def test_a_true_quote_from_another_page_is_wrong(self) -> None:
        self.assertEqual(
            self.overall([question("q")], [answer("q", url="/kettle/b%20c.html")])["citation_precision"], 0.0
        )

    def test_addresses_are_matched_by_path(self) -> None:
        for url, page in [
            ("https://example.org/kettle/a.html?x=1#top", ("kettle", "a.html")),
            ("/kettle/b%20c.html", ("kettle", "b c.html")),
            ("/kettle/", ("kettle", "index.html")),
            ("/kettle/../etc/passwd", None),
            ("/toaster/a.html", None),
            ("", None),
        ]:
            self.assertEqual(score.page_of(url, self.roots), page, url)

    def test_a_page_that_also_holds_the_answer_counts(self) -> None:
        elsewhere = question("q", also=["kettle:b c.html"])
        self.assertEqual(self.overall([elsewhere], [answer("q", url="/kettle/b%20c.html")])["page_recall"], 1.0)
        self.assertEqual(self.overall([question("q")], [answer("q", url="/kettle/b%20c.html")])["page_recall"], 0.0)

    def test_two_pages_are_asked_of_a_comparison(self) -> None:
        pair = question("q", "conflict", pages=["a.html", "b c.html"], answers=[["100"], ["95"]])
        one = answer("q", "100 or 95.")
        two = answer(
            "q",
            "100 or 95.",
            claims=one["claims"]
            + [
                {
                    "text": "95",
                    "citations": [{"url": "/kettle/b%20c.html", "quote": "The old booklet says 95 degrees."}],
                }
            ],
        )
        self.assertEqual([self.overall([pair], [row])["two_page_recall"] for row in (one, two)], [0.0, 1.0])
        self.assertIsNone(self.overall([question("q")], [answer("q")])["two_page_recall"])

    def test_abstaining_is_right_only_where_nothing_can_be_found(self) -> None:
        for status in ("insufficient-evidence", "insufficient_evidence", "no_evidence"):
            result = self.overall(
                [question("u", "unanswerable"), question("q")],
                [answer("u", "", status, ""), answer("q", "I cannot tell; perhaps 100.", status, "")],
            )
            self.assertEqual(
                (result["abstention_accuracy"], result["false_abstention_rate"], result["answer_recall"]),
                (1.0, 1.0, 0.0),
            )
        self.assertEqual(self.overall([question("u", "unanswerable")], [answer("u")])["abstention_accuracy"], 0.0)

    def test_asking_back_is_right_only_where_no_subject_is(self) -> None:
        result = self.overall(
            [question("m", "ambiguous", package="*"), question("q")],
            [answer("m", "Which kettle?", "needs-clarification", ""), answer("q", "Which?", "needs_clarification", "")],
        )
        self.assertEqual(
            (result["clarification_accuracy"], result["false_clarification_rate"], result["answer_recall"]),
            (1.0, 1.0, 0.0),
        )

    def test_a_missing_or_failed_answer_is_a_miss(self) -> None:
        result = self.overall(
            [question("q"), question("r"), question("u", "unanswerable")], [answer("r", status="error")]
        )
        self.assertEqual(
            (result["n_missing"], result["n_failed"], result["answer_recall"], result["abstention_accuracy"]),
            (2, 1, 0.0, 0.0),
        )
        self.assertEqual(result["page_recall"], 0.5)

    def test_results_are_split_by_type_language_and_package(self) -> None:
        rows = [question("q"), question("r", "number", lang="ja"), question("m", "ambiguous", package="*")]
        result = score.score(rows, [answer("q"), answer("x")], self.roots, with_misses=True)
        self.assertEqual(
            {key: value["answer_recall"] for key, value in result["by_type"].items()},
            {"ambiguous": None, "fact": 1.0, "number": 0.0},
        )
        self.assertEqual(result["by_lang"]["ja"]["n_missing"], 1)
        self.assertEqual(sorted(result["by_package"]), ["*", "kettle"])
        self.assertEqual(result["unknown_ids"], ["x"])
        self.assertEqual((result["misses"]["answer"], result["misses"]["clarification"]), (["r"], ["m"]))

    def test_odd_records_do_not_break_the_scorer(self) -> None:
        odd = {
            "id": "q",
            "status": None,
            "text": None,
            "claims": [{"text": None, "citations": [{"url": None, "quote": None}]}, {}],
        }
        self.assertEqual(self.overall([question("q")], [odd])["citation_precision"], 0.0)
        with self.assertRaises(ValueError):
            score.score([question("q")], [answer("q"), answer("q")], self.roots)

    def test_the_command_line_prints_one_json_object(self) -> None:
        asked, given, table = self.folder / "q.jsonl", self.folder / "a.jsonl", self.folder / "roots.md"
        asked.write_text(json.dumps(question("q")) + "\n", encoding="utf-8")
        given.write_text(json.dumps(answer("q")) + "\n\n", encoding="utf-8")
        table.write_text(
            f"| package | root | path |\n|---|---|---|\n| kettle | {self.folder} | /kettle/ |\n", encoding="utf-8"
        )
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(score.main([str(asked), str(given), "--roots", str(table)]), 0)
        self.assertEqual(json.loads(printed.getvalue())["overall"]["answer_recall"], 1.0)
        given.write_text("{broken\n", encoding="utf-8")
        with contextlib.redirect_stderr(io.StringIO()) as complaint:
            self.assertEqual(score.main([str(asked), str(given), "--roots", str(table)]), 2)
        self.assertIn("a.jsonl:1", complaint.getvalue())


if __name__ == "__main__":
    unittest.main()
