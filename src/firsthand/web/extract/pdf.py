"""PDF to blocks, with the page number of each.

PDFium is native code, is not thread-safe and reads what strangers wrote: call this in a process of its own, one
payload at a time, under a time and a memory limit that the caller sets.
"""

from __future__ import annotations

import re
from typing import Any

from firsthand.values import BlockKind, Text
from firsthand.web.extract.drafts import Draft, assemble
from firsthand.web.extract.facts import iso_date
from firsthand.web.extract.failure import unreadable
from firsthand.web.extract.words import prose

MAX_PAGES = 10_000  # guess: five times the longest manual measured; so many take 15 s, so the CPU limit comes first
_MAX_CHARS = 20_000_000  # guess: a PDF of 2,000 pages has 6 million characters
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
_SENTENCE_END = re.compile(r"""[.!?:;。！？]["'”’)\]]?$""")
_BULLET = re.compile(r"(?:[•‣◦▪●–]|\d{1,2}[.)]|\([a-z0-9]{1,2}\))\s+\S")
_PDF_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2}))?")


def extract_pdf(payload: bytes) -> Text:
    """The text of a PDF. Raises ExtractionFailed: ``refused`` when encrypted, ``unsupported`` when only pictures, ``failed`` when broken or too long."""
    import pypdfium2 as pdfium  # native, 7 MB: loaded only when there is a PDF to read

    start = payload.find(b"%PDF-", 0, 1024)
    try:
        document = pdfium.PdfDocument(payload[max(start, 0) :])
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR or "password" in str(error).lower():
            raise unreadable(
                "pdf_encrypted", "The PDF is encrypted and cannot be read without its password."
            ) from error
        raise unreadable("parse_error", "The PDF is damaged and cannot be opened.") from error
    try:
        drafts, n_pages, n_failed = _read(document, pdfium)
        facts = document.get_metadata_dict()
    except pdfium.PdfiumError as error:
        raise unreadable("parse_error", "The PDF is damaged and cannot be read.") from error
    finally:
        document.close()
    if not drafts:
        if n_failed == n_pages:
            raise unreadable("parse_error", "The PDF has no page that can be read.", n_pages=n_pages)
        raise unreadable("pdf_scanned", "The PDF holds pictures of text, not text.", n_pages=n_pages)
    made = assemble(drafts)
    return Text(
        body=made.body,
        blocks=made.blocks,
        media_type="application/pdf",
        title=prose(facts.get("Title", ""))[:300],
        author=prose(facts.get("Author", ""))[:300] or None,
        published_at=_date(facts.get("CreationDate", "")),
        modified_at=_date(facts.get("ModDate", "")),
    )


def _read(document: Any, pdfium: Any) -> tuple[list[Draft], int, int]:
    """The blocks of all pages, how many pages were read, and how many of them could not be."""
    drafts: list[Draft] = []
    n_failed = n_chars = 0
    n_pages = len(document)
    if n_pages > MAX_PAGES:
        message = f"The PDF says that it has {n_pages:,} pages; {MAX_PAGES:,} are read."
        raise unreadable("parse_limit", message, limit_kind="pages")
    for index in range(n_pages):
        try:
            page = document[index]
        except pdfium.PdfiumError:
            n_failed += 1
            continue
        try:
            text_page = page.get_textpage()
            raw = text_page.get_text_bounded()
            text_page.close()
        except pdfium.PdfiumError:
            n_failed += 1
            continue
        finally:
            page.close()
        n_chars += len(raw)
        if n_chars > _MAX_CHARS:
            message = f"The PDF has more than {_MAX_CHARS:,} characters."
            raise unreadable("parse_limit", message, limit_kind="characters")
        for text in _paragraphs(raw):
            is_item = _BULLET.match(text) is not None
            kind: BlockKind = "item" if is_item else "paragraph"
            drafts.append(Draft(kind, text, page_number=index + 1, level=int(is_item)))
    return drafts, n_pages, n_failed


def _paragraphs(raw: str) -> list[str]:
    """Lines joined to paragraphs: one ends at a blank line, before a bullet, or where a line is short and closes a sentence."""
    # U+FFFE and U+0002 are PDFium's marks for a hyphen at a line's end: the word goes on.
    raw = re.sub(r"[\ufffe\x02]\s*", "", raw).replace("\r\n", "\n").replace("\r", "\n")
    lines = raw.split("\n")
    widest = max((len(line) for line in lines), default=0)
    paragraphs: list[str] = []
    current: list[str] = []
    for line in [*lines, ""]:
        text = line.strip()
        if current and (not text or _BULLET.match(text)):
            paragraphs.append(prose(" ".join(current)))
            current = []
        if text:
            current.append(text)
            if len(text) < 0.75 * widest and (_SENTENCE_END.search(text) or len(text) < 0.5 * widest):
                paragraphs.append(prose(" ".join(current)))
                current = []
    return [paragraph for paragraph in paragraphs if paragraph]


def _date(value: str) -> str | None:
    found = _PDF_DATE.match(value)
    if not found:
        return None
    return iso_date(f"{found[1]}-{found[2] or '01'}-{found[3] or '01'}")
