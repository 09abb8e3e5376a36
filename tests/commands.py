"""The real command line in processes of its own, and the loopback web that it reaches."""

from __future__ import annotations

import atexit
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from tests.trust.peers import watched

# A shell starts what it puts in the background deaf to Ctrl-C, and children inherit that; a terminal's command is not.
_HEARS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = [sys.executable, "-c", f"{_HEARS}; from firsthand.__main__ import main; main()"]
SOURCE = Path(__file__).parents[1] / "src"
PATIENCE_S = 60.0  # for one command on a busy machine


def environment(home: Path, **settings: str) -> dict[str, str]:
    """A clean environment with the home folder and *settings* (``search="searxng"`` is FIRSTHAND_SEARCH)."""
    given = {f"FIRSTHAND_{name.upper()}": value for name, value in settings.items() if name.islower()}
    others = {name: value for name, value in settings.items() if not name.islower()}
    base = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "PYTHONPATH": str(SOURCE), "COLUMNS": "80"}
    return watched({**base, "FIRSTHAND_HOME": str(home), "FIRSTHAND_WORKERS": "1", **given, **others})


@dataclass
class Ran:
    """How a command ended and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run(home: Path, *words: str, **settings: str) -> Ran:
    """``firsthand`` with *words*, to its end, in a fork of a process that has imported it already."""
    forge = _forge()
    assert forge.stdin is not None and forge.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        cwd = home.parent if home.parent.is_dir() else home.parent.parent
        env = environment(home, **settings)
        request = {"words": words, "env": env, "cwd": str(cwd), "out": str(out), "err": str(err)}
        forge.stdin.write(json.dumps(request) + "\n")
        forge.stdin.flush()
        code = json.loads(forge.stdout.readline())["code"]
        return Ran(code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


@cache
def _forge() -> subprocess.Popen[str]:
    """Ends when this process ends, because its input does."""
    command = [sys.executable, str(Path(__file__).with_name("forge.py"))]
    env = environment(Path("/nowhere"))
    forge = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    atexit.register(_end, forge)
    return forge


def _end(forge: subprocess.Popen[str]) -> None:
    assert forge.stdin is not None and forge.stdout is not None
    forge.stdin.close()
    forge.stdout.close()
    forge.wait(PATIENCE_S)


def start(home: Path, *words: str, **settings: str) -> subprocess.Popen[str]:
    """``firsthand`` with *words* in a process group of its own, as a terminal starts it."""
    return subprocess.Popen(
        [*COMMAND, *words],
        env=environment(home, **settings),
        cwd=home.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def one_object(ran: Ran) -> dict[str, Any]:
    """The one JSON object that a command printed, on one line and alone."""
    assert ran.stdout.endswith("\n") and ran.stdout.count("\n") == 1, ran.stdout + ran.stderr
    value = json.loads(ran.stdout)
    assert isinstance(value, dict)
    return value


def group_members(group: int) -> list[int]:
    """The processes of a process group that still run. Source: proc(5), stat."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found


# -- A web on loopback


@dataclass
class Reply:
    """What a site answers; ``hold`` is waited for first."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None


def page(title: str, *paragraphs: str, links: tuple[str, ...] = ()) -> Reply:
    """A readable HTML page."""
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    html = f"<!doctype html><html lang=en><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main>"
    return Reply(f"{html}<ul>{anchors}</ul></body></html>".encode(), headers={"content-type": "text/html"})


def zipped(reply: Reply) -> Reply:
    """*reply* as gzip."""
    return Reply(gzip.compress(reply.body), reply.status, {**reply.headers, "content-encoding": "gzip"}, reply.hold)


NOT_HERE = Reply(b"not here", 404, {"content-type": "text/plain"})


@dataclass
class Site:
    """A server on loopback: what it answers by path, and the paths it was asked for, in order."""

    host: str
    port: int = 0
    replies: dict[str, Reply | Callable[[str], Reply]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    is_asked: threading.Condition = field(default_factory=threading.Condition)

    @property
    def pair(self) -> str:
        return f"{self.host}:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.pair}{path}"

    def count(self, path: str) -> int:
        """How often *path* was asked for."""
        return self.asked.count(path)

    def wait_for(self, path: str) -> None:
        """Return when *path* has been asked for."""
        with self.is_asked:
            assert self.is_asked.wait_for(lambda: path in self.asked, PATIENCE_S), f"nobody asked for {path}"

    def note(self, path: str) -> None:
        """Remember that *path* was asked for."""
        with self.is_asked:
            self.asked.append(path)
            self.is_asked.notify_all()


@contextmanager
def site(host: str = "127.0.0.1") -> Iterator[Site]:
    """A site that answers until the block ends."""
    here = Site(host)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(urlsplit(self.path).query)

        def do_POST(self) -> None:
            self.answer(self.rfile.read(int(self.headers.get("content-length", "0"))).decode())

        def answer(self, said: str) -> None:
            """Answer by path; a reply that is a function gets the query, or the body of a POST."""
            parts = urlsplit(self.path)
            here.note(parts.path)
            found = here.replies.get(parts.path, NOT_HERE)
            reply = found(said) if callable(found) else found
            if reply.hold is not None:
                reply.hold.wait(PATIENCE_S)
            try:
                self.send_response(reply.status)
                for name, value in {"content-length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)
            except (BrokenPipeError, ConnectionResetError):
                return

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer((host, 0), Handler)
    server.daemon_threads = True
    here.port = server.server_address[1]
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
        serving.join()


@dataclass
class Web:
    """A search instance and two sites of different owners."""

    searxng: Site
    one: Site
    other: Site
    questions: list[str] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, str]:
        """The settings with which a command reaches this web, and nothing else."""
        return {
            "search": "searxng",
            "searxng_url": self.searxng.url("/"),
            "duckduckgo_url": self.searxng.url("/html/"),  # not there: it answers 404
            "mediawiki_url": self.searxng.url("/w/api.php"),
            "allow_private": f"{self.one.pair},{self.other.pair}",
            "host_interval_s": "0",
        }

    def found(self, query: str) -> Reply:
        """What the search instance answers: the hits in order."""
        self.questions.append(parse_qs(query)["q"][0])
        rows = [{"url": url, "title": f"Page {n}", "content": "9999 members"} for n, url in enumerate(self.hits, 1)]
        body = json.dumps({"results": rows, "unresponsive_engines": []}).encode()
        return Reply(body, headers={"content-type": "application/json"})


@contextmanager
def web() -> Iterator[Web]:
    """Three servers on loopback."""
    with site() as searxng, site() as one, site("127.0.0.2") as other:
        made = Web(searxng, one, other)
        searxng.replies["/search"] = made.found
        yield made


def as_dicts(value: object) -> list[dict[str, Any]]:
    """A list of objects from JSON."""
    return cast(list[dict[str, Any]], value)
