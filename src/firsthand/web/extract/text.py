"""Plain text and Markdown to blocks: paragraphs between blank lines, code where lines must stay lines.

Markdown is kept as its author wrote it, marks and all, and not as some renderer would show it: a quote must stand in the
file, letter by letter, where anybody can look it up. Headings, list items and code lose only the marks at their ends.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from firsthand.values import Text
from firsthand.web.extract import charset
from firsthand.web.extract.drafts import Draft, assemble
from firsthand.web.extract.facts import Facts, iso_date
from firsthand.web.extract.failure import unreadable
from firsthand.web.extract.words import code, prose

_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_ITEM = re.compile(r"([ \t]*)((?:[-*+•]|o(?=  ))[ \t]+(?=\S))?(?(2)|\d{1,3}[.)][ \t]+\S)")
_NUMBERED_HEADING = re.compile(
    r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?[ ]{1,3}[A-Z][^\n]{1,70}$"
)  # "4.2.  Security", as in RFCs
# CommonMark 0.31, section 4.5: behind an opening fence stands its language, behind a closing one nothing.
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}(?=[^`]*$)|~{3,})([ \t]*$)?")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_ROW_RULE = re.compile(r"[ \t|:+-]+$")
_UNDERLINE = re.compile(r"(=+|-+|~+|\*+)[ \t]*$")
_DRAWN = re.compile(r"[|+_=<>{}\\/-]{3,}|\+-|\s{4,}\S")
# Bounded, without nested repetition.
_FRONT_MATTER = re.compile(r"---[ \t]*\n((?:[^\n]{0,2000}\n){1,200}?)(?:---|\.\.\.)[ \t]*(?:\n|$)")
_FACT = re.compile(r"^(title|date|author|updated|lastmod):[ \t]*(\S[^\n]{0,300})", re.IGNORECASE | re.MULTILINE)
_LINK = re.compile(
    r"\]\([ ]?<?(https?://[^\s()<>]{1,2000}|[^\s()<>:]{1,500})|^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]?(\S{1,2000})",
    re.MULTILINE,
)
_UNREADABLE_SHARE = 0.1  # guess: text with more control or replacement characters than this is no text


def extract_text(payload: bytes, *, url: str, content_type: str | None = None, is_markdown: bool = False) -> Text:
    """The text of a plain text or Markdown payload. Raises ExtractionFailed ``no_text`` or ``unsupported_type``."""
    decoded = charset.decode(payload, content_type=content_type)
    source = decoded.text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    sample = source[:20_000]
    n_odd = sum(
        1 for sign in sample if (sign < " " and sign not in "\n\t\x1b") or sign == "\ufffd" or "\x7f" <= sign <= "\x84"
    )
    if n_odd > _UNREADABLE_SHARE * max(1, len(sample)):
        raise unreadable("unsupported_type", "The payload is neither HTML, plain text nor PDF.")
    facts: dict[str, str] = {}
    drafts: list[Draft] = []
    if is_markdown:
        facts, head, source = _front_matter(source)
        drafts += [Draft("code", text) for text in (code(head),) if text]
    n_head = len(drafts)
    drafts += _drafts(source, is_markdown)
    if not drafts:
        raise unreadable("no_text", "The file has no text.")
    made = assemble(drafts)
    return Text(
        body=made.body,
        blocks=made.blocks,
        media_type="text/markdown" if is_markdown else "text/plain",
        charset=decoded.chosen,
        declared_charset=decoded.declared,
        title=facts.get("title") or _title(drafts[n_head:], is_markdown),
        author=facts.get("author"),
        published_at=iso_date(facts.get("date", "")),
        modified_at=iso_date(facts.get("updated", "") or facts.get("lastmod", "")),
        links=tuple(_links(source, url)) if is_markdown else (),
    )


def _front_matter(source: str) -> tuple[dict[str, str], str, str]:
    """The facts in the YAML that a Markdown file may begin with, that YAML with its fences, and the rest."""
    found = _FRONT_MATTER.match(source)
    if found is None:
        return {}, "", source
    facts = {key.lower(): prose(value.strip("\"' "))[:300] for key, value in _FACT.findall(found[1])}
    return facts, found[0], source[found.end() :]


def _links(source: str, url: str) -> Iterator[str]:
    """The absolute addresses of a Markdown file's links, each once."""
    facts = Facts(url)
    for found in _LINK.finditer(source):
        facts.add_link(found[1] or found[2])
    yield from facts.links


def _title(drafts: Sequence[Draft], is_markdown: bool) -> str:
    """The first heading of a Markdown file; in plain text the short line that stands before the first heading."""
    lines: list[str] = []
    for draft in drafts[:20]:
        if draft.kind == "heading":
            return (draft.text if is_markdown or not lines else lines[-1])[:300]
        if draft.kind == "paragraph" and len(draft.text) < 100:
            lines.append(draft.text)
    return lines[0] if lines and not is_markdown and drafts[0].text == lines[0] else ""


def _drafts(source: str, is_markdown: bool) -> Iterator[Draft]:
    """The blocks of *source* in order, with the headings above each."""
    path: list[tuple[int, str]] = []
    group, was_unit = 0, False
    for lines, is_fenced in _chunks(source, is_markdown):
        for draft in _of_chunk(lines, is_fenced, is_markdown):
            if not draft.text:
                continue
            if draft.kind == "heading":
                path = [(level, title) for level, title in path if level < draft.level]
            draft.headings = tuple(title for _, title in path)
            if draft.kind == "heading":
                path.append((draft.level, draft.text))
            is_unit = draft.kind in ("item", "row")
            group += is_unit and not was_unit
            draft.group = group if is_unit else 0
            was_unit = is_unit
            yield draft


def _chunks(source: str, is_markdown: bool) -> Iterator[tuple[list[str], bool]]:
    """Runs of lines between blank lines; the inside of a fence is one run, blank lines and all."""
    lines: list[str] = []
    fence = ""
    for line in source.split("\n"):
        found = _FENCE.match(line) if is_markdown else None
        if fence:
            if found and found[1].startswith(fence) and found[2] is not None:
                yield lines, True
                lines, fence = [], ""
            else:
                lines.append(line)
        elif found:
            if lines:
                yield lines, False
            lines, fence = [], found[1]
        elif line.strip():
            lines.append(line)
        elif lines:
            yield lines, False
            lines = []
    if lines:
        yield lines, bool(fence)


def _of_chunk(lines: list[str], is_fenced: bool, is_markdown: bool) -> Iterator[Draft]:
    """The blocks in one run of lines without a blank line."""
    if is_fenced:
        yield Draft("code", code(textwrap.dedent("\n".join(lines))))
        return
    while lines and (heading := _heading(lines, is_markdown)) is not None:
        level, title, n_lines = heading
        yield Draft("heading", prose(title), level=level)
        lines = lines[n_lines:]
    if not lines:
        return
    if is_markdown and len(lines) > 1 and _is_table(lines):
        yield from _rows(lines)
    elif is_markdown and all(line.lstrip().startswith(">") for line in lines):
        yield Draft("quote", prose("\n".join(lines)))
    elif _ITEM.match(lines[0]):
        yield from _items(lines if is_markdown else textwrap.dedent("\n".join(lines)).split("\n"))
    elif _is_code(lines, is_markdown):
        yield Draft("code", code(textwrap.dedent("\n".join(lines))))
    else:
        yield Draft("paragraph", prose("\n".join(lines)))


def _heading(lines: list[str], is_markdown: bool) -> tuple[int, str, int] | None:
    """Level, title and number of lines of the heading that *lines* begin with."""
    if is_markdown and (found := _HEADING.match(lines[0])):
        return len(found[1]), found[2], 1
    if len(lines) > 1 and not lines[0].startswith((" ", "\t", "|")) and len(lines[0]) < 120:
        rule = _UNDERLINE.match(lines[1])
        if (
            rule
            and len(rule[1]) >= min(3, len(lines[0]))
            and (is_markdown or len(rule[1]) >= len(lines[0].strip()) - 2)
        ):
            return 1 if rule[1][0] in "=*" else 2, lines[0], 2
    if not is_markdown and len(lines) == 1 and (found := _NUMBERED_HEADING.match(lines[0])):
        return min(6, found[1].count(".") + 1), lines[0], 1
    return None


def _items(lines: list[str]) -> Iterator[Draft]:
    """One item a marker, with its continuation lines; nesting by indentation."""
    current: list[str] = []
    level = 1
    for line in [*lines, None]:
        found = _ITEM.match(line) if line is not None else None
        if (found or line is None) and current:
            yield Draft("item", prose("\n".join(current)), level=level)
            current = []
        if found and line is not None:
            level = 1 + min(5, (len(found[1].expandtabs(4)) + 1) // 3)
            line = line[found.end(2) :] if found[2] else line
        if line is not None:
            current.append(line)


def _is_table(lines: list[str]) -> bool:
    """Whether all lines have bars at their ends, or the second rules off a header of as many columns."""
    if all(_ROW.match(line) for line in lines):
        return True
    rule = lines[1].strip().strip("|")
    is_rule = "|" in rule and "-" in rule and _ROW_RULE.match(rule) is not None
    return is_rule and all(line.strip().strip("|").count("|") >= rule.count("|") for line in lines)


def _rows(lines: list[str]) -> Iterator[Draft]:
    header: tuple[str, ...] = ()
    for number, line in enumerate(lines):
        if _ROW_RULE.match(line):
            continue
        # The bars stay in the words: a quote must stand in the file as it is.
        yield Draft("row", prose(line), header=header)
        if number == 0:
            header = tuple(prose(cell) for cell in line.strip().strip("|").split("|"))


def _is_code(lines: list[str], is_markdown: bool) -> bool:
    """Whether lines must stay lines: indented in Markdown; in plain text drawn figures, tables and listings."""
    if is_markdown:
        return all(line.startswith(("    ", "\t")) for line in lines)
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    inner = [line[margin:] for line in lines]
    n_drawn = sum(1 for line in inner if _DRAWN.search(line))
    n_ragged = sum(1 for line in inner[1:] if line.startswith("  "))
    return (
        n_drawn * 2 > len(lines)
        or (margin >= 4 and n_ragged * 2 >= len(lines))
        or (n_ragged * 2 > len(lines) and len(lines) > 2)
    )
