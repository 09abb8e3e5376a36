"""Terms: one spelling for what a text says."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.evidence.terms import index_terms, is_hiragana, is_stop_word, is_term, language_of, query_groups

LANGUAGES = [None, "en", "de", "fr", "tr", "ru", "ja", "zh", "ko", "th", "hi", "ar", "xx"]


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("foreign_keys", "en", ["foreignkeys", "foreign", "key"]),
        ("autoVacuum", "en", ["autovacuum", "auto", "vacuum"]),
        ("HTTPServer SQLite", "en", ["httpserver", "http", "server", "sqlite"]),
        ("os.path.join", "en", ["ospathjoin", "os", "path", "join"]),
        ("--no-verify", "en", ["noverify", "no", "verifi"]),
        ("1,600 1600 3.11", "en", ["1600", "1600", "311", "3", "11"]),
        ("SQLite's files’ don't", "en", ["sqlite", "file", "dont"]),
        ("C++ C# c", "en", ["cplusplus", "csharp", "c"]),
        ("l’utilisateur", "fr", index_terms("utilisateur", "fr")),
        ("Ankara'nın", "tr", index_terms("Ankara", "tr")),
        ("ＳＱＬｉｔｅ ﬁle", "en", ["sqlite", "file"]),
        ("naïve Straße", None, ["naiv", "strass"]),
    ],
)
def test_words_identifiers_and_numbers_give_these_terms(text: str, language: str | None, terms: list[str]) -> None:
    assert index_terms(text, language) == terms


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("量子力学", "zh", ["量子", "子力", "力学"]),
        ("東京タワーで消す", "ja", ["東京", "タワ", "ワー", "で", "消", "す"]),
        ("ください", "ja", ["くだ", "ださ", "さい"]),
        ("데이터를 삭제", "ko", ["데이", "이터", "터를", "삭제"]),
        ("SQLite数据库", "zh", ["sqlite", "数据", "据库"]),
        ("𠮷野家", "ja", ["𠮷野", "野家"]),
    ],
)
def test_scripts_without_spaces_give_pairs_of_characters(text: str, language: str, terms: list[str]) -> None:
    assert index_terms(text, language) == terms


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("Datenbanken", "Datenbank", "de"),
        ("requêtes", "requete", "fr"),
        ("CAFÉ", "cafe", "es"),
        ("пакеты", "пакет", "ru"),
        ("ещё", "еще", "ru"),
        ("options", "option", "ru"),  # a Latin word on a page in another script is English
        ("kitaplar", "kitap", "tr"),
        ("IŞIK", "ışık", "tr"),
        ("deleting", "deletes", "en"),
        ("كِتَاب", "كتاب", "ar"),
    ],
)
def test_spellings_of_one_word_meet(one: str, other: str, language: str) -> None:
    assert index_terms(one, language) == index_terms(other, language)


@given(st.text(max_size=300), st.sampled_from(LANGUAGES))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_terms_that_a_tokenizer_leaves_whole(text: str, language: str | None) -> None:
    terms = index_terms(text, language)
    assert all(is_term(term) for term in terms)
    assert " ".join(terms).split() == terms
    assert terms == index_terms(text, language)


def test_another_process_makes_the_same_terms() -> None:
    text = "SQLite's foreign_keys müssen 数据库 ещё ください"
    code = f"from firsthand.evidence.terms import index_terms; print(index_terms({text!r}, 'de'))"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert found.stdout.decode().strip() == repr(index_terms(text, "de"))


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        ("Wie groß darf eine Datenbank werden, und was passiert dann?", "en-US", "de"),
        ("How large may the database become?", "de_AT", "de"),  # what is not English was chosen
        ("How large may the database become?", None, "en"),
        ("Quelle est la taille maximale d'une base de données ?", None, "fr"),
        ("¿Cuál es el tamaño máximo de una base de datos?", None, "es"),
        ("Qual è la dimensione massima di un database?", None, "it"),
        ("Qual é o tamanho máximo de um banco de dados?", None, "pt"),
        ("Каков максимальный размер базы данных?", "en", "ru"),
        ("Veritabanının en büyük boyutu ne kadar?", None, "tr"),
        ("データベースの最大サイズは？", None, "ja"),
        ("数据库的最大大小是多少？", None, "zh"),
        ("데이터베이스의 최대 크기는 얼마입니까?", None, "ko"),
        ("ฐานข้อมูลมีขนาดใหญ่ที่สุดเท่าใด", None, "th"),
        ("4711 + 0815", "en", "en"),
        (
            "gli, map, filter, index, list, of, methods, names, fields, dict, set, range, zip, iter, next",
            "en",
            "en",
        ),  # names
        ("", None, None),
    ],
)
def test_language_is_declared_or_guessed(text: str, declared: str | None, language: str | None) -> None:
    assert language_of(text, declared) == language


def test_a_question_gives_a_group_for_each_word_that_carries_a_subject() -> None:
    assert query_groups("How do I enable foreign_keys in SQLite?", "en") == (("enabl",), ("foreignkeys",), ("sqlite",))
    assert query_groups("Datenbanken", "en", ("de",)) == (("datenbanken", "datenbank"),)
    assert query_groups("消すデータ", "ja") == (("消",), ("デー",), ("ータ",))


def test_stop_words_alone_are_asked_as_they_are() -> None:
    assert query_groups("what is it", "en") == (("what",), ("is",), ("it",))
    assert query_groups("ください", "ja") == (("くだ",), ("ださ",), ("さい",))
    assert query_groups("?!", "en") == ()


def test_an_upper_case_word_is_no_stop_word() -> None:
    assert is_stop_word("all", "en") and is_stop_word("Is", "en")
    assert not is_stop_word("ALL", "en")
    assert is_hiragana("くだ") and not is_hiragana("消す")
