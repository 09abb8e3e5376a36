"""Searches: one list of hits, in the dialect of the engine that was asked."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote, unquote

from firsthand.testing.world import engines_html, engines_json, wire
from firsthand.testing.world.core import SERVICES_HOST, STATUSES, Core, refusal
from firsthand.testing.world.engines import Asked, Engine, Refused, Row
from firsthand.testing.world.http import Out, Request
from firsthand.testing.world.journal import Seen
from firsthand.testing.world.library import Found, bare
from firsthand.testing.world.settings import Result
from firsthand.testing.world.trouble import Trouble

ENGINES: tuple[Engine, ...] = (*engines_json.ENGINES, *engines_html.ENGINES)
ENGINE_NAMES = tuple(engine.name for engine in ENGINES)
MAX_HITS = 60


class Searches:
    """The search engines of one world."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def search(self, engine: Engine, request: Request, out: Out, seen: Seen) -> None:
        """Answer a search as *engine* does."""
        found, settings = self._core.trouble(request, seen), self._core.settings
        with self._core.journal.event("search", settings.run) as here:
            here.facts = {"dialect": request.path, "engine": engine.name, "trouble": seen.trouble, "n_hits": 0}
            try:
                asked = engine.ask(request)
            except Refused as refused:
                out.send(engine.refuse(refused.status, refused.reason))
                here.facts["status"] = refused.status
                return
            here.query = asked.query
            rows = self._rows(engine, asked)
            latency_s = settings.latency_s(settings.search_ms, asked.query)
            is_raw = bool(engine.name == "tavily" and asked.given.get("include_raw_content"))
            if is_raw:  # the service reads the pages, all at once
                paths = [row.url.partition("/site/")[2] for row in rows]
                latency_s += max((settings.latency_s(settings.page_ms, unquote(path)) for path in paths), default=0.0)
            is_good = await self._core.is_good(here, found)
            await self._core.wait(here, here.wait_s + latency_s)
            if not is_good and found is not None:
                await self._refuse(engine, asked, found, out)
            else:
                reply = engine.show(asked, rows)
                out.send(reply)
                await out.end()
                here.urls = tuple(row.url for row in rows)
                shown = "\n".join(f"{row.title}. {row.snippet}" for row in rows)
                here.gave = reply.body.decode() if is_raw else shown
                here.facts |= {"n_hits": len(rows), "pages_read": len(rows) if is_raw else 0}
            here.facts["status"] = out.status

    async def _refuse(self, engine: Engine, asked: Asked, found: Trouble, out: Out) -> None:
        """Send the engine's own form of a trouble, or the plain one."""
        if found.name in engine.trouble:
            out.send(engine.trouble[found.name](asked))
        elif found.name == "quota":
            out.send(engine.quota())
        elif found.name == "empty":
            out.send(engine.show(asked, ()))
        elif found.name in STATUSES:
            out.send(refusal(found, engine.refuse))
        else:
            await wire.misbehave(found, out)

    def _rows(self, engine: Engine, asked: Asked) -> list[Row]:
        settings, last = self._core.settings, min(asked.first + asked.limit, MAX_HITS)
        results = settings.results(asked.query)
        if results is not None:
            return [self._set(engine, one) for one in results[asked.first : last]]
        hits = self._core.library.search(asked.query, last, settings.snippet_words)[asked.first :]
        return [self._row(engine, hit) for hit in hits]

    def _set(self, engine: Engine, result: Result) -> Row:
        """The hit that was set, with what the page itself says where nothing was."""
        library, is_address = self._core.library, "://" in result.url
        path = "" if is_address else bare(result.url)
        words = library.text(path).split()[: self._core.settings.snippet_words]
        hit = Found(path, library.title(path) or result.url, " ".join(words), 1.0)
        row = self._row(engine, hit)
        url = result.url if is_address else row.url
        return replace(row, url=url, title=result.title or row.title, snippet=result.snippet or row.snippet)

    def _row(self, engine: Engine, hit: Found) -> Row:
        library, title, url = self._core.library, hit.title, self._core.url(hit.path)
        if engine.name == "mediawiki":  # its pages are its own, and a title names one of them
            title = title if library.path_of(title) == hit.path else hit.path
            url = f"http://{SERVICES_HOST}:{self._core.port}/wiki/{quote(title.replace(' ', '_'))}"
        return Row(url, title, hit.snippet, hit.score, library.number_of(hit.path), lambda: library.text(hit.path))
