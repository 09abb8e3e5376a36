"""What a payload is, found out from its bytes; a header or a name only decides between kinds that bytes cannot tell apart.

One decision for the whole house: what a fetch refuses and what the extractor reads is judged here. A PDF that is sent as
``application/octet-stream`` is a PDF, an error page at ``/paper.pdf`` is a page, a program that calls itself a page is a
program.

Cost: looks at the first 4 KiB, except for the names inside an archive (64 KiB).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["html", "pdf", "json", "feed", "xml", "markdown", "text", "other"]

SAMPLE_BYTES = 4096
_ARCHIVE_BYTES = 65_536
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")  # byte order marks: text whatever follows
_CONTROLS = bytes((*range(1, 9), *range(14, 27), *range(28, 32)))  # all but tab, line ends, form feed, escape
_CONTROL_SHARE_MAX = 0.05  # random bytes hold 10 % of these, texts in any charset next to none
_NUL_SHARE_MAX = 0.05
_UTF16_SHARE = 0.4  # guess: Latin text in UTF-16 has over 0.9 of one byte of each pair zero, Greek with markup half

# First bytes of what holds no text for us, with its type. Sources: the formats' own specifications; MIME Sniffing
# Standard, section 6, for pictures, sound, film, fonts and archives.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\1\0", "image/x-icon"),
    (b"8BPS", "image/vnd.adobe.photoshop"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "application/ogg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf", "application/x-7z-compressed"),
    (b"Rar!", "application/vnd.rar"),
    (b"\xd0\xcf\x11\xe0", "application/x-ole-storage"),  # Office files before 2007
    (b"{\\rtf", "application/rtf"),
    (b"%!PS", "application/postscript"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"OTTO", "font/otf"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\0asm", "application/wasm"),
    (b"SQLite format 3", "application/vnd.sqlite3"),
)
_FIRST_BYTES = tuple(signature for signature, _ in _SIGNATURES)
_ZIPS = (b"PK\x03\x04", b"PK\x05\x06")
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_OFFICE = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
)
_OWN_TYPE = re.compile(rb"mimetype(application/[a-z0-9.+-]{3,80})")  # the first entry of OpenDocument and EPUB
# Every pattern below is anchored, or bounded and without nested repetition.
_PDF = re.compile(rb"%PDF-\d")
_HTML_START = re.compile(rb"<(?:[a-z][a-z0-9]*[\s/>]|!doctype\s+html|!--)", re.IGNORECASE)
_HTML_WITHIN = re.compile(rb"<(?:html|body|head)[\s>]|<!doctype\s+html", re.IGNORECASE)
_XML_START = re.compile(rb"<\?xml[\s?]", re.IGNORECASE)
_ROOT = re.compile(rb"<([a-zA-Z_][\w.-]{0,40}:)?([a-zA-Z_][\w.-]{0,60})")
_FEED_ROOTS = frozenset({b"rss", b"feed", b"rdf"})
_PLAIN_XML_ROOTS = frozenset({b"urlset", b"sitemapindex", b"opml"})
_MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown"})
_XML_TYPES = frozenset({"application/xml", "text/xml"})
_JSON_TYPES = frozenset({"application/json", "text/json"})
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_READ_TYPES = _HTML_TYPES | _XML_TYPES | _JSON_TYPES | {"application/pdf", "application/x-pdf"}
_NOT_PROSE = frozenset(
    {"text/event-stream", "text/css", "text/javascript", "text/ecmascript", "text/calendar", "text/vcard"}
)
# What servers send when they do not know: bytes decide, and between kinds of text the name.
_UNSAID = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream", "application/unknown"})


@dataclass(frozen=True, slots=True)
class Found:
    """The kind of a payload: how it is read, or ``other`` when it is not; and its media type."""

    kind: Kind
    media_type: str


def media_type_of(content_type: str | None) -> str:
    """The type in a Content-Type header, in lower case and without parameters; empty if there is none."""
    return (content_type or "").partition(";")[0].strip().lower()


def may_hold_page(media_type: str) -> bool:
    """Whether the body behind this header is worth its bytes: a kind that is read, or one that says nothing."""
    if media_type in _READ_TYPES or media_type in _UNSAID:
        return True
    if media_type.startswith("text/"):
        return media_type not in _NOT_PROSE
    return media_type.startswith("application/") and media_type.endswith(("+json", "+xml"))


def sniff(payload: bytes, *, content_type: str | None = None, url: str = "") -> Found:
    """What *payload* is. *content_type* is the header as received; *url* only tells Markdown from plain text."""
    declared = media_type_of(content_type)
    head = payload[:SAMPLE_BYTES]
    if _is_pdf(payload, head):
        return Found("pdf", "application/pdf")
    if (binary := _binary_type(payload, head)) is not None:
        return Found("other", binary)
    head = _as_ascii(head)
    start = head.lstrip()
    if (found := _by_markup(start, declared)) is not None:
        return found
    if declared.startswith(("image/", "audio/", "video/", "font/")):
        return Found("other", declared)
    return _by_declaration(payload, start, declared, url)


def _is_pdf(payload: bytes, head: bytes) -> bool:
    """PDF readers accept up to 1,024 bytes before the header (ISO 32000-1, Annex H); a page may well mention it there."""
    first = head.lstrip(b"\xef\xbb\xbf\0 \t\r\n\f")
    if _PDF.match(first):
        return True
    return first[:1] != b"<" and _PDF.search(head[:1032]) is not None and b" obj" in payload


def _binary_type(payload: bytes, head: bytes) -> str | None:
    if head.startswith(_FIRST_BYTES):
        return next(media_type for signature, media_type in _SIGNATURES if head.startswith(signature))
    if head.startswith(_ZIPS):
        return _archive_type(payload[:_ARCHIVE_BYTES])
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], "application/octet-stream")
    if head[4:8] == b"ftyp":
        return "video/mp4"
    if head.startswith(_MARKS) or unmarked_utf16(head):
        return None
    n_controls = len(head) - len(head.translate(None, _CONTROLS))
    if n_controls > _CONTROL_SHARE_MAX * max(len(head), 64) or head.count(0) > _NUL_SHARE_MAX * max(len(head), 64):
        return "application/octet-stream"
    return None


def _archive_type(head: bytes) -> str:
    """What a ZIP holds, by the names of its first members; nothing is unpacked."""
    if own := _OWN_TYPE.search(head[:200]):
        return own[1].decode("ascii")
    for name, media_type in _OFFICE:
        if b"[Content_Types].xml" in head and name in head:
            return media_type
    return "application/zip"


def unmarked_utf16(head: bytes) -> str | None:
    """``utf-16-le`` or ``utf-16-be`` if *head* is one of them without a mark: nearly every other byte is zero."""
    if b"\0" not in head:
        return None
    n_pairs = len(head) // 2
    n_first, n_second = head[: 2 * n_pairs : 2].count(0), head[1 : 2 * n_pairs : 2].count(0)
    if n_pairs < 4 or abs(n_first - n_second) < _UTF16_SHARE * n_pairs or min(n_first, n_second) * 20 > n_pairs:
        return None
    return "utf-16-be" if n_first > n_second else "utf-16-le"


def _as_ascii(head: bytes) -> bytes:
    """*head* with its mark gone and UTF-16 read as ASCII, so that one set of patterns serves all."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[2:].replace(b"\0", b"")
    return head.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"")


def _by_markup(start: bytes, declared: str) -> Found | None:
    """HTML, feeds and other XML, by how they begin."""
    is_xml = _XML_START.match(start) is not None
    root = _root(start) if is_xml or start[:1] == b"<" else b""
    if root in _FEED_ROOTS and (is_xml or root != b"feed" or b"xmlns" in start[:500]):
        return Found("feed", declared if declared.endswith("+xml") else _FEED_TYPE[root])
    if root == b"svg" and declared not in _HTML_TYPES:
        return Found("other", "image/svg+xml")
    if is_xml or root in _PLAIN_XML_ROOTS:
        if root == b"html" or declared in _HTML_TYPES:
            return Found("html", "application/xhtml+xml" if root == b"html" else "text/html")
        return Found("xml", declared if declared.endswith("+xml") else "application/xml")
    if start[:15].lower().startswith((b"<!doctype html", b"<html")):
        return Found("html", "application/xhtml+xml" if declared == "application/xhtml+xml" else "text/html")
    return None


_FEED_TYPE = {b"rss": "application/rss+xml", b"rdf": "application/rss+xml", b"feed": "application/atom+xml"}


def _root(start: bytes) -> bytes:
    """The name of the first element, in lower case without its prefix; comments, doctype and instructions passed over."""
    at = 0
    for _ in range(50):
        at = start.find(b"<", at)
        if at < 0:
            return b""
        if start.startswith(b"<!--", at):
            at = start.find(b"-->", at)
        elif start.startswith((b"<?", b"<!"), at):
            at = _end_of_declaration(start, at)
        elif found := _ROOT.match(start, at):
            name = found[2].lower()
            return name if not (found[1] and name == b"html") else b"html"
        else:
            return b""
        if at < 0:
            return b""
    return b""


def _end_of_declaration(start: bytes, at: int) -> int:
    """Behind ``<?...>`` or ``<!DOCTYPE ... [ ... ]>``."""
    end = start.find(b">", at)
    subset = start.find(b"[", at, end if end > 0 else None)
    return start.find(b"]", at) if subset > 0 else end


def _by_declaration(payload: bytes, start: bytes, declared: str, url: str) -> Found:
    """Kinds that bytes alone do not tell apart."""
    path = url.partition("?")[0].partition("#")[0].lower()
    if declared in _JSON_TYPES or declared.endswith("+json"):
        return Found("json", "application/json")
    if declared in _MARKDOWN_TYPES or (declared in _UNSAID and path.endswith((".md", ".markdown"))):
        return Found("markdown", "text/markdown")
    if declared in _HTML_TYPES:
        return Found("html", declared)
    if declared in _XML_TYPES and start[:1] == b"<":
        return Found("xml", "application/xml")
    if declared.startswith("text/") and declared != "text/xml":
        return Found("text", "text/plain")
    if _HTML_START.match(start) or _HTML_WITHIN.search(start):
        return Found("html", "text/html")
    if start[:1] in (b"{", b"[") and payload.rstrip()[-1:] in (b"}", b"]"):
        return Found("json", "application/json")
    return Found("text", "text/plain")
