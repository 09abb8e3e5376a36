"""A world in a thread of its own, for tests: start it, ask it, look at what it was asked."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO, TypeVar

from firsthand.testing.world.core import SERVICES_HOST, Core
from firsthand.testing.world.double import ANSWER_TOKENS, TOOL_CALLS, Double
from firsthand.testing.world.http import MAX_HEAD_BYTES, serve
from firsthand.testing.world.journal import Journal, Seen
from firsthand.testing.world.library import MAX_FOUND_BYTES, MIN_FOUND_CHARS, Library, Source, bare
from firsthand.testing.world.searches import ENGINE_NAMES
from firsthand.testing.world.server import Server
from firsthand.testing.world.settings import settings_of
from firsthand.testing.world.trouble import Trouble, trouble

PATIENCE_S = 10.0  # for the world's own thread, and for requests that are waited for
MAX_HOSTS = 250
_PORT_TRIES = 20  # a port that is free on one loopback address may be taken on another

T = TypeVar("T")


class World:
    """Pages, search engines and a model on loopback, from ``with`` to the end of its block.

    Services listen on 127.0.0.1, pages on 127.0.0.2 and up, all on one port: programs treat one host politely, and
    some drop hits that lie on the search service itself. With ``hosts=0`` pages are on 127.0.0.1 too, for systems
    that have no second loopback address.

    Example:
        with World(pages={"tides.html": "<title>Tides</title><p>The tide turns at noon."}) as world:
            html = urllib.request.urlopen(world.url("tides.html")).read()
            assert world.requests()[0].path == "/site/tides.html"
    """

    def __init__(
        self,
        pages: Path | str | Mapping[str, Source] | None = None,
        *,
        hosts: int = 4,
        port: int = 0,
        log: Path | None = None,
        keep_prompts: bool = False,
        questions: Sequence[str] = (),
        answer_tokens: int = ANSWER_TOKENS,
        tool_calls: int = TOOL_CALLS,
        **settings: Any,
    ) -> None:
        """*pages* is a folder, or a table of paths and what they hold. Nothing is opened before ``with``.

        Raises: ValueError for a setting that is none.
        """
        if not 0 <= hosts <= MAX_HOSTS:
            raise ValueError(f"A world has 0 to {MAX_HOSTS} hosts for its pages.")
        self._pages = Path(pages) if isinstance(pages, str) else pages if pages is not None else {}
        self._hosts = tuple(f"127.0.0.{n + 2}" for n in range(hosts)) or (SERVICES_HOST,)
        self.port = port
        self._log = log
        self._keep_prompts = keep_prompts
        self._double = Double(questions, answer_tokens=answer_tokens, tool_calls=tool_calls)
        self._settings = settings_of(settings)
        self._stack = ExitStack()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._library = Library(self._pages)
            stack.callback(self._library.close)
            log: TextIO | None = None
            if self._log is not None:
                log = stack.enter_context(self._log.open("a", encoding="utf-8"))
            sockets, self.port = _listen(dict.fromkeys((SERVICES_HOST, *self._hosts)), self.port)
            for one in sockets:
                stack.callback(one.close)
            self._journal = Journal(self._library.page, log, keep_prompts=self._keep_prompts)
            self._core = Core(self._library, self._settings, self._journal, hosts=self._hosts, port=self.port)
            self._server = Server(self._core, self._double)
            started: Future[None] = Future()
            thread = threading.Thread(
                target=lambda: asyncio.run(self._live(sockets, started)), name="world", daemon=True
            )
            thread.start()
            stack.callback(thread.join, PATIENCE_S)
            started.result(PATIENCE_S)
            stack.callback(self._stop)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    # -- Where things are

    @property
    def origin(self) -> str:
        """Where the services are."""
        return f"http://{SERVICES_HOST}:{self.port}"

    @property
    def search_url(self) -> str:
        """The base address of the SearXNG look-alike, as ``FIRSTHAND_SEARXNG_URL`` takes it."""
        return self.engine_url("searxng")

    @property
    def model_url(self) -> str:
        """The base address of the model double, as ``OPENAI_BASE_URL`` takes it."""
        return f"{self.origin}/v1"

    def engine_url(self, name: str) -> str:
        """The base address of one engine; its own paths follow. Raises: ValueError for an engine that is none."""
        if name not in ENGINE_NAMES:
            raise ValueError(f"There is no engine {name!r}; there are {', '.join(ENGINE_NAMES)}.")
        return f"{self.origin}/{name}"

    def url(self, path: str, *, host: int | None = None) -> str:
        """The address of a page, on the host that searches show it on, or on the *host*-th."""
        return self._core.url(bare(path), host=host)

    def trouble_url(self, name: str, *, host: int = 0, **options: object) -> str:
        """An address that misbehaves. Raises: ValueError for a trouble or an option that is none."""
        made = trouble(name, {key: str(value) for key, value in options.items()})
        return f"http://{self._hosts[host % len(self._hosts)]}:{self.port}/trouble/{made}"

    @property
    def pairs(self) -> str:
        """Host and port of every address, as ``FIRSTHAND_ALLOW_PRIVATE`` takes them."""
        return ",".join(f"{host}:{self.port}" for host in dict.fromkeys((*self._hosts, SERVICES_HOST)))

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which Firsthand, and programs that speak OpenAI's wire, find this world."""
        return {
            "WORLD": self.origin,
            "OPENAI_BASE_URL": self.model_url,
            "OPENAI_API_KEY": "sk-world",
            "FIRSTHAND_SEARXNG_URL": self.search_url,
            "FIRSTHAND_ALLOW_PRIVATE": self.pairs,
        }

    @property
    def n_found(self) -> int:
        """How many pages a search can find."""
        return self._call(lambda: self._library.n_found)

    @property
    def never_found(self) -> str:
        """Which pages of the folder are served though no search finds them, as a sentence; empty if there are none."""
        why = {
            f"at most {MIN_FOUND_CHARS} characters of text": self._library.n_short,
            f"more than {MAX_FOUND_BYTES:,} bytes": self._library.n_large,
        }
        said = " and ".join(f"{n} with {reason}" for reason, n in why.items() if n)
        return f"Served too, but found by no search: {said}." if said else ""

    # -- What it does

    def reset(self, **settings: Any) -> None:
        """Begin a new run with *settings*; nothing was asked yet. Raises: ValueError."""
        made = settings_of(settings)
        self._call(lambda: self._server.reset(made))

    def set(self, **settings: Any) -> None:
        """Change some settings and go on. Raises: ValueError."""
        made = settings_of(settings)
        changed = {name: getattr(made, name) for name in settings}
        self._call(lambda: self._core.set(replace(self._core.settings, **changed)))

    def misbehave(self, where: str, *troubles: str | Trouble) -> None:
        """From now on *where* (see ``Settings.trouble``) has these troubles, one after the other; without any, none.

        Raises: ValueError for a trouble that is none.
        """
        others = {key: value for key, value in self._core.settings.trouble.items() if key != where}
        self.set(trouble={**others, **({where: troubles} if troubles else {})})

    def release(self) -> None:
        """Let everything that is held go on."""
        self._call(self._core.release)

    def put(self, path: str, page: Source) -> None:
        """Change a page, or add one."""
        self._call(lambda: self._library.put(path, page))

    # -- What it saw

    def requests(self, kind: str | None = None) -> tuple[Seen, ...]:
        """The requests of this run, in order; of one kind (page, search, model, embed, robots) if it is named."""
        seen = self._call(self._journal.seen)  # in the world's thread, where what was answered is written down whole
        return tuple(one for one in seen if kind in (None, one.kind))

    def wait_for(self, path: str, *, timeout_s: float = PATIENCE_S) -> Seen:
        """The first request for *path* in this run, as soon as it was made. Raises: TimeoutError."""
        seen = self._journal.wait_for(lambda seen: seen.path == path, timeout_s)
        if seen is None:
            raise TimeoutError(f"Nobody asked for {path} within {timeout_s:g} seconds.")
        return seen

    def stats(self) -> dict[str, Any]:
        """Counts, waits and the critical path of this run, as ``/stats`` gives them."""
        return self._call(self._server.stats)

    # -- Its thread

    async def _live(self, sockets: Sequence[socket.socket], started: Future[None]) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            connections.add(task)
            try:
                await serve(self._server.answer, reader, writer)
            except asyncio.CancelledError:
                writer.transport.abort()  # the world ends; whoever still waits learns it at once
            finally:
                connections.discard(task)

        try:
            servers = [await asyncio.start_server(connected, sock=one, limit=MAX_HEAD_BYTES) for one in sockets]
        except Exception as error:
            started.set_exception(error)
            return
        started.set_result(None)
        await self._stopped.wait()
        for server in servers:
            server.close()
        for task in list(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await asyncio.sleep(0)  # aborted connections are taken down in the loop's next round
        self._journal.settle("")

    def _call(self, do: Callable[[], T]) -> T:
        """Do something in the world's thread. Raises: what it raises; RuntimeError outside of the block."""
        if self._loop is None:
            raise RuntimeError("The world is not there: use it inside its `with` block.")

        async def done() -> T:
            return do()

        return asyncio.run_coroutine_threadsafe(done(), self._loop).result(PATIENCE_S)

    def _stop(self) -> None:
        assert self._stopped is not None
        self._call(self._stopped.set)
        self._loop = None


def _listen(hosts: Iterable[str], port: int) -> tuple[list[socket.socket], int]:
    """A listening socket for each host, all on one port, and that port. Raises: OSError."""
    for left in reversed(range(_PORT_TRIES)):
        sockets: list[socket.socket] = []
        try:
            chosen = port
            for host in hosts:
                sockets.append(socket.create_server((host, chosen), backlog=256))
                chosen = sockets[0].getsockname()[1]
            return sockets, chosen
        except OSError:
            for one in sockets:
                one.close()
            if port or not left:
                raise
    raise AssertionError("unreachable")
