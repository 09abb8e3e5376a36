"""Engines that answer with JSON: SearXNG, Brave, MediaWiki, Tavily, Exa, Linkup and Parallel Search."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from firsthand.testing.world import walls
from firsthand.testing.world.engines import Asked, Engine, Refused, Row, asked, message, number, with_key
from firsthand.testing.world.engines_html import ask_searxng
from firsthand.testing.world.http import Reply, Request, json_reply

MAX_TEXT_CHARS = 20_000  # of a page that an engine sends whole; guess
_SILENT = [
    ["brave", "too many requests"],
    ["duckduckgo", "CAPTCHA"],
    ["google", "access denied"],
    ["startpage", "timeout"],
]
_DAY = "2026-01-01"  # of every page: what an engine says of dates must be the same in every run


# -- SearXNG


def _searxng(query: Asked, rows: Sequence[Row]) -> Reply:
    return json_reply(_searxng_body(query, rows, []))


def _searxng_body(query: Asked, rows: Sequence[Row], silent: list[list[str]]) -> dict[str, Any]:
    results = [
        {
            "url": row.url, "title": row.title, "content": row.snippet, "engine": "world", "engines": ["world"],
            "score": row.score, "category": "general", "template": "default.html", "positions": [n],
            "publishedDate": None,
        }
        for n, row in enumerate(rows, 1)
    ]  # fmt: skip
    return {
        "query": query.query, "number_of_results": len(results), "results": results, "answers": [],
        "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": silent,
    }  # fmt: skip


def _searxng_silent(query: Asked) -> Reply:
    return json_reply(_searxng_body(query, (), _SILENT))


# -- Brave


def _ask_brave(request: Request) -> Asked:
    with_key(request, "x-subscription-token", status=422)  # the status that its reference names
    given = request.given()
    if len(str(given.get("q", "")).split()) > 50:
        raise Refused(422, "Query has more than 50 words.")
    count = number(given, "count", 20, 1, 20)
    offset = number(given, "offset", 0, 0, 9)
    return asked(request, str(given.get("q", "")), limit=count, first=offset * count, max_chars=400)


def _brave(query: Asked, rows: Sequence[Row]) -> Reply:
    results = [
        {
            "type": "search_result", "subtype": "generic", "title": row.title, "url": row.url,
            "description": row.snippet, "is_source_local": False, "is_source_both": False, "language": "en",
            "family_friendly": True, "page_age": f"{_DAY}T00:00:00", "age": "January 1, 2026",
        }
        for row in rows
    ]  # fmt: skip
    about = {"original": query.query, "show_strict_warning": False, "more_results_available": False}
    body: dict[str, Any] = {"type": "search", "query": about}
    if results:  # without hits there is no such section
        body["web"] = {"type": "search", "results": results, "family_friendly": True}
    return json_reply(body)


def _brave_error(status: int, reason: str) -> Reply:
    codes = {401: "SUBSCRIPTION_TOKEN_INVALID", 422: "VALIDATION", 429: "RATE_LIMITED"}
    code = codes[401] if "API key" in reason else codes.get(status, "INTERNAL")
    error = {"id": "world", "status": status, "code": code, "detail": reason, "meta": {"component": "web"}}
    return json_reply({"type": "ErrorResponse", "error": error, "time": 1767225600}, status)


# -- MediaWiki


def _ask_mediawiki(request: Request) -> Asked:
    given = request.given()
    if given.get("action") != "query":
        raise Refused(400, "badvalue")
    is_generator = given.get("generator") == "search"
    prefix, query = ("gsr", given.get("gsrsearch")) if is_generator else ("sr", given.get("srsearch"))
    limit = number(given, f"{prefix}limit", 10, 1, 500, refusal=400)
    first = number(given, f"{prefix}offset", 0, 0, 10_000, refusal=400)
    return asked(request, str(query or ""), limit=limit, first=first, max_chars=300, refusal=400)


def _mediawiki(query: Asked, rows: Sequence[Row]) -> Reply:
    given = query.given
    if given.get("generator") == "search":
        pages = [
            {
                "pageid": row.number, "ns": 0, "title": row.title, "index": n, "extract": row.snippet,
                "fullurl": row.url, "canonicalurl": row.url, "touched": f"{_DAY}T00:00:00Z",
            }
            for n, row in enumerate(rows, query.first + 1)
        ]  # fmt: skip
        is_list = str(given.get("formatversion", "1")) == "2"
        body = (
            {"query": {"pages": pages if is_list else {str(page["pageid"]): page for page in pages}}} if pages else {}
        )
        return json_reply({"batchcomplete": True, **body})
    results = [
        {
            "ns": 0, "title": row.title, "pageid": row.number, "size": len(row.text()),
            "wordcount": len(row.text().split()), "snippet": _marked(row.snippet, query.query),
            "timestamp": f"{_DAY}T00:00:00Z",
        }
        for row in rows
    ]  # fmt: skip
    about = {"general": _wiki(query.origin)} if given.get("meta") == "siteinfo" else {}
    found = {"searchinfo": {"totalhits": len(results)}, "search": results, **about}
    return json_reply({"batchcomplete": True if given.get("formatversion") == "2" else "", "query": found})


def _wiki(origin: str) -> dict[str, str]:
    """What the wiki says about itself, as ``meta=siteinfo`` asks."""
    return {
        "sitename": "World", "generator": "MediaWiki 1.46.0", "articlepath": "/wiki/$1", "scriptpath": "/w",
        "script": "/w/index.php", "server": origin.removeprefix("http:"), "lang": "en",
    }  # fmt: skip


def _marked(snippet: str, query: str) -> str:
    """The snippet as MediaWiki's HTML: escaped, the words that matched in a span."""
    words = {word.lower() for word in re.findall(r"\w+", query)}

    def mark(match: re.Match[str]) -> str:
        word = html.escape(match.group())
        return f'<span class="searchmatch">{word}</span>' if word.lower() in words else word

    return re.sub(r"\w+|\W+", mark, snippet)


def _mediawiki_error(status: int, reason: str) -> Reply:
    """Errors of a request come with 200, as this API has it; those of the servers with their status."""
    code = {429: "ratelimited", 503: "maxlag"}.get(status, "badvalue")
    return json_reply({"error": {"code": code, "info": reason}}, 200 if status == 400 else status)


def _mediawiki_limited() -> Reply:
    return json_reply({"error": {"code": "ratelimited", "info": "You've exceeded your rate limit."}})


# -- Tavily


def _ask_tavily(request: Request) -> Asked:
    given = request.given()
    if not given.get("api_key"):  # where older clients put it
        with_key(request, "authorization", "Bearer ")
    limit = number(given, "max_results", 5, 0, 20, refusal=400)
    return asked(request, str(given.get("query", "")), limit=limit, max_chars=400, refusal=400)


def _tavily(query: Asked, rows: Sequence[Row]) -> Reply:
    is_raw = bool(query.given.get("include_raw_content"))
    results = [
        {
            "url": row.url, "title": row.title, "content": row.snippet,
            "score": round(min(0.99, row.score / 40), 4), "raw_content": row.text() if is_raw else None,
        }
        for row in rows
    ]  # fmt: skip
    body: dict[str, Any] = {"query": query.query, "follow_up_questions": None, "answer": None, "images": []}
    body |= {"results": results, "response_time": 0.1, "request_id": "world"}
    if query.given.get("include_usage"):
        body["usage"] = {"credits": 2 if query.given.get("search_depth") == "advanced" else 1}
    return json_reply(body)


def _tavily_error(status: int, reason: str) -> Reply:
    return json_reply({"detail": {"error": reason}}, status)


# -- Exa


def _ask_exa(request: Request) -> Asked:
    if "authorization" not in request.headers:
        with_key(request, "x-api-key")
    given = request.given()
    limit = number(given, "numResults", 10, 1, 100, refusal=400)
    return asked(request, str(given.get("query", "")), limit=limit, refusal=400)


def _exa(query: Asked, rows: Sequence[Row]) -> Reply:
    wanted = query.given.get("contents")
    wanted = wanted if isinstance(wanted, dict) else {}
    results = []
    for row in rows:
        result: dict[str, Any] = {
            "id": row.url, "url": row.url, "title": row.title, "score": round(min(0.99, row.score / 40), 4),
            "publishedDate": f"{_DAY}T00:00:00.000Z", "author": None, "image": None, "favicon": None,
        }  # fmt: skip
        if wanted.get("text"):
            result["text"] = row.text()[:MAX_TEXT_CHARS]
        if wanted.get("highlights"):
            result |= {"highlights": [row.snippet], "highlightScores": [0.5]}
        if wanted.get("summary"):
            result["summary"] = row.snippet
        results.append(result)
    cost = {"total": 0.005, "search": {"neural": 0.005}}
    about = {"requestId": "world", "resolvedSearchType": "neural", "searchType": "auto"}
    return json_reply({**about, "results": results, "costDollars": cost})


def _exa_error(status: int, reason: str) -> Reply:
    tags = {400: "INVALID_REQUEST_BODY", 401: "INVALID_API_KEY", 402: "NO_MORE_CREDITS", 429: "RATE_LIMITED"}
    return json_reply({"requestId": "world", "error": reason, "tag": tags.get(status, "DEFAULT_ERROR")}, status)


# -- Linkup


def _ask_linkup(request: Request) -> Asked:
    with_key(request, "authorization", "Bearer ")
    given = request.given()
    if given.get("depth") not in ("fast", "standard", "deep") or not given.get("outputType"):
        raise Refused(400, "depth and outputType are required.")
    limit = number(given, "maxResults", 10, 1, 100, refusal=400)
    return asked(request, str(given.get("q", "")), limit=limit, refusal=400)


def _linkup(query: Asked, rows: Sequence[Row]) -> Reply:
    results = [
        {"type": "text", "name": row.title, "url": row.url, "content": row.snippet, "favicon": ""} for row in rows
    ]
    if query.given["outputType"] != "searchResults":
        sources = [{"name": row.title, "url": row.url, "snippet": row.snippet, "favicon": ""} for row in rows]
        return json_reply({"answer": rows[0].snippet if rows else "", "sources": sources})
    return json_reply({"results": results})


def _linkup_error(status: int, reason: str) -> Reply:
    codes = {400: "VALIDATION_ERROR", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 429: "TOO_MANY_REQUESTS"}
    error = {"code": codes.get(status, "INTERNAL"), "message": reason, "details": []}
    return json_reply({"statusCode": status, "error": error}, status)


# -- Parallel Search


def _ask_parallel(request: Request) -> Asked:
    if "authorization" not in request.headers:
        with_key(request, "x-api-key")
    given = request.given()
    queries = given.get("search_queries")
    if not isinstance(queries, list) or not 1 <= len(queries) <= 5 or any(len(str(one)) > 200 for one in queries):
        raise Refused(422, "search_queries: 1 to 5 queries of at most 200 characters.")
    if former := sorted({"max_results", "processor", "source_policy", "max_chars_per_result"} & given.keys()):
        raise Refused(422, f"{former[0]}: not a field of this version.")
    settings = given.get("advanced_settings") or {}
    limit = number(settings, "max_results", 10, 1, 100)
    return asked(request, " ".join(map(str, queries)), limit=limit)


def _parallel(query: Asked, rows: Sequence[Row]) -> Reply:
    results = [{"url": row.url, "title": row.title, "publish_date": _DAY, "excerpts": [row.snippet]} for row in rows]
    usage = [{"name": "sku_search", "count": 1}]
    session = query.given.get("session_id") or "session_world"
    about = {"search_id": "search_world", "session_id": session}
    return json_reply({**about, "results": results, "warnings": None, "usage": usage})


def _parallel_error(status: int, reason: str) -> Reply:
    return json_reply({"type": "error", "error": {"ref_id": "world", "message": reason, "detail": None}}, status)


def _html_error(status: int, reason: str) -> Reply:
    """SearXNG answers a refusal with a page, whatever format was asked for."""
    return walls.refusal(status, reason)


ENGINES = (
    Engine("searxng", "/search", ask_searxng, _searxng, _html_error, message, {"unresponsive": _searxng_silent}),
    Engine("brave", "/res/v1/web/search", _ask_brave, _brave, _brave_error, message, {}),
    Engine("mediawiki", "/w/api.php", _ask_mediawiki, _mediawiki, _mediawiki_error, _mediawiki_limited, {}),
    Engine("tavily", "/search", _ask_tavily, _tavily, _tavily_error, message, {}),
    Engine("exa", "/search", _ask_exa, _exa, _exa_error, message, {}),
    Engine("linkup", "/v1/search", _ask_linkup, _linkup, _linkup_error, message, {}),
    Engine("parallel", "/v1/search", _ask_parallel, _parallel, _parallel_error, message, {}),
)
