"""An answer's three files: whole, in order, never over somebody else's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firsthand import fault
from firsthand.errors import StoreFailed
from firsthand.live.output import write_answer
from firsthand.render import from_json
from tests import samples

NAMES = ["answer.html", "answer.json", "answer.md"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_folder_is_made_and_holds_the_three_files(tmp_path: Path) -> None:
    answer = samples.answer()
    write_answer(answer, tmp_path / "a" / "b")
    assert names(tmp_path / "a" / "b") == NAMES
    assert from_json(json.loads((tmp_path / "a" / "b" / "answer.json").read_text())) == answer


def test_writing_again_replaces_ours_and_leaves_others_alone(tmp_path: Path) -> None:
    write_answer(samples.answer(), tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    write_answer(samples.answer(id="ans-second"), tmp_path)
    assert names(tmp_path) == [*NAMES, "notes.txt"]
    assert json.loads((tmp_path / "answer.json").read_text())["id"] == "ans-second"


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("point", ["output.before_replace", "output.between_files"])
def test_stopped_between_two_files_the_json_is_missing_and_the_next_write_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, nth: int
) -> None:
    write_answer(samples.answer(), tmp_path)
    monkeypatch.setattr(fault, "_SPEC", f"{point}:{nth}:raise")
    monkeypatch.setattr(fault, "_passed", type(fault._passed)())
    with pytest.raises(fault.InjectedFault):
        write_answer(samples.answer(id="ans-second"), tmp_path)
    is_complete = point == "output.between_files" and nth == 3
    assert (tmp_path / "answer.json").exists() == is_complete  # never the old one beside new files
    monkeypatch.setattr(fault, "_SPEC", "")
    write_answer(samples.answer(id="ans-second"), tmp_path)
    assert [name for name in names(tmp_path) if not name.startswith(".")] == NAMES
    assert json.loads((tmp_path / "answer.json").read_text())["id"] == "ans-second"


@pytest.mark.parametrize("name", NAMES)
def test_the_one_foreign_file_is_named_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    write_answer(samples.answer(), tmp_path)
    (tmp_path / name).write_text("mine")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    with pytest.raises(StoreFailed, match=name) as caught:
        write_answer(samples.answer(id="ans-second"), tmp_path)
    assert caught.value.code == "output_taken"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_a_link_that_leads_nowhere_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "answer.md").symlink_to(tmp_path / "gone")
    with pytest.raises(StoreFailed, match="left alone"):
        write_answer(samples.answer(), tmp_path)
    assert not (tmp_path / "gone").exists()


def test_a_place_that_cannot_be_written_keeps_the_answer_and_says_where_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match="--out") as caught:
        write_answer(samples.answer(), tmp_path / "file" / "out")
    assert caught.value.code == "output_unwritable"
