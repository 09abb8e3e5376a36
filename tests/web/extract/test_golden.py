"""Golden pages: a folder each, with the source and the text we expect of it.

``python tests/web/extract/test_golden.py`` writes the expected texts anew; read the difference before keeping it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand.values import Text
from firsthand.web.extract import EXTRACTOR, EXTRACTOR_VERSION, extract

GOLDEN = Path(__file__).parents[2] / "data" / "extract"
FOLDERS = sorted(folder for folder in GOLDEN.iterdir() if folder.is_dir())


def rendered(text: Text) -> str:
    """A text as lines a person can check."""
    lines = [f"title: {text.title}", f"type: {text.media_type}", f"charset: {text.declared_charset} / {text.charset}"]
    lines += [
        f"language: {text.language}",
        f"author: {text.author}",
        f"dates: {text.published_at} / {text.modified_at}",
    ]
    lines += [f"site: {text.site_name}", f"canonical: {text.canonical_url}", f"hidden: {text.n_hidden}"]
    lines += [f"link: {link}" for link in text.links] + [""]
    for block in text.blocks:
        where = " > ".join(block.headings)
        level = block.level or ""
        lines.append(
            f"{'+' if block.main else '-'} {block.kind}{level} group={block.group} links={block.link_share:.1f} [{where}]"
        )
        if block.header or block.caption:
            lines.append(f"    header={' | '.join(block.header)} caption={block.caption}")
        lines += [
            f"    {line}".replace("\t", " ⇥ ").rstrip()
            for line in text.body[block.span.start : block.span.end].split("\n")
        ]
    return "\n".join(lines) + "\n"


def extracted(folder: Path) -> Text:
    source = next(folder.glob("page.*"))
    return extract(source.read_bytes(), url=f"https://starling.example/manual/{source.name}")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_page_gives_the_expected_text(folder: Path) -> None:
    text = extracted(folder)
    assert rendered(text) == (folder / "expected.txt").read_text(encoding="utf-8")
    assert (text.extractor, text.extractor_version) == (EXTRACTOR, EXTRACTOR_VERSION)


if __name__ == "__main__":
    for each in FOLDERS:
        (each / "expected.txt").write_text(rendered(extracted(each)), encoding="utf-8")
