"""Where one HTTP/1.1 response ends: watches the bytes on their way to the parser, drops what is behind the end.

It reads framing only (head, length, chunks, trailers) and leaves meaning and every other rule to the parser. Its
limits are the ones the parser has not: interim responses, the whole head, one chunk line. Memory: one head.
Source: RFC 9112, sections 6 and 7.
"""

from __future__ import annotations

import re

from firsthand.web.limits import LIMITS, Limits
from firsthand.web.reply import failed

INTERIM_MAX = 10
CHUNK_LINES_MAX = 1_048_576  # together: 10 MiB in pieces of 80 bytes; in pieces of one they would cost 40 s of CPU
CHUNK_LINE_MAX = 4096  # a size and its extensions; nobody sends extensions, 1 MiB of them is an attack
_HEAD, _LENGTH, _CHUNK_LINE, _CHUNK, _TRAILERS, _TO_THE_END, _DONE = range(7)
_BODILESS = (b"101", b"204", b"304")
_HEAD_END = re.compile(rb"\n\r?\n")
# The two fields that say where a body ends, in a head in lower case. White space is what ``bytes.strip`` takes off a line.
_FRAMING_FIELDS = re.compile(
    rb"\n[ \t\r\x0b\x0c]*(content-length|transfer-encoding)[ \t\r\x0b\x0c]*(?::|(?=\n))([^\n]*)"
)


class Framing:
    """The state of one connection that carries one response."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._state = _HEAD
        self._line = bytearray()  # the head, chunk line or trailer that is not complete yet
        self._left = 0  # bytes left of the body or the chunk
        self._n_interim = 0
        self._lines_left = CHUNK_LINES_MAX

    def feed(self, data: bytes) -> bytes:
        """*data* up to the end of the response.

        Raises: FetchFailed (``bad_response``) past a limit.
        """
        at = self._whole_head(data) if self._state == _HEAD and not self._line else 0
        while at < len(data) and self._state != _DONE:
            at = self._step(data, at)
        return data[:at]

    def _whole_head(self, data: bytes) -> int:
        """Where a head ends that stands whole at the start of *data*, as most do; 0 leaves it to be read by lines."""
        end = _HEAD_END.search(data, 0, self._limits.head_bytes) if data.startswith(b"HTTP/") else None
        if end is None:
            return 0
        self._begin_body(data[: end.end()])
        return end.end()

    def _step(self, data: bytes, at: int) -> int:
        if self._state in (_LENGTH, _CHUNK):
            taken = min(self._left, len(data) - at)
            self._left -= taken
            if not self._left:
                self._state = _DONE if self._state == _LENGTH else _CHUNK_LINE
            return at + taken
        if self._state == _TO_THE_END:
            return len(data)
        end = data.find(b"\n", at) + 1 or len(data)
        self._line += data[at:end]
        limit = self._limits.head_bytes
        if self._state == _CHUNK_LINE:
            limit = CHUNK_LINE_MAX
            self._lines_left -= end - at
        if len(self._line) > limit or self._lines_left < 0:
            raise failed(
                "bad_response", "The server's answer has too large a head, or too many or too large chunk lines."
            )
        if self._line.endswith(b"\n"):
            self._end_line()
        return end

    def _end_line(self) -> None:
        if self._state == _CHUNK_LINE:
            self._begin_chunk(bytes(self._line))
        elif self._state == _HEAD and not self._line.strip(b"\r\n"):
            return  # the parser passes over empty lines before a head, so they are no head
        elif not self._line.endswith((b"\n\r\n", b"\n\n")) and self._line.strip(b"\r\n"):
            return  # head and trailers go on until an empty line
        elif self._state == _TRAILERS:
            self._state = _DONE
        else:
            self._begin_body(bytes(self._line.lstrip(b"\r\n")))
        self._line.clear()

    def _begin_chunk(self, line: bytes) -> None:
        digits = line.split(b";", 1)[0].strip()
        try:
            size = int(digits, 16) if digits.isalnum() else -1
        except ValueError:
            size = -1
        if size < 0:
            self._state = _TO_THE_END  # the parser refuses it
        elif size == 0:
            self._state = _TRAILERS
        else:
            self._state, self._left = _CHUNK, size + 2

    def _begin_body(self, head: bytes) -> None:
        head = head.lower()
        first = head[: head.find(b"\n")]
        status = first.split(b" ", 2)[1][:3] if b" " in first else b""
        if status.startswith(b"1") and status != b"101":
            self._n_interim += 1
            if self._n_interim > INTERIM_MAX:
                raise failed("bad_response", "The server sends interim answers without end.")
            return
        fields = [(name, value.strip()) for name, value in _FRAMING_FIELDS.findall(head)]
        lengths = {value for name, value in fields if name == b"content-length"}
        if status in _BODILESS:
            self._state = _DONE
        elif any(name == b"transfer-encoding" and b"chunked" in value for name, value in fields):
            self._state = _CHUNK_LINE
        elif len(lengths) == 1 and (length := next(iter(lengths))).isdigit():
            self._left = int(length[:20])
            self._state = _LENGTH if self._left else _DONE
        else:
            self._state = _TO_THE_END
