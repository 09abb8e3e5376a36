"""A quick look at an HTML page: how many words it has of its own, its headings, what its buttons say.

Made for telling pages from walls, in a fraction of the time that parsing takes. It is no parser: tags are found one
after the other, nothing is nested but the few elements named here.

Cost: linear. Every step moves on to where the last one ended, no pattern repeats inside a repetition, at most
``LOOKED_AT_BYTES`` are looked at and at most ``TAGS_MAX`` tags are counted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LOOKED_AT_BYTES = 2_097_152  # a shell may carry a megabyte of data in its script; a wall never holds more
TAGS_MAX = 5_000  # a page with more tags than this says something, whatever it says
WORD_CHARS_MAX = 40  # a line without a space that is longer is no word of any language
BLOCK_CHARS_MAX = 20_000  # of one paragraph: more than WORDS_MAX in any language
WORDS_MAX = 300  # no wall has more words of its own; nothing is looked at beyond
# 40: sentences and headlines, not menus. One class, one repetition: each character is looked at once for each ">".
_LONG_RUN = re.compile(r">[^<>]{40,}")
_UP_TO_TAG = re.compile(r">[^<]{40,}")  # holds every long run; leaving out one character takes a sixth of the time
_TAG = re.compile(r"<(?:(/?)([a-z][a-z0-9]*)|[!?])")
_UNSEEN = re.compile(r"<(script|style|noscript|template|svg)\b")
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "big",
        "button",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)
_HEADINGS = frozenset({"h1", "h2"})
_CHROME = frozenset({"nav", "footer"})
_UNREAD = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "title", "select", "textarea"})
# Elements that consent platforms draw their questions into, by id or class. Sources: the platforms' own manuals.
_CONSENT_BOXES = re.compile(
    r"onetrust|usercentrics|didomi|cybotcookie|qc-cmp|iubenda|sp_message|cookie-?(?:banner|consent|notice|bar|law)"
    r"|cc-window|consent-(?:banner|form|box|dialog|manager)|truste|borlabs|klaro|cmplz|cmpbox|fc-consent"
)
_VALUE = re.compile(r"""value\s?=\s?["']?([^"'>]{1,80})""")


@dataclass(slots=True)
class Block:
    """Words between two tags that end a line."""

    text: str
    n_words: int
    is_consent: bool  # stands in the box of a consent platform


@dataclass(slots=True)
class Skim:
    """What a glance shows. All text is in lower case, white space folded."""

    source: str  # markup with scripts, ASCII letters in lower case
    title: str = ""
    headings: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)  # outside of menus, footers, links and buttons
    controls: list[str] = field(default_factory=list)  # what links and buttons say
    noscript: str = ""
    n_words: int = 0  # of blocks
    n_link_words: int = 0  # of menus, footers, links and buttons
    n_script_chars: int = 0
    n_scripts: int = 0
    n_tags: int = 0

    @property
    def is_full(self) -> bool:
        """Whether there is so much on the page that the rest was not looked at."""
        return self.n_tags >= TAGS_MAX or self.n_words > WORDS_MAX

    @property
    def text(self) -> str:
        """The words of all blocks, a line each."""
        return "\n".join(block.text for block in self.blocks)


def source_of(body: bytes, content_type: str | None = None) -> str:
    """The markup of *body*, ASCII letters in lower case."""
    body = body[:LOOKED_AT_BYTES]
    if b"\0" not in body[:1024] and b"\x1b" not in body:  # else UTF-16, or a charset that shifts
        try:
            return body.removeprefix(b"\xef\xbb\xbf").lower().decode("utf-8")
        except UnicodeDecodeError as error:
            if len(body) == LOOKED_AT_BYTES and error.start > len(body) - 4:  # a character that was cut in two
                return body.lower().decode("utf-8", "replace")
    from firsthand.web.extract import charset  # with its tables, for the few pages that need them

    return charset.decode(body, content_type=content_type).text.lower()


def has_much_text(source: str, most_words: int) -> bool:
    """Whether the long runs of text outside of scripts hold *most_words*: true for most pages, and quickly told.

    Words, not characters: challenges carry kilobytes of puzzle in elements that are not shown.
    """
    at = n_found = 0
    for _ in range(TAGS_MAX):
        unread = _UNSEEN.search(source, at)
        for run in _long_runs(source, at, unread.start() if unread else len(source)):
            n_found += n_words(run)
            if n_found >= most_words:
                return True
        if unread is None:
            return False
        at = source.find(f"</{unread[1]}", unread.end())
        if at < 0:
            return False
    return False


def _long_runs(source: str, at: int, end: int) -> Iterator[str]:
    """What stands between tags, with the ">" before it."""
    for found in _UP_TO_TAG.finditer(source, at, end):
        if source.find(">", found.start() + 1, found.end()) < 0:
            yield found[0]
        else:
            yield from (run[0] for run in _LONG_RUN.finditer(source, *found.span()))


def title_of(source: str) -> str:
    """The page's title, in lower case."""
    start = source.find("<title", 0, 65_536)
    if start < 0:
        return ""
    begin = source.find(">", start) + 1
    return _folded(html.unescape(source[begin : source.find("<", begin)][:300]))


def n_words(text: str) -> int:
    """Words, or what would be words: in scripts without spaces two characters count as one."""
    return len(text.split()) + _n_wide(text) // 2


def _n_wide(text: str) -> int:
    return sum(character >= "\u0e00" for character in text) if not text.isascii() else 0


def skim(source: str) -> Skim:
    """Look over *source*, as ``source_of`` made it."""
    return _Skimmer(source).run()


class _Skimmer:
    """The state of one pass."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._seen = Skim(source)
        self._line: list[str] = []
        self._control: list[str] | None = None
        self._heading: list[str] | None = None
        self._chrome = 0  # menus and footers that are open
        self._box = ""  # the element that holds a consent platform's question, and how many of its name are open
        self._box_depth = 0

    def run(self) -> Skim:
        source, seen, at = self._source, self._seen, 0
        while not seen.is_full:
            tag = _TAG.search(source, at)
            start = tag.start() if tag else len(source)
            if start > at:
                self._say(source[at:start])
            if tag is None:
                break
            seen.n_tags += 1
            closing, name = tag.groups()
            ending = ">" if name or not source.startswith("<!--", start) else "-->"
            end = source.find(ending, tag.end())
            if end < 0:
                break
            at = end + len(ending)
            if name:
                at = self._enter(name, bool(closing), source[tag.end() : end], at)
        self._end_line()
        return seen

    def _enter(self, name: str, is_end: bool, attributes: str, at: int) -> int:
        """Note a tag; where to go on."""
        if name in _UNREAD and not is_end:
            return self._pass_over(name, attributes, at)
        if (self._line or self._heading) and name not in _INLINE:
            self._end_line()
        if name in ("a", "button"):
            self._end_control()
            self._control = None if is_end else []
        elif name == "input" and 'type="hidden"' not in attributes and (value := _VALUE.search(attributes)):
            self._seen.controls.append(_folded(value[1]))
        elif name in _HEADINGS:
            self._heading = None if is_end else []
        elif name in _CHROME:
            self._chrome = max(0, self._chrome + (-1 if is_end else 1))
        if attributes or self._box:
            self._note_box(name, is_end, attributes)
        return at

    def _note_box(self, name: str, is_end: bool, attributes: str) -> None:
        if not self._box:
            if not is_end and attributes and name != "body" and _CONSENT_BOXES.search(attributes[:500]):
                self._box, self._box_depth = name, 1
        elif name == self._box:
            self._box_depth += -1 if is_end else 1
            if not self._box_depth:
                self._box = ""

    def _pass_over(self, name: str, attributes: str, at: int) -> int:
        """What is no text of the page: only its size, or the words of title and noscript, are noted."""
        seen = self._seen
        end = self._source.find(f"</{name}", at)
        stop = len(self._source) if end < 0 else end
        if name == "script":
            seen.n_scripts += 1
            if "json" not in attributes:
                seen.n_script_chars += stop - at
        elif name == "title" and not seen.title:
            seen.title = _folded(html.unescape(self._source[at : min(stop, at + 300)]))
        elif name == "noscript":
            seen.noscript += " " + _text_of(self._source[at : min(stop, at + 20_000)])
        return stop

    def _say(self, raw: str) -> None:
        if raw.isspace():
            return
        if self._control is not None:
            self._control.append(raw)
        if self._heading is not None:
            self._heading.append(raw)
        if self._control is None and not self._chrome:
            self._line.append(raw)
        else:
            self._seen.n_link_words += n_words(raw)

    def _end_control(self) -> None:
        if self._control:
            self._seen.controls.append(_folded(html.unescape(" ".join(self._control)[:200])))

    def _end_line(self) -> None:
        if self._heading and not self._chrome:
            self._seen.headings.append(_folded(html.unescape(" ".join(self._heading)[:300])))
            self._heading = []
        if self._line:
            text = _folded(html.unescape("".join(self._line)[:BLOCK_CHARS_MAX]))
            self._line = []
            if text:
                is_puzzle = len(text) > WORD_CHARS_MAX and " " not in text and text.isascii()
                count = 0 if is_puzzle else text.count(" ") + 1 + _n_wide(text) // 2  # folded: one space, one word
                self._seen.n_words += count
                self._seen.blocks.append(Block(text, count, bool(self._box)))


def _folded(text: str) -> str:
    return " ".join(text.split()).lower().replace("’", "'")


def _text_of(source: str) -> str:
    """The text of a piece of markup without scripts."""
    first, *pieces = source.split("<")
    return _folded(html.unescape(" ".join([first, *(piece.partition(">")[2] for piece in pieces)])))
