"""A reader that makes another text than the one of its name and version: what a forged text looks like from here."""

from __future__ import annotations

from firsthand.evidence.entry import Entry, prepare
from firsthand.values import Text
from firsthand.web.extract import extract
from tests.live.later_reader import moved


def work(payload: bytes, url: str, content_type: str | None) -> tuple[Text, Entry]:
    """The text of *payload* with a line before it, under this release's name."""
    text = moved(extract(payload, url=url, content_type=content_type))
    return text, prepare(text)
