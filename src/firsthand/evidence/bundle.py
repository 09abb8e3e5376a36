"""Writes an answer with everything it rests on as a folder that a stranger can check, and reads one back.

    answer.json                 the answer
    items.json                  one object a page: snapshot, text_digest, media_type, charset, extractor
    payloads/<hex>              the bytes that were fetched, named by their SHA-256
    texts/<hex>.txt             the text that quotes point into, UTF-8, named likewise
    MANIFEST.sha256             "digest  path", one line a file, sorted; no file stands outside it

A bundle appears whole or not at all. Reading trusts nothing: what is not in the manifest is an error, links are
never followed, and every byte is compared with its digest.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from firsthand.errors import DigestMismatch, Error, InvalidInput, NotAllowed, StoreFailed
from firsthand.evidence.verify import Kept
from firsthand.ids import payload_digest, text_digest
from firsthand.values import JsonValue

MANIFEST = "MANIFEST.sha256"
MAX_MANIFEST_BYTES = 4 << 20  # some 30,000 files; an answer has dozens
MAX_FILE_BYTES = 256 << 20  # several times what a fetch may bring

_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9._/-]{1,200})")
_ITEM_WORDS = ("snapshot", "text_digest", "media_type", "extractor")
_PATH = re.compile(r"answer\.json|items\.json|payloads/[0-9a-f]{64}|texts/[0-9a-f]{64}\.txt")


@dataclass(frozen=True, slots=True)
class Item:
    """One kept page as it goes into a bundle."""

    snapshot: str
    payload: bytes
    text_digest: str
    body: str
    media_type: str = ""
    charset: str | None = None
    extractor: str = ""


@dataclass(frozen=True, slots=True)
class ItemRow:
    """What ``items.json`` says of a kept page: as what it was read, and by which extractor."""

    media_type: str
    charset: str | None
    extractor: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle whose every byte was found to be what its manifest says."""

    folder: Path
    answer: dict[str, JsonValue]
    items: Mapping[tuple[str, str], ItemRow]  # by snapshot and text digest

    def load(self, snapshot: str, digest: str) -> Kept:
        """What the bundle holds under these names; the ``load`` of ``verify_answer``."""
        payload = self._bytes("payloads", snapshot, "")
        body = self._bytes("texts", digest, ".txt")
        return Kept(payload, None if body is None else _decoded(body))

    def _bytes(self, folder: str, digest: str, ending: str) -> bytes | None:
        name = f"{folder}/{digest.removeprefix('sha256:')}{ending}"
        path = self.folder / name
        return _read(path, name) if _PATH.fullmatch(name) and path.is_file() else None


def write_bundle(answer: Mapping[str, JsonValue], items: Iterable[Item], folder: Path) -> None:
    """Write *answer* and the pages it cites to *folder*, which is new, empty, or already holds exactly this.

    Raises: NotAllowed if something else is there. DigestMismatch if an item is not what its name says.
    InvalidInput if a citation has no item. StoreFailed if the disk refuses.
    """
    files = _files(answer, items)
    try:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise NotAllowed("bundle_exists", f"{folder.name} is there and is not a folder; choose another name.")
        if folder.exists() and any(folder.iterdir()):
            if _same(folder, files):
                return
            raise NotAllowed("bundle_exists", f"The folder {folder.name} holds something else; choose another name.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(files, folder)
    except OSError as error:
        raise StoreFailed("bundle_write", f"The bundle could not be written: {error.strerror or error}.") from error


def read_bundle(folder: Path) -> Bundle:
    """The bundle in *folder*, with every file compared with the manifest.

    Raises: InvalidInput ``not_a_bundle`` if it has not the shape of one. DigestMismatch, with the part in ``path``, if a
    file is changed, missing or not in the manifest.
    """
    try:
        listed = _read_manifest(folder)
        present = set(_walk(folder))
        for name in sorted(present ^ (listed.keys() | {MANIFEST})):
            fault = "is not in the manifest" if name in present else "is missing"
            raise DigestMismatch("bundle_changed", f"{name} {fault}.", path=name)
        for name, digest in listed.items():
            content = _read(folder / name, name)
            if hashlib.sha256(content).hexdigest() != digest:
                raise DigestMismatch("bundle_changed", f"{name} is not the file that was exported.", path=name)
            if "/" in name and Path(name).stem != digest:
                raise DigestMismatch("bundle_changed", f"{name} is not named by its own digest.", path=name)
        answer = json.loads(_read(folder / "answer.json", "answer.json"))
        items = json.loads(_read(folder / "items.json", "items.json")) if "items.json" in listed else []
    except OSError as error:
        raise InvalidInput("not_a_bundle", f"The bundle cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("not_a_bundle", "answer.json or items.json is not JSON that can be read.") from error
    if not isinstance(answer, dict):
        raise InvalidInput("not_a_bundle", "answer.json holds no answer object.")
    return Bundle(folder, answer, _item_rows(items))


# -- Writing


def _files(answer: Mapping[str, JsonValue], items: Iterable[Item]) -> dict[str, bytes]:
    """Every file of the bundle by its path, the manifest last."""
    files: dict[str, bytes] = {}
    rows: dict[tuple[str, str], dict[str, JsonValue]] = {}
    for item in items:
        if payload_digest(item.payload) != item.snapshot:
            raise DigestMismatch(
                "payload_changed", "A kept payload is not the one its name says.", snapshot=item.snapshot
            )
        if text_digest(item.body) != item.text_digest:
            raise DigestMismatch(
                "text_changed", "A kept text is not the one its name says.", text_digest=item.text_digest
            )
        files[f"payloads/{item.snapshot[7:]}"] = item.payload
        files[f"texts/{item.text_digest[7:]}.txt"] = item.body.encode("utf-8", "surrogatepass")
        rows[item.snapshot, item.text_digest] = {
            "snapshot": item.snapshot,
            "text_digest": item.text_digest,
            "media_type": item.media_type,
            "charset": item.charset,
            "extractor": item.extractor,
        }
    for pair in _cited(answer):
        if pair not in rows:
            raise InvalidInput("bundle_incomplete", f"The page {pair[0]} is cited but is not there to be exported.")
    files["answer.json"] = _json(dict(answer))
    files["items.json"] = _json([rows[pair] for pair in sorted(rows)])
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)]
    files[MANIFEST] = "".join(lines).encode()
    return files


def _cited(answer: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    claims = answer.get("claims")
    for claim in claims if isinstance(claims, list) else []:
        citations = claim.get("citations") if isinstance(claim, dict) else None
        for citation in citations if isinstance(citations, list) else []:
            if isinstance(citation, dict):
                yield str(citation.get("snapshot")), str(citation.get("text_digest"))


def _json(value: JsonValue) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "surrogatepass")


def _same(folder: Path, files: Mapping[str, bytes]) -> bool:
    try:
        return set(_walk(folder)) == files.keys() and all(_read(folder / name, name) == files[name] for name in files)
    except Error:
        return False


def _write_whole(files: Mapping[str, bytes], folder: Path) -> None:
    """Write beside *folder*, make it durable, and rename it into place; what fails leaves nothing behind."""
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    beside.chmod(0o755)  # it is made to be handed on; mkdtemp makes folders that only their owner can open
    try:
        for name, content in files.items():
            path = beside / name
            path.parent.mkdir(exist_ok=True)
            with path.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path in (beside / "payloads", beside / "texts", beside):
            if path.exists():
                _sync_folder(path)
        beside.rename(folder)  # POSIX: over an empty folder too, and over nothing else
        _sync_folder(folder.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            shutil.rmtree(beside)
        raise


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# -- Reading


def _read_manifest(folder: Path) -> dict[str, str]:
    """Digest by path. The form is strict, so that no byte of it can change unnoticed."""
    if folder.is_symlink() or not folder.is_dir() or not (folder / MANIFEST).is_file():
        raise InvalidInput("not_a_bundle", f"There is no {MANIFEST} in {folder.name}.")
    content = _read(folder / MANIFEST, MANIFEST, MAX_MANIFEST_BYTES)
    listed: dict[str, str] = {}
    before = ""
    for line in content.decode("ascii", "replace").split("\n")[:-1]:
        match = _LINE.fullmatch(line)
        if match is None or not _PATH.fullmatch(match.group(2)) or match.group(2) <= before:
            raise DigestMismatch(
                "bundle_changed", f"{MANIFEST} has a line that is not as it was written.", path=MANIFEST
            )
        before = match.group(2)
        listed[before] = match.group(1)
    if not content.endswith(b"\n") or "answer.json" not in listed:
        raise DigestMismatch("bundle_changed", f"{MANIFEST} is cut short.", path=MANIFEST)
    return listed


def _item_rows(value: JsonValue) -> dict[tuple[str, str], ItemRow]:
    """The rows of ``items.json`` by what they name; those that have not the form of one are left out."""
    found = {}
    for row in value if isinstance(value, list) else []:
        words = [row.get(name) if isinstance(row, dict) else None for name in _ITEM_WORDS]
        charset = row.get("charset") if isinstance(row, dict) else None
        if all(isinstance(word, str) for word in words) and isinstance(charset, str | None):
            snapshot, digest, media_type, extractor = map(str, words)
            found[snapshot, digest] = ItemRow(media_type, charset, extractor)
    return found


def _walk(folder: Path) -> Iterator[str]:
    """Every entry below *folder* that is not one of the two folders, by its path. Links are entries, not folders."""
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if entry.name in ("payloads", "texts") and entry.is_dir(follow_symlinks=False):
            for inner in sorted(os.scandir(entry.path), key=lambda one: one.name):
                yield f"{entry.name}/{inner.name}"
        else:
            yield entry.name


def _read(path: Path, name: str, limit: int = MAX_FILE_BYTES) -> bytes:
    """The content of a regular file, at most *limit* bytes; a link or a device is an error."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise DigestMismatch("bundle_changed", f"{name} cannot be opened as a file.", path=name) from error
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            raise DigestMismatch("bundle_changed", f"{name} is not a file of a bundle's size.", path=name)
        return file.read()


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
