"""Pages and robots.txt, as the sites of the world serve them: with ETag, 304 and HEAD, at the pace of the settings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import urlsplit

from firsthand.testing.world import walls, wire
from firsthand.testing.world.core import Core, until
from firsthand.testing.world.http import Out, Reply, Request
from firsthand.testing.world.journal import Open, Seen
from firsthand.testing.world.trouble import Trouble, trouble

PIECE_BYTES = 16384


class Sites:
    """The sites of one world."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def page(self, request: Request, out: Out, seen: Seen) -> None:
        """Answer a request for a page, or for a trouble by its name."""
        path = self._path(request)
        is_trouble = path.startswith("trouble/")
        found = _named(request) if is_trouble else self._core.trouble(request, seen)
        seen.trouble = str(found or "")
        reply = walls.captcha_article() if is_trouble else self._core.library.page(path)
        with self._core.journal.event("page", self._core.settings.run) as here:
            here.path, here.url = path, f"http://{request.host}{urlsplit(request.target).path}"
            here.facts = {"path": path, "method": request.method, "agent": request.headers.get("user-agent", "")[:60]}
            here.facts["trouble"] = seen.trouble
            latency_s = self._core.settings.latency_s(self._core.settings.page_ms, path)
            if await self._core.is_good(here, found):
                here.facts["bytes"] = await self._send(here, reply, request, out, latency_s)
            elif found is not None:
                await self._core.wait(here, latency_s)
                here.path = ""  # what stands in the page's place gives nothing
                here.facts["bytes"] = await wire.misbehave(found, out)
            here.facts["status"] = out.status

    def _path(self, request: Request) -> str:
        """The page that an address names: on its host alone, below /site/, as a wiki's title or number, or as it is."""
        path = request.path
        own = _on_host(request)
        if self._core.library.page(own) is not None:
            return own
        if path.startswith("/wiki/") or path == "/w/index.php":
            title = path.removeprefix("/wiki/") if path.startswith("/wiki/") else request.query.get("title", "")
            return self._core.library.path_of(title.replace("_", " ")) or title
        if "curid" in request.query:
            number = request.query["curid"]
            return self._core.library.path_of_number(int(number)) or "" if number.isdigit() else ""
        return path.removeprefix("/site").lstrip("/") or "index.html"

    async def _send(self, here: Open, reply: Reply | None, request: Request, out: Out, latency_s: float) -> int:
        """Send the page at the pace of the settings, or 304, or 404; the bytes of the body."""
        delayed_s = here.wait_s
        if reply is None:
            reply = Reply(b"<html><title>Not found</title>Not found</html>", 404)
        modified_at = self._core.library.modified_at(here.path)
        stated = {
            "ETag": f'"{hashlib.sha256(reply.body).hexdigest()[:16]}"',
            "Last-Modified": format_datetime(modified_at, usegmt=True),
            **reply.headers,
        }
        is_known = reply.status == 200 and _is_known(request, stated)
        sent = b"" if request.method == "HEAD" or is_known else reply.body
        kbps = self._core.settings.page_kbps
        transfer_s = len(sent) * 8 / kbps / 1000 if kbps and reply.status == 200 else 0.0
        await self._core.wait(here, delayed_s + latency_s)
        here.wait_s += transfer_s
        headers = {name: value for name, value in stated.items() if value}
        n_bytes = 0 if is_known else len(reply.body)
        out.start(304 if is_known else reply.status, reply.content_type, n_bytes, headers)
        for n in range(0, len(sent), PIECE_BYTES):
            if transfer_s:  # a piece is there when the time that it takes has passed
                share = min(1.0, (n + PIECE_BYTES) / len(sent))
                await until(here.start + delayed_s + latency_s + transfer_s * share)
            out.write(sent[n : n + PIECE_BYTES])
            await out.writer.drain()
        await out.end()
        return len(sent)

    async def robots(self, request: Request, out: Out, seen: Seen) -> None:
        """Answer a request for robots.txt."""
        found = self._core.trouble(request, seen)
        if not await self._core.is_good(None, found):
            assert found is not None
            await wire.misbehave(found, out)
        elif (own := self._core.library.page(_on_host(request))) is not None:
            out.send(own)
        elif self._core.settings.robots:
            out.send(Reply(self._core.settings.robots.encode(), content_type="text/plain; charset=utf-8"))
        else:
            out.send(Reply(b"Not found", 404, "text/plain"))


def _is_known(request: Request, stated: Mapping[str, str]) -> bool:
    """Whether the client has this page already: by its tag if it names one, else by its date. Source: RFC 9110, 13.2.2."""
    tags, since = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
    if tags is not None:
        return bool(stated["ETag"]) and stated["ETag"] in {tag.strip().removeprefix("W/") for tag in tags.split(",")}
    try:
        return bool(since and stated["Last-Modified"]) and (
            parsedate_to_datetime(since or "") >= parsedate_to_datetime(stated["Last-Modified"])
        )
    except (ValueError, TypeError):  # a date that is none, or one without a zone
        return False


def _named(request: Request) -> Trouble:
    """The trouble in an address, ``/trouble/NAME`` and whatever follows. Raises: ValueError."""
    name, *_ = request.path.removeprefix("/trouble/").split("/")
    return trouble(name, {key: value for key, value in request.query.items() if key != "hop"})


def _on_host(request: Request) -> str:
    """The path of a page that is on one host alone."""
    return f"//{request.host.rpartition(':')[0] or request.host}{request.path}"
