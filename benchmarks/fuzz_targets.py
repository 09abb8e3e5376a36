"""What the fuzzer feeds and what must hold: for each target its first inputs, and a check that raises if a rule breaks.

A check takes any bytes. ``Broken`` says which rule; any other exception is a rule broken too: nothing but the errors
that a function names may leave it. Independent judges are used where there are some: the standard library's URL
splitter and address table, aiohttp's parser, a CommonMark reader, the standard library's HTML reader.
"""

from __future__ import annotations

import json
import re
import socket
import zlib
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import cache, partial
from html.parser import HTMLParser
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

from benchmarks import fuzz_seeds as seeds
from firsthand import render
from firsthand.errors import AddressRefused, ExtractionFailed, FetchFailed
from firsthand.evidence import quotes
from firsthand.page import to_html
from firsthand.research.write import escape
from firsthand.values import Answer, Citation, Claim, Engine, Source, Span, Usage
from firsthand.web import address, limits
from firsthand.web.connection import Deadline, Incoming, Silence
from firsthand.web.extract import charset, extract
from firsthand.web.wire import Framing

URL = "https://pages.example/a/b.html"


class Broken(AssertionError):
    """A rule does not hold for this input."""


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that takes hostile input. ``share`` is its part of the executions of the small targets."""

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    words: Sequence[bytes]  # pieces that inputs of its kind are made of
    share: float = 0.0
    max_bytes: int = 2_000


def _must(holds: bool, rule: str) -> None:
    if not holds:
        raise Broken(rule)


def _text(data: bytes) -> str:
    """*data* as characters; bytes that are no UTF-8 become lone surrogates, which JSON can bring as well."""
    return data.decode("utf-8", "surrogateescape")


# -- The gate

POLICY = address.Policy()
BASE = address.judge("https://example.com/a/b?c", POLICY)


def check_gate(data: bytes) -> None:
    """What is admitted is read in the same way by others, stays admitted, and is no address of an inner network."""
    first, _, second = _text(data).partition("\0")
    for judged in (partial(address.judge, first), partial(address.follow, second or first, BASE)):
        try:
            target = judged(POLICY)
        except AddressRefused:
            continue
        _check_target(target)
    try:
        address.judge_answer(first, BASE, POLICY)
    except AddressRefused:
        return
    _check_public(first)


def _check_target(target: address.Target) -> None:
    _must(address.judge(target.url, POLICY) == target, "what is admitted is admitted again, as it is")
    _must(address.canonical_url(target.url) == target.url, "the canonical form of a canonical address is itself")
    _must(re.fullmatch(r"[!-~]+", target.url) is not None, "an admitted address is printable ASCII")
    _must(target.port in limits.PORTS and target.scheme in limits.SCHEMES, "scheme and port are allowed")
    parts = urlsplit(target.url)
    _must((parts.hostname or "") == target.host, "another parser sees the same host")
    _must((parts.port or address.DEFAULT_PORTS[target.scheme]) == target.port, "another parser sees the same port")
    _must(parts.username is None and not parts.fragment, "no user and no fragment goes along")
    _must(parts.netloc == target.authority, "the Host header is what the address says")
    if target.is_literal:
        _check_public(target.host)
        return
    try:
        socket.inet_aton(target.host)
    except OSError:
        return
    raise Broken("a host that a resolver takes for an address is judged as one")


def _check_public(literal: str) -> None:
    ip: Any = ip_address(literal)
    faces: list[Any] = [ip]
    if isinstance(ip, IPv6Address):
        faces += [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
    for face in filter(None, faces):
        inner = face.is_loopback or face.is_link_local or face.is_multicast or face.is_unspecified or face.is_reserved
        _must(not inner and not face.is_private, "the standard library calls an admitted address public")


# -- The header reader


def check_head(data: bytes) -> None:
    """Framing and parser: the same in any cut, one answer at most, and headers that can be kept and shown."""
    size, wire = (data[:1] or b"\0")[0] % 61 + 1, data[1:]
    whole = _framed(wire, len(wire) or 1)
    _must(whole == _framed(wire, size), "the end of a response does not depend on how its bytes arrive")
    received = _received(wire, len(wire) or 1)
    if whole is None:
        return
    _must(wire.startswith(whole), "framing only cuts")
    _must(received == _received(wire, size), "a response does not depend on how its bytes arrive")
    if received is None:
        return
    _must(_n_answers(whole) == 1, "one answer at most")
    _check_headers(received[1])


def _framed(wire: bytes, size: int) -> bytes | None:
    framing = Framing()
    try:
        return b"".join(framing.feed(wire[at : at + size]) for at in range(0, len(wire), size))
    except FetchFailed as error:
        _must(error.code == "bad_response", "framing refuses as a bad response")
        return None


def _received(wire: bytes, size: int) -> tuple[int, Any, bytes] | None:
    """Status, raw headers and body as a connection of ours reads them; None if it refuses. Needs a running loop."""
    from aiohttp.http import HttpProcessingError

    incoming = Incoming(_Recorded(wire, size), _Unhurried(), limits.LIMITS)
    try:
        message = _run(incoming.head())
        body = b""
        while piece := _run(incoming.piece()):
            body += piece
    except (Silence, FetchFailed, HttpProcessingError):
        return None
    return message.code, message.raw_headers, body


def _n_answers(wire: bytes) -> int:
    parser = Incoming(_Recorded(b"", 1), _Unhurried(), limits.LIMITS)._parser
    messages, _, _ = parser.feed_data(wire)
    return sum(not 100 <= message.code <= 199 or message.code == 101 for message, _ in messages)


def _run(step: Coroutine[Any, Any, Any]) -> Any:
    """The result of what never has to wait; it may let others go first."""
    try:
        while step.send(None) is None:
            continue
    except StopIteration as done:
        return done.value
    raise Broken("reading from memory waits for nothing")


class _Recorded:
    """A wire whose bytes are all there."""

    def __init__(self, data: bytes, size: int) -> None:
        self._pieces = iter([data[at : at + size] for at in range(0, len(data), size)])

    async def send(self, data: bytes) -> None: ...

    async def receive(self) -> bytes:
        return next(self._pieces, b"")

    def hang_up(self) -> None: ...

    def close(self) -> None: ...


class _Unhurried(Deadline):
    """No time passes."""

    def __init__(self) -> None: ...

    def step(self, seconds: float) -> None: ...


def _check_headers(raw: Any) -> None:
    from firsthand.web.client import _read_head, _shown

    try:
        head = _read_head(raw, limits.LIMITS)
    except FetchFailed:
        return
    shown = _shown(head)
    _must(not {"set-cookie", "www-authenticate"} & set(shown), "no cookie and no challenge is kept")
    for name, value in shown.items():
        _must(name == name.lower(), "names are in lower case")
        value.encode("utf-8")
        _must(name == "location" or not re.search(r"[\x00-\x1f\x7f]", value), "no value steers a terminal")


# -- The charset step

_CHOSEN = set(charset._CODECS)


def check_charset(data: bytes) -> None:
    """Any bytes become characters that can be stored, by a charset of the list."""
    header, _, payload = data.partition(b"\0")
    for content_type in (None, header.decode("latin-1")):
        decoded = charset.decode(payload, content_type=content_type)
        _must(decoded.chosen in _CHOSEN, "the charset is one of the list")
        decoded.text.encode("utf-8")  # no lone surrogate
        if not payload.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) and not payload.isascii():
            try:
                _must(decoded.text == payload.decode("utf-8"), "strict UTF-8 is read as it is")
            except UnicodeDecodeError:
                continue


# -- What is shown

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_TAGS = set(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "h1",
        "h2",
        "p",
        "b",
        "div",
        "ul",
        "ol",
        "li",
        "a",
        "pre",
        "code",
        "span",
        "mark",
        "blockquote",
        "footer",
        "br",
        "strong",
    ]
)
_ATTRIBUTES = {"lang", "charset", "name", "content", "http-equiv", "class", "href", "rel", "id", "aria-label"}


def check_shown(data: bytes) -> None:
    """Words of a page steer no terminal, are no markup in Markdown and HTML, and are the same words afterwards."""
    text = _text(data)
    seen = render.visible(text)
    _must(not _CONTROLS.search(seen), "nothing that steers or hides is shown")
    _must(render.visible(seen) == seen, "what is visible stays as it is")
    _must(len(render.visible_line(text).splitlines()) <= 1, "one record is one line")
    shown_json = render.escape_unseen(json.dumps(text, ensure_ascii=False))
    _must(json.loads(shown_json) == text, "JSON keeps its value")
    _must(not _CONTROLS.search(shown_json), "JSON steers nothing")
    _must(not re.search(r"[ \n\r\t()<>\\\"'`]", render.link_target(text)), "a link ends where it ends")
    words = escape(text)
    _must(render.plain(words) == " ".join(text.split()), "escaped words are the same words")
    lot = zlib.crc32(data)  # reading Markdown costs ten times as much, whole documents a hundred times
    if lot % 8 == 0:
        _check_inert(words)
        _check_inert(render.escape_markdown(" ".join(text.split())))
    if lot % 64 == 0:
        _check_documents(text)


def _check_inert(markdown: str) -> None:
    tokens = _commonmark().parse(f"x {markdown}")
    kinds = {child.type for token in tokens for child in token.children or ()}
    _must(len(tokens) == 3 and kinds <= {"text", "text_special", "softbreak"}, "escaped words are no markup")


@cache
def _commonmark() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _check_documents(text: str) -> None:
    answer = _answer(text)
    terminal = render.to_terminal(answer, width=40)
    _must(not _CONTROLS.search(terminal) and "\t" not in terminal, "the terminal is not steered")
    page = to_html(answer)
    page.encode("utf-8")
    _must(not _CONTROLS.search(page), "the page hides nothing")
    reader = _Reader()
    reader.feed(page)
    reader.close()
    _must(reader.tags <= _TAGS and reader.attributes <= _ATTRIBUTES, "the page holds our own markup only")
    _must(all(link.startswith(("http://", "https://", "#")) for link in reader.links), "the page links to pages only")
    render.to_markdown(answer)
    _must(render.from_json(render.to_json(answer)) == answer, "an answer is the same from its JSON")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value or "" for name, value in attrs if name == "href"]


def _answer(text: str) -> Answer:
    """An answer in which every word that a page can choose is *text*."""
    try:
        url = address.canonical_url(f"https://pages.example/{text}")
    except AddressRefused:
        url = URL
    words = escape(text) or "x"
    citation = Citation(1, url, text, text[:9], text[:9], f"sha256:{'0' * 64}", "0" * 64, 0, len(text), "exact", "supported", 1.0, "rule")  # fmt: skip
    claim = Claim(words, 0, len(words), (citation,))
    source = Source(1, url, text, "pages.example", "2026-01-01T00:00:00Z", None, f"sha256:{'0' * 64}", "text/html")
    return Answer(
        "a1", text, "en", "search", "annotate", "answered", f"{words} [1]({render.link_target(url)})",
        (claim,), (source,), (text,), (text,), (text,), (), (text,), (text,),
        Usage(), 1, Engine("0", "none", "e", ("s",)),
    )  # fmt: skip


# -- The matcher

_STRETCHED = {" ": " \n ", "'": "’", '"': "”", "-": "–", "e": "e\u00ad", "a": "a\u200b"}


def check_matcher(data: bytes) -> None:
    """What is found stands there; what was cut out of a text, or differs only in what does not count, is found."""
    head, body = data[:4].ljust(4, b"\0"), _text(data[4:])
    folded = quotes.fold(body)
    _must(len(folded.text) == len(folded.starts) == len(folded.ends), "every folded point has its way back")
    _must(all(0 <= s < e <= len(body) for s, e in zip(folded.starts, folded.ends, strict=True)), "spans lie inside")
    _must(list(folded.starts) == sorted(folded.starts), "the way back keeps the order")
    start = head[0] * len(body) // 256
    end = start + max(1, head[1] * (len(body) - start) // 256)
    near = Span(start, min(end, len(body))) if head[2] & 1 and body else None
    cut = body[start:end]
    _check_found(cut, body, body[max(0, start - 9) : start], body[end : end + 9], near)
    if cut.strip():
        _must(quotes.locate(cut, body)[1] == "exact", "what was cut out is found as it is")
        stretched = "".join(_STRETCHED.get(char, char) for char in cut)
        _must(quotes.same_words(cut, stretched), "what does not count is folded away")
    _check_found(_text(data[:40]), body, "", "", near)
    quotes.objection(cut, body)


def _check_found(quote: str, body: str, prefix: str, suffix: str, near: Span | None) -> None:
    span, verdict = quotes.locate(quote, body, prefix=prefix, suffix=suffix, near=near)
    shown = body[span.start : span.end]
    if verdict == "missing":
        _must(span == Span(0, 0), "what is missing stands nowhere")
        return
    _must(0 <= span.start < span.end <= len(body), "a place lies inside its text")
    _must(shown == quote if verdict == "exact" else quotes.same_words(shown, quote), "the words stand at their place")
    made = quotes.cut(body, span)
    _must(
        made.text == shown and body[span.start - len(made.prefix) : span.start] == made.prefix, "a quote is cut there"
    )


# -- The extractor

seeds.TYPES = (None, "text/html", "text/html; charset=shift_jis", "application/xhtml+xml", "text/plain", "text/markdown",
          "application/json", "application/xml", "text/xml")  # fmt: skip


def check_extractor(data: bytes) -> None:
    """Any page becomes a text whose blocks lie in it in order, can be stored, and links to pages only; or is refused."""
    try:
        text = extract(data[1:], url=URL, content_type=seeds.TYPES[(data[:1] or b"\0")[0] % len(seeds.TYPES)])
    except ExtractionFailed:
        return
    text.body.encode("utf-8")
    _must("\r" not in text.body and "\0" not in text.body, "a text has line feeds only, and no NUL")
    _must(bool(text.body.strip()), "a text says something")
    at = 0
    for block in text.blocks:
        _must(at <= block.span.start < block.span.end <= len(text.body), "blocks lie in the text, in order")
        _must(bool(text.body[block.span.start : block.span.end].strip()), "a block says something")
        at = block.span.end
    for value in (text.title, text.author, text.published_at, text.canonical_url, text.site_name, text.language):
        (value or "").encode("utf-8")
    _must(all(link.startswith(("http://", "https://")) for link in text.links), "links lead to pages")


TARGETS: Sequence[Target] = (
    Target("gate", check_gate, seeds.gate, seeds.GATE_WORDS, 0.34, 300),
    Target("head", check_head, seeds.heads, seeds.HEAD_WORDS, 0.10, 1_000),
    Target("charset", check_charset, seeds.charsets, seeds.CHARSET_WORDS, 0.34, 600),
    Target("shown", check_shown, seeds.shown, seeds.SHOWN_WORDS, 0.10, 300),
    Target("matcher", check_matcher, seeds.matcher, seeds.MATCHER_WORDS, 0.12, 300),
    Target("extractor", check_extractor, seeds.pages, seeds.PAGE_WORDS, 0.0, 65_536),
)
BY_NAME = {target.name: target for target in TARGETS}
