"""Pages that are empty until their scripts run, rendered in the system's Chromium that has no network of its own.

The extra ``firsthand[browser]``; off unless FIRSTHAND_BROWSER is on. How nothing gets past the gate:

1. Chromium runs in a network namespace of its own that holds nothing, not even a loopback that is up. Whatever a page
   makes it try (sockets, WebRTC, name look-ups, preconnects), there is no way out. Where the system does not let us
   make one, nothing is rendered. Measured 2026-11-30 with Chromium 156: without it, requests that are intercepted stay
   inside, but WebRTC reached a UDP and a TCP server on loopback, and flags alone left look-ups' sockets open.
2. Every request is intercepted and answered by us: the page itself with what our client brought, scripts and data by
   asking our client, which passes the gate, robots and pace like any fetch; everything else is refused.
3. What a page could act with is refused before that: any method but GET, navigations, frames, pop-ups, downloads, web
   sockets, service workers. Flags close a third time what the namespace closes.

The bytes that are kept are the document as it stood when it came to rest, scripts left out; the header
``firsthand-rendered`` of the page says so, and how.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firsthand.errors import FetchFailed, OutsideError
from firsthand.values import HttpResponse
from firsthand.web.fetch import RENDERED_HEADER, Load
from firsthand.web.reply import failed

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright, Route

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_REAL_PROGRAM = Path("/usr/lib/chromium/chromium")  # what Debian's script /usr/bin/chromium starts, without its flags
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--proxy-server=http://127.0.0.1:9",  # the discard port; in an empty namespace nobody listens anywhere
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--renderer-process-limit=1",
    "--js-flags=--max-old-space-size=512",
)
_FOLDER = "firsthand-browser-"
_LOADED = frozenset({"script", "xhr", "fetch"})
# Scripts have done their work and what stands in noscript is not shown; the data of search engines stays.
_SERIALISE = """maxChars => {
    const copy = document.documentElement.cloneNode(true);
    for (const left of copy.querySelectorAll('script:not([type="application/ld+json"]), noscript')) left.remove();
    return ('<!DOCTYPE html>' + copy.outerHTML).slice(0, maxChars);
}"""
_UNSENT = frozenset({"x-forwarded-for", "x-real-ip", "x-forwarded-host"})


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """What rendering one page may take."""

    total_s: float = 20.0
    quiet_s: float = 0.5  # no request for as long: the page has come to rest
    launch_s: float = 30.0
    n_requests: int = 60  # guess: applications measured ask for 5 to 40 scripts and answers
    loaded_bytes: int = 10_485_760
    document_chars: int = 5_000_000


@dataclass(slots=True)
class _Visit:
    """One page on its way, and what it asked for."""

    shell: HttpResponse
    load: Load
    limits: RenderLimits
    n_pending: int = 0
    n_loaded: int = 0
    n_refused: int = 0
    n_bytes: int = 0
    is_begun: bool = False
    stirred: asyncio.Event = field(default_factory=asyncio.Event)


def why_not(program: str = "") -> str | None:
    """Why pages cannot be rendered here, in a sentence that says what to do; None if they can."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is not installed; install firsthand[browser]."
    if _find(program) is None:
        return "There is no Chromium; install it, or name it in FIRSTHAND_BROWSER_PATH."
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return "Pages are rendered on Linux only, with the program 'unshare' (util-linux), which shuts the browser off."
    try:
        made = subprocess.run([*_unshare(), "true"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "The browser cannot be shut off from the network here: 'unshare' does not run."
    if made.returncode:
        return "The browser cannot be shut off from the network here: the system allows no network namespaces."
    return None


class Chromium:
    """Renders pages. One browser for the process, begun with the first page; each page has a profile of its own."""

    def __init__(self, program: str = "", *, limits: RenderLimits | None = None) -> None:
        self._program = program
        self._limits = limits or RenderLimits()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._alone = asyncio.Semaphore(1)  # one page at a time: a browser takes a core and some 200 MB

    async def render(self, shell: HttpResponse, load: Load) -> HttpResponse:
        """What *shell* is when its scripts have run. *load* brings what they ask for.

        Raises: FetchFailed (``needs_javascript`` if nothing can be rendered here, ``timeout``, ``too_large``, ``failed``).
        """
        async with self._alone:
            browser = await self._open()
            visit = _Visit(shell, load, self._limits)
            try:
                async with asyncio.timeout(self._limits.total_s + 5):
                    document = await self._visit(browser, visit)
            except TimeoutError as error:
                await self.aclose()  # a page that does not answer any more may hold the whole browser
                raise failed("render_timeout", "The page's scripts did not come to rest.") from error
            except _playwright_errors() as error:
                await self.aclose()
                raise failed("render_failed", "The browser broke while it rendered the page.") from error
        if len(document) > self._limits.document_chars:
            raise failed("too_large", "The rendered page is larger than a page may be.")
        return HttpResponse(shell.url, shell.status, self._headers(browser, visit), document.encode("utf-8", "replace"))

    async def aclose(self) -> None:
        """End the browser. A second call does nothing; a page after it begins a new one."""
        playwright, browser, folder = self._playwright, self._browser, self._folder
        self._playwright = self._browser = self._folder = None
        ways_to_end: tuple[type[Exception], ...] = (TimeoutError, *_playwright_errors())
        try:
            if browser is not None and browser.is_connected():
                async with asyncio.timeout(10):
                    await browser.close()
        except ways_to_end:
            pass  # it ends with its driver, below
        finally:
            if playwright is not None:
                await playwright.stop()
            if folder is not None:
                folder.cleanup()

    def _headers(self, browser: Browser, visit: _Visit) -> dict[str, str]:
        """Of the rendered page: none that describe the bytes that came, they are not these."""
        counts = f"{visit.n_loaded} loaded, {visit.n_refused} refused, {visit.n_bytes} bytes"
        made = f"Chromium {browser.version}; the document at rest without its scripts; {counts}"
        return {"content-type": "text/html; charset=utf-8", RENDERED_HEADER: made}

    async def _open(self) -> Browser:
        if self._browser is not None and self._browser.is_connected():
            return self._browser
        await self.aclose()
        if (reason := await asyncio.to_thread(why_not, self._program)) is not None:
            raise FetchFailed(
                "needs_javascript", "needs_javascript", f"The page is empty until its scripts run. {reason}"
            )
        from playwright.async_api import async_playwright

        self._folder = await asyncio.to_thread(_own_folder)
        self._playwright = await async_playwright().start()
        try:
            self._browser = await self._playwright.chromium.launch(
                executable_path=_shut_off(Path(self._folder.name), self._program),
                headless=True,
                args=[*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])],
                chromium_sandbox=os.geteuid() != 0,
                env={"HOME": self._folder.name, "PATH": os.defpath, "LANG": "C.UTF-8", "TMPDIR": self._folder.name},
                timeout=self._limits.launch_s * 1000,
            )
        except _playwright_errors() as error:
            await self.aclose()
            raise failed("render_failed", "The browser could not be started.") from error
        return self._browser

    async def _visit(self, browser: Browser, visit: _Visit) -> str:
        context = await browser.new_context(
            service_workers="block", accept_downloads=False, permissions=[], java_script_enabled=True
        )
        tasks: set[asyncio.Future[None]] = set()
        try:
            await context.route("**/*", lambda route: _answer(route, visit))
            await context.route_web_socket("**/*", lambda socket: socket.close())
            page = await context.new_page()
            context.on("page", lambda other: _keep(tasks, other.close()))
            page.on("dialog", lambda dialog: _keep(tasks, dialog.dismiss()))
            until = time.monotonic() + self._limits.total_s
            await page.goto(visit.shell.url, wait_until="commit", timeout=self._limits.total_s * 1000)
            await _rest(page, visit, until)
            return await _document(context, page, self._limits.document_chars + 1)
        finally:
            await asyncio.gather(*tasks, return_exceptions=True)
            if browser.is_connected():
                await context.close()


async def _answer(route: Route, visit: _Visit) -> None:
    """One request of the page: answered by us, or refused. Nothing is ever let through to the browser's own network."""
    request = route.request
    visit.stirred.set()
    visit.n_pending += 1
    try:
        if request.is_navigation_request():
            if visit.is_begun:
                visit.n_refused += 1
                await route.fulfill(status=204, body="")  # the page stays as it is
                return
            visit.is_begun = True
            content_type = visit.shell.headers.get("content-type", "text/html")
            await route.fulfill(status=200, headers={"content-type": content_type}, body=visit.shell.body)
        elif request.resource_type == "stylesheet":
            await route.fulfill(status=200, headers={"content-type": "text/css"}, body="")  # some wait for it
        elif request.method == "GET" and request.resource_type in _LOADED and (part := await _load(request, visit)):
            await route.fulfill(status=part.status, headers=_answered(request.headers, part), body=part.body)
        else:
            visit.n_refused += 1
            await route.abort("blockedbyclient")
    finally:
        visit.n_pending -= 1
        visit.stirred.set()


async def _load(request: Any, visit: _Visit) -> HttpResponse | None:
    """What the page asked for, from our client; None if it is refused, there or by our own limits."""
    if visit.n_loaded >= visit.limits.n_requests or visit.n_bytes >= visit.limits.loaded_bytes:
        return None
    visit.n_loaded += 1
    try:
        part = await visit.load(request.url, _sent(request.headers))
    except OutsideError:
        visit.n_loaded -= 1
        return None
    visit.n_bytes += len(part.body)
    return part if visit.n_bytes <= visit.limits.loaded_bytes else None


def _sent(headers: Mapping[str, str]) -> dict[str, str]:
    """Of the headers that the page's script set, those that only say what it wants. No cookie, no origin, no referrer."""
    return {
        name: value
        for name, value in headers.items()
        if (name == "accept" or (name.startswith("x-") and name not in _UNSENT))
        and len(value) < 1_000
        and value.isascii()
        and value.isprintable()
    }


def _answered(asked: Mapping[str, str], part: HttpResponse) -> dict[str, str]:
    """Headers for the page: the type, and leave to read it. The browser has no cookie that a script could misuse."""
    return {
        "content-type": part.headers.get("content-type", "application/octet-stream"),
        "access-control-allow-origin": asked.get("origin", "*"),
        "access-control-allow-credentials": "true",
    }


async def _rest(page: Page, visit: _Visit, until: float) -> None:
    """Return when the page asked for nothing for a while and its scripts have a pause, or when the time is up."""
    while (left_s := until - time.monotonic()) > 0 and not page.is_closed():
        visit.stirred.clear()
        try:
            async with asyncio.timeout(min(visit.limits.quiet_s, left_s)):
                await visit.stirred.wait()
            continue
        except TimeoutError:
            if visit.n_pending:
                continue
        try:
            async with asyncio.timeout(max(0.1, until - time.monotonic())):
                await page.evaluate("new Promise(done => setTimeout(done, 0))")  # waits behind what is running
        except TimeoutError:
            return
        if not visit.stirred.is_set():
            return


async def _document(context: BrowserContext, page: Page, max_chars: int) -> str:
    """The document as it stands, cut; read in a world that the page's scripts cannot reach."""
    devtools = await context.new_cdp_session(page)
    tree = await devtools.send("Page.getFrameTree")
    frame_id = tree["frameTree"]["frame"]["id"]
    world = await devtools.send("Page.createIsolatedWorld", {"frameId": frame_id, "worldName": "firsthand"})
    read = await devtools.send(
        "Runtime.evaluate",
        {
            "contextId": world["executionContextId"],
            "expression": f"({_SERIALISE})({max_chars})",
            "returnByValue": True,
        },
    )
    return str(read["result"]["value"])


def _keep(tasks: set[asyncio.Future[None]], doing: Awaitable[None]) -> None:
    tasks.add(asyncio.ensure_future(doing))


def _own_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for a browser of this process; those of processes that were killed are removed on the way."""
    for left in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        owner = left.name.removeprefix(_FOLDER).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(left, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-", ignore_cleanup_errors=True)


def _find(program: str) -> str | None:
    if program:
        return shutil.which(program)
    if _REAL_PROGRAM.exists():
        return str(_REAL_PROGRAM)
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


def _unshare() -> list[str]:
    """The command that makes an empty network namespace; a person who is not root needs a user namespace for it."""
    return ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-current-user", "--net"]


def _shut_off(folder: Path, program: str) -> str:
    """A program that starts the browser without a network."""
    found = _find(program)
    assert found is not None
    script = folder / "chromium-without-network"
    script.write_text(f'#!/bin/sh\nexec {" ".join(_unshare())} -- "{found}" "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return str(script)


def _playwright_errors() -> tuple[type[Exception], ...]:
    module = sys.modules.get("playwright.async_api")
    return () if module is None else (module.Error,)
