"""Engines that answer with a page: SearXNG's HTML, and DuckDuckGo's two pages for browsers without scripts."""

from __future__ import annotations

import html
from collections.abc import Sequence

from firsthand.testing.world import walls
from firsthand.testing.world.engines import Asked, Engine, Refused, Row, asked, number
from firsthand.testing.world.http import Reply, Request

SEARXNG_PAGE = 10
DUCKDUCKGO_PAGE = 30
DUCKDUCKGO_MAX_CHARS = 499  # it refuses 500 and more; observed by the SearXNG project
_CHALLENGE = (
    '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html" method="POST"><div class="anomaly-modal__title">'
    "Unfortunately, bots use DuckDuckGo too.</div><div class='anomaly-modal__description'>"
    "Please complete the following challenge to confirm this search was made by a human.</div></form>"
)


def _refuse(status: int, reason: str) -> Reply:
    return walls.refusal(status, reason)


def _quota() -> Reply:
    return _document("", "<p>Your quota for this month is used up.</p>")


# -- SearXNG


def ask_searxng(request: Request) -> Asked:
    """A query, ten hits a page."""
    given = request.given()
    page = number(given, "pageno", 1, 1, 1000, refusal=400)
    return asked(request, str(given.get("q", "")), limit=SEARXNG_PAGE, first=(page - 1) * SEARXNG_PAGE, refusal=400)


def _show_searxng(query: Asked, rows: Sequence[Row]) -> Reply:
    articles = "".join(
        f'<article class="result result-default category-general"><a href="{_href(row)}" class="url_header"></a>'
        f'<h3><a href="{_href(row)}">{html.escape(row.title)}</a></h3>'
        f'<p class="content">{html.escape(row.snippet)}</p></article>'
        for row in rows
    )
    nothing = '<div class="dialog-error" role="alert"><p>Sorry! No results were found.</p></div>'
    return _document(query.query, f'<div id="results"><div id="urls">{articles or nothing}</div></div>')


# -- DuckDuckGo


def _ask_duckduckgo(request: Request) -> Asked:
    query = str(request.given().get("q", ""))
    if len(query) > DUCKDUCKGO_MAX_CHARS:
        raise Refused(403, "403 Forbidden")
    return asked(request, query, limit=DUCKDUCKGO_PAGE, refusal=400)


def _show_html(query: Asked, rows: Sequence[Row]) -> Reply:
    blocks = "".join(
        '<div class="result results_links results_links_deep web-result"><div class="links_main links_deep result__body">'
        f'<h2 class="result__title"><a rel="nofollow" class="result__a" href="{_href(row)}">{html.escape(row.title)}</a></h2>'
        f'<a class="result__snippet" href="{_href(row)}">{html.escape(row.snippet)}</a></div></div>'
        for row in rows
    )
    nothing = (
        '<div class="result results_links results_links_deep result--no-result"><div class="links_main links_deep '
        'result__body"><div class="no-results">No results.</div></div></div>'
    )
    return _document(query.query, f'<div id="links" class="results">{blocks or nothing}</div>')


def _show_lite(query: Asked, rows: Sequence[Row]) -> Reply:
    lines = "".join(
        f'<tr><td valign="top">{n}.&nbsp;</td><td><a rel="nofollow" href="{_href(row)}" class="result-link">'
        f"{html.escape(row.title)}</a></td></tr>"
        f'<tr><td>&nbsp;</td><td class="result-snippet">{html.escape(row.snippet)}</td></tr>'
        f'<tr><td>&nbsp;</td><td><span class="link-text">{_href(row)}</span></td></tr>'
        for n, row in enumerate(rows, 1)
    )
    nothing = '<tr><td><span class="no-results">No results found.</span></td></tr>'
    return _document(query.query, f'<form action="/lite/" method="post"></form><table>{lines or nothing}</table>')


def _challenge(query: Asked) -> Reply:
    return _document(query.query, _CHALLENGE)


def _href(row: Row) -> str:
    return html.escape(row.url)


def _document(title: str, body: str) -> Reply:
    head = f'<head><meta charset="utf-8"><title>{html.escape(title)}</title></head>'
    return Reply(f"<!DOCTYPE html><html>{head}<body>{body}</body></html>".encode())


_DUCKDUCKGO = {"challenge": _challenge}
ENGINES = (
    Engine("searxng-html", "/search", ask_searxng, _show_searxng, _refuse, _quota, {}),
    Engine("duckduckgo-html", "/html", _ask_duckduckgo, _show_html, _refuse, _quota, _DUCKDUCKGO),
    Engine("duckduckgo-lite", "/lite", _ask_duckduckgo, _show_lite, _refuse, _quota, _DUCKDUCKGO),
)
