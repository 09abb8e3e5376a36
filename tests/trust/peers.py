"""A pytest plugin: every test fails that reaches, or whose child processes reach, anything but this machine.

The watch is ``watched/socket_watch.py``. This process installs it at its start; children get its folder on PYTHONPATH,
whatever environment a test makes for them, unless that names a report of its own.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

FOLDER = str(Path(__file__).parent / "watched")
if FOLDER not in sys.path:
    sys.path.append(FOLDER)  # one module of that name in parent and child
socket_watch: Any = importlib.import_module("socket_watch")
UNWATCHED = {socket_watch.REPORT: ""}  # for the environment of a child that has a network of its own


def watched(environment: Mapping[str, str]) -> dict[str, str]:
    """*environment* for a child that watches itself and reports to us."""
    report = os.environ.get(socket_watch.REPORT, "")
    if not report or environment.get(socket_watch.REPORT, report) != report:
        return dict(environment)
    path = list(filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)))
    if FOLDER not in path:
        path.insert(0, FOLDER)
    return {**environment, "PYTHONPATH": os.pathsep.join(path), socket_watch.REPORT: report}


class Refusals:
    """Reads the report from where it was last read."""

    def __init__(self, report: Path) -> None:
        self._report = report
        self._read_bytes = 0

    def new(self) -> list[str]:
        """What was written since the last call, a sentence each."""
        try:
            if self._report.stat().st_size == self._read_bytes:
                return []
        except FileNotFoundError:
            return []
        with self._report.open("rb") as file:
            file.seek(self._read_bytes)
            lines = file.read()
        self._read_bytes += len(lines)
        rows = map(json.loads, lines.splitlines())
        return [f"{row['event']} to {row['peer']} by process {row['pid']}" for row in rows]


class Plugin:
    """Fails what reached out: the phase of a test in which it was noticed, or the session."""

    def __init__(self, report: Path) -> None:
        self._refusals = Refusals(report)
        self._late: list[str] = []

    def _check(self) -> None:
        if found := self._refusals.new():
            pytest.fail("a socket left this machine: " + "; ".join(found), pytrace=False)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        """Fixtures too."""
        result = yield
        self._check()
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        """The test itself, also if it swallowed the refusal."""
        result = yield
        self._check()
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, object, object]:
        """What fixtures do at their end."""
        result = yield
        self._check()
        return result

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A child that reported after its test was over fails the session."""
        self._late = self._refusals.new()
        if self._late:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """One line, so that a run says that it was watched."""
        watch = socket_watch.install()
        terminalreporter.write_line(
            f"sockets: {watch.n_peers} peers seen in this process, each on this machine or refused"
        )
        for line in self._late:
            terminalreporter.write_line(f"a socket left this machine after its test: {line}")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch, before any test is imported."""
    report = os.environ.get(socket_watch.REPORT)
    if not report:
        folder = tempfile.mkdtemp(prefix="firsthand-sockets-")
        config.add_cleanup(partial(shutil.rmtree, folder, ignore_errors=True))
        report = os.environ[socket_watch.REPORT] = str(Path(folder, "refused.jsonl"))
    config.pluginmanager.register(Plugin(Path(report)), "socket-watch")
    socket_watch.install()
    os.environ.update(watched(os.environ))
    make = subprocess.Popen.__init__

    def watched_popen(self: Any, *arguments: Any, **options: Any) -> None:
        if options.get("env") is not None:
            options["env"] = watched(options["env"])
        make(self, *arguments, **options)

    subprocess.Popen.__init__ = watched_popen  # type: ignore[method-assign]
