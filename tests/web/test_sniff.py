"""What a payload is, by its bytes: headers and names that lie change nothing."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import FetchFailed
from firsthand.values import HttpResponse
from firsthand.web.reply import check_declared_type, check_type
from firsthand.web.sniff import sniff

PAGE = b"<!DOCTYPE html><html><body><p>Not found.</p></body></html>"
PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF"
HEADERS = [None, "", "text/html", "text/plain; charset=utf-8", "application/octet-stream", "application/pdf", "a/b"]


def archive(*names: str) -> bytes:
    """A ZIP whose first member, if it is called mimetype, is stored as OpenDocument and EPUB ask."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as file:
        for name in names:
            member, _, content = name.partition("=")
            file.writestr(zipfile.ZipInfo(member), content or "words")
    return made.getvalue()


@pytest.mark.parametrize("content_type", HEADERS)
def test_a_pdf_is_a_pdf_under_any_header(content_type: str | None) -> None:
    for payload in (PDF, b"\xef\xbb\xbf" + PDF, b"\r\n" * 20 + PDF, b"junk of a broken gateway\n" + PDF):
        assert sniff(payload, content_type=content_type, url="https://a.example/download?id=7").kind == "pdf"


@pytest.mark.parametrize("content_type", [None, "", "text/html", "application/octet-stream", "application/pdf"])
def test_an_error_page_at_the_address_of_a_paper_is_a_page(content_type: str | None) -> None:
    found = sniff(PAGE, content_type=content_type, url="https://a.example/paper.pdf")
    assert (found.kind, found.media_type) == ("html", "text/html")


def test_a_page_about_pdf_is_no_pdf() -> None:
    assert sniff(b"<p>A file begins with %PDF-1.7 and 1 0 obj.</p>").kind == "html"
    assert sniff(b"The first line of such a file is %PDF-1.7, says the standard.").kind == "text"


@pytest.mark.parametrize(
    ("payload", "content_type", "kind", "media_type"),
    [
        (b'<?xml version="1.0"?><rss version="2.0"><channel/></rss>', "text/html", "feed", "application/rss+xml"),
        (b"<rss><channel/></rss>", None, "feed", "application/rss+xml"),
        (b'<feed xmlns="http://www.w3.org/2005/Atom"/>', "text/xml", "feed", "application/atom+xml"),
        (b"<?xml version='1.0'?><!-- a --><rdf:RDF xmlns:rdf='r'/>", None, "feed", "application/rss+xml"),
        (b"<?xml version='1.0'?><!DOCTYPE r [<!ENTITY a 'b'>]><rss/>", "application/xml", "feed", "application/rss+xml"),
        (b"<feed>of words</feed>", "text/html", "html", "text/html"),
        (b"<?xml version='1.0'?><html xmlns='h'><body/></html>", None, "html", "application/xhtml+xml"),
        (PAGE, "application/xhtml+xml", "html", "application/xhtml+xml"),
        (b"<urlset><url/></urlset>", "application/xml", "xml", "application/xml"),
        (b"<?xml version='1.0'?><book/>", "text/plain", "xml", "application/xml"),
        (b"<svg><text>Words.</text></svg>", "image/svg+xml", "other", "image/svg+xml"),
        (b"<svg></svg><p>Words.</p>", "text/html", "html", "text/html"),
        (b'{"a": 1}', None, "json", "application/json"),
        (b'{"a": 1}', "application/problem+json", "json", "application/json"),
        (b'{"a": 1}', "text/plain", "text", "text/plain"),
        (b"# Head", "text/markdown", "markdown", "text/markdown"),
        (b"Words", "image/png", "other", "image/png"),
        ("<html>Größe".encode("utf-16"), None, "html", "text/html"),
        ("<html><p>Größe".encode("utf-16-le"), None, "html", "text/html"),
        ("Größe".encode("utf-16"), None, "text", "text/plain"),
        ("Вода замерзает при нуле градусов.".encode("koi8-r"), None, "text", "text/plain"),
        ("水在零度结冰".encode("gb18030"), "application/octet-stream", "text", "text/plain"),
    ],
)  # fmt: skip
def test_bytes_decide_and_the_header_breaks_ties(
    payload: bytes, content_type: str | None, kind: str, media_type: str
) -> None:
    found = sniff(payload, content_type=content_type, url="https://a.example/x")
    assert (found.kind, found.media_type) == (kind, media_type)


def test_the_name_tells_markdown_from_plain_text_where_the_server_does_not_know() -> None:
    for content_type, kind in (
        (None, "markdown"),
        ("text/plain", "markdown"),
        ("text/html", "html"),
        ("text/csv", "text"),
    ):
        assert sniff(b"# Head", content_type=content_type, url="https://a.example/README.md?plain=1").kind == kind


@pytest.mark.parametrize(
    ("payload", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x20ftypisom", "video/mp4"),
        (b"\x1f\x8b\x08\0", "application/gzip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
        (archive("readme.txt"), "application/zip"),
        (archive("[Content_Types].xml", "word/document.xml"), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (archive("[Content_Types].xml", "xl/workbook.xml"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        (archive("mimetype=application/vnd.oasis.opendocument.text", "content.xml"), "application/vnd.oasis.opendocument.text"),
        (archive("mimetype=application/epub+zip", "a.xhtml"), "application/epub+zip"),
        (bytes(range(256)) * 8, "application/octet-stream"),
        (b"\0" * 100, "application/octet-stream"),
    ],
)  # fmt: skip
def test_what_holds_no_text_is_named_by_its_bytes_and_refused(payload: bytes, media_type: str) -> None:
    for content_type in HEADERS:
        found = sniff(payload, content_type=content_type, url="https://a.example/page.html")
        assert (found.kind, found.media_type) == ("other", media_type)
    with pytest.raises(FetchFailed, match=media_type.replace("+", r"\+")) as caught:
        check_type(HttpResponse("https://a.example/", 200, {"content-type": "text/html"}, payload))
    assert caught.value.outcome == "unsupported"


@pytest.mark.parametrize(
    "content_type", ["text/html", "text/csv", "application/octet-stream", "application/feed+json", "application/rss+xml", ""]
)  # fmt: skip
def test_a_header_that_may_stand_before_a_page_lets_the_body_come(content_type: str) -> None:
    check_declared_type({"content-type": content_type})


@pytest.mark.parametrize(
    "content_type", ["banana", "image/png", "video/mp4", "application/zip", "text/css", "text/event-stream", "image/svg+xml"]
)  # fmt: skip
def test_a_header_that_no_page_has_ends_the_fetch_before_the_body(content_type: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        check_declared_type({"content-type": content_type})
    assert caught.value.code == "unsupported_type"


@given(st.binary(max_size=600), st.sampled_from(HEADERS), st.text(max_size=40))
def test_any_bytes_are_of_some_kind(payload: bytes, content_type: str | None, url: str) -> None:
    assert sniff(payload, content_type=content_type, url=url).media_type


@given(st.lists(st.sampled_from([b"<", b"<!--", b"-->", b"<?", b"<!DOCTYPE", b"[", b"]", b">", b"rss", b"%PDF-1", b" obj", b"PK\3\4", b"\0"]), max_size=200))  # fmt: skip
def test_any_markup_is_of_some_kind(pieces: list[bytes]) -> None:
    assert sniff(b"".join(pieces)).media_type
