"""Content codings, undone whatever the cuts between pieces are."""

from __future__ import annotations

import gzip
import importlib
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import FetchFailed
from firsthand.web.decode import PIECE_BYTES, Decoder, accepted_codings
from firsthand.web.limits import LIMITS

brotli: Any = importlib.import_module("brotli")  # has no types
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


@given(
    st.binary(max_size=300),
    st.integers(0, 3 * PIECE_BYTES),
    st.lists(st.sampled_from(sorted(PACKERS)), max_size=2),
    st.integers(1, 400),
)
@settings(deadline=None)
def test_body_comes_back_whole_from_any_codings_in_any_pieces(
    head: bytes, n_more: int, codings: list[str], size: int
) -> None:
    wire = body = head + b"a" * n_more
    for coding in codings:
        wire = PACKERS[coding](wire)
    size = max(size, len(wire) // 500)
    decoder = Decoder(codings)
    for at in range(0, len(wire), size):
        decoder.feed(wire[at : at + size])
    assert decoder.body() == body


@pytest.mark.parametrize("coding", sorted(PACKERS))
def test_bomb_is_refused_after_the_limit_and_a_cut_body_is_an_error(coding: str) -> None:
    limits = replace(LIMITS, decoded_bytes=100_000)
    wire = PACKERS[coding](bytes(5_000_000))
    decoder = Decoder([coding], limits)
    with pytest.raises(FetchFailed) as bomb:
        decoder.feed(wire)
    assert bomb.value.code == "too_large"
    assert len(decoder.cut_body()) <= 100_000
    cut = Decoder([coding])
    with pytest.raises(FetchFailed) as early:
        cut.feed(PACKERS[coding](bytes(range(256)))[:-3])
        cut.body()
    assert early.value.code == "decode_error"


def test_only_what_can_be_undone_is_asked_for() -> None:
    for coding in accepted_codings().split(", "):
        decoder = Decoder([coding])
        decoder.feed(PACKERS[coding](b"words"))
        assert decoder.body() == b"words"


@pytest.mark.parametrize("codings", [[], *([coding] for coding in sorted(PACKERS)), ["gzip", "br"]])
def test_body_of_no_bytes_is_empty_whatever_coding_its_header_names(codings: list[str]) -> None:
    decoder = Decoder(codings)
    decoder.feed(b"")
    assert decoder.body() == b""
