"""Recall: what was kept is found again, the same on both databases, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand.db import Connection, Database
from firsthand.errors import InvalidInput, NotFound
from firsthand.evidence.index import is_indexed, match_expression, matches, page, passage, term
from firsthand.evidence.lookups import without_common
from firsthand.evidence.recall import (
    SNIPPET_CHARS,
    SqlShelf,
    index_text,
    lookup,
    rarity,
    remove_text,
    search_kept,
    sites,
    slice_text,
    snippet,
    text_passages,
)
from firsthand.evidence.store import hold, keep_page, keep_text
from firsthand.ports import Lookup, Scope
from firsthand.values import Block, Page, Span, Text

AT = datetime(2026, 1, 1, tzinfo=UTC)
EVERYTHING = Scope()
PAGES: dict[str, tuple[str, str | None, list[str]]] = {
    "https://docs.test/db/limits.html": (
        "Limits in Tinybase",
        "en",
        ["A join has at most 64 tables.", "The page size of Tinybase is 4096 bytes.", "Use foreign_keys to check."],
    ),
    "https://docs.test/db/wal.html": (
        "The log of Tinybase",
        "en",
        ["The write-ahead log grows until a checkpoint runs.", "A checkpoint runs after 1,000 pages."],
    ),
    "https://docs.test/fr/regles.html": ("Règles", "fr", ["Les requêtes échouent à l'été."]),
    "https://docs.test/ja/ryoushi.html": (
        "量子入門",
        "ja",
        ["量子コンピュータは東京にある。", "データを消してください。"],
    ),
    "https://docs.test/zh/db.html": ("数据库", "zh", ["事务在提交之后才可见。", "我的猫很可爱。"]),
    "https://docs.test/ko/db.html": ("데이터베이스", "ko", ["트랜잭션을 삭제하면 복구할 수 없습니다."]),
    "https://docs.test/th/db.html": ("ฐานข้อมูล", "th", ["การลบข้อมูลไม่สามารถย้อนกลับได้"]),
    "https://docs.test/ru/db.html": ("Базы данных", "ru", ["Пакеты удаляются командой purge."]),
}


def text_of(title: str, language: str | None, paragraphs: Sequence[str]) -> Text:
    blocks: list[Block] = []
    body = ""
    for words in paragraphs:
        body += "\n\n" if body else ""
        blocks.append(Block("paragraph", Span(len(body), len(body) + len(words)), headings=(title,)))
        body += words
    return Text(body=body, blocks=tuple(blocks), media_type="text/html", title=title, language=language, extractor="x")


def add(connection: Connection, url: str, text: Text, library: str | None) -> int:
    kept = keep_page(connection, Page(url, url, 200, {"content-type": "text/html"}, text.body.encode(), AT))
    text_id, _ = keep_text(connection, kept.snapshot, text)
    if library:
        hold(connection, library, url, text_id, kept.capture_id)
    index_text(connection, text_id, text)
    return text_id


@pytest.fixture
def shelf(database: Database) -> Database:
    """A database with one library of small pages."""

    def fill(connection: Connection) -> None:
        for url, (title, language, paragraphs) in PAGES.items():
            add(connection, url, text_of(title, language, paragraphs), "docs")

    database.write_now(fill)
    return database


def bodies(database: Database, lookups: Sequence[Lookup], scope: Scope = EVERYTHING) -> set[str]:
    return {each.body for each in database.read_now(lookup, lookups, scope)}


def recalled(database: Database, query: str, scope: Scope = EVERYTHING) -> set[str]:
    return {hit.snippet for hit in database.read_now(search_kept, query, scope).items}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("東京", {"量子コンピュータは東京にある。"}),
        ("量子", {"量子コンピュータは東京にある。", "データを消してください。"}),  # the title says it
        ("消", {"データを消してください。"}),
        ("ください", {"データを消してください。"}),
        ("提交", {"事务在提交之后才可见。"}),
        ("猫", {"我的猫很可爱。"}),
        ("삭제", {"트랜잭션을 삭제하면 복구할 수 없습니다."}),
        ("ลบ", {"การลบข้อมูลไม่สามารถย้อนกลับได้"}),
        ("foreign_keys", {"Use foreign_keys to check."}),
        ("foreign key", {"Use foreign_keys to check."}),
        ("writeahead", {"The write-ahead log grows until a checkpoint runs."}),
        ("requete ete", {"Les requêtes échouent à l'été."}),
        ("1000", {"A checkpoint runs after 1,000 pages."}),
        ("CHECKPOINTS 1,000", {"A checkpoint runs after 1,000 pages."}),
        ("пакет purge", {"Пакеты удаляются командой purge."}),
        ("unheardof checkpoint 64", {  # no passage holds all of them, so any counts
            "A join has at most 64 tables.",
            "The write-ahead log grows until a checkpoint runs.",
            "A checkpoint runs after 1,000 pages.",
        }),
        ("unheardof", set()),
        ("", set()),
    ],
)  # fmt: skip
def test_words_of_any_script_are_found_on_both_databases(shelf: Database, query: str, found: set[str]) -> None:
    assert recalled(shelf, query) == found


def test_a_look_up_meets_all_groups_or_any(shelf: Database) -> None:
    groups = (("checkpoint",), ("log", "journal"))
    assert bodies(shelf, [Lookup("a", groups, "all")]) == {
        "The write-ahead log grows until a checkpoint runs.",
        "A checkpoint runs after 1,000 pages.",  # its title holds "log"
    }
    assert bodies(shelf, [Lookup("a", (*groups, ("nowher",)), "all")]) == set()
    assert len(bodies(shelf, [Lookup("a", (("checkpoint",), ("nowher",), ("64",)))])) == 3


def test_a_candidate_carries_all_that_ranking_needs(shelf: Database) -> None:
    lookups = [
        Lookup("words", (("64",),)),
        Lookup("pages", (("join",),), of="pages"),
        Lookup("site", (("join",),), site="https://docs.test/db/"),
        Lookup("elsewhere", (("join",),), site="https://docs.test/fr/"),
    ]
    (found,) = shelf.read_now(lookup, lookups, EVERYTHING)
    assert found.body == "A join has at most 64 tables."
    assert found.fields.title == ("limit", "in", "tinybas") == found.fields.headings
    assert found.fields.body == ("a", "join", "has", "at", "most", "64", "tabl")
    assert (found.page.url, found.page.library) == ("https://docs.test/db/limits.html", "docs")
    assert set(found.scores) == {"words", "pages", "site"}
    assert all(score > 0 for score in found.scores.values()) and found.page_score > 0
    assert found.passage.span == Span(0, 29)


def test_only_passages_of_the_scope_are_found(database: Database) -> None:
    def fill(connection: Connection) -> tuple[int, int]:
        for n in range(6):  # by turns, so that no library is one range of ids
            text = text_of(f"Page {n}", "en", [f"The kettle number {n} boils.", f"A cup number {n}."])
            add(connection, f"https://x.test/{n % 2}/{n}", text, f"library{n % 2}")
        first = add(connection, "https://x.test/t/a", text_of("T", "en", ["A kettle of this turn."]), None)
        other = add(connection, "https://x.test/t/b", text_of("T", "en", ["A kettle of another turn."]), None)
        return first, other

    mine, _ = database.write_now(fill)
    look = [Lookup("k", (("kettl",),)), Lookup("p", (("kettl",),), of="pages")]
    zero = {f"The kettle number {n} boils." for n in (0, 2, 4)}
    one = {f"The kettle number {n} boils." for n in (1, 3, 5)}
    assert bodies(database, look, Scope(("library0",))) == zero
    assert bodies(database, look, Scope(("library1",), (mine,))) == one | {"A kettle of this turn."}
    assert bodies(database, look, Scope((), (mine,))) == {"A kettle of this turn."}
    assert bodies(database, look, Scope(None, ())) == zero | one
    assert bodies(database, look, Scope(("nowhere",))) == set()
    assert bodies(database, [Lookup("k", (("kettl",),), site="https://x.test/t/")], Scope((), (mine,))) == {
        "A kettle of this turn."
    }
    assert recalled(database, "kettle", Scope(("library0",))) == zero


def test_a_limit_counts_within_the_scope(database: Database) -> None:
    def fill(connection: Connection) -> None:
        for n in range(40):
            text = text_of("T", "en", [f"A kettle, {n}."] if n % 10 else [f"The kettle number {n} boils slowly now."])
            add(connection, f"https://x.test/{n}", text, "few" if n % 10 == 0 else "many")

    database.write_now(fill)
    assert len(bodies(database, [Lookup("k", (("kettl",),), limit=3)], Scope(("few",)))) == 3


def test_a_look_up_that_is_cut_short_keeps_what_the_index_ranks_best(sqlite_database: Database) -> None:
    def fill(connection: Connection) -> None:
        for n in range(120):
            words = "A kettle boils" if n % 3 else "A kettle"
            words += " on a stove" * (n % 40) + (" with a lid." if n % 24 == 1 else ".")
            add(connection, f"https://x.test/{n}", text_of("T", "en", [words]), "docs")

    def ranked(connection: Connection) -> list[int]:
        found = matches(connection, "passage_index", match_expression(groups, False, True), None, 4)
        return [passage_id for passage_id, _ in found]

    groups = (("kettl",), ("boil",), ("lid",))
    sqlite_database.write_now(fill)
    few = sqlite_database.read_now(lookup, [Lookup("k", groups, limit=4)], EVERYTHING)
    assert [each.passage_id for each in few] == sqlite_database.read_now(ranked)
    (inside,) = sqlite_database.read_now(lookup, [Lookup("k", (("lid",),), of="pages", limit=1)], EVERYTHING)
    assert "lid" in inside.fields.body


def test_rarity_counts_the_passages_that_hold_a_term(shelf: Database) -> None:
    total, counts = shelf.read_now(rarity, ["checkpoint", "tinybas", "nowher"])
    assert total == sum(len(paragraphs) for _, _, paragraphs in PAGES.values())
    assert counts == {"checkpoint": 2, "tinybas": 5, "nowher": 0}


def test_a_site_is_named_by_its_folder_and_its_titles(shelf: Database) -> None:
    found = {each.site: each for each in shelf.read_now(sites, EVERYTHING)}
    assert set(found) == {f"https://docs.test/{folder}/" for folder in ("db", "fr", "ja", "zh", "ko", "th", "ru")}
    site = found["https://docs.test/db/"]
    assert (site.n_pages, site.languages) == (2, ("en",))
    assert {"db", "tinybas"} <= set(site.names) and "in" not in site.names


def test_the_passages_of_a_text_come_in_reading_order(shelf: Database) -> None:
    (found,) = {each.page.text_id for each in shelf.read_now(lookup, [Lookup("a", (("64",),))], EVERYTHING)}
    passages = shelf.read_now(text_passages, {found: None, 4711: None})
    assert [each.body for each in passages[found]] == PAGES["https://docs.test/db/limits.html"][2]
    assert passages[4711] == []


async def test_the_shelf_answers_through_its_port(shelf: Database) -> None:
    port = SqlShelf(shelf)
    (found,) = await port.lookup([Lookup("a", (("64",),))], EVERYTHING)
    assert (await port.text(found.page.text_id)).body.startswith(found.body)
    assert len((await port.passages({found.page.text_id: [0]}))[found.page.text_id]) == 3
    assert (await port.rarity(["64"]))[1] == {"64": 1}
    assert len(await port.sites(EVERYTHING)) == 7


def test_a_removed_text_leaves_nothing_in_the_index(shelf: Database) -> None:
    def ids(connection: Connection) -> list[int]:
        return list(connection.execute(sa.select(page.c.text_id)).scalars())

    for text_id in shelf.read_now(ids):
        shelf.write_now(remove_text, text_id)
    assert shelf.write_now(index_rows) == {"page": 0, "passage": 0, "term": 0, "passage_index": 0, "page_index": 0}
    assert recalled(shelf, "checkpoint") == set()


def test_a_text_indexed_again_is_there_once(shelf: Database) -> None:
    before = shelf.write_now(index_rows)
    text = text_of(*PAGES["https://docs.test/db/wal.html"])
    (text_id,) = {each.page.text_id for each in shelf.read_now(lookup, [Lookup("a", (("1000",),))], EVERYTHING)}
    shelf.write_now(index_text, text_id, text)
    assert shelf.write_now(index_rows) == before
    assert len(recalled(shelf, "checkpoint")) == 2


def test_a_transaction_that_fails_leaves_nothing_in_the_index(shelf: Database) -> None:
    before = shelf.write_now(index_rows)

    def fail(connection: Connection) -> None:
        add(connection, "https://docs.test/lost", text_of("Lost", "en", ["An unrepeatable kettle."]), "docs")
        raise RuntimeError("after the index was written")

    with pytest.raises(RuntimeError):
        shelf.write_now(fail)
    assert shelf.write_now(index_rows) == before
    assert recalled(shelf, "kettle") == set()


def index_rows(connection: Connection) -> dict[str, int]:
    """Rows by table; of a full-text index, the rows that still match any term that was ever there."""
    counts = {
        table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        for table in (page, passage, term)
    }
    for name in ("passage_index", "page_index"):
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"CREATE VIRTUAL TABLE temp.v_{name} USING fts5vocab(main, {name}, instance)")
            counts[name] = connection.exec_driver_sql(f"SELECT count(DISTINCT doc) FROM temp.v_{name}").scalar_one()
            connection.exec_driver_sql(f"DROP TABLE temp.v_{name}")
        else:
            counts[name] = connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()
    return counts


SYNTAX = [
    '"',
    "'",
    '") OR ("',
    "a AND b",
    "NEAR(a b)",
    "title:x",
    "-a",
    "*",
    "a*",
    "^a",
    "')::tsquery",
    "a & !b",
    "%s",
    "\0",
]


@given(
    query=st.lists(st.sampled_from(SYNTAX) | st.text(max_size=12), max_size=5).map(" ".join),
    terms=st.lists(st.sampled_from(SYNTAX) | st.text(max_size=6), max_size=4),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_input_is_an_error(shelf: Database, query: str, terms: list[str]) -> None:
    shelf.read_now(search_kept, query)
    groups = tuple((each,) for each in terms)
    for require in ("all", "any"):
        shelf.read_now(lookup, [Lookup("a", groups, require), Lookup("b", groups, require, "pages")], EVERYTHING)


def test_recall_goes_on_where_it_stopped_and_shows_three_hits_of_a_text(database: Database) -> None:
    def fill(connection: Connection, first: int, n: int) -> None:
        for each in range(first, first + n):
            paragraphs = [f"The kettle {each} boils {turn}." for turn in range(5)]
            add(connection, f"https://x.test/{each}", text_of("T", "en", paragraphs), "docs")

    database.write_now(fill, 0, 3)
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(20):
        hits = database.read_now(search_kept, "kettle", EVERYTHING, 4, cursor)
        assert all(sum(each.url == hit.url for each in hits.items) <= 3 for hit in hits.items)
        assert hits == database.read_now(search_kept, "kettle", EVERYTHING, 4, cursor)
        seen += [hit.snippet for hit in hits.items]
        if len(seen) == len(hits.items):
            database.write_now(fill, 3, 1)  # added since the first page: not shown
        cursor = hits.cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) and len(seen) >= 9
    assert not any("kettle 3" in each for each in seen)


@pytest.mark.parametrize("cursor", ["x", "W10", "bnVsbA", "é", "MTIz", "=" * 5])
def test_a_foreign_cursor_is_refused(shelf: Database, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        shelf.read_now(search_kept, "checkpoint", EVERYTHING, 4, cursor)


def test_a_page_without_text_is_found_by_its_title(shelf: Database) -> None:
    shelf.write_now(add, "https://docs.test/empty", text_of("Kettles", "en", []), "docs")
    (hit,) = shelf.read_now(search_kept, "kettle").items
    assert (hit.title, hit.url, hit.snippet) == ("Kettles", "https://docs.test/empty", "")


def test_a_snippet_shows_the_best_match_and_where_it_stands() -> None:
    body = "Nothing here. " * 100 + "The kettle boils loudly. " + "Nothing here. " * 100
    words, at = snippet(body, {"kettl", "boil"}, "en")
    assert "The kettle boils" in words and len(words) <= SNIPPET_CHARS
    assert words.startswith("…") and words.endswith("…")
    assert body[at:].startswith("kettle")
    words, at = snippet("無" * 500 + "東京" + "無" * 500, {"東京"}, "ja")
    assert "東京" in words and len(words) <= SNIPPET_CHARS and at == 500


@given(
    body=st.text("ab \n\n é字ก\u0301\u200d😀.", min_size=1, max_size=300).filter(lambda words: bool(words.strip())),
    limit=st.integers(1, 80),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_slices_joined_are_the_text(sqlite_database: Database, body: str, limit: int) -> None:
    text = Text(body=body, blocks=(Block("paragraph", Span(0, len(body))),), media_type="text/plain", extractor="x")

    def put(connection: Connection) -> str:
        kept = keep_page(connection, Page("https://x.test/", "https://x.test/", 200, {}, body.encode(), AT))
        text_id, _ = keep_text(connection, kept.snapshot, text)
        return hold(connection, "docs", "https://x.test/", text_id, kept.capture_id)

    handle = sqlite_database.write_now(put)
    read, offset = "", 0
    while True:
        part = sqlite_database.read_now(slice_text, handle, offset, limit)
        assert 0 < len(part.text) <= limit and part.total_chars == len(body)
        read += part.text
        if part.next_offset is None:
            break
        assert part.next_offset == len(read)
        offset = part.next_offset
    assert read == body


def test_a_slice_ends_at_a_paragraph_or_with_a_word(shelf: Database) -> None:
    (hit,) = shelf.read_now(search_kept, "checkpoint grows").items[:1]
    part = shelf.read_now(slice_text, hit.handle, 0, 30)
    assert part.text == "The write-ahead log grows "
    assert shelf.read_now(slice_text, hit.handle, 0, 55).text.endswith("runs.\n\n")
    total = part.total_chars
    assert shelf.read_now(slice_text, hit.handle, total, 30).text == ""
    with pytest.raises(InvalidInput, match=str(total)):
        shelf.read_now(slice_text, hit.handle, total + 1, 30)
    with pytest.raises(NotFound):
        shelf.read_now(slice_text, "e-nothing", 0, 30)


def test_common_terms_are_left_out_of_a_large_index_only_when_rarer_ones_are_there() -> None:
    counts = {"the": 90_000, "kettl": 50, "sqlite": 40_000, "db": 70_000}
    groups = [("the",), ("kettl", "db"), ("sqlite",)]
    assert without_common(groups, 1_000, counts) == groups
    assert without_common(groups, 100_000, counts) == [("kettl",)]
    assert without_common([("the",), ("sqlite",), ("db",)], 100_000, counts) == [("sqlite",), ("db",)]


def test_what_stands_beside_the_main_content_is_found_and_known_as_such(database: Database) -> None:
    text = text_of("Page", "en", ["The gate is made of oak.", "Beside the gate somebody planted a very old pear tree."])
    text = replace(text, blocks=(text.blocks[0], replace(text.blocks[1], main=False)))
    database.write_now(add, "https://a.test/", text, "docs")
    found = database.read_now(lookup, [Lookup("any", (("gate",),))], EVERYTHING)
    assert {(each.passage.seq, each.passage.main) for each in found} == {(0, True), (1, False)}


def test_a_text_that_an_older_rule_cut_is_to_be_indexed_again_and_found_the_same(database: Database) -> None:
    text = text_of("Page", "en", ["The gate is made of oak."])
    text_id = database.write_now(add, "https://a.test/", text, "docs")
    assert database.read_now(is_indexed, text_id)
    database.write_now(_cut_before, text_id)
    assert not database.read_now(is_indexed, text_id)
    assert database.read_now(search_kept, "oak").items
    database.write_now(index_text, text_id, text)
    assert database.read_now(is_indexed, text_id)
    assert len(database.read_now(search_kept, "oak").items) == 1


def _cut_before(connection: Connection, text_id: int) -> None:
    connection.execute(page.update().where(page.c.text_id == text_id).values(passages_version=1))
