"""Checks an exported bundle with nothing but the standard library: it shares no code with what made the bundle.

    python3 verify_bundle.py PATH

Checked: the manifest and every file against it; that each quote stands at its span in its text; and, with a second and
simpler HTML reader, that the quote is in the page as it was fetched. PDF is checked by digest only, and the line says so.

Exit status: 0 all good, 1 something is not where it should be (each is named), 2 not a bundle.
"""

import hashlib
import json
import os
import re
import signal
import stat
import sys
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

Json = dict[Any, Any]
MANIFEST = "MANIFEST.sha256"
MAX_BYTES, PAGE_SECONDS = 256 << 20, 5
LINE = re.compile(r"([0-9a-f]{64})  (answer\.json|items\.json|payloads/([0-9a-f]{64})|texts/([0-9a-f]{64})\.txt)\n")
NO_WIDTH = "\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
UNSEEN = re.compile(f"[{NO_WIDTH}\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef]")
MARKS = {**dict.fromkeys(map(ord, "`´‘’‚‛′‹›"), "'"), **dict.fromkeys(map(ord, "“”„‟″«»"), '"')}
MARKS.update(dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"))
META = re.compile(rb"<meta[^>]{0,500}?charset\s{0,20}=\s{0,20}[\"']?\s{0,20}([a-z0-9_:.-]{1,40})", re.IGNORECASE)
CODECS = re.compile(r"(?:utf-?8|utf-16|cp\d|windows|iso|koi8|mac|big5|euc|shift_jis|gb)[\w-]{0,12}")  # never utf-7
INLINE = re.compile("a|b|cite|code|em|font|i|img|kbd|mark|s|samp|small|span|strong|su[bp]|tt|u|var|wbr")


class Reader(HTMLParser):
    """The words of a page: all between tags but scripts and styles; a block's tag is a space."""

    def __init__(self) -> None:
        super().__init__()
        self.unseen, self.words = 0, list[str]()

    def handle_starttag(self, tag: str, attrs: object, step: int = 1) -> None:
        self.unseen = max(0, self.unseen + step * (tag in ("script", "style")))
        self.words.append("" if INLINE.fullmatch(tag) else " ")

    def handle_endtag(self, tag: str) -> None:
        self.handle_starttag(tag, None, -1)

    def handle_data(self, data: str) -> None:
        self.words.append("" if self.unseen else data)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        return self.rawdata.find(">", i) + 1 or -1  # a comment to browsers; the inherited method raises


def show(value: object) -> str:
    return str(value)[:160].encode("unicode_escape").decode("ascii")  # nothing that could move a cursor


def fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", UNSEEN.sub("", text)).split())


def loose(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", fold(text).translate(MARKS)).translate(MARKS).split())


def read(path: str) -> bytes:
    """A regular file's bytes; OSError for a link, a device or something far too large."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
            raise OSError("not a regular file of a bundle's size")
        return file.read()


def check_files(root: str, wrong: list[str]) -> dict[str, bytes]:
    """The files that are what the manifest says, by path; what is not is named in *wrong*."""
    manifest = read(f"{root}/{MANIFEST}").decode("latin-1")
    good, listed = dict[str, bytes](), list[str]()
    for number, line in enumerate(manifest.splitlines(keepends=True), 1):
        match = LINE.fullmatch(line)
        if match is None or (listed and match.group(2) <= listed[-1]):
            wrong.append(f"{MANIFEST} line {number} is not as it was written: {show(line)}")
            continue
        digest, name = match.group(1, 2)
        listed.append(name)
        try:
            content = read(f"{root}/{name}")
        except OSError as error:
            wrong.append(f"{name} cannot be read: {show(error.strerror or error)}")
            continue
        if {hashlib.sha256(content).hexdigest(), match.group(3) or match.group(4) or digest} != {digest}:
            wrong.append(f"{name} is not what {MANIFEST} says")
        else:
            good[name] = content
    for path in sorted(Path(root).rglob("*")):
        name = path.relative_to(root).as_posix()
        if name not in (*listed, MANIFEST) and (path.is_symlink() or not path.is_dir()):
            wrong.append(f"{show(name)} is not in the manifest")
    return good


def readings(payload: bytes, is_html: bool, recorded: object) -> list[str]:
    """The page's words, decoded as a browser might: by its mark, else as declared, recorded, UTF-8 or Western."""
    marks = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16le", b"\xfe\xff": "utf-16be"}
    names = [name for mark, name in marks.items() if payload.startswith(mark)]
    declared = META.search(payload[:4096])
    names = names or [str(recorded or ""), declared.group(1).decode() if declared else "", "utf-8", "cp1252"]
    found = []
    for name in filter(CODECS.fullmatch, dict.fromkeys(name.lower() for name in names)):
        signal.setitimer(signal.ITIMER_REAL, PAGE_SECONDS)  # the standard reader is quadratic on some pages
        try:
            text = payload.decode(name, "replace")
            if is_html:
                reader = Reader()
                reader.feed(text)
                reader.close()
                text = "".join(reader.words)
            found.append(text)
        except Exception:  # it may also raise: then this reading holds nothing
            continue
    signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def check_citation(one: Json, sources: Json, items: Json, good: dict[str, bytes], pages: Json) -> tuple[list[str], str]:
    """What is wrong with one citation, and how far its page could be read."""
    snapshot, digest, quote = str(one["snapshot"]), str(one["text_digest"]), str(one["quote"])
    payload = good.get(f"payloads/{snapshot.removeprefix('sha256:')}")
    text = good.get(f"texts/{digest.removeprefix('sha256:')}.txt")
    if payload is None or text is None:
        return [f"its {'page' if payload is None else 'text'} is not in the bundle"], ""
    source = sources.get(one["source"], {})
    same = source.get("snapshot") == snapshot and str(source.get("url")).split("#")[0] == str(one["url"]).split("#")[0]
    wrong = [] if same else ["its source is another page"]
    body, start, end = text.decode("utf-8", "surrogatepass"), int(one["start"]), int(one["end"])
    found = body[start:end] if 0 <= start < end <= len(body) else ""
    same = found == quote if one["verdict"] == "exact" else loose(found) == loose(quote)
    if not found or not same or one["verdict"] not in ("exact", "normalised"):
        return [*wrong, "its quote is not at its span in the text"], ""
    item = items.get((snapshot, digest), {})
    kind = str(item.get("media_type") or source.get("media_type") or "").lower()
    is_html, is_pdf = "html" in kind, payload.startswith(b"%PDF-")
    if is_pdf or not (is_html or kind.startswith("text/")):
        return wrong, "page by digest only: " + ("PDF" if is_pdf else show(kind or "unknown format"))
    key = (snapshot, kind, item.get("charset"))
    if key not in pages:
        texts = readings(payload, is_html, item.get("charset"))
        pages[key] = [fold(text) for text in texts], [loose(text) for text in texts]
    if any(fold(quote) in page for page in pages[key][0]):
        return wrong, ""
    found_loosely = any(loose(quote) in page for page in pages[key][1])
    return (wrong, "spaced otherwise in the page") if found_loosely else ([*wrong, "its quote is not in the page"], "")


def check(root: str) -> tuple[list[str], list[str]]:
    """Every fault of the bundle, and one line a citation."""
    wrong, lines = list[str](), list[str]()
    good = check_files(root, wrong)
    if "answer.json" not in good:
        return [*wrong, "answer.json is missing or changed"], lines
    answer = json.loads(good["answer.json"])
    sources = {source["n"]: source for source in answer["sources"]}
    items = {(row["snapshot"], row["text_digest"]): row for row in json.loads(good.get("items.json", b"[]"))}
    pages: Json = {}
    for number, claim in enumerate(answer["claims"], 1):
        if answer["text"][claim["start"] : claim["end"]] != claim["text"]:
            wrong.append(f"claim {number} is not at its span in the answer")
        for one in claim["citations"]:
            faults, note = check_citation(one, sources, items, good, pages)
            place = f"claim {number} [{show(one['source'])}] {show(one['url'])}"
            wrong += [f"{place}: {fault}" for fault in faults]
            lines.append(f"{'WRONG' if faults else 'ok'} {place}" + (f" ({note})" if note else ""))
    return wrong, lines


def too_slow(*_: object) -> None:
    raise TimeoutError


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: verify_bundle.py PATH", file=sys.stderr)
        return 2
    signal.signal(signal.SIGALRM, too_slow)
    try:
        wrong, lines = check(arguments[0])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, ArithmeticError, OSError) as error:
        print(f"not a bundle: {type(error).__name__}: {show(error)}")
        return 2
    print("\n".join([*lines, *(f"not where it should be: {fault}" for fault in wrong)]))
    print(f"{len(lines)} citations, {sum(line.startswith('ok') for line in lines)} good; {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
