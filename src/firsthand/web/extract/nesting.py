"""Bounds what the parser's time and memory grow with, before it sees a page.

Lexbor looks through its stack of open elements at each block-level tag and through a tag's attributes at each
attribute; and, as the standard has it, it opens every formatting element that was left open again in each paragraph.
5,000 nested ``div`` take 0.05 s and 20,000 take 1 s; 5,000 attributes 0.1 s and 50,000 take 12 s; 5,000 different
``<b ...><p>`` make 12 million nodes (2026-11-30). That happens inside C, where no limit of ours reaches.
"""

from __future__ import annotations

import re

from firsthand.web.extract.failure import unreadable

MAX_TAGS = 600_000  # guess: a manual of 10 MB has 400,000; so many take 2 s (2026-11-30)
MAX_DEPTH = 512  # browsers stop there as well
MAX_ATTRIBUTES = 2000  # of one tag; a guess no real page comes near
MAX_FORMATS = 16  # formatting elements open at once; a guess, and only their names are lost beyond it
_FORMATS = frozenset(["b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"])
# Elements that pile up, and those that keep a close tag from reaching past them (object, table ...).
_NESTING = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "center",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hgroup",
        "main",
        "menu",
        "nav",
        "ol",
        "search",
        "section",
        "summary",
        "ul",
        "pre",
        "listing",
        "object",
        "marquee",
        "applet",
        "table",
        "foreignobject",
        "desc",
        "mi",
        "mo",
        "mn",
        "ms",
        "mtext",
        "annotation-xml",
    ]
)
_CELLS = frozenset({"td", "th", "caption", "template"})
_SCOPES = _CELLS | {"object", "marquee", "applet"}  # a close tag of a formatting element does not reach past these
# A tag up to the end of its name: a match costs nothing beyond the name, so no tag can make it run on.
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/><]{0,40})")
# A start tag up to its ">", as the HTML standard's tokenizer reads it. Possessive, and scanned without overlap: linear.
_ATTRIBUTE = r"""[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+"""
_START_TAG = re.compile(rf"<[a-zA-Z][^\s/>]*+(?:[\s/]++|{_ATTRIBUTE}|=)*+")
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE)
_TAG_START = re.compile(r"</?[a-zA-Z][^\s/><]*")
_LONG_TAG_CHARS = 2 * MAX_ATTRIBUTES
# What may be a tag of so many characters, found fast. One that hides its length behind ">" in quotes is left to the
# limits of the process that reads the page.
_LONG_TAG = re.compile(f"<[a-zA-Z][^>]{{{_LONG_TAG_CHARS}}}")


def bounded(source: str) -> str:
    """*source* as it may be parsed; most pages are returned as they are.

    Elements deeper than MAX_DEPTH become breaks, attributes beyond MAX_ATTRIBUTES are dropped. A tag that hides the
    number of its attributes behind ``>`` in quotes is left to the limits of the process that reads the page.
    Raises: ExtractionFailed ``parse_limit`` for more than MAX_TAGS, or if a tag cannot be shortened without touching what may be a script.
    """
    tags = _TAG_START.findall(source)
    if len(tags) > MAX_TAGS and sum(tag[1] != "/" for tag in tags) > MAX_TAGS:
        message = f"The page has more than {MAX_TAGS:,} tags."
        raise unreadable("parse_limit", message, limit_kind="tags")
    source = _few_attributes(source)
    return source if _is_shallow(tags) else _shallow(source)


def _few_attributes(source: str) -> str:
    pieces: list[str] = []
    taken = 0
    for found in _LONG_TAG.finditer(source):
        tag = _START_TAG.match(source, found.start())
        if tag is None or tag.end() - tag.start() <= _LONG_TAG_CHARS or tag.start() < taken:
            continue
        pieces += [source[taken : tag.start()], _shortened(tag)]
        taken = tag.end()
    return "".join([*pieces, source[taken:]]) if pieces else source


def _shortened(found: re.Match[str]) -> str:
    tag = found[0]
    if len(tag) <= _LONG_TAG_CHARS:
        return tag
    for number, attribute in enumerate(_ONE_ATTRIBUTE.finditer(tag)):
        if number == MAX_ATTRIBUTES:
            if "</" in tag[attribute.start() :]:  # a "<" in a script reads like a tag, and its end must stay
                raise unreadable("parse_limit", "A tag of the page has too many attributes to be read.")
            return tag[: attribute.start()]
    if ("-->" in tag or "</" in tag) and len(tag.split()) > MAX_ATTRIBUTES:  # began in a comment, swallowed tags
        raise unreadable("parse_limit", "A tag of the page has too many attributes to be read.")
    return tag


def _is_shallow(tags: list[str]) -> bool:
    """Whether no limit is met: what _shallow would find out, in a part of its time, for the pages that need nothing."""
    told = {tag: _told(tag) for tag in set(tags)}
    blocks: list[str] = []
    formats: list[str] = []
    n_formats = 0
    for tag in tags:
        entry = told[tag]
        if entry is None:
            continue
        name, is_close, in_blocks, is_format, is_scope = entry
        if in_blocks:
            if not is_close:
                if len(blocks) >= MAX_DEPTH:
                    return False
                blocks.append(name)
            elif blocks and blocks[-1] == name:
                blocks.pop()
        if is_format or is_scope:
            if not is_close:
                if is_format and n_formats >= MAX_FORMATS:
                    return False
                n_formats += is_format
                formats.append(name)
            elif formats and formats[-1] == name:
                formats.pop()
                n_formats -= is_format
    return True


def _told(tag: str) -> tuple[str, bool, bool, bool, bool] | None:
    """What the beginning of a tag means for the piles, if anything: name, whether it closes, which piles."""
    is_close = tag[1] == "/"
    name = tag[1 + is_close :].lower()
    piles = (name in _NESTING, name in _FORMATS, name in _SCOPES)
    return (name, is_close, *piles) if any(piles) else None


def _shallow(source: str) -> str:
    """*source* with elements deeper than MAX_DEPTH turned into breaks, and formatting beyond MAX_FORMATS into spans.

    A close tag counts only if it closes the innermost open element: a stricter rule than the parser's, so that no
    trick with misplaced close tags hides depth from the count.
    """
    blocks = _Pile(MAX_DEPTH, "hr", frozenset())  # the close tag of a void element is ignored by the parser
    formats = _Pile(MAX_FORMATS, "span", _SCOPES)
    pieces: list[str] = []
    taken = 0
    for found in _TAG.finditer(source):
        slash, name = found.groups()
        name = name.lower()
        instead = ""
        if name in _NESTING:
            instead = blocks.pop(name) if slash else blocks.push(name)
        if name in _FORMATS or name in _SCOPES:
            instead = (formats.pop(name) if slash else formats.push(name)) or instead
        if instead:
            pieces.append(f"{source[taken : found.start()]}<{slash}{instead}")
            taken = found.end()
    return "".join([*pieces, source[taken:]]) if pieces else source


class _Pile:
    """Open elements of one sort, and which tags must be renamed to keep them few."""

    def __init__(self, limit: int, instead: str, uncounted: frozenset[str]) -> None:
        self._open: list[str] = []
        self._n_counted = 0
        self._limit = limit
        self._instead = instead
        self._uncounted = uncounted
        self._n_renamed: dict[str, int] = {}

    def push(self, name: str) -> str:
        """Note an open tag; the name it must get, or nothing."""
        if name not in self._uncounted:
            if self._n_counted >= self._limit:
                self._n_renamed[name] = self._n_renamed.get(name, 0) + 1
                return self._instead
            self._n_counted += 1
        self._open.append(name)
        return ""

    def pop(self, name: str) -> str:
        """Note a close tag; the name it must get, or nothing."""
        if self._n_renamed.get(name):
            self._n_renamed[name] -= 1
            return self._instead
        if self._open and self._open[-1] == name:
            self._open.pop()
            self._n_counted -= name not in self._uncounted
        return ""
