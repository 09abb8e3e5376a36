"""Content codings undone in bounded steps: whatever a body claims, no step makes more than a piece at a time.

Why our own: a client that decodes hands over whole pieces; a gzip bomb of 1 MiB then becomes one piece of 1 GiB. Here
each layer is asked for at most ``PIECE_BYTES`` and is counted before it is asked again.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Protocol

from firsthand.errors import FetchFailed
from firsthand.web.limits import LIMITS, Limits
from firsthand.web.reply import failed

PIECE_BYTES = 65_536
_ZSTD_WINDOW_LOG_MAX = 23  # 8 MiB: the most that RFC 9659 lets a server ask for


class _Layer(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def finish(self) -> None: ...


class Decoder:
    """Undoes *codings*, listed as in Content-Encoding, and collects the body.

    Raises: FetchFailed: ``decode_error`` for codings we do not know, too many of them or broken data, ``too_large``
    when the body or any layer grows past the limit.
    """

    def __init__(self, codings: Iterable[str], limits: Limits = LIMITS) -> None:
        names = [name for name in (c.strip().lower() for c in codings) if name and name != "identity"]
        if len(names) > limits.codings_max:
            raise _broken(f"The body is wrapped in {len(names)} codings; {limits.codings_max} are undone.")
        self._layers = [_layer(name, limits) for name in reversed(names)]
        self._made = [0] * (len(names) + 1)
        self._limit = limits.decoded_bytes
        self._pieces: list[bytes] = []
        self._is_fed = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes off the wire."""
        self._is_fed = self._is_fed or bool(data)
        if not self._layers:
            self._count(0, data)
            self._pieces.append(data)
            return
        try:
            for piece in self._run(0, data):
                self._pieces.append(piece)
        except (zlib.error, EOFError) as error:
            raise _broken("The body is not in the coding that its header names.") from error

    def body(self) -> bytes:
        """The whole body, after the last bytes were fed. No bytes at all are an empty body, in any coding."""
        if not self._is_fed:
            return b""
        for layer in self._layers:
            layer.finish()
        return b"".join(self._pieces)

    def cut_body(self) -> bytes:
        """What was decoded so far, of a body that is read in part."""
        return b"".join(self._pieces)

    def _run(self, depth: int, data: bytes) -> Iterator[bytes]:
        if depth == len(self._layers):
            self._count(depth, data)
            yield data
            return
        for piece in self._layers[depth].feed(data):
            self._count(depth, piece)
            yield from self._run(depth + 1, piece)

    def _count(self, depth: int, piece: bytes) -> None:
        self._made[depth] += len(piece)
        if self._made[depth] > self._limit:
            raise failed("too_large", f"The body is larger than {self._limit} bytes once decoded.")


def accepted_codings() -> str:
    """The value of Accept-Encoding: what ``Decoder`` can undo here, best first."""
    names = ["gzip", "deflate"]
    if _brotli() is not None:
        names.append("br")
    if _zstd() is not None:
        names.append("zstd")
    return ", ".join(names)


def _layer(name: str, limits: Limits) -> _Layer:
    if name in ("gzip", "x-gzip"):
        return _Gzip(limits.gzip_members_max)
    if name == "deflate":
        return _Deflate()
    if name == "br" and (brotli := _brotli()) is not None:
        return _Brotli(brotli)
    if name == "zstd" and (zstd := _zstd()) is not None:
        return _Zstd(zstd, limits.gzip_members_max)
    raise _broken("The body is in a coding that is not known here.")


class _Gzip:
    """RFC 1952: members one after the other; what follows them and is no member is ignored."""

    def __init__(self, members_max: int) -> None:
        self._members_left = members_max
        self._member: Any = None
        self._rest = b""
        self._n_done = 0
        self._ignores = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        data = self._rest + data
        self._rest = b""
        while data and not self._ignores:
            if self._member is None:
                if self._n_done and len(data) == 1 and data == b"\x1f":
                    self._rest = data  # too short to tell a member from garbage
                    return
                if self._n_done and data[:2] != b"\x1f\x8b":
                    self._ignores = True
                    return
                if not self._members_left:
                    raise _broken("The body has too many gzip members.")
                self._members_left -= 1
                self._member = zlib.decompressobj(16 + zlib.MAX_WBITS)
            member = self._member
            piece = member.decompress(data, PIECE_BYTES)
            data = member.unconsumed_tail
            if piece:
                yield piece
            if member.eof:
                data = member.unused_data
                self._member = None
                self._n_done += 1
            elif not data and len(piece) == PIECE_BYTES:
                yield from _drain(member)
                if member.eof:
                    data, self._member = member.unused_data, None
                    self._n_done += 1

    def finish(self) -> None:
        if self._member is not None or not self._n_done:
            raise _broken("The gzip body ends too early.")


class _Deflate:
    """RFC 9110, section 8.4.1.2, means the zlib format; some servers send raw deflate under that name."""

    def __init__(self) -> None:
        self._stream: Any = None
        self._head = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None:
            self._head += data
            if len(self._head) < 2:
                return
            data = self._head
            is_zlib = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0  # RFC 1950, section 2.2
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
        while data and not self._stream.eof:
            piece = self._stream.decompress(data, PIECE_BYTES)
            data = self._stream.unconsumed_tail
            if piece:
                yield piece
            if not data and len(piece) == PIECE_BYTES:
                yield from _drain(self._stream)

    def finish(self) -> None:
        if self._stream is None or not self._stream.eof:
            raise _broken("The deflate body ends too early.")


def _drain(stream: Any) -> Iterator[bytes]:
    """What zlib still holds back although it took all input."""
    while not stream.eof:
        piece = stream.decompress(stream.unconsumed_tail, PIECE_BYTES)
        if not piece:
            return
        yield piece


class _Brotli:
    """RFC 7932, through the ``brotli`` package (1.2 or newer, which can bound its output)."""

    def __init__(self, module: Any) -> None:
        self._stream = module.Decompressor()
        self._error = module.error

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream.is_finished():
            return  # bytes behind the stream are ignored, as behind gzip
        try:
            piece = self._stream.process(data, output_buffer_limit=PIECE_BYTES)
            while piece:
                yield piece
                if self._stream.is_finished():
                    return
                piece = self._stream.process(b"", output_buffer_limit=PIECE_BYTES)
        except self._error as error:
            raise _broken("The body is not in the coding that its header names.") from error

    def finish(self) -> None:
        if not self._stream.is_finished():
            raise _broken("The brotli body ends too early.")


class _Zstd:
    """RFC 8878, with the window bounded as RFC 9659 says."""

    def __init__(self, module: Any, frames_max: int) -> None:
        self._module = module
        self._frames_left = frames_max
        self._stream = self._open()

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            while data or not (self._stream.eof or self._stream.needs_input):
                if self._stream.eof:  # frames may follow each other, like gzip members
                    self._stream = self._open()
                piece = self._stream.decompress(data, PIECE_BYTES)
                data = self._stream.unused_data
                if piece:
                    yield piece
        except self._module.ZstdError as error:
            raise _broken("The body is not in the coding that its header names.") from error

    def finish(self) -> None:
        if not self._stream.eof:
            raise _broken("The zstd body ends too early.")

    def _open(self) -> Any:
        if not self._frames_left:
            raise _broken("The body has too many zstd frames.")
        self._frames_left -= 1
        parameter = self._module.DecompressionParameter.window_log_max
        return self._module.ZstdDecompressor(options={parameter: _ZSTD_WINDOW_LOG_MAX})


def _optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


@cache  # a module that is not there would be looked for on the disk again and again
def _brotli() -> Any:
    module = _optional("brotli")
    return module if hasattr(getattr(module, "Decompressor", None), "can_accept_more_data") else None  # 1.2: bounded


@cache
def _zstd() -> Any:
    return _optional("compression.zstd") or _optional("backports.zstd")


def _broken(message: str) -> FetchFailed:
    return failed("decode_error", message)
