"""What the index will hold of one text, made without a database: a worker process that reads pages needs no more.

Apart from ``evidence.index`` because that imports the database, which costs a process 0.4 s and 30 MB.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from firsthand.evidence.passages import passages
from firsthand.evidence.terms import index_terms, language_of
from firsthand.values import Passage, Text


@dataclass(frozen=True, slots=True)
class Entry:
    """The index rows of one text, before they have numbers."""

    language: str | None
    title: str
    rows: list[dict[str, object]]


def prepare(text: Text) -> Entry:
    """What the index will hold of *text*: the costly part of indexing, without a database, for a worker process.

    Cost: about 4 ms for a page of 10,000 characters.
    """
    language = language_of(text.body, text.language)
    title = " ".join(index_terms(text.title, language))
    return Entry(language, title, [_row(text, each, language) for each in passages(text)])


def _row(text: Text, each: Passage, language: str | None) -> dict[str, object]:
    context = " ".join((*each.header, each.caption, each.lead))
    return {
        "seq": each.seq,
        "start": each.span.start,
        "end": each.span.end,
        "kind": each.kind,
        "headings": json.dumps(each.headings, ensure_ascii=False),
        "header": json.dumps(each.header, ensure_ascii=False) if each.header else None,
        "caption": each.caption,
        "group_no": each.group,
        "lead": each.lead,
        "heading_terms": " ".join(index_terms(" \n ".join(each.headings), language)),
        "body_terms": " ".join(index_terms(text.body[each.span.start : each.span.end], language)),
        "context_terms": " ".join(index_terms(context, language)),
        "is_main": each.main,
    }
