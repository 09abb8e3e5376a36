"""What elements mean: which begin a block, which are not text, which are furniture, and what is known around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborNode

from firsthand.values import BlockKind
from firsthand.web.extract.drafts import prose
from firsthand.web.extract.main import ASIDE_WORDS, ZONE_ROLES, ZONE_TAGS, ZONE_WORDS
from firsthand.web.extract.tables import Table

BLOCK = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "button",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "frameset",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "listing",
        "main",
        "menu",
        "nav",
        "noscript",
        "ol",
        "optgroup",
        "option",
        "p",
        "plaintext",
        "pre",
        "search",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "td",
        "textarea",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "xmp",
    ]
)
UNSEEN = frozenset({"script", "style", "template", "title", "meta", "link", "base", "head"})
# Not shown as text, or shown only where something better fails: pictures, embedded pages, what a form would send.
NOT_TEXT = frozenset(
    [
        "annotation",
        "annotation-xml",
        "audio",
        "canvas",
        "datalist",
        "embed",
        "iframe",
        "noembed",
        "noframes",
        "object",
        "option",
        "select",
        "svg",
        "textarea",
        "video",
    ]
)
PLAIN_INLINE = frozenset(
    [
        "abbr",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "em",
        "font",
        "i",
        "kbd",
        "label",
        "mark",
        "q",
        "rp",
        "rt",
        "ruby",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)
HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
CODE_TAGS = frozenset({"pre", "listing", "xmp", "plaintext"})
_MARK_CLASSES = frozenset(
    [
        "headerlink",
        "anchor",
        "anchorjs-link",
        "permalink",
        "heading-anchor",
        "header-anchor",
        "id_link",
        "hash-link",
        "selflink",
        "self-link",
    ]
)
_MARKS = frozenset({"¶", "#", "§", "🔗", "⚓", "∞", ""})


@dataclass(slots=True)
class Context:
    """What the elements around the walk's place mean for words found there. Never changed, only copied."""

    kind: BlockKind = "paragraph"
    level: int = 0
    depth: int = 0  # of lists
    group: int = 0
    is_link: bool = False
    is_code: bool = False
    in_article: bool = False
    zone: str = ""
    table: Table | None = None
    linked: Context | None = None  # this context inside a link, made once: links are what most copies are for

    def but(self, kind: BlockKind, *, level: int = 0, depth: int | None = None, group: int | None = None) -> Context:
        """A copy for another kind of block."""
        depth = self.depth if depth is None else depth
        group = self.group if group is None else group
        return Context(kind, level, depth, group, self.is_link, self.is_code, self.in_article, self.zone, self.table)

    def in_link(self) -> Context:
        if self.is_link:
            return self
        if self.linked is None:
            self.linked = replace(self, is_link=True, linked=None)
        return self.linked


def zoned(tag: str, attributes: Mapping[str, str | None], context: Context) -> Context:
    """*context* with the name of the furniture that begins here, if any does and none is around already."""
    if context.zone or tag in ("html", "body"):
        return context
    zone = ""
    if tag in ZONE_TAGS:
        zone = tag if context.kind != "quote" else ""
    elif tag == "header" and not context.in_article:
        zone = "header"
    elif attributes or tag == "aside":
        words = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower().split()
        if (attributes.get("role") or "") in ZONE_ROLES:
            zone = "nav"
        elif not ZONE_WORDS.isdisjoint(words):
            zone = "class"
        elif tag == "aside" and ASIDE_WORDS.isdisjoint(words):
            zone = "aside"
    return replace(context, zone=zone, linked=None) if zone else context


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
