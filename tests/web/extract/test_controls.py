"""Controls: what the buttons, links and tabs of a page name, and that no page makes looking for them run away."""

from __future__ import annotations

import time

import pytest

from firsthand.web.extract.controls import Controls


def test_ids_and_classes_are_named_however_an_attribute_is_written() -> None:
    page = """<a aria-controls="a b"><b data-target='#c'><i data-bs-target=.d><u popovertarget = e><s aria-controls=""><a href=#f>"""
    controls = Controls(page)
    assert controls.named == {"a", "b", "c", ".d", "e"}
    assert controls.linked == {"f"}


@pytest.mark.parametrize(
    ("page", "has_toggles"),
    [
        ("<b aria-expanded=false>", True),
        ("<b role='tab'>", True),
        ("<b data-bs-toggle=tab>", True),
        ("<p>tab</p>", False),
    ],
)
def test_a_page_with_toggles_opens_what_looks_like_a_panel(page: str, has_toggles: bool) -> None:
    controls = Controls(page)
    assert controls.has_toggles is has_toggles
    assert (controls.opens({"class": "accordion-body"}) != "") is has_toggles


@pytest.mark.parametrize(
    "page",
    [
        "aria-controls=" * 100_000,
        "aria-controls    =    " * 60_000,
        "data-target='" + "x" * 1_000_000,
        'href="#' * 150_000,
        "".join(f"<i id=S:{number} aria-controls=a{number}>" for number in range(30_000)),
    ],
    ids=["names", "spaces", "quote", "links", "elements"],
)
def test_hostile_pages_are_looked_through_in_bounded_time(page: str) -> None:
    began = time.process_time()
    controls = Controls(page)
    for number in range(30_000):
        controls.opens({"id": f"S:{number}", "class": f"tab-pane c{number} " + "tab_" * 20})
    assert time.process_time() - began < 10  # seconds; each takes below one
