"""Pages that need their scripts, rendered by a real Chromium that reaches nothing: traps, look-ups, limits.

Where no browser can be shut off, these tests do not run, and each says why.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from firsthand.errors import FetchFailed
from firsthand.settings import load_settings
from firsthand.values import HttpResponse, Page
from firsthand.web import browser
from firsthand.web.address import Policy
from firsthand.web.browser import Chromium, RenderLimits, why_not
from firsthand.web.client import Client
from firsthand.web.fetch import RENDERED_HEADER, Fetcher
from firsthand.web.gate import Gate
from firsthand.web.pace import Pacer
from tests.web.raw_server import Answer, Served, raw_server, response, site

ROOT = Path(__file__).parents[2]
REASON = why_not()
renders = pytest.mark.skipif(REASON is not None, reason=f"no page is rendered here: {REASON}")
SCRIPT = {"content-type": "text/javascript"}
JSON = {"content-type": "application/json"}
NOSCRIPT = "<noscript>You need to enable JavaScript to run this app.</noscript>"
DRAW = """
const draw = text => { document.getElementById('root').innerHTML = '<h1>Tides</h1><p>' + text + '</p>' };
"""


def shell(script: str = "", *, more: str = "") -> bytes:
    """A page that is empty until *script* has run."""
    return f"<!doctype html><html><head><title>App</title></head><body>{NOSCRIPT}<div id=root></div><script>{DRAW}</script>{more}<script>{script}</script></body></html>".encode()


class LookUps:
    """The names that were asked of the gate; there is none."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def __call__(self, name: str) -> Sequence[str]:
        self.names.append(name)
        return []


@asynccontextmanager
async def rendering(
    *servers: Served, limits: RenderLimits | None = None, look_ups: LookUps | None = None
) -> AsyncIterator[Fetcher]:
    """A fetcher that renders, over the real client; only *servers* may be reached although private."""
    policy = Policy(allow_private=frozenset(("127.0.0.1", served.port) for served in servers))
    client = Client(gate=Gate(look_ups or LookUps()))
    fetcher = Fetcher(client, policy, Pacer(interval_s=0), renderer=Chromium(limits=limits))
    try:
        yield fetcher
    finally:
        await fetcher.aclose()


async def rendered(fetcher: Fetcher, url: str) -> tuple[str, Page | FetchFailed]:
    try:
        return "ok", await fetcher.fetch(url)
    except FetchFailed as error:
        return error.outcome, error


class Trap:
    """A server for TCP and UDP on loopback that counts whoever comes."""

    def __init__(self) -> None:
        self.n_connections = self.n_datagrams = self.port = self.udp_port = 0

    def count(self, data: bytes, address: object) -> None:
        self.n_datagrams += 1


@asynccontextmanager
async def trapped() -> AsyncIterator[Trap]:
    trap = Trap()

    class Datagrams(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            trap.count(data, addr)

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(response())

    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Datagrams, local_addr=("127.0.0.1", 0))
    trap.udp_port = transport.get_extra_info("sockname")[1]
    async with raw_server(answer) as served:
        trap.port = served.port
        try:
            yield trap
        finally:
            transport.close()
            trap.n_connections = served.n_connections


RTC = """
const rtc = (Kind, name) => { try {
    const peer = new Kind({iceServers: [{urls: 'stun:127.0.0.1:@UDP'},
        {urls: 'turn:127.0.0.1:@TCP?transport=tcp', username: 'a', credential: 'b'}@STUN]});
    peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer));
    peer.onicegatheringstatechange = () => note(name, peer.iceGatheringState);
} catch (error) { note(name, error.name) } };
const frame = document.createElement('iframe'); document.body.appendChild(frame);
rtc(RTCPeerConnection, 'rtc'); rtc(frame.contentWindow.RTCPeerConnection, 'rtc in a frame');
"""
# All the ways out that a page has, each at the trap, at a name, or at the cloud's metadata address.
EVERYTHING = (
    """
const notes = []; const note = (what, how) => { notes.push(what + ' ' + how); draw(notes.join(', ')) };
const trap = 'http://127.0.0.1:@TCP';
const ask = (name, url, options) => fetch(url, options).then(r => note(name, r.status), () => note(name, 'refused'));
draw('began');
ask('fetch', trap + '/fetch'); ask('post', '/post', {method: 'POST', body: 'x'});
ask('name', 'http://name.trap.example/'); ask('metadata', 'http://169.254.169.254/latest/meta-data/');
ask('redirect to the trap', '/to-the-trap'); ask('redirect to the metadata', '/to-the-metadata');
ask('redirect to a name', '/to-a-name'); ask('no-cors', trap + '/opaque', {mode: 'no-cors'});
navigator.sendBeacon(trap + '/beacon', 'x'); navigator.sendBeacon('/beacon', 'x');
new WebSocket('ws://127.0.0.1:@TCP/socket').onopen = () => note('socket', 'open');
new WebSocket('ws://socket.trap.example/'); new EventSource(trap + '/events');
new Image().src = trap + '/image'; new Image().src = 'http://image.trap.example/';
try { navigator.serviceWorker.register('/worker.js').catch(() => note('service worker', 'refused')) } catch { note('service worker', 'refused') }
const code = kind => URL.createObjectURL(new Blob([`fetch('${trap}/${kind}').catch(() => {}); new WebSocket('ws://127.0.0.1:@TCP/${kind}');
    try { importScripts('${trap}/${kind}.js') } catch {}`]));
new Worker(code('worker')); new SharedWorker(code('shared'));
try { new WebTransport('https://127.0.0.1:@TCP/').ready.catch(() => {}) } catch {}
window.open(trap + '/popup'); window.open('http://popup.trap.example/');
const link = (href, more) => { const a = Object.assign(document.createElement('a'), {href, ...more}); document.body.appendChild(a); a.click() };
link(trap + '/download', {download: 'x'}); link('#', {ping: trap + '/ping'}); link(trap + '/away');
const form = document.createElement('form'); form.action = trap + '/form'; form.method = 'post'; document.body.appendChild(form); form.submit();
setTimeout(() => { location.href = trap + '/left' }, 50);
"""
    + RTC
)
MARKUP = """
<link rel=preconnect href="http://127.0.0.1:@TCP/"><link rel=dns-prefetch href="//prefetch.trap.example">
<link rel=prefetch href="http://127.0.0.1:@TCP/prefetch"><link rel=prerender href="http://127.0.0.1:@TCP/prerender">
<link rel=preload as=font href="http://127.0.0.1:@TCP/font"><link rel=stylesheet href="http://127.0.0.1:@TCP/style.css">
<script type=speculationrules>{"prefetch": [{"source": "list", "urls": ["http://127.0.0.1:@TCP/speculated"]}],
 "prerender": [{"source": "list", "urls": ["/prerendered"]}]}</script>
<img src="http://127.0.0.1:@TCP/image"><iframe src="http://127.0.0.1:@TCP/frame"></iframe><iframe src="/frame"></iframe>
<video src="http://127.0.0.1:@TCP/video"></video><object data="http://127.0.0.1:@TCP/object"></object>
<embed src="http://127.0.0.1:@TCP/embed"><script src="http://127.0.0.1:@TCP/script.js"></script>
<script src="http://169.254.169.254/script.js"></script><script src="http://script.trap.example/x.js"></script>
<meta http-equiv=refresh content="1;url=http://127.0.0.1:@TCP/refresh">
"""


def aimed(text: str, trap: Trap, *, stun_by_name: bool = True) -> str:
    named = ", {urls: 'stun:stun.trap.example:3478'}" if stun_by_name else ""
    return text.replace("@UDP", str(trap.udp_port)).replace("@TCP", str(trap.port)).replace("@STUN", named)


def hostile_site(trap: Trap) -> Answer:
    away = {
        "/to-the-trap": f"http://127.0.0.1:{trap.port}/",
        "/to-the-metadata": "http://169.254.169.254/",
        "/to-a-name": "http://redirect.trap.example/",
    }
    pages = {path: response(b"", 302, {"location": url}) for path, url in away.items()}
    return site({"/": response(shell(aimed(EVERYTHING, trap), more=aimed(MARKUP, trap))), **pages})


# -- It renders


@renders
async def test_a_page_that_needs_its_scripts_is_kept_as_they_left_it_and_says_so() -> None:
    pages = {
        "/": response(shell(more="<script src=/app.js></script>"), headers={"etag": '"shell"', "x-kept": "no"}),
        "/app.js": response(b"fetch('/data').then(r => r.json()).then(d => draw(d.text))", headers=SCRIPT),
        "/data": response('{"text": "The gauge reads 3.42 metres, 12 €."}'.encode(), headers=JSON),
    }
    async with raw_server(site(pages)) as served, rendering(served) as fetcher:
        outcome, page = await rendered(fetcher, f"{served.url}/")
        assert isinstance(page, Page), page
        again, second = await rendered(fetcher, f"{served.url}/")
    assert (outcome, again) == ("ok", "ok")
    body = page.payload.decode()
    assert "<p>The gauge reads 3.42 metres, 12 €.</p>" in body
    assert "<script" not in body and "enable JavaScript" not in body
    assert page.url == f"{served.url}/" and page.status == 200
    assert set(page.headers) == {"content-type", RENDERED_HEADER}, "headers of the shell describe other bytes"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert re.search(r"Chromium \d+.*2 loaded, 0 refused", page.headers[RENDERED_HEADER])
    assert isinstance(second, Page) and second.payload == page.payload
    assert served.paths == ["/robots.txt", "/", "/app.js", "/data", "/", "/app.js", "/data"]
    assert all(b"Firsthand/" in head and b"Mozilla" not in head for head in served.heads)
    assert not any(name in head.lower() for head in served.heads for name in (b"cookie:", b"referer:", b"origin:"))


@renders
async def test_what_robots_forbid_is_not_asked_for_by_scripts_either() -> None:
    rules = response(b"User-agent: *\nDisallow: /api/", headers={"content-type": "text/plain"})
    script = "fetch('/api/tides').then(r => draw('got it'), () => draw('The tables may not be read by programs.'))"
    pages = {"/robots.txt": rules, "/": response(shell(script)), "/api/tides": response(b"{}", headers=JSON)}
    async with raw_server(site(pages)) as served, rendering(served) as fetcher:
        _, page = await rendered(fetcher, f"{served.url}/")
    assert isinstance(page, Page) and b"may not be read" in page.payload
    assert served.paths == ["/robots.txt", "/"]


@renders
async def test_what_scripts_draw_is_judged_like_any_page() -> None:
    wall = "document.title = 'Just a moment...'; document.getElementById('root').innerHTML = '<h1>Verify you are human</h1><div id=px-captcha></div>'"
    pages = {"/wall": response(shell(wall)), "/nothing": response(shell("document.title = 'Nothing'"))}
    async with raw_server(site(pages)) as served, rendering(served) as fetcher:
        drawn, _ = await rendered(fetcher, f"{served.url}/wall")
        empty, error = await rendered(fetcher, f"{served.url}/nothing")
    assert (drawn, empty) == ("bot_wall", "needs_javascript")
    assert isinstance(error, FetchFailed) and "stays empty" in error.message


@renders
async def test_a_page_with_text_starts_no_browser() -> None:
    async with raw_server(site({"/": response()})) as served, rendering(served) as fetcher:
        page = await fetcher.fetch(f"{served.url}/")
        assert RENDERED_HEADER not in page.headers
        assert browser_processes() == []


async def test_no_server_can_say_that_we_rendered_its_page() -> None:
    async with (
        raw_server(site({"/": response(headers={RENDERED_HEADER: "Chromium 1"})})) as served,
        rendering(served) as fetcher,
    ):
        page = await fetcher.fetch(f"{served.url}/")
    assert RENDERED_HEADER not in page.headers


# -- It reaches nothing


@renders
async def test_no_way_out_of_a_page_reaches_a_trap_a_name_or_an_address_that_was_not_judged() -> None:
    look_ups = LookUps()
    async with (
        trapped() as trap,
        raw_server(hostile_site(trap)) as served,
        rendering(served, look_ups=look_ups) as fetcher,
    ):
        _, page = await rendered(fetcher, f"{served.url}/")
    assert isinstance(page, Page), page
    document = page.payload.decode()
    tried = [
        f"{way} refused" for way in ("fetch", "post", "name", "metadata", "redirect to the trap", "redirect to a name")
    ]
    for told in (*tried, "rtc gathering", "rtc in a frame gathering"):  # it did try, and stayed to tell
        assert told in document
    assert trap.n_connections == 0 and trap.n_datagrams == 0
    assert set(served.paths) == {"/robots.txt", "/", "/to-the-trap", "/to-the-metadata", "/to-a-name"}
    # Our own client was asked for these, and our gate said no; nobody looked up any other.
    assert set(look_ups.names) == {"name.trap.example", "script.trap.example", "redirect.trap.example"}


@renders
async def test_the_trap_catches_a_browser_that_is_let_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "_unshare", lambda: ["env"])
    monkeypatch.setattr(browser, "FLAGS", ("--disable-gpu", "--disable-features=WebRtcHideLocalIpsWithMdns"))
    wait = "const note = () => {}; draw('began'); setTimeout(() => draw('done'), 400); setTimeout(() => draw('done'), 900);"
    async with trapped() as trap:
        script = wait + aimed(RTC, trap, stun_by_name=False)
        async with (
            raw_server(site({"/": response(shell(script))})) as served,
            rendering(served, limits=RenderLimits(quiet_s=2.0)) as fetcher,
        ):
            await rendered(fetcher, f"{served.url}/")
    assert trap.n_datagrams > 0


@renders
async def test_every_process_of_the_browser_lives_where_there_is_no_network() -> None:
    seen: list[tuple[str, str, str]] = []

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith(b"GET /app.js "):
            seen.extend(await asyncio.to_thread(_networks))
            writer.write(response(b"draw('The tide is out.')", headers=SCRIPT))
        else:
            writer.write(
                response(shell(more="<script src=/app.js></script>")) if b"robots" not in head else response(b"", 404)
            )

    async with raw_server(answer) as served, rendering(served) as fetcher:
        outcome, _ = await rendered(fetcher, f"{served.url}/")
    assert outcome == "ok"
    assert len(seen) >= 3, "browser, its helpers and the page's own process"
    ours = os.readlink("/proc/self/ns/net")  # noqa: PTH115 - the kernel's, it blocks nothing
    for namespace, devices, routes in seen:
        assert namespace != ours
        assert re.findall(r"^\s*(\w+):", devices, re.MULTILINE) == ["lo"]
        assert len(routes.splitlines()) <= 1, "a route is a way out"
    assert browser_processes() == [], "the browser outlived its fetcher"


def browser_processes() -> list[Path]:
    """The processes that carry the home folder of a browser of ours."""
    found = []
    mark = f"HOME={tempfile.gettempdir()}/firsthand-browser-".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes():
                found.append(process)
        except OSError:
            continue  # it ended, or is another person's
    return found


def _networks() -> Iterator[tuple[str, str, str]]:
    for process in browser_processes():
        try:
            yield (
                str((process / "ns/net").readlink()),
                (process / "net/dev").read_text(),
                (process / "net/route").read_text(),
            )
        except OSError:
            continue


STRACE = shutil.which("strace")


@renders
@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
def test_traced_from_outside_no_process_connects_or_sends_anywhere_but_our_client_to_the_site(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    assert STRACE is not None
    run = subprocess.run(
        [STRACE, "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-e", "signal=none", "-o", str(trace), sys.executable, "-m", "tests.web.test_browser"],
        capture_output=True, text=True, cwd=ROOT, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    port, told = run.stdout.strip().split(" ", 1)
    assert "redirect to a name refused" in told
    lines = [line for line in _calls(trace) if re.search(r"sa_family=AF_INET6?\b", line)]
    nowhere = re.compile(r"= -1 E(NETUNREACH|ADDRNOTAVAIL|HOSTUNREACH|CONNREFUSED|INVAL|AFNOSUPPORT)")
    done = [line for line in lines if not nowhere.search(line)]
    assert lines, "nothing was traced"
    elsewhere = [line for line in done if f'sin_port=htons({port}), sin_addr=inet_addr("127.0.0.1")' not in line]
    assert not elsewhere, elsewhere[:5]


def _calls(trace: Path) -> Iterator[str]:
    """The calls of a trace, each in one line: one that another thread's interrupted is put together again."""
    begun: dict[str, str] = {}
    for line in trace.read_text(errors="replace").splitlines():
        process, _, call = line.partition(" ")
        if call.endswith("<unfinished ...>"):
            begun[process] = call.removesuffix("<unfinished ...>")
        elif call.lstrip().startswith("<..."):
            yield f"{process} {begun.pop(process, '')}{call.partition('resumed>')[2]}"
        else:
            yield line
    yield from begun.values()


async def hostile_run() -> tuple[int, str]:
    """Render the hostile page; the port of its site, and what it told."""
    async with trapped() as trap, raw_server(hostile_site(trap)) as served, rendering(served) as fetcher:
        _, page = await rendered(fetcher, f"{served.url}/")
        assert isinstance(page, Page), page
        told = re.search(r"<p>(.*?)</p>", page.payload.decode())
        return served.port, told[1] if told else ""


# -- It ends


@renders
async def test_requests_bytes_time_and_size_have_limits_and_the_next_page_is_good() -> None:
    good = shell("draw('The tide is out.')")
    pages = {
        "/good": response(good),
        "/many": response(shell("draw('many'); for (let i = 0; i < 50; i++) fetch('/part?' + i);")),
        "/much": response(shell("fetch('/big').then(r => r.text()).then(t => draw('had it'), () => draw('too much'))")),
        "/big": response(b"x" * 300_000, headers={"content-type": "text/plain"}),
        "/never": response(shell("draw('never at rest'); setInterval(() => fetch('/part?n').catch(() => {}), 50);")),
        "/loop": response(shell("draw('looping'); while (true) {}")),
        "/huge": response(shell("draw('huge'); document.body.append('x'.repeat(400_000))")),
    }
    limits = RenderLimits(total_s=2.5, n_requests=5, loaded_bytes=200_000, document_chars=300_000)
    outcomes = {}
    async with raw_server(site(pages)) as served, rendering(served, limits=limits) as fetcher:
        for path in ("/many", "/much", "/never", "/huge", "/loop", "/good"):
            n_before = len(served.paths)
            outcomes[path], page = await rendered(fetcher, f"{served.url}{path}")
            n_parts = sum(asked.startswith(("/part", "/big")) for asked in served.paths[n_before:])
            assert n_parts <= limits.n_requests, path
            if path == "/much":
                assert isinstance(page, Page) and b"too much" in page.payload
    assert outcomes == {
        "/many": "ok", "/much": "ok", "/never": "ok", "/huge": "too_large", "/loop": "timeout", "/good": "ok",
    }  # fmt: skip
    assert browser_processes() == []


@renders
async def test_a_browser_that_dies_costs_its_page_and_the_next_one_is_good() -> None:
    asked = asyncio.Event()

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ")[1]
        if path == b"/slow":
            asked.set()
            await asyncio.Event().wait()
        writer.write(response(shell("fetch('/slow')" if path == b"/dies" else "draw('The tide is out.')")))

    async with raw_server(answer) as served, rendering(served) as fetcher:
        dying = asyncio.create_task(rendered(fetcher, f"{served.url}/dies"))
        await asked.wait()
        for process in browser_processes():
            os.kill(int(process.name), signal.SIGKILL)
        outcome, _ = await dying
        after, page = await rendered(fetcher, f"{served.url}/good")
    assert (outcome, after) == ("failed", "ok")
    assert isinstance(page, Page) and b"The tide is out." in page.payload


@renders
def test_the_browser_dies_with_a_process_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.web.test_browser", "wait"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as running:
        assert running.stdout is not None
        assert int(running.stdout.readline()) > 0, "no browser ran"
        running.kill()
    for process in browser_processes():
        _wait_until_gone(process)
    assert browser_processes() == []
    left = [
        folder
        for folder in Path(tempfile.gettempdir()).glob("firsthand-browser-*")
        if f"-{running.pid}-" in folder.name
    ]
    browser._own_folder().cleanup()
    assert left and not any(folder.exists() for folder in left), "the next browser clears up behind it"


def _wait_until_gone(process: Path) -> None:
    """Return when the process has ended; it is not our child, so the kernel tells by its descriptor."""
    try:
        descriptor = os.pidfd_open(int(process.name))
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], 20)[0], "it goes on"
    finally:
        os.close(descriptor)


async def render_without_end() -> None:
    """Render a page that never comes to rest; prints how many processes the browser has while it does."""
    asked = asyncio.Event()

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith(b"GET /slow "):
            asked.set()
            await asyncio.Event().wait()
        writer.write(response(shell("fetch('/slow')")))

    async with raw_server(answer) as served, rendering(served, limits=RenderLimits(total_s=60)) as fetcher:
        fetching = asyncio.create_task(rendered(fetcher, f"{served.url}/"))
        await asked.wait()
        print(len(browser_processes()), flush=True)
        await fetching


# -- It is off, and says why


async def test_without_a_renderer_the_outcome_says_how_to_have_one() -> None:
    async with raw_server(site({"/": response(shell())})) as served:
        fetcher = Fetcher(Client(), Policy(allow_private=frozenset({("127.0.0.1", served.port)})), Pacer(interval_s=0))
        outcome, error = await rendered(fetcher, f"{served.url}/")
        await fetcher.aclose()
    assert outcome == "needs_javascript"
    assert (
        isinstance(error, FetchFailed)
        and "firsthand[browser]" in error.message
        and "FIRSTHAND_BROWSER=on" in error.message
    )


def test_the_browser_is_off_until_the_setting_says_on(tmp_path: Path) -> None:
    home = {"FIRSTHAND_HOME": str(tmp_path)}
    assert load_settings(home).browser is False
    assert load_settings({**home, "FIRSTHAND_BROWSER": "on"}).browser is True
    assert load_settings({**home, "FIRSTHAND_BROWSER": "off"}).browser is False


def test_why_no_page_is_rendered_is_a_sentence_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as changed:
        changed.setitem(sys.modules, "playwright", None)
        assert "firsthand[browser]" in (why_not() or "")
    if "Playwright" in (why_not() or ""):
        pytest.skip("Playwright is not installed: the other reasons come after it")
    assert "FIRSTHAND_BROWSER_PATH" in (why_not("/nowhere/chromium") or "")
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "unshare" in (why_not(str(program)) or "")
    refusing = tmp_path / "unshare"
    refusing.write_text("#!/bin/sh\nexit 1\n")
    refusing.chmod(0o700)
    assert "network namespaces" in (why_not(str(program)) or "")


async def test_a_browser_that_cannot_be_shut_off_is_not_started_and_the_page_still_needs_its_scripts() -> None:
    chromium = Chromium("/nowhere/chromium")

    async def load(url: str, headers: object) -> HttpResponse:
        raise AssertionError("nothing is asked for")

    with pytest.raises(FetchFailed) as caught:
        await chromium.render(HttpResponse("https://site.example/", 200, {}, shell()), load)
    assert caught.value.outcome == "needs_javascript"
    await chromium.aclose()


if __name__ == "__main__":
    if sys.argv[1:] == ["wait"]:
        asyncio.run(render_without_end())
    else:
        print(*asyncio.run(hostile_run()))
