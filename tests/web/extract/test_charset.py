"""Characters of pages: old encodings of many languages, declarations that are right, wrong, late or hostile."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.web.extract import charset
from firsthand.web.extract.charset import decode
from tools import verify_bundle

SENTENCES = {
    "ru": ("Вода замерзает при нуле градусов, а кипит при ста. Это знает каждый школьник в нашей стране.", ["windows-1251", "koi8-r", "iso-8859-5", "cp866", "x-mac-cyrillic"]),
    "uk": ("Її ґанок стояв біля річки, де вода замерзає взимку.", ["koi8-u", "windows-1251"]),
    "de": ("Größe und Länge ändern sich „täglich“ – außer im März.", ["windows-1252", "macintosh"]),
    "fr": ("L'œuvre coûte 12 € à Orléans, où l'été fut bref.", ["windows-1252", "iso-8859-15"]),
    "pl": ("Zażółć gęślą jaźń w źródle Łódź.", ["iso-8859-2", "windows-1250", "iso-8859-16"]),
    "tr": ("Şu ığdır ilçesinde güneş doğuyor.", ["windows-1254"]),
    "el": ("Το νερό παγώνει στους μηδέν βαθμούς.", ["iso-8859-7", "windows-1253"]),
    "he": ("המים קופאים באפס מעלות.", ["windows-1255", "iso-8859-8"]),
    "ar": ("يتجمد الماء عند درجة الصفر.", ["windows-1256", "iso-8859-6"]),
    "lt": ("Vanduo užšąla žemiau nulio, įdomu.", ["windows-1257", "iso-8859-13"]),
    "vi": ("Nước đóng băng", ["utf-8"]),
    "th": ("น้ำแข็งตัวที่ศูนย์องศา", ["tis-620", "windows-874"]),
    "ja": ("東京は日本の首都であり、世界でも有数の大都市である。人口は約千四百万人で、政治や文化の中心となっている。", ["shift_jis", "euc-jp", "iso-2022-jp"]),
    "zh": ("水在零度结冰，这是常识。", ["gb2312", "gbk", "gb18030"]),
    "zh-tw": ("水在零度結冰，這是常識。", ["big5"]),
    "ko": ("물은 영도에서 언다.", ["euc-kr"]),
}  # fmt: skip
DATA = Path(__file__).parents[2] / "data" / "charset.json"
TEXTS = json.loads(DATA.read_text(encoding="utf-8"))["texts"]
SAMPLES = [(language, label) for language, each in TEXTS.items() for label in each["encodings"]]
PYTHON_NAMES = {
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "windows-874": "cp874",
    "gb2312": "gb18030",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
CASES = [(language, label) for language, (_, labels) in SENTENCES.items() for label in labels]


def encoded(language: str, label: str) -> tuple[str, bytes]:
    sentence = SENTENCES[language][0]
    return sentence, sentence.encode(PYTHON_NAMES.get(label, label))


@pytest.mark.parametrize(("language", "label"), CASES)
def test_declared_encodings_give_the_right_characters_by_header_and_by_meta(language: str, label: str) -> None:
    sentence, raw = encoded(language, label)
    by_header = decode(raw, content_type=f'text/html; charset="{label.upper()}"')
    page = (
        b'<html><head><meta http-equiv=Content-Type content="text/html; charset=' + label.encode() + b'"></head>' + raw
    )
    by_meta = decode(page)
    assert by_header.text == sentence
    assert by_header.declared == label.upper()
    assert by_meta.text.endswith(sentence)
    assert by_meta.declared == label


@pytest.mark.parametrize(("language", "label"), [("ru", "windows-1251"), ("ru", "koi8-r"), ("ja", "euc-jp"), ("ja", "shift_jis"), ("zh", "gb18030"), ("zh-tw", "big5"), ("el", "iso-8859-7")])  # fmt: skip
def test_undeclared_legacy_pages_are_detected(language: str, label: str) -> None:
    sentence, raw = encoded(language, label)
    decoded = decode(raw * 10)
    assert decoded.text == sentence * 10
    assert decoded.declared is None


@pytest.mark.parametrize(("language", "label"), SAMPLES)
@pytest.mark.parametrize("form", ["text", "page", "late"])
def test_a_text_of_three_sentences_is_read_in_every_encoding_without_a_declaration(
    language: str, label: str, form: str
) -> None:
    sentences = TEXTS[language]["text"]
    source = {
        "text": sentences,
        "page": f'<html><head><title>1</title></head><body class="a b"><p>{sentences}</p></body></html>',
        "late": f"<html><body>{'<div id=menu>Home About</div>' * 5000}<p>{sentences}</p></body></html>",
    }[form]
    decoded = decode(source.encode(PYTHON_NAMES.get(label, label)))
    assert decoded.text == source
    assert decoded.declared is None


def test_a_header_that_lies_about_utf8_is_recorded_and_not_followed() -> None:
    page = '<html><head><meta charset="utf-8"></head><body><p>東京は日本の首都である。</p></body></html>'
    decoded = decode(page.encode(), content_type="text/html; charset=ISO-8859-1")
    assert (decoded.text, decoded.chosen, decoded.declared) == (page, "utf-8", "ISO-8859-1")


def test_gb2312_declared_after_three_thousand_bytes_and_used_after_fifteen_thousand_is_read() -> None:
    head = f"<html><head><title>News</title><style>{'a{color:red}' * 260}</style><meta charset=gb2312></head>"
    page = f"{head}<body>{'<p>Plain words of ASCII.</p>' * 500}<p>水在零度结冰，镕基先生说。</p></body></html>"
    assert head.index("<meta") > 3000 and page.index("水") > 15_000
    decoded = decode(page.encode("gb18030"))
    assert (decoded.text, decoded.chosen, decoded.declared) == (page, "gb18030", "gb2312")


def test_utf8_that_is_declared_and_is_not_there_is_not_believed() -> None:
    for sentences, codec in ((TEXTS["fr"]["text"], "cp1252"), (TEXTS["ru"]["text"], "koi8-r")):
        decoded = decode(sentences.encode(codec), content_type="text/html; charset=utf-8")
        assert (decoded.text, decoded.chosen, decoded.declared) == (sentences, codec, "utf-8")
    cut = "Größe und Länge".encode() + b"\xe2\x82"
    assert decode(cut, content_type="text/html; charset=utf-8").text == "Größe und Länge\ufffd"


def test_a_declaration_in_a_comment_or_in_the_text_is_none() -> None:
    page = b"<html><head><!-- <meta charset=koi8-r> --></head><body><meta charset=cp866><p>Gr\xf6\xdfe"
    assert decode(page).declared is None
    assert decode(b"<!--" * 8000 + b"<meta charset=koi8-r>").declared is None


@pytest.mark.parametrize("label", ["MacCyrillic", "cp936", "x-gbk", "eucJP", "UHC", "cp950", "KOI8_R", "Latin1"])
def test_other_names_of_the_same_encodings_are_known(label: str) -> None:
    assert decode(b"\xc4\xe0", content_type=f"text/plain; charset={label}").chosen != "utf-8"
    assert decode(b"\x1b", content_type=f"text/plain; charset={label}").chosen != "utf-8"


def test_utf16_without_a_mark_is_read() -> None:
    for codec in ("utf-16-le", "utf-16-be"):
        decoded = decode("<p>Größe und Länge</p>".encode(codec))
        assert (decoded.text, decoded.chosen) == ("<p>Größe und Länge</p>", codec)


def test_a_byte_order_mark_wins_over_everything() -> None:
    for codec, mark in (("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        decoded = decode(mark + "Größe".encode(codec), content_type="text/html; charset=koi8-r")
        assert (decoded.text, decoded.chosen, decoded.declared) == ("Größe", codec, "koi8-r")


def test_a_declaration_loses_against_strict_utf8_with_other_letters() -> None:
    decoded = decode("Größe".encode(), content_type="text/html; charset=iso-8859-1")
    assert (decoded.text, decoded.chosen, decoded.declared) == ("Größe", "utf-8", "iso-8859-1")


def test_latin1_means_windows_1252_and_its_open_bytes_are_kept() -> None:
    decoded = decode(b"\x80 \x93a\x94 \x81 \xe4", content_type="text/html; charset=iso-8859-1")
    assert decoded.text == "€ “a” \x81 ä"
    assert decoded.chosen == "cp1252"


def test_a_declaration_after_two_thousand_bytes_is_found() -> None:
    page = b"<html><head><!--" + b"x" * 2000 + b"--><meta charset=windows-1251></head>" + "вода".encode("cp1251")
    assert decode(page).text.endswith("вода")


def test_an_xml_declaration_is_a_declaration() -> None:
    page = b"<?xml version='1.0' encoding='KOI8-R'?><html>" + "вода".encode("koi8-r")
    assert decode(page).text.endswith("вода")


@pytest.mark.parametrize("label", ["utf-7", "unicode_escape", "raw_unicode_escape", "punycode", "idna", "rot13", "hex", "base64", "zlib", "undefined", "mbcs", "utf-32", "x" * 40])  # fmt: skip
def test_labels_outside_the_web_list_are_recorded_and_not_used(label: str) -> None:
    decoded = decode(b"+ADw-script+AD4- \\u003cscript\\u003e \xe4", content_type=f"text/html; charset={label}")
    assert "<" not in decoded.text
    assert decoded.declared == label


def test_every_encoding_that_may_be_recorded_is_one_that_the_independent_checker_reads() -> None:
    for codec in charset._CODECS:
        assert codecs.lookup(codec)._is_text_encoding
        assert verify_bundle.CODECS.fullmatch(codec), codec
    assert not any(verify_bundle.CODECS.fullmatch(name) for name in ("utf-7", "unicode_escape", "idna", "rot13"))


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "text/html", "text/html; charset=utf-16", "x; charset=iso-2022-jp", "x; charset=gbk"]),
)
def test_any_bytes_decode_by_a_charset_that_is_named_into_text_that_can_be_kept(
    payload: bytes, content_type: str | None
) -> None:
    decoded = decode(payload, content_type=content_type)
    assert codecs.lookup(decoded.chosen)
    decoded.text.encode("utf-8")  # raises on a lone surrogate, which no database can hold
