"""The scorer of facts counts right what is right and nothing else."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from evals import facts

PAGE = """<html><head><title>Spring tides | A</title><meta name=author content="Jane Doe">
<meta property="article:published_time" content="2024-03-14T08:00Z"></head>
<body><h1>Spring Tides</h1><p>The tide comes in twice a day.</p></body></html>"""


def put(folder: Path, name: str, html: str, **truth: str | None) -> None:
    described = {
        "url": f"https://a.example/{name}",
        "ground_truth": truth,
        "_internal": {"page_type": {"primary": "article"}},
    }
    for kind in ("ground-truth", "html"):
        (folder / "dev" / kind).mkdir(parents=True, exist_ok=True)
    (folder / "dev" / "ground-truth" / f"{name}.json").write_text(json.dumps(described), encoding="utf-8")
    (folder / "dev" / "html" / f"{name}.html.gz").write_bytes(gzip.compress(html.encode()))


def test_a_folder_is_scored_by_title_author_and_day(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "right", PAGE, title="spring  tides", author="Doe, Jane", publish_date="2024-03-14")
    put(tmp_path, "wrong", PAGE, title="Neap tides", author="John Doe", publish_date="2024-03-15")
    put(tmp_path, "unasked", PAGE, title="Spring Tides", author=None, publish_date=None)
    put(
        tmp_path,
        "missed",
        "<title>Spring tides</title><p>Words.",
        title="Spring Tides",
        author="A",
        publish_date="2024-03",
    )
    rows = tmp_path / "rows.jsonl"
    assert facts.main([str(tmp_path), "--only", "ours", "--rows", str(rows)]) == 0
    told = json.loads(capsys.readouterr().out)["ours"]
    assert told["title"] == {"n": 4, "exact": 0.75, "word_f1": 0.875}
    expected = {"n": 3, "told": 3, "right": 1, "precision": 0.3333, "precision_where_known": 0.5, "recall": 0.3333}
    assert told["author"] == expected
    assert told["date"] == expected
    written = {row["page"]: row for row in map(json.loads, rows.read_text().splitlines())}
    assert written["right"]["is_author_right"] and not written["wrong"]["is_author_right"]
    assert written["wrong"]["title_f1"] == 0.5


@pytest.mark.parametrize(
    ("gold", "told", "is_same"),
    [
        ("2024-03-14", "2024-03-14T23:00:00-05:00", True),
        ("2024-03", "2024-03-14", True),
        ("2024-03-14", "2024-03", False),
        ("2024-03-14", None, False),
        (None, "2024-03-14", False),
    ],
)
def test_days_are_compared_as_each_has_them(gold: str | None, told: str | None, is_same: bool) -> None:
    assert facts.is_same_day(gold, told) is is_same


def test_names_are_the_same_in_any_order_and_not_if_one_is_missing() -> None:
    assert facts.is_same_author("Jane Doe and John Roe", "John Roe, JANE DOE")
    assert not facts.is_same_author("Jane Doe and John Roe", "Jane Doe")
    assert facts.is_same_title("“Tides” – a primer", '"tides" - A  Primer')
    assert not facts.is_same_title("Tides", "Tides | A")


def test_a_folder_without_pages_is_no_score(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        facts.main([str(tmp_path)])
