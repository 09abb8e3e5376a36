"""JSON to blocks: each value that a reader can read, under the keys that lead to it, which stand as headings.

A value stands as ``key: value`` with its escapes undone, members of a plain list as items, and a list of like objects as
a table with the keys for its header. Nothing is dropped but ``null`` and what is empty; a key that is given twice stands
twice. Numbers keep their spelling. Depth and digits are bounded, because the standard reader fails on both: it recurses
in C, and makes integers in quadratic time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firsthand.values import Text
from firsthand.web.extract import charset
from firsthand.web.extract.drafts import Draft, assemble
from firsthand.web.extract.failure import unreadable
from firsthand.web.extract.words import code, prose

MAX_DEPTH = 200  # json_depth_max of the hostile corpora's defaults
MAX_DIGITS = 4300  # the limit that Python itself sets for integers (sys.int_info.default_max_str_digits)
_CELL_CHARS = 400  # guess: a longer value is a text, not a cell of a table
_MAX_COLUMNS = 50  # as tables of HTML
_NAMES = ("title", "name", "label", "headline", "id")  # what names an object among others, the best first


@dataclass(frozen=True, slots=True)
class _Object:
    """The members of a JSON object in order, with doubles."""

    members: list[tuple[str, object]]


class _Scalar(str):
    """A number or a truth value, as it is spelled in the source."""

    __slots__ = ()


def extract_json(payload: bytes, *, url: str, content_type: str | None = None) -> Text:
    """The text of a JSON document. What is no JSON after all is read as plain text.

    Raises: ExtractionFailed ``parse_limit`` for what is too deep or has too long numbers, ``no_text``.
    """
    decoded = charset.decode(payload, content_type=content_type)
    try:
        value = json.loads(
            decoded.text.lstrip("\ufeff"),
            object_pairs_hook=_Object,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_Scalar,
        )
    except RecursionError as error:
        raise unreadable("parse_limit", "The JSON is nested too deeply to be read.", limit_kind="depth") from error
    except ValueError:  # a script, a log, JSON with comments: still a text
        from firsthand.web.extract.text import extract_text

        return extract_text(payload, url=url, content_type=content_type)
    drafts = list(_drafts(value))
    if not drafts:
        raise unreadable("no_text", "The JSON holds no value that could be read.")
    made = assemble(drafts)
    return Text(
        body=made.body,
        blocks=made.blocks,
        media_type="application/json",
        charset=decoded.chosen,
        declared_charset=decoded.declared,
        title=_name_of(value)[:300],
    )


def _number(digits: str) -> _Scalar:
    if len(digits) > MAX_DIGITS:
        raise unreadable(
            "parse_limit",
            f"The JSON has a number of {len(digits):,} digits; {MAX_DIGITS:,} are read.",
            limit_kind="digits",
        )
    return _Scalar(digits)


def _drafts(document: object) -> Iterator[Draft]:
    """The blocks of *document*, in its order, without recursion. Raises: ExtractionFailed ``parse_limit``."""
    n_groups = 0
    waiting: list[tuple[str, object, tuple[str, ...], int]] = [("", document, (), 0)]
    while waiting:
        key, value, path, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise unreadable("parse_limit", f"The JSON is nested deeper than {MAX_DEPTH} levels.", limit_kind="depth")
        if not isinstance(value, _Object | list):
            yield from _leaf(key, value, path)
            continue
        if _is_bare(value):
            continue
        here = path
        if key := prose(key):
            yield Draft("heading", key, headings=path, level=min(6, depth))
            here = (*path, key)
        n_groups += 1
        if isinstance(value, _Object):
            waiting += [(name, each, here, depth + 1) for name, each in reversed(value.members)]
        elif all(isinstance(each, str | bool | None) for each in value):
            yield from _items(value, here, n_groups)
        elif (columns := _columns(value)) is not None:
            yield from _rows(value, columns, here, n_groups)
        else:
            waiting += [(_name_of(each), each, here, depth + 1) for each in reversed(value)]


def _is_bare(value: object) -> bool:
    """Whether a container holds nothing but null, empty strings and empty containers, as far as one look tells."""
    inner = [each for _, each in value.members] if isinstance(value, _Object) else value
    assert isinstance(inner, list)
    return all(each in (None, "", []) or (isinstance(each, _Object) and not each.members) for each in inner)


def _spelled(value: object) -> str:
    """A scalar as its source has it; nothing for null."""
    return {True: "true", False: "false", None: ""}[value] if isinstance(value, bool | None) else str(value)


def _leaf(key: str, value: object, path: tuple[str, ...]) -> Iterator[Draft]:
    """``key: value``; a text of several paragraphs stays several, one with lines that must stay lines is code."""
    said = _spelled(value)
    if not said.strip():
        return
    label = f"{prose(key)}: " if key.strip() else ""
    paragraphs = said.split("\n\n") if isinstance(value, str) else [said]
    for number, paragraph in enumerate(paragraphs):
        is_code = "\n" in paragraph and paragraph.count("\n ") * 2 > paragraph.count("\n")
        text = code(paragraph) if is_code else prose((label if not number else "") + paragraph)
        if text:
            yield Draft("code" if is_code else "paragraph", text, headings=path)


def _items(values: Sequence[object], path: tuple[str, ...], group: int) -> Iterator[Draft]:
    for value in values:
        if text := prose(_spelled(value)):
            yield Draft("item", text, headings=path, level=1, group=group)


def _columns(values: list[object]) -> tuple[str, ...] | None:
    """The keys of a list of like, flat objects, in order of first sight; None if it is something else."""
    if len(values) < 2:
        return None
    keys: dict[str, None] = {}
    n_members = 0
    for value in values:
        if not isinstance(value, _Object) or len({name for name, _ in value.members}) != len(value.members):
            return None
        for name, each in value.members:
            if isinstance(each, _Object | list) or (isinstance(each, str) and len(each) > _CELL_CHARS):
                return None
            keys.setdefault(name)
        n_members += len(value.members)
    is_like = 1 < len(keys) <= _MAX_COLUMNS and n_members * 2 > len(keys) * len(values)
    return tuple(keys) if is_like else None


def _rows(values: Sequence[object], columns: tuple[str, ...], path: tuple[str, ...], group: int) -> Iterator[Draft]:
    header = tuple(prose(name) for name in columns)
    yield Draft("row", "\t".join(header), headings=path, group=group)
    for value in values:
        assert isinstance(value, _Object)
        cells = dict(value.members)
        text = "\t".join(prose(_spelled(cells.get(name))) for name in columns).rstrip("\t")
        if text.strip():
            yield Draft("row", text, headings=path, header=header, group=group)


def _name_of(value: object) -> str:
    """What an object among others is called, if it says so itself."""
    if isinstance(value, _Object):
        members = {name.lower(): each for name, each in value.members}
        for name in _NAMES:
            if isinstance(found := members.get(name), str) and 0 < len(found) <= 200:
                return prose(found)
    return ""
