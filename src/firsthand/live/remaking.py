"""Making the texts that an answer cites again from their bytes, where this release has the extractor that made them.

The kept text is the reference, by its digest; nothing that is found here moves a citation. A text that another version
made is not made again, since that version is not there, and that is said. One that comes out otherwise although the
version is the same was written by another hand, or read with other libraries below the extractor; that is said too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from firsthand.db import Connection, Database
from firsthand.errors import DigestMismatch, ExtractionFailed, NotFound
from firsthand.evidence import captures, store
from firsthand.evidence.bundle import Bundle
from firsthand.ids import payload_digest, text_digest
from firsthand.live.extraction import Extraction
from firsthand.render import counted
from firsthand.values import Citation, JsonValue
from firsthand.web.extract import EXTRACTOR, EXTRACTOR_VERSION

OURS = f"{EXTRACTOR}/{EXTRACTOR_VERSION}"
Outcome = Literal["same", "differs", "unreadable", "not_installed"]


@dataclass(frozen=True, slots=True)
class Remade:
    """What became of one cited text when it was made again."""

    url: str
    snapshot: str
    text_digest: str
    extractor: str  # that made it, with its version
    outcome: Outcome

    def as_json(self) -> dict[str, JsonValue]:
        """A row of ``texts`` in ``verify --json``."""
        return {
            "url": self.url,
            "snapshot": self.snapshot,
            "text_digest": self.text_digest,
            "extractor": self.extractor,
            "made_again": self.outcome,
        }


@dataclass(frozen=True, slots=True)
class _Material:
    """What a text was made of, and by whom; ``came_as`` holds addresses with content types."""

    payload: bytes
    came_as: Sequence[tuple[str, str | None]]
    extractors: Sequence[str]


async def remake(citations: Sequence[Citation], kept: Database | Bundle, extraction: Extraction) -> list[Remade]:
    """Each cited text once, in order. What is missing or damaged is left out: the check of the citations says so.

    Cost: reads as many pages as are cited, one after the other, in a worker process.
    """
    made = []
    once = {(citation.snapshot, citation.text_digest): citation for citation in reversed(citations)}
    for (snapshot, digest), citation in reversed(once.items()):
        if isinstance(kept, Bundle):
            material = _from_bundle(kept, citation)
        else:
            material = await kept.read(_from_store, snapshot, digest)
        if material is not None:
            outcome = await _outcome(material, digest, extraction)
            by = OURS if OURS in material.extractors else ", ".join(material.extractors)
            made.append(Remade(citation.url, snapshot, digest, by, outcome))
    return made


def remade_lines(made: Sequence[Remade]) -> list[str]:
    """What is to be said of *made*, for a person."""
    lines = []
    if n_same := sum(one.outcome == "same" for one in made):
        lines.append(f"{counted(n_same, 'text')} made again from {'its' if n_same == 1 else 'their'} bytes: the same")
    for by, n in Counter(one.extractor for one in made if one.outcome == "not_installed").items():
        lines.append(
            f"{counted(n, 'text')} made by {by}, which is not in this release ({OURS}): checked by"
            f" {'its digest' if n == 1 else 'their digests'}, not made again"
        )
    for one in made:
        if one.outcome in ("differs", "unreadable"):
            how = "comes out otherwise" if one.outcome == "differs" else "cannot be read again"
            lines.append(f"NOTE  {one.url}: its text {how} with the same extractor; the kept text is the reference")
    return lines


async def _outcome(material: _Material, digest: str, extraction: Extraction) -> Outcome:
    if OURS not in material.extractors:
        return "not_installed"
    outcome: Outcome = "unreadable"
    for url, content_type in material.came_as:
        try:
            text, _ = await extraction.one(material.payload, url=url, content_type=content_type)
        except ExtractionFailed:
            continue
        if text_digest(text.body) == digest:
            return "same"
        outcome = "differs"
    return outcome


def _from_store(connection: Connection, snapshot: str, digest: str) -> _Material | None:
    by = captures.made_by(connection, snapshot, digest)
    try:
        payload = store.load_payload(connection, snapshot) if by else None
    except (NotFound, DigestMismatch):
        return None
    if payload is None:
        return None
    return _Material(payload, captures.came_as(connection, snapshot), sorted("/".join(one) for one in by))


def _from_bundle(bundle: Bundle, citation: Citation) -> _Material | None:
    """A bundle does not hold what the server said; the type and the encoding that were found stand in for it."""
    item = bundle.items.get((citation.snapshot, citation.text_digest))
    payload = bundle.load(citation.snapshot, citation.text_digest).payload
    if item is None or payload is None or payload_digest(payload) != citation.snapshot:
        return None
    content_type = f"{item.media_type}; charset={item.charset}" if item.charset else item.media_type
    return _Material(payload, [(citation.url.partition("#")[0], content_type)], [item.extractor])
