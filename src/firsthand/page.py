"""An answer as one HTML file that needs nothing else: no script, no request, readable on a phone and in the dark.

Every word of a page is escaped; the only live links are to the cited pages. The style is allowed by its hash, so the
file's own policy forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from html import escape
from urllib.parse import quote as percent

from firsthand.render import STATUS_WORDS, VERDICT_WORDS, Part, counted, is_code, link_target, notes, parts, visible
from firsthand.values import Answer, Citation, Source

_STYLE = """
:root{color-scheme:light dark;--ink:#1c2330;--soft:#5d6778;--line:#dfe3ea;--paper:#fff;--tint:#f5f7fa;--mark:#fff1b8;--link:#1753b4}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ef;--soft:#98a3b5;--line:#2d3644;--paper:#12161d;--tint:#1a2029;--mark:#5a4b0e;--link:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:44rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .4rem;overflow-wrap:anywhere}
.notes{margin-top:2.4rem;padding-top:.4rem;border-top:1px solid var(--line)}
.notes h2{font-size:.93rem;margin:1.2rem 0 .2rem;padding:0;border:0}
.notes ul{margin:0;color:var(--soft);font-size:.93rem;overflow-wrap:anywhere}
h2{font-size:1rem;margin:2.4rem 0 .7rem;padding-top:1.2rem;border-top:1px solid var(--line)}
.facts{color:var(--soft);font-size:.9rem;margin:0 0 1.6rem}
.facts b{color:var(--ink);font-weight:600}
a{color:var(--link);text-underline-offset:.15em}
a.n{text-decoration:none;font-size:.8em;vertical-align:.25em;padding:0 .1em}
a:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
.lead{font-size:1.16rem;line-height:1.55}
.lead p{margin:0 0 .8rem}
.more{margin-top:1.6rem;padding-left:1rem;border-left:1px solid var(--line);color:var(--soft);font-size:.93rem;line-height:1.55}
.more p{margin:0 0 .9rem}
.more>:last-child{margin-bottom:0}
.lead p,.more p{overflow-wrap:anywhere}
.from{margin-top:-.4rem}
.bar{color:var(--soft);opacity:.6}
pre{background:var(--tint);padding:.8rem 1rem;overflow-x:auto;border-radius:6px;font-size:.86rem;line-height:1.5}
ul{padding-left:1.2rem}
ol.sources{list-style:none;margin:0;padding:0}
.sources>li{margin:0 0 1.6rem;scroll-margin-top:1rem}
.sources>li:target{background:var(--tint);box-shadow:0 0 0 .8rem var(--tint);border-radius:4px}
.title{font-weight:600;overflow-wrap:anywhere}
.where{color:var(--soft);font-size:.82rem;overflow-wrap:anywhere}
blockquote{margin:.9rem 0 .25rem;padding:.1rem 0 .1rem 1rem;border-left:3px solid var(--line);white-space:pre-wrap;overflow-wrap:anywhere;font-size:.94rem}
blockquote span{color:var(--soft)}
mark{background:var(--mark);color:inherit;padding:.05em 0}
.bad{color:#b3261e;font-weight:600}
blockquote.code{font-family:ui-monospace,"SFMono-Regular",Menlo,Consolas,monospace;font-size:.84rem;line-height:1.5;tab-size:4}
pre,code{font-family:ui-monospace,"SFMono-Regular",Menlo,Consolas,monospace}
code{font-size:.82em;overflow-wrap:anywhere}
footer{margin-top:3rem;color:var(--soft);font-size:.85rem}
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_INLINE = re.compile(r"\[(\d+)\]\(([^()\s]*)\)|\\([^\w\s]|_)|`([^`\n]+)`|\*\*([^*\n]+)\*\*|&amp;")


def to_html(answer: Answer) -> str:
    """The whole file, UTF-8."""
    question = _words(answer.question)
    out = [
        f'<!doctype html>\n<html lang="{escape(answer.language or "en")}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="generator" content="{Answer.schema}">',
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'\">",
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="referrer" content="no-referrer">',
        f"<title>{question}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>",
        f"<h1>{question}</h1>",
        f'<p class="facts"><b>{STATUS_WORDS[answer.status]}</b> · {counted(len(answer.sources), "source")} · '
        f"{counted(sum(len(claim.citations) for claim in answer.claims), 'quote')} · {answer.elapsed_ms} ms</p>",
        *_parts(answer),
    ]
    if answer.sources:
        out.append('<h2>Where it says so</h2>\n<ol class="sources">')
        out += [_source(answer, source) for source in answer.sources]
        out.append("</ol>")
    if noted := notes(answer):
        out.append('<div class="notes">')
        for title, rows in noted:
            items = "".join(f"<li>{_words(row.text)}{_listed(row.listed)}</li>" for row in rows)
            out.append(f"<h2>{title}</h2>\n<ul>{items}</ul>")
        out.append("</div>")
    out.append(
        f"<footer>Check every quote again, offline: <code>firsthand verify {escape(answer.id)}</code><br>"
        f"Firsthand {escape(answer.engine.version)}</footer>\n</main>\n</body>\n</html>\n"
    )
    return "\n".join(out)


def _listed(rows: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_words(row)}</li>' for row in rows)}</ul>" if rows else ""


def _parts(answer: Answer) -> list[str]:
    """The first statement large, what stands beside it smaller; an answer without claims is plain text."""
    lead, *more = parts(answer) or [Part("")]
    if not answer.claims:
        return [_part(lead)]
    shown = [f'<div class="lead">\n{_part(lead)}\n</div>']
    if more:
        shown += ['<div class="more">', *map(_part, more), "</div>"]
    return shown


def _part(part: Part) -> str:
    """One statement: prose as paragraphs, a row with its cells, code with its lines."""
    if not part.shaped:
        return _body(part.markdown)
    numbers = "".join(f'<a class="n" href="#s{n}" aria-label="source {n}">[{n}]</a>' for n in part.sources)
    shown = "".join(f"<pre>{_words(q)}</pre>" if is_code(q) else f"<p>{_rows(q)}</p>" for q in part.shaped)
    return f'{shown}<p class="from">{numbers}</p>' if shown.endswith("</pre>") else f"{shown[:-4]} {numbers}</p>"


def _rows(quote: str) -> str:
    """Rows of a table in a line each, a bar between their cells; paragraphs with a line between them."""
    rows = [row for row in quote.split("\n") if row.strip()]
    gap = "<br>" if "\t" in quote else "<br><br>"
    return gap.join('<span class="bar"> │ </span>'.join(map(_words, row.split("\t"))) for row in rows)


def _source(answer: Answer, source: Source) -> str:
    quotes: dict[tuple[int, int], Citation] = {}
    for claim in answer.claims:
        for citation in claim.citations:
            if citation.source == source.n:
                quotes.setdefault((citation.start, citation.end), citation)
    rows = [f'<li id="s{source.n}"><div class="title">[{source.n}] {_words(source.title or source.url)}</div>']
    rows.append(f'<div class="where">{_link(source.url, source.url)}</div>')
    for citation in quotes.values():
        # What stands around a quote may begin or end inside a word; an ellipsis says so.
        before = f"<span>…{_around(citation.prefix)}</span>" if citation.prefix else ""
        after = f"<span>{_around(citation.suffix)}…</span>" if citation.suffix else ""
        bad = ' class="bad"' if citation.verdict == "missing" else ""
        code = ' class="code"' if is_code(citation.quote) else ""
        quoted = _words(citation.quote).replace("\t", '<span class="bar"> │ </span>')
        rows.append(f"<blockquote{code}>{before}<mark>{quoted}</mark>{after}</blockquote>")
        rows.append(
            f'<div class="where"><span{bad}>{VERDICT_WORDS[citation.verdict].capitalize()}</span>, characters '
            f"{citation.start}–{citation.end} · {_link(_deep_link(citation), 'find it on the live page')}</div>"
        )
    rows.append(f'<div class="where">kept {escape(source.retrieved_at)} · <code>{escape(source.snapshot)}</code></div>')
    return "\n".join(rows) + "</li>"


def _around(text: str) -> str:
    """What stands around a quote, as running words: its line breaks say nothing about the quote."""
    return _words(re.sub(r"\s+", " ", text))


def _deep_link(citation: Citation) -> str:
    """The live page with a text fragment: a convenience that a browser may ignore; the kept page is the proof."""
    first_line = citation.quote.splitlines()[0] if citation.quote else ""
    words = re.split(r"[\t\n]", first_line)[0].split()[:8]  # one block, at a word's end
    fragment = percent(" ".join(words), safe="", errors="replace").replace("-", "%2D")
    return f"{citation.url.split('#')[0]}#:~:text={fragment}"


def _link(url: str, label: str) -> str:
    """A link to a cited page; anything but http(s) stays text."""
    if not url.startswith(("http://", "https://")):
        return _words(label)
    return f'<a href="{escape(link_target(url))}" rel="noopener noreferrer nofollow">{_words(label)}</a>'


def _body(markdown: str) -> str:
    """The answer's own Markdown: paragraphs, items, fenced code, and links that are only numbers."""
    out: list[str] = []
    paragraph: list[str] = []
    items: list[str] = []
    code: list[str] | None = None

    def flush() -> None:
        if paragraph:
            out.append(f"<p>{'<br>'.join(paragraph)}</p>")
            paragraph.clear()
        if items:
            out.append("<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>")
            items.clear()

    for line in markdown.split("\n"):
        if line.startswith("```"):
            if code is None:
                flush()
                code = []
            else:
                out.append(f"<pre>{_words(chr(10).join(code))}</pre>")
                code = None
        elif code is not None:
            code.append(line)
        elif not line.strip():
            flush()
        elif line.startswith(("- ", "* ")):
            items.append(_inline(line[2:]))
        elif items and line.startswith("  "):
            items[-1] += " " + _inline(line.strip())
        else:
            paragraph.append(_inline(line))
    if code:
        out.append(f"<pre>{_words(chr(10).join(code))}</pre>")
    flush()
    return "\n".join(out)


def _inline(line: str) -> str:
    out: list[str] = []
    at = 0
    for match in _INLINE.finditer(line):
        out.append(_words(line[at : match.start()]))
        number, _, escaped, literal, strong = match.groups()
        if number:
            out.append(f'<a class="n" href="#s{number}" aria-label="source {number}">[{number}]</a>')
        elif literal:
            out.append(f"<code>{_words(literal)}</code>")
        elif strong:
            out.append(f"<strong>{_words(strong)}</strong>")
        else:
            out.append("&amp;" if match[0] == "&amp;" else _words(escaped))
        at = match.end()
    out.append(_words(line[at:]))
    return "".join(out)


def _words(text: str) -> str:
    return escape(visible(text))
