"""Our requests beside those of the vendors' own clients, which ``official_clients.py`` recorded on loopback."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest

from firsthand.values import Query
from firsthand.web.search.codec import Codec
from firsthand.web.search.exa import Exa
from firsthand.web.search.linkup import Linkup
from firsthand.web.search.parallel import Parallel
from firsthand.web.search.tavily import Tavily
from tests.web.search.adapter import DATA
from tests.web.search.official_clients import KEY, KEY_HEADERS, MAX_HITS, SITE, TEXT

RECORDED: dict[str, Any] = json.loads((DATA / "official_requests.json").read_text(encoding="utf-8"))


def clock() -> datetime:
    return datetime(2026, 11, 30, tzinfo=UTC)


CODECS: list[Codec] = [Exa(KEY, clock=clock), Tavily(KEY), Linkup(KEY, clock=clock), Parallel(KEY, clock=clock)]


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_our_request_is_the_one_that_the_vendors_client_sends(codec: Codec) -> None:
    request = codec.request(Query(f"{TEXT} site:{SITE}", max_hits=MAX_HITS, time_filter="month"))
    ours = {
        "method": request.method,
        "path": urlsplit(request.url).path,
        "key": {name: value for name, value in request.headers.items() if name in KEY_HEADERS},
        "json": json.loads(request.body),
    }
    theirs = RECORDED[codec.name]
    assert ours == {name: theirs[name] for name in ours}
    assert request.headers["content-type"] == "application/json"
