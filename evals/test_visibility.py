"""The figures of visibility: words fall to the reason that hides them, and to the reference text only in a run of four."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from evals import visibility

PAGE = """<style>.x{display:none}</style><p>one two three four five</p><p hidden>six seven <b style="opacity:0">eight</b> nine</p>
<p class=x>ten eleven</p><button aria-controls=a>A</button><div id=a style="display:none">twelve</div><p>last <i aria-hidden=true>i</i></p>"""


def test_each_word_of_a_page_is_counted_once_for_the_outermost_that_hides_it() -> None:
    assert list(visibility.blocks(PAGE)) == [
        ("shown", "one two three four five"),
        ("hidden_attribute", "six seven eight nine"),
        ("display_none@sheet", "ten eleven"),
        ("shown", "A"),
        ("display_none>controlled", "twelve"),
        ("shown", "last"),
        ("aria_hidden", "i"),
    ]


def test_the_figures_of_a_set_are_shares_of_words_in_runs_of_four(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("html", "ground-truth"):
        (tmp_path / "dev" / name).mkdir(parents=True)
    gold = {"main_content": "Two three four five. Six seven eight"}
    data = {"url": "https://a.example/", "ground_truth": gold, "_internal": {"page_type": {"primary": "article"}}}
    (tmp_path / "dev" / "ground-truth" / "0001.json").write_text(json.dumps(data))
    (tmp_path / "dev" / "html" / "0001.html.gz").write_bytes(gzip.compress(PAGE.encode()))
    assert visibility.main([str(tmp_path), "--rows", str(tmp_path / "rows.jsonl")]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["reasons"]["shown"] == {"pages": 1, "words": 7, "share_in_gold": 0.571}
    assert figures["reasons"]["hidden_attribute"] == {"pages": 1, "words": 4, "share_in_gold": 0.0}
    assert figures["revealed"] == {}
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == len(figures["reasons"])
