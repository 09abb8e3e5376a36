"""What a page says about itself: title, authors, dates, language, addresses. Each is the page's claim, not ours.

The walk hands over, in document order, what elements say (``add_meta``, ``add_link_element``, ``add_linked_data``,
``add_time``, ``add_link``, ``add_marked``) and sets ``title``, ``heading`` and ``language``; ``as_fields`` then chooses,
and says for each fact what of the page it rests on. A wrong author or date is worse than none: words count only near
the heading, and what names nobody plainly is left out. What must not be seen must not be handed over as marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ada_url import join_url, normalize_url

from firsthand.web.extract.bylines import MARKED, Mark, byline, declared_author, labelled, mark_of
from firsthand.web.extract.dates import any_date, dates_in, iso_date, path_date
from firsthand.web.extract.linked import LD_CHARS, Linked, read_linked
from firsthand.web.extract.titles import MAX_TITLE_CHARS, choose_title, folded
from firsthand.web.extract.tongues import choose_language
from firsthand.web.extract.words import prose

__all__ = ["MARKED", "MAX_LINKS", "MAX_MARKS", "Facts", "iso_date", "mark_of"]

MAX_LINKS = 2_000  # links_max of the hostile corpora's defaults
MAX_MARKS = 60  # guess: what dates a page and names its author stands before the sixtieth comment
MAX_META = 500
MAX_HREF_CHARS = 2_000
# What the standard's parser leaves as it is: no dots to resolve, nothing to encode, no port, no capital in the host, and
# no host that could be a number.
_PLAIN_PARTS = r"(?:/(?!\.)[A-Za-z0-9_~.-]+)*+/?+(?:\?[A-Za-z0-9_~./&=-]*)?+"
_PLAIN_ORIGIN = re.compile(r"https?://(?:(?!xn--)[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}(?=/|$)")
_PLAIN_PATH = re.compile(r"(?!//)" + _PLAIN_PARTS)
_PLAIN_ADDRESS = re.compile(_PLAIN_ORIGIN.pattern.removesuffix("(?=/|$)") + "(?=/)" + _PLAIN_PARTS)
_SURELY_PUBLISHED = (
    "article:published_time", "og:article:published_time", "og:published_time", "datepublished",
    "citation_publication_date", "citation_date", "citation_online_date", "parsely-pub-date",
)  # fmt: skip
_PUBLISHED = (
    "sailthru.date", "cxenseparse:publishtime", "pubdate", "publishdate", "publish-date", "publish_date",
    "og:publish_date", "publication_date", "published", "date-pub", "article.published", "dc.date.issued",
    "dcterms.issued", "dcterms.created", "dc.date.created", "dc.date", "dcterms.date", "datecreated", "date", "ms.date",
    "bt:pubdate", "displaydate", "originalpublicationdate", "rnews:datepublished",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time", "og:article:modified_time", "og:updated_time", "datemodified", "dateupdated",
    "dcterms.modified", "dc.date.modified", "last-modified", "lastmod", "last_modified", "updated_at", "updated date",
    "cxenseparse:recs:modifiedtime", "revised", "rnews:datemodified",
)  # fmt: skip
_AUTHORS = (
    "author", "article:author_name", "article:author", "og:article:author", "citation_author", "parsely-author",
    "sailthru.author", "byl", "dc.creator", "dcterms.creator", "dc.creator.personalname", "authors",
    "cxenseparse:author", "rbauthors", "creator",
)  # fmt: skip
_TITLES = (
    "og:title", "twitter:title", "citation_title", "dc.title", "dcterms.title", "sailthru.title", "parsely-title",
)  # fmt: skip
_SITES = (
    "og:site_name", "application-name", "apple-mobile-web-app-title", "cre", "dc.publisher", "citation_journal_title",
)  # fmt: skip
_LANGUAGES = ("content-language", "language", "dc.language", "dcterms.language", "og:locale")
_BEFORE, _AFTER = 4, 9  # blocks round the heading in which a byline or a date is looked for (chosen on WCXB dev)
_BEFORE_MARKED, _AFTER_MARKED = 8, 20  # the same for elements that are marked as author
_MANY = 3  # different marked names; more are those of comments, or of pages that this one lists
_HEADINGS = 2  # from the second heading on it is a section's, or a list of other pages (chosen on WCXB dev, 1 to 9)
_NEARLY_ALONE = 100  # characters of a block that holds a date of which nothing is said
_NOT_OF_THE_PAGE = (
    r"\b(?:until|ends?|valid|sale|through|active|founded|join(?:ed)?|released?|expires?|before|deadline|due|season|born|"
    r"registered|since|copyright|©)\b"
)
_DAY_FIRST = r"(?:en-(?:gb|au|nz|ie|in|za)|de|fr|es|it|pt|nl|da|nb|nn|no|pl|tr|ru|uk)(?:-|$)"
_SHORT = 200  # a byline or a date stands in a block no longer than this
_DATED_BLOCKS = 100  # a list of a thousand dated things must not cost more
_STORED_TIMES = 50
Blocks = Sequence[tuple[str, str]]


class Facts:
    """Gathers, during the walk, what elements say about the page."""

    def __init__(self, url: str) -> None:
        self.base = url
        self.title = ""
        self.heading = ""  # the first h1, should there be no title
        self.language: str | None = None
        self._url = url
        self._has_base = False
        self._meta: dict[str, list[str]] = {}
        self._canonical: str | None = None
        self._linked_data: list[str] = []
        self._times: list[tuple[str, str]] = []
        self._links: dict[str, int] = {}
        self._numbers: dict[str, int | None] = {}
        self._marks: list[tuple[Mark, str]] = []
        self._is_day_first = False

    def set_base(self, href: str) -> None:
        """Take the first ``base`` as what relative addresses are relative to."""
        absolute = _absolute(self._url, href)
        if absolute and not self._has_base:
            self.base, self._has_base = absolute, True

    def add_meta(self, attributes: Mapping[str, str | None]) -> None:
        name = (
            attributes.get("property")
            or attributes.get("name")
            or attributes.get("itemprop")
            or attributes.get("http-equiv")
        )
        content = attributes.get("content")
        if name and content and len(self._meta) < MAX_META:
            values = self._meta.setdefault(name.strip().lower(), [])
            if len(values) < 10:
                values.append(prose(content[:2000]))

    def add_link_element(self, attributes: Mapping[str, str | None]) -> None:
        if (
            "canonical" in (attributes.get("rel") or "").lower().split()
            and attributes.get("href")
            and self._canonical is None
        ):
            self._canonical = _absolute(self.base, attributes["href"] or "")

    def add_linked_data(self, source: str) -> None:
        if len(source) <= LD_CHARS and len(self._linked_data) < 20:
            self._linked_data.append(source)

    def add_time(self, attributes: Mapping[str, str | None]) -> None:
        written = attributes.get("datetime")
        if written and len(self._times) < _STORED_TIMES:
            mark = "published" if "pubdate" in attributes else mark_of(attributes) or ""
            self._times.append((written[:100], mark))

    def add_link(self, href: str) -> int | None:
        """The position in ``links`` of the address that *href* is, or None if it is no link that is kept."""
        if href[:1] == "#":
            return None
        if href in self._numbers:
            return self._numbers[href]
        if len(self._numbers) >= MAX_LINKS:
            return None
        absolute = _absolute(self.base, href)
        number = None if absolute is None else self._links.setdefault(absolute, len(self._links))
        self._numbers[href] = number
        return number

    @property
    def wants_marks(self) -> bool:
        """Whether ``add_marked`` still keeps what it is given: the walk need not gather words in vain."""
        return len(self._marks) < MAX_MARKS

    def add_marked(self, name: str, text: str) -> None:
        """Take the words of an element for which ``mark_of`` gave *name*; an element's ``content`` goes before its words."""
        if name in MARKED and len(self._marks) < MAX_MARKS:
            text = prose(text[:400])
            if text:
                self._marks.append((name, text))

    @property
    def links(self) -> tuple[str, ...]:
        """The absolute addresses of the links, in order, each once."""
        return tuple(self._links)

    def as_fields(self, blocks: Blocks = ()) -> dict[str, Any]:
        """The fields of a Text that these facts fill, with ``fact_sources``.

        *blocks* are the kinds and words of the page's shown blocks, in order: all of them, or the first 40 and the
        last 5. Titles, dates and bylines are looked for in words near the heading, and the language in all of them.
        """
        self._is_day_first = re.match(_DAY_FIRST, (self.language or "").lower().replace("_", "-")) is not None
        linked = read_linked(self._linked_data, self._url)
        chosen: dict[str, tuple[str, str] | None] = {}
        sites = [*self._values(_SITES), linked.publisher, linked.site]
        headings = list(islice((text for kind, text in blocks if kind == "heading"), 12))
        chosen["title"] = self._choose_title(linked, sites, headings)
        title = chosen["title"][0] if chosen["title"] else ""
        near, wide = self._near(blocks, title)
        chosen["published_at"] = next(self._dates(linked, near, blocks), None)
        chosen["modified_at"] = next(self._modified(linked, near, blocks), None)
        chosen["author"] = next(self._authors(linked, near, wide, sites), None)
        chosen["site_name"] = next(self._site_names(linked), None)
        chosen["canonical_url"] = self._canonical_claim()
        chosen["language"] = choose_language(self._declared_languages(linked), blocks)
        fields: dict[str, Any] = {name: found[0] if found else None for name, found in chosen.items()}
        fields["title"] = title
        fields["links"] = tuple(self._links)
        fields["fact_sources"] = {name: found[1] for name, found in chosen.items() if found}
        return fields

    # -- Title

    def _choose_title(self, linked: Linked, sites: Sequence[str], headings: Sequence[str]) -> tuple[str, str] | None:
        declared = [(value, f"meta {name}") for name in _TITLES for value in self._meta.get(name, [])[:1]]
        if linked.headline:
            declared.append((linked.headline, "json-ld headline"))
        return choose_title(self.title, declared, self.heading, headings, sites=sites, url=self._url)

    # -- Dates

    def _near(self, blocks: Blocks, title: str) -> tuple[list[str], list[str]]:
        """The short blocks round the heading, and those of a wider round; a label is joined to what it announces."""
        at = _find_heading(blocks, title)
        if at is None and self.heading != title:
            at = _find_heading(blocks, self.heading)
        if at is None:
            return [], []
        near = self._round(blocks, at, _BEFORE, _AFTER)
        return near, self._round(blocks, at, _BEFORE_MARKED, _AFTER_MARKED)

    def _round(self, blocks: Blocks, at: int, before: int, after: int) -> list[str]:
        """The short blocks behind the heading, up to the second heading after it, then those before it."""
        behind: list[str] = []
        n_headings = 0
        for kind, text in blocks[at + 1 : at + after]:
            n_headings += kind == "heading"
            if n_headings == _HEADINGS and after == _AFTER:
                break
            if len(text) <= _SHORT:
                behind.append(text)
        return labelled(behind) + labelled(
            [text for _, text in blocks[max(0, at - before) : at] if len(text) <= _SHORT]
        )

    def _dates(self, linked: Linked, near: Sequence[str], blocks: Blocks) -> Iterator[tuple[str, str]]:
        for value, source in self._declared_dates(linked):
            day = any_date(value)
            if day:
                yield day, source
        found = [dated for text in near for dated in dates_in(text, is_day_first=self._is_day_first)]
        for dated in found:
            if dated.said == "published":
                yield dated.day, "words near the heading"
        day = path_date(_parts(self._url).path)
        if day:
            yield day, "address"
        yield from self._meta_dates(
            [
                *_PUBLISHED,
                *(name for name in self._meta if "publish" in name and ("date" in name or "time" in name)),
            ]
        )
        bare = self._bare_days(near)
        if bare and len(set(bare)) <= 2:  # more of them are what the page lists
            yield bare[0], "words near the heading"
        if len({written for written, _ in self._times}) == 1:  # one time element: its date; several: comments, teasers
            day, mark = iso_date(self._times[0][0]), self._times[0][1]
            if day and mark != "modified" and day[:10] not in self._days_of_change(blocks):
                yield day, "time"

    def _days_of_change(self, blocks: Blocks) -> list[str]:
        """The days on which the page was changed, as its short blocks say; from the end, where it is said, backwards."""
        dated_blocks = (text for _, text in reversed(blocks) if ("20" in text or "19" in text) and len(text) <= _SHORT)
        return [
            dated.day
            for text in islice(dated_blocks, _DATED_BLOCKS)
            for dated in dates_in(text, is_day_first=self._is_day_first)
            if dated.said == "modified"
        ]

    def _bare_days(self, near: Sequence[str]) -> list[str]:
        """The days that stand almost alone in a block; two in one block are when something is on."""
        days: list[str] = []
        for text in near:
            dates = list(dates_in(text, is_day_first=self._is_day_first))
            is_alone = len(text) <= _NEARLY_ALONE and not re.search(_NOT_OF_THE_PAGE, text, re.IGNORECASE)
            if is_alone and len({dated.day for dated in dates if not dated.said}) == 1:
                days += [dated.day for dated in dates if not dated.said]
        return days

    def _said_anywhere(self, blocks: Blocks) -> dict[str, set[str]]:
        """The days of which short blocks say that the page was published, or changed, on them."""
        said: dict[str, set[str]] = {"published": set(), "modified": set(), "": set()}
        for _, text in blocks:
            if len(text) <= _SHORT:
                for dated in dates_in(text, is_day_first=self._is_day_first):
                    said[dated.said].add(dated.day)
        return said

    def _declared_dates(self, linked: Linked) -> Iterator[tuple[str, str]]:
        yield linked.published, "json-ld datePublished"
        for name in _SURELY_PUBLISHED:
            for value in self._meta.get(name, []):
                yield value, f"meta {name}"
        for value, mark in self._times:
            if mark == "published":
                yield value, "time"
        for mark, text in self._marks:
            if mark == "published":
                yield text, "marked date"
        yield linked.created, "json-ld dateCreated"
        yield linked.page_published, "json-ld datePublished"

    def _meta_dates(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        for name in names:
            for value in self._meta.get(name, []):
                day = any_date(value)
                if day:
                    yield day, f"meta {name}"

    def _modified(self, linked: Linked, near: Sequence[str], blocks: Blocks) -> Iterator[tuple[str, str]]:
        day = any_date(linked.modified)
        if day:
            yield day, "json-ld dateModified"
        yield from self._meta_dates(_MODIFIED)
        for value, mark in self._times:
            if mark == "modified" and (day := iso_date(value)):
                yield day, "time"
        for mark, text in self._marks:
            if mark == "modified" and (day := any_date(text)):
                yield day, "marked date"
        for text in near:
            for dated in dates_in(text, is_day_first=self._is_day_first):
                if dated.said == "modified":
                    yield dated.day, "words near the heading"
        days = set(self._days_of_change(blocks))
        if len(days) == 1:
            yield days.pop(), "words of the page"

    # -- Authors

    def _authors(
        self, linked: Linked, near: Sequence[str], wide: Sequence[str], sites: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """The authors that something names, the surest first; the site itself comes last."""
        site_names = {folded(site) for site in sites if site}
        late: list[tuple[str, str]] = []
        for author, source in self._declared_authors(linked):
            if folded(author) in site_names:
                late.append((author, source))
            else:
                yield author, source
        for mark in ("author", "author_link", "author_class", "byline"):
            marked = [text for name, text in self._marks if name == mark]
            around = wide if len(set(marked)) <= _MANY else near
            names = [text for text in marked if any(text in block for block in around)]
            found = next((found for text in names if (found := byline(text, needs_by=False))), "")
            if found:
                # The innermost of elements in each other holds the name alone.
                inner = [text for text in names if text in names[0] and byline(text, needs_by=False)]
                yield byline(min(inner, key=len), needs_by=False) if inner else found, f"marked {mark}"
        for text in near:
            found = byline(text)
            if found:
                yield found, "words near the heading"
        if not linked.has_person:
            names = [name for name in map(declared_author, linked.authors) if name]
            if names:
                late.append((", ".join(names), "json-ld author"))
        yield from late

    def _declared_authors(self, linked: Linked) -> Iterator[tuple[str, str]]:
        names = [name for name in map(declared_author, linked.authors) if name]
        if names and linked.has_person:
            yield ", ".join(names), "json-ld author"
        for name in _AUTHORS:
            values = self._meta.get(name, [])
            if name.startswith(("citation", "dc")):  # catalogues write the family name first
                values = [
                    " ".join(reversed(value.split(", "))) if value.count(", ") == 1 else value for value in values
                ]
            names = [found for found in map(declared_author, values) if found]
            if names:
                yield ", ".join(dict.fromkeys(names))[:300], f"meta {name}"

    # -- The rest

    def _site_names(self, linked: Linked) -> Iterator[tuple[str, str]]:
        for name in _SITES[:1]:
            for value in self._meta.get(name, []):
                yield value, f"meta {name}"
        if linked.site:
            yield linked.site, "json-ld WebSite"
        for name in _SITES[1:]:
            for value in self._meta.get(name, []):
                yield value, f"meta {name}"
        if linked.publisher:
            yield linked.publisher, "json-ld publisher"

    def _canonical_claim(self) -> tuple[str, str] | None:
        """The address that the page says is its own. One on another site is no more than a claim, and is named so."""
        claims = [(self._canonical, "link canonical")]
        claims += [(_absolute(self.base, value), "meta og:url") for value in self._meta.get("og:url", [])]
        for address, source in claims:
            if address is not None:
                return address, source if is_same_site(address, self._url) else f"{source}, another site"
        return None

    def _declared_languages(self, linked: Linked) -> Iterator[tuple[str, str]]:
        yield self.language or "", "html lang"
        for name in _LANGUAGES:
            for value in self._meta.get(name, []):
                yield value, f"meta {name}"
        yield linked.language, "json-ld inLanguage"

    def _values(self, names: Sequence[str]) -> list[str]:
        return [value for name in names for value in self._meta.get(name, [])]


def is_same_site(one: str, other: str) -> bool:
    """Whether two addresses are of one site, as far as host names tell without a list of registries."""
    first, second = ((_parts(url).hostname or "").removeprefix("www.") for url in (one, other))
    if first == second or first.rpartition(".")[2].isdigit() or second.rpartition(".")[2].isdigit():
        return first == second
    labels = first.split(".")[::-1]
    # co.uk, com.au: what registries hold has a short name under a country's two letters.
    n_of_registry = 1 + (len(labels) > 2 and len(labels[0]) == 2 and len(labels[1]) <= 3)
    return labels[: n_of_registry + 1] == second.split(".")[::-1][: n_of_registry + 1] and len(labels) > n_of_registry


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # brackets that hold no IPv6 address, and their like
        return urlsplit("")


def _find_heading(blocks: Blocks, words: str) -> int | None:
    """Where the heading *words* stands among *blocks*."""
    at = next((i for i, (kind, text) in enumerate(blocks) if kind == "heading" and text == words), None)
    if at is None and words:
        wanted = folded(words)
        few = enumerate(blocks[:300])
        at = next(
            (i for i, (kind, text) in few if kind == "heading" and folded(text[:MAX_TITLE_CHARS]).startswith(wanted)),
            None,
        )
    return at


def _absolute(base: str, href: str) -> str | None:
    """*href* as an absolute http(s) address without fragment, as a browser makes it, or None."""
    if len(href) > MAX_HREF_CHARS:
        return None
    if _PLAIN_ADDRESS.fullmatch(href):  # as it is already, and so are most
        return href
    if href[:1] == "/" and _PLAIN_PATH.fullmatch(href) and (origin := _PLAIN_ORIGIN.match(base)):
        return origin[0] + href
    try:
        absolute = join_url(base, href)
    except ValueError:
        try:
            absolute = normalize_url(href)
        except ValueError:
            return None
    return absolute.partition("#")[0] if absolute.startswith(("http://", "https://")) else None
