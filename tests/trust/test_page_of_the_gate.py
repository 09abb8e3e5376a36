"""What the reference says of the gate is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from firsthand.web import limits
from firsthand.web.fetch import ROBOTS_TOTAL_S
from firsthand.web.reply import OUTCOME_OF_CODE, OUTCOME_OF_STATUS
from firsthand.web.wire import INTERIM_MAX
from tests.trust.urls import ROWS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "gate.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_refusal_of_the_corpus_is_explained() -> None:
    explained = set(re.findall(r"^\| `([a-z-]+)` \|", section("What is refused"), re.MULTILINE))
    assert explained == {row["reason"] for row in ROWS.values() if "reason" in row} - {"dns"}


def test_every_code_stands_with_its_outcome() -> None:
    written = dict(re.findall(r"^\| `([a-z0-9_]+)` \| `([a-z_]+)` \|$", section("Codes"), re.MULTILINE))
    assert written == {code: outcome for code, outcome in OUTCOME_OF_CODE.items() if code != "http_status"}
    by_status = re.findall(r"^\| `http_status` ([0-9, ]+) \| `([a-z_]+)` \|$", section("Codes"), re.MULTILINE)
    statuses = {int(status): outcome for listed, outcome in by_status for status in listed.split(", ")}
    assert statuses == {status: outcome for status, outcome in OUTCOME_OF_STATUS.items() if status != 429}


def test_limits_are_those_in_force() -> None:
    said, ours = section("Limits"), limits.LIMITS
    for sentence in (
        f"TLS handshake | {ours.connect_s:g} s each",
        f"between two reads | {ours.between_reads_s:g} s each",
        f"not counted | {ours.total_s:g} s |",
        f"leads to | {ROBOTS_TOTAL_S:g} s, apart from the {ours.total_s:g}",
        f"{ours.head_bytes // 1024} KiB, {ours.n_headers} fields, {INTERIM_MAX} interim answers",
        f"{ours.decoded_bytes // 2**20} MiB each",
        f"in the other | {ours.codings_max} (",
    ):
        assert sentence in said
    assert ours.first_byte_s == ours.between_reads_s and ours.wire_bytes == ours.decoded_bytes
    refused = section("What is refused")
    assert f"any port but {', '.join(map(str, sorted(limits.PORTS)[:-1]))} and {max(limits.PORTS)}" in refused
    assert f"{limits.MAX_URL_CHARS:,} characters" in refused and f"{limits.MAX_REDIRECTS} redirects" in refused
