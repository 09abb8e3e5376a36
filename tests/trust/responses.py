"""Every row of the response corpus, served byte for byte on loopback and fetched in a fresh process each.

    python -m tests.trust.responses serve|forge        (started by ``Lab``)

The server gives each row a port, so that one row's pause or cookie is no other row's. The forge has imported what a
fetch needs and forks a child for each job: a process that is fresh in what it holds, at a hundredth of the cost. A child
fetches the row, extracts what came as the product does, then fetches a good page with the same client, and says how it
ended, how long it took, how far its peak memory rose, and whom it connected to.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import http.client
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from firsthand.errors import OutsideError
from firsthand.live.extraction import Extraction
from firsthand.values import Text
from firsthand.web.address import Policy
from firsthand.web.client import Client
from firsthand.web.fetch import Fetcher
from firsthand.web.limits import LIMITS, Limits
from firsthand.web.pace import Pacer
from tests.web.raw_server import GOOD_PAGE, Row, raw_server, ready, response, send_row

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "data" / "hostile-responses.jsonl"
ROWS: dict[str, Row] = {row["id"]: row for row in map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines())}
SHORT = Limits(connect_s=0.8, first_byte_s=0.6, between_reads_s=0.6, total_s=1.2)
PATIENT = frozenset({"r032", "r034"})  # good answers that are slow: read under the product's own limits
HUNG_S = 90  # a job that lasts longer is killed and counts as hung
RISE_MAX_MIB = 96.0  # trust page, P4
SECONDS_MAX = 35.0
# hostile-defaults.json, extract.memory_mib, above what a worker has when it starts (35 MiB measured, 2026-11-30). A row's
# own max_rss_rise_mib is held against the process that fetches, as the trust page says (P4).
WORKER_MAX_MIB = 512.0 + 64.0
LEAKS = (b"cookie", b"authorization", b"proxy-authorization", b"referer", b"from", b"x-forwarded-for")


@dataclass
class Result:
    """What a child said of one row."""

    id: str
    code: str = "died"
    outcome: str = ""
    seconds: float = 0.0
    cpu_s: float = 0.0  # of the process and of the one that read its page
    rise_mib: float = 0.0  # of the process that fetches
    worker_mib: float = 0.0  # the largest process that it started to read the page in, the interpreter and all
    waited_s: float = 0.0  # what Retry-After and crawl delays made it wait, on a clock that only notes
    next_good: bool = False
    was_read: bool = False  # a page came, and a worker read it or tried
    next_read: bool = True  # the next page, by what read this one
    body: str = ""  # of an ok page: enough to look for what it must and must not contain
    n_links: int = 0
    headers: str = ""
    peers: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)  # what the row's server was asked for
    leaks: list[str] = field(default_factory=list)  # header lines that must not go along


# -- What a row owes

# Which of the 15 outcomes a reader sees for a corpus code. Written here by hand: the product's table is tested by it.
STATED_OUTCOMES: dict[str, frozenset[str]] = {
    "ok": frozenset({"ok"}),
    "bad_redirect": frozenset({"failed"}),
    "bad_response": frozenset({"failed"}),
    "connection_lost": frozenset({"failed"}),
    "decode_error": frozenset({"failed"}),
    "empty": frozenset({"empty"}),
    "parse_error": frozenset({"failed"}),
    "parse_limit": frozenset({"failed"}),
    "rate_limited": frozenset({"rate_limited"}),
    "timeout": frozenset({"timeout"}),
    "too_large": frozenset({"too_large"}),
    "unsupported_type": frozenset({"unsupported"}),
}
STATED_BY_STATUS = {401: "refused", 407: "refused", 999: "refused"}  # http_status: refused, else failed
# Finer codes of the reader of PDFs and of the worker processes, and the corpus code that each is a case of.
KINDS = {
    "no_text": "empty",
    "pdf_broken": "parse_error",
    "pdf_scanned": "parse_error",  # a PDF without a word of text
    "parse_timeout": "parse_limit",
}
NO_TEXT_OUTCOME = {"pdf_scanned": "unsupported"}


def faults(result: Result) -> list[str]:
    """What is wrong with how a row ended; empty if it is all as stated."""
    row = ROWS[result.id]
    expect = row["expect"]
    code = KINDS.get(result.code, result.code)
    allowed = {expect.get("code", expect["outcome"]), *row.get("also", [])}
    found = []
    if code not in allowed:
        found.append(f"code {result.code}, not {' or '.join(sorted(allowed))}")
    elif result.outcome not in _outcomes(row, result.code, code):
        found.append(f"outcome {result.outcome} for {result.code}")
    # A busy machine makes reading a page last longer; how long the reading itself takes is what its row bounds.
    spent_s = min(result.seconds, result.cpu_s) if row["class"] == "parse" else result.seconds
    if spent_s > expect.get("max_seconds", SECONDS_MAX):
        found.append(f"took {result.seconds:.1f} s, {result.cpu_s:.1f} s of CPU")
    if result.rise_mib > min(expect.get("max_rss_rise_mib", RISE_MAX_MIB), RISE_MAX_MIB):
        found.append(f"memory rose by {result.rise_mib:.0f} MiB")
    if result.worker_mib > WORKER_MAX_MIB:
        found.append(f"a worker had {result.worker_mib:.0f} MiB")
    if result.waited_s > expect.get("max_wait_s", 300):
        found.append(f"waited {result.waited_s:.0f} s")
    if not result.next_good:
        found.append("the next fetch was not good")
    if not result.next_read:
        found.append("the next page was not read")
    return found + _faults_of_content(row, result, code)


def _faults_of_content(row: Row, result: Result, code: str) -> list[str]:
    found = []
    if code == "ok" and row["expect"].get("contains", "") not in result.body:
        found.append(f"the text does not contain {row['expect']['contains']!r}")
    if row["expect"].get("never", "\0never") in result.body:
        found.append(f"the text contains {row['expect']['never']!r}")
    if result.n_links > row["expect"].get("max_links", 2000):
        found.append(f"{result.n_links} links")
    if row.get("never_log", "\0never") in result.headers:
        found.append("a header is kept raw")
    if len(result.paths) > row["expect"].get("max_fetches", 8) or set(result.paths) - {"/row", "/good", "/robots.txt"}:
        found.append(f"asked for {result.paths}")
    if result.leaks:
        found.append(f"sent {result.leaks}")
    return found + [f"connected to {peer}" for peer in result.peers]


def _outcomes(row: Row, exact: str, code: str) -> frozenset[str]:
    if code == "http_status":
        return frozenset({STATED_BY_STATUS.get(row["status"], "failed")})
    if exact in NO_TEXT_OUTCOME:
        return frozenset({NO_TEXT_OUTCOME[exact]})
    return STATED_OUTCOMES[code]


# -- The lab


class Lab:
    """The server and the forge, as processes; a context manager. Jobs may be under way at the same time."""

    def __enter__(self) -> Lab:
        self._server = _start("serve")
        self._forge = _start("forge")
        assert self._server.stdout is not None
        self._ports: dict[str, int] = json.loads(self._server.stdout.readline())
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self._forge, self._server):
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()  # each ends with its input; the forge when its children have
            try:
                process.wait(HUNG_S + 10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()

    def run(self, ids: Iterable[str], *, short: bool, at_once: int = 1) -> Iterator[Result]:
        """The results of rows, in the order in which they end. *short*: rows about time wait for less.

        Those begin: the server is not yet busy with the bombs of others.
        """
        waiting = sorted(ids, key=lambda id: ROWS[id]["class"] != "time")[::-1]
        n_under_way = 0
        assert self._forge.stdin is not None and self._forge.stdout is not None
        while waiting or n_under_way:
            while waiting and n_under_way < at_once:
                id = waiting.pop()
                job = {"id": id, "short": short, "port": self._ports[id], "good_port": self._ports["good"]}
                self._forge.stdin.write(json.dumps(job) + "\n")
                self._forge.stdin.flush()
                n_under_way += 1
            result = Result(**json.loads(self._forge.stdout.readline()))
            n_under_way -= 1
            seen = self._seen(result.id)
            result.paths, result.leaks = seen["paths"], seen["leaks"]
            yield result

    def _seen(self, id: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._ports["seen"])
        connection.request("GET", f"/{id}")
        answer = connection.getresponse().read()
        connection.close()
        return json.loads(answer)


def _start(part: str) -> subprocess.Popen[str]:
    from tests.trust.peers import watched

    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.trust.responses", part],
        cwd=ROOT,
        env=watched({"PATH": os.environ["PATH"], "PYTHONPATH": path}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


# -- The server


async def serve() -> None:
    """Serve every row on a port of its own, until stdin ends; the ports are the one line printed."""
    async with contextlib.AsyncExitStack() as stack:
        ports: dict[str, int] = {}
        seen: dict[str, Any] = {}
        for id, row in ROWS.items():
            served = await stack.enter_async_context(raw_server(_answer_with(ready(row))))
            ports[id], seen[id] = served.port, served

        async def say(head: bytes, writer: asyncio.StreamWriter) -> None:
            served = seen[head.split(b" ")[1].decode().strip("/")]
            lines = [line for one in served.heads for line in one.split(b"\r\n")[1:]]
            leaks = [line.decode("latin-1") for line in lines if line.split(b":")[0].lower() in LEAKS]
            writer.write(response(json.dumps({"paths": served.paths, "leaks": leaks}).encode()))
            served.heads.clear()

        for name, answer in (("good", _good), ("seen", say)):
            ports[name] = (await stack.enter_async_context(raw_server(answer))).port
        print(json.dumps(ports), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def _answer_with(row: Row) -> Any:
    path = row.get("as_path", "/row").encode()

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith(b"GET %b " % path):
            await send_row(row, writer)
        else:
            writer.write(response())

    return answer


async def _good(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(response())


# -- The forge


def forge() -> None:
    """One JSON job a line on stdin, one JSON result a line on stdout as each child ends."""
    import aiohttp  # noqa: F401  # what a fetch imports is no rise of a fetch

    import firsthand.web.extract.html
    import firsthand.web.extract.text  # noqa: F401

    gc.freeze()
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ)
    children: dict[int, tuple[str, int, bytes]] = {}  # by the pipe it reports to: row, process, what it said so far
    is_open, unread = True, b""
    while is_open or children:
        for key, _ in selector.select():
            data = os.read(key.fd, 1 << 16)
            if key.fd == 0:
                *lines, unread = (unread + data).split(b"\n")
                if not data:
                    is_open = False
                    selector.unregister(key.fileobj)
                for line in lines:
                    job = json.loads(line)
                    pipe, process = _fork(job, children)
                    children[pipe] = job["id"], process, b""
                    selector.register(pipe, selectors.EVENT_READ)
            elif data:
                id, process, said = children[key.fd]
                children[key.fd] = id, process, said + data
            else:
                _reap(selector, key.fd, *children.pop(key.fd))


def _reap(selector: selectors.BaseSelector, pipe: int, id: str, process: int, said: bytes) -> None:
    selector.unregister(pipe)
    os.close(pipe)
    _, status = os.waitpid(process, 0)
    ended = os.waitstatus_to_exitcode(status)
    code = "hung" if ended == -signal.SIGALRM else f"died ({ended})"
    print(said.decode() or json.dumps(asdict(Result(id, code))), flush=True)


def _fork(job: Any, others: Iterable[int]) -> tuple[int, int]:
    reads, writes = os.pipe()
    process = os.fork()
    if process:
        os.close(writes)
        return reads, process
    try:
        for other in others:
            os.close(other)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        signal.alarm(HUNG_S)
        result = asyncio.run(_visit(job))
        with os.fdopen(writes, "w") as report:
            report.write(json.dumps(asdict(result)))
        os._exit(0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)


class _Notes:
    """A clock and a sleep that only note; and everyone the process connects to."""

    def __init__(self, *allowed_ports: int) -> None:
        self.now = 0.0
        self.peers: list[str] = []
        self._allowed = {("127.0.0.1", port) for port in allowed_ports}
        sys.addaudithook(self._note)

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
            if arguments[1][:2] not in self._allowed:
                self.peers.append(f"{arguments[1][0]} port {arguments[1][1]}")
        elif event == "socket.getaddrinfo" and arguments[0] != "127.0.0.1":
            self.peers.append(f"a name server, for {arguments[0]}")


async def _visit(job: Any) -> Result:
    row = ROWS[job["id"]]
    limits = SHORT if job["short"] and row["class"] == "time" and job["id"] not in PATIENT else LIMITS
    ports = (job["port"], job["good_port"])
    notes = _Notes(*ports)
    policy = Policy(allow_private=frozenset(("127.0.0.1", port) for port in ports))
    fetcher = Fetcher(Client(limits=limits), policy, Pacer(interval_s=0, clock=notes.clock, sleep=notes.sleep))
    extraction = Extraction(1)
    scheme = "https" if row.get("wire", {}).get("tls_stall") else "http"
    result = Result(job["id"])
    before, began = _peak_mib(), time.monotonic()
    try:
        page = await fetcher.fetch(f"{scheme}://127.0.0.1:{job['port']}/row", use_robots="as_path" in row)
        result.headers = repr(dict(page.headers)) + "".join(page.headers.values())
        result.rise_mib = _peak_mib() - before
        result.was_read = True
        text, _ = await extraction.one(page.payload, url=page.url, content_type=page.headers.get("content-type"))
        result.code = result.outcome = "ok"
        result.n_links, result.body = len(text.links), _sample(text, row)
    except OutsideError as error:
        result.code, result.outcome = error.code, error.outcome
    result.seconds = time.monotonic() - began
    result.rise_mib = max(result.rise_mib, _peak_mib() - before)
    if result.was_read:
        good_text, _ = await extraction.one(GOOD_PAGE, url="http://a.example/good", content_type="text/html")
        result.next_read = "Zambezi" in good_text.body
    extraction.close()  # its processes end, and only then are they counted
    result.cpu_s = _cpu_s()
    result.waited_s = notes.now
    result.worker_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    next_port = job["good_port"] if result.code == "rate_limited" else job["port"]  # who asked for a pause gets it
    try:
        good = await fetcher.fetch(f"http://127.0.0.1:{next_port}/good", use_robots=False)
        result.next_good = good.payload == GOOD_PAGE
    finally:
        await fetcher.aclose()
    result.peers = notes.peers
    return result


def _sample(text: Text, row: Row) -> str:
    """The text, or of a long one the beginning and whatever the row looks for in it."""
    words = (row["expect"].get("contains", ""), row["expect"].get("never", ""))
    return text.body[:1000] + "".join(f"\n{word}" for word in words if word and word in text.body)


def _cpu_s() -> float:
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: list[str], out: IO[str] = sys.stdout) -> None:
    """Be the part that is named."""
    if arguments == ["serve"]:
        asyncio.run(serve())
    else:
        forge()


if __name__ == "__main__":
    main(sys.argv[1:])
