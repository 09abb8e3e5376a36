"""Reading one page or file for somebody who wants its text.

Nothing new is kept. Of a page that was kept before it is said whether it changed, and that it did not is kept.
Markdown and plain text are shown as they stand: they are meant to be read so, and marked up again they would be broken.
"""

from __future__ import annotations

import asyncio
import re
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from firsthand.errors import ExtractionFailed, OutsideError
from firsthand.live.adding import FILE_MAX_BYTES
from firsthand.live.extraction import Extraction
from firsthand.live.kept import KeptPages, MaxAge
from firsthand.live.reach import Reach
from firsthand.values import Block, JsonValue, Outcome, Page, Text

AS_WRITTEN = frozenset({"text/markdown", "text/plain"})
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)  # of any scheme: the gate says which it can fetch
_NUMBERED = re.compile(r"\d{1,3}[.)]\s")


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
        """The text as Markdown: headings, items, code and tables as such; main content only, unless *everything*.

        What is Markdown or plain text already is all main content and stays as it is.
        """
        assert self.text is not None
        if self.as_written is not None:
            return self.as_written.strip("\n") + "\n"
        lines: list[str] = []
        last: Block | None = None
        headers = {block.group: block.header for block in self.text.blocks if block.kind == "row" and block.header}
        for block in self.text.blocks:
            if block.main or everything:
                lines += _lines(self.text, block, last, headers.get(block.group, ()))
                last = block
        return "\n".join(lines).strip("\n") + "\n"

    def as_json(self) -> dict[str, JsonValue]:
        """One line of ``read --json``."""
        text = self.text
        fields: dict[str, JsonValue] = {"source": self.source, "url": self.url, "outcome": self.outcome}
        if text is None:
            waits: dict[str, JsonValue] = {} if self.retry_after_s is None else {"retry_after_s": self.retry_after_s}
            return {**fields, "detail": self.detail, **waits}
        blocks = [
            {
                "kind": block.kind,
                "main": block.main,
                "score": round(block.score, 3),
                "heading": list(block.headings),
                "text": text.body[block.span.start : block.span.end],
                "start": block.span.start,
                "end": block.span.end,
                **({"page_number": block.page_number} if block.page_number is not None else {}),
            }
            for block in text.blocks
        ]
        return {
            **fields,
            "media_type": text.media_type,
            "charset": text.charset,
            "title": text.title,
            "author": text.author,
            "published_at": text.published_at,
            "modified_at": text.modified_at,
            "language": text.language,
            "text": "\n".join(str(row["text"]) for row in blocks if row["main"]),
            "blocks": cast(JsonValue, blocks),
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


def _lines(text: Text, block: Block, last: Block | None, table_header: tuple[str, ...]) -> list[str]:
    """The Markdown lines of one block, with the blank line that parts it from the last.

    *table_header* holds the cells of the row that heads the block's table; that row itself does not know it.
    """
    words = text.body[block.span.start : block.span.end]
    kind = "item" if block.kind == "paragraph" and text.media_type == "application/json" else block.kind
    goes_on = last is not None and kind == last.kind and bool(block.group) and block.group == last.group
    is_tree_line = kind != block.kind and last is not None and last.kind == block.kind  # values of JSON are lines
    gap = [] if last is None or is_tree_line or (goes_on and kind in ("item", "row")) else [""]
    match kind:
        case "heading":
            return [*gap, f"{'#' * max(1, min(block.level, 6))} {words}"]
        case "item":
            mark = "" if _NUMBERED.match(words) else "- "  # its own number marks it
            return [*gap, f"{'  ' * max(0, block.level - 1)}{mark}{words}"]
        case "code":
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", words)), default=0))
            return [*gap, fence, words, fence]
        case "row":
            return [*gap, *_row(words, table_header, is_first=not goes_on)]
        case "term":
            return [*gap, f"**{words}**"]
        case "definition":
            return [f": {words}"]
        case "quote":
            return [*gap, *(f"> {line}" for line in words.splitlines())]
        case "caption":
            return [*gap, f"*{words}*"]
        case _:
            return [*gap, words]


def _row(words: str, table_header: tuple[str, ...], *, is_first: bool) -> list[str]:
    """The lines of a table's row; the first one stands under the header, or is the header."""
    cells = [cell.replace("|", "\\|").strip() for cell in words.split("\t")]
    row = f"| {' | '.join(cells)} |"
    if not is_first:
        return [row]
    header = [cell.replace("|", "\\|").strip() for cell in table_header] or [""] * len(cells)
    top = [f"| {' | '.join(header)} |", "|" + " --- |" * max(len(header), len(cells))]
    return top if cells == header else [*top, row]
