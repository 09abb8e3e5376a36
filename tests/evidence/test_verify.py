"""Verification of answers: what is where it should be, and a name for everything that is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firsthand.evidence.verify import Kept, verify_answer, verify_citation
from firsthand.ids import payload_digest, text_digest
from firsthand.values import Answer, Citation, Claim, Engine, Source, Usage

PAYLOAD = b"<p>The delta receives about eleven cubic kilometres.</p>"
BODY = "Okavango\nThe delta receives about eleven cubic\u00a0kilometres."
START = BODY.index("The delta")
CITATION = Citation(
    1, "http://a.example/p", BODY[START:], "", "", payload_digest(PAYLOAD), text_digest(BODY), START, len(BODY), "exact"
)
SOURCE = Source(1, CITATION.url, "Okavango", "a.example", "2026-01-01T00:00:00Z", None, CITATION.snapshot, "text/html")


def answer_with(citation: Citation) -> Answer:
    claim = Claim(citation.quote, 0, len(citation.quote), (citation,))
    return Answer(
        "answer-1", "How much?", "en", "search", "annotate", "answered", citation.quote, (claim,), (SOURCE,),
        (), (), (), (), (), (), Usage(), 1, Engine("1", None, "test/1", ()),
    )  # fmt: skip


def load(snapshot: str, digest: str) -> Kept:
    known = (snapshot, digest) == (CITATION.snapshot, CITATION.text_digest)
    return Kept(PAYLOAD, BODY) if known else Kept(None, None)


def test_a_good_answer_has_one_row_a_citation_and_none_wrong() -> None:
    report = verify_answer(answer_with(CITATION), load)
    [row] = report.rows
    assert (report.ok, row.verdict, row.n, row.claim, row.url) == (True, "exact", 1, 0, "http://a.example/p")
    assert report.counts == {"exact": 1, "normalised": 0, "missing": 0}


def test_words_that_differ_in_spaces_only_are_normalised() -> None:
    citation = replace(CITATION, quote=CITATION.quote.replace("\u00a0", " "), verdict="normalised")
    report = verify_answer(answer_with(citation), load)
    assert (report.ok, report.rows[0].verdict) == (True, "normalised")


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"start": START + 1}, "quote_missing"),
        ({"end": 10_000}, "span_outside"),
        ({"start": -5}, "span_outside"),
        ({"quote": "The delta is dry."}, "quote_missing"),
        ({"verdict": "normalised"}, "verdict_differs"),
        ({"verdict": "missing"}, "verdict_differs"),
        ({"source": 9}, "unknown_source"),
        ({"url": "http://b.example/"}, "unknown_source"),
        ({"snapshot": payload_digest(b"other")}, "payload_missing"),
        ({"text_digest": text_digest("other")}, "text_missing"),
    ],
)
def test_what_is_wrong_has_a_name(changes: dict[str, Any], wrong: str) -> None:
    report = verify_answer(answer_with(replace(CITATION, **changes)), load)
    assert (report.ok, report.n_wrong) == (False, 1)
    assert wrong in report.rows[0].wrong


@pytest.mark.parametrize(
    ("kept", "wrong"),
    [
        (Kept(PAYLOAD + b" ", BODY), "payload_changed"),
        (Kept(PAYLOAD, BODY + " "), "text_changed"),
        (Kept(None, BODY), "payload_missing"),
        (Kept(PAYLOAD, None), "text_missing"),
    ],
)
def test_a_kept_thing_that_changed_bears_nothing(kept: Kept, wrong: str) -> None:
    report = verify_answer(answer_with(CITATION), lambda snapshot, digest: kept)
    assert (report.rows[0].verdict, report.rows[0].wrong) == ("missing", (wrong,))


def test_every_changed_byte_of_a_kept_page_and_text_is_noticed() -> None:
    answer = answer_with(CITATION)
    for at in range(len(PAYLOAD)):
        changed = PAYLOAD[:at] + bytes([PAYLOAD[at] ^ 1]) + PAYLOAD[at + 1 :]
        assert not verify_answer(answer, lambda *_, payload=changed: Kept(payload, BODY)).ok
    for at in range(len(BODY)):
        body = BODY[:at] + chr(ord(BODY[at]) ^ 1) + BODY[at + 1 :]
        assert not verify_answer(answer, lambda *_, body=body: Kept(PAYLOAD, body)).ok


def test_only_the_stored_version_counts() -> None:
    """A page that says more today does not bear a quote that its snapshot lacks (p124)."""
    later = BODY + " It receives 99."
    citation = replace(CITATION, quote="It receives 99.", start=len(BODY) + 1, end=len(later))
    assert verify_citation(citation, True, later) == "exact"
    assert verify_answer(answer_with(citation), load).rows[0].wrong == ("span_outside",)


def test_a_kept_page_is_loaded_and_hashed_once() -> None:
    calls = []

    def counting(snapshot: str, digest: str) -> Kept:
        calls.append(snapshot)
        return load(snapshot, digest)

    answer = answer_with(CITATION)
    claim = replace(answer.claims[0], citations=(CITATION,) * 5)
    assert len(verify_answer(replace(answer, claims=(claim,)), counting).rows) == 5
    assert len(calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"claims": None},
        {"claims": [3]},
        {"claims": [{"citations": 3}]},
        {"text": "a", "claims": [{"text": "b", "start": 0, "end": 1, "citations": []}]},
        {"text": "a", "claims": [{"text": "a", "start": 0, "end": 1, "citations": [None]}]},
        {"text": "a", "claims": [{"text": "a", "start": 0, "end": 1, "citations": [{"source": True}]}]},
    ],
)
def test_an_answer_of_another_form_is_a_finding_and_no_crash(answer: dict[str, Any]) -> None:
    assert not verify_answer(answer, load).ok
