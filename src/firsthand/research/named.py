"""Pages that a question names by their address: read out of it, preferred, and quoted from the top if nothing else is asked.

An address is the caller's own text, byte for byte; its letters are no words of the question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from firsthand.evidence.sentences import sentences
from firsthand.ports import Candidate
from firsthand.research.decline import decline
from firsthand.research.grouping import groups_of
from firsthand.research.plan import Plan, question_language
from firsthand.research.quoting import QUOTE_MAX_CHARS, Cut
from firsthand.research.rank import NOT_FOUND, SCALE, Ranked
from firsthand.research.read import Evidence
from firsthand.values import Span, Text

MAX_ADDRESSES = 5
# What the ranking gives a passage of a site that the question names, over one of another site.
NAMED_LEAD = 1 / SCALE["site"][1]
BEGINNING_PASSAGES = 3  # of each page (guess)
BEGINNING_MIN_BYTES = 40  # shorter paragraphs at the top are dates, bylines and buttons (guess)
TITLE_MAX_CHARS = 200

_ADDRESS = re.compile(r"(?<![A-Za-z0-9+.\-])https?://[^\s<>\"“”„«»「」『』【】《》、。，；！？（）…]+", re.IGNORECASE)
_TRAILING = ".,;:!?'’*_`~|"
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_EMPTIED = re.compile(
    r"\(\s*\)|\[\s*\]|\{\s*\}|<\s*>|“\s*”|„\s*“|«\s*»|「\s*」|『\s*』|（\s*）|【\s*】|《\s*》|\"\s*\"|`\s*`|'\s*'"
)
# Words that ask for the page as a whole, in our languages. A question of these alone asks what the page is about.
_WHOLE = re.compile(
    r"\b(?:summar\w+|sum up|gist|tl;?dr|overview|outline|explain\w*|describe\w*|please|read|tells?|says?|said|contents?|"
    r"(?:web)?(?:page|site)s?|articles?|documents?|pdf|links?|url|address|topic|subject|main points?|key points?|"
    r"zusammen\w*|fass\w*|seite|webseite|artikel|dokument|inhalt|steht|sagt|bitte|worum|geht|"
    r"résum\w+|contenu|article|dit|résumé|resum\w+|contenido|página|artículo|dice|riassum\w+|parl\w+|pagina|contenuto|articolo|"
    r"conteúdo|artigo|diz|özet\w*|sayfa\w*|içerik|anlat\w*|кратко|резюм\w*|перескаж\w*|страниц\w+|стать\w+|содержани\w+|говорит\w*|чём|чем)\b"
    r"|总结|摘要|概括|一下|这个|这篇|网页|页面|文章|内容|要約|まとめ\w*|ページ|記事|内容|요약\S*|페이지|기사|내용|주세요|무엇\S*",
    re.IGNORECASE,
)


def addresses_of(question: str) -> tuple[str, tuple[str, ...]]:
    """*question* without its http(s) addresses, and the first five of them, each once, in order.

    What ends a sentence and closing brackets that nothing in the address opens are not part of it.
    """
    found: dict[str, None] = {}
    rest, at = "", 0
    for match in _ADDRESS.finditer(question):
        address = _trimmed(match[0])
        if not address.partition("://")[2]:
            continue
        found[address] = None
        rest += question[at : match.start()] + " "
        at = match.start() + len(address)
    if not found:
        return question, ()
    rest = " ".join(_EMPTIED.sub(" ", rest + question[at:]).split())
    return re.sub(r" (?=[?!.,;:]+(?:\s|$))", "", rest), tuple(found)[:MAX_ADDRESSES]


def _trimmed(address: str) -> str:
    while address:
        last = address[-1]
        opened = _BRACKETS.get(last)
        if last not in _TRAILING and (opened is None or address.count(last) <= address.count(opened)):
            break
        address = address[:-1]
    return address


def asks_for_whole_page(rest: str) -> bool:
    """Whether *rest*, what a question says beside its addresses, has no subject of its own."""
    rest = _WHOLE.sub(" ", rest)
    return not any(group.position >= 0 for group in groups_of(rest, question_language(rest), ()))


def spelled(url: str) -> str:
    """*url* as kept pages are named: host in lower case, no usual port, no fragment. What cannot be read stays as it is."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    host = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    at = host if port in (None, usual) else f"{host}:{port}"
    return f"{parts.scheme}://{at}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")


def without_sites(plan: Plan) -> Plan:
    """*plan* for a question whose addresses say which pages are meant: a site's name in it is a word like any other."""
    return replace(plan, sites=(), parts=tuple(replace(part, sites=()) for part in plan.parts))


def lead(plan: Plan, ranked: Sequence[Ranked], text_ids: Collection[int]) -> list[Ranked] | None:
    """*ranked* with the pages of *text_ids* preferred, and the best of their passages first; None if none of them answers."""
    own = [each for each in ranked if each.candidate.page.text_id in text_ids]
    if not own or decline(plan, own) is not None:
        return None
    ids = {each.candidate.passage_id for each in own[1:]}
    lifted = [_lifted(each) if each.candidate.passage_id in ids else each for each in ranked if each is not own[0]]
    return [_lifted(own[0]), *sorted(lifted, key=lambda each: -each.score)]


def _lifted(ranked: Ranked) -> Ranked:
    parts = tuple(score + NAMED_LEAD if score > NOT_FOUND else score for score in ranked.parts)
    return replace(ranked, score=ranked.score + NAMED_LEAD, parts=parts)


def beginning(text: Text, passages: Sequence[Candidate], limit: int) -> list[Evidence]:
    """The first main paragraphs of a page, the first under the page's heading; at most *limit* claims."""
    prose = [each for each in passages if each.passage.kind == "paragraph"]
    whole = [
        each for each in prose if not each.body.rstrip().endswith((":", "："))
    ]  # what it announces is no paragraph
    told = [each for each in whole if len(each.body.encode()) >= BEGINNING_MIN_BYTES] or prose or list(passages)
    made: list[Evidence] = []
    for each in told[: min(limit, BEGINNING_PASSAGES)]:
        title = _heading_of(text, each) if not made else ()
        quotes = (*title, Cut(each.page.text_id, *_first_sentences(each)))
        made.append(Evidence(each.page, each.passage, quotes, 0.0, ("named",)))
    return made


def _first_sentences(candidate: Candidate) -> tuple[Span, str]:
    """As many whole sentences from the start of the passage as a quote may hold; one at least."""
    end = 0
    for span in sentences(candidate.body, Span(0, len(candidate.body)), candidate.page.language):
        if end and span.end > QUOTE_MAX_CHARS:
            break
        end = span.end
    end = end or len(candidate.body)
    start = candidate.passage.span.start
    return Span(start, start + end), candidate.body[:end]


def _heading_of(text: Text, first: Candidate) -> tuple[Cut, ...]:
    """The page's first main heading, if it stands above *first*."""
    for block in text.blocks:
        if block.span.start >= first.passage.span.start:
            break
        if block.kind == "heading" and block.main and 0 < block.span.end - block.span.start <= TITLE_MAX_CHARS:
            return (Cut(first.page.text_id, block.span, text.body[block.span.start : block.span.end]),)
    return ()
