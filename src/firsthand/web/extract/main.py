"""Which blocks of a page are its own words and which are furniture: menus, footers, forms, rows of links."""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.web.extract.drafts import Draft

# Elements that hold furniture wherever they stand; ``header`` and ``aside`` depend on what is around them.
ZONE_TAGS = frozenset({"nav", "footer", "form", "dialog", "button"})
ZONE_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "dialog"})
# Whole words of class and id. Never parts of words: DocBook's "table-contents" is a table, not a table of contents.
ZONE_WORDS = frozenset(
    [
        "nav",
        "navbar",
        "navigation",
        "navheader",
        "navfooter",
        "menu",
        "mainmenu",
        "submenu",
        "topmenu",
        "sidebar",
        "sphinxsidebar",
        "footer",
        "breadcrumb",
        "breadcrumbs",
        "toc",
        "contents-list",
        "related",
        "related-posts",
        "relatedposts",
        "pagination",
        "pager",
        "cookie",
        "cookies",
        "cookie-banner",
        "cookie-consent",
        "consent",
        "advert",
        "advertisement",
        "ads",
        "ad-slot",
        "promo",
        "social",
        "share",
        "sharing",
        "share-buttons",
        "newsletter",
        "subscribe",
        "login",
        "site-header",
        "site-footer",
        "site-nav",
        "page-footer",
        "page-header",
        "masthead",
        "skip-link",
        "skiplink",
        "skip",
        "mw-editsection",
        "catlinks",
        "printfooter",
        "nosearch",
        "headermenu",
        "searchbox",
        "copyright",
    ]
)
# ``aside`` with one of these is part of the text: notes, footnotes, boxes.
ASIDE_WORDS = frozenset(
    [
        "note",
        "tip",
        "warning",
        "caution",
        "important",
        "admonition",
        "footnote",
        "footnotes",
        "topic",
        "example",
        "callout",
    ]
)
_LINKED = 0.6  # guess: above this share of linked characters a block points elsewhere
_SHORT_CHARS = 60  # guess: menu entries and teasers are shorter
_SENTENCE_ENDS = ".:!?;。：！？；"
_RESCUE_SHARE = 0.25  # guess: a page whose own words are less than this has its content inside a "furniture" element


def judge(drafts: Sequence[Draft]) -> None:
    """Set the score of every draft: at least 0.5 is main content. No draft is dropped."""
    excused = _excused_zones(drafts)
    menus = _menus(drafts)
    for draft in drafts:
        if draft.zone and draft.zone not in excused:
            draft.score = 0.1
        elif draft.group in menus or _is_pointer(draft):
            draft.score = 0.3
        else:
            draft.score = 0.9 if len(draft.text) >= _SHORT_CHARS else 0.7


def _is_pointer(draft: Draft) -> bool:
    """Whether a paragraph is only a link or two: no sentence, and nearly all of it linked."""
    is_short_link = draft.kind == "paragraph" and draft.link_share > _LINKED and len(draft.text) < _SHORT_CHARS
    return is_short_link and draft.text[-1] not in _SENTENCE_ENDS


def _menus(drafts: Sequence[Draft]) -> frozenset[int]:
    """The groups that are only rows of links and that no sentence before them announces."""
    groups: dict[int, list[Draft]] = {}
    announced: set[int] = set()
    before: Draft | None = None
    for draft in drafts:
        if draft.group:
            if draft.group not in groups and before is not None and _announces(before):
                announced.add(draft.group)
            groups.setdefault(draft.group, []).append(draft)
        before = draft
    return frozenset(number for number, members in groups.items() if number not in announced and _is_menu(members))


def _announces(draft: Draft) -> bool:
    """Whether *draft* can introduce a list that belongs to the text, as "The flags are:" does."""
    if draft.zone or draft.kind not in ("paragraph", "definition", "item", "quote") or draft.link_share > 0.5:
        return False
    return len(draft.text) >= _SHORT_CHARS or draft.text.endswith((":", "："))


def _is_menu(members: Sequence[Draft]) -> bool:
    """Whether a list is only a row of links. A table or a definition list never is."""
    if any(member.kind != "item" for member in members):
        return False
    chars = sum(len(member.text) for member in members)
    linked = sum(len(member.text) * member.link_share for member in members)
    return linked > _LINKED * chars and chars < _SHORT_CHARS * len(members)


def _excused_zones(drafts: Sequence[Draft]) -> frozenset[str]:
    """Zones that hold the page itself: a form round everything, a class word that means something else here."""
    own = sum(len(draft.text) for draft in drafts if not draft.zone)
    total = sum(len(draft.text) for draft in drafts)
    if not total or own >= _RESCUE_SHARE * total:
        return frozenset()
    excused: set[str] = set()
    for zone in ("form", "header", "class", "aside", "dialog"):
        chars = sum(len(draft.text) for draft in drafts if draft.zone == zone)
        if chars >= _RESCUE_SHARE * total:
            excused.add(zone)
            break
    return frozenset(excused)
