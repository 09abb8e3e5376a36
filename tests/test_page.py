"""An answer as one HTML file that is inert."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.page import to_html
from firsthand.values import Failure
from tests import samples

PAYLOADS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>1</script>",
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "![x](https://attacker.example/p.png)",
    "`</code><b onclick=1>`",
    "**<svg onload=1>**",
    "```\n</pre><script>1</script>\n```",
    "- <iframe src=//attacker.example>",
]


class Tags(HTMLParser):
    """The tags and attributes of a file, as the standard library reads them."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "b", "a", "ol", "ul", "li", "div",
    "blockquote", "span", "mark", "pre", "code", "strong", "br", "footer",
}  # fmt: skip


def assert_inert(source: str) -> None:
    """Only our tags, no event handler, no source, links to http(s) or inside the file."""
    for tag, attributes in Tags(source).tags:
        assert tag in ALLOWED, tag
        assert not any(name.startswith("on") or name in ("src", "srcset", "style") for name in attributes), attributes
        href = attributes.get("href")
        assert href is None or href.startswith(("https://", "http://", "#s")), href


def hostile(text: str) -> str:
    """A file with *text* wherever words of a page, a question or a failure stand."""
    source = samples.answer().sources[0]
    return to_html(
        samples.answer(
            question=text,
            text=text,
            missing=(text,),
            follow_ups=(text,),
            failures=(Failure("fetch", text, "failed", text), Failure("fetch", text + "2", "failed", text)),
            sources=(type(source)(1, text, text, text, text, None, text, text),),
            claims=(
                samples.answer()
                .claims[0]
                .__class__(text, 0, 1, (samples.citation(url=text, quote=text, prefix=text, suffix=text),)),
            ),
        )
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_in_any_field_stays_text(payload: str) -> None:
    assert_inert(hostile(payload))


@given(st.text(alphabet="<>/\"'&`*[]()!-#: \nabjs1", max_size=80))
def test_any_text_stays_text(text: str) -> None:
    assert_inert(hostile(text))


def test_the_policy_allows_exactly_the_style_that_is_there() -> None:
    source = to_html(samples.answer())
    style = re.search(r"<style>(.*?)</style>", source, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', source)
    assert style and policy
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy[1] == f"default-src 'none'; style-src 'sha256-{digest}'"


def test_the_quote_is_marked_with_its_surroundings_and_its_verdict_in_words() -> None:
    source = to_html(samples.answer())
    assert "<span>…A join has </span><mark>at most 64 tables</mark><span>, it says.…</span>" in source
    assert "Stands word for word in the kept page" in source


def test_the_deep_link_names_the_first_words_of_the_quote() -> None:
    assert "https://example.org/limits.html#:~:text=at%20most%2064%20tables" in to_html(samples.answer())


def test_what_failed_alike_is_one_entry_that_lists_its_first_targets() -> None:
    failures = tuple(Failure("fetch", f"https://a.example/{n}", "timeout", "No answer came.") for n in range(7))
    source = to_html(samples.answer(failures=failures))
    listed = "".join(f"<li>https://a.example/{n}</li>" for n in range(5))
    entry = f"<li>7 pages: timeout (No answer came.)<ul>{listed}<li>and 2 more</li></ul></li>"
    assert f"<h2>What failed</h2>\n<ul>{entry}</ul>" in source
