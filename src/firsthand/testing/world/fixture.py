"""A world as a fixture of pytest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from firsthand.testing.world.library import Source
from firsthand.testing.world.served import World


def world_fixture(
    pages: Path | str | Mapping[str, Source] | None = None,
    *,
    scope: Literal["function", "class", "module", "package", "session"] = "function",
    **options: Any,
) -> Callable[[], Iterator[World]]:
    """A fixture that gives a test its world: ``world = world_fixture("tests/pages")`` in a conftest.

    A world starts in a few milliseconds; for a wider *scope*, call ``world.reset()`` where a test begins.
    """
    import pytest  # only who writes tests needs it

    @pytest.fixture(scope=scope)
    def world() -> Iterator[World]:
        with World(pages, **options) as made:
            yield made

    return world
