"""What elements mean to the walk: which begin a block, which are not text, and what is known around a place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from selectolax.lexbor import LexborNode

from firsthand.values import BlockKind
from firsthand.web.extract.drafts import Hiding
from firsthand.web.extract.tables import Table
from firsthand.web.extract.words import prose

# What the walk does at an element.
INLINE, TEXT, PLAIN_BLOCK, BLOCK, LINK, BREAK, UNSEEN, NOT_TEXT, NOSCRIPT, TIME, SKIP, TEMPLATE, COMMENT = range(13)


def _names(names: str) -> list[str]:
    return names.split()


HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
CODE_TAGS = frozenset({"pre", "listing", "xmp", "plaintext"})
LISTS = frozenset({"ul", "ol", "menu", "dir"})
# Block-level, and nothing changes inside but the container.
_PLAIN_BLOCKS = _names(
    "address aside body button center details dialog div fieldset footer form frameset hgroup hr html"
    " header legend nav optgroup p search section summary tbody tfoot thead figure"
)
_BLOCKS = _names("article blockquote caption dd dl dt figcaption li main table td th tr")
# Not shown as text, or shown only where something better fails: pictures, embedded pages, what a form would send.
_NOT_TEXT = _names(
    "annotation annotation-xml audio canvas datalist embed iframe noembed noframes object option select svg textarea video"
)
ACTIONS: dict[str, int] = {
    "-text": TEXT,
    "-comment": COMMENT,
    "!doctype": SKIP,
    "-doctype": SKIP,
    "br": BREAK,
    "a": LINK,
    "time": TIME,
    "noscript": NOSCRIPT,
    "template": TEMPLATE,
    **dict.fromkeys(_PLAIN_BLOCKS, PLAIN_BLOCK),
    **dict.fromkeys([*_BLOCKS, *HEADING_LEVELS, *CODE_TAGS, *LISTS], BLOCK),
    **dict.fromkeys(_names("script style title meta link base head"), UNSEEN),
    **dict.fromkeys(_NOT_TEXT, NOT_TEXT),
    **dict.fromkeys(_names("img input wbr source track area col param"), SKIP),
}
BLOCK_LEVEL = frozenset(tag for tag, act in ACTIONS.items() if act in (PLAIN_BLOCK, BLOCK))

# What is around a block, as bits; a container has those of the containers around it.
NAV, FOOTER, HEADER, ASIDE, MAIN, ARTICLE, FORM, FIGURE, CAPTION, DIALOG, BUTTON, TABLE, LIST, ITEM, QUOTE, DETAILS, TERM, HEADED = (
    1 << n for n in range(18)
)  # fmt: skip
N_JUDGED_FLAGS = 11  # of these, the first, as many as tell main content from the rest
FLAGS = {
    "nav": NAV,
    "footer": FOOTER,
    "header": HEADER,
    "aside": ASIDE,
    "main": MAIN,
    "article": ARTICLE,
    "form": FORM,
    "figure": FIGURE,
    "figcaption": CAPTION,
    "dialog": DIALOG,
    "button": BUTTON,
    "table": TABLE,
    "ul": LIST,
    "ol": LIST,
    "dl": LIST,
    "li": ITEM,
    "blockquote": QUOTE,
    "details": DETAILS,
    "dt": TERM,
    "dd": TERM,
    **dict.fromkeys(HEADING_LEVELS, HEADED),
}
ROLES = {
    "navigation": NAV,
    "menu": NAV,
    "menubar": NAV,
    "search": FORM,
    "banner": HEADER,
    "contentinfo": FOOTER,
    "complementary": ASIDE,
    "main": MAIN,
    "article": ARTICLE,
    "dialog": DIALOG,
    "alertdialog": DIALOG,
    "button": BUTTON,
}
_MARK_CLASSES = frozenset(
    _names(
        "headerlink anchor anchorjs-link permalink heading-anchor header-anchor id_link hash-link selflink self-link"
    )
)
_MARKS = frozenset({"¶", "#", "§", "🔗", "⚓", "∞", ""})
_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+")
_LOWER_WORD = re.compile(r"[a-z]{2,}")


class Context:
    """What the elements around the walk's place mean for words found there. Never changed, only copied."""

    __slots__ = ("depth", "group", "hiding", "is_code", "kind", "level", "numbering", "table")

    def __init__(
        self,
        kind: BlockKind = "paragraph",
        level: int = 0,
        depth: int = 0,
        group: int = 0,
        is_code: bool = False,
        table: Table | None = None,
        hiding: Hiding | None = None,
        numbering: list[int] | None = None,
    ) -> None:
        self.kind = kind
        self.level = level
        self.depth = depth  # of lists
        self.group = group
        self.is_code = is_code
        self.table = table
        self.hiding = hiding
        self.numbering = numbering  # of the numbered list around: one number, the last item's

    def but(
        self,
        kind: BlockKind,
        *,
        level: int = 0,
        depth: int | None = None,
        group: int | None = None,
        is_code: bool = False,
        numbering: list[int] | None = None,
    ) -> Context:
        """A copy for another kind of block."""
        return Context(
            kind,
            level,
            self.depth if depth is None else depth,
            self.group if group is None else group,
            is_code,
            self.table,
            self.hiding,
            numbering,
        )

    def hidden_by(self, hiding: Hiding | None) -> Context:
        return Context(self.kind, self.level, self.depth, self.group, self.is_code, self.table, hiding, self.numbering)

    def in_table(self, table: Table | None, group: int) -> Context:
        kind = "paragraph" if table is not None else self.kind
        return Context(kind, 0, self.depth, group, self.is_code and table is None, table, self.hiding, None)


@lru_cache(maxsize=16384)
def class_words(values: tuple[str | None, ...]) -> tuple[str, ...]:
    """The words of class, id and itemprop in lower case, each once: split at non-letters and between cases."""
    joined = " ".join([value for value in values if value])[:400]
    if joined.islower():
        return tuple(dict.fromkeys(_LOWER_WORD.findall(joined)))
    return tuple(dict.fromkeys([word.lower() for word in _WORD.findall(joined) if len(word) > 1]))


def is_mark(node: LexborNode, href: str, attributes: Mapping[str, str | None]) -> bool:
    """Whether a link is the sign beside a heading that points at the heading itself."""
    if "#" not in href:
        return False
    classes = (attributes.get("class") or "").lower().split()
    if not classes and not href.startswith("#"):
        return False
    text = prose(text_of(node, limit=8))
    return text == "¶" or (text in _MARKS and not _MARK_CLASSES.isdisjoint(classes))


def text_of(node: LexborNode, *, limit: int = 1_000_000) -> str:
    """The text under *node*, in order, without recursion; about *limit* characters at most."""
    parts: list[str] = []
    n_chars = 0
    stack: list[LexborNode] = []
    current = node.first_child
    while n_chars < limit:
        if current is None:
            if not stack:
                break
            current = stack.pop().next
            continue
        if current.tag == "-text":
            parts.append(current.text_content or "")
            n_chars += len(parts[-1])
        elif (inner := current.first_child) is not None:
            stack.append(current)
            current = inner
            continue
        current = current.next
    return "".join(parts)


def has_words(node: LexborNode) -> bool:
    return bool(prose(text_of(node, limit=2000)))
