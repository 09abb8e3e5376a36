"""Feeds and other XML: entries with what they say, and nothing that XML could be made to fetch, read or blow up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import ExtractionFailed
from firsthand.values import Text
from firsthand.web.extract import extract

URL = "https://news.example/feed"
RSS = """<?xml version="1.0" encoding="{encoding}"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>Hafen &amp; Küste</title><link>https://news.example/</link><atom:link href="/feed" rel="self"/>
<description>News of the harbour</description><language>de-DE</language>
<lastBuildDate>Mon, 30 Nov 2026 10:00:00 GMT</lastBuildDate>
<image><title>Logo</title><link>https://news.example/logo</link></image>
<item><title>Ebbe &amp;amp; Flut</title><link>https://news.example/1</link><pubDate>Sun, 29 Nov 2026 08:30:00 GMT</pubDate>
<author>ida@news.example (Ida Holm)</author>
<description>&lt;p&gt;The tide rises &lt;b&gt;3 m&lt;/b&gt;.&lt;/p&gt;&lt;p&gt;See &lt;a href="/tides"&gt;tides&lt;/a&gt;.&lt;/p&gt;</description>
<content:encoded><![CDATA[<h2>Times</h2><ul><li>High: 06:10</li></ul><p>The tide rises <b>3 m</b>.</p>]]></content:encoded></item>
<item><title>Second</title><guid>x</guid><description>Plain words &nbsp;only.</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title type="text">Notes</title>
<updated>2026-11-30T10:00:00Z</updated><author><name>Ida Holm</name></author>
<entry><title>On tides</title><link href="/notes/1"/><link rel="edit" href="/edit"/>
<published>2026-11-29T08:30:00Z</published><summary>Short words.</summary>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Long <em>words</em> &amp; <a href="/more">more</a>.</p></div></content>
</entry></feed>"""


def read(source: str | bytes, content_type: str = "application/rss+xml") -> Text:
    payload = source.encode() if isinstance(source, str) else source
    return extract(payload, url=URL, content_type=content_type)


def said(text: Text) -> list[tuple[str, str, str]]:
    return [
        (block.kind, " > ".join(block.headings), text.body[block.span.start : block.span.end]) for block in text.blocks
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_an_rss_feed_gives_its_entries(encoding: str) -> None:
    text = read(RSS.format(encoding=encoding).encode(encoding))
    entry = "Hafen & Küste > Ebbe & Flut"
    assert said(text) == [
        ("heading", "", "Hafen & Küste"),
        ("paragraph", "Hafen & Küste", "News of the harbour"),
        ("heading", "Hafen & Küste", "Ebbe & Flut"),
        ("paragraph", entry, "Sun, 29 Nov 2026 08:30:00 GMT"),
        ("paragraph", entry, "ida@news.example (Ida Holm)"),
        ("paragraph", entry, "https://news.example/1"),
        ("heading", entry, "Times"),
        ("item", f"{entry} > Times", "High: 06:10"),
        ("paragraph", f"{entry} > Times", "The tide rises 3 m."),
        ("paragraph", entry, "See tides."),
        ("heading", "Hafen & Küste", "Second"),
        ("paragraph", "Hafen & Küste > Second", "Plain words only."),
    ]
    assert (text.title, text.language, text.modified_at) == ("Hafen & Küste", "de", "2026-11-30T10:00:00")
    assert text.links == ("https://news.example/1", "https://news.example/tides")
    assert text.media_type == "application/rss+xml"


def test_an_atom_feed_gives_its_entries() -> None:
    text = read(ATOM, "application/xml")
    assert said(text) == [
        ("heading", "", "Notes"),
        ("heading", "Notes", "On tides"),
        ("paragraph", "Notes > On tides", "2026-11-29T08:30:00Z"),
        ("paragraph", "Notes > On tides", "/notes/1"),
        ("paragraph", "Notes > On tides", "Long words & more."),
        ("paragraph", "Notes > On tides", "Short words."),
    ]
    assert (text.media_type, text.author, text.language) == ("application/atom+xml", "Ida Holm", "en")
    assert text.links == ("https://news.example/notes/1", "https://news.example/more")


def test_an_ampersand_that_begins_nothing_is_mended() -> None:
    text = read("<rss><channel><title>Ebb & flow</title><item><title>A &copy; B</title></item></channel></rss>")
    assert [words for _, _, words in said(text)] == ["Ebb & flow", "A © B"]


def test_other_xml_gives_its_text_and_a_site_map_its_links() -> None:
    book = read("<?xml version='1.0'?><book><title>Tides</title><p>It <em>rises</em> twice.</p><x/></book>", "text/xml")
    assert [words for _, _, words in said(book)] == ["Tides", "It rises twice."]
    urls = "".join(f"<url><loc>https://news.example/{number}</loc></url>" for number in range(3))
    sitemap = read(f"<urlset>{urls}</urlset>", "application/xml")
    assert [(kind, words.count("\n")) for kind, _, words in said(sitemap)] == [("code", 2)]
    assert sitemap.links == tuple(f"https://news.example/{number}" for number in range(3))


BOMB = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(8))


@pytest.mark.parametrize(
    "doctype",
    [
        f'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">{BOMB}]>',
        '<!DOCTYPE r [<!ENTITY i SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE r [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>',
    ],
    ids=["bomb", "file", "parameter"],
)
def test_a_document_that_declares_entities_is_not_read(doctype: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        read(f"<?xml version='1.0'?>{doctype}<rss><channel><title>&i; Needle</title></channel></rss>")
    assert (caught.value.outcome, caught.value.code) == ("failed", "parse_error")


def test_an_outside_document_type_is_never_asked_for() -> None:
    text = read("<?xml version='1.0'?><!DOCTYPE r SYSTEM 'http://127.0.0.1:9/x.dtd'><rss><channel><title>N</title></channel></rss>")  # fmt: skip
    assert text.body == "N"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("<rss><channel><title>Cut", "parse_error"),
        ("<rss>" + "<a>" * 100_000 + "Needle" + "</a>" * 100_000 + "</rss>", "parse_limit"),
        ("<rss><channel/></rss>", "no_text"),
    ],
    ids=["cut", "deep", "empty"],
)
def test_what_cannot_be_read_says_why(source: str, code: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        read(source)
    assert caught.value.code == code


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["<item>", "</item>", "<title>", "</title>", "<link href='x'/>", "&amp;", "&", "&nbsp;", "wort", "<![CDATA[<p>x]]>", "<content type='xhtml'>", "</content>", "<b>", "</b>", "\0", "<?pi?>", "<!--c-->"]), max_size=40))  # fmt: skip
def test_any_pieces_of_a_feed_give_a_text_or_a_typed_failure(pieces: list[str]) -> None:
    try:
        text = read("<rss><channel>" + "".join(pieces) + "</channel></rss>")
    except ExtractionFailed:
        return
    assert all(words.strip() for _, _, words in said(text))
