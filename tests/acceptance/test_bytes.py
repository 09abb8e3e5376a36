"""From bytes to a page through the real command line: inputs 1, 2, 8, 9 and 18 of the users' complaints, and kin."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Reply, Site, as_dicts, one_object, run, site
from tests.web.extract.test_pdf import PAGES, pdf

TOOL = Path(__file__).parents[2] / "tools" / "verify_bundle.py"
ERROR_PAGE = b"<!doctype html><html><head><title>Moved</title></head><body><p>The paper has moved to another shelf of the library.</p></body></html>"


def read(home: Path, here: Site, body: bytes, content_type: str, path: str = "/page") -> dict[str, Any]:
    """What ``read --json`` says of *body* at *path*."""
    here.replies["/robots.txt"] = Reply(b"", 404)
    here.replies[path.partition("?")[0]] = Reply(body, headers={"content-type": content_type})
    return one_object(run(home, "read", "--json", here.url(path), allow_private=here.pair))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_01_utf8_under_a_header_that_says_otherwise_is_read(home: Path) -> None:
    page = (
        '<html><head><meta charset="utf-8"></head><body><p>東京は日本の首都である。人口は千四百万人。</p></body></html>'
    )
    with site() as here:
        told = read(home, here, page.encode(), "text/html; charset=ISO-8859-1")
    assert (told["charset"], told["text"]) == ("utf-8", "東京は日本の首都である。人口は千四百万人。")


def test_02_gb2312_declared_late_is_read_and_a_quote_from_it_verifies(home: Path) -> None:
    head = f"<html><head><title>水的性质</title><style>{'a{color:red}' * 260}</style><meta charset=gb2312></head>"
    filler = "<p>Plain words of ASCII.</p>" * 600
    page = f"{head}<body>{filler}<p>水在零度结冰，在一百度沸腾，这是常识。</p></body></html>"
    assert head.index("<meta") > 3000 and page.index("水在") > 15_000
    with site() as here:
        told = read(home, here, page.encode("gb18030"), "text/html")
        run(home, "add", here.url("/page"), "--library", "water", allow_private=here.pair)
    assert told["charset"] == "gb18030" and "\ufffd" not in told["text"]
    answer = one_object(run(home, "ask", "水在多少度结冰？", "--library", "water", "--json"))
    assert "水在零度结冰" in answer["claims"][0]["citations"][0]["quote"]
    bundle = home.parent / "bundle"
    assert run(home, "export", answer["id"], "--out", str(bundle)).returncode == 0
    checked = subprocess.run([sys.executable, TOOL, bundle], capture_output=True, text=True, check=False)
    assert (checked.returncode, "digest only" in checked.stdout) == (0, False), checked.stdout


def test_08_a_colspan_of_nine_quadrillion_takes_no_longer_than_another(home: Path) -> None:
    page = b'<table><tr><th colspan="9007199254740991">Depth</th></tr><tr><td>High</td><td>06:10</td></tr></table>'
    with site() as here:
        assert "High\t06:10" in read(home, here, page, "text/html")["text"]


@pytest.mark.parametrize("depth", [300, 5000])
def test_09_a_paragraph_under_thousands_of_elements_is_read(home: Path, depth: int) -> None:
    page = "<div>" * depth + "<p>The needle lies deep down here.</p>" + "</div>" * depth
    with site() as here:
        assert read(home, here, page.encode(), "text/html")["text"] == "The needle lies deep down here."


def test_18_a_pdf_is_one_under_any_type_and_an_error_page_is_none_under_any_name(home: Path) -> None:
    with site() as here:
        paper = read(home, here, pdf(PAGES), "application/octet-stream", "/download?id=7")
        error = read(home, here, ERROR_PAGE, "application/pdf", "/paper.pdf")
    assert (paper["media_type"], paper["outcome"]) == ("application/pdf", "ok")
    assert [block["page_number"] for block in as_dicts(paper["blocks"])] == [1, 1, 2]
    assert (error["media_type"], error["title"]) == ("text/html", "Moved")


@pytest.mark.parametrize(
    ("body", "content_type", "outcome", "says"),
    [
        (b"PK\x03\x04\x14\0\0\0\0\0[Content_Types].xml....word/document.xml", "text/html", "unsupported", "wordprocessingml"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "text/html", "unsupported", "image/png"),
        (pdf([[], []]), "application/pdf", "unsupported", "pictures of text"),
        (b"%PDF-1.7\nnothing", "application/pdf", "failed", "damaged"),
        (b"[" * 100_000 + b"]" * 100_000, "application/json", "failed", "nested too deeply"),
        (b"[" + b"9" * 1_000_000 + b"]", "application/json", "failed", "1,000,000 digits"),
        (b"<!DOCTYPE r [<!ENTITY a 'b'>]><rss><channel><title>&a;</title></channel></rss>", "application/rss+xml", "failed", "entities"),
    ],
    ids=["office", "picture", "scan", "broken", "deep", "digits", "entities"],
)  # fmt: skip
def test_what_cannot_be_read_says_so_in_a_word_and_a_sentence(
    home: Path, body: bytes, content_type: str, outcome: str, says: str
) -> None:
    with site() as here:
        told = read(home, here, body, content_type)
    assert told["outcome"] == outcome
    assert says in told["detail"]


def test_a_feed_and_a_document_of_json_can_be_cited(home: Path) -> None:
    feed = "<rss><channel><title>Harbour</title><item><title>Tide in Bergen</title><description>&lt;p&gt;The tide in Bergen rises &lt;b&gt;3 metres&lt;/b&gt; twice a day.&lt;/p&gt;</description></item></channel></rss>"
    folder = home.parent / "kept"
    folder.mkdir()
    (folder / "feed").write_text(feed, encoding="utf-8")
    (folder / "river").write_text(json.dumps({"about": "The Okavango ends in a delta in Botswana, über Sand."}))
    run(home, "add", str(folder / "feed"), str(folder / "river"), "--library", "few")
    for question, quote in (
        ("How much does the tide in Bergen rise?", "The tide in Bergen rises 3 metres twice a day."),
        ("Where does the Okavango end?", "The Okavango ends in a delta in Botswana, über Sand."),
    ):
        answer = one_object(run(home, "ask", question, "--library", "few", "--json"))
        assert quote in answer["claims"][0]["citations"][0]["quote"]
        assert one_object(run(home, "verify", answer["id"], "--json"))["ok"] is True
