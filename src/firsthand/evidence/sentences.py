"""Where sentences end, in any of the scripts that pages are written in.

A mark is looked at with the word before it and the word after it; what stands between two ends is a sentence. When in
doubt a sentence goes on: half a sentence may say the opposite of the whole. Scripts with marks of their own end at them,
without a space where none is written. Thai and Lao have no mark: long stretches are cut at spaces, which stand there
between clauses.

Why not a library. On 14 parallel sets of 1,000 sentences of news and encyclopedia (Universal Dependencies PUD), 612
paragraphs of English of all kinds (GUM), pySBD's own rules in 23 languages and our 398 rows, F1 of the ends was, on
2026-12-01: this module 0.969, 0.976, 0.894, 0.997; sentencex 1.0.32 0.946, 0.961, 0.872, 0.888; pySBD 0.3.4 0.942, 0.949,
0.974, 0.847; syntok 1.4.4 0.865, 0.955, 0.517, 0.807. Our rows and the rules were seen while this was written, PUD and GUM
served for finding faults in it, too. sentencex is as fast and as light; it cuts no Thai, and passages, whose places
follow from sentences, would change with each of its releases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from firsthand.evidence.abbreviations import Usage, usage_of
from firsthand.values import Span

# A footnote's number, as encyclopedias have them, belongs to the sentence before.
_FOOTNOTES = r"(?:[ ]?\[\d{1,3}\])*+"
_CLOSERS = r"[\"'”’»›«“)\]）］」』】》〉*_`]*+" + _FOOTNOTES
_WIDE_CLOSERS = r"[\"'”’»)\]）］」』】》〉]*+" + _FOOTNOTES  # in Chinese “ opens
_WIDE = "。！？｡！？।॥۔؟።፧፨։။།༎។៕᠃꓿"  # end a sentence without a space after them
_BULLETS = "•‣▪●◦"
# One pass over the text; possessive repeats, so a line of a million dots costs a million steps.
_ASCII_MARK = re.compile(rf"(?:\.(?:[ ]\.)++|[.!?;:]++)[\"')\]*_`]*+{_FOOTNOTES}(?=\s|$)|\n\s*+")
# The same for all other texts. Like others below it is a string, which ``re`` compiles when it is first used and keeps:
# that takes 5 ms, and most commands look at no such text.
_MARK = rf"""(?x)
    (?:\.(?:[ \u00a0]\.)++|[.!?…‼⁇⁈⁉．;\u037e:]++){_CLOSERS}(?=\s|$)
    |[!?]*+[{_WIDE}][{_WIDE}!?]*+{_WIDE_CLOSERS}
    |[!?]++(?=[\u3041-\u30ff\u4e00-\u9fff])   # between Chinese or Japanese characters
    |．(?![\d\w])
    |\n\s*+|(?<=[ \t])[{_BULLETS}](?=[ \t])"""
LOOK_BACK_CHARS = 400  # into a sentence, so that a page without any end costs no more than its length
_OPENERS = "\"'“”„«»‘‚‹›([{（「『*_`¿¡–—- \t\u00a0\u202f"
_LAST_WORD = re.compile(r"(?:(?<!\w)[^\W\d_]{1,2}\.[ \u00a0]){0,3}[^\s([{\"'“”„«»‘’/（]+$")  # "z. B" is a word, too
_NEXT_WORD = re.compile(r"([^\W\d_]+)(?!\w*\.\S)(?![.’']?\w)")
_ABBREVIATED = re.compile(r"(?:[^\W\d_]{1,2}\.)+-?[^\W\d_]{1,3}$|[^\W\d_]$")  # "z.B", "Ph.D", an initial
_ITEM = re.compile(r"[•‣▪●◦⁃-]?[ \t]*(\d{1,3}|[a-z])\.\)?[ \t]")
_NO_WORDS = " \t\n•‣▪●◦⁃*-–([\"'„“«"
_NUMBER = re.compile(r"\d+(?:\.\d+)*$")
_NUMBER_BEFORE = re.compile(r"(?<=[ \t])(?:\d{1,3}|[a-z])$")
_ROMAN = re.compile(r"[IVXLCM]+$")
_ROMAN_OR_DIGIT = re.compile(r"[\dIVXLCM§#]")
# A sentence may begin with a name from a program, which no one writes in upper case for that: os.path, npm_config, iPhone.
_NAME_IN_CODE = re.compile(r"[a-z][a-z\d-]*+(?:[_(:]\w*|\.[a-z]\w|[A-Z\d])", re.ASCII)
_PAIRS = {"»": "«", "”": "“", "’": "‘"}
_SPACE_BEFORE_CLOSER = r"[ \u00a0\u202f]([»”’])(?=\s|$)"
_PAUSES = frozenset("、，,・；;：:")
_GOES_ON_AFTER_QUOTE = _PAUSES | frozenset("とっはがをにのもでやだなへよかねさ的")
_CJK_QUOTES = (("「", "」"), ("『", "』"))
_CJK_QUOTE_MAX_CHARS = 100  # longer speech is cut at its sentences

_UNMARKED = "[\u0e01-\u0eff]"
_UNMARKED_LETTER = '[\u0e01-\u0eff“”"()]'
_CLAUSE_SPACE = rf"(?<={_UNMARKED_LETTER})[ \u00a0]+(?={_UNMARKED_LETTER})"
# With these two lists and 40 characters F1 on 1,000 sentences of news is 0.66; 0.60 without the lists, 0.65 with 50.
UNMARKED_MIN_CHARS = 40
_CLAUSE_GOES_ON = (
    "และ|หรือ|ซึ่ง|ที่|โดย|เพื่อ|เพราะ|รวมถึง|เช่น|คือ|ว่า|กับ|ของ|จาก|จน|ทำให้|ก็|ได้แก่|กล่าว|ๆ|ฯ|[”)]|ແລະ|ຫຼື|ຊຶ່ງ|ທີ່|ໂດຍ|ເພື່ອ|ເພາະ|ເຊັ່ນ|ວ່າ"
)
_CLAUSE_IS_OPEN = "(?:ว่า|คือ|และ|หรือ|เช่น|ที่|ของ|ฯ|ๆ|นาย|นาง|ວ່າ|ຄື|ແລະ|ຫຼື|ທີ່|ຂອງ)$"
_OPEN_MAX_CHARS = 6  # of the longest of them


def sentences(body: str, span: Span, language: str | None) -> list[Span]:
    """The sentences of *span*, in order: without white space around them, together everything else in it.

    Abbreviations, initials, numbers and addresses end no sentence. A line break ends one, unless the text goes on in lower
    case. *language* is of two letters; unknown is read as English.
    """
    found: list[Span] = []
    usage = usage_of(language)
    start = span.start
    window = body[span.start : span.end]
    for end in _ends(window, usage, language):
        start = _append(found, body, start, span.start + end)
    _append(found, body, start, span.end)
    return found


def _ends(window: str, usage: Usage, language: str | None) -> Iterator[int]:
    """Where a sentence of *window* ends, in order."""
    start = 0
    is_ascii = window.isascii()
    is_unmarked = not is_ascii and re.search(_UNMARKED, window) is not None
    for mark in _ASCII_MARK.finditer(window) if is_ascii else re.finditer(_MARK, window):
        if mark.end() <= start:
            continue
        item = _next_item(window, mark, start)
        if item is not None:
            yield item
            start = item
            continue
        if not _is_end(window, mark, start, usage, language):
            continue
        end = mark.start() if mark[0] in _BULLETS else _with_closer(window, start, mark)
        if is_unmarked:
            yield from _clauses(window, start, end)
        yield end
        start = end
    if is_unmarked:
        yield from _clauses(window, start, len(window))


def _append(found: list[Span], body: str, start: int, end: int) -> int:
    """Add what stands between *start* and *end*; signs without a word belong to the sentence before. Returns *end*."""
    while start < end and body[start].isspace():
        start += 1
    last = end
    while start < last and body[last - 1].isspace():
        last -= 1
    if start < last:
        if (
            found
            and not any(sign.isalnum() for sign in body[start:last][:40])
            and "\n" not in body[found[-1].end : start]
        ):
            found[-1] = Span(found[-1].start, last)
        else:
            found.append(Span(start, last))
    return end


def _with_closer(window: str, start: int, mark: re.Match[str]) -> int:
    """The end of *mark* with a closing quote that stands apart from it, as in French."""
    if window[mark.end() + 1 : mark.end() + 2] not in _PAIRS:
        return mark.end()
    closer = re.compile(_SPACE_BEFORE_CLOSER).match(window, mark.end())
    if closer is not None:
        opened = _PAIRS[closer[1]]
        start = max(start, mark.end() - LOOK_BACK_CHARS)
        if window.count(opened, start, mark.end()) > window.count(closer[1], start, mark.end()):
            return closer.end()
    return mark.end()


def _is_end(window: str, mark: re.Match[str], start: int, usage: Usage, language: str | None) -> bool:
    sign = mark[0][0]
    after = window[mark.end() : mark.end() + 80].lstrip()
    if sign == "\n":
        return "\n" in mark[0][1:] or not after[:1].islower()
    if sign in _BULLETS:
        return True
    if sign in ";:":
        return _is_local_end(mark[0], after, language)
    if any(each in _WIDE for each in mark[0]):
        return _is_wide_end(window, mark, start, after)
    following = after.lstrip(_OPENERS)
    if sign in "!?‼⁇⁈⁉":
        return not following[:1].islower()
    is_lower = following[:1].islower()
    if sign == "…" or mark[0][1:2] in (".", " ", "…"):
        return not is_lower
    if len(mark[0]) > 1 and mark[0][1] in "!?":
        return not is_lower
    before = _LAST_WORD.search(window, max(start, mark.start() - 40), mark.start())
    if before is None:
        return not is_lower
    return _is_stop(before, following, window[max(start, before.start() - LOOK_BACK_CHARS) : before.start()], usage)


def _is_stop(before: re.Match[str], following: str, said: str, usage: Usage) -> bool:
    """Whether a full stop after the word *before* ends its sentence; *said* is what stands before that word."""
    if not following:
        return True
    said = said.strip(_NO_WORDS)
    last = before[0].rpartition(" ")[2].rpartition("\u00a0")[2]
    word, whole = last.lower(), before[0].replace(" ", "").replace("\u00a0", "").lower()
    begins = _NEXT_WORD.match(following)
    has_starter = begins is not None and begins[1][:1].isupper() and begins[1].lower() in usage.starters
    if last in usage.inside or word in usage.inside or whole in usage.inside:
        return False
    if word in usage.last or whole in usage.last:
        return not following[:1].islower()
    if word in usage.numbered and (len(word) > 1 or following[0].isdigit()):
        return not following[:1].islower() and _ROMAN_OR_DIGIT.match(following) is None
    if word in usage.open or _ABBREVIATED.match(last) is not None:
        return has_starter and bool(said or whole != word)
    if following[:1].islower():
        return _NAME_IN_CODE.match(following) is not None
    if _NUMBER.match(word) is not None:
        is_ordinal = usage.has_ordinals and len(word) <= 3 and _last_word(said) not in usage.numbered
        return bool(said) and (has_starter or not is_ordinal)  # else the number of an item
    if _ROMAN.match(last) is not None:
        return bool(said) and (has_starter or not usage.has_ordinals)
    return True


def _last_word(said: str) -> str:
    return said.rpartition(" ")[2].rstrip(".").lower()


def _is_wide_end(window: str, mark: re.Match[str], start: int, after: str) -> bool:
    """Whether a mark that needs no space after it ends the sentence: not inside a short quote that is spoken about."""
    last = mark[0][-1]
    if last not in _WIDE and after[:1] in (_GOES_ON_AFTER_QUOTE if last in '”」』’"' else _PAUSES):
        return False
    for opened, closed in _CJK_QUOTES:
        at = window.rfind(opened, max(start, mark.end() - _CJK_QUOTE_MAX_CHARS), mark.end())
        if at < 0 or window.find(closed, at, mark.end()) >= 0:
            continue
        close = window.find(closed, mark.end(), at + _CJK_QUOTE_MAX_CHARS)
        if close >= 0 and window[close + 1 : close + 2] in _GOES_ON_AFTER_QUOTE:
            return False
    return True


def _next_item(window: str, mark: re.Match[str], start: int) -> int | None:
    """Where the next item of a numbered list begins if *mark* stands after its number: "1. Open it 2. Close it"."""
    here = _ITEM.match(window, start) if mark[0][0] == "." else None
    number = _NUMBER_BEFORE.search(window, max(start, mark.start() - 6), mark.start()) if here else None
    if here is None or number is None or mark[0] not in (".", ".)") or number.start() < here.end():
        return None
    if here[1].isdigit() != number[0].isdigit():
        return None
    is_next = int(number[0]) == int(here[1]) + 1 if here[1].isdigit() else ord(number[0]) == ord(here[1]) + 1
    return number.start() if is_next else None


def _is_local_end(mark: str, after: str, language: str | None) -> bool:
    """A Greek question mark looks like a semicolon, an Armenian full stop like a colon."""
    if language == "el":
        return mark[0] == ";" and not after[:1].islower()
    return language == "hy" and mark[0] == ":" and after[:1].isupper()


def _clauses(window: str, start: int, end: int) -> Iterator[int]:
    """Where to cut a stretch of Thai or Lao: at a space between two clauses, none of them too short."""
    at = start
    for space in re.compile(_CLAUSE_SPACE).finditer(window, start, end):
        if space.start() - at < UNMARKED_MIN_CHARS or end - space.end() < UNMARKED_MIN_CHARS // 2:
            continue
        if re.compile(_CLAUSE_GOES_ON).match(window, space.end()):
            continue
        if re.compile(_CLAUSE_IS_OPEN).search(window, max(at, space.start() - _OPEN_MAX_CHARS), space.start()):
            continue
        yield space.start()
        at = space.end()
