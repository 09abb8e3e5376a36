"""HTML to blocks: one Lexbor parse, one walk, one judgement of what is main content.

Nesting is bounded before parsing, because the parser's time grows with the product of depth and elements, inside C
where no time limit reaches.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from firsthand.values import Text
from firsthand.web.extract import charset
from firsthand.web.extract.controls import Controls
from firsthand.web.extract.drafts import Draft, assemble
from firsthand.web.extract.facts import Facts
from firsthand.web.extract.failure import unreadable
from firsthand.web.extract.judge import judge
from firsthand.web.extract.nesting import bounded
from firsthand.web.extract.settle import set_headings, settle
from firsthand.web.extract.sheets import Styles, style_sources
from firsthand.web.extract.walk import Walk

_SHELL_CHARS = 100  # guess: "Loading ..." and its like are shorter
_APP_ROOT = re.compile(
    r"""<(?:div|app-root|main)[^>]{0,200}\bid\s?=\s?["']?(?:root|app|__next|__nuxt|application|react-root|gatsby|svelte)\b|<app-root"""
)
# In XHTML these hold nothing; an HTML parser would take the rest of the page for their content.
_VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
_CLOSED_IN_XML = re.compile(rf"<(?!(?:{_VOID})\b)([a-z][a-z0-9:-]{{0,40}})\b([^<>]{{0,2000}})/>", re.IGNORECASE)
_ASKS_FOR_SCRIPT = re.compile(r"java\s?script", re.IGNORECASE)


def extract_html(payload: bytes, *, url: str, content_type: str | None = None) -> Text:
    """The text of an HTML page. Raises ExtractionFailed ``empty`` or ``needs_javascript`` when nothing can be read."""
    decoded = charset.decode(payload, content_type=content_type)
    source = decoded.text
    if source.lstrip()[:5] == "<?xml" or "xhtml" in (content_type or "").lower():
        source = _CLOSED_IN_XML.sub(r"<\1\2></\1>", source)
    walk = walked(source, url)
    seen = [draft for draft in walk.drafts if draft.visibility != "hidden"]
    n_hidden = len(walk.drafts) - len(seen)
    n_chars = sum(len(draft.text) for draft in seen)
    if n_chars < _SHELL_CHARS and walk.n_scripts and (not seen or _is_shell(source, walk)):
        raise unreadable("needs_javascript", "The page has no text until its scripts run.")
    if not seen:
        raise unreadable("no_text", "The page has no text that a reader would see.", n_hidden=n_hidden)
    judge(walk.drafts, walk.containers, walk.facts.title, source, url)
    set_headings(walk.drafts, walk.containers)
    assembled = assemble(walk.drafts)
    return Text(
        body=assembled.body,
        blocks=assembled.blocks,
        anchors=assembled.anchors,
        hidden=assembled.hidden,
        media_type="text/html",
        charset=decoded.chosen,
        declared_charset=decoded.declared,
        n_hidden=n_hidden,
        n_invisible=walk.n_invisible,
        **walk.facts.as_fields([(draft.kind, draft.text) for draft in seen]),
    )


def walked(source: str, url: str) -> Walk:
    """The blocks of a page, with who can see them and the headings above them."""
    source = bounded(source)
    parser = LexborHTMLParser(source)
    styles = Styles.of(style_sources(source))
    walk = Walk(Facts(url), styles=styles, controls=Controls(source))
    walk.run(parser.root)
    settle(walk.drafts)
    heading = next(
        (d.text for d in walk.drafts if d.kind == "heading" and d.level == 1 and d.visibility == "shown"), ""
    )
    walk.facts.heading = heading
    return walk


def read_fragment(source: str, url: str) -> tuple[list[Draft], tuple[str, ...]]:
    """The blocks and the links of a piece of HTML, such as the content of a feed's entry."""
    walk = walked(source, url)
    set_headings(walk.drafts, walk.containers)
    return [draft for draft in walk.drafts if draft.visibility != "hidden"], walk.facts.links


def _is_shell(source: str, walk: Walk) -> bool:
    asks = any(d.reason == "noscript" and _ASKS_FOR_SCRIPT.search(d.text) for d in walk.drafts)
    return asks or bool(_APP_ROOT.search(source))
