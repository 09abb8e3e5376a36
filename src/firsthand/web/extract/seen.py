"""What a reader sees, what a reader can open, and what nobody sees: a fact of an element, with its reason.

``hides`` looks at an element's own tag and attributes and at what the page's ``<style>`` elements say of them; sheets
from elsewhere are not read. ``opens`` says whether what is hidden waits for a reader's hand: then it is *collapsed*,
and may be quoted with that mark. Everything else that is hidden is kept apart from the body and can be quoted by
nobody: an instruction in it reaches no model. The words are those of docs/reference/text.md.

How much of what each reason hides stands in the reference texts of WCXB dev, as ``python -m evals.visibility`` counts it
(1,497 pages, 2026-12-01); words of 3.7 million, and the share of them that is in a reference text:

==========================  ======  =====  ===========================================================================
reason                       words  share  what is done
==========================  ======  =====  ===========================================================================
hidden, streamed            30,729   0.70  collapsed: a script of the page moves it into its place
hidden                      15,833   0.21  hidden
opacity 0                   24,898   0.76  nearly all of it round a whole page, so revealed: collapsed
visibility hidden           11,717   0.41  the same, for less of it
display none                63,400   0.08  hidden; what tabs, accordions, read-more or a control open (12,839; 0.81) is not
display none, by a sheet     7,326   0.02  hidden; what a longer rule shows again (11,645; 0.24) is collapsed
aria-hidden                 67,021   0.11  hidden; accordions (6,495; 0.73) and tab panels (1,361; 0.65) are not
for screen readers only     24,693   0.13  hidden: labels of a shop's tiles, nearly all of it
dialogs                      3,286   0.00  hidden
struck out                     329   0.13  hidden: old prices
off screen, clipped ...      1,797   0.40  hidden: one page's list of colours
details                     35,429   0.30  collapsed
noscript                    35,131   0.76  hidden, unless the page has almost no other text: forums
==========================  ======  =====  ===========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from firsthand.web.extract.controls import Controls
from firsthand.web.extract.sheets import Styles, declarations
from firsthand.web.extract.sheets import reason as reason_of

# Elements that say by their tag alone that they are not seen, or may; the others are judged by these attributes.
JUDGED_TAGS = frozenset({"template", "noscript", "dialog", "details", "del", "s", "strike", "bdo"})
JUDGED_ATTRIBUTES = ("style", "hidden", "aria-hidden", "class", "id", "popover")
# What a reader or a script may take away again. What is out of sight by place, size or colour stays there.
OPENABLE = frozenset(
    ["hidden_attribute", "display_none", "visibility_hidden", "opacity_zero", "zero_size", "popover", "aria_hidden"]
)
REVEALABLE = frozenset(["hidden_attribute", "display_none", "visibility_hidden", "opacity_zero"])
# A wrapper that a script reveals holds nearly all of a page. On WCXB dev these bounds let 11 pages through, each with its
# whole reference text inside; the first page beyond the ratio, at 5.4, hides forms (2026-12-01).
_REVEALED_CHARS = 2500
_REVEALED_BLOCKS = 8
_REVEALED_RATIO = 8

_MAX_REMEMBERED_CHARS = 4000  # of a style attribute
_SPECIAL = frozenset({"html", "body", "template", "noscript", "dialog", "del", "s", "strike", "bdo"})
_TAGS = {"template": "template", "noscript": "noscript", "del": "deleted", "s": "deleted", "strike": "deleted"}
# Names that style sheets in wide use give to text for screen readers only (Bootstrap, Tailwind, WordPress, GOV.UK ...).
SCREEN_READER_ONLY = frozenset(
    [
        "sr-only",
        "sr_only",
        "u-sr-only",
        "show-for-sr",
        "screen-reader",
        "screen-reader-only",
        "screen-reader-text",
        "screenreader",
        "screenreader-only",
        "visually-hidden",
        "visuallyhidden",
        "visually_hidden",
        "u-visually-hidden",
        "is-visually-hidden",
        "hidden-visually",
        "govuk-visually-hidden",
        "cdk-visually-hidden",
        "usa-sr-only",
        "a11y-hidden",
        "accessibly-hidden",
        "element-invisible",
        "hide-visually",
    ]
)


def hides(tag: str, attributes: Mapping[str, str | None], styles: Styles | None = None) -> str:
    """Why no reader sees this element at once, in one word; empty if it is seen.

    A style attribute wins over a sheet, and either over the ``hidden`` attribute, as in a browser. ``html`` and
    ``body`` are never hidden: pages that do so show themselves when their scripts have come.
    """
    if tag in _SPECIAL:
        return _hides_by_tag(tag, attributes, styles)
    return _hides_by_attributes(tag, attributes, styles)


def _hides_by_tag(tag: str, attributes: Mapping[str, str | None], styles: Styles | None) -> str:
    if tag in ("html", "body"):
        return ""
    why = _TAGS.get(tag) or _hides_by_attributes(tag, attributes, styles)
    if why:
        return why
    if tag == "dialog":
        return "" if "open" in attributes else "dialog"
    return "reversed" if tag == "bdo" and (attributes.get("dir") or "").strip().lower() == "rtl" else ""


def _hides_by_attributes(tag: str, attributes: Mapping[str, str | None], styles: Styles | None) -> str:
    style = attributes.get("style")
    said = styles.rules(tag, attributes) if styles is not None else None
    display = ""
    if style or said:
        style = style or ""
        is_usual = not said and len(style) <= _MAX_REMEMBERED_CHARS
        why, display = _styled(style) if is_usual else _judged({**(said or {}), **declarations(style)})
        if why:
            return why
    if "hidden" in attributes and not display:
        return "hidden_attribute"
    if "popover" in attributes and not display:
        return "popover"
    names = attributes.get("class")
    if names and is_for_screen_readers(names):
        return "screen_reader_only"
    hidden = attributes.get("aria-hidden")
    return "aria_hidden" if hidden and hidden.strip().lower() == "true" else ""


def opens(tag: str, attributes: Mapping[str, str | None], controls: Controls, styles: Styles | None = None) -> str:
    """What lets a reader open an element that is hidden, in one word; empty if nothing does.

    Ask only when ``hides`` gave one of OPENABLE, and for every ``details``: what stands in it beside its ``summary``
    is collapsed unless the element is open.
    """
    if tag == "details":
        return "" if "open" in attributes else "details"
    if (attributes.get("hidden") or "").strip().lower() == "until-found":
        return "until_found"
    found = controls.opens(attributes)
    return found or ("revealed" if styles is not None and styles.reveals(tag, attributes) else "")


def is_revealed(hidden_chars: int, shown_chars: int, reason: str, n_long_blocks: int) -> bool:
    """Whether what is hidden for *reason* is nearly all of a page's long text, so that its own script must show it.

    Units: code points of blocks of 80 or more, hidden for this reason alone and shown; *n_long_blocks* of the hidden.
    One paragraph, however long, and whatever stands beside an article is never revealed.
    """
    return (
        reason in REVEALABLE
        and n_long_blocks >= _REVEALED_BLOCKS
        and hidden_chars >= _REVEALED_CHARS
        and hidden_chars >= _REVEALED_RATIO * shown_chars
    )


def is_for_screen_readers(names: str) -> bool:
    # Asked of every element with a class, so nearly all are told by a part that each of the names has.
    if "sr" in names or "reen" in names or "isually" in names or "y-hid" in names or "nvisible" in names:
        return not SCREEN_READER_ONLY.isdisjoint(names.lower().split())
    return False


@lru_cache(maxsize=4096)  # of strings with a bound, so of some 16 MB at most
def _styled(style: str) -> tuple[str, str]:
    return _judged(declarations(style))


def _judged(rules: Mapping[str, str]) -> tuple[str, str]:
    """Why these declarations hide, and the display they set if it shows."""
    display = rules.get("display", "")
    return reason_of(rules), "" if display == "none" else display
