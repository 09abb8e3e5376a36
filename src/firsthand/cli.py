"""The command line: words in, an answer out. Knows the app and the words, nothing behind them.

Results go to stdout, progress and errors to stderr. ``--json`` prints one JSON object on stdout and nothing else.
Exit codes: 0 finished, 1 failed, 2 wrong usage, 130 interrupted. The app is imported when a command needs it, so that
``--help`` stays quick.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar

import typer

from firsthand import __version__
from firsthand.console import (
    FAILED,
    WRONG_USAGE,
    drop_output,
    is_coloured,
    put,
    put_json,
    report,
    say,
    width,
    wrong_usage,
)
from firsthand.progress import Progress
from firsthand.render import counted, to_json, to_terminal, visible, visible_line

if TYPE_CHECKING:
    from firsthand.app import App, AskOptions

T = TypeVar("T")
INTERRUPTED = 130

app = typer.Typer(
    name="firsthand",
    help="Answers questions from web pages it has read and kept itself. Every claim points at exact words; check them "
    "again any time with 'firsthand verify'.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # Rich's help costs more than the help itself; plain text reads well everywhere
    pretty_exceptions_enable=False,
)

Library = Annotated[
    list[str] | None, typer.Option("--library", metavar="NAME", help="Search only this library; repeatable.")
]
Search = Annotated[
    str | None,
    typer.Option(
        "--search",
        metavar="NAMES",
        help="Search providers: a,b asks both and fuses what they find; a/b asks b if a fails.",
    ),
]
Mode = Annotated[str, typer.Option(help="search, news, research or deep.")]
Model = Annotated[str, typer.Option(metavar="NAME", help="A model by name, or none.")]
Verify = Annotated[str, typer.Option(help="off, annotate or strict.")]
CrossCheck = Annotated[
    bool, typer.Option("--cross-check", help="Ask that every claim stands on two independent sites.")
]
AllowOrigin = Annotated[
    list[str] | None, typer.Option("--allow-origin", metavar="URL", help="Read only this origin; repeatable.")
]
MaxSources = Annotated[int | None, typer.Option(min=1, max=50, help="Pages read for one answer.")]
MaxAge = Annotated[
    int | None,
    typer.Option(min=0, metavar="SECONDS", help="Use a page kept within this time instead of asking; 0: always ask."),
]
Session = Annotated[str, typer.Option(metavar="NAME", help="Where the turn is kept; run again to continue it.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    library: Library = None,
    search: Search = None,
    mode: Mode = "search",
    model: Model = "none",
    verify: Verify = "annotate",
    cross_check: CrossCheck = False,
    allow_origin: AllowOrigin = None,
    max_sources: MaxSources = None,
    max_age: MaxAge = None,
    session: Session = "default",
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write answer.json, answer.md and answer.html there.")
    ] = None,
) -> None:
    """Answer one question from pages, with citations that can be checked."""

    async def work(firsthand: App, progress: Progress) -> int:
        options = _options(
            library, search, mode, model, verify, cross_check, allow_origin, max_sources, session, max_age
        )
        answer = await firsthand.ask(question, options, out=out, watch=progress.event, is_awaited=True)
        progress.clear()
        if as_json:
            put_json(to_json(answer))
        else:
            put(to_terminal(answer, width=width(), colour=is_coloured()))
            if out is not None:
                put(f"Written to {out}\n")
        await firsthand.seen(answer.id)
        return FAILED if answer.status == "failed" else 0

    _run(work, as_json)


@app.command()
def add(
    sources: Annotated[list[str], typer.Argument(help="Files, folders or the address of a site.")],
    library: Annotated[str, typer.Option("--library", metavar="NAME", help="The library that keeps them.")],
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Name a folder's files as this site; nothing is fetched from it.")
    ] = None,
    max_pages: Annotated[int, typer.Option(min=1, help="Pages of a site that are read at most.")] = 200,
    as_json: Json = False,
) -> None:
    """Keep files, folders or a site, and index them for ask and recall."""

    async def work(firsthand: App, progress: Progress) -> int:
        added = await firsthand.add(sources, library, base_url=base_url, max_pages=max_pages, watch=progress.count)
        progress.clear()
        if as_json:
            put_json(added.as_json())
        else:
            these = ((added.changed, "changed"), (added.read_anew, "read anew by a newer extractor"))
            of_these = ", ".join(f"{n} {what}" for n, what in these if n)
            of_these = f" ({of_these})" if of_these else ""
            done = f"{added.kept} kept{of_these}, {added.unchanged} unchanged, {len(added.failed)} failed"
            put(f"{done}; {counted(added.pages, 'page')} in library {visible(library)} now\n")
            if added.skipped:
                copies = counted(added.skipped, "text or PDF file")
                say(f"left out because a page beside it says the same: {copies}")
            for words in (added.left_out_words(), added.older_words()):
                if words:
                    say(words)
            shown = added.failed[:20]
            for failure in shown:
                say(f"{failure.target}: {failure.outcome}: {failure.detail}")
            if len(added.failed) > len(shown):
                say(f"… and {len(added.failed) - len(shown)} more; --json lists them all")
        return 0 if added.kept or added.unchanged else FAILED

    _run(work, as_json)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    library: Library = None,
    providers: Search = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Hits at most.")] = 10,
    time_filter: Annotated[str | None, typer.Option(metavar="SPAN", help="hour, day, week, month or year.")] = None,
    as_json: Json = False,
) -> None:
    """Show the hits of a search, one a line."""

    async def work(firsthand: App, progress: Progress) -> int:
        found = await firsthand.search(query, library or (), _names(providers), limit=limit, time_filter=time_filter)
        progress.clear()
        if as_json:
            put_json(found.as_json())
        else:
            for hit in found.hits:
                put(f"{visible_line(hit.url)}  {visible_line(hit.title)}\n")
            if not found.hits and not found.failures:
                say("Nothing found.")
            for failure in found.failures:
                say(f"{failure.target}: {failure.outcome}: {failure.detail}")
        return 0 if found.hits or not found.failures else FAILED

    _run(work, as_json)


@app.command()
def read(
    sources: Annotated[list[str], typer.Argument(help="Addresses or files.")],
    everything: Annotated[bool, typer.Option("--all", help="Also what is not main content.")] = False,
    max_age: MaxAge = None,
    as_json: Json = False,
) -> None:
    """Show the text of pages as Markdown; with --json one object a line for each."""

    async def work(firsthand: App, progress: Progress) -> int:
        n_good = 0
        for source in sources:
            page = await firsthand.read(source, max_age_s=max_age)
            progress.clear()
            if page.changed and not as_json:
                say(f"{source}: changed since it was kept on {page.kept_at:%Y-%m-%d}")
            if as_json:
                put_json(page.as_json())
            elif page.outcome == "ok":
                put(("\n" if n_good else "") + visible(page.markdown(everything=everything)))
            else:
                say(f"{source}: {page.outcome}: {page.detail}")
            n_good += page.outcome == "ok"
        return 0 if n_good else FAILED

    _run(work, as_json)


@app.command()
def batch(
    file: Annotated[Path, typer.Argument(help='One question a line: {"id": …, "question": …}.')],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="One answer object a line; run again to do what is missing.")
    ],
    library: Library = None,
    search: Search = None,
    mode: Mode = "search",
    model: Model = "none",
    verify: Verify = "annotate",
    cross_check: CrossCheck = False,
    allow_origin: AllowOrigin = None,
    max_sources: MaxSources = None,
    max_age: MaxAge = None,
    session: Session = "default",
    concurrency: Annotated[int, typer.Option(min=1, max=32, help="Questions at a time.")] = 1,
) -> None:
    """Answer many questions from a file."""

    async def work(firsthand: App, progress: Progress) -> int:
        options = _options(
            library, search, mode, model, verify, cross_check, allow_origin, max_sources, session, max_age
        )
        done = await firsthand.batch(file, out, options, concurrency=concurrency, watch=progress.count)
        progress.clear()
        say(f"{done.answered} answered now, {done.skipped} were there already, {done.failed} failed")
        return FAILED if done.failed else 0

    _run(work, False)


@app.command()
def verify(
    target: Annotated[str, typer.Argument(help="A bundle, an answer.json, or the id of an answer.")],
    as_json: Json = False,
) -> None:
    """Check an answer again, offline: one line a citation."""

    async def work(firsthand: App, progress: Progress) -> int:
        checked = await firsthand.verify(target)
        progress.clear()
        if as_json:
            put_json(checked.as_json())
        else:
            for line in checked.lines():
                put(visible_line(line) + "\n")
        return 0 if checked.ok else FAILED

    _run(work, as_json)


@app.command()
def export(
    answer_id: Annotated[str, typer.Argument(help="The id of an answer.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the bundle goes; it must not exist.")],
    as_json: Json = False,
) -> None:
    """Write a bundle that anyone can check without Firsthand."""

    async def work(firsthand: App, progress: Progress) -> int:
        n_pages = await firsthand.export(answer_id, out)
        progress.clear()
        if as_json:
            put_json({"bundle": str(out), "pages": n_pages})
        else:
            counted = f"{n_pages} kept page{'' if n_pages == 1 else 's'}"
            put(f"{counted} in {out}; check the bundle with tools/verify_bundle.py or 'firsthand verify {out}'\n")
        return 0

    _run(work, as_json)


@app.command()
def recall(
    query: Annotated[str, typer.Argument(help="Words to find in kept text.")],
    library: Library = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Items at most.")] = 10,
    cursor: Annotated[str | None, typer.Option(help="Go on where the last page of items ended.")] = None,
    as_json: Json = False,
) -> None:
    """Search what was kept."""

    async def work(firsthand: App, progress: Progress) -> int:
        found = await firsthand.recall(query, library or (), limit=limit, cursor=cursor)
        progress.clear()
        if as_json:
            put_json(found.as_json())
            return 0
        for item in found.items:
            title, url, snippet = (visible_line(text) for text in (item.title, item.url, item.snippet))
            put(f"{item.handle} --offset {item.offset}  {title}\n  {url}\n  {snippet}\n")
        if not found.items:
            say("Nothing kept holds these words.")
        if found.cursor:
            say(f"more: --cursor {found.cursor}")
        return 0

    _run(work, as_json)


@app.command()
def show(
    handle: Annotated[str, typer.Argument(help="A handle that recall printed.")],
    offset: Annotated[int, typer.Option(min=0, help="Character to start at.")] = 0,
    limit: Annotated[int, typer.Option(min=200, max=50_000, help="Characters at most.")] = 6_000,
    as_json: Json = False,
) -> None:
    """Read one kept item, a slice at a time."""

    async def work(firsthand: App, progress: Progress) -> int:
        shown = await firsthand.show(handle, offset=offset, limit=limit)
        progress.clear()
        if as_json:
            put_json(shown.as_json())
            return 0
        part = shown.part
        say(part.title)
        say(f"{part.url}, kept {part.retrieved_at}")
        put(visible(part.text) + "\n")
        if part.next_offset is not None:
            say(f"more: --offset {part.next_offset} of {part.total_chars}")
        return 0

    _run(work, as_json)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Test each search provider, the store and the disk, and say how to mend what fails."""

    async def work(firsthand: App, progress: Progress) -> int:
        checks = await firsthand.doctor()
        progress.clear()
        if as_json:
            put_json({"checks": [check.as_json() for check in checks]})
        else:
            for check in checks:
                mark = "ok  " if check.ok else "FAIL" if check.is_needed else "--  "
                put(f"{mark}  {check.name}: {visible_line(check.detail)}\n")
        return 0 if all(check.ok or not check.is_needed for check in checks) else FAILED

    _run(work, as_json)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the answers go.")] = Path("out/demo"),
) -> None:
    """Keep the pages that ship with Firsthand, answer three questions over them, and check every quote."""

    async def work(firsthand: App, progress: Progress) -> int:
        from firsthand.app import run_demo

        def show_text(text: str) -> None:
            progress.clear()
            put(text)

        return await run_demo(firsthand, out, say=show_text, watch=progress.count, width=width(), colour=is_coloured())

    _run(work, False)


@app.command()
def config(as_json: Json = False) -> None:
    """Print every setting, its value and what it does."""
    from firsthand.settings import describe, read_settings

    settings, mistakes = read_settings()
    rows = describe(settings)
    if mistakes and as_json:
        mistakes[0].facts = {**mistakes[0].facts, "settings": {name: value for name, value, _ in rows}}
    elif as_json:
        put_json({name: value for name, value, _ in rows})
    else:
        for name, value, help_line in rows:
            put(f"{name} = {visible_line(value) or '(empty)'}\n    {help_line}\n")
    for mistake in mistakes[:1] if as_json else mistakes:
        report(mistake, as_json=as_json)
    if mistakes:
        raise typer.Exit(WRONG_USAGE)


@app.command()
def serve() -> None:
    """The HTTP doors and the page (they come with a later release)."""
    _later("serve")


@app.command()
def mcp() -> None:
    """MCP over stdio (it comes with a later release)."""
    _later("mcp")


@app.command()
def worker() -> None:
    """A worker of a several-machine installation (it comes with a later release)."""
    _later("worker")


@app.callback(invoke_without_command=True)
def _main(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        put(f"firsthand {__version__}\n")
        raise typer.Exit


def main() -> None:
    """The entry point: whatever a page holds and whatever the console speaks, writing never fails."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    as_json = "--json" in sys.argv[1:]
    try:
        code = app(standalone_mode=False)
    except Exception as error:
        code = _not_run(error, as_json)
    sys.exit(code)


def _not_run(error: Exception, as_json: bool) -> int:
    """Say why no command was run: arguments that typer cannot read, or a fault of ours on the way to it."""
    said = getattr(error, "format_message", None)  # typer keeps its base class of usage errors to itself
    if said is None:
        return report(error, as_json=as_json)
    if len(sys.argv) == 1:  # nothing at all was asked for: what it says is the help
        sys.stderr.write(said() + "\n")
        return WRONG_USAGE
    path = getattr(getattr(error, "ctx", None), "command_path", "").split()[1:]
    return report(wrong_usage(said(), " ".join(["firsthand", *path])), as_json=as_json)


def _options(
    library: Sequence[str] | None,
    search: str | None,
    mode: str,
    model: str,
    verify: str,
    cross_check: bool,
    allow_origin: Sequence[str] | None,
    max_sources: int | None,
    session: str,
    max_age_s: int | None,
) -> AskOptions:
    from firsthand.app import ask_options

    return ask_options(
        libraries=tuple(library or ()),
        search=_names(search),
        mode=mode,
        model=model,
        verify=verify,
        cross_check=cross_check,
        allow_origins=tuple(allow_origin or ()),
        max_sources=max_sources,
        session=session,
        max_age_s=max_age_s,
    )


def _names(value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())


def _run(work: Callable[[App, Progress], Awaitable[int]], as_json: bool) -> NoReturn:
    """Open the app, do the work, close it again; turn what went wrong into a sentence and an exit code."""
    progress = Progress(is_quiet=as_json and not sys.stderr.isatty())

    async def whole() -> int:
        from firsthand.app import open_app

        async with open_app() as firsthand:
            return await work(firsthand, progress)

    try:
        code = asyncio.run(whole())
    except KeyboardInterrupt:
        progress.clear()
        say("Interrupted. What was read is kept; run the same command again to go on.")
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away; nothing is left to say to it.
        drop_output()
        code = 0
    except Exception as error:
        progress.clear()
        code = report(error, as_json=as_json)
    raise typer.Exit(code)


def _later(command: str) -> NoReturn:
    say(f"firsthand: '{command}' is not in this release; it comes with a later one.")
    raise typer.Exit(FAILED)
