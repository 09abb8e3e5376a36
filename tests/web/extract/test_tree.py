"""JSON: what a reader reads in it, under the keys that lead there; and what no reader would be asked to bear."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import ExtractionFailed
from firsthand.values import Text
from firsthand.web.extract import extract

URL = "https://a.example/data"


def read(source: str | bytes, content_type: str | None = "application/json") -> Text:
    payload = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    return extract(payload, url=URL, content_type=content_type)


def said(text: Text) -> list[tuple[str, str, str]]:
    """Kind, path and words of each block."""
    return [
        (block.kind, " > ".join(block.headings), text.body[block.span.start : block.span.end]) for block in text.blocks
    ]


def test_values_stand_under_the_keys_that_lead_to_them() -> None:
    text = read(
        """{"title": "Okavango", "length_km": 1430.50, "is_endorheic": true, "mouth": null, "note": "",
            "basin": {"countries": ["Angola", "Botswana"], "area": {"unit": "km²", "value": 530000}},
            "about": "It ends in a delta.\\n\\nThe delta\\nis inland."}"""
    )
    assert said(text) == [
        ("paragraph", "", "title: Okavango"),
        ("paragraph", "", "length_km: 1430.50"),
        ("paragraph", "", "is_endorheic: true"),
        ("heading", "", "basin"),
        ("heading", "basin", "countries"),
        ("item", "basin > countries", "Angola"),
        ("item", "basin > countries", "Botswana"),
        ("heading", "basin", "area"),
        ("paragraph", "basin > area", "unit: km²"),
        ("paragraph", "basin > area", "value: 530000"),
        ("paragraph", "", "about: It ends in a delta."),
        ("paragraph", "", "The delta is inland."),
    ]
    assert (text.title, text.media_type, text.charset) == ("Okavango", "application/json", "utf-8")


def test_like_objects_make_a_table_and_others_stand_under_their_names() -> None:
    table = read('{"rivers": [{"name": "Nile", "km": 6650}, {"name": "Amazon", "km": 6400, "sea": "Atlantic"}]}')
    assert said(table) == [
        ("heading", "", "rivers"),
        ("row", "rivers", "name\tkm\tsea"),
        ("row", "rivers", "Nile\t6650"),
        ("row", "rivers", "Amazon\t6400\tAtlantic"),
    ]
    assert [block.header for block in table.blocks] == [(), (), ("name", "km", "sea"), ("name", "km", "sea")]
    mixed = read('[{"name": "Nile", "seas": ["Mediterranean"]}, {"km": 6400}, 7]')
    assert said(mixed) == [
        ("heading", "", "Nile"),
        ("paragraph", "Nile", "name: Nile"),
        ("heading", "Nile", "seas"),
        ("item", "Nile > seas", "Mediterranean"),
        ("paragraph", "", "km: 6400"),
        ("paragraph", "", "7"),
    ]


def test_a_key_that_is_given_twice_stands_twice() -> None:
    assert [words for _, _, words in said(read('{"a": "one", "a": "two"}'))] == ["a: one", "a: two"]


def test_a_lone_surrogate_can_be_kept() -> None:
    assert read('{"a":"Needle \\ud800"}').body == "a: Needle \ufffd"


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_json_in_another_encoding_is_read(codec: str) -> None:
    assert read('{"a": "Größe"}'.encode(codec)).body == "a: Größe"


def test_what_only_looks_like_json_is_text() -> None:
    assert read("[see the note below] and {so on}", None).media_type == "text/plain"
    assert read("{not json at all}", "application/json").body == "{not json at all}"


@pytest.mark.parametrize(
    ("source", "limit_kind"),
    [
        ("[" * 100_000 + "1" + "]" * 100_000, "depth"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "depth"),
        ("[" * 300 + '{"a":"b"}' + "]" * 300, "depth"),
        ("[" + "9" * 1_000_000 + "]", "digits"),
        ("[0." + "9" * 1_000_000 + "]", "digits"),
    ],
    ids=["lists", "objects", "300", "digits", "decimals"],
)
def test_depth_and_digits_without_end_meet_a_limit(source: str, limit_kind: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        read(source)
    assert (caught.value.outcome, caught.value.code) == ("failed", "parse_limit")
    assert caught.value.facts["limit_kind"] == limit_kind


def test_json_without_a_value_is_empty() -> None:
    for source in ("{}", "[]", '{"a": null, "b": [[], {}]}'):
        with pytest.raises(ExtractionFailed) as caught:
            read(source)
        assert caught.value.outcome == "empty"


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
documents = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5)
)


@settings(max_examples=200, deadline=None)
@given(documents)
def test_every_string_with_a_word_is_in_the_text(document: object) -> None:
    try:
        body = read(json.dumps(document)).body
    except ExtractionFailed as error:
        assert error.outcome == "empty"
        body = ""
    for word in words_of(document):
        assert word in body


def words_of(document: object) -> list[str]:
    """The words of ASCII letters in all strings of a document."""
    if isinstance(document, str):
        return [word for word in document.split() if word.isascii() and word.isalpha()]
    if isinstance(document, dict):
        document = list(document.values())
    return [word for each in document for word in words_of(each)] if isinstance(document, list) else []
