"""PDF: files built here, byte by byte."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import ExtractionFailed
from firsthand.web.extract import extract

ENCRYPTED = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00> <00>]" % (
    b"ab" * 32,
    b"cd" * 32,
)


def pdf(pages: list[list[str]], *, trailer: bytes = b"", info: bytes = b"") -> bytes:
    """A PDF with one text line for each string of each page."""
    kids = b" ".join(b"%d 0 R" % (5 + 2 * index) for index in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< %s >>" % info,
    ]
    for index, lines in enumerate(pages):
        shown = b"".join(b"(%s) Tj 0 -14 Td " % line.encode("cp1252") for line in lines)
        content = b"BT /F1 12 Tf 72 720 Td %s ET" % shown
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % (6 + 2 * index)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, trailer, len(body))
    )


PAGES = [
    ["The pump moves twelve litres of water a minute at a pressure", "of three bar.", "", "It must never run dry."],
    ["Second page."],
]


def test_blocks_carry_their_page_and_their_words() -> None:
    info = b"/Title (Pump manual) /Author (Ida Holm) /CreationDate (D:20240203040506Z)"
    text = extract(pdf(PAGES, info=info), url="https://a.example/pump.pdf", content_type="application/pdf")
    said = [(block.page_number, text.body[block.span.start : block.span.end]) for block in text.blocks]
    assert said == [
        (1, "The pump moves twelve litres of water a minute at a pressure of three bar."),
        (1, "It must never run dry."),
        (2, "Second page."),
    ]
    assert (text.media_type, text.title, text.author, text.published_at) == (
        "application/pdf",
        "Pump manual",
        "Ida Holm",
        "2024-02-03",
    )


def test_the_bytes_decide_not_the_header() -> None:
    text = extract(b"\n" + pdf(PAGES), url="https://a.example/", content_type="text/html")
    assert text.media_type == "application/pdf"


@pytest.mark.parametrize(
    ("payload", "outcome", "code"),
    [
        (pdf(PAGES, trailer=ENCRYPTED), "refused", "pdf_encrypted"),
        (pdf([[], []]), "unsupported", "pdf_scanned"),
        (b"%PDF-1.7\nnothing", "failed", "parse_error"),
        (pdf(PAGES)[:150], "failed", "parse_error"),
    ],
)
def test_what_cannot_be_read_says_why(payload: bytes, outcome: str, code: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        extract(payload, url="https://a.example/x.pdf")
    assert (caught.value.outcome, caught.value.code) == (outcome, code)


def test_a_file_that_claims_two_billion_pages_has_the_pages_that_are_there() -> None:
    claims = pdf(PAGES).replace(b"/Count 2 ", b"/Count 2000000000 ")
    text = extract(claims, url="https://a.example/x.pdf")
    assert {block.page_number for block in text.blocks} == {1, 2}


def test_a_file_with_more_pages_than_are_read_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firsthand.web.extract.pdf.MAX_PAGES", 1)
    with pytest.raises(ExtractionFailed, match="2 pages") as caught:
        extract(pdf(PAGES), url="https://a.example/x.pdf")
    assert (caught.value.outcome, caught.value.code) == ("failed", "parse_limit")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1200), st.binary(min_size=1, max_size=30))
def test_damaged_files_give_a_text_or_a_typed_failure(position: int, noise: bytes) -> None:
    whole = pdf(PAGES)
    damaged = whole[:position] + noise + whole[position + len(noise) :]
    with contextlib.suppress(ExtractionFailed):
        extract(damaged, url="https://a.example/x.pdf")
