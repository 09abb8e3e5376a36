"""The end of a response, found in any cut of the bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import FetchFailed
from firsthand.web.wire import CHUNK_LINE_MAX, CHUNK_LINES_MAX, INTERIM_MAX, Framing

RESPONSES = [
    b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\ncontent-length: 99\r\n\r\n",
    b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx-trailer: 1\r\nset-cookie: a\r\n\r\n",
    b"HTTP/1.1 200 OK\ncontent-length: 2\n\nhi",
    b"HTTP/1.1 200 OK\r\nX-Content-Length: 9\r\n\t Content-Length \t:\t2 \r\nA: content-length: 7\r\n\r\nhi",
    b"\r\n\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
]


@settings(deadline=None)
@given(st.sampled_from(RESPONSES), st.integers(1, 40), st.binary(min_size=1, max_size=30))
def test_what_is_behind_the_end_never_reaches_the_parser(whole: bytes, size: int, surplus: bytes) -> None:
    framing = Framing()
    wire = whole + surplus
    passed = b"".join(framing.feed(wire[at : at + size]) for at in range(0, len(wire), size))
    assert passed == whole


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(1, 40))
def test_any_bytes_pass_in_order_and_nothing_is_added(data: bytes, size: int) -> None:
    framing = Framing()
    passed = b"".join(framing.feed(data[at : at + size]) for at in range(0, len(data), size))
    assert data.startswith(passed)


@pytest.mark.parametrize(
    "wire",
    [
        b"HTTP/1.1 103 Early\r\n\r\n" * (INTERIM_MAX + 1),
        b"HTTP/1.1 200 OK\r\nx: " + b"a" * 70_000,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;" + b"a" * CHUNK_LINE_MAX,
    ],
)
def test_head_or_chunk_line_without_end_is_refused(wire: bytes) -> None:
    with pytest.raises(FetchFailed) as refused:
        Framing().feed(wire)
    assert refused.value.code == "bad_response"


def test_chunks_of_next_to_nothing_are_refused_long_before_they_fill_a_page() -> None:
    framing = Framing()
    framing.feed(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    n_bytes = 0
    with pytest.raises(FetchFailed) as refused:
        while True:
            framing.feed(b"1\r\na\r\n" * 1000)
            n_bytes += 1000
    assert refused.value.code == "bad_response"
    assert 200_000 < n_bytes <= CHUNK_LINES_MAX // 3


@pytest.mark.parametrize("second", [b"content-length: 3", b"content-length", b"content-length:"])
def test_two_lengths_that_differ_end_nothing_and_are_left_to_the_parser(second: bytes) -> None:
    wire = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n" + second + b"\r\n\r\nhi, and more"
    assert Framing().feed(wire) == wire
