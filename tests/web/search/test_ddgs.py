"""The worker process around ``ddgs``, beyond the contract."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from firsthand.errors import ProviderFailed
from firsthand.values import Query, TimeFilter
from firsthand.web.search import Ddgs
from firsthand.web.search.ddgs import BACKENDS, FILTERING_BACKENDS
from tests.web.search.adapter import DATA
from tests.web.search.adapters import worker_environment

RESULTS = DATA / "ddgs" / "results.json"


async def asked_for(query: Query, folder: Path) -> dict[str, object]:
    await Ddgs(worker_environment(RESULTS, folder / "asked.json")).search(query)
    asked: dict[str, object] = json.loads((folder / "asked.json").read_text())
    return asked


async def test_no_proxy_setting_reaches_the_worker(tmp_path: Path) -> None:
    asked = await asked_for(Query("q"), tmp_path)
    assert (asked["proxy"], asked["environment"]) == (None, [])


@pytest.mark.parametrize(
    ("time_filter", "backends"), [(None, "duckduckgo,brave,startpage,yahoo,mojeek"), ("hour", "duckduckgo,brave,startpage,yahoo")]
)  # fmt: skip
async def test_services_are_named_and_with_a_filter_only_those_that_honour_it(
    time_filter: TimeFilter | None, backends: str, tmp_path: Path
) -> None:
    asked = await asked_for(Query("q", time_filter=time_filter, language="ja"), tmp_path)
    assert (asked["backend"], asked["region"]) == (backends, "jp-jp")


async def test_a_missing_package_says_how_to_install_it(tmp_path: Path) -> None:
    # A folder named ddgs without the package in it hides an installed one, as a half-removed package does.
    (tmp_path / "ddgs.py").write_text("raise ImportError('not here')")
    environment = worker_environment(RESULTS, tmp_path / "asked.json")
    environment["PYTHONPATH"] = f"{tmp_path}:{environment['PYTHONPATH']}"
    with pytest.raises(ProviderFailed, match=r"pip install 'firsthand\[search\]'") as caught:
        await Ddgs(environment).search(Query("q"))
    assert caught.value.code == "provider_missing"


async def test_a_file_named_ddgs_in_the_working_directory_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ddgs.py").write_text("raise SystemExit('run by accident')")
    monkeypatch.chdir(tmp_path)
    assert await asked_for(Query("q"), tmp_path)


async def test_a_python_that_does_not_exist_is_a_failure_of_the_provider() -> None:
    with pytest.raises(ProviderFailed) as caught:
        await Ddgs({}, python="/nonexistent/python").search(Query("q"))
    assert caught.value.code == "provider_unreachable"


@asynccontextmanager
async def hanging_search(folder: Path) -> AsyncIterator[tuple[Ddgs, Callable[[], Awaitable[bytes]]]]:
    """A search whose worker connects here and then hangs; awaiting the second value returns when it is gone."""
    connected: asyncio.Future[asyncio.StreamReader] = asyncio.get_running_loop().create_future()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set_result(reader)
        await reader.read()
        writer.close()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        script = folder / "script.json"
        script.write_text(json.dumps({"hang": server.sockets[0].getsockname()[1]}))

        async def started() -> bytes:
            await connected
            return b"started"

        yield Ddgs(worker_environment(script, folder / "asked.json")), started


async def test_a_cancelled_search_leaves_no_worker_behind(tmp_path: Path) -> None:
    async with asyncio.timeout(20), hanging_search(tmp_path) as (ddgs, started):
        before = worker_pids()  # the database server of other tests may be one
        search = asyncio.create_task(ddgs.search(Query("q")))
        await started()
        assert len(worker_pids() - before) == 1
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        assert worker_pids() <= before


async def test_a_search_that_runs_out_of_time_leaves_no_worker_behind(tmp_path: Path) -> None:
    async with asyncio.timeout(20), hanging_search(tmp_path) as (ddgs, started):
        deadline = asyncio.timeout(None)
        before = worker_pids()

        async def expire() -> None:
            await started()
            deadline.reschedule(asyncio.get_running_loop().time())

        async with asyncio.TaskGroup() as group:
            group.create_task(expire())
            with pytest.raises(TimeoutError):
                async with deadline:
                    await ddgs.search(Query("q"))
        assert worker_pids() <= before


def worker_pids() -> set[str]:
    """The children of this process, dead ones that nobody waited for included."""
    pids: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that ended since the folder was read
            pids.update((task / "children").read_text().split())
    return pids


PAGE = (DATA / "duckduckgo-html" / "empty.html").read_bytes()
RESULT = b"""<div id="links"><div class="web-result"><div class="links_main result__body">
<h2><a class="result__a" href="https://example.org/a%20b">Title &amp; more</a></h2>
<a class="result__snippet" href="https://example.org/a%20b">Words.</a></div></div></div>"""


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, RESULT, [("https://example.org/a+b", "Title & more", "Words.")]),
        (200, PAGE, []),
        (202, PAGE, "provider_rate_limited"),
        (403, PAGE, "provider_refused"),
    ],
)
async def test_the_installed_package_against_a_look_alike_service(
    status: int, body: bytes, expected: list[tuple[str, str, str]] | str, tmp_path: Path
) -> None:
    pytest.importorskip("ddgs.ddgs", reason="the extra firsthand[search] is not installed")

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, body=body, content_type="text/html")

    app = web.Application()
    app.router.add_post("/html/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        (tmp_path / "sitecustomize.py").write_text(LEAD_TO_US.format(port=runner.addresses[0][1]))
        environment = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            hits = await Ddgs(environment).search(Query("title"))
            assert [(hit.url, hit.title, hit.snippet) for hit in hits] == expected
        except ProviderFailed as failed:
            assert failed.code == expected
    finally:
        await runner.cleanup()


# Python runs a module of this name at its start: here it leads the package's one service to our server.
LEAD_TO_US = """
from ddgs.engines import ENGINES, duckduckgo
duckduckgo.Duckduckgo.search_url = "http://127.0.0.1:{port}/html/"
for name in list(ENGINES["text"]):
    if name != "duckduckgo":
        del ENGINES["text"][name]
"""


def test_the_installed_package_still_has_the_interface_we_use() -> None:
    package = pytest.importorskip("ddgs.ddgs", reason="the extra firsthand[search] is not installed")
    from ddgs import exceptions, http_client
    from ddgs.engines import ENGINES

    search = package.DDGS._search_sync
    assert set(inspect.signature(package.DDGS).parameters) >= {"proxy", "timeout"}
    taken = inspect.signature(search).parameters
    assert set(taken) >= {"query", "region", "safesearch", "timelimit", "max_results", "backend"}
    assert issubclass(exceptions.TimeoutException, exceptions.DDGSException)
    assert set(BACKENDS) <= set(ENGINES["text"]) and set(FILTERING_BACKENDS) <= set(BACKENDS)
    assert callable(http_client.HttpClient.request)
    assert "No results found." in inspect.getsource(search)
