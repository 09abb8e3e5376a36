"""Linked data says something of the page, and of other things, which are not the page."""

from __future__ import annotations

import json

from firsthand.web.extract.linked import Linked, read_linked

URL = "https://a.example/d/page"


def linked(*things: object, url: str = URL) -> Linked:
    return read_linked([json.dumps(thing) for thing in things], url)


def test_a_graph_gives_article_site_and_the_person_it_refers_to() -> None:
    found = linked(
        {
            "@graph": [
                {"@type": "WebSite", "name": "A &amp; B"},
                {
                    "@type": ["NewsArticle"],
                    "headline": "H",
                    "datePublished": "2024-01-02",
                    "dateModified": "2024-02-03",
                    "author": {"@id": "#jane"},
                    "publisher": {"@type": "Organization", "name": "P"},
                },
                {"@type": "Person", "@id": "#jane", "name": "Jane Doe"},
            ]
        }
    )
    assert found == Linked(
        headline="H",
        authors=("Jane Doe",),
        has_person=True,
        published="2024-01-02",
        modified="2024-02-03",
        publisher="P",
        site="A & B",
    )


def test_several_authors_keep_their_order_and_an_address_is_kept_apart_from_names() -> None:
    found = linked(
        {"@type": "Article", "author": [{"name": "B"}, "A", {"@type": "Person", "name": ["C"]}, {"name": "B"}]}
    )
    assert found.authors == ("B", "A", "C")


def test_an_organisation_is_no_person() -> None:
    found = linked({"@type": "BlogPosting", "author": {"@type": "Organization", "name": "Acme"}})
    assert (found.authors, found.has_person) == (("Acme",), False)


def test_authors_and_dates_of_comments_and_reviews_are_not_the_page_s() -> None:
    found = linked(
        {
            "@type": "Product",
            "name": "Chair",
            "review": [{"@type": "Review", "author": {"name": "Buyer"}, "datePublished": "2020-01-01"}],
        },
        {
            "@type": "DiscussionForumPosting",
            "headline": "Q",
            "author": {"name": "asker"},
            "dateCreated": "2024-05-06",
            "comment": [{"@type": "Comment", "author": {"name": "other"}, "datePublished": "2020-01-01"}],
        },
    )
    assert (found.authors, found.published, found.created) == (("asker",), "", "2024-05-06")


def test_of_several_articles_the_one_at_the_page_s_address_counts_and_else_none() -> None:
    one = {"@type": "Article", "headline": "One", "author": "A", "url": "https://a.example/d/one"}
    two = {"@type": "Article", "headline": "Two", "author": "B", "mainEntityOfPage": {"@id": f"{URL}/"}}
    assert linked([one, two]).authors == ("B",)
    assert linked([one, {**two, "mainEntityOfPage": None}]).authors == ()


def test_the_question_of_a_page_of_answers_is_the_page() -> None:
    found = linked(
        {"@type": "QAPage", "mainEntity": {"@type": "Question", "name": "Why?", "author": {"name": "asker"}}}
    )
    assert (found.headline, found.authors) == ("Why?", ("asker",))


def test_what_is_broken_says_nothing_and_does_not_hide_what_follows() -> None:
    deep = "[" * 50_000 + "]" * 50_000
    good = '{"@type": "Article", "headline": "a\nline", "author": "A"};'
    found = read_linked(['{"@type": </script>', deep, "7", good], URL)
    assert (found.headline, found.authors) == ("a line", ("A",))


def test_no_more_than_a_fixed_number_of_things_is_looked_at() -> None:
    found = linked(
        [{"@type": "Thing", "x": [[] for _ in range(190)]} for _ in range(190)], {"@type": "Article", "author": "A"}
    )
    assert found.authors == ()
