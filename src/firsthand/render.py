"""An answer as JSON, Markdown and a terminal's lines: pure, and safe for whoever looks at it.

Words of a page are data: control characters become visible marks before they reach a terminal, Markdown and HTML are
escaped where they are shown. ``page.py`` makes the HTML form.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

from firsthand.errors import InvalidInput
from firsthand.values import Answer, Citation, Claim, Engine, Failure, JsonValue, Source, Usage

STATUS_WORDS = {
    "answered": "Answered",
    "insufficient_evidence": "Not enough evidence",
    "conflicting_evidence": "The sources disagree",
    "needs_clarification": "A question back",
    "failed": "Failed",
}
VERDICT_WORDS = {
    "exact": "stands word for word in the kept page",
    "normalised": "stands in the kept page, but for white space and quote marks",
    "missing": "does not stand in the kept page",
}
LISTED_MAX = 5  # targets that failed alike and are named; a person needs the kind, answer.json has each of them
_FAILED_NOUNS = {"search": "provider", "fetch": "page", "extract": "page", "verify": "quote", "deliver": "place"}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>{}#|~!])")
_CODE_LINE = re.compile(r"[;{}\\]\s*$|^(?:\$|#|//|>>>|--) |^\S+\(.*\)\s*$|^[\w.\-]+ ?[=:] ?\S+$")
_LINK = re.compile(r"\[(\d+)\]\([^()\s]*\)")  # our own links only: a number, then an address without brackets
_ESCAPED = re.compile(r"\\([^\w\s]|_)")


# -- JSON


def to_json(answer: Answer) -> dict[str, JsonValue]:
    """The answer object ``firsthand.answer/1``."""
    return cast(dict[str, JsonValue], {"schema": Answer.schema, **json.loads(json.dumps(asdict(answer)))})


def from_json(value: object) -> Answer:
    """The answer that *value* is the JSON form of.

    Raises: InvalidInput if it is not one.
    """
    if not isinstance(value, dict) or value.get("schema") != Answer.schema:
        raise InvalidInput("not_an_answer", f"This is not an answer: its schema is not {Answer.schema}.")
    row = cast(dict[str, Any], value)
    try:
        lists: dict[str, Any] = {name: tuple(row[name]) for name in _LISTS}
        flat: dict[str, Any] = {f.name: row[f.name] for f in fields(Answer) if f.name not in _NESTED}
        return Answer(
            **flat,
            **lists,
            claims=tuple(
                Claim(**{**claim, "citations": tuple(Citation(**c) for c in claim["citations"])})
                for claim in row["claims"]
            ),
            sources=tuple(Source(**source) for source in row["sources"]),
            failures=tuple(Failure(**failure) for failure in row["failures"]),
            usage=Usage(**row["usage"]),
            engine=Engine(**{**row["engine"], "search": tuple(row["engine"]["search"])}),
        )
    except (KeyError, TypeError) as error:
        raise InvalidInput("not_an_answer", f"This answer lacks a field or has one too many: {error}.") from error


_LISTS = ("missing", "conflicts", "limitations", "omitted", "follow_ups")
_NESTED = {"claims", "sources", "failures", "usage", "engine", *_LISTS}


# -- Counts


def counted(n: int, noun: str) -> str:
    """*n* of what *noun* names, as ``1 page`` and ``2 pages``."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


# -- Words made safe


def visible(text: str) -> str:
    """*text* with every control character, escape and direction mark shown as a visible mark instead of obeyed.

    Line breaks and tabs stay. Source: trust P29; C0 shown as the Control Pictures block, the rest as <U+XXXX>.
    """
    return "".join(_shown(character) for character in text)


def visible_line(text: str) -> str:
    """*text* made visible, on one line: one record is one line, whatever the record holds."""
    return visible(" ".join(text.split()))


def escape_unseen(json_text: str) -> str:
    """JSON in which every character that steers a terminal, hides or reorders stands as its escape: the same value."""
    return _STEERING.sub(lambda match: "".join(f"\\u{unit:04x}" for unit in _utf16(match[0])), json_text)


def _utf16(character: str) -> list[int]:
    encoded = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(encoded[at : at + 2], "big") for at in range(0, len(encoded), 2)]


def escape_markdown(text: str) -> str:
    """*text* so that Markdown shows it as it is: no link, image, heading or markup comes alive."""
    return _MARKDOWN.sub(r"\\\1", text)


def plain(markdown: str) -> str:
    """The answer's own Markdown as plain words: citation links become ``[n]``, escapes are undone."""
    return _ESCAPED.sub(r"\1", _LINK.sub(r"[\1]", markdown)).replace("&amp;", "&")


def _shown(character: str) -> str:
    code = ord(character)
    if character in "\n\t" or 0x20 <= code < 0x7F:
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0x80 <= code < 0xA0 or code in _UNSEEN or 0xE0000 <= code < 0xE0080 or 0xD800 <= code < 0xE000:
        return f"<U+{code:04X}>"
    return character


# Zero-width and direction marks: they hide or reorder what a reader sees.
_UNSEEN = {0x00AD, 0x061C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF}
_STEERING = re.compile(
    "[\x7f-\x9f\ud800-\udfff\U000e0000-\U000e007f" + "".join(re.escape(chr(code)) for code in sorted(_UNSEEN)) + "]"
)


# -- Markdown


def to_markdown(answer: Answer) -> str:
    """The answer as a Markdown file: question, status, text, what each citation rests on, what is missing."""
    lines = [
        f"<!-- {Answer.schema} -->",
        "",
        f"# {escape_markdown(_one_line(answer.question))}",
        "",
        f"**{STATUS_WORDS[answer.status]}**",
        "",
    ]
    if answer.text:
        lines += [answer.text, ""]
    if answer.sources:
        lines += ["## Sources", ""]
        for source in answer.sources:
            title = escape_markdown(_one_line(source.title or source.url))
            lines += [f"{source.n}. [{title}]({link_target(source.url)})", f"   kept {source.retrieved_at}", ""]
            for citation in _citations(answer, source.n):
                lines += [f"   > {escape_markdown(line)}" for line in citation.quote.splitlines()]
                lines += ["", f"   {_where(citation)}", ""]
    for title, rows in notes(answer):
        lines += [f"## {title}", ""]
        for row in rows:
            lines.append(f"- {escape_markdown(_one_line(row.text))}")
            lines += [f"  - {escape_markdown(_one_line(each))}" for each in row.listed]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def link_target(url: str) -> str:
    """*url* so that it cannot end the Markdown link it stands in."""
    return "".join(f"%{ord(c):02X}" if c in "()<>\\ \n\r\t\"'`" else c for c in url)


def _where(citation: Citation) -> str:
    verdict = VERDICT_WORDS[citation.verdict]
    return f"{verdict}, characters {citation.start}–{citation.end}; page {citation.snapshot[:19]}…"


def _citations(answer: Answer, n: int) -> list[Citation]:
    seen: dict[tuple[int, int], Citation] = {}
    for claim in answer.claims:
        for citation in claim.citations:
            if citation.source == n:
                seen.setdefault((citation.start, citation.end), citation)
    return list(seen.values())


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to know beside an answer, and what it is true of where that is more than one."""

    text: str
    listed: tuple[str, ...] = ()


def notes(answer: Answer) -> list[tuple[str, Sequence[Note]]]:
    """What the reader must know beside the answer, under its headings; empty ones left out."""
    notes = [
        ("Not found", _plain_notes(answer.missing)),
        ("The sources disagree", _plain_notes(answer.conflicts)),
        ("Limits of this answer", _plain_notes(answer.limitations)),
        ("What failed", _failure_notes(answer.failures)),
        ("Not read", _plain_notes(answer.omitted)),
        ("You could ask next", _plain_notes(answer.follow_ups)),
    ]
    return [(title, rows) for title, rows in notes if rows]


def _plain_notes(rows: Sequence[str]) -> list[Note]:
    return [Note(row) for row in rows]


def _failure_notes(failures: Sequence[Failure]) -> list[Note]:
    """One note for all that failed alike, in the order of the first of each kind."""
    alike: dict[tuple[str, str, str], dict[str, None]] = {}
    for failure in failures:
        alike.setdefault((failure.stage, failure.outcome, failure.detail), {})[failure.target] = None
    found: list[Note] = []
    for (stage, outcome, detail), of_kind in alike.items():
        first, *others = targets = tuple(of_kind)
        if not others:
            found.append(Note(f"{first}: {outcome} ({detail})"))
            continue
        n_more = len(targets) - LISTED_MAX
        more = (f"and {n_more} more",) if n_more > 0 else ()
        counts = counted(len(targets), _FAILED_NOUNS[stage])
        found.append(Note(f"{counts}: {outcome} ({detail})", targets[:LISTED_MAX] + more))
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())


# -- Parts: the answer's paragraphs as a reader should see them


@dataclass(frozen=True, slots=True)
class Part:
    """One statement of an answer. ``shaped`` holds the quotes as the page has them, where a line alone would not do:
    rows with a tab between cells, code with its lines."""

    markdown: str
    shaped: tuple[str, ...] = ()
    sources: tuple[int, ...] = ()


def parts(answer: Answer) -> list[Part]:
    """The answer in parts, one a claim, the lead first; an answer without claims is one part."""
    claims = sorted(answer.claims, key=lambda claim: claim.start)
    if not claims:
        return [Part(answer.text)] if answer.text else []
    ends = [claim.start for claim in claims[1:]] + [len(answer.text)]
    before = answer.text[: claims[0].start].strip()
    found = [Part(before)] if before else []
    for claim, end in zip(claims, ends, strict=True):
        said = _one_line(plain(claim.text))
        own = [citation for citation in claim.citations if _one_line(visible(citation.quote)) in visible(said)]
        is_shaped = any("\t" in each.quote or "\n" in each.quote.strip() for each in own)  # a line alone would not do
        shaped = tuple(each.quote.strip("\n") for each in own) if is_shaped else ()
        found.append(Part(answer.text[claim.start : end].strip(), shaped, tuple({each.source: 0 for each in own})))
    return found


def is_code(quote: str) -> bool:
    """Whether the line breaks and indents of *quote* mean something: by its look, for nothing else is known of it."""
    lines = [line for line in quote.split("\n") if line.strip()]
    if len(lines) < 2 or any("\t" in line.strip() for line in lines):
        return False
    looks = [line[0] in " \t" or bool(_CODE_LINE.search(line)) for line in lines]
    return 2 * sum(looks) > len(lines) or any(line[0] in " \t" for line in lines[1:])


# -- Terminal


def to_terminal(answer: Answer, *, width: int = 80, colour: bool = False) -> str:
    """The answer as lines for a person: at most *width* columns, colour only if asked for.

    The first statement stands out, what supports it stands back, and an address is never broken: it is to be copied.
    """
    width = max(20, min(width, 100))
    bold, dim, reset = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    facts = f"{answer.elapsed_ms} ms"
    if answer.sources:
        facts = f"{counted(len(answer.sources), 'source')} · {facts}"
    lines = [f"{bold}{line}{reset}" for line in _wrapped(answer.question, width)]
    lines += [f"{dim}{line}{reset}" for line in _wrapped(f"{STATUS_WORDS[answer.status]} · {facts}", width)]
    lead, *more = parts(answer) or [Part("")]
    lines += ["", *(f"{bold}{line}{reset}" if answer.claims else line for line in _part_lines(lead, width, "  "))]
    if more:
        lines += ["", f"{dim}Beside it{reset}"]
        for part in more:
            lines += [*_part_lines(part, width, "    "), ""]
        lines.pop()
    if answer.sources:
        lines += ["", f"{bold}Sources{reset}"]
        for source in answer.sources:
            lines += _wrapped(f"[{source.n}] {source.title or source.url}", width, indent="  ", hang="      ")
            lines.append(f"      {dim}{visible_line(source.url)}{reset}")
    for title, rows in notes(answer):
        lines += ["", f"{bold}{title}{reset}"]
        for row in rows:
            lines += _wrapped(f"· {row.text}", width, indent="  ", hang="    ")
            for each in row.listed:
                lines += _wrapped(each, width, indent="    ", hang="      ")
    if answer.claims:
        lines += ["", f"{dim}firsthand verify {answer.id}{reset}"]
    return "\n".join(lines) + "\n"


def _part_lines(part: Part, width: int, indent: str) -> list[str]:
    """The lines of one part: words wrapped, code as it stands, the cells of a row parted by a bar."""
    if not part.shaped:
        paragraphs = [line for line in plain(part.markdown).split("\n") if line.strip()]
        return [line for each in paragraphs for line in _wrapped(each, width, indent=indent)]
    lines: list[str] = []
    for quote in part.shaped:
        if is_code(quote):
            lines += [indent + "  " + line for line in visible(quote).expandtabs(4).split("\n")]
        else:
            for row in filter(str.strip, quote.split("\n")):
                hang = indent + "  " if "\t" in row else indent
                lines += _wrapped(" │ ".join(row.split("\t")), width, indent=indent, hang=hang)
    numbers = "".join(f"[{n}]" for n in part.sources)
    if not lines or is_code(part.shaped[-1]):
        return [*lines, indent + numbers]  # a mark of ours must not look like code
    return [*lines[:-1], f"{lines[-1]} {numbers}"]


def cell_width(text: str) -> int:
    """How many columns of a terminal *text* takes. Source: Unicode annex 11, wide and full-width characters take two."""
    return len(text) if text.isascii() else sum(_cells(character) for character in text)


def cut_to_width(text: str, width: int) -> str:
    """As much of *text* as fits into *width* columns."""
    used = 0
    for at, character in enumerate(text):
        used += _cells(character)
        if used > width:
            return text[:at]
    return text


def _cells(character: str) -> int:
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in ("Mn", "Me", "Cf") else 1


def _wrapped(text: str, width: int, *, indent: str = "", hang: str | None = None) -> list[str]:
    """*text* in lines of at most *width* columns, broken at spaces and beside wide characters, never inside a word."""
    lines: list[str] = []
    line, used = indent, len(indent)
    is_empty = True
    for word in visible_line(text).split(" "):
        gap = " "
        for unit in _units(word):
            needed = cell_width(unit)
            if not is_empty and used + len(gap) + needed > width:
                lines.append(line)
                line = indent if hang is None else hang
                used, is_empty = len(line), True
            gap = "" if is_empty else gap
            line += gap + unit
            used += len(gap) + needed
            gap, is_empty = "", False
    return [*lines, line]


def _units(word: str) -> list[str]:
    """The pieces of *word* that a line may end after: each wide character, with the closing marks that follow it."""
    if word.isascii():
        return [word]
    units = [""]
    for character in word:
        is_wide = _cells(character) == 2 and character not in _CLOSING
        last_is_wide = bool(units[-1]) and _cells(units[-1][0]) == 2
        if units[-1] and (is_wide or (last_is_wide and character not in _CLOSING)):
            units.append("")
        units[-1] += character
    return units


_CLOSING = "、。，．」』）】》〉！？：；…ー"
