"""The pages of the world: a folder or a table of them, their text, and BM25 ranking by SQLite's FTS5."""

from __future__ import annotations

import mimetypes
import re
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

from firsthand.testing.world.http import Reply

STOPWORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "do",
        "does",
        "for",
        "from",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "than",
        "that",
        "the",
        "then",
        "there",
        "this",
        "to",
        "was",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "you",
        "your",
    ]
)
MAX_FOUND_BYTES = 300_000  # a larger page of a folder is served and never found: it would win every search
MIN_FOUND_CHARS = 200  # of a folder's page; shorter ones are frames and redirects
BORN_AT = datetime(2026, 1, 1, tzinfo=UTC)
MAX_QUERY_WORDS = 24
MAX_SNIPPET_WORDS = 64  # FTS5's own limit
_SKIPPED_TAGS = {"script", "style", "noscript", "template", "svg"}
_BLOCK_TAGS = {"p", "div", "li", "tr", "br", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "table", "ul", "ol", "dd", "dt"}

Source = str | bytes | Reply
"""A page given in Python: HTML as text or bytes, or a whole response."""


@dataclass(frozen=True, slots=True)
class Found:
    """One page that a search found."""

    path: str
    title: str
    snippet: str
    score: float


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.parts: list[str] = []
        self._n_skipped = 0
        self._is_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED_TAGS:
            self._n_skipped += 1
        elif tag == "title":
            self._is_title = True
        if tag in _BLOCK_TAGS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED_TAGS and self._n_skipped:
            self._n_skipped -= 1
        elif tag == "title":
            self._is_title = False
        if tag in _BLOCK_TAGS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title += data
        elif not self._n_skipped:
            self.parts.append(data)


def read_html(html: str) -> tuple[str, str]:
    """The title and the visible text of *html*: enough to rank pages, no judge of what the product extracts."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    text = re.sub(r"[ \t\r\f\v]+", " ", "".join(parser.parts))
    return " ".join(parser.title.split()), re.sub(r"\s*\n\s*", "\n", text).strip()


def bare(path: str) -> str:
    """The path of a page without the ``/site/`` that an address has before it; one that names its host stays."""
    return path if path.startswith("//") else path.lstrip("/").removeprefix("site/")


class Library:
    """Pages by path, and what a search among them finds. May be used from several threads."""

    def __init__(self, pages: Path | Mapping[str, Source]) -> None:
        """Raises: NotADirectoryError if *pages* is a path that holds no folder."""
        self._folder: Path | None = None
        self.n_large = 0  # pages of the folder that are served and never found, for their size
        self.n_short = 0  # or for their little text
        self._given: dict[str, Reply] = {}
        self._changes: dict[str, int] = {}
        self._lock = threading.Lock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute("CREATE VIRTUAL TABLE page USING fts5(path UNINDEXED, title, text, tokenize='porter')")
        if isinstance(pages, Path):
            if not pages.is_dir():
                raise NotADirectoryError(f"There is no folder of pages at {pages}.")
            self._folder = pages.resolve()
            for file in sorted(self._folder.rglob("*.html")):
                if file.stat().st_size <= MAX_FOUND_BYTES:
                    html = file.read_text("utf-8", "replace")
                    name = file.relative_to(self._folder).as_posix()
                    self.n_short += not self._index(name, html, MIN_FOUND_CHARS)
                else:
                    self.n_large += 1
        else:
            for path, source in pages.items():
                self.put(path, source)

    def close(self) -> None:
        """Close the index."""
        self._db.close()

    @property
    def n_found(self) -> int:
        """How many pages a search can find."""
        return int(self._one("SELECT count(*) FROM page", ()) or 0)

    def put(self, path: str, source: Source) -> None:
        """*path* is *source* from now on; it is found by its words if it is HTML that is served with 200.

        A path with a host, like ``//127.0.0.3/plans``, is on that host alone, and goes before one without.
        """
        path = bare(path)
        if isinstance(source, str):
            source = source.encode()
        guessed = mimetypes.guess_type(path)[0] or "text/html"
        reply = source if isinstance(source, Reply) else Reply(source, content_type=_typed(guessed))
        if path in self._given:
            self._changes[path] = self._changes.get(path, 0) + 1
        self._given[path] = reply
        if reply.status == 200 and "html" in reply.content_type:
            self._index(path, reply.body.decode("utf-8", "replace"), 0)

    def modified_at(self, path: str) -> datetime:
        """When a page changed, on the world's calendar: an hour later with each change, the same in every run."""
        return BORN_AT + timedelta(hours=self._changes.get(path, 0))

    def _index(self, path: str, html: str, min_chars: int) -> bool:
        """Whether the page is found by its words from now on."""
        title, text = read_html(html)
        with self._lock:
            self._db.execute("DELETE FROM page WHERE path = ?", (path,))
            if len(text) > min_chars:
                self._db.execute("INSERT INTO page VALUES (?,?,?)", (path, title or path, text))
        return len(text) > min_chars

    def search(self, query: str, limit: int = 10, snippet_words: int = 40) -> list[Found]:
        """The best *limit* pages for *query*: any of its words, BM25, the title weighted five times."""
        words = [word for word in re.findall(r"\w+", query.lower()) if word not in STOPWORDS][:MAX_QUERY_WORDS]
        if not words:
            return []
        wanted = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        with self._lock:
            rows = self._db.execute(
                "SELECT path, title, snippet(page, 2, '', '', ' ... ', ?), bm25(page, 0, 5, 1) AS rank FROM page "
                "WHERE page MATCH ? ORDER BY rank LIMIT ?",
                (min(snippet_words, MAX_SNIPPET_WORDS), wanted, limit),
            ).fetchall()
        return [Found(path, title, " ".join(snippet.split()), -rank) for path, title, snippet, rank in rows]

    def text(self, path: str) -> str:
        """The words of a page that can be found; empty for any other."""
        return str(self._one("SELECT text FROM page WHERE path = ?", (path,)) or "")

    def title(self, path: str) -> str:
        """The title of a page that can be found; empty for any other."""
        return str(self._one("SELECT title FROM page WHERE path = ?", (path,)) or "")

    def path_of(self, title: str) -> str | None:
        """The first page with *title*."""
        found = self._one("SELECT path FROM page WHERE title = ? ORDER BY rowid", (title,))
        return None if found is None else str(found)

    def number_of(self, path: str) -> int:
        """A number that stands for a page that can be found, from 1; 0 for any other."""
        return int(self._one("SELECT rowid FROM page WHERE path = ?", (path,)) or 0)

    def path_of_number(self, number: int) -> str | None:
        """The page behind ``number_of``."""
        found = self._one("SELECT path FROM page WHERE rowid = ?", (number,))
        return None if found is None else str(found)

    def _one(self, sql: str, values: tuple[str | int, ...]) -> str | int | None:
        with self._lock:
            row: tuple[str | int] | None = self._db.execute(sql, values).fetchone()
        return row[0] if row else None

    def page(self, path: str) -> Reply | None:
        """The response behind *path*; never a file outside the folder."""
        if path in self._given:
            return self._given[path]
        if self._folder is None:
            return None
        file = (self._folder / path).resolve()
        if not file.is_relative_to(self._folder) or not file.is_file():
            return None
        guessed = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return Reply(file.read_bytes(), content_type=_typed(guessed))


def _typed(media_type: str) -> str:
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
