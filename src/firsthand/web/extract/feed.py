"""RSS, Atom and other XML to blocks: of a feed its entries with title, date, author, link and words; of others all text.

The reader is Expat, which does not recurse and fetches nothing. A document that declares entities is not read at all:
that is what bombs and files smuggled in are made of, and no feed needs it. References to HTML's named characters, which
many feeds use without declaring them, are written out first; ampersands that begin nothing are mended once.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.entities import html5
from typing import Any
from xml.parsers import expat

from firsthand.values import Text
from firsthand.web.extract import charset
from firsthand.web.extract.drafts import Draft, assemble
from firsthand.web.extract.facts import Facts, iso_date
from firsthand.web.extract.failure import unreadable
from firsthand.web.extract.words import prose

MAX_DEPTH = 512  # as HTML
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
# Bounded, without nested repetition.
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_LONE_AMPERSAND = re.compile(r"&(?!#?[A-Za-z0-9]{1,31};)")
_UNWRITABLE = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF])  # XML 1.0, section 2.2
_MAIL_DATE = re.compile(r"(\d{1,2})\s+([A-Za-z]{3})[a-z]{0,6}\s+(\d{4})(?:\s+(\d{2}:\d{2}(?::\d{2})?))?")  # RFC 5322
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_PLAIN_PREFIXES = frozenset({"", "atom", "a", "rss", "a10"})
_FEEDS = frozenset({"rss", "feed", "rdf"})
_SITE_MAPS = frozenset({"urlset", "sitemapindex"})
_MAP_LINES = 100  # of a site map in one block; a guess
_ENTRIES = frozenset({"item", "entry"})
_DATES = ("pubdate", "published", "dc:date", "issued", "updated", "modified", "lastbuilddate")
_WORDS = ("content:encoded", "content", "description", "summary", "subtitle", "tagline")
_AUTHORS = ("author/name", "dc:creator", "author", "managingeditor")


@dataclass(slots=True)
class _Entry:
    """An entry, or the feed itself: what its elements say, by name."""

    fields: dict[str, str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)

    def first(self, names: tuple[str, ...]) -> str:
        return next((text for name in names if (text := self.fields.get(name, "").strip())), "")


def extract_xml(payload: bytes, *, url: str, content_type: str | None = None, media_type: str) -> Text:
    """The text of a feed or of another XML document.

    Raises: ExtractionFailed ``parse_error`` for what is not well formed or declares entities, ``parse_limit`` for what
    is too deep, ``no_text``.
    """
    decoded = charset.decode(payload, content_type=content_type)
    source = _NAMED.sub(_written_out, decoded.text.lstrip("\ufeff \t\r\n").translate(_UNWRITABLE))
    try:
        reader = _read(source)
    except expat.ExpatError:
        try:
            reader = _read(_LONE_AMPERSAND.sub("&amp;", source))
        except expat.ExpatError as error:
            message = f"The XML is not well formed: line {error.lineno}."
            raise unreadable("parse_error", message, line=error.lineno) from error
    facts = Facts(url)
    if reader.root in _FEEDS:
        drafts = list(_feed_drafts(reader.feed, reader.entries, facts))
    else:
        drafts = _other_drafts(reader)
        for link in reader.locations:
            facts.add_link(link)
    if not drafts:
        raise unreadable("no_text", "The XML holds no text.")
    made = assemble(drafts)
    feed = reader.feed
    language = (feed.fields.get("language") or reader.language).strip().lower()
    return Text(
        body=made.body,
        blocks=made.blocks,
        anchors=made.anchors,
        media_type=media_type,
        charset=decoded.chosen,
        declared_charset=decoded.declared,
        title=_plain(feed.fields.get("title", ""))[:300],
        language=language[:2] if re.match(r"[a-z]{2}(?:[-_]|$)", language) else None,
        author=_plain(feed.first(_AUTHORS))[:300] or None,
        modified_at=_date(feed.first(("updated", "lastbuilddate", "pubdate", "modified", "dc:date"))),
        links=facts.links,
    )


def _written_out(found: re.Match[str]) -> str:
    """The characters of an HTML entity; XML's own five stay for its reader."""
    if found[1] in _XML_ENTITIES:
        return found[0]
    return html.escape(html5.get(f"{found[1]};", found[0]), quote=False)


def _read(source: str) -> _Reader:
    reader = _Reader()
    reader.parser.Parse(source.encode("utf-8", "replace"), True)
    return reader


class _Reader:
    """Collects what a feed's elements say while Expat reads, and for other XML its runs of text."""

    def __init__(self) -> None:
        self.root = ""
        self.language = ""
        self.feed = _Entry()
        self.entries: list[_Entry] = []
        self.runs: list[str] = []
        self.locations: list[str] = []
        self._entry: _Entry | None = None
        self._path: list[str] = []
        self._words: list[str] = []
        self._markup_depth = 0  # where XHTML inside an entry began
        self._has_words: list[bool] = []  # for each open element: whether it has words of its own
        self._run: list[str] = []
        self.parser = self._parser()

    def _parser(self) -> Any:
        parser = expat.ParserCreate("utf-8")  # what the document says of its encoding was heard before
        parser.buffer_text = True
        parser.EntityDeclHandler = _refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        return parser

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._path) >= MAX_DEPTH:
            raise unreadable("parse_limit", f"The XML is nested deeper than {MAX_DEPTH} levels.", limit_kind="depth")
        key = _key(name)
        if not self._path:
            self.root = key.rpartition(":")[2]
            self.language = attributes.get("xml:lang", "")
        self._path.append(key)
        if not (self._has_words and self._has_words[-1]):
            self._end_run()
        self._has_words.append(False)
        if self._markup_depth:
            href = html.escape(attributes.get("href", ""))
            self._words.append(f'<{key} href="{href}">' if href else f"<{key}>")
            return
        self._words.clear()
        if attributes.get("type") == "xhtml":
            self._markup_depth = len(self._path)
        if key in _ENTRIES:
            self._entry = _Entry()
            self.entries.append(self._entry)
        elif key == "link" and attributes.get("href") and attributes.get("rel", "alternate") == "alternate":
            (self._entry or self.feed).links.append(attributes["href"])

    def _text(self, data: str) -> None:
        self._words.append(html.escape(data, quote=False) if self._markup_depth else data)
        self._run.append(data)
        if self._has_words and not data.isspace():
            self._has_words[-1] = True

    def _end(self, name: str) -> None:
        key = _key(name)
        if self._markup_depth and self._markup_depth < len(self._path):
            self._words.append(f"</{key}>")
        else:
            self._markup_depth = 0
            self._take(key, "".join(self._words))
            self._words.clear()
        self._path.pop()
        self._has_words.pop()
        if not (self._has_words and self._has_words[-1]):
            self._end_run()

    def _take(self, key: str, words: str) -> None:
        """Note what an element said, for the entry it stands in."""
        if not words.strip():
            if key in _ENTRIES:
                self._entry = None
            return
        above = self._path[-2] if len(self._path) > 1 else ""
        if above in ("image", "textinput", "source"):  # their titles and links are not the feed's
            return
        entry = self._entry or self.feed
        if above == "author":
            key = f"author/{key}"
        if key == "link":
            entry.links.append(words.strip())
        elif key == "loc":
            self.locations.append(words.strip())
        entry.fields.setdefault(key, words)

    def _end_run(self) -> None:
        if self._run:
            self.runs.append("".join(self._run))
            self._run.clear()


def _refuse(*_: object) -> None:
    raise unreadable("parse_error", "The XML declares entities of its own; such documents are not read.")


def _key(name: str) -> str:
    """An element's name in lower case; its prefix stays where it tells two elements apart."""
    prefix, _, local = name.rpartition(":")
    return (local if prefix.lower() in _PLAIN_PREFIXES else name).lower()


def _other_drafts(reader: _Reader) -> list[Draft]:
    """The text of a document that is no feed: a site map as its lines, others a paragraph for each run of text."""
    runs = [text for raw in reader.runs if (text := prose(raw))]
    if reader.root not in _SITE_MAPS:
        return [Draft("paragraph", text) for text in runs]
    return [Draft("code", "\n".join(runs[at : at + _MAP_LINES])) for at in range(0, len(runs), _MAP_LINES)]


def _feed_drafts(feed: _Entry, entries: list[_Entry], facts: Facts) -> Iterator[Draft]:
    title = _plain(feed.fields.get("title", ""))
    top: tuple[str, ...] = ()
    if title:
        yield Draft("heading", title, level=1)
        top = (title,)
    yield from _words_of(feed, top, facts)
    for entry in entries:
        here = top
        if name := _plain(entry.fields.get("title", "")):
            yield Draft("heading", name, headings=top, level=2)
            here = (*top, name)
        for said in (entry.first(_DATES), _plain(entry.first(_AUTHORS)), *entry.links[:1]):
            if text := prose(said):
                yield Draft("paragraph", text, headings=here)
        for link in entry.links:
            facts.add_link(link)
        yield from _words_of(entry, here, facts)


def _words_of(entry: _Entry, headings: tuple[str, ...], facts: Facts) -> Iterator[Draft]:
    """The content and the summary of an entry, read as the HTML that they are; the same words only once."""
    seen: set[str] = set()
    for name in _WORDS:
        words = entry.fields.get(name, "")
        if not words.strip():
            continue
        for draft in _fragment(words, facts):
            if draft.text not in seen:
                seen.add(draft.text)
                draft.headings = (*headings, *draft.headings)
                draft.level += len(headings) if draft.kind == "heading" else 0
                yield draft


def _fragment(words: str, facts: Facts) -> list[Draft]:
    if "<" not in words and "&" not in words:
        return [Draft("paragraph", prose(words))]
    from firsthand.web.extract.html import read_fragment

    drafts, links = read_fragment(words, facts.base)
    for link in links:
        facts.add_link(link)
    return drafts


def _plain(words: str) -> str:
    """A title or a name: its tags dropped and its entities undone, as titles of type HTML have them."""
    if "<" in words or "&" in words:
        return " ".join(draft.text for draft in _fragment(words, Facts("")))
    return prose(words)


def _date(value: str) -> str | None:
    """*value* as ISO 8601, from that form or from a mail header's."""
    found = _MAIL_DATE.search(value[:100])
    if found and found[2].lower() in _MONTHS:
        month = _MONTHS.index(found[2].lower()) + 1
        return iso_date(f"{found[3]}-{month:02d}-{int(found[1]):02d}" + (f"T{found[4]}" if found[4] else ""))
    return iso_date(value)
