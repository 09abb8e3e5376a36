"""The watch of sockets turns red."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trust.peers import FOLDER, UNWATCHED, socket_watch, watched

ROOT = Path(__file__).parents[2]


def in_child(code: str, options: str = "") -> str:
    """A statement that runs *code* in a Python process of its own."""
    return f"subprocess.run([sys.executable, '-c', {code!r}], stderr=subprocess.DEVNULL{options})"


CONNECT = "import socket, subprocess, sys; socket.create_connection(('192.0.2.1', 80))"
REACHES = {
    "connect": "socket.socket().connect(('192.0.2.1', 80))",
    "datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
    "ipv6": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))",
    "look_up": "socket.getaddrinfo('a.example.com', 80)",
    "asyncio": "asyncio.run(asyncio.open_connection('192.0.2.1', 80))",
    "child": in_child(CONNECT),
    "child_with_its_own_environment": in_child(CONNECT, ", env={}"),
    "child_of_a_child": in_child(f"import subprocess, sys; {in_child(CONNECT)}"),
}
ALLOWED = """
def test_loopback_and_unix_sockets_are_allowed(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1])).close()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))
"""
LEAVES_A_CHILD = f"""
CHILDREN = []
def test_that_leaves_a_child():
    command = [sys.executable, "-c", {"import sys; sys.stdin.read(); " + CONNECT!r}]
    CHILDREN.append(subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL))
"""
WAITS_FOR_IT = """
import sys, pytest
@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish():
    for child in sys.modules["test_inner"].CHILDREN:
        child.communicate()
"""


def swallowing(name: str, reach: str) -> str:
    """A test that reaches out and hides it."""
    return f"def test_{name}():\n    with contextlib.suppress(OSError):\n        {reach}\n"


def run_suite(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    """Run *tests* in a pytest of their own, whose watch reports to a file of its own."""
    source = "import asyncio, contextlib, socket, subprocess, sys\n" + tests
    (folder / "test_inner.py").write_text(source, encoding="utf-8")
    environment = {**os.environ, socket_watch.REPORT: str(folder / "refused.jsonl")}
    environment["PYTHONPATH"] = os.pathsep.join([FOLDER, str(ROOT)])
    command = [sys.executable, "-m", "pytest", "-p", "tests.trust.peers", "-p", "no:cacheprovider", "test_inner.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_every_way_out_fails_the_test_that_takes_it_even_if_it_hides_it(tmp_path: Path) -> None:
    ran = run_suite(tmp_path, "".join(swallowing(*way) for way in REACHES.items()) + ALLOWED)
    assert f"{len(REACHES)} failed, 1 passed" in ran.stdout
    assert ran.stdout.count("a socket left this machine") >= len(REACHES)
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED


def test_child_that_reaches_out_when_its_test_is_over_fails_the_session(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(WAITS_FOR_IT, encoding="utf-8")
    ran = run_suite(tmp_path, LEAVES_A_CHILD)
    assert "1 passed" in ran.stdout
    assert "left this machine after its test: socket.connect to 192.0.2.1 port 80" in ran.stdout
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED


def test_children_are_watched_whatever_environment_they_are_given_unless_they_name_their_own_report() -> None:
    ours = os.environ[socket_watch.REPORT]
    assert watched({}) == {"PYTHONPATH": FOLDER, socket_watch.REPORT: ours}
    assert watched({**os.environ, "PYTHONPATH": "src"})["PYTHONPATH"] == f"{FOLDER}{os.pathsep}src"
    assert watched(watched({})) == watched({})
    assert watched(UNWATCHED) == UNWATCHED
