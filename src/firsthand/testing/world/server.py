"""The world as a server: who answers which request."""

from __future__ import annotations

from typing import Any

from firsthand.testing.world import openai, trace
from firsthand.testing.world.core import Core
from firsthand.testing.world.double import Double
from firsthand.testing.world.engines import Engine, route
from firsthand.testing.world.http import Out, Reply, Request, json_reply
from firsthand.testing.world.journal import Seen
from firsthand.testing.world.model import CHAT, RESPONSES, Model
from firsthand.testing.world.searches import ENGINES, Searches
from firsthand.testing.world.settings import Settings, settings_of
from firsthand.testing.world.sites import Sites

_KINDS = {
    "/robots.txt": "robots",
    "/v1/chat/completions": "model",
    "/v1/responses": "model",
    "/v1/embeddings": "embed",
    "/v1/models": "other",
}


class Server:
    """One world. Its methods run on one event loop."""

    def __init__(self, core: Core, double: Double) -> None:
        self._core = core
        self._sites = Sites(core)
        self._searches = Searches(core)
        self._model = Model(core, double)

    def reset(self, settings: Settings) -> None:
        """Begin a new run."""
        self._core.journal.forget()
        self._core.release()
        self._core.set(settings)

    def stats(self) -> dict[str, Any]:
        """What the run did and what it had to wait for."""
        return trace.summary(self._core.journal.settle(self._core.settings.run)) | {
            "settings": self._core.settings.as_json()
        }

    async def answer(self, request: Request, out: Out) -> None:
        """Answer one request; what it did wrong is said with 400."""
        if request.path in ("/stats", "/reset"):
            out.send(self._control(request))
            return
        seen = Seen(request.method, request.host, request.path, request.query, dict(request.headers), request.body)
        try:
            engine = route(request, ENGINES)
            seen.engine = engine.name if engine else ""
            seen.kind = "search" if engine else _KINDS.get(request.path, "page")
            self._core.journal.note(seen)
            await self._answer(request, out, seen, engine)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            out.send(json_reply(openai.error(f"{type(error).__name__}: {error}"), 400))
        finally:
            seen.status = out.status

    async def _answer(self, request: Request, out: Out, seen: Seen, engine: Engine | None) -> None:
        if engine is not None:
            await self._searches.search(engine, request, out, seen)
        elif request.path == "/v1/chat/completions":
            await self._model.complete(CHAT, request, out, seen)
        elif request.path == "/v1/responses":
            await self._model.complete(RESPONSES, request, out, seen)
        elif request.path == "/v1/embeddings":
            await self._model.embed(request, out, seen)
        elif request.path == "/v1/models":
            out.send(json_reply(openai.MODELS))
        elif request.path == "/robots.txt":
            await self._sites.robots(request, out, seen)
        elif request.path in ("/", "/healthz", "/config") and "curid" not in request.query:
            out.send(Reply(b"OK", content_type="text/plain"))
        else:
            await self._sites.page(request, out, seen)

    def _control(self, request: Request) -> Reply:
        if request.path == "/stats":
            return json_reply(self.stats())
        try:
            self.reset(settings_of(request.json()))
        except (ValueError, TypeError) as error:
            return json_reply(openai.error(str(error)), 400)
        return json_reply(self._core.settings.as_json())
