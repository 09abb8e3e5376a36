"""Pages and their ranking."""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand.testing.world.http import Reply
from firsthand.testing.world.library import Library, read_html

TIDES = "<title>Tides</title><p>The tide turns at noon, and the harbour empties within the hour."
DUNES = "<title>Dunes</title><p>The dunes move inland by two metres a year, whatever is planted on them."


def test_the_best_page_comes_first_with_words_around_what_was_asked() -> None:
    found = Library({"tides.html": TIDES, "dunes.html": DUNES}).search("when does the tide turn")
    assert [(hit.path, hit.title) for hit in found] == [("tides.html", "Tides")]
    assert "turns at noon" in found[0].snippet


def test_nothing_is_found_for_words_that_are_nowhere_and_for_no_words() -> None:
    library = Library({"tides.html": TIDES})
    assert (library.search("glaciers"), library.search("what is it?"), library.search('"')) == ([], [], [])


def test_words_of_every_script_are_searched() -> None:
    assert [hit.path for hit in Library({"jp.html": "<p>東京 の 塔 です"}).search("東京")] == ["jp.html"]


def test_a_page_that_is_put_again_is_found_by_its_new_words_only() -> None:
    library = Library({"a.html": TIDES})
    library.put("a.html", DUNES)
    assert (library.search("tide"), [hit.path for hit in library.search("dunes")]) == ([], ["a.html"])


def test_a_page_with_a_status_of_its_own_is_served_and_not_found() -> None:
    library = Library({"gone.html": Reply(TIDES.encode(), 410)})
    reply = library.page("gone.html")
    assert reply is not None and (reply.status, library.search("tide")) == (410, [])


def test_a_folder_serves_its_files_and_nothing_outside_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "tides.html").write_text(TIDES * 5)
    (folder / "note.txt").write_text("plain")
    (tmp_path / "secret.html").write_text(TIDES)
    library = Library(folder)
    note = library.page("note.txt")
    assert note is not None and note.content_type == "text/plain; charset=utf-8"
    assert (library.n_found, library.page("../secret.html"), library.page("none.html")) == (1, None, None)


def test_a_folder_that_is_none_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError):
        Library(tmp_path / "nowhere")


def test_the_text_of_a_page_leaves_scripts_out() -> None:
    title, text = read_html("<title>A &amp; B</title><script>var a</script><p>one<p>two<style>p{}</style>")
    assert (title, text) == ("A & B", "one\ntwo")
