"""What becomes of a page's characters: the one place that says it. Specified in docs/reference/text.md.

Dropped, because no reader sees them: control characters, soft hyphens, zero-width spaces, word joiners, byte order
marks, grapheme joiners, variation selectors, tag characters, invisible operators, marks and embeddings of direction.
Kept where they change what is seen: joiners beside letters of scripts that they shape and inside emoji, the tags of
the flags of England, Scotland and Wales, and overrides of direction that really reverse something.

First what is not seen goes, then letters are composed (NFC), then white space is folded. Any other order would make
a second pass change what the first one made, and whoever checks a quote drops first and composes then as well.
Everything else stays as it is written: ligatures, full-width letters, look-alikes. Two forms of one word are matched
when a quote is looked for (``evidence.quotes``), never by changing what the page says.
"""

from __future__ import annotations

import re
import unicodedata

# White space is not here: it is folded, never dropped, so no two words are joined that the page keeps apart.
_CONTROLS = "\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_MARKS = "\u034f\ufe00-\ufe0f\U000e0100-\U000e01ef"  # grapheme joiner and variation selectors: str.isprintable is true
_FORMATS = "\u00ad\u061c\u200b\u200e\u200f\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e00ff"
_DIRECTIONS = "\u202a-\u202e\u2066-\u2069"  # embeddings, overrides, isolates and their ends
_JOINERS = "\u200c\u200d\u180e"
_FLAGS = ("gbeng", "gbsct", "gbwls")  # the three that Unicode recommends (emoji-sequences.txt)
_FLAG = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in name) for name in _FLAGS)

# One class each, so a search or a substitution is one scan.
_CONTROL = re.compile(f"[{_CONTROLS}]")
_ODD = re.compile(f"[{_CONTROLS}{_MARKS}{_FORMATS}{_DIRECTIONS}{_JOINERS}\ud800-\udfff]")
_MARK = re.compile(f"[{_MARKS}]")
_UNSEEN = f"(?<=\U0001f3f4)(?P<flag>(?:{_FLAG})\U000e007f)|[{_CONTROLS}{_MARKS}{_FORMATS}"
_DROPPED = re.compile(f"{_UNSEEN}{_DIRECTIONS}]")
_DROPPED_BUT_DIRECTIONS = re.compile(f"{_UNSEEN}]")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Arabic to Sinhala, Tibetan to Khmer, Mongolian, and the blocks that extend them: where a joiner shapes a letter.
_SHAPED = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1700-\u180d\u180f-\u18af\u1a20-\u1cff\ua800-\ua8ff\ua930-\ua9ff\uaa00-\uaadf"
    "\uaae0-\uabff\ufb50-\ufdff\ufe70-\ufefe\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_PICTURES = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"  # what emoji-zwj-sequences.txt joins
_JOINER = (  # compiled when a text needs it: that takes 2 ms
    f"(?<=[{_PICTURES}])(?P<picture>\u200d)(?=[{_PICTURES}])"
    f"|(?P<after>(?<=[{_SHAPED}])[{_JOINERS}])[{_JOINERS}]*"
    f"|(?P<before>[{_JOINERS}])(?=[{_SHAPED}])"
    f"|[{_JOINERS}]"
)
_PARAGRAPH_ENDS = "\n\r\x1c\x1d\x1e\x85\u2029"
_TURNING = f"[{_DIRECTIONS}{_PARAGRAPH_ENDS}]|[^{_DIRECTIONS}{_PARAGRAPH_ENDS}]+"
_RUNS_RIGHT, _RUNS_LEFT = ("L", "EN", "AN"), ("R", "AL")
_ENOUGH = 2  # one letter alone reads the same in both directions


def prose(raw: str) -> str:
    """*raw* without what is not seen, in NFC, each run of white space one space, none at the ends.

    Shape: idempotent, and never longer than *raw* in NFC.
    Cost: linear; about the time of splitting at white space for what is ASCII.
    """
    text = " ".join(raw.split())
    if text.isprintable() and (text.isascii() or not _MARK.search(text)):
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    return " ".join(_composed(raw).split())


def code(raw: str) -> str:
    """*raw* without what is not seen, in NFC, with its lines and indentation, without blank lines at the ends."""
    if not raw.isascii():
        raw = _composed(raw).replace("\u00a0", " ")
    elif _CONTROL.search(raw):
        raw = _CONTROL.sub("", raw)
    raw = raw.replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.rstrip() for line in raw.split("\n")]
    first, last = 0, len(lines)
    while first < last and not lines[first]:
        first += 1
    while last > first and not lines[last - 1]:
        last -= 1
    return "\n".join(lines[first:last])


def n_invisible(raw: str) -> int:
    """How many characters of *raw* ``prose`` and ``code`` drop because no reader sees them. White space is not counted."""
    if raw.isascii():
        return 0 if raw.isprintable() else len(_CONTROL.findall(raw))
    return len(raw) - len(_seen(raw)) if _ODD.search(raw) else 0


def is_reversed(raw: str) -> bool:
    """Whether an override of direction makes *raw* read otherwise than it stands: letters or digits shown backwards.

    An override round what runs that way anyway (a telephone number between U+202D and U+202C) reverses nothing.
    Source: Unicode Standard Annex 9, explicit directional formatting.
    """
    if "\u202e" not in raw and "\u202d" not in raw:
        return False
    open_marks: list[str] = []
    n_against = 0
    for found in re.finditer(_TURNING, raw):
        piece = found[0]
        if piece in _PARAGRAPH_ENDS:
            open_marks, n_against = [], 0
        elif piece in ("\u202c", "\u2069"):
            n_against = 0
            if open_marks and (open_marks[-1] in "\u2066\u2067\u2068") == (piece == "\u2069"):
                open_marks.pop()
        elif "\u202a" <= piece <= "\u202e" or "\u2066" <= piece <= "\u2068":
            n_against = 0
            open_marks.append(piece)
        elif open_marks and open_marks[-1] in "\u202d\u202e":
            against = _RUNS_RIGHT if open_marks[-1] == "\u202e" else _RUNS_LEFT
            n_against += sum(unicodedata.bidirectional(char) in against for char in piece)
            if n_against >= _ENOUGH:
                return True
    return False


def _composed(raw: str) -> str:
    return unicodedata.normalize("NFC", _seen(raw))


def _seen(raw: str) -> str:
    """*raw* without the characters that no reader sees; what cannot be written as UTF-8 is U+FFFD."""
    if not _ODD.search(raw):
        return raw
    raw = _SURROGATE.sub("\ufffd", raw)
    if "\u202d" in raw or "\u202e" in raw:
        # An override that reverses stays, with all that bounds it: those who judge the words must know.
        text = _DROPPED_BUT_DIRECTIONS.sub(_flag, raw)
        if not is_reversed(unicodedata.normalize("NFC", text)):
            text = _DROPPED.sub(_flag, text)
    else:
        text = _DROPPED.sub(_flag, raw)
    if "\u200c" in text or "\u200d" in text or "\u180e" in text:
        text = re.sub(_JOINER, _joined, text)
    return text


def _flag(found: re.Match[str]) -> str:
    return found["flag"] or ""


def _joined(found: re.Match[str]) -> str:
    return found["picture"] or found["after"] or found["before"] or ""
