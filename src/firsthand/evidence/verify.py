"""Checks citations against what was kept: payload, text, span, words. No model, no network, no newer extractor.

The kept text is the reference; a better extractor never moves an old citation. An answer is read here as JSON, the
form in which it is stored and exported, and nothing in it is trusted: a missing field is a finding, not a crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass

from firsthand.evidence.quotes import same_words
from firsthand.ids import payload_digest, text_digest
from firsthand.values import Answer, Citation, JsonValue, Verdict


@dataclass(frozen=True, slots=True)
class Kept:
    """What the store or a bundle holds for one citation; None: not there."""

    payload: bytes | None
    body: str | None


Load = Callable[[str, str], Kept]  # (snapshot, text_digest) → what is kept under these names


@dataclass(frozen=True, slots=True)
class Row:
    """The check of one citation, or of a claim's own place (``n`` is 0). ``wrong`` is empty when all is well."""

    claim: int  # index in the answer's claims, from 0; -1: the answer itself
    n: int  # number of the source
    url: str
    verdict: Verdict
    wrong: tuple[str, ...]  # codes
    where: str  # "text sha256:… 120:180"

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


@dataclass(frozen=True, slots=True)
class Report:
    """One row a citation, in the answer's order."""

    rows: tuple[Row, ...]

    @property
    def ok(self) -> bool:
        """Whether every citation is where it should be."""
        return all(row.ok for row in self.rows)

    @property
    def counts(self) -> dict[Verdict, int]:
        """Citations by verdict."""
        found = Counter(row.verdict for row in self.rows if row.n)
        return {"exact": found["exact"], "normalised": found["normalised"], "missing": found["missing"]}

    @property
    def n_wrong(self) -> int:
        """How many rows have something wrong."""
        return sum(not row.ok for row in self.rows)


def verify_citation(citation: Citation, payload_digest_ok: bool, body: str | None) -> Verdict:
    """Whether the quote stands at its span in *body*, exactly or folded. A quote elsewhere in the text is missing.

    *body* is the kept text whose digest was found right; None if it is gone or changed.
    """
    if not payload_digest_ok or body is None or not 0 <= citation.start < citation.end <= len(body):
        return "missing"
    found = body[citation.start : citation.end]
    if found == citation.quote:
        return "exact"
    return "normalised" if same_words(found, citation.quote) else "missing"


def verify_answer(answer: Answer | Mapping[str, JsonValue], load: Load) -> Report:
    """Check every citation of *answer* against what *load* brings. Digests of payload and text are computed again.

    Wrong, by code: ``payload_missing``, ``payload_changed``, ``text_missing``, ``text_changed``, ``span_outside``,
    ``quote_missing`` (not at its span), ``verdict_differs`` (recorded otherwise), ``unknown_source`` (no such source,
    or another page), ``claim_misplaced`` (a claim does not stand at its span in the answer), ``malformed``.
    """
    fields = _as_json(answer) if isinstance(answer, Answer) else answer
    claims = fields.get("claims")
    if not isinstance(claims, list):
        return Report((Row(-1, 0, "", "missing", ("malformed",), "claims"),))
    sources = _sources(fields.get("sources"))
    text = fields.get("text")
    checked = _Checked(load)
    rows: list[Row] = []
    for index, claim in enumerate(claims):
        if not isinstance(claim, dict) or not isinstance(claim.get("citations"), list):
            rows.append(Row(index, 0, "", "missing", ("malformed",), f"claim {index}"))
            continue
        if not _stands(claim, text):
            rows.append(
                Row(index, 0, "", "missing", ("claim_misplaced",), f"answer {claim.get('start')}:{claim.get('end')}")
            )
        rows.extend(_verify_row(index, citation, sources, checked) for citation in _list(claim["citations"]))
    return Report(tuple(rows))


def citation_from_json(value: JsonValue) -> Citation | None:
    """The citation that *value* describes, or None if a field is missing or of another type."""
    if not isinstance(value, dict):
        return None
    words = {name: value.get(name) for name in ("url", "quote", "prefix", "suffix", "snapshot", "text_digest")}
    numbers = {name: value.get(name) for name in ("source", "start", "end")}
    verdict = value.get("verdict")
    if verdict not in ("exact", "normalised", "missing"):
        return None
    if any(not isinstance(word, str) for word in words.values()):
        return None
    if any(not isinstance(number, int) or isinstance(number, bool) for number in numbers.values()):
        return None
    return Citation(**words, **numbers, verdict=verdict)  # type: ignore[arg-type]  # checked above


class _Checked:
    """Kept things with their digests checked, each once an answer: a page is often cited ten times."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._seen: dict[tuple[str, str], tuple[tuple[str, ...], str | None]] = {}

    def get(self, snapshot: str, digest: str) -> tuple[tuple[str, ...], str | None]:
        """What is wrong with the kept payload and text, and the text if it is the right one."""
        key = (snapshot, digest)
        if key not in self._seen:
            kept = self._load(snapshot, digest)
            wrong = []
            if kept.payload is None:
                wrong.append("payload_missing")
            elif payload_digest(kept.payload) != snapshot:
                wrong.append("payload_changed")
            body = kept.body
            if body is None:
                wrong.append("text_missing")
            elif text_digest(body) != digest:
                wrong.append("text_changed")
                body = None
            self._seen[key] = (tuple(wrong), body)
        return self._seen[key]


def _verify_row(index: int, value: JsonValue, sources: Mapping[int, tuple[str, str]], checked: _Checked) -> Row:
    citation = citation_from_json(value)
    if citation is None:
        return Row(index, 0, "", "missing", ("malformed",), f"claim {index}")
    faults, body = checked.get(citation.snapshot, citation.text_digest)
    wrong = list(faults)
    payload_ok = not any(fault.startswith("payload") for fault in faults)
    verdict = verify_citation(citation, payload_ok, body)
    if body is not None and verdict == "missing" and payload_ok:
        inside = 0 <= citation.start < citation.end <= len(body)
        wrong.append("quote_missing" if inside else "span_outside")
    elif verdict != citation.verdict and not wrong:
        wrong.append("verdict_differs")
    if sources.get(citation.source) != (citation.snapshot, _without_fragment(citation.url)):
        wrong.append("unknown_source")
    where = f"text {citation.text_digest} {citation.start}:{citation.end}"
    return Row(index, citation.source, citation.url, verdict, tuple(wrong), where)


def _sources(value: JsonValue) -> dict[int, tuple[str, str]]:
    """Snapshot and address of each source, by its number."""
    found = {}
    for source in _list(value):
        if isinstance(source, dict):
            n, snapshot, url = source.get("n"), source.get("snapshot"), source.get("url")
            if isinstance(n, int) and isinstance(snapshot, str) and isinstance(url, str):
                found[n] = (snapshot, _without_fragment(url))
    return found


def _stands(claim: Mapping[str, JsonValue], text: JsonValue) -> bool:
    start, end = claim.get("start"), claim.get("end")
    if not (isinstance(text, str) and isinstance(start, int) and isinstance(end, int) and 0 <= start <= end):
        return False
    return text[start:end] == claim.get("text")


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _list(value: JsonValue) -> Iterator[JsonValue]:
    return iter(value if isinstance(value, list) else [])


def _as_json(answer: Answer) -> dict[str, JsonValue]:
    """The parts of an answer that are checked, as JSON has them."""
    return {
        "text": answer.text,
        "claims": [{**asdict(claim), "citations": [asdict(one) for one in claim.citations]} for claim in answer.claims],
        "sources": [asdict(source) for source in answer.sources],
    }
