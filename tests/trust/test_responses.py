"""P4: every row of the response corpus ends as stated, in time, small, and the next fetch is good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firsthand.web.reply import OUTCOME_OF_CODE
from tests.trust.responses import ROWS, STATED_OUTCOMES, Lab, Result, faults

AT_ONCE = 3  # rows under way; some only wait


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest) -> dict[str, Result]:
    """What became of every row that a chosen test names, each in a process of its own."""
    here = [item for item in request.session.items if item.path == request.path]
    specs = [getattr(item, "callspec", None) for item in here]
    ids = {spec.params["row_id"] for spec in specs if spec is not None and "row_id" in spec.params}
    with Lab() as lab:
        return {result.id: result for result in lab.run(sorted(ids), short=True, at_once=AT_ONCE)}


@pytest.mark.parametrize("row_id", sorted(ROWS))
def test_hostile_response_ends_as_stated_in_time_and_small_and_the_next_fetch_is_good(
    row_id: str, results: dict[str, Result]
) -> None:
    assert faults(results[row_id]) == []


def test_corpus_has_its_rows_and_every_code_of_it_has_an_outcome() -> None:
    codes = {row["expect"].get("code", "ok") for row in ROWS.values()}
    codes |= {code for row in ROWS.values() for code in row.get("also", ())}
    assert len(ROWS) == 134
    assert codes - {"http_status"} <= set(STATED_OUTCOMES)
    assert {code: OUTCOME_OF_CODE[code] for code in codes & set(OUTCOME_OF_CODE)} == {
        code: next(iter(STATED_OUTCOMES.get(code, {"failed"}))) for code in codes & set(OUTCOME_OF_CODE)
    }


GOOD = Result("r023", "ok", "ok", next_good=True, body="Okavango", paths=["/row", "/good"])


@pytest.mark.parametrize(
    ("id", "changes"),
    [
        ("r023", {"code": "decode_error", "outcome": "failed"}),
        ("r023", {"body": "other words"}),
        ("r023", {"seconds": 36.0}),
        ("r113", {"seconds": 11.0, "cpu_s": 10.5, "body": "Needle"}),
        ("r023", {"rise_mib": 97.0}),
        ("r023", {"worker_mib": 577.0}),
        ("r023", {"next_good": False}),
        ("r023", {"next_read": False}),
        ("r023", {"paths": ["/row", "/x.dtd", "/good"]}),
        ("r023", {"peers": ["127.0.0.1 port 9"]}),
        ("r023", {"leaks": ["Cookie: a=b"]}),
        ("r023", {"code": "died (-11)", "outcome": ""}),
        ("r022", {"code": "decode_error", "outcome": "refused"}),
        ("r065", {"code": "http_status", "outcome": "failed"}),
        ("r067", {"code": "rate_limited", "outcome": "rate_limited", "waited_s": 301.0}),
        ("r094", {"body": "Needle <script>"}),
        ("r132", {"body": "Needle", "n_links": 2001}),
    ],
)
def test_each_kind_of_fault_is_noticed(id: str, changes: dict[str, object]) -> None:
    assert faults(GOOD) == []
    assert len(faults(replace(GOOD, id=id, **changes))) == 1  # type: ignore[arg-type]
