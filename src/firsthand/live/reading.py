"""Reading one page or file for somebody who wants its text.

Nothing new is kept. Of a page that was kept before it is said whether it changed, and that it did not is kept.
Markdown and plain text are shown as they stand: they are meant to be read so, and marked up again they would be broken.
"""

from __future__ import annotations

import asyncio
import re
import stat
from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from firsthand.errors import ExtractionFailed, OutsideError
from firsthand.live.adding import FILE_MAX_BYTES
from firsthand.live.extraction import Extraction
from firsthand.live.kept import KeptPages, MaxAge
from firsthand.live.markdown import to_markdown
from firsthand.live.reach import Reach
from firsthand.values import JsonValue, Outcome, Page, Text

AS_WRITTEN = frozenset({"text/markdown", "text/plain"})
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)  # of any scheme: the gate says which it can fetch


@dataclass(frozen=True, slots=True)
class ReadPage:
    """What became of one source."""

    source: str
    url: str
    outcome: Outcome
    detail: str = ""
    text: Text | None = None
    retry_after_s: float | None = None
    changed: bool | None = None  # its text is another than that of the page kept before; None: none was kept
    kept_at: datetime | None = None  # when that page was fetched
    as_written: str | None = None  # the source, of what is read as it stands

    def markdown(self, *, everything: bool) -> str:
        """The text as Markdown; main content only, unless *everything*.

        What is Markdown or plain text already is all main content and stays as it is.
        """
        assert self.text is not None
        if self.as_written is not None:
            return self.as_written.strip("\n") + "\n"
        return to_markdown(self.text, everything=everything)

    def as_json(self) -> dict[str, JsonValue]:
        """One line of ``read --json``."""
        text = self.text
        fields: dict[str, JsonValue] = {"source": self.source, "url": self.url, "outcome": self.outcome}
        if text is None:
            waits: dict[str, JsonValue] = {} if self.retry_after_s is None else {"retry_after_s": self.retry_after_s}
            return {**fields, "detail": self.detail, **waits}
        blocks = _blocks_json(text)
        hidden = [{"kind": one.kind, "text": one.text, "reason": one.reason, "at": one.at} for one in text.hidden]
        return {
            **fields,
            "media_type": text.media_type,
            "charset": text.charset,
            "declared_charset": text.declared_charset,
            "title": text.title,
            "author": text.author,
            "published_at": text.published_at,
            "modified_at": text.modified_at,
            "language": text.language,
            "site_name": text.site_name,
            "canonical_url": text.canonical_url,
            "fact_sources": dict(text.fact_sources),
            "extractor": f"{text.extractor}/{text.extractor_version}",
            "text": "\n".join(str(row["text"]) for row in blocks if row["main"]),
            "blocks": cast(JsonValue, blocks),
            "hidden": cast(JsonValue, hidden),
            "n_hidden": text.n_hidden,
            "n_invisible": text.n_invisible,
            **({} if self.changed is None else {"changed": self.changed, "kept_at": _json_time(self.kept_at)}),
        }


async def read_source(
    source: str, reach: Reach, extraction: Extraction, kept: KeptPages | None = None, max_age_s: float = 0.0
) -> ReadPage:
    """The text of an address or a file; a refusal is a value. A page kept within *max_age_s* stands in for it."""
    try:
        if _ADDRESS.match(source):
            return await _read_page(source, reach, extraction, kept, max_age_s)
        url, payload = await asyncio.to_thread(_read_file, Path(source))
        text, _ = await extraction.one(payload, url=url, content_type=None)
    except OutsideError as error:
        return ReadPage(source, source, error.outcome, error.message, retry_after_s=error.retry_after_s)
    except FileNotFoundError:
        return ReadPage(source, "", "not_found", "There is no file of that name.")
    except OSError as error:
        return ReadPage(source, "", "failed", f"The file cannot be read: {error.strerror}.")
    return ReadPage(source, url, "ok", text=text, as_written=_as_written(payload, text))


async def _read_page(
    source: str, reach: Reach, extraction: Extraction, kept: KeptPages | None, max_age_s: float
) -> ReadPage:
    address = reach.judged(source)
    before = stand_in = None
    if kept is not None:
        before = await kept.seen(address, source)
        stand_in = await kept.fresh(address, source, MaxAge(max_age_s))
    page, text = await reach.read(stand_in or await reach.fetch(source, kept), extraction)
    if before is None or stand_in is not None:
        changed = None if before is None else False
    elif page.payload == before.payload:
        changed = False
        if kept is not None:
            await kept.keep_revisit(page)
    else:
        # Other bytes are not yet another text: many pages carry a token that is new each time.
        changed = (await _text_of(before, extraction)).body != text.body
    kept_at = None if before is None else before.retrieved_at
    as_written = _as_written(page.payload, text)
    return ReadPage(source, page.url, "ok", text=text, changed=changed, kept_at=kept_at, as_written=as_written)


async def _text_of(page: Page, extraction: Extraction) -> Text:
    return (await extraction.one(page.payload, url=page.url, content_type=page.headers.get("content-type")))[0]


def _as_written(payload: bytes, text: Text) -> str | None:
    """The characters of what is read as it stands, in the encoding that its reader found; None for all else."""
    if text.media_type not in AS_WRITTEN:
        return None
    source = payload.decode(text.charset or "utf-8", "replace").removeprefix("\ufeff")
    return source.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")


def _json_time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _read_file(path: Path) -> tuple[str, bytes]:
    """The address and the bytes of *path*. A pipe or a device, which may never end, is not opened."""
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        raise ExtractionFailed("unsupported", "folder", "This is a folder; 'firsthand add' keeps folders.")
    if not stat.S_ISREG(found.st_mode):
        raise ExtractionFailed("unsupported", "no_file", "This is not a file.")
    if found.st_size > FILE_MAX_BYTES:
        message = f"The file has {found.st_size:,} bytes; the limit is {FILE_MAX_BYTES:,}."
        raise ExtractionFailed("too_large", "too_large", message)
    return path.resolve().as_uri(), path.read_bytes()


def _blocks_json(text: Text) -> list[dict[str, JsonValue]]:
    """The blocks as ``read --json`` shows them: what every block says, then what only some do.

    All places are of the body, those of links too: a block's text begins at its ``start``.
    """
    links = _links_by_block(text)
    return [
        {
            "kind": block.kind,
            "main": block.main,
            "score": round(block.score, 3),
            "heading": list(block.headings),
            "text": text.body[block.span.start : block.span.end],
            "start": block.span.start,
            "end": block.span.end,
            **({"level": block.level} if block.level else {}),
            **({"ordinal": block.ordinal} if block.ordinal is not None else {}),
            **({"header": list(block.header)} if block.header else {}),
            **({"row_heads": block.row_heads} if block.row_heads else {}),
            **({"caption": block.caption} if block.caption else {}),
            **({"visibility": block.visibility} if block.visibility != "shown" else {}),
            **({"reason": block.reason} if block.reason else {}),
            **({"page_number": block.page_number} if block.page_number is not None else {}),
            **({"links": cast(JsonValue, links[n])} if n in links else {}),
        }
        for n, block in enumerate(text.blocks)
    ]


def _links_by_block(text: Text) -> dict[int, list[dict[str, JsonValue]]]:
    """The links that stand in each block, by its position. An anchor stands where it begins."""
    starts = [block.span.start for block in text.blocks]
    found: dict[int, list[dict[str, JsonValue]]] = {}
    for anchor in text.anchors:
        at = bisect_right(starts, anchor.span.start) - 1
        if at >= 0:
            row: dict[str, JsonValue] = {
                "start": anchor.span.start,
                "end": anchor.span.end,
                "url": text.links[anchor.link],
            }
            found.setdefault(at, []).append(row)
    return found
