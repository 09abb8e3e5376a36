"""HTML to blocks: one Lexbor parse, one walk with a stack of our own.

A block is a maximal run of inline content inside one block-level element. Its words are a contiguous piece of what
any reader of the source would read there: an inline element's border adds no space, a block's border and ``<br>`` do,
and where something between two words is left out (hidden text, a permalink sign) the block ends before it and another
begins after it. So a quote of a block can be checked by a program that knows nothing of this one.

The walk does not recurse and uses no selectors; nesting is bounded before parsing, because the parser's time grows
with the product of depth and elements, inside C where no time limit reaches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from firsthand.values import Text
from firsthand.web.extract import charset
from firsthand.web.extract.drafts import Draft, assemble, code, prose
from firsthand.web.extract.elements import (
    BLOCK,
    CODE_TAGS,
    HEADING_LEVELS,
    NOT_TEXT,
    PLAIN_INLINE,
    UNSEEN,
    Context,
    has_words,
    is_mark,
    text_of,
    zoned,
)
from firsthand.web.extract.facts import Facts, mark_of
from firsthand.web.extract.failure import unreadable
from firsthand.web.extract.main import judge
from firsthand.web.extract.nesting import bounded
from firsthand.web.extract.seen import is_hidden
from firsthand.web.extract.tables import MAX_COLUMNS, MAX_ROWS_SPANNED, Cell, Row, Table, is_data_table, span_of

# What is_hidden looks at cannot be in a page without one of these.
_MAY_HIDE = re.compile(r"""hidden|[\s"'/]style\s*=""", re.IGNORECASE)
_NEARLY_NONE_CHARS = 60  # guess: a page with less text than this may have all of it in noscript
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
    source = bounded(source)
    parser = LexborHTMLParser(source)
    walk = _Walk(url, may_hide=_MAY_HIDE.search(source) is not None)
    walk.run(parser.root)
    if walk.n_chars < _NEARLY_NONE_CHARS and walk.noscript_text:
        walk = _with_noscript(parser, url, walk)
    drafts = walk.drafts
    if walk.n_chars < _SHELL_CHARS and walk.n_scripts and (not drafts or _is_shell(source, walk)):
        raise unreadable("needs_javascript", "The page has no text until its scripts run.")
    if not drafts:
        raise unreadable("no_text", "The page has no text that a reader would see.", n_hidden=walk.n_hidden)
    judge(drafts)
    body, blocks = assemble(drafts)
    return Text(
        body=body,
        blocks=blocks,
        media_type="text/html",
        charset=decoded.chosen,
        declared_charset=decoded.declared,
        n_hidden=walk.n_hidden,
        **walk.facts.as_fields([(draft.kind, draft.text) for draft in drafts]),
    )


def read_fragment(source: str, url: str) -> tuple[list[Draft], tuple[str, ...]]:
    """The blocks and the links of a piece of HTML, such as the content of a feed's entry."""
    walk = _Walk(url)
    walk.run(LexborHTMLParser(bounded(source)).root)
    return walk.drafts, walk.facts.links


def _with_noscript(parser: LexborHTMLParser, url: str, walk: _Walk) -> _Walk:
    """The walk with ``noscript`` read as text, if that is where the page's words are and not a plea for scripts."""
    if len(walk.noscript_text) < 300 and _ASKS_FOR_SCRIPT.search(walk.noscript_text):
        return walk
    again = _Walk(url, reads_noscript=True)
    again.run(parser.root)
    return again if again.n_chars > walk.n_chars else walk


def _is_shell(source: str, walk: _Walk) -> bool:
    return bool(_APP_ROOT.search(source) or _ASKS_FOR_SCRIPT.search(walk.noscript_text))


class _Walk:
    """One pass over a tree, in document order."""

    def __init__(self, url: str, *, may_hide: bool = True, reads_noscript: bool = False) -> None:
        self._may_hide = may_hide
        self.facts = Facts(url)
        self.drafts: list[Draft] = []
        self.n_hidden = 0
        self.n_chars = 0
        self.n_scripts = 0
        self.noscript_text = ""
        self._reads_noscript = reads_noscript
        self._run: list[str] = []
        self._run_context = Context()
        self._run_link_chars = 0
        self._path: list[tuple[int, str]] = []
        self._headings: tuple[str, ...] = ()
        self._row: Row | None = None
        self._n_groups = 0
        self._is_after_gap = False

    def run(self, root: LexborNode | None) -> None:
        """Walk everything under *root*."""
        stack: list[tuple[LexborNode, str, Context]] = []
        inline = frozenset() if self._may_hide else PLAIN_INLINE
        context = Context()
        node = root
        while True:
            if node is None:
                if not stack:
                    break
                node, tag, outer = stack.pop()
                if tag in BLOCK:
                    self._leave(tag, context)
                context = outer
                node = None if not stack and node is root else node.next
                continue
            tag = node.tag or ""
            if tag == "-text":
                self._read(node.text_content or "", context)
            elif tag in inline:  # no context of its own, and nothing to look up: half of a page's elements
                if tag == "span":
                    self._mark(node, node.attributes)
                stack.append((node, tag, context))
                node = node.first_child
                continue
            elif tag[:1] != "-":
                inner = self._enter(node, tag, context)
                if inner is not None:
                    stack.append((node, tag, context))
                    context = inner
                    node = node.first_child
                    continue
            node = node.next
        self._flush()

    def _read(self, data: str, context: Context) -> None:
        if not self._run:
            if data.isspace() and not context.is_code:
                return
            self._run_context = context
        self._run.append(data)
        if context.is_link:
            self._run_link_chars += len(data.strip())

    def _enter(self, node: LexborNode, tag: str, context: Context) -> Context | None:
        """The context inside *node*, or None when nothing inside is read."""
        if tag == "br":
            self._read("\n", context)
            return None
        if tag in UNSEEN:
            return self._enter_unseen(node, tag, context)
        attributes = node.attributes
        if (
            attributes
            and ("hidden" in attributes or "aria-hidden" in attributes or "style" in attributes)
            and is_hidden(attributes)
        ):
            self._leave_out(node, tag, context, is_hidden=tag != "svg")
            return None
        if tag in NOT_TEXT:
            self._leave_out(node, tag, context, is_hidden=False)
            return None
        if tag == "noscript" and not self._reads_noscript:
            self._skip_noscript(node, context)
            return None
        if attributes:
            self._mark(node, attributes)
        if tag == "a":
            return self._enter_link(node, attributes, context)
        if tag not in BLOCK:
            if tag == "time":
                self.facts.add_time(attributes)
            return context
        self._flush()
        context = zoned(tag, attributes, context)
        if tag in ("div", "section", "p", "body", "tbody", "thead", "tfoot"):
            return context
        return self._enter_block(node, tag, attributes, context)

    def _mark(self, node: LexborNode, attributes: Mapping[str, str | None]) -> None:
        mark = mark_of(attributes)
        if mark and self.facts.wants_marks:
            self.facts.add_marked(mark, attributes.get("content") or text_of(node, limit=200))

    def _enter_unseen(self, node: LexborNode, tag: str, context: Context) -> Context | None:
        if tag == "head":
            return context
        if tag == "title":
            if not self.facts.title:
                self.facts.title = prose(text_of(node))
        elif tag == "script":
            self.n_scripts += 1
            if "ld+json" in (node.attributes.get("type") or ""):
                self.facts.add_linked_data(text_of(node))
        elif tag == "meta":
            self.facts.add_meta(node.attributes)
        elif tag == "link":
            self.facts.add_link_element(node.attributes)
        elif tag == "base":
            self.facts.set_base(node.attributes.get("href") or "")
        return None

    def _enter_link(self, node: LexborNode, attributes: Mapping[str, str | None], context: Context) -> Context | None:
        href = attributes.get("href")
        if href is None:
            return context
        if self._row is None and is_mark(node, href, attributes):
            self._flush()
            self._is_after_gap = True
            return None
        self.facts.add_link(href)
        return context.in_link()

    def _enter_block(
        self, node: LexborNode, tag: str, attributes: Mapping[str, str | None], context: Context
    ) -> Context:
        if tag in HEADING_LEVELS:
            return context.but("heading", level=HEADING_LEVELS[tag])
        if tag == "li":
            return context.but("item", level=max(context.depth, 1), group=context.group or self._new_group())
        if tag in ("ul", "ol", "menu", "dir"):
            group = context.group if context.depth and context.kind == "item" else self._new_group()
            return context.but("paragraph", depth=context.depth + 1, group=group)
        if tag == "dl":
            return context.but("paragraph", group=self._new_group())
        if tag in ("dt", "dd"):
            return context.but("term" if tag == "dt" else "definition", depth=0)
        if tag in CODE_TAGS:
            return replace(context, kind="code", is_code=True, level=0, linked=None)
        if tag == "blockquote":
            return context.but("quote")
        if tag in ("figcaption", "caption"):
            return context.but("caption")
        if tag in ("main", "article"):
            return replace(context, in_article=True, linked=None)
        if tag == "html":
            self.facts.language = attributes.get("lang") or attributes.get("xml:lang")
        elif tag == "table":
            return self._enter_table(node, attributes, context)
        elif context.table is not None:
            self._enter_row_part(node, tag, attributes)
        return context

    def _enter_table(self, node: LexborNode, attributes: Mapping[str, str | None], context: Context) -> Context:
        if self._row is not None or not is_data_table(node, attributes):
            return replace(context, table=None, linked=None)
        group = self._new_group()
        return replace(context, table=Table(group), group=group, level=0, kind="paragraph", linked=None)

    def _enter_row_part(self, node: LexborNode, tag: str, attributes: Mapping[str, str | None]) -> None:
        if tag == "tr":
            parent = node.parent
            self._row = Row(in_head=parent is not None and parent.tag == "thead")
        elif tag in ("td", "th") and self._row is not None:
            colspan = span_of(attributes.get("colspan"), MAX_COLUMNS)
            rowspan = span_of(attributes.get("rowspan"), MAX_ROWS_SPANNED)
            self._row.cells.append(Cell(tag == "th", colspan, rowspan))

    def _leave(self, tag: str, context: Context) -> None:
        self._flush()
        if tag == "tr" and context.table is not None and self._row is not None:
            self._end_row(context, is_last_piece=True)
            self._row = None

    def _flush(self) -> None:
        """End the run of inline content and make a block of it."""
        if not self._run:
            return
        raw = "".join(self._run)
        self._run.clear()
        link_chars, self._run_link_chars = self._run_link_chars, 0
        context = self._run_context
        text = code(raw) if context.is_code and self._row is None else prose(raw)
        if not text:
            return
        if self._row is not None:
            if self._row.cells:
                self._row.cells[-1].parts.append(text)
                self._row.cells[-1].link_chars += link_chars
            return
        self._add(text, context, link_chars)

    def _add(self, text: str, context: Context, link_chars: float) -> None:
        self.n_chars += len(text)
        if context.kind == "heading" and not context.zone:
            self._path = [(level, title) for level, title in self._path if level < context.level]
            self._headings = tuple(title for _, title in self._path)
            if context.level == 1 and not self.facts.heading:
                self.facts.heading = text
        if context.kind == "caption" and context.table is not None:
            context.table.caption = f"{context.table.caption} {text}".strip()
        self._place(
            Draft(
                kind=context.kind,
                text=text,
                headings=self._headings,
                level=context.level,
                group=context.group,
                link_share=min(1.0, link_chars / len(text)),
                zone=context.zone,
            )
        )
        if context.kind == "heading" and not context.zone:
            self._path.append((context.level, text))
            self._headings = tuple(title for _, title in self._path)

    def _end_row(self, context: Context, *, is_last_piece: bool) -> None:
        """Make a block of the row's cells read so far."""
        table, row = context.table, self._row
        assert table is not None and row is not None
        first = row.column
        texts, spread, row.column = table.place(row, is_last_piece=is_last_piece)
        cells, row.cells = row.cells, []
        text = "\t".join(texts).rstrip("\t")
        if not text.strip():
            return
        self.n_chars += len(text)
        is_header = (
            bool(cells)
            and (row.in_head or all(cell.is_header for cell in cells))
            and not row.is_piece
            and is_last_piece
        )
        if is_header and table.n_rows == 0:
            table.add_header(spread)
            header: tuple[str, ...] = ()
        else:
            table.n_rows += 1
            header = table.header[first : first + len(texts)]
        self._place(
            Draft(
                kind="row",
                text=text,
                headings=self._headings,
                header=header,
                caption=table.caption,
                group=table.group,
                link_share=min(1.0, sum(cell.link_chars for cell in cells) / len(text)),
                zone=context.zone,
            )
        )

    def _place(self, draft: Draft) -> None:
        draft.is_after_gap, self._is_after_gap = self._is_after_gap, False
        self.drafts.append(draft)

    def _leave_out(self, node: LexborNode, tag: str, context: Context, *, is_hidden: bool) -> None:
        """Pass over an element. If it has words, the block before it ends here, so that no block has a gap."""
        if not has_words(node):
            if tag in BLOCK:
                self._flush()
            return
        if is_hidden:
            self.n_hidden += 1
        self._split(tag, context)

    def _split(self, tag: str, context: Context) -> None:
        self._flush()
        self._is_after_gap = True
        if self._row is None:
            return
        if context.table is None or not self._row.cells:
            self._row.column += tag in ("td", "th")
            return
        last = self._row.cells[-1]
        self._end_row(context, is_last_piece=False)
        self._row.is_piece = True
        if tag in ("td", "th"):
            self._row.column += 1
        else:  # the cell goes on after the gap, in the same column
            self._row.column = max(0, self._row.column - last.colspan)
            self._row.cells = [Cell(last.is_header, last.colspan, last.rowspan)]

    def _skip_noscript(self, node: LexborNode, context: Context) -> None:
        text = prose(text_of(node))
        if text:
            self.n_hidden += 1
            self.noscript_text = f"{self.noscript_text} {text}"[:2000]
            self._split("noscript", context)
        else:
            self._flush()

    def _new_group(self) -> int:
        self._n_groups += 1
        return self._n_groups
