"""What is known of an address from before, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from firsthand.db import Connection, Database
from firsthand.evidence import store
from firsthand.evidence.captures import (
    CAME_AS_MAX,
    Capture,
    came_as,
    changed_since,
    held_text,
    is_held,
    made_by,
    n_read_otherwise,
    newest_capture,
    only_text,
)
from firsthand.ids import text_digest
from firsthand.values import Block, Page, Span, Text

AT = datetime(2026, 5, 4, 3, 2, 1, 500_000, tzinfo=UTC)
URL = "https://example.org/a"


def page(
    payload: bytes = b"<p>Water boils.</p>", url: str = URL, *, asked: str = "", days: int = 0, is_file: bool = False
) -> Page:
    return Page(asked or url, url, 200, {}, payload, AT + timedelta(days), is_file=is_file)


def text(body: str = "Water boils.", version: str = "1", charset: str | None = None) -> Text:
    block = Block("paragraph", Span(0, len(body)))
    return Text(body, (block,), "text/html", charset=charset, extractor="blocks", extractor_version=version)


def newest(database: Database, url: str, asked: str | None = None) -> Capture | None:
    return database.read_now(newest_capture, url, asked)


def test_the_last_fetch_of_an_address_is_its_newest_capture(database: Database) -> None:
    database.write_now(store.keep_page, page(b"old"))
    kept = database.write_now(store.keep_page, page(b"new", days=-9))  # a clock that jumped back
    database.write_now(store.keep_page, page(b"other", "https://example.org/b", days=3))

    assert newest(database, URL) == Capture(kept.capture_id, URL, kept.snapshot, AT - timedelta(9))
    assert newest(database, "https://example.org/c") is None


def test_a_file_that_was_named_by_an_address_is_no_fetch_of_it(database: Database) -> None:
    database.write_now(store.keep_page, page(b"from a folder", is_file=True))
    assert newest(database, URL) is None
    fetched = database.write_now(store.keep_page, page(b"from the site"))
    database.write_now(store.keep_page, page(b"from the folder, later", is_file=True))
    found = newest(database, URL, URL)
    assert found is not None and found.capture_id == fetched.capture_id


def test_an_address_that_was_redirected_has_a_capture_for_whoever_asks_there(database: Database) -> None:
    short = "https://example.org/short"
    kept = database.write_now(store.keep_page, page(asked=short))

    assert newest(database, short) is None  # a validator belongs to the address that answered
    found = newest(database, short, short)
    assert found is not None and (found.capture_id, found.url) == (kept.capture_id, URL)


def test_of_what_answered_and_what_was_asked_the_later_one_counts(database: Database) -> None:
    other = "https://example.org/other"
    database.write_now(store.keep_page, page(b"here"))
    led = database.write_now(store.keep_page, page(b"there", other, asked=URL))
    found = newest(database, URL, URL)
    assert found is not None and (found.capture_id, found.url) == (led.capture_id, other)
    again = database.write_now(store.keep_page, page(b"here again", asked="https://example.org/third"))
    found = newest(database, URL, URL)
    assert found is not None and (found.capture_id, found.url) == (again.capture_id, URL)


def test_the_only_text_of_an_extractor_is_found_and_two_of_one_payload_are_not_chosen_from(database: Database) -> None:
    def keep(connection: Connection) -> tuple[str, int]:
        snapshot = store.keep_page(connection, page()).snapshot
        store.keep_text(connection, snapshot, text(version="2"))
        return snapshot, store.keep_text(connection, snapshot, text())[0]

    snapshot, text_id = database.write_now(keep)
    assert database.read_now(only_text, snapshot, "blocks", "1") == text_id
    assert database.read_now(only_text, snapshot, "blocks", "3") is None
    database.write_now(store.keep_text, snapshot, text(charset="utf-8"))
    assert database.read_now(only_text, snapshot, "blocks", "1") is None


def test_a_page_has_changed_when_a_later_fetch_of_it_brought_another_text(database: Database) -> None:
    def keep(connection: Connection, payload: str, words: str, url: str = URL) -> tuple[str, str]:
        snapshot = store.keep_page(connection, page(payload.encode(), url)).snapshot
        store.keep_text(connection, snapshot, text(words))
        return snapshot, text_digest(words)

    def changed(old: tuple[str, str], url: str = URL) -> str | None:
        newer = database.read_now(changed_since, url, *old)
        return None if newer is None else newer.snapshot

    one = database.write_now(keep, "one", "Water boils.")
    assert changed(one) is None
    database.write_now(keep, "one, with a token", "Water boils.")
    assert changed(one) is None  # other bytes, the same words
    two = database.write_now(keep, "two", "Water freezes.")
    assert (changed(one), changed(two)) == (two[0], None)
    assert changed(("sha256:" + "0" * 64, "x")) is None  # nobody knows which is newer
    elsewhere = database.write_now(keep, "elsewhere", "Other words.", "https://example.org/b")
    assert changed(elsewhere) is None
    database.write_now(keep, "one", "Water boils.")  # it is what it was
    assert (changed(one), changed(two)) == (None, one[0])


def test_two_versions_of_the_extractor_make_no_change_of_a_page(database: Database) -> None:
    """Texts are compared as one version made them; where none made both, the cited words decide."""

    def keep(connection: Connection, payload: str, words: str, version: str) -> tuple[str, str]:
        snapshot = store.keep_page(connection, page(payload.encode())).snapshot
        store.keep_text(connection, snapshot, text(words, version))
        return snapshot, text_digest(words)

    def changed(old: tuple[str, str], quote: str) -> bool:
        return database.read_now(changed_since, URL, *old, quote) is not None

    one = database.write_now(keep, "one", "Water boils.", "1")
    database.write_now(keep, "one, with a token", "Home. Water\nboils.", "2")
    assert not changed(one, "Water boils.")
    assert changed(one, "Water boils at 100 degrees.")
    database.write_now(keep, "one", "Home. Water\nboils.", "2")
    database.write_now(keep, "one, with another token", "Home. Water\nboils.", "2")
    assert not changed(one, "Water boils at 100 degrees.")  # the same text, for the version that read both
    database.write_now(keep, "two", "Home. Water\nboils. So it was.", "2")
    assert changed(one, "Water boils.")


def test_pages_that_another_version_read_are_counted_by_library(database: Database) -> None:
    def keep(connection: Connection, library: str, version: str, url: str) -> int:
        kept = store.keep_page(connection, page(url=url))
        text_id, _ = store.keep_text(connection, kept.snapshot, text(version=version))
        store.hold(connection, library, url, text_id, kept.capture_id)
        return text_id

    old = database.write_now(keep, "docs", "1", URL)
    database.write_now(keep, "docs", "2", URL + "2")
    new = database.write_now(keep, "more", "2", URL)

    assert [database.read_now(n_read_otherwise, "blocks", "2", name) for name in ("docs", "more", None)] == [1, 0, 1]
    assert database.read_now(n_read_otherwise, "blocks", "1") == 2
    assert database.read_now(n_read_otherwise, "pdf", "2") == 3
    assert [database.read_now(is_held, text_id) for text_id in (old, new, 99)] == [True, True, False]
    database.write_now(keep, "docs", "2", URL)
    assert not database.read_now(is_held, old)


def test_a_snapshot_knows_as_what_it_came_and_who_read_it(database: Database) -> None:
    def keep(connection: Connection) -> str:
        for n in range(9):
            one = replace(page(url=f"{URL}{n // 2}"), headers={"content-type": "text/html"} if n else {})
            kept = store.keep_page(connection, one)
            store.keep_text(connection, kept.snapshot, text(version=str(n % 2)))
        return kept.snapshot

    snapshot = database.write_now(keep)
    assert database.read_now(came_as, snapshot)[:3] == [
        (f"{URL}0", None),
        (f"{URL}0", "text/html"),
        (f"{URL}1", "text/html"),
    ]
    assert len(database.read_now(came_as, snapshot)) == CAME_AS_MAX
    assert database.read_now(made_by, snapshot, text_digest("Water boils.")) == {("blocks", "0"), ("blocks", "1")}
    assert database.read_now(made_by, snapshot, text_digest("else")) == set()


def test_what_a_library_holds_under_an_address_is_known_by_its_words(database: Database) -> None:
    def keep(connection: Connection, words: str) -> None:
        kept = store.keep_page(connection, page(words.encode()))
        text_id, _ = store.keep_text(connection, kept.snapshot, text(words))
        store.hold(connection, "docs", URL, text_id, kept.capture_id)

    assert database.read_now(held_text, "docs", URL) is None
    database.write_now(keep, "one")
    database.write_now(keep, "two")
    found = database.read_now(held_text, "docs", URL)
    assert found is not None and found.text_digest == text_digest("two")
    assert database.read_now(held_text, "other", URL) is None
