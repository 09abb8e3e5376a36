"""The scorer of charsets counts right what is right and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals import charset

RUSSIAN = "Рано утром вода уходит, и лодки лежат на боку в иле. Кто прочитает доску у причала, тот знает, когда плыть."


def test_names_of_folders_name_encodings() -> None:
    names = ["KOI8-R", "iso-8859-5-bulgarian", "cp1251_uk", "utf-8-sig", "iso-2022-kr", "SHIFT_JIS", "gb18030_zh_CN"]
    found = [charset.encoding_of(name) for name in names]
    assert found == ["koi8-r", "iso-8859-5", "cp1251", "utf-8-sig", "iso-2022-kr", "shift_jis", "gb18030"]
    with pytest.raises(SystemExit):
        charset.encoding_of("rot13")


def test_a_folder_is_scored_as_it_is_and_without_its_declarations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lying = f'<?xml version="1.0" encoding="windows-1251"?><p>{RUSSIAN}</p>'.encode("koi8-r")
    for name, payload in (
        ("koi8-r/plain.txt", RUSSIAN.encode("koi8-r")),
        ("koi8-r/lying.xml", lying),
        ("utf-8/a.txt", RUSSIAN.encode()),
        ("ibm855/a.txt", RUSSIAN.encode("cp855")),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(payload)
    rows = tmp_path / "rows.jsonl"
    assert charset.main([str(tmp_path), "--rows", str(rows)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["files"], told["web"], told["not_on_the_web"], told["legacy"]) == (4, 3, 1, 2)
    assert (told["right"], told["legacy_right_share"], told["legacy_undeclared_right_share"]) == (2, 0.5, 1.0)
    right = {row["file"]: row["is_right"] for row in map(json.loads, rows.read_text().splitlines())}
    assert right == {"ibm855/a.txt": None, "koi8-r/lying.xml": False, "koi8-r/plain.txt": True, "utf-8/a.txt": True}
