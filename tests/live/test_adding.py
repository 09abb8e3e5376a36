"""Keeping files and folders: what is taken, by which name, what is skipped, what is said of the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from firsthand.db import Connection, Database
from firsthand.errors import InvalidInput, StoreFailed
from firsthand.evidence import store
from firsthand.live import adding
from firsthand.live.adding import Added, Adder, name_of_site
from firsthand.live.extraction import Extraction


@pytest.fixture
def extraction() -> Iterator[Extraction]:
    made = Extraction(1)
    yield made
    made.close()


Seen = list[tuple[int, int, str]]


async def add(database: Database, extraction: Extraction, *paths: Path, base: str | None = None) -> tuple[Added, Seen]:
    seen: Seen = []
    adder = Adder(database, extraction, "lib", lambda done, total, what: seen.append((done, total, what)))
    await adder.files(paths, base)
    return await adder.finish(), seen


def write(file: Path, words: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"<html><head><title>T</title></head><body><p>{words}</p></body></html>")
    return file


def addresses(connection: Connection) -> set[str]:
    return {ref.url for ref in store.page_refs(connection, [1, 2, 3, 4]).values()}


async def test_a_folder_is_kept_under_its_sites_name_hidden_and_other_files_left_out(
    sqlite_database: Database, extraction: Extraction, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    write(folder / "a.html", "The first page is about herons.")
    write(folder / "deep" / "b c.html", "The second page is about reeds.")
    write(folder / ".git" / "x.html", "This is hidden.")
    write(folder / ".hidden.html", "This is hidden too.")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "loop").symlink_to(folder)
    added, seen = await add(sqlite_database, extraction, folder, base="https://example.org/docs/")
    assert (added.kept, added.pages, added.failed) == (2, 2, [])
    assert seen == [(1, 2, seen[0][2]), (2, 2, seen[1][2])]
    assert {what for _, _, what in seen} == {
        "https://example.org/docs/a.html",
        "https://example.org/docs/deep/b%20c.html",
    }


async def test_again_only_what_changed_is_kept(
    sqlite_database: Database, extraction: Extraction, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    write(folder / "a.html", "The first page is about herons.")
    changing = write(folder / "b.html", "The second page is about reeds.")
    await add(sqlite_database, extraction, folder)
    write(changing, "The second page is about lilies now.")
    added, _ = await add(sqlite_database, extraction, folder)
    assert (added.kept, added.unchanged, added.pages) == (1, 1, 2)


async def test_a_file_without_a_base_is_named_by_its_own_address(
    sqlite_database: Database, extraction: Extraction, tmp_path: Path
) -> None:
    _, seen = await add(sqlite_database, extraction, write(tmp_path / "a.html", "A page about herons."))
    assert seen[0][2] == (tmp_path / "a.html").as_uri()


async def test_what_cannot_be_kept_is_a_row_with_its_outcome(
    sqlite_database: Database, extraction: Extraction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adding, "FILE_MAX_BYTES", 1000)
    os.mkfifo(tmp_path / "pipe.html")
    (tmp_path / "large.txt").write_bytes(b"x" * 1001)
    (tmp_path / "empty").mkdir()
    (tmp_path / "dead.html").symlink_to(tmp_path / "gone")
    paths = [tmp_path / name for name in ("pipe.html", "large.txt", "empty", "dead.html", "n" * 400)]
    added, _ = await add(sqlite_database, extraction, *paths)
    assert added.kept == 0
    assert {Path(row.target).name[:9]: row.outcome for row in added.failed} == {
        "pipe.html": "unsupported",
        "large.txt": "too_large",
        "empty": "empty",
        "dead.html": "not_found",
        "n" * 9: "not_found",
    }


async def test_a_store_that_fails_stops_the_add_with_its_own_error(
    sqlite_database: Database, extraction: Extraction, tmp_path: Path
) -> None:
    for number in range(4):
        write(tmp_path / "folder" / f"{number}.html", f"Page number {number} is about herons.")

    def break_it(connection: Connection) -> None:
        connection.execute(sa.text("ALTER TABLE capture RENAME TO gone"))

    await sqlite_database.write(break_it)
    with pytest.raises(StoreFailed):
        await add(sqlite_database, extraction, tmp_path / "folder")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("https://Example.org", "https://example.org/"),
        ("https://example.org/docs", "https://example.org/docs/"),
        ("https://example.org/docs/?q=1#x", "https://example.org/docs/"),
        ("http://127.0.0.1:9/x/", "http://127.0.0.1:9/x/"),  # a name, not judged and never fetched
    ],
)
def test_a_sites_name_is_canonical_and_ends_in_a_slash(given: str, named: str) -> None:
    assert name_of_site(given) == named


@pytest.mark.parametrize("given", ["", "docs", "ftp://example.org/", "javascript:alert(1)"])
def test_what_is_no_address_names_no_site(given: str) -> None:
    with pytest.raises(InvalidInput):
        name_of_site(given)


async def test_a_folder_named_as_a_site_gives_its_pages_and_not_their_twins(
    sqlite_database: Database, extraction: Extraction, tmp_path: Path
) -> None:
    write(tmp_path / "site" / "a.html", "The first page is about herons.")
    write(tmp_path / "site" / "b.html", "The second page is about reeds.")
    (tmp_path / "site" / "a.txt").write_text("The first page is about herons.")
    (tmp_path / "site" / "notes.txt").write_text("These notes are about swans, and no page is named like them.")
    named, _ = await add(sqlite_database, extraction, tmp_path / "site", base=name_of_site("https://birds.example/"))
    assert (named.kept, named.skipped, named.pages) == (3, 1, 3)
    plain, _ = await add(sqlite_database, extraction, tmp_path / "site")
    assert (plain.kept, plain.skipped) == (4, 0)


async def test_the_odd_print_in_a_large_folder_of_pages_is_left_out(
    sqlite_database: Database, extraction: Extraction, tmp_path: Path
) -> None:
    for n in range(20):
        write(tmp_path / "site" / f"p{n}.html", f"Page {n} is about herons and reeds.")
    (tmp_path / "site" / "whole-manual.txt").write_text("All pages about herons and reeds in one.")
    named, _ = await add(sqlite_database, extraction, tmp_path / "site", base=name_of_site("https://birds.example/"))
    assert (named.kept, named.skipped) == (20, 1)


async def test_what_a_folder_has_beside_pages_is_counted_by_kind(
    sqlite_database: Database, extraction: Extraction, tmp_path: Path
) -> None:
    folder = write(tmp_path / "folder" / "a.html", "The first page is about herons.").parent
    (folder / "picture.png").write_bytes(b"\x89PNG")
    one, _ = await add(sqlite_database, extraction, folder)
    assert one.left_out_words() == "1 file of another kind was left out: 1 .png."
    for n in range(7):
        (folder / f"x.k{n}").write_text("words")
    many, _ = await add(sqlite_database, extraction, folder)
    assert many.left_out_words() == (
        "8 files of other kinds were left out: 1 .png, 1 .k0, 1 .k1, 1 .k2, 1 .k3 and 3 other kinds."
    )
    assert one.as_json() == {"library": "lib", "pages": 1, "kept": 1, "unchanged": 0, "failed": []}


async def test_each_kind_of_data_that_a_folder_leaves_out_is_kept_when_it_is_named(
    sqlite_database: Database, extraction: Extraction, tmp_path: Path
) -> None:
    xml = "<?xml version='1.0'?><feed><title>Herons</title><entry><title>One</title></entry></feed>"
    words = {".json": '{"bird": "heron"}', ".xml": xml, ".rss": xml, ".atom": xml}
    files = [tmp_path / f"a{suffix}" for suffix in sorted(adding.NAMED_SUFFIXES)]
    for file in files:
        file.write_text(words.get(file.suffix, f"bird: heron\nkind: {file.suffix[1:]}\n"))
    added, _ = await add(sqlite_database, extraction, *files)
    assert (added.failed, added.pages, added.left_out_words()) == ([], len(files), "")
