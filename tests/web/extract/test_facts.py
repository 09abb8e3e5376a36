"""What pages say about themselves, and what of the page says it."""

from __future__ import annotations

import json

import pytest

from firsthand.values import Text
from firsthand.web.extract import extract
from firsthand.web.extract.facts import MAX_LINKS, MAX_MARKS, Facts, is_same_site

URL = "https://a.example/d/p"
NEARBY = [("item", "Home"), ("item", "News"), ("heading", "Spring tides")]


def page(head: str, body: str = "<p>Words.</p>") -> Text:
    return extract(f"<html><head>{head}</head><body>{body}</body></html>".encode(), url=URL)


def facts(*meta: tuple[str, str], url: str = URL, **linked: object) -> Facts:
    """The facts of a page titled "Spring tides" with these meta elements and this linked article."""
    found = Facts(url)
    found.title = found.heading = "Spring tides"
    for name, content in meta:
        found.add_meta({"name": name, "content": content})
    if linked:
        found.add_linked_data(json.dumps({"@type": "Article", **linked}))
    return found


def told(found: Facts, field: str, *words: str) -> tuple[str | None, str | None]:
    """What is chosen for *field*, and its source, when *words* stand in blocks behind the heading."""
    fields = found.as_fields([*NEARBY, *(("paragraph", each) for each in words)])
    return fields[field], fields["fact_sources"].get(field)


def test_the_title_is_the_first_title_then_the_first_heading() -> None:
    assert page("<title> A \n B </title>", "<svg><title>No</title></svg><h1>H</h1>").title == "A B"
    assert page("", "<h1>H</h1><p>x</p>").title == "H"


def test_linked_data_in_a_graph_gives_dates_and_author() -> None:
    data = '{"@graph":[{"@type":"WebSite"},{"@type":["NewsArticle"],"datePublished":"2024-01-02","author":[{"name":"A"},{"name":"B"}]}]}'
    text = page(f'<script type="application/ld+json">{data}</script>')
    assert (text.published_at, text.author) == ("2024-01-02", "A, B")


def test_broken_linked_data_says_nothing() -> None:
    assert page('<script type="application/ld+json">{"@type": </script>').published_at is None


def test_one_time_element_dates_a_page_and_several_do_not() -> None:
    assert page("", "<p><time datetime=2024-01-02>x</time></p>").published_at == "2024-01-02"
    assert page("", "<p><time datetime=2024-01-02>x</time><time datetime=2023-01-02>y</time></p>").published_at is None


def test_a_time_that_is_said_to_be_the_last_change_does_not_date_the_page() -> None:
    found = facts()
    found.add_time({"datetime": "2024-01-02"})
    assert told(found, "published_at", "This page was last modified on Jan 2, 2024") == (None, None)
    assert told(found, "modified_at", "This page was last modified on Jan 2, 2024")[0] == "2024-01-02"


def test_addresses_that_are_no_web_pages_are_left_out() -> None:
    text = page(
        '<link rel="canonical" href="javascript:alert(1)">',
        "<p><a href='data:text/html,x'>a</a><a href='ftp://x/y'>b</a></p>",
    )
    assert text.canonical_url is None
    assert text.links == ()


@pytest.mark.parametrize(
    ("lang", "language"), [("en-GB", "en"), ("DE", "de"), ("zh_Hans", "zh"), ("english", None), ("", None)]
)
def test_the_language_is_two_letters(lang: str, language: str | None) -> None:
    text = extract(f'<html lang="{lang}"><p>Words.'.encode(), url="https://a.example/")
    assert text.language == language


def test_each_fact_names_its_source_and_facts_that_are_not_there_name_none() -> None:
    found = facts(("og:site_name", "Seaside News"), datePublished="2024-01-02", author={"name": "Jane Doe"})
    found.language = "en"
    fields = found.as_fields(NEARBY)
    assert fields["fact_sources"] == {
        "title": "h1",
        "published_at": "json-ld datePublished",
        "author": "json-ld author",
        "site_name": "meta og:site_name",
        "language": "html lang",
    }
    assert fields["modified_at"] is None


# -- Dates


@pytest.mark.parametrize(
    "name", ["article:published_time", "datePublished", "DC.date.issued", "citation_date", "w-published-date"]
)
def test_meta_elements_of_many_names_date_a_page(name: str) -> None:
    assert told(facts((name, "2024-03-14T10:00:00Z")), "published_at")[0] == "2024-03-14T10:00:00Z"


def test_what_the_page_declares_goes_before_words_and_the_day_of_publication_is_not_that_of_a_change() -> None:
    found = facts(("article:published_time", "2024-03-14"), ("article:modified_time", "2025-01-01"))
    assert told(found, "published_at", "May 1, 2020") == ("2024-03-14", "meta article:published_time")
    assert told(found, "modified_at", "Updated May 1, 2020") == ("2025-01-01", "meta article:modified_time")
    assert told(facts(("article:modified_time", "2025-01-01")), "published_at") == (None, None)


@pytest.mark.parametrize(
    "words", ["14 March 2024", "By Jane | 14. März 2024", "2024年3月14日", "Posted: March 14, 2024, 9:00"]
)
def test_a_date_in_words_near_the_heading_dates_a_page(words: str) -> None:
    assert told(facts(), "published_at", "A subtitle", words) == ("2024-03-14", "words near the heading")


def test_a_label_in_a_block_of_its_own_says_what_the_date_is() -> None:
    words = ["Updated on", "May 5, 2025", "Published", "March 14, 2024"]
    assert told(facts(), "published_at", *words)[0] == "2024-03-14"
    assert told(facts(), "modified_at", *words)[0] == "2025-05-05"


@pytest.mark.parametrize(
    "words",
    [
        ["Sale ends March 14, 2024"],
        ["March 14, 2024 – March 20, 2024"],
        ["Joined: March 14, 2024"],
        ["Updated March 14, 2024"],
        ["January 1, 2024", "February 1, 2024", "March 1, 2024"],
        ["x"] * 20 + ["March 14, 2024"],
        ["In the spring of 1999 the tide rose, and on March 14, 2024 it rose again, higher than anybody could remember it, over the road."],
    ],
)  # fmt: skip
def test_a_date_that_may_be_something_else_s_dates_nothing(words: list[str]) -> None:
    assert told(facts(), "published_at", *words) == (None, None)


def test_dates_in_the_list_under_a_heading_are_not_the_page_s() -> None:
    blocks = [*NEARBY, ("heading", "First story"), ("heading", "Second story"), ("paragraph", "March 14, 2024")]
    assert facts().as_fields(blocks)["published_at"] is None


def test_an_address_with_a_day_dates_a_page() -> None:
    assert told(facts(url="https://a.example/2024/03/14/tides"), "published_at") == ("2024-03-14", "address")


def test_a_day_at_the_end_of_the_page_is_that_of_the_last_change() -> None:
    blocks = [
        *NEARBY,
        *[("paragraph", f"Paragraph {n}.") for n in range(30)],
        ("paragraph", "Last modified on 14 March 2024."),
    ]
    fields = facts().as_fields(blocks)
    assert (fields["modified_at"], fields["fact_sources"]["modified_at"]) == ("2024-03-14", "words of the page")
    assert fields["published_at"] is None


def test_elements_marked_as_dates_are_read() -> None:
    found = facts()
    found.add_time({"datetime": "2024-03-14T10:00", "itemprop": "datePublished"})
    found.add_time({"datetime": "2025-01-01", "itemprop": "dateModified"})
    assert told(found, "published_at") == ("2024-03-14T10:00", "time")
    assert told(found, "modified_at") == ("2025-01-01", "time")
    found = facts()
    found.add_marked("published", "14 March 2024")
    assert told(found, "published_at") == ("2024-03-14", "marked date")


# -- Authors


def test_several_meta_authors_are_all_named_once() -> None:
    found = facts(("author", "Jane Doe"), ("author", "John Roe"), ("author", "Jane Doe"))
    assert told(found, "author") == ("Jane Doe, John Roe", "meta author")
    assert (
        told(facts(("citation_author", "Doe, Jane"), ("citation_author", "Roe, John")), "author")[0]
        == "Jane Doe, John Roe"
    )


def test_an_address_is_no_author() -> None:
    assert told(facts(("article:author", "https://social.example/jane")), "author") == (None, None)


def test_a_person_goes_before_the_site_that_calls_itself_the_author() -> None:
    meta = (("og:site_name", "Seaside News"), ("author", "Seaside News"))
    assert told(facts(*meta), "author") == ("Seaside News", "meta author")
    assert told(facts(*meta), "author", "By Jane Doe") == ("Jane Doe", "words near the heading")


def test_an_organisation_in_linked_data_is_the_author_if_nobody_else_is() -> None:
    found = facts(author={"@type": "Organization", "name": "Acme"})
    assert told(found, "author")[0] == "Acme"
    assert told(found, "author", "Written by", "Jane Doe")[0] == "Jane Doe"


def test_a_marked_author_counts_near_the_heading_and_the_innermost_name_is_taken() -> None:
    found = facts()
    found.add_marked("author_class", "Jane Doe Senior Editor")
    found.add_marked("author_class", "Jane Doe")
    assert told(found, "author", "Jane Doe Senior Editor") == ("Jane Doe", "marked author_class")
    assert told(found, "author", "Somebody else") == (None, None)


def test_of_many_marked_authors_one_far_from_the_heading_is_not_the_page_s() -> None:
    found = facts()
    for name in ("Ann Lee", "Bob Roe", "Cem Kaya", "Dan Fox"):
        found.add_marked("author_class", name)
    far = [*["Some words."] * 12, "Ann Lee"]
    assert told(found, "author", *far) == (None, None)
    assert told(found, "author", "Ann Lee")[0] == "Ann Lee"


def test_no_more_marks_are_kept_than_are_wanted() -> None:
    found = facts()
    for _ in range(MAX_MARKS):
        assert found.wants_marks
        found.add_marked("author_class", "Somebody")
    assert not found.wants_marks
    found.add_marked("published", "14 March 2024")
    assert told(found, "published_at") == (None, None)


# -- Addresses


def test_links_have_numbers_and_the_same_address_has_the_same() -> None:
    found = facts()
    written = ["/x", "#top", "https://a.example/x#part", "mailto:a@b", "y", "/x", "http://["]
    assert [found.add_link(href) for href in written] == [0, None, 0, None, 1, 0, None]
    assert found.links == ("https://a.example/x", "https://a.example/d/y")


def test_links_past_the_limit_have_no_number_and_those_before_keep_theirs() -> None:
    found = facts()
    numbers = [found.add_link(f"/{n}") for n in range(MAX_LINKS + 5)]
    assert numbers == [*range(MAX_LINKS), *[None] * 5]
    assert found.add_link("/7") == 7


def test_a_canonical_address_is_absolute_and_one_on_another_site_is_named_as_such() -> None:
    found = facts(("og:url", "https://www.a.example/og"))
    assert told(found, "canonical_url") == ("https://www.a.example/og", "meta og:url")
    found.add_link_element({"rel": "Canonical", "href": "q?a=1#x"})
    assert told(found, "canonical_url") == ("https://a.example/d/q?a=1", "link canonical")
    found = facts()
    found.add_link_element({"rel": "canonical", "href": "http://trusted.example.org/a"})
    assert told(found, "canonical_url") == ("http://trusted.example.org/a", "link canonical, another site")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("https://a.example/x", "http://www.a.example/y", True),
        ("https://m.a.example/", "https://www.a.example/", True),
        ("https://a.co.uk/", "https://www.a.co.uk/", True),
        ("https://a.co.uk/", "https://b.co.uk/", False),
        ("https://a.example/", "https://b.example/", False),
        ("https://a.example/", "https://a.example.org/", False),
        ("http://localhost/", "http://localhost:8080/", True),
        ("http://192.0.2.1/", "http://192.0.2.1/x", True),
        ("http://192.0.2.1/", "http://198.51.2.1/x", False),
    ],
)
def test_sites_are_told_apart_by_their_hosts(one: str, other: str, is_same: bool) -> None:
    assert is_same_site(one, other) is is_same
    assert is_same_site(other, one) is is_same


def test_a_page_without_an_address_of_the_web_has_facts_all_the_same() -> None:
    for url in ("", "notes.html"):
        found = facts(("og:url", "https://a.example/x"), url=url)
        assert told(found, "canonical_url") == ("https://a.example/x", "meta og:url, another site")
    assert told(facts(("author", "Jane Doe"), url="http://["), "author")[0] == "Jane Doe"
