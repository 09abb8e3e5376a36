"""A reader for the tests of workers: reads pages as the real one does, but for pages that say how they break it."""

from __future__ import annotations

import os
import signal
import socket
import zlib
from pathlib import Path

from firsthand.evidence.entry import Entry
from firsthand.live import worker
from firsthand.values import Text


def work(payload: bytes, url: str, content_type: str | None) -> tuple[Text, Entry]:
    """The text of *payload*, unless it is a command. Runs in real worker processes."""
    order, _, rest = payload.decode("latin-1").partition(" ")
    match order:
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "computes":  # in native code that holds the interpreter's lock, as a parser does
            while True:
                zlib.crc32(bytes(4000))
        case "waits":
            signal.pause()
        case "takes":
            return worker.work(bytes(int(rest)), url, content_type)
        case "raises":
            raise ZeroDivisionError("in the reader")
        case "recurses":
            return work(payload, url, content_type)
        case "writes":
            Path(rest).write_bytes(b"words")
        case "tells":
            sockets = [fd.name for fd in Path("/proc/self/fd").iterdir() if _is_socket(int(fd.name))]
            told = f"<title>{len(sockets)} sockets, variables {' '.join(sorted(os.environ))}</title><p>Told.</p>"
            return worker.work(told.encode(), url, "text/html")
    return worker.work(payload, url, content_type)


def _is_socket(fd: int) -> bool:
    try:
        socket.socket(fileno=os.dup(fd)).close()
    except OSError:
        return False
    return True
