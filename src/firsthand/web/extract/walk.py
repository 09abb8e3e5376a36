"""One pass over a page's tree: blocks of text with what stands around each, in document order.

A block is a maximal run of inline content inside one block-level element. Its words are a contiguous piece of what
any reader of the source would read there: an inline element's border adds no space, a block's border and ``<br>`` do,
and where something between two words is left out (hidden text, a permalink sign) the block ends before it and another
begins after it. So a quote of a block can be checked by a program that knows nothing of this one.

Every block-level element is a container: a half-open range of block numbers, with the containers around it. The
judgement reads a page from these ranges. The walk does not recurse and uses no selectors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from selectolax.lexbor import LexborNode

from firsthand.web.extract.controls import Controls
from firsthand.web.extract.drafts import Draft, Hiding
from firsthand.web.extract.elements import (
    ACTIONS,
    BLOCK,
    BREAK,
    CODE_TAGS,
    COMMENT,
    FLAGS,
    HEADING_LEVELS,
    INLINE,
    LINK,
    LISTS,
    NOSCRIPT,
    NOT_TEXT,
    ROLES,
    TEMPLATE,
    TEXT,
    TIME,
    UNSEEN,
    Context,
    class_words,
    has_words,
    is_mark,
    text_of,
)
from firsthand.web.extract.facts import Facts, mark_of
from firsthand.web.extract.seen import JUDGED_TAGS, OPENABLE, hides, is_for_screen_readers, opens
from firsthand.web.extract.sheets import Styles
from firsthand.web.extract.tables import MAX_COLUMNS, MAX_ROWS_SPANNED, Cell, Row, Table, span_of, table_of
from firsthand.web.extract.words import code, is_reversed, n_invisible, prose

Names = tuple[str | None, str | None, str | None] | None
NO_LINK = -1
ELSEWHERE = -2  # a link whose address is not kept: mail, a fragment, one too many
JUDGED = frozenset({"style", "hidden", "aria-hidden", "popover"})
_TELLING = JUDGED | {"itemprop", "rel"}
_JUDGED_TAGS = JUDGED_TAGS | {"summary"}
_UNSHOWN_CHARS, _MAX_UNSHOWN = 2000, 50  # guess: longer or more comments and templates are for scripts
_TAGS = re.compile(r"<[^>]{0,2000}>")
_WORDS = re.compile(r"\w\s+\w")  # one word alone says nothing


class Container:
    """A block-level element: the blocks from ``start`` up to ``end``."""

    __slots__ = ("_words", "end", "flags", "names", "parent", "start", "tag")

    def __init__(self, tag: str, names: Names, parent: int, flags: int, start: int) -> None:
        self.tag = tag
        self.names = names  # what its class, id and itemprop say
        self.parent = parent
        self.flags = flags  # elements.FLAGS of it and of all around it
        self.start = start
        self.end = start
        self._words: tuple[str, ...] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its class, id and itemprop."""
        if self._words is None:
            self._words = class_words(self.names) if self.names is not None else ()
        return self._words


class Walk:
    """What the pass found. Use once."""

    def __init__(
        self,
        facts: Facts,
        *,
        styles: Styles | None = None,
        controls: Controls | None = None,
    ) -> None:
        self.facts = facts
        self.drafts: list[Draft] = []
        self.containers: list[Container] = [Container("", None, 0, 0, 0)]
        self.n_scripts = 0
        self.n_invisible = 0
        self._styles = styles
        self._controls = controls or Controls("")
        self._run: list[str] = []
        self._run_context = Context()
        self._run_container = 0
        self._run_link = NO_LINK
        self._run_links: list[tuple[int, int]] = []  # (place in the run, link that begins there or -1)
        self._row: Row | None = None
        self._row_hiding: Hiding | None = None
        self._row_container = 0
        self._row_links: list[tuple[str, list[tuple[int, int, int]]]] = []
        self._cut_cell: Cell | None = None  # the cell in which the row was cut, until the next one begins
        self._ordinal: int | None = None
        self._n_groups = 0
        self._n_unshown = 0
        self._is_after_gap = False

    def run(self, root: LexborNode | None) -> None:
        """Walk everything under *root*."""
        stack: list[tuple[LexborNode, Context | None, int, int]] = []
        action_of, run, drafts, containers = ACTIONS.get, self._run, self.drafts, self.containers
        has_styles = self._styles is not None
        context, container, link = Context(), 0, NO_LINK
        node = root
        while True:
            if node is None:
                if not stack:
                    break
                node, outer, outer_container, outer_link = stack.pop()
                if outer is not None:
                    if container != outer_container:
                        if run:
                            self._flush()
                        left = containers[container]
                        if left.tag == "tr":
                            self._leave_row(context)
                        left.end = len(drafts)
                        container = outer_container
                    context, link = outer, outer_link
                node = node.next if stack or node is not root else None
                continue
            tag = node.tag or ""
            act = action_of(tag, INLINE)
            if act == INLINE:
                attributes = node.attributes
                if (attributes and (has_styles or _tells(attributes))) or tag in _JUDGED_TAGS:
                    stack.append((node, context, container, link))
                    context = self._told(node, tag, attributes, context)
                else:
                    stack.append((node, None, 0, 0))
                node = node.first_child
                continue
            if act == TEXT:
                data = node.text_content or ""
                if run and context.hiding is not self._run_context.hiding and not data.isspace():
                    self._flush()
                if run or context.is_code or not data.isspace():
                    if not run:
                        self._run_context, self._run_container = context, container
                    if link != self._run_link:
                        self._run_links.append((len(run), link))
                        self._run_link = link
                    run.append(data)
            elif act <= BLOCK:
                attributes = node.attributes
                if run:
                    self._flush()
                inner = context
                if (attributes and (has_styles or _tells(attributes))) or tag in _JUDGED_TAGS:
                    inner = self._told(node, tag, attributes, context)
                if act == BLOCK:
                    inner = self._enter_block(node, attributes, inner)
                elif attributes and tag == "html":
                    self.facts.language = attributes.get("lang") or attributes.get("xml:lang")
                stack.append((node, context, container, link))
                container = self._open(tag, attributes, container)
                context = inner
                node = node.first_child
                continue
            elif act == LINK:
                attributes = node.attributes
                href = attributes.get("href")
                stack.append((node, context, container, link))
                if href is not None:
                    if self._row is None and is_mark(node, href, attributes):
                        self._flush()
                        self._is_after_gap = True
                        node = stack.pop()[0].next
                        continue
                    number = self.facts.add_link(href)
                    link = ELSEWHERE if number is None else number
                context = self._told(node, tag, attributes, context)
                node = node.first_child
                continue
            elif act == BREAK:
                if run:
                    run.append("\n")
            else:
                inner_context = self._enter_other(node, act, context, container)
                if inner_context is not None:
                    stack.append((node, context, container, link))
                    context = inner_context
                    node = node.first_child
                    continue
            node = node.next
        self._flush()
        self.containers[0].end = len(self.drafts)

    def _open(self, tag: str, attributes: Mapping[str, str | None], parent: int) -> int:
        """Begin a container."""
        flags = self.containers[parent].flags | FLAGS.get(tag, 0)
        names: Names = None
        if attributes and tag != "body" and tag != "html":  # theirs say what sort of page it is, not what a block is
            names = (attributes.get("class"), attributes.get("id"), attributes.get("itemprop"))
            if "role" in attributes:
                flags |= ROLES.get(attributes["role"] or "", 0)
        self.containers.append(Container(tag, names, parent, flags, len(self.drafts)))
        return len(self.containers) - 1

    def _leave_row(self, context: Context) -> None:
        if context.table is not None and self._row is not None:
            self._end_row(context.table, is_last_piece=True)
            self._row = None

    def _told(self, node: LexborNode, tag: str, attributes: Mapping[str, str | None], context: Context) -> Context:
        """Note what an element marks as author or date; *context*, with what hides the words inside if it does."""
        around = context.hiding
        if tag == "summary":
            # What opens a closed element is seen.
            return context.hidden_by(around.around) if around is not None and around.reason == "details" else context
        if (
            self._styles is not None
            or tag in _JUDGED_TAGS
            or not JUDGED.isdisjoint(attributes)
            or is_for_screen_readers(attributes.get("class") or "")
        ):
            reason = hides(tag, attributes, self._styles)
            if reason:
                can_open = opens(tag, attributes, self._controls, self._styles) if reason in OPENABLE else ""
                return context.hidden_by(Hiding(reason, can_open, around))
            if tag == "details" and opens(tag, attributes, self._controls):
                return context.hidden_by(Hiding("details", "details", around))
        if around is None:
            mark = mark_of(attributes)
            if mark and self.facts.wants_marks:
                self.facts.add_marked(mark, attributes.get("content") or text_of(node, limit=200))
        return context

    def _enter_other(self, node: LexborNode, act: int, context: Context, container: int) -> Context | None:
        """The context inside an element that is neither text, block, link nor plain; None: nothing inside is read."""
        if act == UNSEEN:
            if node.tag == "head":
                return context
            self._note(node)
        elif act == NOSCRIPT:
            return context.hidden_by(Hiding("noscript", "", context.hiding))
        elif act == TIME:
            attributes = node.attributes
            self.facts.add_time(attributes)
            return self._told(node, "time", attributes, context)
        elif act == NOT_TEXT:
            if has_words(node):
                self._flush()
                self._is_after_gap = True
                self._cut_row(context)
        elif act in (COMMENT, TEMPLATE) and self._n_unshown < _MAX_UNSHOWN:
            self._keep_unshown(node, act, context, container)
        return None

    def _note(self, node: LexborNode) -> None:
        tag = node.tag
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

    def _keep_unshown(self, node: LexborNode, act: int, context: Context, container: int) -> None:
        """Keep the words of a comment or a template as hidden ones."""
        raw = node.comment_content if act == COMMENT else _TAGS.sub(" ", node.html or "")[:_UNSHOWN_CHARS]
        if raw is None or (act == COMMENT and (raw.startswith("[if") or "<" in raw)) or not _WORDS.search(raw):
            return
        self._n_unshown += 1
        hiding = Hiding("comment" if act == COMMENT else "template", "", context.hiding)
        self.drafts.append(Draft("paragraph", prose(raw[:_UNSHOWN_CHARS]), container=container, hiding=hiding))

    def _enter_block(self, node: LexborNode, attributes: Mapping[str, str | None], context: Context) -> Context:
        """The context inside an element that gives its blocks a kind."""
        tag = node.tag or ""
        if tag in HEADING_LEVELS:
            return context.but("heading", level=HEADING_LEVELS[tag])
        if tag == "li":
            self._ordinal = _next_ordinal(context.numbering, attributes)
            return context.but("item", level=max(context.depth, 1), group=context.group or self._new_group())
        if tag in LISTS:
            group = context.group if context.depth and context.kind == "item" else self._new_group()
            numbering = [_number(attributes.get("start"), 1) - 1] if tag == "ol" else None
            return context.but("paragraph", depth=context.depth + 1, group=group, numbering=numbering)
        if tag == "dl":
            return context.but("paragraph", group=self._new_group())
        if tag in ("dt", "dd"):
            return context.but("term" if tag == "dt" else "definition", depth=0)
        if tag in CODE_TAGS:
            return context.but("code", is_code=True)
        if tag == "blockquote":
            return context.but("quote")
        if tag in ("figcaption", "caption"):
            return context.but("caption")
        if tag == "table":
            table = None if self._row is not None else table_of(node, attributes, self._n_groups + 1)
            return context.in_table(table, context.group if table is None else self._new_group())
        if context.table is not None:
            self._enter_row_part(node, tag, attributes, context)
        return context

    def _enter_row_part(
        self, node: LexborNode, tag: str, attributes: Mapping[str, str | None], context: Context
    ) -> None:
        if tag == "tr":
            parent = node.parent
            self._row = Row(in_head=parent is not None and parent.tag == "thead")
            self._row_hiding = context.hiding
            self._row_container = len(self.containers)  # the row's own, which is opened next
            self._row_links.clear()
            self._cut_cell = None
        elif tag in ("td", "th") and self._row is not None:
            colspan = span_of(attributes.get("colspan"), MAX_COLUMNS)
            rowspan = span_of(attributes.get("rowspan"), MAX_ROWS_SPANNED)
            self._row.cells.append(Cell(tag == "th", colspan, rowspan))
            self._cut_cell = None

    def _flush(self) -> None:
        """End the run of inline content and make a block of it."""
        run, context = self._run, self._run_context
        if not run:
            return
        raw = "".join(run)
        self.n_invisible += n_invisible(raw)
        if not raw.isascii() and is_reversed(raw):
            context = context.hidden_by(Hiding("reversed", "", context.hiding))
        is_code = context.is_code and self._row is None
        text = code(raw) if is_code else prose(raw)
        changes = self._run_links
        if not changes:
            anchors = []
        elif len(changes) == 1 and changes[0][0] == 0:  # all of it is one link
            anchors = [(0, len(text), changes[0][1])]
        else:
            anchors = _linked(text, run, changes, is_code=is_code)
        changes.clear()
        self._run_link = NO_LINK
        run.clear()
        if not text:
            return
        if self._row is not None:
            if context.hiding is self._row_hiding:
                self._add_to_cell(text, anchors)
                return
            self._cut_row(context)
        self._add(text, context, anchors)

    def _add(self, text: str, context: Context, anchors: list[tuple[int, int, int]]) -> None:
        kind = context.kind
        if kind == "caption" and context.table is not None and context.hiding is None:
            context.table.caption = f"{context.table.caption} {text}".strip()
        draft = Draft(
            kind,
            text,
            level=context.level,
            group=context.group,
            link_share=_link_share(anchors, text),
            is_after_gap=self._is_after_gap,
            anchors=anchors,
            container=self._run_container,
            hiding=context.hiding,
        )
        if kind == "item":
            draft.ordinal, self._ordinal = self._ordinal, None
        self._is_after_gap = False
        self.drafts.append(draft)

    def _add_to_cell(self, text: str, anchors: list[tuple[int, int, int]]) -> None:
        assert self._row is not None
        if not self._row.cells:
            if self._cut_cell is None:
                return
            last = self._cut_cell  # the cell goes on after the cut, in the same column
            self._row.column = max(0, self._row.column - last.colspan)
            self._row.cells = [Cell(last.is_header, last.colspan, last.rowspan)]
        self._row.cells[-1].parts.append(text)
        if anchors:
            self._row_links.append((text, anchors))

    def _cut_row(self, context: Context) -> None:
        """End the row's block where words of it are left out, so that no block has a gap."""
        row = self._row
        if row is None or context.table is None or not row.cells:
            return
        self._cut_cell = row.cells[-1]
        self._end_row(context.table, is_last_piece=False)
        row.is_piece = True

    def _end_row(self, table: Table, *, is_last_piece: bool) -> None:
        """Make a block of the row's cells read so far."""
        assert self._row is not None
        line = table.line(self._row, is_last_piece=is_last_piece)
        links = self._row_links.copy()
        self._row_links.clear()
        if line is None:
            return
        anchors = _placed(line.text, links)
        draft = Draft(
            "row",
            line.text,
            header=line.header,
            caption=table.caption,
            group=table.group,
            link_share=_link_share(anchors, line.text),
            is_after_gap=self._is_after_gap,
            anchors=anchors,
            container=self._row_container,
            hiding=self._row_hiding,
            row_heads=line.row_heads,
        )
        self._is_after_gap = False
        self.drafts.append(draft)

    def _new_group(self) -> int:
        self._n_groups += 1
        return self._n_groups


def _tells(attributes: Mapping[str, str | None]) -> bool:
    """Whether an element may hide its words or mark them as author or date; a fast look, for every element."""
    if not _TELLING.isdisjoint(attributes):
        return True
    names = attributes.get("class")
    return names is not None and _class_tells(names)


@lru_cache(maxsize=8192)
def _class_tells(names: str) -> bool:
    return is_for_screen_readers(names) or mark_of({"class": names}) is not None


def _linked(text: str, run: list[str], changes: list[tuple[int, int]], *, is_code: bool) -> list[tuple[int, int, int]]:
    """The linked spans of a run's text. *changes* says at which piece which link begins; -1: none."""
    anchors: list[tuple[int, int, int]] = []
    at = 0  # a link's words are looked for in order, from here
    for (first, link), (last, _) in pairwise([*changes, (len(run), -1)]):
        raw = run[first] if last - first == 1 else "".join(run[first:last])
        words = code(raw).strip() if is_code else prose(raw)
        start = text.find(words, at) if words else -1
        if start < 0:
            continue
        at = start + len(words)
        if link != NO_LINK:
            anchors.append((start, at, link))
    return anchors


def _link_share(anchors: list[tuple[int, int, int]], text: str) -> float:
    linked = 0
    for start, end, _ in anchors:
        linked += end - start
    return round(min(1.0, linked / len(text)), 3) if linked else 0.0


def _placed(text: str, linked: list[tuple[str, list[tuple[int, int, int]]]]) -> list[tuple[int, int, int]]:
    """The linked spans of a row's parts, in the row's text."""
    anchors: list[tuple[int, int, int]] = []
    at = 0
    for part, spans in linked:
        start = text.find(part, at)
        if start < 0:
            continue
        anchors += [(start + first, start + last, link) for first, last, link in spans]
        at = start + len(part)
    return anchors


def _next_ordinal(numbering: list[int] | None, attributes: Mapping[str, str | None]) -> int | None:
    if numbering is None:
        return None
    numbering[0] = _number(attributes.get("value"), numbering[0] + 1)
    return numbering[0]


def _number(value: str | None, otherwise: int) -> int:
    digits = (value or "").strip()[:7]
    return int(digits) if digits.isascii() and digits.isdigit() else otherwise
