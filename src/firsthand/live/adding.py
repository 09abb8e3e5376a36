"""Keeping files, folders and sites in a library: found, extracted side by side, committed page by page.

Killed at any moment, everything committed is kept; run again, what has not changed is skipped: a file by its bytes, a
page of a site by the server's word (304) or by its bytes, and then the revisit is a row of its own.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import stat
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast
from urllib.parse import quote

from firsthand import fault, ids
from firsthand.db import Connection, Database
from firsthand.durable import receipts
from firsthand.errors import InvalidInput, OutsideError, first_of
from firsthand.evidence import captures, recall, store
from firsthand.evidence.index import optimize
from firsthand.live.acts import keep_page
from firsthand.live.extraction import Extraction
from firsthand.render import counted
from firsthand.values import Failure, JsonValue, Page, Text
from firsthand.web.address import canonical_url
from firsthand.web.extract import EXTRACTOR, EXTRACTOR_VERSION

FILE_MAX_BYTES = 10_485_760  # the fetch's own limit for a page
HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
SUFFIXES = HTML_SUFFIXES | frozenset({".txt", ".text", ".md", ".markdown", ".rst", ".pdf"})
NAMED_SUFFIXES = frozenset(
    {".json", ".xml", ".rss", ".atom", ".csv", ".tsv", ".log", ".jsonl", ".yaml", ".yml", ".toml"}
)
"""Of data rather than of pages mostly, so that a folder's are left out; they are read when they are named."""
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)  # one slash is left of two in a path
KINDS_SHOWN = 5  # guess: of the kinds of files that were left out

SITE_MIN_PAGES = 20  # below, a few files of each kind are just that
SITE_SHARE = 0.8  # of HTML in a folder from which it is a site (manuals measured: 82 % and more)
MANY_PAGES = 500  # from here a merged index pays for the merge: look-ups 8 % faster, 0.8 s at 195,000 passages

Became = Literal["new", "same", "changed", "read_anew"]
Watch = Callable[[int, int, str], None]
"""Told how many of how many are done, and what the last one was. 0 of how many: nobody knows."""


@dataclass(slots=True)
class Added:
    """What an ``add`` did."""

    library: str
    pages: int = 0  # in the library afterwards
    kept: int = 0
    changed: int = 0  # of those kept: the library held another text under their address
    read_anew: int = 0  # of those kept: the same page, which another version of the extractor had read
    unchanged: int = 0
    older: int = 0  # pages of the library whose text another version of the extractor made, afterwards
    skipped: int = 0  # files of a site's folder that are no pages of it
    failed: list[Failure] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # files of folders, by the ending that was not looked for
    could_be_named: Path | None = None  # the first of them that is read when it is named

    def as_json(self) -> dict[str, JsonValue]:
        """The object that ``add --json`` prints."""
        failed = [{"source": f.target, "outcome": f.outcome, "detail": f.detail} for f in self.failed]
        return {
            "library": self.library,
            "pages": self.pages,
            "kept": self.kept,
            **({"changed": self.changed} if self.changed else {}),
            **({"read_anew": self.read_anew} if self.read_anew else {}),
            "unchanged": self.unchanged,
            **({"read_by_another_version": self.older} if self.older else {}),
            "failed": cast(JsonValue, failed),
        }

    def older_words(self) -> str:
        """How many pages of the library still have an older text, and what to do; nothing if none have."""
        if not self.older:
            return ""
        return (
            f"{counted(self.older, 'page')} of the library {'was' if self.older == 1 else 'were'} read by another version"
            " of Firsthand's extractor; add them again to have them read anew."
        )

    def left_out_words(self) -> str:
        """How many files of which kinds a folder's were left out, and how to add them; nothing if none were."""
        if not self.left_out:
            return ""
        kinds = [f"{n} {suffix or 'without an ending'}" for suffix, n in self.left_out.most_common()]
        shown = ", ".join(kinds[:KINDS_SHOWN])
        if len(kinds) > KINDS_SHOWN:
            shown += f" and {counted(len(kinds) - KINDS_SHOWN, 'other kind')}"
        n_all = self.left_out.total()
        said = (
            f"{counted(n_all, 'file')} of {'another kind was' if n_all == 1 else 'other kinds were'} left out: {shown}."
        )
        if self.could_be_named is None:
            return said
        named = f"firsthand add {shlex.quote(str(self.could_be_named))} --library {shlex.quote(self.library)}"
        return f"{said} To add a file of data, name it: {named}"


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    url: str


class Adder:
    """Keeps many pages in one library."""

    def __init__(self, database: Database, extraction: Extraction, library: str, watch: Watch) -> None:
        self._database = database
        self._extraction = extraction
        self._watch = watch
        self._n_done = 0
        self._n_found = 0
        self.added = Added(library)

    async def files(self, paths: Sequence[Path], base_url: str | None) -> None:
        """Keep files and the files of folders. What cannot be kept is a row in ``added.failed``."""
        found: list[_File] = []
        for path in paths:
            kind = _kind(path)
            if kind is None and _OTHER_SCHEME.match(str(path)):
                self._fail(str(path), "blocked_by_policy", "This is an address, and only http and https are fetched.")
            elif kind is None:
                self._fail(str(path), "not_found", "There is no file or folder of that name.")
            elif kind == "folder":
                rows = self._of_site(self._walk(path, base_url), base_url)
                if not rows:
                    self._fail(str(path), "empty", "The folder holds no HTML, text or PDF file.")
                found += rows
            elif kind == "file":
                found.append(_File(path, _file_url(path, path.parent, base_url)))
            else:
                self._fail(str(path), "unsupported", "This is neither a file nor a folder.")
        self._n_found += len(found)
        await self._all(found)

    def _walk(self, folder: Path, base_url: str | None) -> list[_File]:
        """The files of *folder* that can hold text, in order of their names; files of other kinds are counted.

        Hidden files and folders and linked folders are nobody's pages.
        """
        found: list[_File] = []
        for parent, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(parent, name)
                suffix = path.suffix.lower()
                if name.startswith(".") or not path.is_file():
                    continue
                if suffix in SUFFIXES:
                    found.append(_File(path, _file_url(path, folder, base_url)))
                    continue
                self.added.left_out[suffix] += 1
                if suffix in NAMED_SUFFIXES:
                    self.added.could_be_named = self.added.could_be_named or path
        return found

    def _of_site(self, rows: list[_File], base_url: str | None) -> list[_File]:
        """The files of a folder that is named as a site, without the twins of its pages.

        A text or PDF beside an HTML page of the same name, and what stands in a folder like ``_sources``, is the source
        or print of a page, and would be cited in its place; so is the odd PDF in a folder that is nearly all HTML.
        """
        if base_url is None:
            return rows
        html = [row for row in rows if row.path.suffix.lower() in HTML_SUFFIXES]
        pages = {row.path.with_name(_stem(row.path)) for row in html}
        others = [row for row in rows if row.path.suffix.lower() not in HTML_SUFFIXES and not _is_twin(row, pages)]
        is_site = len(html) >= SITE_MIN_PAGES and len(html) >= SITE_SHARE * (len(html) + len(others))
        kept = html if is_site else sorted([*html, *others], key=lambda row: row.path)
        self.added.skipped += len(rows) - len(kept)
        return kept

    async def pages(self, pages: AsyncIterator[Page | Failure]) -> None:
        """Keep the pages of a crawl, each as soon as it is there. Nobody knows how many will come."""
        self._n_found = 0
        async for page in pages:
            if isinstance(page, Failure):
                self._fail(page.target, page.outcome, page.detail)
                self._done(page.target)
            else:
                await self._keep(page)

    async def finish(self) -> Added:
        """Settle the index after many pages, and count what the library holds now."""
        if self.added.kept >= MANY_PAGES:
            await self._database.write(optimize)
        held = {library.name: library.n_pages for library in await self._database.read(store.libraries)}
        self.added.pages = held.get(self.added.library, 0)
        ours = (EXTRACTOR, EXTRACTOR_VERSION, self.added.library)
        self.added.older = await self._database.read(captures.n_read_otherwise, *ours)
        return self.added

    async def _all(self, files: Sequence[_File]) -> None:
        """Keep *files* with a bounded number in flight: memory stays flat however large the folder."""
        limit = asyncio.Semaphore(2 * self._extraction.n_workers + 2)

        async def bounded(file: _File) -> None:
            try:
                await self._file(file)
            finally:
                limit.release()

        try:
            async with asyncio.TaskGroup() as group:
                for file in files:
                    await limit.acquire()
                    group.create_task(bounded(file))
        except BaseExceptionGroup as error:
            raise first_of(error) from error

    async def _file(self, file: _File) -> None:
        try:
            size = file.path.stat().st_size
            if size > FILE_MAX_BYTES:
                self._fail(
                    str(file.path), "too_large", f"The file has {size:,} bytes; the limit is {FILE_MAX_BYTES:,}."
                )
                return self._done(file.path.name)
            payload = await asyncio.to_thread(file.path.read_bytes)
            modified_at = datetime.fromtimestamp(file.path.stat().st_mtime, UTC)
        except OSError as error:
            self._fail(str(file.path), "failed", f"The file cannot be read: {error.strerror}.")
            return self._done(file.path.name)
        headers = {"last-modified": modified_at.isoformat()}
        await self._keep(Page(file.url, file.url, 200, headers, payload, datetime.now(UTC), is_file=True))

    async def _keep(self, page: Page) -> None:
        library = self.added.library
        digest = ids.payload_digest(page.payload)
        known = await self._database.read(store.unchanged, library, page.url, digest, EXTRACTOR, EXTRACTOR_VERSION)
        if known is not None:
            if not page.is_file:
                await self._database.write(_revisit, page, known, library)
            self.added.unchanged += 1
            return self._done(page.url)
        try:
            content_type = page.headers.get("content-type")
            text, entry = await self._extraction.one(page.payload, url=page.url, content_type=content_type)
        except OutsideError as error:
            self._fail(page.url, error.outcome, error.message)
            return self._done(page.url)
        fault.point("add.before_keep")
        became = await self._database.write(_keep_and_hold, page, text, entry, library)
        fault.point("add.after_keep")
        self.added.kept += 1
        self.added.changed += became == "changed"
        self.added.read_anew += became == "read_anew"
        self._done(page.url)

    def _fail(self, target: str, outcome: str, detail: str) -> None:
        self.added.failed.append(Failure("fetch", target, outcome, detail))  # type: ignore[arg-type]

    def _done(self, what: str) -> None:
        self._n_done += 1
        self._watch(self._n_done, self._n_found, what)


def _keep_and_hold(connection: Connection, page: Page, text: Text, entry: recall.Entry, library: str) -> Became:
    """Keep the page and its text, and put it into the library in the place of what was there.

    One transaction: what is found under the address is the old text until it commits, and the new one from then on.
    """
    held = captures.held_text(connection, library, page.url)
    text_id, capture_id = keep_page(connection, page, text, entry)
    store.hold(connection, library, page.url, text_id, capture_id)
    if held is None:
        return "new"
    if held.text_id != text_id:
        _retire(connection, held.text_id)
    by = (held.extractor, held.extractor_version)
    if held.snapshot == ids.payload_digest(page.payload) and by != (text.extractor, text.extractor_version):
        return "read_anew"
    return "same" if held.text_digest == ids.text_digest(text.body) else "changed"


def _retire(connection: Connection, text_id: int) -> None:
    """Take the passages of a text that was replaced out of the index, if nothing rests on them any more.

    The text itself stays for good: citations point at it. A turn that was killed finds what it had read when it goes on.
    """
    resting = (receipt.result or {} for receipt in receipts.of_unfinished_turns(connection, "fetch"))
    if not captures.is_held(connection, text_id) and all(result.get("text_id") != text_id for result in resting):
        recall.remove_text(connection, text_id)


def _revisit(connection: Connection, page: Page, text_id: int, library: str) -> None:
    """Keep that the page was there, unchanged; its text is now known to be as new as that."""
    capture_id = store.keep_page(connection, page).capture_id
    store.hold(connection, library, page.url, text_id, capture_id)


def name_of_site(base_url: str) -> str:
    """*base_url* as the name of a folder's files: canonical, ending in a slash. Nothing is fetched from it (R14).

    Raises: InvalidInput.
    """
    try:
        url = canonical_url(base_url)
    except OutsideError as error:
        raise InvalidInput("invalid_base_url", f"--base-url must be a web address, not {base_url!r}.") from error
    return url.split("?")[0].rstrip("/") + "/"


def _kind(path: Path) -> Literal["file", "folder", "other"] | None:
    """What *path* is; None if there is nothing, or nothing that we may see."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # not there, not ours, too long, or no name at all
        return None
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def _stem(path: Path) -> str:
    """The name of a file without all its endings: ``a.rst.txt`` and ``a.html`` share theirs."""
    return path.name.partition(".")[0]


def _is_twin(file: _File, pages: set[Path]) -> bool:
    return file.path.with_name(_stem(file.path)) in pages or (bool(pages) and "/_" in file.url)


def _file_url(path: Path, folder: Path, base_url: str | None) -> str:
    """The address a file is cited by: its place under the site's name, or its own file address."""
    if base_url is None:
        return path.resolve().as_uri()
    return base_url + quote(path.relative_to(folder).as_posix())
