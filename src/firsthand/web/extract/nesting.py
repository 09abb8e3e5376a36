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
_TAG_START = re.compile("<[a-zA-Z]")
_LONG_TAG_CHARS = 2 * MAX_ATTRIBUTES


def bounded(source: str) -> str:
    """*source* as it may be parsed; most pages are returned as they are.

    Elements deeper than MAX_DEPTH become breaks, attributes beyond MAX_ATTRIBUTES are dropped.
    Raises: ExtractionFailed ``parse_limit`` for more than MAX_TAGS, or if a tag cannot be shortened without touching what may be a script.
    """
    if source.count("<") > MAX_TAGS and len(_TAG_START.findall(source)) > MAX_TAGS:
        message = f"The page has more than {MAX_TAGS:,} tags."
        raise unreadable("parse_limit", message, limit_kind="tags")
    if len(source) > _LONG_TAG_CHARS:
        source = _few_attributes(source)
    if source.count("<") - source.count("</") > MAX_FORMATS and not _is_shallow(_TAG.findall(source)):
        source = _shallow(source)
    return source


def _few_attributes(source: str) -> str:
    longest = max(map(len, _START_TAG.findall(source)), default=0)
    return _START_TAG.sub(_shortened, source) if longest > _LONG_TAG_CHARS else source


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


def _is_shallow(tags: list[tuple[str, str]]) -> bool:
    """Whether no limit is met: what _shallow would find out, in a third of its time, for the pages that need nothing."""
    blocks: list[str] = []
    formats: list[str] = []
    n_formats = 0
    are_lower = all(name.islower() for name in {name for _, name in tags})
    for slash, name in tags if are_lower else [(slash, name.lower()) for slash, name in tags]:
        if name in _NESTING:
            if not slash:
                if len(blocks) >= MAX_DEPTH:
                    return False
                blocks.append(name)
            elif blocks and blocks[-1] == name:
                blocks.pop()
        if name in _FORMATS:
            if not slash:
                if n_formats >= MAX_FORMATS:
                    return False
                n_formats += 1
                formats.append(name)
            elif formats and formats[-1] == name:
                formats.pop()
                n_formats -= 1
        elif name in _SCOPES:
            if not slash:
                formats.append(name)
            elif formats and formats[-1] == name:
                formats.pop()
    return True


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
