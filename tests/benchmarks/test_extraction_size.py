"""Pages of every size have the same mix, and the figures of a size are those of the page that was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import extraction_size

PAGE = "<title>Knots</title><nav><a href=/>Home</a></nav><main><h2>Knots</h2><p>Number {n} holds.</p><ul><li>Bend<ul><li>Reef</li></ul></li></ul></main>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(5):
        (tmp_path / f"{n}.html").write_text(PAGE.format(n=n))
    (tmp_path / "9.html").write_text(f"<pre>{'x' * 5000}</pre>")
    return tmp_path


def test_blocks_are_the_outermost_ones_of_a_bearable_size_in_a_fixed_mix(folder: Path) -> None:
    found = extraction_size.blocks([folder])
    assert found == extraction_size.blocks([folder])
    assert found.count(b"<ul><li>Bend<ul><li>Reef</li></ul></li></ul>") == 5
    assert (len(found), sorted(found)[-1][:4], found == sorted(found)) == (15, b"<ul>", False)


def test_a_page_has_its_size_and_is_read_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction_size, "_READ_S", 0.0)
    pieces = extraction_size.blocks([folder])
    made = extraction_size.page(pieces, 50_000)
    assert 50_000 <= len(made) < 50_100
    row = extraction_size.measure(made)
    n_pieces = sum(made.count(start) for start in (b"<p>", b"<h2>", b"<li>"))
    assert (row["n_bytes"], row["n_blocks"]) == (len(made), n_pieces)
    assert row["ns_per_byte"] > 0


def test_the_swing_between_sizes_is_the_dearest_byte_over_the_cheapest() -> None:
    rows = [{"ns_per_byte": cost, "peak_bytes_per_byte": cost / 10} for cost in (150.0, 100.0, 300.0)]
    told = extraction_size.summary(rows)
    assert (told["max_over_min_ns_per_byte"], told["max_peak_bytes_per_byte"]) == (3.0, 30.0)


def test_a_cost_that_grows_as_the_square_of_a_page_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(payload: bytes) -> dict[str, float]:
        return {"ns_per_byte": len(payload) / 100 if b"square" in payload else 7.0}

    monkeypatch.setattr(extraction_size, "measure", read)
    assert extraction_size.growth(lambda n: "<p>square</p>" * (10_000 * n)) == pytest.approx(4.0, abs=0.02)
    assert extraction_size.growth(lambda n: "<p>line</p>" * (10_000 * n)) == 1.0


def test_every_shape_is_a_page_that_grows_with_its_size() -> None:
    for name, shape in extraction_size.SHAPES.items():
        assert 3.5 < len(shape(4)) / len(shape(1)) < 4.5, name
