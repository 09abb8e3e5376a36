"""One table of settings, read from one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand.errors import InvalidInput
from firsthand.settings import MASK, child_environment, describe, load_settings


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


KEY = "canary-7f3a91d2"


def test_a_key_is_masked_wherever_settings_are_shown(tmp_path: Path) -> None:
    settings = load_settings({"FIRSTHAND_HOME": str(tmp_path), "FIRSTHAND_BRAVE_API_KEY": f" {KEY}\n"})
    assert settings.brave_api_key == KEY
    shown = {name: value for name, value, _ in describe(settings)}
    assert shown["brave_api_key"] == MASK and shown["exa_api_key"] == ""
    assert KEY not in repr(settings) + str(settings)


def test_the_password_of_an_address_is_masked(tmp_path: Path) -> None:
    url = f"postgresql://me:{KEY}@db.example:5432/firsthand"
    shown = describe(load_settings({"FIRSTHAND_HOME": str(tmp_path), "FIRSTHAND_DATABASE_URL": url}))
    assert KEY not in str(shown)
    assert ("database_url", f"postgresql://me:{MASK}@db.example:5432/firsthand") in [row[:2] for row in shown]


@pytest.mark.parametrize("key", [f"{KEY} x", f"{KEY}\r\nX-Other: 1", f"{KEY}é", f"{KEY}\x00"])
def test_a_key_that_cannot_stand_in_a_header_is_refused_without_repeating_it(tmp_path: Path, key: str) -> None:
    with pytest.raises(InvalidInput, match="exa_api_key") as caught:
        load_settings({"FIRSTHAND_HOME": str(tmp_path), "FIRSTHAND_EXA_API_KEY": key})
    assert KEY not in str(caught.value.as_json())


def test_a_key_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "firsthand.toml").write_text("exa_api_key = 7391\n")
    with pytest.raises(InvalidInput, match="exa_api_key") as caught:
        load_settings({"FIRSTHAND_HOME": str(tmp_path)})
    assert "7391" not in str(caught.value.as_json())


def test_no_setting_of_ours_goes_along_to_a_process_that_we_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTHAND_LINKUP_API_KEY", KEY)
    monkeypatch.setenv("LANG", "C.UTF-8")
    environment = child_environment()
    assert environment["LANG"] == "C.UTF-8" and KEY not in environment.values()


def test_what_becomes_of_a_doubt_is_one_of_three_words(tmp_path: Path) -> None:
    assert load_settings({"FIRSTHAND_HOME": str(tmp_path), "FIRSTHAND_IN_DOUBT": "skip"}).in_doubt == "skip"
    with pytest.raises(InvalidInput, match="ask, repeat or skip"):
        load_settings({"FIRSTHAND_HOME": str(tmp_path), "FIRSTHAND_IN_DOUBT": "again"})


def test_how_old_a_page_may_be_is_empty_unless_it_is_said(tmp_path: Path) -> None:
    home = {"FIRSTHAND_HOME": str(tmp_path)}
    assert load_settings(home).max_age_s is None
    assert ("max_age_s", "") in [(name, value) for name, value, _ in describe(load_settings(home))]
    for said, held in (("", None), ("0", 0), ("604800", 604_800)):
        assert load_settings({**home, "FIRSTHAND_MAX_AGE_S": said}).max_age_s == held
    (tmp_path / "firsthand.toml").write_text("max_age_s = 60\n")
    assert load_settings(home).max_age_s == 60


@pytest.mark.parametrize("said", ["-1", "1.5", "a day", "99999999"])
def test_an_age_that_is_none_is_refused(tmp_path: Path, said: str) -> None:
    with pytest.raises(InvalidInput, match="max_age_s must be a whole number of seconds, or empty"):
        load_settings({"FIRSTHAND_HOME": str(tmp_path), "FIRSTHAND_MAX_AGE_S": said})
