"""From the payload of a snapshot to a text: blocks with spans that can be quoted.

Pure: bytes in, values out. The kind of a payload is decided by its bytes (``web.sniff``); what a header says only
breaks ties. Each kind has a module, loaded when the first payload of that kind comes.
"""

from __future__ import annotations

from dataclasses import replace

from firsthand.values import Text
from firsthand.web.extract.failure import unreadable
from firsthand.web.sniff import sniff

EXTRACTOR = "firsthand-blocks"
EXTRACTOR_VERSION = "3"
__all__ = ["EXTRACTOR", "EXTRACTOR_VERSION", "extract"]


def extract(payload: bytes, *, url: str, content_type: str | None = None) -> Text:
    """The text of *payload*, with every block a reader would see, main content marked.

    *url* is the page's final address: links are made absolute with it. *content_type* is the header as received.
    Cost: linear in the payload; no network, no clock. Untrusted payloads belong in a process with limits of its own
    (``live.extraction``): the readers of HTML and PDF are native code.
    Raises: ExtractionFailed with a code of ``failure.OUTCOMES``.
    """
    text = _read(payload, url, content_type)
    return replace(text, extractor=EXTRACTOR, extractor_version=EXTRACTOR_VERSION)


def _read(payload: bytes, url: str, content_type: str | None) -> Text:
    found = sniff(payload, content_type=content_type, url=url)
    match found.kind:
        case "pdf":
            from firsthand.web.extract.pdf import extract_pdf

            return extract_pdf(payload)
        case "html":
            from firsthand.web.extract.html import extract_html

            text = extract_html(payload, url=url, content_type=content_type)
            return replace(text, media_type=found.media_type)
        case "json":
            from firsthand.web.extract.tree import extract_json

            return extract_json(payload, url=url, content_type=content_type)
        case "feed" | "xml":
            from firsthand.web.extract.feed import extract_xml

            return extract_xml(payload, url=url, content_type=content_type, media_type=found.media_type)
        case "markdown" | "text":
            from firsthand.web.extract.text import extract_text

            return extract_text(payload, url=url, content_type=content_type, is_markdown=found.kind == "markdown")
        case "other":
            message = f"By its first bytes this is {found.media_type}; that is not read."
            raise unreadable("unsupported_type", message, media_type=found.media_type)
