"""A world of its own for each test, and a home whose store is migrated already."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.world import World, world


@pytest.fixture
def orchid() -> Iterator[World]:
    """The servers of the test world, until the test ends."""
    with world() as here:
        yield here


@pytest.fixture
def home(tmp_path: Path, sqlite_template: Path) -> Path:
    """A data folder with an empty store."""
    folder = tmp_path / "home"
    folder.mkdir()
    shutil.copyfile(sqlite_template, folder / "firsthand.db")
    return folder
