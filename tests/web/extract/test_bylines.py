"""Who wrote a page, in words and in marked elements."""

from __future__ import annotations

import pytest

from firsthand.web.extract.bylines import MARKED, byline, declared_author, labelled, mark_of


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("By Jane Doe", "Jane Doe"),
        ("by Jane Doe | 14 March 2024", "Jane Doe"),
        ("By Jane Doe March 14, 2024", "Jane Doe"),
        ("By Jane Doe, Sat 14 March 2024", "Jane Doe"),
        ("Written by: Jane van der Berg and John Roe on March 3", "Jane van der Berg and John Roe"),
        ("Posted by Dr. Ann Lee · 5 min read", "Dr. Ann Lee"),
        ("ByJane Doe", "Jane Doe"),
        ("Authors: Ann Lee, Bob Roe", "Ann Lee, Bob Roe"),
        ("Von Eva Müller", "Eva Müller"),
        ("Par Émile Zola", "Émile Zola"),
        ("Por Ana Ruiz", "Ana Ruiz"),
        ("作者：王小明", "王小明"),
        ("Автор: Анна Ковальчук", "Анна Ковальчук"),
        ("By the time the water came, nobody was left", ""),
        ("By using this site you agree", ""),
        ("By admin", ""),
        ("By 2030", ""),
        ("Por favor, espere", ""),
        ("Jane Doe", ""),
        ("Byron Smith", ""),
        ("", ""),
    ],
)
def test_a_byline_names_somebody_plainly_or_nobody(words: str, names: str) -> None:
    assert byline(words) == names


def test_in_an_element_marked_as_author_the_name_may_stand_alone() -> None:
    assert byline("Jane Doe", needs_by=False) == "Jane Doe"
    assert byline("Updated", needs_by=False) == ""
    assert byline("Sat", needs_by=False) == ""


@pytest.mark.parametrize(
    ("declared", "author"),
    [
        ("Jane Doe", "Jane Doe"),
        ("by Jane Doe", "Jane Doe"),
        ("jane_doe", "jane_doe"),
        ("https://a.example/jane", ""),
        ("jane@a.example", ""),
        ("@jane", ""),
        ("admin", ""),
        ("{{ author.name }}", ""),
        ("page.head.extra.author", ""),
        ("42", ""),
        (" - ", ""),
        ("x" * 400, ""),
    ],
)
def test_a_declared_author_is_a_name_or_nothing(declared: str, author: str) -> None:
    assert declared_author(declared) == author


@pytest.mark.parametrize(
    ("attributes", "mark"),
    [
        ({"itemprop": "author creator"}, "author"),
        ({"itemprop": "datePublished", "class": "x"}, "published"),
        ({"rel": "nofollow Author", "href": "/x"}, "author"),
        ({"class": "post-author-name fn"}, "author_class"),
        ({"class": "byline"}, "byline"),
        ({"class": "articleByline"}, "byline"),
        ({"class": "entry-date published"}, "date"),
        ({"class": "publishedDate"}, "published"),
        ({"href": "/authors/jane-doe/"}, "author_link"),
        ({"href": "https://a.example/author/jane?x=1"}, "author_link"),
        ({"href": "/authors/"}, None),
        ({"href": "/authority/jane"}, None),
        ({"class": "comment-author"}, None),
        ({"class": "author-bio"}, None),
        ({"class": "related-post-date"}, None),
        ({"class": "updated"}, None),
        ({"class": "candidate"}, None),
        ({"class": None, "itemprop": None, "rel": None, "href": None}, None),
        ({}, None),
    ],
)
def test_elements_that_are_marked_as_author_or_date_are_known(
    attributes: dict[str, str | None], mark: str | None
) -> None:
    assert mark_of(attributes) == mark
    assert mark is None or mark in MARKED


def test_a_label_that_stands_alone_goes_with_what_follows() -> None:
    assert labelled(["Home", "By", "Jane Doe", "Posted on:", "14 March 2024", "By"]) == [
        "Home",
        "By Jane Doe",
        "Posted on: 14 March 2024",
    ]
