"""Whatever a provider answers, a codec gives clean hits or says that the provider failed; nothing else comes out."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand.errors import ProviderFailed
from firsthand.values import HttpResponse, Query
from firsthand.web.search.brave import Brave
from firsthand.web.search.codec import OUTCOMES, Codec
from firsthand.web.search.duckduckgo import DuckDuckGoHtml
from firsthand.web.search.exa import Exa
from firsthand.web.search.linkup import Linkup
from firsthand.web.search.mediawiki import MediaWiki
from firsthand.web.search.parallel import Parallel
from firsthand.web.search.searxng import SearXNG
from firsthand.web.search.tavily import Tavily
from tests.web.search.adapter import DATA

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
JSON_CODECS: list[Codec] = [
    SearXNG("http://searx.test"),
    MediaWiki("https://wiki.test/w/api.php"),
    Brave("key"),
    Exa("key"),
    Tavily("key"),
    Linkup("key"),
    Parallel("key"),
]
QUERY = Query("how to install")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=60)
    | st.sampled_from(
        ["https://example.org/", "javascript:alert(1)", "2026-11-29", "9999-99-99", "$1", "//", "http://["]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


def paths(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every value inside *value*, itself included."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(path for key, child in children for path in paths(child, (*at, key)))]


def changed(whole: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """*whole* with *value* at *path*, if that still exists."""
    if not path:
        return value
    parent = whole
    for key in path[:-1]:
        try:
            parent = parent[key]
        except (KeyError, IndexError, TypeError):
            return whole
    last = path[-1]
    if isinstance(parent, list):
        if isinstance(last, int) and last < len(parent):
            parent[last] = value
    elif isinstance(parent, dict):
        parent[last] = value
    return whole


def bodies_near(codec: Codec) -> st.SearchStrategy[Any]:
    """The provider's good answer with up to four values in it replaced by anything."""
    good = json.loads((DATA / codec.name / "results.json").read_text(encoding="utf-8"))
    change = st.tuples(st.sampled_from(paths(good)), VALUES)

    def apply(changes: list[tuple[tuple[str | int, ...], Any]]) -> Any:
        whole = copy.deepcopy(good)
        for path, value in changes:
            whole = changed(whole, path, copy.deepcopy(value))
        return whole

    return st.lists(change, min_size=1, max_size=4).map(apply)


def check(codec: Codec, body: bytes, status: int = 200) -> None:
    request = codec.request(QUERY)
    try:
        hits = codec.hits(QUERY, HttpResponse(request.url, status, {}, body))
    except ProviderFailed as error:
        assert error.outcome == OUTCOMES[error.code] and error.message.startswith(f"{codec.name}: ")
        return
    assert len(hits) <= min(QUERY.max_hits, codec.max_hits)
    assert hits.cost_microusd is None or hits.cost_microusd >= 0
    for hit in hits:
        assert hit.url.startswith(("http://", "https://"))
        assert "\n" not in hit.title + hit.snippet
        assert len(hit.title) <= 256 and len(hit.snippet) <= 2048
        assert hit.published_at is None or hit.published_at.tzinfo is not None
        hit.url.encode(), hit.title.encode(), hit.snippet.encode()


@pytest.mark.parametrize("codec", JSON_CODECS, ids=lambda codec: codec.name)
@UNTIMED
@given(data=st.data(), status=st.sampled_from([200, 200, 200, 400, 401, 422, 429, 432, 500]))
def test_a_body_with_anything_in_any_field_is_hits_or_a_failure(codec: Codec, data: st.DataObject, status: int) -> None:
    check(codec, json.dumps(data.draw(bodies_near(codec))).encode(), status)


@pytest.mark.parametrize("codec", [*JSON_CODECS, DuckDuckGoHtml()], ids=lambda codec: codec.name)
@UNTIMED
@given(body=st.binary(max_size=300) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_hits_or_a_failure(codec: Codec, body: bytes) -> None:
    check(codec, body)


@pytest.mark.parametrize("codec", JSON_CODECS, ids=lambda codec: codec.name)
@pytest.mark.parametrize("inside", ["[" * 100_000, '{"a":' * 100_000, "9" * 100_000, '"' + "\\ud800" * 1000 + '"'])
def test_depth_and_size_inside_a_body_end_in_a_failure(codec: Codec, inside: str) -> None:
    check(codec, b'{"results":' + inside.encode())


@pytest.mark.parametrize("codec", JSON_CODECS, ids=lambda codec: codec.name)
def test_a_hit_behind_a_thousand_rows_without_an_address_is_not_looked_for(codec: Codec) -> None:
    whole = json.loads((DATA / codec.name / "results.json").read_text(encoding="utf-8"))
    parent = {"brave": whole.get("web"), "mediawiki": whole.get("query")}.get(codec.name, whole)
    rows = parent.get("results", parent.get("search"))
    rows[:0] = [{}] * 1_000
    response = HttpResponse(codec.request(QUERY).url, 200, {}, json.dumps(whole).encode())
    with pytest.raises(ProviderFailed) as caught:
        codec.hits(QUERY, response)
    assert caught.value.code == "provider_garbage"
    del rows[0]
    response = HttpResponse(response.url, 200, {}, json.dumps(whole).encode())
    assert [hit.rank for hit in codec.hits(QUERY, response)] == [1_000]
