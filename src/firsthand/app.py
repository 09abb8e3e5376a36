"""The composition: builds everything once, passes it on, closes it in reverse. The doors know this and the words."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast, get_args

from firsthand.db import Database, open_database
from firsthand.durable import journal, lease
from firsthand.durable.operations import Policy
from firsthand.errors import InvalidInput, NotAllowed, NotFound, OutsideError
from firsthand.events import Event
from firsthand.evidence import recall, store
from firsthand.evidence.verify import Report
from firsthand.live.adding import Added, Adder, name_of_site
from firsthand.live.asking import Asking, checked_question
from firsthand.live.batch import BatchDone, Row, read_rows, run_batch
from firsthand.live.checking import check_target, export_answer
from firsthand.live.extraction import Extraction
from firsthand.live.health import Check, examine
from firsthand.live.kept import KeptPages
from firsthand.live.reach import Reach
from firsthand.live.reading import ReadPage, read_source
from firsthand.live.remaking import Remade, remade_lines
from firsthand.migrations import upgrade
from firsthand.ports import Scope, Searched
from firsthand.render import to_terminal
from firsthand.research.profile import Profile, profile_for
from firsthand.settings import Settings, load_settings
from firsthand.values import Answer, Failure, Hit, JsonValue, Page, Query, TimeFilter, Verify
from firsthand.web.address import canonical_url

SESSION_WAIT_S = 60.0  # how long an ask waits for another one of its session to finish
DATABASE_FILE = "firsthand.db"

Watch = Callable[[int, int, str], None]
WatchEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How to answer, and in which session."""

    profile: Profile
    search: tuple[str, ...] | None  # as asked for; None: the setting
    max_sources: int | None  # the same; and if the setting is 0: as the mode says
    session: str
    max_age_s: int | None = None  # None: the setting; if that is empty: what the site says, at most what the mode does


@dataclass(frozen=True, slots=True)
class SearchDone:
    """Hits, and the providers that failed."""

    hits: tuple[Hit, ...]
    failures: tuple[Failure, ...]

    def as_json(self) -> dict[str, JsonValue]:
        """The object that ``search --json`` prints."""
        return {
            "hits": [_json_of(hit) for hit in self.hits],
            "failures": [_json_of(failure) for failure in self.failures],
        }


@dataclass(frozen=True, slots=True)
class Recalled:
    """Kept items that hold the words, and where to go on."""

    items: tuple[recall.KeptHit, ...]
    cursor: str | None

    def as_json(self) -> dict[str, JsonValue]:
        """The object that ``recall --json`` prints."""
        rows: list[JsonValue] = [
            {
                "handle": item.handle,
                "title": item.title,
                "url": item.url,
                "snippet": item.snippet,
                "score": round(item.score, 4),
                "offset": item.offset,
            }
            for item in self.items
        ]
        return {"items": rows, "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class Shown:
    """One slice of a kept item."""

    part: recall.KeptSlice

    @property
    def next_offset(self) -> int | None:
        """Where the next slice starts; None at the end."""
        return self.part.next_offset

    def as_json(self) -> dict[str, JsonValue]:
        """The object that ``show --json`` prints."""
        return _json_of(self.part)


def ask_options(
    *,
    libraries: tuple[str, ...],
    search: tuple[str, ...] | None,
    mode: str,
    model: str,
    verify: str,
    cross_check: bool,
    allow_origins: tuple[str, ...],
    max_sources: int | None,
    session: str,
    max_age_s: int | None = None,
) -> AskOptions:
    """The options of an ask, checked.

    Raises: InvalidInput.
    """
    try:
        profile = profile_for(mode)
    except KeyError as error:
        raise InvalidInput(
            "unknown_mode", f"There is no mode {mode!r}; there are search, news, research, deep."
        ) from error
    if verify not in get_args(Verify):
        raise InvalidInput("unknown_verify", f"--verify is off, annotate or strict, not {verify!r}.")
    if model != "none":
        message = f"This release answers without a model and cannot use {model!r}; leave --model out."
        raise InvalidInput("model_unavailable", message)
    for origin in allow_origins:
        _check_origin(origin)
    if not session.strip() or len(session) > 200:
        raise InvalidInput("invalid_session", "A session needs a name of 1 to 200 characters.")
    profile = replace(
        profile,
        verify=cast(Verify, verify),
        cross_check=cross_check,
        libraries=libraries or None,
        allow_origins=allow_origins,
    )
    return AskOptions(profile, search, max_sources, session, max_age_s)


def _check_origin(url: str) -> None:
    """Raises: InvalidInput if *url* is not the address of a site."""
    try:
        canonical_url(url)
    except OutsideError as error:
        message = f"--allow-origin must be a web address like https://example.org, not {url!r}."
        raise InvalidInput("invalid_origin", message) from error


class App:
    """One open Firsthand: a store, and what reaches out when something asks for it."""

    def __init__(self, settings: Settings, database: Database, reach: Reach, extraction: Extraction) -> None:
        self.settings = settings
        self._database = database
        self._reach = reach
        self._extraction = extraction
        self._shelf = recall.SqlShelf(database)

    async def ask(
        self,
        question: str,
        options: AskOptions,
        *,
        out: Path | None = None,
        watch: WatchEvent | None = None,
        is_awaited: bool = False,
    ) -> Answer:
        """One answer. An unfinished turn of the same session, question and options goes on where it was.

        With *is_awaited* the answer is given again to whoever asks the same until ``seen`` was called: a process that
        dies between finishing and showing loses nothing.
        """
        question = checked_question(question)
        async with self._session(options.session) as held:
            return await self._asking(held).answer(
                question, await self._profile(options), out=out, watch=watch, key=None, is_awaited=is_awaited
            )

    async def seen(self, answer_id: str) -> None:
        """An awaited answer was shown."""
        await self._database.write(journal.collect, answer_id)

    async def batch(self, file: Path, out: Path, options: AskOptions, *, concurrency: int, watch: Watch) -> BatchDone:
        """Answer the questions of *file* that *out* lacks."""
        rows = read_rows(file)
        profile = await self._profile(options)
        async with self._session(options.session) as held:
            asking = self._asking(held)

            async def one(row: Row) -> Answer:
                return await asking.answer(row.question, profile, out=None, watch=None, key=row.id, is_awaited=True)

            return await run_batch(rows, out, one, self.seen, concurrency=concurrency, watch=watch)

    async def add(
        self, sources: Sequence[str], library: str, *, base_url: str | None, max_pages: int, watch: Watch
    ) -> Added:
        """Keep files, folders and sites in *library*."""
        if not library.strip() or len(library) > 200:
            raise InvalidInput("invalid_library", "A library needs a name of 1 to 200 characters.")
        named = None if base_url is None else name_of_site(base_url)
        adder = Adder(self._database, self._extraction, library, watch)
        paths = [Path(source) for source in sources if not _is_url(source)]
        await adder.files(paths, named)
        for source in sources:
            if _is_url(source):
                await adder.pages(self._crawl(source, max_pages))
        return await adder.finish()

    async def search(
        self,
        text: str,
        libraries: Sequence[str],
        providers: tuple[str, ...] | None,
        *,
        limit: int,
        time_filter: str | None,
    ) -> SearchDone:
        """Hits of the providers, or of libraries if some are named and no provider is."""
        if time_filter is not None and time_filter not in get_args(TimeFilter):
            raise InvalidInput("unknown_time_filter", "--time-filter is hour, day, week, month or year.")
        chains: list[list[Searched]] = []
        services = self._reach.services
        if libraries:
            await self._check_libraries(libraries)
            chains.append([await self._search_libraries(text, tuple(libraries), limit)])
        if providers is not None or not libraries:
            query = Query(text, limit, cast(TimeFilter | None, time_filter))
            acts = self._reach.acts(self._extraction)
            chains += await services.ask(providers or self._default_search(), query, acts, self._database)
        failures = tuple(
            Failure("search", searched.provider, searched.outcome, searched.detail)
            for chain in chains
            for searched in chain
            if searched.outcome not in ("ok", "empty")
        )
        return SearchDone(services.merged(chains, limit), failures)

    async def read(self, source: str, *, max_age_s: int | None = None) -> ReadPage:
        """The text of one address or file; nothing new is kept.

        The address is asked, unless a page that was fetched within *max_age_s* (else the setting, else 0) stands in.
        """
        age_s = _first(max_age_s, self.settings.max_age_s, 0)
        return await read_source(source, self._reach, self._extraction, KeptPages(self._database), age_s)

    async def verify(self, target: str) -> CheckedAnswer:
        """Check an exported bundle, an ``answer.json`` or a kept answer again, offline."""
        checked = await check_target(self._database, target, self._extraction)
        return CheckedAnswer(str(checked.answer.get("id", "")), checked.report, checked.changed, checked.remade)

    async def export(self, answer_id: str, out: Path) -> int:
        """Write a bundle; how many files it has."""
        return await export_answer(self._database, answer_id, out)

    async def recall(self, query: str, libraries: Sequence[str], *, limit: int, cursor: str | None) -> Recalled:
        """Kept pages that hold the words."""
        await self._check_libraries(libraries)
        scope = Scope(tuple(libraries) or None)
        found = await self._database.read(recall.search_kept, query, scope, limit, cursor)
        return Recalled(found.items, found.cursor)

    async def show(self, handle: str, *, offset: int, limit: int) -> Shown:
        """A slice of one kept item."""
        return Shown(await self._database.read(recall.slice_text, handle, offset, limit))

    async def doctor(self) -> list[Check]:
        """The store, the disk, the providers."""
        return await examine(self.settings, self._database, self._reach, self._reach.acts(self._extraction))

    @asynccontextmanager
    async def _session(self, name: str) -> AsyncIterator[lease.Lease]:
        """The lease of a session; waits for another command in the same session to finish."""
        until = time.monotonic() + SESSION_WAIT_S
        while True:
            holding = lease.hold(self._database, name, self.settings.lease_s)
            try:
                held = await holding.__aenter__()
                break
            except NotAllowed as error:
                if error.code != "session_busy" or time.monotonic() > until:
                    raise
                await asyncio.sleep(0.1)
        try:
            yield held
        finally:
            await holding.__aexit__(None, None, None)

    def _crawl(self, url: str, max_pages: int) -> AsyncIterator[Page | Failure]:
        kept = KeptPages(self._database)
        return self._reach.crawl(url, max_pages=max_pages, extraction=self._extraction, kept=kept)

    def _asking(self, held: lease.Lease) -> Asking:
        in_doubt = cast(Policy, self.settings.in_doubt)
        return Asking(self._database, self._reach, self._extraction, self._shelf, held, in_doubt)

    def _default_search(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.settings.search.split(",") if name.strip())

    async def _profile(self, options: AskOptions) -> Profile:
        """The profile with its providers: those asked for; none if only libraries are; else the setting's."""
        libraries = options.profile.libraries
        await self._check_libraries(libraries or ())
        names = options.search
        if names is None:
            names = () if libraries else self._default_search()
        profile = options.profile
        return replace(
            profile,
            providers=tuple("/".join(order) for order in self._reach.services.orders(names)),
            max_sources=options.max_sources or self.settings.max_sources or profile.max_sources,
            max_passages=self.settings.max_passages or profile.max_passages,
            max_age_s=_first(options.max_age_s, self.settings.max_age_s, profile.max_age_s),
            is_age_asked_for=options.max_age_s is not None or self.settings.max_age_s is not None,
        )

    async def _check_libraries(self, names: Sequence[str]) -> None:
        """Raises: InvalidInput for a library that does not exist, with those that do."""
        if not names:
            return
        known = [library.name for library in await self._database.read(store.libraries)]
        for name in names:
            if name not in known:
                there = f"there are {', '.join(known)}" if known else "there is none yet; make one with 'firsthand add'"
                raise InvalidInput("unknown_library", f"There is no library {name!r}; {there}.", library=name)

    async def _search_libraries(self, text: str, libraries: tuple[str, ...], limit: int) -> Searched:
        """The library as a provider: the same value as any other's."""
        found = await self._database.read(recall.search_kept, text, Scope(libraries), limit, None)
        hits = tuple(
            Hit(item.url, item.title, item.snippet, rank, "library") for rank, item in enumerate(found.items, 1)
        )
        return Searched("library", "ok" if hits else "empty", hits)


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """What checking an answer again found."""

    answer_id: str
    report: Report
    changed: Mapping[str, str] = field(default_factory=dict)  # pages with another text since, and when that was seen
    remade: Sequence[Remade] = ()  # cited texts, made again from their bytes where that can be done

    @property
    def ok(self) -> bool:
        """Whether every citation is where it should be."""
        return self.report.ok

    def lines(self) -> list[str]:
        """One line a citation, then one that sums up."""
        lines = [
            f"{'ok  ' if row.ok else 'FAIL'}  claim {row.claim + 1} [{row.n}] {row.verdict}  {row.url}  {row.where}"
            + ("" if row.ok else f"  ({', '.join(row.wrong)})")
            for row in self.report.rows
        ]
        n = len(self.report.rows)
        if not n:
            return ["This answer has no citation; there is nothing to check."]
        lines += remade_lines(self.remade)
        wrong = self.report.n_wrong
        lines.append(
            f"{n} citations, all where they should be" if not wrong else f"{wrong} of {n} are not where they should be"
        )
        return lines + [f"{url} has changed: on {day} it had another text" for url, day in self.changed.items()]

    def as_json(self) -> dict[str, JsonValue]:
        """The object that ``verify --json`` prints."""
        rows = [cast(JsonValue, {**asdict(row), "ok": row.ok}) for row in self.report.rows]
        counts = cast(dict[str, JsonValue], self.report.counts)
        changed = {"changed": cast(JsonValue, dict(self.changed))} if self.changed else {}
        texts: list[JsonValue] = [one.as_json() for one in self.remade]
        head: dict[str, JsonValue] = {"answer_id": self.answer_id, "ok": self.ok, "counts": counts}
        return {**head, "citations": rows, "texts": texts, **changed}


@asynccontextmanager
async def open_app(settings: Settings | None = None) -> AsyncIterator[App]:
    """An app on the settings in force, closed at the end of the block.

    Raises: InvalidInput for a wrong setting; StoreFailed if the data folder or the database cannot be used.
    """
    settings = settings or load_settings()
    database = open_database(settings.database_url or f"sqlite:///{settings.home / DATABASE_FILE}")
    try:
        upgrade(database)
        extraction = Extraction(settings.workers)
        reach = Reach(settings)
        try:
            yield App(settings, database, reach, extraction)
        finally:
            await reach.aclose()
            extraction.close()
    finally:
        database.close()


DEMO_LIBRARY = "demo"
DEMO_SITE = "https://sqlite.org/"
DEMO_QUESTIONS = (
    "How many tables can a join contain?",  # in prose
    "What is stored at offset 28 of the database header?",  # in a table
    "Does SQLite run stored procedures written in Java?",  # on no page
)


def demo_pages() -> Path:
    """The folder of the pages that ship with Firsthand: in a checkout, or where a wheel puts shared data.

    Raises: NotFound.
    """
    for folder in (
        Path(__file__).parents[2] / "demo" / "pages",
        Path(sys.prefix) / "share" / "firsthand" / "demo" / "pages",
    ):
        if folder.is_dir():
            return folder
    raise NotFound("no_demo_pages", "The demo pages are not here; run the demo in a checkout of the project.")


async def run_demo(app: App, out: Path, *, say: Callable[[str], None], watch: Watch, width: int, colour: bool) -> int:
    """Keep the demo pages, answer three questions, write and check the answers; the exit code."""
    added = await app.add([str(demo_pages())], DEMO_LIBRARY, base_url=DEMO_SITE, max_pages=1, watch=watch)
    say(f"{added.pages} pages of the SQLite documentation are kept in library {DEMO_LIBRARY!r}.\n\n")
    options = ask_options(
        libraries=(DEMO_LIBRARY,),
        search=None,
        mode="search",
        model="none",
        verify="annotate",
        cross_check=False,
        allow_origins=(),
        max_sources=None,
        session="demo",
    )
    n_wrong = n_quotes = 0
    for number, question in enumerate(DEMO_QUESTIONS, 1):
        folder = out / str(number)
        answer = await app.ask(question, options, out=folder)
        say(to_terminal(answer, width=width, colour=colour) + "\n")
        checked = await app.verify(answer.id)
        n_wrong += checked.report.n_wrong
        n_quotes += len(checked.report.rows)
    say(f"Checked again from the kept pages: {n_quotes - n_wrong} of {n_quotes} quotes stand where they should.\n")
    say(f"Open {out / '1' / 'answer.html'} to see the quotes in their pages.\n")
    return 1 if n_wrong else 0


def _first(*given: int | None) -> int:
    """The first of *given* that is given; 0 is."""
    return next(value for value in given if value is not None)


def _is_url(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def _json_of(value: Any) -> dict[str, JsonValue]:
    return cast(dict[str, JsonValue], json.loads(json.dumps(asdict(value), default=str)))
