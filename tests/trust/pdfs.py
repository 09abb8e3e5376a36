"""The PDFs that the response corpus names by a builder, made byte by byte."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Any

MIB = 1 << 20
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"


def built(body: Mapping[str, Any]) -> bytes:
    """The PDF of a body recipe with ``builder``."""
    match body:
        case {"builder": "pdf_flate", "mib": mib}:
            return _pdf([_catalog(), _pages(), PAGE, _stream(spaces(mib), b"/Filter /FlateDecode "), FONT])
        case {"builder": "pdf_page_loop"}:
            loop = b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 /Parent 2 0 R >>"
            return _pdf([_catalog(), loop, PAGE, _stream(_shown("Needle")), FONT])
        case {"builder": "pdf_count", "pages": n_pages}:
            return _pdf([_catalog(), _pages(n_pages), PAGE, _stream(_shown("Needle")), FONT])
        case {"builder": "pdf_action", "text": text}:
            launch = b"<< /S /Launch /F (/bin/sh) /Next << /S /JavaScript /JS (app.launchURL\\('http://127.0.0.1:9/'\\)) >> >>"
            return _pdf([_catalog(b"/OpenAction 6 0 R "), _pages(), PAGE, _stream(_shown(text)), FONT, launch])
    raise AssertionError(f"unknown PDF {body}")


def spaces(mib: int) -> bytes:
    """A zlib stream of *mib* MiB of spaces: one compressed block, repeated, so that making it costs nothing."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(b" " * MIB) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 1
    for _ in range(mib):
        checksum = zlib.adler32(b" " * MIB, checksum)
    return b"\x78\x9c" + block * mib + b"\x03\x00" + struct.pack(">I", checksum)


def _catalog(extra: bytes = b"") -> bytes:
    return b"<< /Type /Catalog /Pages 2 0 R %s>>" % extra


def _pages(n_pages: int = 1) -> bytes:
    return b"<< /Type /Pages /Kids [3 0 R] /Count %d >>" % n_pages


def _shown(text: str) -> bytes:
    return b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % text.encode("ascii")


def _stream(content: bytes, extra: bytes = b"") -> bytes:
    return b"<< %s/Length %d >>\nstream\n%s\nendstream" % (extra, len(content), content)


def _pdf(objects: list[bytes]) -> bytes:
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table) + trailer
