"""The documentation is true: its commands run, its generated pages are fresh, its links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.make_reference import pages

ROOT = Path(__file__).parents[1]
DOCS = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").rglob("*.md")])
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def examples(document: Path) -> list[tuple[str, str]]:
    """Each command of the document's console blocks, with the output that it promises."""
    found = []
    for block in CONSOLE.findall(document.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.rstrip("\n")))
    return found


def says(promised: str, printed: str) -> bool:
    """Whether *printed* is what was promised, ``...`` standing for anything."""
    pattern = ".*?".join(re.escape(piece) for piece in promised.split("..."))
    return re.fullmatch(rf"\s*{pattern}\s*", printed, re.DOTALL) is not None


@pytest.mark.parametrize("document", [d for d in DOCS if examples(d)], ids=lambda d: str(d.relative_to(ROOT)))
def test_the_commands_of_a_document_print_what_it_says(document: Path, tmp_path: Path) -> None:
    place = tmp_path / "checkout"
    place.mkdir()
    for name in ("demo", "tools"):
        (place / name).symlink_to(ROOT / name)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "FIRSTHAND_HOME": str(tmp_path / "home"),
        "COLUMNS": "80",
    }
    for command, promised in examples(document):
        ran = subprocess.run(
            command, shell=True, cwd=place, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
        assert says(promised, ran.stdout), f"{command}\npromised:\n{promised}\nprinted:\n{ran.stdout}"


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_generated_page_is_what_the_code_says_now(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == pages()[name], "run: python tools/make_reference.py"


@pytest.mark.parametrize("document", DOCS, ids=lambda d: str(d.relative_to(ROOT)))
def test_a_link_inside_the_project_leads_to_a_file(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", document.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")) and "/" in target + "/":
            assert (document.parent / target).exists() or target == "url", target


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 150
