"""The providers that answer in JSON and come with a key, and MediaWiki, as the contract suite sees them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from firsthand.values import JsonValue, Outcome
from firsthand.web.search import brave, exa, linkup, mediawiki, parallel, tavily
from firsthand.web.search.codec import Codec
from tests.web.search.adapter import OverHttp, Scenario

KEY = "test-k3y-5up3r53cr3t"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_DAYS = {1: "day", 7: "week", 31: "month", 366: "year"}


def now() -> datetime:
    return NOW


class OverJson(OverHttp):
    """What all of them can be in; the rest is each one's own."""

    failures: Mapping[str, tuple[Outcome, str]] = {
        "quota": ("rate_limited", "provider_quota"),
        "message": ("refused", "provider_message"),
        "wrong_shape": ("failed", "provider_garbage"),
        "page": ("failed", "provider_garbage"),
        "wall": ("bot_wall", "provider_challenge"),
        "wall_of_refusal": ("bot_wall", "provider_challenge"),
        "nothing_at_all": ("failed", "provider_garbage"),
        "too_deep": ("failed", "provider_garbage"),
        "truncated": ("failed", "provider_garbage"),
        "too_large": ("too_large", "provider_too_large"),
        "rate_limited": ("rate_limited", "provider_rate_limited"),
        "retry_after": ("rate_limited", "provider_rate_limited"),
        "redirected": ("failed", "provider_redirected"),
        "redirect_followed": ("failed", "provider_redirected"),
        "broken": ("failed", "provider_status"),
        "maintenance": ("failed", "provider_status"),
    }

    def __init__(self, codec: Codec, own: Mapping[str, Scenario]) -> None:
        limited = own.get("rate_limited", (429, "page.html", {}))
        super().__init__(
            codec,
            {
                "results": (200, "results.json", {}),
                "empty": (200, "empty.json", {}),
                "malformed_hit": (200, "malformed_hit.json", {}),
                "long_hit": (200, "long_hit.json", {}),
                "hostile": (200, "hostile.json", {}),
                "quota": (200, "quota.json", {}),
                "message": (200, "message.json", {}),
                "wrong_shape": (200, "wrong_shape.json", {}),
                "page": (200, "page.html", {}),
                "wall": (200, "wall.html", {}),
                "wall_of_refusal": (403, "wall.html", {"cf-mitigated": "challenge"}),
                "nothing_at_all": (200, b"", {}),
                "too_deep": (200, b'{"results":' + b"[" * 100_000, {}),
                "truncated": (200, "truncated.json", {}),
                "too_large": (200, b" " * (4 << 20) + b"{}", {}),
                "retry_after": (limited[0], limited[1], {"retry-after": "120"}),
                "redirected": (307, b"", {"location": "http://169.254.169.254/"}),
                "redirect_followed": (200, "results.json", {"x-final-url": "https://elsewhere.example/search"}),
                "broken": (500, "page.html", {}),
                "maintenance": (503, "page.html", {}),
                **own,
            },
        )

    def payload(self) -> dict[str, JsonValue]:
        value: dict[str, JsonValue] = json.loads(self.sent[-1].body)
        return value

    def parameters(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.sent[-1].url).query)


_KEYED: Mapping[str, tuple[Outcome, str]] = {
    "bad_key": ("refused", "provider_key_refused"),
    "forbidden": ("refused", "provider_key_refused"),
    "no_credit": ("refused", "provider_no_credit"),
    "bad_request": ("failed", "provider_bad_request"),
}


class MediaWiki(OverJson):
    not_possible = frozenset({"time_filter"})
    failures: Mapping[str, tuple[Outcome, str]] = {
        **OverJson.failures,
        "busy": ("rate_limited", "provider_quota"),
        "refused": ("refused", "provider_message"),
        "forbidden": ("refused", "provider_refused"),
    }

    def __init__(self, folder: Path) -> None:
        super().__init__(
            mediawiki.MediaWiki("https://wiki.test/w/api.php"),
            {
                "rate_limited": (429, "page.html", {}),
                "busy": (200, "rate_limited.json", {}),
                "refused": (200, "refused.json", {}),
                "forbidden": (403, "page.html", {}),
            },
        )

    def expected(self) -> list[tuple[str, str]]:
        article = "https://wiki.test/wiki/"
        return [
            (article + "Installing_software", "Installing software"),
            (article + "%C3%9Cber_%26_unter:_100_%25_C%2B%2B%3F", "Über & unter: 100 % C++?"),
            (article + "%E6%9D%B1%E4%BA%AC%E3%82%BF%E3%83%AF%E3%83%BC", "東京タワー"),
            (article + "AC/DC", "AC/DC"),
            (article + "C%2B%2B_%3Cvector%3E_reference", "C++ <vector> reference"),
            (article + "User:Example/News_of_November_2026", "User:Example/News of November 2026"),
        ]

    def asked_text(self) -> str:
        return self.parameters()["srsearch"][0]

    def asked_filter(self) -> str | None:
        return None


class Brave(OverJson):
    failures: Mapping[str, tuple[Outcome, str]] = {
        **OverJson.failures,
        **_KEYED,
        "month_used_up": ("rate_limited", "provider_quota"),
    }

    def __init__(self, folder: Path) -> None:
        month = {"x-ratelimit-remaining": "1, 0", "x-ratelimit-reset": "1, 1419704"}
        super().__init__(
            brave.Brave(KEY),
            {
                "rate_limited": (429, "rate_limited.json", {}),
                "bad_key": (422, "bad_key.json", {}),
                "forbidden": (403, "page.html", {}),
                "no_credit": (402, "page.html", {}),
                "bad_request": (422, "bad_request.json", {}),
                "month_used_up": (429, "rate_limited.json", month),
            },
        )

    def asked_text(self) -> str:
        return self.parameters()["q"][0]

    def asked_filter(self) -> str | None:
        return self.parameters().get("freshness", [" "])[0].removeprefix("p").strip() or None


class Exa(OverJson):
    failures: Mapping[str, tuple[Outcome, str]] = {**OverJson.failures, **_KEYED}

    def __init__(self, folder: Path) -> None:
        super().__init__(
            exa.Exa(KEY, clock=now),
            {
                "rate_limited": (429, "rate_limited.json", {}),
                "bad_key": (401, "bad_key.json", {}),
                "forbidden": (403, "page.html", {}),
                "no_credit": (402, "no_credit.json", {}),
                "bad_request": (400, "bad_request.json", {}),
            },
        )

    def asked_text(self) -> str:
        return str(self.payload()["query"])

    def asked_filter(self) -> str | None:
        return filter_since(self.payload().get("startPublishedDate"))


class Tavily(OverJson):
    failures: Mapping[str, tuple[Outcome, str]] = {
        **OverJson.failures,
        **_KEYED,
        "no_credit_left": ("refused", "provider_no_credit"),
    }

    def __init__(self, folder: Path) -> None:
        super().__init__(
            tavily.Tavily(KEY),
            {
                "rate_limited": (429, "rate_limited.json", {}),
                "bad_key": (401, "bad_key.json", {}),
                "forbidden": (403, "page.html", {}),
                "no_credit": (432, "no_credit.json", {}),
                "no_credit_left": (433, "no_credit.json", {}),
                "bad_request": (400, "bad_request.json", {}),
            },
        )

    def asked_text(self) -> str:
        return str(self.payload()["query"])

    def asked_filter(self) -> str | None:
        given = self.payload().get("time_range")
        return None if given is None else str(given)


class Linkup(OverJson):
    failures: Mapping[str, tuple[Outcome, str]] = {
        **OverJson.failures,
        **_KEYED,
        "budget": ("refused", "provider_no_credit"),
    }

    def __init__(self, folder: Path) -> None:
        super().__init__(
            linkup.Linkup(KEY, clock=now),
            {
                "rate_limited": (429, "rate_limited.json", {}),
                "bad_key": (401, "bad_key.json", {}),
                "forbidden": (403, "page.html", {}),
                "no_credit": (429, "no_credit.json", {}),
                "budget": (429, "budget.json", {}),
                "bad_request": (400, "bad_request.json", {}),
                "nothing": (400, "nothing.json", {}),
            },
        )

    def asked_text(self) -> str:
        return str(self.payload()["q"])

    def asked_filter(self) -> str | None:
        return filter_since(self.payload().get("fromDate"))


class Parallel(OverJson):
    failures: Mapping[str, tuple[Outcome, str]] = {**OverJson.failures, **_KEYED}

    def __init__(self, folder: Path) -> None:
        super().__init__(
            parallel.Parallel(KEY, clock=now),
            {
                "rate_limited": (429, "rate_limited.json", {}),
                "bad_key": (401, "bad_key.json", {}),
                "forbidden": (403, "page.html", {}),
                "no_credit": (402, "no_credit.json", {}),
                "bad_request": (422, "bad_request.json", {}),
            },
        )

    def asked_text(self) -> str:
        queries = self.payload()["search_queries"]
        assert isinstance(queries, list) and len(queries) == 1
        return str(queries[0])

    def asked_filter(self) -> str | None:
        settings = self.payload()["advanced_settings"]
        assert isinstance(settings, dict)
        policy = settings.get("source_policy")
        return filter_since(policy.get("after_date") if isinstance(policy, dict) else None)


def filter_since(day: JsonValue) -> str | None:
    """The name of the time filter that reaches back to *day*."""
    if not isinstance(day, str):
        return None
    age = NOW - datetime.fromisoformat(day[:10]).replace(tzinfo=UTC)
    return _DAYS[age // timedelta(days=1)]
