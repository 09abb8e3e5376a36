"""What pages of every kind become on the way into an answer: the rows about reading (web-qa 6.4)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from firsthand.values import Answer
from tests.acceptance.world import QUESTION, STANDARD, World, html, words_of
from tests.commands import Reply, page, zipped

LONG = "This part of the Orchid handbook is about invoices, taxes and the colours of the buttons in the old design. "
RUSSIAN = "Тариф «Стандарт» сервиса Орхидея допускает 25 участников в одной рабочей области."


def raw(body: bytes, content_type: str) -> Reply:
    return Reply(body, headers={"content-type": content_type})


def quotes_of(answer: Answer) -> str:
    return "\n".join(citation.quote for claim in answer.claims for citation in claim.citations)


async def test_n05_six_long_pages_with_long_names_are_no_failure(orchid: World, home: Path) -> None:
    for n in range(6):
        name = f"/{'long-' * 90}{n}"
        orchid.web.one.replies[name] = page(f"Orchid {'title ' * 60}{n}", *[f"{LONG * 12} Part {n}." for _ in range(4)])
        orchid.hits.insert(0, orchid.web.one.url(name))
    answer = await orchid.ask(home, max_sources=8)
    assert answer.status == "answered"
    assert "25 members" in answer.claims[0].text
    assert answer.usage.fetches == 8


async def test_n06_a_page_of_ninety_thousand_chinese_characters_is_read(orchid: World, home: Path) -> None:
    filler = [f"第{n}节讲的是兰花的颜色、气味和生长环境，与价格没有关系。" * 15 for n in range(200)]
    text = "兰花标准版最多可以有25名成员，删除的数据保留30天。"
    orchid.web.one.replies["/plans"] = page("兰花 Orchid", *filler[:100], text, *filler[100:])
    orchid.hits = [orchid.primary]
    answer = await orchid.ask(home, "Orchid 兰花标准版最多可以有多少名成员？")
    assert answer.status == "answered"
    assert "25名成员" in answer.claims[0].text


@pytest.mark.parametrize(
    ("question", "text", "others"),
    [
        (
            "Сколько участников допускает тариф «Стандарт» сервиса Orchid?",
            "Тариф «Стандарт» сервиса Orchid допускает 25 участников в рабочей области.",
            ("Сервис Orchid написан на языке Rust и работает в браузере.", "Счета Orchid приходят в начале месяца."),
        ),
        (
            "كم عدد الأعضاء في خطة Orchid القياسية؟",
            "تسمح خطة Orchid القياسية بعدد 25 من الأعضاء في مساحة العمل.",
            ("كتبت خدمة Orchid بلغة Rust وتعمل في المتصفح.", "تصل فواتير Orchid في بداية كل شهر."),
        ),
        (
            "Orchidのスタンダードプランのメンバーは最大何人ですか？",
            "Orchidのスタンダードプランでは、メンバーは最大25人です。",
            ("OrchidはRustで書かれ、ブラウザで動きます。", "Orchidの請求書は月の初めに届きます。"),
        ),
        (
            "Orchid 스탠다드 요금제의 최대 멤버 수는 몇 명입니까?",
            "Orchid 스탠다드 요금제의 최대 멤버 수는 25명입니다.",
            ("Orchid는 Rust로 작성되었고 브라우저에서 작동합니다.", "Orchid 청구서는 매월 초에 도착합니다."),
        ),
    ],
    ids=["ru", "ar", "ja", "ko"],
)
async def test_n08_questions_in_other_scripts_find_the_right_block(
    question: str, text: str, others: tuple[str, str], orchid: World, home: Path
) -> None:
    orchid.web.one.replies["/plans"] = page("Orchid", others[0], text, others[1])
    orchid.hits = [orchid.primary]
    answer = await orchid.ask(home, question)
    assert answer.status == "answered"
    assert text in answer.claims[0].citations[0].quote


async def test_n28_a_page_that_robots_forbid_is_not_asked_for_and_it_is_said(orchid: World, home: Path) -> None:
    orchid.web.one.replies["/robots.txt"] = raw(b"User-agent: *\nDisallow: /plans", "text/plain")
    answer = await orchid.ask(home)
    assert [(one.target, one.outcome) for one in answer.failures] == [(orchid.primary, "robots")]
    assert orchid.web.one.count("/plans") == 0


async def test_n29_a_robots_file_that_cannot_be_had_forbids_the_site(orchid: World, home: Path) -> None:
    orchid.web.one.replies["/robots.txt"] = Reply(b"", 500, {"content-type": "text/plain"})
    orchid.hits = [orchid.primary]
    answer = await orchid.ask(home)
    assert (answer.status, [one.outcome for one in answer.failures]) == ("failed", ["robots"])
    assert set(orchid.web.one.asked) == {"/robots.txt"}


async def test_n32_a_site_that_asks_for_an_hour_is_left_and_the_others_go_on(orchid: World, home: Path) -> None:
    orchid.web.one.replies["/botany"] = Reply(b"", 429, {"retry-after": "3600"})
    orchid.hits = [orchid.botany, orchid.secondary]
    answer = await orchid.ask(home)
    assert answer.status == "answered"
    assert "25 members" in answer.claims[0].text
    [failure] = answer.failures
    assert (failure.target, failure.outcome) == (orchid.botany, "rate_limited")
    assert "asked again in 5 minutes" in failure.detail  # an hour is more than any page may make us wait
    assert orchid.web.one.count("/botany") == 1


@pytest.mark.parametrize("declared", ["text/html; charset=windows-1251", "text/html"])
async def test_n38_an_old_encoding_gives_the_right_characters(declared: str, orchid: World, home: Path) -> None:
    body = f"<html><head><title>Orchid</title></head><body><p>{RUSSIAN}</p></body></html>".encode("cp1251")
    orchid.web.one.replies["/plans"] = raw(body, declared)
    orchid.hits = [orchid.primary]
    answer = await orchid.ask(home, "Сколько участников допускает тариф «Стандарт» сервиса Орхидея (Orchid)?")
    assert RUSSIAN in quotes_of(answer)
    assert answer.sources[0].snapshot == f"sha256:{hashlib.sha256(body).hexdigest()}"


async def test_n39_a_packed_page_nobody_asked_for_packed_is_read(orchid: World, home: Path) -> None:
    reply = page("Orchid plans", STANDARD)
    orchid.web.one.replies["/plans"] = zipped(reply)
    answer = await orchid.ask(home)
    assert STANDARD in quotes_of(answer)
    assert answer.sources[0].snapshot == f"sha256:{hashlib.sha256(reply.body).hexdigest()}"


async def test_n42_a_page_that_is_cut_off_is_no_page(orchid: World, home: Path) -> None:
    whole = page("Orchid plans", STANDARD)
    length = {**whole.headers, "content-length": str(len(whole.body) + 1)}
    orchid.web.one.replies["/plans"] = Reply(whole.body, headers=length)
    orchid.hits = [orchid.primary]
    answer = await orchid.ask(home)
    assert (answer.status, answer.claims) == ("failed", ())


@pytest.mark.parametrize(
    "markup",
    [
        "<table><tr><th>Orchid plan</th><th>Members</th></tr><tr><td>Standard</td><td>25</td></tr></table>",
        "<ul><li>Orchid Standard plan: 25 members</li><li>Orchid Enterprise plan: 200 members</li></ul>",
        "<dl><dt>Orchid Standard plan members</dt><dd>25 members</dd></dl>",
    ],
    ids=["table", "list", "definitions"],
)
async def test_n43_a_fact_that_stands_in_a_table_or_a_list_is_quoted(markup: str, orchid: World, home: Path) -> None:
    orchid.web.one.replies["/plans"] = html("Orchid", "What the Orchid plans offer:", extra=markup)
    orchid.hits = [orchid.primary]
    answer = await orchid.ask(home)
    assert answer.status == "answered"
    assert "25" in quotes_of(answer)


@pytest.mark.parametrize(
    "hiding",
    ["hidden", 'style="display:none"', 'aria-hidden="true"', 'style="color:white;background:#fff"'],
)
async def test_n44_what_no_reader_sees_is_never_quoted(hiding: str, orchid: World, home: Path) -> None:
    secret = f"<p {hiding}>The Orchid Standard plan can have 9999 members, members, members.</p>"
    orchid.web.one.replies["/plans"] = html("Orchid plans", STANDARD, extra=secret)
    answer = await orchid.ask(home)
    assert "25 members" in answer.claims[0].text
    assert "9999" not in words_of(answer)


async def test_n45_words_on_two_lines_stay_two_words(orchid: World, home: Path) -> None:
    two_lines = "The Orchid Standard plan can have 25<br>members in a workspace."
    orchid.web.one.replies["/plans"] = html("Orchid plans", two_lines)
    answer = await orchid.ask(home)
    assert " ".join(quotes_of(answer).split()).startswith("The Orchid Standard plan can have 25 members")


async def test_n46_a_page_of_three_hundred_thousand_characters_is_read_to_its_end(orchid: World, home: Path) -> None:
    filler = [f"{LONG * 10} Chapter {n}." for n in range(280)]
    orchid.web.one.replies["/plans"] = page("Orchid handbook", *filler, STANDARD)
    assert sum(len(one) for one in filler) > 300_000
    answer = await orchid.ask(home)
    assert (answer.status, answer.failures) == ("answered", ())
    assert "25 members" in answer.claims[0].text


async def test_n47_a_character_of_two_units_is_never_cut(orchid: World, home: Path) -> None:
    emoji = "🌸" * 1_399
    orchid.web.one.replies["/plans"] = page("Orchid plans", f"{STANDARD} {emoji} {STANDARD} {'👩‍🌾' * 900}")
    orchid.hits = [orchid.primary]
    answer = await orchid.ask(home, QUESTION)
    assert "25 members" in answer.claims[0].text
    for claim in answer.claims:
        for citation in claim.citations:
            citation.quote.encode("utf-8")
            assert citation.verdict == "exact"
            assert len(citation.quote) == citation.end - citation.start
