"""An answer as JSON, Markdown and a terminal's lines: pure, and safe for whoever looks at it.

Words of a page are data: control characters become visible marks before they reach a terminal, Markdown and HTML are
escaped where they are shown. ``page.py`` makes the HTML form.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable
from dataclasses import asdict, fields
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
_MARKDOWN = re.compile(r"([\\`*_\[\]<>{}#|~!])")
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


# -- Words made safe


def visible(text: str) -> str:
    """*text* with every control character, escape and direction mark shown as a visible mark instead of obeyed.

    Line breaks and tabs stay. Source: trust P29; C0 shown as the Control Pictures block, the rest as <U+XXXX>.
    """
    return "".join(_shown(character) for character in text)


def escape_markdown(text: str) -> str:
    """*text* so that Markdown shows it as it is: no link, image, heading or markup comes alive."""
    return _MARKDOWN.sub(r"\\\1", text)


def plain(markdown: str) -> str:
    """The answer's own Markdown as plain words: citation links become ``[n]``, escapes are undone."""
    return _ESCAPED.sub(r"\1", _LINK.sub(r"[\1]", markdown))


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
_UNSEEN = {0x00AD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}


# -- Markdown


def to_markdown(answer: Answer) -> str:
    """The answer as a Markdown file: question, status, text, what each citation rests on, what is missing."""
    lines = [f"<!-- {Answer.schema} -->", "", f"# {escape_markdown(_one_line(answer.question))}", "", f"**{STATUS_WORDS[answer.status]}**", ""]
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
    for title, rows in _notes(answer):
        lines += [f"## {title}", "", *(f"- {escape_markdown(_one_line(row))}" for row in rows), ""]
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


def _notes(answer: Answer) -> list[tuple[str, Iterable[str]]]:
    """What the reader must know beside the answer, under its headings; empty ones left out."""
    failures = [f"{failure.target}: {failure.outcome} ({failure.detail})" for failure in answer.failures]
    notes = [
        ("Not found", answer.missing),
        ("The sources disagree", answer.conflicts),
        ("Limits of this answer", answer.limitations),
        ("What failed", failures),
        ("Not read", answer.omitted),
        ("You could ask next", answer.follow_ups),
    ]
    return [(title, rows) for title, rows in notes if rows]


def _one_line(text: str) -> str:
    return " ".join(text.split())


# -- Terminal


def to_terminal(answer: Answer, *, width: int = 80, colour: bool = False) -> str:
    """The answer as lines for a person: at most *width* columns, colour only if asked for."""
    width = max(20, min(width, 100))
    bold, dim, reset = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    n_sources = len(answer.sources)
    facts = f"{n_sources} source{'' if n_sources == 1 else 's'} · {answer.elapsed_ms} ms"
    lines = [f"{bold}{line}{reset}" for line in _wrapped(answer.question, width)]
    lines += [f"{dim}{STATUS_WORDS[answer.status]} · {facts}{reset}", ""]
    for paragraph in visible(plain(answer.text)).split("\n"):
        lines += _wrapped(paragraph, width, indent="  ") if paragraph.strip() else [""]
    if answer.sources:
        lines += ["", f"{bold}Sources{reset}"]
        for source in answer.sources:
            lines += _wrapped(f"[{source.n}] {source.title or source.url}", width, indent="  ", hang="      ")
            lines.append(f"      {dim}{visible(_one_line(source.url))}{reset}")  # never broken: it is to be copied
    for title, rows in _notes(answer):
        lines += ["", f"{bold}{title}{reset}"]
        for row in rows:
            lines += _wrapped(f"· {row}", width, indent="  ", hang="    ")
    lines += ["", f"{dim}firsthand verify {answer.id}{reset}"]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, width: int, *, indent: str = "", hang: str | None = None) -> list[str]:
    """*text* in lines of at most *width*; a line that starts with white space is code and keeps its shape."""
    safe = visible(text)
    if safe.startswith(("    ", "\t", "|")):
        return [indent + safe]
    return textwrap.wrap(
        safe,
        width,
        initial_indent=indent,
        subsequent_indent=indent if hang is None else hang,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [""]
