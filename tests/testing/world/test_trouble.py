"""The grammar of troubles, and whose turn it is."""

from __future__ import annotations

import pytest

from firsthand.testing.world.trouble import TROUBLES, Schedule, parse, table


def test_a_trouble_is_a_name_with_options() -> None:
    found = parse("429?retry_after_s=3&times=2")
    assert (found.name, found.option("retry_after_s"), found.times) == ("429", "3", 2)
    assert parse("429").option("retry_after_s") == "7"


@pytest.mark.parametrize("text", ["429", "429?retry_after_s=3&times=2", "redirect?to=%2Fa%3Fb%3D1", "delay?ms=20"])
def test_what_was_read_is_written_again(text: str) -> None:
    assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize("text", ["tea", "429?retry=3", "", "503?times=soon"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


def test_troubles_come_one_after_the_other_and_end() -> None:
    schedule = Schedule({"brave": [parse("503?times=1"), parse("429?times=2")]})
    found = [schedule.next(["brave"]) for _ in range(4)]
    assert [one and one.name for one in found] == ["503", "429", "429", None]


def test_the_first_place_that_has_a_trouble_counts() -> None:
    schedule = Schedule({"page": [parse("404")], "/site/a.html": [parse("503?times=1")]})
    assert [str(schedule.next(["/site/a.html", "page"])) for _ in range(2)] == ["503?times=1", "404"]
    assert schedule.next(["search"]) is None


def test_every_trouble_has_its_line_in_the_printed_table() -> None:
    lines = table().splitlines()
    assert [line.split()[0] for line in lines] == list(TROUBLES)
