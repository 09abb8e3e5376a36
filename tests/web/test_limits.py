"""The table of limits says what the corpora assume."""

from __future__ import annotations

import json
from pathlib import Path

from firsthand.web import limits
from firsthand.web.wire import INTERIM_MAX

DEFAULTS = json.loads((Path(__file__).parents[1] / "data/hostile-defaults.json").read_text(encoding="utf-8"))


def test_address_limits_are_the_corpus_defaults() -> None:
    url, ranges, names = DEFAULTS["url"], DEFAULTS["refused_ranges"], DEFAULTS["refused_names"]
    assert sorted(limits.SCHEMES) == sorted(url["schemes"])
    assert sorted(limits.PORTS) == url["ports"]
    assert (url["max_url_chars"], url["max_redirects"]) == (limits.MAX_URL_CHARS, limits.MAX_REDIRECTS)
    assert [str(block) for block in limits.REFUSED_IPV4] == ranges["ipv4"]
    assert str(limits.ALLOWED_IPV6) == ranges["ipv6_allowed_block"]
    assert [str(block) for block in limits.REFUSED_IPV6] == ranges["ipv6_refused_inside"]
    never = [str(block) for block in (*limits.NEVER_IPV4, *limits.NEVER_IPV6)]
    assert never == ranges["never_allowed_even_if_configured"]
    assert sorted(limits.REFUSED_SUFFIXES) == sorted(names["suffixes"])


def test_fetch_limits_are_the_corpus_defaults() -> None:
    fetch = dict(DEFAULTS["fetch"])
    assert fetch.pop("interim_responses_max") == INTERIM_MAX
    assert {name: getattr(limits.LIMITS, name) for name in fetch} == fetch
