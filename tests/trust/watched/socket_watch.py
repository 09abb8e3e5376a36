"""Refuses and writes down every attempt of a Python process to leave this machine. Standard library only.

It listens to the interpreter's audit events, so it sees what a library does below any class that a test could replace.
It does not see sockets that native code opens by itself (a database driver, a browser, an HTTP client in another
language). Peers on loopback and sockets without a network (UNIX, netlink) are allowed; so is the name ``localhost``.
Source: the interpreter's table of audit events.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from ipaddress import ip_address
from typing import Any

REPORT = "SOCKET_WATCH_REPORT"  # names the file that refused peers are written to; present and empty: do not watch
LOCAL_NAMES = frozenset({"", "localhost", "ip6-localhost"})
_NETWORKS = frozenset({socket.AF_INET, socket.AF_INET6})
_LOOK_UPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_SENDS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})


class RefusedPeer(PermissionError):
    """A test, or what it tests, tried to reach something that is not this machine."""


class Watch:
    """One process's hook; it cannot be taken off again."""

    def __init__(self, report: str) -> None:
        self.report = report
        self.n_peers = 0  # connects and datagrams seen, refused ones included

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """What the interpreter calls for every audit event.

        Raises: RefusedPeer, into the call that was about to reach out.
        """
        if event in _SENDS:
            if arguments[0].family in _NETWORKS and arguments[1] is not None:
                self.n_peers += 1
                if not is_local(arguments[1][0]):
                    self._refuse(event, f"{arguments[1][0]} port {arguments[1][1]}")
        elif event in _LOOK_UPS and arguments[0] is not None and not is_local(arguments[0], literal_is_local=True):
            self._refuse(event, str(arguments[0]))

    def _refuse(self, event: str, peer: str) -> None:
        row = {"event": event, "peer": peer, "test": os.environ.get("PYTEST_CURRENT_TEST", ""), "pid": os.getpid()}
        file = os.open(self.report, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(file, json.dumps(row).encode() + b"\n")
        finally:
            os.close(file)
        raise RefusedPeer(f"{event}: {peer} is not this machine")


def is_local(host: str | bytes, *, literal_is_local: bool = False) -> bool:
    """True for loopback and ``localhost``; *literal_is_local* for look-ups, since an address needs none."""
    text = host.decode("latin-1") if isinstance(host, bytes) else host
    text = text.rstrip(".").lower()
    if text in LOCAL_NAMES:
        return True
    try:
        address = ip_address(text)
    except ValueError:
        return False
    inner = getattr(address, "ipv4_mapped", None) or address
    return literal_is_local or inner.is_loopback


_installed: Watch | None = None


def install() -> Watch | None:
    """Watch this process, once, if the environment names a report."""
    global _installed
    report = os.environ.get(REPORT)
    if _installed is None and report:
        _installed = Watch(report)
        sys.addaudithook(_installed)
    return _installed
