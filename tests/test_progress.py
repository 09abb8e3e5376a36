"""What a person who watches is told."""

from __future__ import annotations

import pytest

from firsthand.events import Event
from firsthand.progress import Progress


@pytest.mark.parametrize(
    ("n", "says"), [(0, "weighed 0 passages\n"), (1, "weighed 1 passage\n"), (2, "weighed 2 passages\n")]
)
def test_a_count_of_one_is_no_plural(capsys: pytest.CaptureFixture[str], n: int, says: str) -> None:
    Progress().event(Event("PassagesRanked", "ranked", {"n_passages": n}))
    assert capsys.readouterr().err == says
