"""The reader over small pages made up here: one test for each kind of question and each way of cutting quotes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand.research import lexicon
from firsthand.research.read import choose
from tests.research.conftest import Reader

SITE = "http://docs.example/kettle/"
OTHER = "http://docs.example/toaster/"

FILLER = {
    f"{SITE}filler{n}.html": f"<title>Kettle note {n}</title><h1>Note {n}</h1>"
    f"<p>{subject} is described elsewhere in the documentation of the machine, with pictures and drawings.</p>"
    f"<p>Nothing in this chapter concerns {other}; it is kept for completeness and for readers who like to browse.</p>"
    for n, (subject, other) in enumerate(
        [
            ("The handle", "the plug"),
            ("The base station", "the colour"),
            ("Its packaging", "the warranty card"),
            ("A spare gasket", "transport"),
            ("Storage in a cupboard", "the shop"),
            ("The printed leaflet", "recycling"),
        ]
    )
}
MANUAL = FILLER | {
    f"{SITE}boil.html": """<title>Boiling - Kettle manual</title><h1>Boiling water</h1>
        <p>The kettle heats water with a hidden element. It takes some minutes, depending on the amount of water.</p>
        <h2>Switching off</h2>
        <p>When the thermostat reports steam, the kettle switches itself off. By default the cut-off temperature is 97
        degrees. The lamp goes dark.</p>
        <h2>Descaling</h2>
        <p>To remove limescale, fill the kettle with vinegar, boil it once and rinse it three times.</p>""",
    f"{SITE}limits.html": """<title>Limits - Kettle manual</title><h1>Limits</h1>
        <p>The following table lists hard limits of the kettle.</p>
        <table><caption>Table 1. Kettle limits</caption><tr><th>Item</th><th>Limit</th></tr>
        <tr><td>capacity of the tank</td><td>1.7 litres</td></tr><tr><td>length of the cord</td><td>75 cm</td></tr>
        <tr><td>power</td><td>2200 W</td></tr></table>""",
    f"{SITE}modes.html": """<title>Modes - Kettle manual</title><h1>Modes</h1>
        <p>The kettle supports three brewing modes:</p>
        <ul><li>green, for green tea at 80 degrees.</li><li>black, for black tea.</li><li>filter, for coffee.</li></ul>
        <p>The mode is chosen with the dial.</p>""",
    f"{SITE}options.html": """<title>Options - Kettle manual</title><h1>Options</h1><dl>
        <dt>beep_volume</dt><dd><p>How loud the kettle beeps. The default is 4.</p><p>A value of zero silences it.</p></dd>
        <dt>lamp_colour</dt><dd><p>The colour of the lamp while the water is heated.</p></dd></dl>""",
}
TOASTER = {
    f"{OTHER}limits.html": """<title>Limits - Toaster manual</title><h1>Limits</h1>
        <p>The toaster draws 900 W of power at most. Its cord has a length of 120 cm.</p>""",
    **{
        f"{OTHER}page{n}.html": f"<title>Toaster page {n}</title><h1>Toaster chapter {n}</h1><p>About {what}, in short.</p>"
        for n, what in enumerate(["bread", "crumbs", "browning", "bagels"])
    },
}


def test_prose_that_answers_leads(read: Reader) -> None:
    answer = read("At what temperature does the kettle switch itself off by default?", MANUAL)
    assert answer.missing is None
    assert "97" in answer.quotes[0]
    assert answer.pages[0] == "/kettle/boil.html"


def test_a_number_in_a_table_row_is_quoted_with_its_row(read: Reader) -> None:
    answer = read("How big is the capacity of the tank?", MANUAL)
    assert "capacity of the tank\t1.7 litres" in answer.quotes[0]


def test_how_to_do_something_is_answered_by_the_steps(read: Reader) -> None:
    answer = read("How do I get rid of limescale in the kettle?", MANUAL)
    assert "vinegar" in answer.quotes[0]


def test_an_identifier_finds_its_definition_and_the_default(read: Reader) -> None:
    answer = read("What is the default of beep_volume?", MANUAL)
    assert "The default is 4." in answer.quotes[0]
    assert answer.quotes[0].startswith("beep_volume")


def test_a_later_paragraph_of_a_definition_is_quoted_with_its_term(read: Reader) -> None:
    answer = read("Which value silences the beeps?", MANUAL)
    evidence = next(each for each in answer.evidence if any("zero silences" in cut.text for cut in each.quotes))
    assert any(cut.text == "beep_volume" for cut in evidence.quotes)


def test_a_list_question_collects_the_items(read: Reader) -> None:
    answer = read("Which brewing modes are there?", MANUAL)
    said = " ".join(answer.quotes)
    assert all(item in said for item in ("green", "black", "filter"))
    assert "three brewing modes" in answer.quotes[0]


def test_a_comparison_quotes_both_sites(read: Reader) -> None:
    answer = read("How do the kettle and the toaster compare in power?", MANUAL | TOASTER)
    assert {"/kettle/limits.html", "/toaster/limits.html"} <= set(answer.pages)
    assert [each.part for each in answer.evidence[:2]] == [1, 2]
    said = " ".join(answer.quotes)
    assert "2200 W" in said and "900 W" in said


def test_a_question_of_two_parts_is_answered_for_each(read: Reader) -> None:
    answer = read("How long is the cord of the kettle, and how can I remove limescale from the kettle?", MANUAL)
    assert [each.part for each in answer.evidence[:2]] == [1, 2]
    said = " ".join(answer.quotes)
    assert "75 cm" in said and "vinegar" in said


def test_another_value_for_the_same_subject_is_shown_too(read: Reader) -> None:
    said_elsewhere = {
        f"{SITE}faq.html": """<title>Questions - Kettle manual</title><h1>Questions</h1>
            <p>The kettle switches itself off at a cut-off temperature of 95 degrees by default.</p>"""
    }
    answer = read("What is the default cut-off temperature of the kettle in degrees?", MANUAL | said_elsewhere)
    said = " ".join(answer.quotes)
    assert "97" in said and "95" in said


def test_another_value_takes_the_last_place_from_a_page_that_was_quoted_enough(read: Reader) -> None:
    pages = FILLER | {
        f"{SITE}a.html": """<title>Cut-off</title><h1>Cut-off temperature</h1>
            <p>The default cut-off temperature of the kettle is 97 degrees.</p><h2>Cut-off temperature, green</h2>
            <p>For green tea the default cut-off temperature of the kettle is 97 degrees, too.</p><h2>Cut-off temperature, black</h2>
            <p>For black tea, the kettle has a default cut-off temperature of 97 degrees as well.</p>""",
        f"{SITE}b.html": """<title>News</title><h1>News</h1>
            <p>Last spring the old default was changed: the kettle got a cut-off temperature of 95 degrees, and a new lamp.</p>""",
    }
    answer = read("What is the default cut-off temperature of the kettle in degrees?", pages)
    few = choose(answer.plan, answer.ranked, {}, 3)
    assert [each.role for each in few] == ["answer", "answer", "other_value"]
    assert "95" in few[-1].quotes[0].text


def test_a_chance_word_is_no_answer(read: Reader) -> None:
    answer = read(
        "How much parking space does the town council rent to visitors near the cupboard factory in winter?", MANUAL
    )
    assert answer.ranked
    assert answer.missing is not None


def test_a_name_that_no_page_mentions_is_declined_by_name(read: Reader) -> None:
    answer = read("How do I pair the kettle with BlueSteam?", MANUAL)
    assert answer.missing == (lexicon.say("missing_name", "en", name="BlueSteam"),)


def test_words_that_meet_nothing_are_declined_in_the_language_of_the_question(read: Reader) -> None:
    answer = read("Was kostet die Versicherung des Fahrrads im Monat?", MANUAL)
    assert answer.missing is not None
    assert answer.missing[0].startswith("Keine ")


@pytest.mark.parametrize(
    ("question", "asked_back"),
    [
        ("Is it faster than the old one?", True),
        ("How do I undo that again?", True),
        ("それはいくつまで指定できますか。", True),
        ("At what temperature does the kettle switch itself off?", False),
        ("What is beep_volume?", False),
    ],
)
def test_what_names_no_subject_is_asked_back(read: Reader, question: str, asked_back: bool) -> None:
    assert (read(question, MANUAL).plan.clarification is not None) is asked_back


GERMAN = {
    f"{SITE}de{n}.html": f"<html lang='de'><body><h1>{title}</h1><p>{words}</p></body></html>"
    for n, (title, words) in enumerate(
        [
            ("Entkalken", "Kalk wird entfernt, indem man Essig im Wasserkocher aufkocht und dreimal nachspült."),
            ("Abschaltung", "Die Voreinstellung der Abschalttemperatur beträgt 97 Grad. Danach erlischt die Lampe."),
            ("Lagerung", "Das Gerät wird trocken in einem Schrank aufbewahrt, wenn man es länger nicht braucht."),
            ("Reinigung", "Die Außenseite wischt man mit einem feuchten Tuch ab; Scheuermittel sind nicht erlaubt."),
        ]
    )
}
UNSPACED = {
    "http://docs.example/zh/a.html": "<html lang='zh'><body><h1>断电温度</h1><p>水壶的默认断电温度是九十七度，也就是 97 度。</p></body></html>",
    "http://docs.example/zh/b.html": "<html lang='zh'><body><h1>除垢</h1><p>把醋倒入水壶，煮沸一次，然后冲洗三遍。</p></body></html>",
    "http://docs.example/ja/a.html": "<html lang='ja'><body><h1>電源の切断</h1><p>電気ケトルは既定では 97 度で自動的に電源が切れます。</p></body></html>",
    "http://docs.example/ja/b.html": "<html lang='ja'><body><h1>掃除</h1><p>酢を入れて一度沸騰させ、三回すすいでください。</p></body></html>",
    "http://docs.example/ko/a.html": "<html lang='ko'><body><h1>전원 차단</h1><p>주전자는 기본값으로 97도에서 전원이 자동으로 꺼집니다.</p></body></html>",
    "http://docs.example/ko/b.html": "<html lang='ko'><body><h1>청소</h1><p>식초를 넣고 한 번 끓인 다음 세 번 헹굽니다.</p></body></html>",
}


@pytest.mark.parametrize(
    ("question", "pages", "expected"),
    [
        ("Wie hoch ist die Abschalttemperatur in der Voreinstellung?", GERMAN, "97 Grad"),
        ("水壶的默认断电温度是多少？", UNSPACED, "97 度"),
        ("電気ケトルは既定では何度で電源が切れますか。", UNSPACED, "97 度で"),
        ("주전자는 몇 도에서 전원이 꺼지나요?", UNSPACED, "97도"),
    ],
)
def test_questions_in_other_languages_find_their_pages(
    read: Reader, question: str, pages: dict[str, str], expected: str
) -> None:
    answer = read(question, pages)
    assert answer.missing is None
    assert expected in answer.quotes[0]


def test_a_question_in_another_language_than_the_pages_is_translated_word_by_word(read: Reader) -> None:
    answer = read("Wie lang ist das Kabel, und welche Leistung hat der Kettle laut Tabelle?", MANUAL)
    assert "2200 W" in " ".join(answer.quotes) or "75 cm" in " ".join(answer.quotes)
    assert any("en" in each for each in answer.draft.limitations)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=200))
def test_any_text_is_a_question_and_every_quote_stands_in_its_page(read: Reader, question: str) -> None:
    answer = read(question, MANUAL)
    for each in answer.evidence:
        for cut in each.quotes:
            assert answer.texts[cut.text_id].body[cut.span.start : cut.span.end] == cut.text
    for claim in answer.draft.claims:
        assert answer.draft.text[claim.start : claim.end] == claim.text


def test_quotes_are_short_stand_in_the_page_and_are_said_once(read: Reader) -> None:
    for question in (
        "Which brewing modes are there?",
        "How big is the capacity of the tank?",
        "What is the default of beep_volume?",
        "How do I remove limescale?",
    ):
        answer = read(question, MANUAL)
        assert 1 <= len(answer.evidence) <= 5
        seen: list[tuple[int, int, int]] = []
        for each in answer.evidence:
            for cut in each.quotes:
                assert answer.texts[cut.text_id].body[cut.span.start : cut.span.end] == cut.text
                assert len(cut.text) <= 700
                seen.append((cut.text_id, cut.span.start, cut.span.end))
        assert len(seen) == len(set(seen))


LONG = [
    f"The harbour of Orsk {says}."
    for says in (
        "is closed to sailing boats of every kind between the first of November and the last day of March in each year",
        "has a crane for boats of up to twelve tonnes that the harbour master moves on workdays before noon only",
        "asks every sailing boat for a fee that depends on its length and on the number of nights that it stays there",
        "keeps a list of all sailing boats that came in during the last century, which may be read in its small office",
        "lights its two towers at dusk so that sailing boats can find the way between the rocks that lie before it",
        "was built by monks for their own sailing boats when the river still carried salt and timber to the towns",
    )
]


def test_a_quote_runs_over_the_parts_of_one_paragraph_and_they_share_a_place(read: Reader) -> None:
    found = read(
        "When is the harbour of Orsk closed to sailing boats?",
        {"https://h.test/orsk.html": f"<h1>Orsk</h1><p>{' '.join(LONG)}</p>"},
    )
    assert any("first of November" in quote for quote in found.quotes)
    spans = [each.passage.span for each in found.evidence]
    assert all(a.end != b.start for a in spans for b in spans)
    for each in found.evidence:
        body = found.texts[each.page.text_id].body
        assert all(body[cut.span.start : cut.span.end] == cut.text for cut in each.quotes)


def test_short_parts_of_one_paragraph_are_one_quote(read: Reader) -> None:
    page = (
        "<h1>Orsk</h1><p>Orsk is old. Boats sleep. The tower of Orsk is red. It rains. Nobody swims. All is well.</p>"
    )
    found = read("Which colour has the tower of Orsk?", {"https://h.test/orsk.html": page})
    assert found.quotes[0] == "Orsk is old. Boats sleep. The tower of Orsk is red. It rains. Nobody swims. All is well."
