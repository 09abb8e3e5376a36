"""Both sides of the map of promises: no id without an entry, no entry without its test or its reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.promise import Promise
from tests.promises import PROMISES

ROOT = Path(__file__).parents[1]
OWED = [
    *(f"P{n}" for n in (*range(1, 7), *range(13, 17))),
    *(f"U{n:02}" for n in range(1, 26)),
    *(f"A{n:02}" for n in range(1, 46)),
    *(f"N{n:02}" for n in range(1, 66)),
]
NAMED = re.compile(r"test_([anp]\d\d)_")


def every_test(root: Path, under: str = "tests") -> Iterator[str]:
    """Every test in the folder *under* of *root* as pytest names it, without its parameters."""
    for file in sorted((root / under).rglob("test_*.py")):
        place = file.relative_to(root).as_posix()
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                yield from (f"{place}::{node.name}::{name}" for name in _functions(node.body))
            else:
                yield from (f"{place}::{name}" for name in _functions([node]))


def _functions(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name
        elif isinstance(node, ast.If):  # a test that only some systems have
            yield from _functions(node.body)


def faults(promises: Mapping[str, Promise], tests: set[str]) -> list[str]:
    """What is wrong with a map of *promises* when *tests* is all there is."""
    found = [f"{id} is in no map" for id in OWED if id not in promises]
    found += [f"{id} is no id of ours" for id in promises if id not in OWED]
    for id, promise in promises.items():
        if not promise.text.strip() or not promise.source.strip():
            found.append(f"{id} says nothing, or not where it is from")
        if bool(promise.tests) == bool((promise.reason or "").strip()):
            found.append(f"{id} needs tests or a reason, and not both")
        found += [f"{id} names {test}, which does not exist" for test in promise.tests if test not in tests]
    for test in sorted(tests):
        named = NAMED.match(test.rpartition("::")[2])
        id = named[1].upper() if named else ""
        if id and (id not in promises or test not in promises[id].tests):
            found.append(f"{test} is named for {id}, which does not name it")
    return found


def test_every_promise_has_its_test_or_its_reason() -> None:
    assert faults(PROMISES, set(every_test(ROOT))) == []


GOOD = "tests/x/test_x.py::TestX::test_that_it_is_so"


def small(**changes: Promise) -> dict[str, Promise]:
    return {**{id: Promise("it is so", "a page", (GOOD,)) for id in OWED}, **changes}


@pytest.mark.parametrize(
    ("promises", "tests", "fault"),
    [
        ({id: each for id, each in small().items() if id != "N43"}, {GOOD}, "N43 is in no map"),
        (small(N66=Promise("it is so", "a page", (GOOD,))), {GOOD}, "N66 is no id of ours"),
        (small(A01=Promise("it is so", "a page")), {GOOD}, "A01 needs tests or a reason, and not both"),
        (small(A01=Promise("it is so", "a page", (), " ")), {GOOD}, "A01 needs tests or a reason, and not both"),
        (
            small(A01=Promise("it is so", "a page", (GOOD,), "later")),
            {GOOD},
            "A01 needs tests or a reason, and not both",
        ),
        (small(A01=Promise("", "a page", (), "later")), {GOOD}, "A01 says nothing, or not where it is from"),
        (small(A01=Promise("it is so", "a page", ("gone",))), {GOOD}, "A01 names gone, which does not exist"),
        (small(), {GOOD, "x.py::test_n99_x"}, "x.py::test_n99_x is named for N99, which does not name it"),
        (small(), {GOOD, "x.py::test_n43_x"}, "x.py::test_n43_x is named for N43, which does not name it"),
    ],
)
def test_each_kind_of_fault_is_noticed(promises: dict[str, Promise], tests: set[str], fault: str) -> None:
    assert faults(small(), {GOOD}) == []
    assert faults(promises, tests) == [fault]


def test_tests_in_classes_and_parametrised_ones_are_found(tmp_path: Path) -> None:
    source = "import pytest\nclass TestX:\n    async def test_a(self): ...\n    def helper(self): ...\n"
    source += "@pytest.mark.parametrize('x', [1])\ndef test_b(x): ...\nclass Other:\n    def test_c(self): ...\n"
    (tmp_path / "test_some.py").write_text(source, encoding="utf-8")
    assert list(every_test(tmp_path, ".")) == ["test_some.py::TestX::test_a", "test_some.py::test_b"]
