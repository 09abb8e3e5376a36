"""The stand-alone checker of bundles: it agrees with what was written and notices every kind of change."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firsthand.errors import Error
from firsthand.evidence.bundle import Item, read_bundle, write_bundle
from firsthand.evidence.verify import verify_answer
from firsthand.ids import payload_digest, text_digest
from tools.verify_bundle import main

PAGE = (
    "<html><head><meta charset=utf-8><title>Delta</title><script>var a = 'never said';</script></head><body>"
    "<p>The Okavango Delta receives about <b>eleven</b> cubic&nbsp;kilometres of water each year.</p>"
    "<!-- It receives 99. --><table><tr><td>Länge</td><td>25 km</td></tr></table></body></html>"
)
BODY = "The Okavango Delta receives about eleven cubic kilometres of water each year.\nLänge\t25 km"
QUOTES = [BODY.split("\n")[0], "Länge\t25 km"]


def answer_of(
    payload: bytes, body: str, quotes: list[str], *, media_type: str = "text/html", verdict: str = "exact"
) -> dict[str, Any]:
    """An answer with one claim a quote, each the quote itself."""
    text, claims = "", []
    for quote in quotes:
        start = body.index(quote)
        citation = {
            "source": 1, "url": "http://a.example/p", "quote": quote, "prefix": "", "suffix": "",
            "snapshot": payload_digest(payload), "text_digest": text_digest(body),
            "start": start, "end": start + len(quote), "verdict": verdict,
            "support": "supported", "score": 1.0, "method": "verbatim",
        }  # fmt: skip
        claims.append({"text": quote, "start": len(text), "end": len(text) + len(quote), "citations": [citation]})
        text += quote + " [1](http://a.example/p)\n"
    source = {"n": 1, "url": "http://a.example/p", "snapshot": payload_digest(payload), "media_type": media_type}
    return {"schema": "firsthand.answer/1", "text": text, "claims": claims, "sources": [source]}


def make(
    folder: Path,
    payload: bytes | None = None,
    body: str = BODY,
    quotes: list[str] = QUOTES,
    *,
    media_type: str = "text/html",
    charset: str | None = "utf-8",
) -> Path:
    """A bundle of one page."""
    payload = PAGE.encode() if payload is None else payload
    item = Item(payload_digest(payload), payload, text_digest(body), body, media_type, charset, "test/1")
    write_bundle(answer_of(payload, body, quotes, media_type=media_type), [item], folder)
    return folder


def remanifest(folder: Path) -> None:
    """Write the manifest anew, as someone who changes a bundle on purpose would."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    names.remove("MANIFEST.sha256")
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "MANIFEST.sha256").write_text("".join(lines))


def change_answer(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    answer = json.loads((folder / "answer.json").read_text())
    change(answer)
    (folder / "answer.json").write_text(json.dumps(answer))
    remanifest(folder)


def test_a_bundle_as_written_is_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make(tmp_path / "b")
    assert main([str(folder)]) == 0
    assert "2 citations, 2 good; 0 faults" in capsys.readouterr().out
    bundle = read_bundle(folder)
    assert verify_answer(bundle.answer, bundle.load).ok


def test_it_runs_alone_without_the_package(tmp_path: Path) -> None:
    folder = make(tmp_path / "b")
    script = Path(__file__).parent.parent / "tools" / "verify_bundle.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script), str(folder)], cwd=tmp_path, capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
    source = script.read_text()
    assert "firsthand" not in source
    assert len(source.splitlines()) <= 200


@pytest.mark.parametrize("kind", ["MANIFEST.sha256", "answer.json", "items.json", "payloads/", "texts/"])
def test_a_changed_byte_in_any_file_is_noticed(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make(tmp_path / "b")
    [path] = [path for path in folder.rglob("*") if path.is_file() and str(path.relative_to(folder)).startswith(kind)]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert main([str(folder)]) == 1
    assert kind.split(".")[0] in capsys.readouterr().out
    with pytest.raises(Error):
        read_bundle(folder)


@pytest.mark.parametrize("kind", ["MANIFEST.sha256", "answer.json", "items.json", "payloads/", "texts/"])
def test_a_missing_file_is_noticed(tmp_path: Path, kind: str) -> None:
    folder = make(tmp_path / "b")
    [path] = [path for path in folder.rglob("*") if path.is_file() and str(path.relative_to(folder)).startswith(kind)]
    path.unlink()
    assert main([str(folder)]) == (2 if kind == "MANIFEST.sha256" else 1)
    with pytest.raises(Error):
        read_bundle(folder)


@pytest.mark.parametrize("name", ["extra", "payloads/x", "texts/.hidden", "sub/deep/file"])
def test_an_extra_file_is_noticed(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make(tmp_path / "b")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("x")
    assert main([str(folder)]) == 1
    assert f"{name} is not in the manifest" in capsys.readouterr().out
    with pytest.raises(Error):
        read_bundle(folder)


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "span": (lambda a: a["claims"][0]["citations"][0].update(start=3), "not at its span in the text"),
    "quote": (
        lambda a: a["claims"][0]["citations"][0].update(quote="The delta is dry."),
        "not at its span in the text",
    ),
    "verdict": (lambda a: a["claims"][0]["citations"][0].update(verdict="missing"), "not at its span in the text"),
    "snapshot": (
        lambda a: a["claims"][0]["citations"][0].update(snapshot="sha256:" + "0" * 64),
        "page is not in the bundle",
    ),
    "text": (
        lambda a: a["claims"][0]["citations"][0].update(text_digest="sha256:" + "0" * 64),
        "text is not in the bundle",
    ),
    "source": (lambda a: a["claims"][0]["citations"][0].update(source=9), "source is another page"),
    "url": (lambda a: a["claims"][0]["citations"][0].update(url="http://b.example/"), "source is another page"),
    "claim": (lambda a: a["claims"][1].update(start=1), "claim 2 is not at its span"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_an_answer_changed_on_purpose_is_noticed(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make(tmp_path / "b")
    change, line = CHANGES[kind]
    change_answer(folder, change)
    assert main([str(folder)]) == 1
    assert line in capsys.readouterr().out
    bundle = read_bundle(folder)
    assert not verify_answer(bundle.answer, bundle.load).ok


@pytest.mark.parametrize("said", ["It receives 99.", "var a = 'never said';"])
def test_a_text_that_the_page_does_not_say_is_noticed(
    tmp_path: Path, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make(tmp_path / "b", body=f"{said} And more.", quotes=[said])
    assert main([str(folder)]) == 1
    assert "its quote is not in the page" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("payload", "media_type", "charset"),
    [
        ("<meta charset=windows-1251><p>Дельта получает одиннадцать км³ воды.".encode("cp1251", "xmlcharrefreplace"), "text/html", None),
        ("<p>Дельта получает одиннадцать км³ воды.".encode("cp1251", "xmlcharrefreplace"), "text/html", "windows-1251"),
        ("\ufeff<p>Дельта получает одиннадцать км³ воды.".encode("utf-16le"), "text/html", None),
        ("Дельта получает\n\u00adодиннадцать км³ воды.".encode(), "text/plain", None),
        ("<p>Дельта <i>получ</i>ает одиннадцать <![ км³ воды.".encode(), "text/html", None),
    ],
)  # fmt: skip
def test_pages_are_read_in_their_own_encoding(
    tmp_path: Path, payload: bytes, media_type: str, charset: str | None
) -> None:
    quote = "Дельта получает одиннадцать"
    assert main([str(make(tmp_path / "b", payload, quote, [quote], media_type=media_type, charset=charset))]) == 0


def test_a_pdf_is_checked_by_digest_and_the_line_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make(tmp_path / "b", b"%PDF-1.4 ...", media_type="application/pdf")
    assert main([str(folder)]) == 0
    assert "page by digest only: PDF" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        "{0}  ../../etc/passwd", "{0}  /etc/passwd", "{0}  payloads/../answer.json", "{0} answer.json", "{0}  answer.json",
        "x" * 1_000_000, "{0}  payloads/" + "a" * 64 + "\x85", "\x00", "",
    ],
)  # fmt: skip
def test_a_hostile_manifest_line_is_named(tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make(tmp_path / "b")
    with (folder / "MANIFEST.sha256").open("a", encoding="latin-1") as file:
        file.write(line.format("0" * 64) + "\n")
    assert main([str(folder)]) == 1
    assert "MANIFEST.sha256 line 5 is not as it was written" in capsys.readouterr().out
    with pytest.raises(Error):
        read_bundle(folder)


HOSTILE_ANSWERS = [
    b"[" * 200_000, b'{"text": "a", "sources": [{"n": 1}], "claims": [{"text": "a", "start": 0, "end": Infinity, "citations": []}]}', b"{}", b"[]", b"null", b"\xff\xfe", b'{"claims": 3, "sources": [], "text": ""}', b"1" * 100_000,
    b'{"text": "", "sources": [], "claims": [{}]}',
    b'{"text": "a", "sources": [], "claims": [{"text": "a", "start": 0, "end": 1, "citations": [{"source": {}}]}]}',
    b'{"text": "a", "sources": [], "claims": [{"text": "a", "start": "0", "end": 1, "citations": []}]}',
]  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE_ANSWERS, ids=lambda content: repr(content[:20]))
def test_an_answer_of_another_form_is_not_a_bundle(tmp_path: Path, content: bytes) -> None:
    folder = make(tmp_path / "b")
    (folder / "answer.json").write_bytes(content)
    remanifest(folder)
    assert main([str(folder)]) == 2
    try:
        bundle = read_bundle(folder)
    except Error:
        return
    assert not verify_answer(bundle.answer, bundle.load).ok


@pytest.mark.parametrize("piece", ["<!--", "<![ x", "<a b='", "<script>", "&#", "<"])
def test_a_page_that_wears_the_reader_out_ends_as_not_found(
    tmp_path: Path, piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.verify_bundle.PAGE_SECONDS", 0.2)
    folder = make(tmp_path / "b", piece.encode() * 100_000, "never said", ["never said"])
    assert main([str(folder)]) == 1


def test_links_and_devices_are_not_followed(tmp_path: Path) -> None:
    folder = make(tmp_path / "b")
    (folder / "texts").rename(tmp_path / "elsewhere")
    (folder / "texts").symlink_to(tmp_path / "elsewhere")
    assert main([str(folder)]) == 1
    with pytest.raises(Error):
        read_bundle(folder)
    other = make(tmp_path / "c")
    (other / "answer.json").rename(tmp_path / "answer.json")
    (other / "answer.json").symlink_to(tmp_path / "answer.json")
    assert main([str(other)]) == 1
    with pytest.raises(Error):
        read_bundle(other)
    (other / "answer.json").unlink()
    os.mkfifo(other / "answer.json")
    assert main([str(other)]) == 1
    with pytest.raises(Error):
        read_bundle(other)


def test_what_is_no_bundle_is_said_to_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    for arguments in ([str(tmp_path)], [str(tmp_path / "none")], [str(tmp_path / "file")], [], ["--help"]):
        assert main(arguments) == 2
    assert capsys.readouterr().out.count("not a bundle") == 3


def test_every_random_change_of_a_byte_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make(tmp_path / "b")
    files = [path for path in folder.rglob("*") if path.is_file()]
    chance = random.Random(20260101)
    for _ in range(400):
        path = chance.choice(files)
        content = path.read_bytes()
        changed = bytearray(content)
        at = chance.randrange(len(content))
        how = chance.randrange(3)
        if how == 0:
            changed[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            del changed[at]
        else:
            changed.insert(at, chance.randrange(256))
        path.write_bytes(changed)
        noticed = main([str(folder)])
        also = _refused(folder)
        path.write_bytes(content)
        # Inserting a byte beside an equal one, or deleting one of two, can leave the same bytes.
        assert bytes(changed) == content or (noticed == 1 and also), (path.name, at, how)
    capsys.readouterr()
    assert main([str(folder)]) == 0


def _refused(folder: Path) -> bool:
    try:
        read_bundle(folder)
    except Error:
        return True
    return False
