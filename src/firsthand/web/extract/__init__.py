"""From the payload of a snapshot to a text: blocks with spans that can be quoted.

Pure: bytes in, values out. The kind of a payload is decided by its bytes; what a header says only breaks ties.
"""

from __future__ import annotations

import re
from dataclasses import replace

from firsthand.errors import ExtractionFailed
from firsthand.values import Text

EXTRACTOR = "firsthand-blocks"
EXTRACTOR_VERSION = "1"
__all__ = ["EXTRACTOR", "EXTRACTOR_VERSION", "extract"]

_SNIFF_BYTES = 4096
_JSON = ("application/json", "text/json")
# A tag, a declaration or a comment: what no plain text begins with.
_HTML_START = re.compile(rb"<(?:[a-z][a-z0-9]*[\s/>]|!doctype\s+html|!--)", re.IGNORECASE)
# First bytes of what can never be read as text: archives, pictures, sound, film, fonts, programs.
_BINARY_STARTS = (b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"RIFF", b"OggS", b"ID3", b"\x7fELF", b"MZ", b"\xd0\xcf\x11\xe0", b"wOFF", b"wOF2", b"\x00asm", b"SQLite format 3\x00", b"%!PS", b"{\\rtf")  # fmt: skip


def extract(payload: bytes, *, url: str, content_type: str | None = None) -> Text:
    """The text of *payload*, with every block a reader would see, main content marked.

    *url* is the page's final address: links are made absolute with it. *content_type* is the header as received.
    Cost: linear in the payload; no network, no clock. A PDF must be read in a process of its own (see ``pdf``).
    Raises: ExtractionFailed with outcome ``unsupported``, ``empty``, ``needs_javascript``, ``too_large`` or ``failed``.
    """
    kind = _kind(payload, content_type)
    if kind == "pdf":
        from firsthand.web.extract.pdf import extract_pdf

        text = extract_pdf(payload)
    elif kind == "html":
        from firsthand.web.extract.html import extract_html

        text = extract_html(payload, url=url, content_type=content_type)
    elif kind == "text":
        from firsthand.web.extract.text import extract_text

        text = extract_text(payload, url=url, content_type=content_type)
    else:
        raise ExtractionFailed("unsupported", "unsupported_type", "The payload is neither HTML, plain text nor PDF.")
    return replace(text, extractor=EXTRACTOR, extractor_version=EXTRACTOR_VERSION)


def _kind(payload: bytes, content_type: str | None) -> str:
    """``pdf``, ``html``, ``text`` or ``binary``."""
    head = payload[:_SNIFF_BYTES]
    if b"%PDF-" in head[:1024] and head.lstrip()[:1] != b"<":
        return "pdf"
    if head.startswith(_BINARY_STARTS):
        return "binary"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head[2:].replace(b"\0", b"")
    declared = (content_type or "").partition(";")[0].strip().lower()
    if b"\0" in head and head.count(b"\0") * 20 > len(head) and declared != "text/html":
        return "binary"
    if declared.startswith(("image/", "audio/", "video/", "font/")):
        return "binary"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if (declared.startswith("text/") and declared != "text/html") or declared in _JSON or declared.endswith("+json"):
        return "html" if start[:15].lower().startswith((b"<!doctype html", b"<html")) else "text"
    if declared in ("text/html", "application/xhtml+xml") or _HTML_START.match(start):
        return "html"
    lowered = start.lower()
    return "html" if b"<html" in lowered or b"<body" in lowered or b"<!doctype html" in lowered else "text"
