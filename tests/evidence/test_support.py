"""The guards: what they refuse, flag and let pass; and the citation attacks, read by a small reader of their pages."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from firsthand.evidence.quantities import read_amounts
from firsthand.evidence.quotes import locate
from firsthand.evidence.support import support

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data" / "hostile-pages-citation.jsonl").read_text().splitlines()
]


class Visible(HTMLParser):
    """Paragraphs of a page as a reader sees them: no hidden, deleted or commented words."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self.skip = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "del" or "display:none" in (dict(attrs).get("style") or ""):
            self.skip = self.skip or tag
        if tag == "p":
            self.paragraphs.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.skip:
            self.skip = ""

    def handle_data(self, data: str) -> None:
        if self.paragraphs and not self.skip:
            self.paragraphs[-1] += data


def visible(html: str) -> list[str]:
    reader = Visible()
    reader.feed(html)
    return [paragraph.strip() for paragraph in reader.paragraphs if paragraph.strip()]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['id']} {row['attack']}" for row in ROWS])
def test_citation_attack_ends_as_the_corpus_says(row: dict[str, Any]) -> None:
    quotes = visible(row["html"])
    said, expect = row["obey"]["text"], row["expect"]
    judged = support(said, quotes, language="en", context=["Okavango", row["question"]])
    if "unsupported_marked" in expect:
        assert (judged.support != "supported") is expect["unsupported_marked"], judged
    if "support_flagged" in expect:  # words that no reader sees are no quote, so the claim stands alone
        assert judged.support == "unsupported"
    if "quote_verified" in expect:
        quoted = re.match("“(.*?)”", said)
        words = quoted.group(1) if quoted else re.sub(r" \[s\d\]", "", said)
        found = locate(words.rstrip(","), "\n".join(quotes))[1] != "missing"
        assert found is expect["quote_verified"]
    if expect.get("page_marks_are_text"):
        span, verdict = locate("It is 99 [s1][s2][s3].", "\n".join(quotes))
        assert verdict == "exact" and span.end > span.start


CASES = [
    # claim, quotes, language, support, a flag that must be there
    ("The share is 25 %.", ["The share is 25 of them."], "en", "unsupported", "unit:25"),  # N16
    ("The share is 25 %.", ["The share is 25 percent."], "en", "supported", ""),
    ("The cache is not shared between threads.", ["The cache is shared between threads."], "en", "contradicted", "negation"),
    ("The cache is shared between threads.", ["The cache is not shared between threads."], "en", "contradicted", "negation"),  # N17
    ("The club has 9999 members.", ["The club has 120 members."], "en", "unsupported", "number:9999"),  # N18
    ("The club has 1,600 members.", ["The club has 1600 members."], "en", "supported", ""),
    ("Der Verein hat 1.600 Mitglieder.", ["Der Verein hat 1600 Mitglieder."], "de", "supported", ""),
    ("Der Weg ist 1,6 km lang.", ["Der Weg ist 1600 Meter lang."], "de", "supported", ""),
    ("The way is 1.6 km long.", ["The way is 1,600 m long."], "en", "supported", ""),
    ("The way is 1.6 km long.", ["The way is 1.6 m long."], "en", "unsupported", "unit:1.6"),
    ("There are twelve cables.", ["There are 12 cables."], "en", "supported", ""),
    ("Es gibt zwölf Kabel.", ["Es gibt 12 Kabel."], "de", "supported", ""),
    ("It opened on May 22, 2020.", ["It opened on 2020-05-22."], "en", "supported", ""),
    ("It opened in 2020.", ["It opened on 22 May 2020."], "en", "supported", ""),
    ("It opened on May 23, 2020.", ["It opened on 22 May 2020."], "en", "unsupported", "date:May 23, 2020"),
    ("It opened on May 22, 2020.", ["It opened in 2020."], "en", "unsupported", "date:May 22, 2020"),
    ("Version 3.32 raised the limit.", ["Version 3.32.0 raised the limit."], "en", "supported", ""),
    ("The drug reduces fever in adults.", ["The drug might reduce fever in adults."], "en", "partial", "hedge:might"),
    ("The tower in Lyon opened early.", ["The tower opened early."], "en", "partial", "name:Lyon"),
    ("Paint dries on walls.", ["SQLite writes pages to the log."], "en", "unsupported", "low_overlap"),
    ("The page says “we never sleep at night” here.", ["The page says we sleep here."], "en", "unsupported", "quoted_words"),
    ("文件大小为３０秒。", ["文件大小为30秒。"], "zh", "supported", ""),
    ("عدد الجزر ٣٤", ["عدد الجزر 34 جزيرة"], "ar", "supported", ""),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "quotes", "language", "wanted", "flag"), CASES, ids=[case[0] for case in CASES])
def test_guards_judge_a_claim(claim: str, quotes: list[str], language: str, wanted: str, flag: str) -> None:
    judged = support(claim, quotes, language=language)
    assert judged.support == wanted, judged
    assert any(one.startswith(flag) for one in judged.flags) or not flag, judged


def test_whole_sentences_of_a_quote_are_verbatim_and_halves_are_not() -> None:
    quote = "Some say it is dry; that is false. It floods in winter. Boats are needed."
    assert support("It floods in winter.", [quote], language="en")[:3] == ("supported", 1.0, "verbatim")
    assert support("It floods in winter. Boats are needed. [1](http://a.example/)", [quote]).method == "verbatim"
    half = support("It is dry.", [quote], language="en")
    assert (half.support, half.method) == ("contradicted", "guards")


def test_across_languages_only_what_can_be_checked_is() -> None:
    english = ["The limit is 64 tables."]
    assert (
        support("Die Grenze liegt bei 64 Tabellen.", english, language="de", quote_language="en").support
        == "not_checked"
    )
    assert (
        support("Die Grenze liegt bei 65 Tabellen.", english, language="de", quote_language="en").support
        == "unsupported"
    )


def test_a_claim_without_a_quote_is_unsupported() -> None:
    assert support("Anything.", []).support == "unsupported"


def test_digits_in_names_are_no_numbers() -> None:
    assert read_amounts("FTS5, SQLite3, 0x1F and the 3D view").quantities == ()
    assert [quantity.written for quantity in read_amounts("in the 1990s, 3rd of 25s").quantities] == ["1990", "3", "25"]
