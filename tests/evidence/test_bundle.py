"""Bundles: whole or not at all, and only what belongs in them."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from firsthand.errors import DigestMismatch, InvalidInput, NotAllowed, StoreFailed
from firsthand.evidence.bundle import MANIFEST, Item, ItemRow, read_bundle, write_bundle
from firsthand.evidence.verify import Kept, verify_answer
from firsthand.ids import payload_digest, text_digest

PAYLOAD, BODY = b"<p>It floods in winter. \xff</p>", "It floods in winter. \ud800"
ITEM = Item(payload_digest(PAYLOAD), PAYLOAD, text_digest(BODY), BODY, "text/html", "utf-8", "test/1")


def answer(text: str = "It floods in winter.") -> dict[str, Any]:
    citation = {
        "source": 1, "url": "http://a.example/", "quote": text, "prefix": "", "suffix": "", "snapshot": ITEM.snapshot,
        "text_digest": ITEM.text_digest, "start": 0, "end": len(text), "verdict": "exact",
    }  # fmt: skip
    return {
        "schema": "firsthand.answer/1",
        "text": text,
        "claims": [{"text": text, "start": 0, "end": len(text), "citations": [citation]}],
        "sources": [{"n": 1, "url": "http://a.example/", "snapshot": ITEM.snapshot, "media_type": "text/html"}],
    }


def test_what_is_written_is_read_back_and_verifies(tmp_path: Path) -> None:
    write_bundle(answer(), [ITEM], tmp_path / "new" / "b")
    bundle = read_bundle(tmp_path / "new" / "b")
    assert bundle.answer == answer()
    assert bundle.items == {(ITEM.snapshot, ITEM.text_digest): ItemRow("text/html", "utf-8", "test/1")}
    assert bundle.load(ITEM.snapshot, ITEM.text_digest) == Kept(PAYLOAD, BODY)
    assert bundle.load("sha256:" + "0" * 64, "sha256:../../etc") == Kept(None, None)
    assert verify_answer(bundle.answer, bundle.load).ok
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["b"]


@pytest.mark.parametrize(
    "row", ["", "[]", "{}", "3", '[3, null, [], {"snapshot": 1}, {"snapshot": "a", "charset": 7}]']
)
def test_rows_that_say_nothing_of_a_page_are_left_out(tmp_path: Path, row: str) -> None:
    write_bundle(answer(), [ITEM], tmp_path / "b")
    items, manifest = tmp_path / "b" / "items.json", tmp_path / "b" / MANIFEST
    old = hashlib.sha256(items.read_bytes()).hexdigest()
    items.write_text(row)
    manifest.write_text(manifest.read_text().replace(old, hashlib.sha256(items.read_bytes()).hexdigest()))
    if row:
        assert read_bundle(tmp_path / "b").items == {}
    else:
        with pytest.raises(InvalidInput, match=r"items\.json"):
            read_bundle(tmp_path / "b")


def test_the_same_bundle_again_changes_nothing_and_another_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    folder.mkdir()
    write_bundle(answer(), [ITEM], folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    write_bundle(answer(), [ITEM], folder)
    with pytest.raises(NotAllowed):
        write_bundle(answer("It floods"), [ITEM], folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_file_or_a_link_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name in ("file", "link"):
        with pytest.raises(NotAllowed):
            write_bundle(answer(), [ITEM], tmp_path / name)
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (Item(ITEM.snapshot, PAYLOAD + b" ", ITEM.text_digest, BODY), DigestMismatch),
        (Item(ITEM.snapshot, PAYLOAD, ITEM.text_digest, BODY + " "), DigestMismatch),
        (Item(payload_digest(b""), b"", text_digest(""), ""), InvalidInput),
    ],
)
def test_a_bundle_that_could_not_verify_is_never_written(tmp_path: Path, item: Item, error: type[Exception]) -> None:
    with pytest.raises(error):
        write_bundle(answer(), [item], tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_refuses_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = os.fsync
    for nth in range(1, 12):
        left = [nth]

        def failing(handle: int, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise OSError(errno.EIO, "Input/output error")
            synced(handle)

        monkeypatch.setattr(os, "fsync", failing)
        try:
            write_bundle(answer(), [ITEM], tmp_path / "b")
        except StoreFailed as error:
            assert "Input/output error" in error.message
        else:
            break
        if (tmp_path / "b").exists():  # only the folder above could not be synced: what is there is whole
            read_bundle(tmp_path / "b")
        assert [path.name for path in tmp_path.iterdir()] in ([], ["b"])
    assert nth > 5
    read_bundle(tmp_path / "b")


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        read_bundle(tmp_path)
    with pytest.raises(InvalidInput):
        read_bundle(tmp_path / "none")
