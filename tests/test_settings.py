"""One table of settings, read from one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand.errors import InvalidInput
from firsthand.settings import describe, load_settings


def test_a_variable_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    (tmp_path / "firsthand.toml").write_text('max_sources = 7\nsearch = "searxng"\n')
    home = {"FIRSTHAND_HOME": str(tmp_path)}
    assert load_settings(home).max_sources == 7
    assert load_settings({**home, "FIRSTHAND_MAX_SOURCES": "3"}).max_sources == 3
    assert load_settings(home).search == "searxng"
    assert load_settings({**home, "FIRSTHAND_MAX_SOURCES": "3"}).host_interval_s == 1.0


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [("FIRSTHAND_MAX_SOURCE", "3", "unknown_setting"), ("FIRSTHAND_MAX_SOURCES", "many", "invalid_setting")],
)
def test_a_wrong_setting_is_named(tmp_path: Path, name: str, value: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_settings({"FIRSTHAND_HOME": str(tmp_path), name: value})
    assert caught.value.code == code


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "firsthand.toml").write_text("max_sources = = 3")
    with pytest.raises(InvalidInput, match=r"firsthand\.toml"):
        load_settings({"FIRSTHAND_HOME": str(tmp_path)})


def test_every_setting_has_a_line_of_help(tmp_path: Path) -> None:
    rows = describe(load_settings({"FIRSTHAND_HOME": str(tmp_path)}))
    assert len(rows) > 5
    assert all(name and help_line for name, _, help_line in rows)
