"""What makes one passage stand before another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firsthand.research.rank import FEATURES, SCALE, Ranked, numbers_in, rank, says_default, with_neighbours
from tests.research.conftest import Read, Reader

PAGES = {
    f"http://docs.example/pump/p{n}.html": f"<title>{title} - Pump manual</title><h1>{title}</h1><p>{words}</p>"
    for n, (title, words) in enumerate(
        [
            ("Pressure", "The pump holds a pressure of 3.5 bar. The pressure is shown on the dial."),
            (
                "Pressure relief",
                "When the valve opens, pressure falls at once; open the valve by hand in an emergency.",
            ),
            ("Filter", "The filter is cleaned every 200 hours. A dirty filter lowers the flow."),
            ("Start-up", "By default the motor starts after 12 seconds, see start_delay(2)."),
            ("Noise", "The motor hums while it starts, which is normal and no reason to call the service."),
            ("Service", "The service is called when the lamp is red."),
        ]
    )
}


def first(answer: Read) -> str:
    return answer.ranked[0].candidate.body


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How high is the pressure that the pump holds?", "3.5 bar"),
        ("How often is the filter cleaned?", "200 hours"),
        ("After how many seconds does the motor start by default?", "12 seconds"),
        ("How do I open the valve by hand?", "in an emergency"),
    ],
)
def test_the_passage_that_answers_stands_first(read: Reader, question: str, expected: str) -> None:
    assert expected in first(read(question, PAGES))


def test_a_passage_among_others_that_meet_the_question_moves_up_and_the_best_stays_first(read: Reader) -> None:
    one = read("How high is the pressure that the pump holds?", PAGES).ranked[0]

    def at(seq: int, score: float) -> Ranked:
        passage = replace(one.candidate.passage, seq=seq)
        return replace(one, candidate=replace(one.candidate, passage=passage), score=score)

    ranked = [at(50, 9.0), at(90, 8.1), at(10, 8.0), at(11, 7.9), at(12, 7.0)]
    assert [each.candidate.passage.seq for each in with_neighbours(ranked)] == [50, 10, 11, 90, 12]
    apart = [at(50, 9.0), at(90, 8.1), at(10, 8.0), at(20, 7.9), at(30, 7.0)]
    assert with_neighbours(apart) == apart


def test_what_stands_beside_the_main_content_ranks_lower(read: Reader) -> None:
    found = read("How high is the pressure that the pump holds?", PAGES)
    main = found.ranked[0].candidate
    beside = replace(main, passage=replace(main.passage, seq=-9, main=False))
    assert [each.candidate.passage.main for each in rank(found.plan, [beside, main])] == [True, False]
    assert [each.candidate.passage.main for each in rank(found.plan, [beside])] == [False]


def test_every_passage_tells_why_it_stands_where_it_stands(read: Reader) -> None:
    answer = read("How high is the pressure that the pump holds?", PAGES)
    assert set(answer.ranked[0].features) == set(FEATURES) == set(SCALE)
    assert answer.ranked[0].reasons
    assert answer.ranked[0].score == max(each.score for each in answer.ranked)


def test_the_same_question_gives_the_same_order(read: Reader) -> None:
    question = "How high is the pressure, and how often is the filter cleaned?"
    once, again = (read(question, PAGES) for _ in range(2))
    assert [r.candidate.passage_id for r in once.ranked] == [r.candidate.passage_id for r in again.ranked]
    assert all(len(each.parts) == 2 for each in once.ranked)


@pytest.mark.parametrize(
    ("body", "numbers"),
    [
        ("It takes 30 seconds or 1,600 rows, 2.5 at most.", ["30", "1,600", "2.5"]),
        ("Since version 3.12.1 of 2016, see git-repack(1).", []),
        ("既定では30秒です", ["30"]),
        ("The limit is 64KB, or 10%.", ["64", "10"]),
        ("UTF-8, sha256 and x86_64", []),
    ],
)
def test_numbers_that_can_answer_are_told_from_years_versions_and_names(body: str, numbers: list[str]) -> None:
    assert numbers_in(body) == numbers


def test_defaults_are_recognised_in_several_languages() -> None:
    assert says_default(["the", "default", "is"]) and says_default(["既定"]) and not says_default(["limit"])
