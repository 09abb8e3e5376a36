"""The keyless providers as the contract suite sees them, and the list of all.

A new provider is a class like these and a row in ``ADAPTERS``. It leaves out the scenarios it cannot be in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from firsthand.ports import Searched
from firsthand.values import HttpRequest, HttpResponse, Outcome, Query
from firsthand.web.search import Ddgs, Providers, duckduckgo, searxng
from tests.web.search.adapter import DATA, EXPECTED, Adapter, OverHttp
from tests.web.search.json_adapters import Brave, Exa, Linkup, MediaWiki, Parallel, Tavily

SEARXNG_URL = "http://searx.test/search-instance/"


class DuckDuckGo(OverHttp):
    failures: Mapping[str, tuple[Outcome, str]] = {
        "rate_limited": ("rate_limited", "provider_rate_limited"),
        "retry_after": ("rate_limited", "provider_rate_limited"),
        "accepted": ("rate_limited", "provider_rate_limited"),
        "refused": ("refused", "provider_refused"),
        "challenge": ("bot_wall", "provider_challenge"),
        "wall_of_refusal": ("bot_wall", "provider_challenge"),
        "no_container": ("refused", "provider_no_results_container"),
        "garbage": ("refused", "provider_no_results_container"),
        "broken": ("failed", "provider_status"),
        "redirected": ("failed", "provider_redirected"),
        "redirect_followed": ("failed", "provider_redirected"),
    }

    def __init__(self, folder: Path) -> None:
        super().__init__(
            duckduckgo.DuckDuckGoHtml(),
            {
                "results": (200, "results.html", {}),
                "empty": (200, "empty.html", {}),
                "malformed_hit": (200, "malformed_hit.html", {}),
                "truncated": (200, "truncated.html", {}),
                "long_hit": (200, "long_hit.html", {}),
                "hostile": (200, "hostile.html", {}),
                "rate_limited": (429, "refused.html", {}),
                "retry_after": (429, "refused.html", {"retry-after": "120"}),
                "accepted": (202, "challenge.html", {}),
                "refused": (403, "refused.html", {}),
                "challenge": (200, "challenge.html", {}),
                "wall_of_refusal": (403, "../brave/wall.html", {}),
                "no_container": (200, "no_container.html", {}),
                "garbage": (200, "../searxng/garbage.json", {}),
                "broken": (503, "refused.html", {}),
                "redirected": (303, b"", {"location": "http://169.254.169.254/"}),
                "redirect_followed": (200, "results.html", {"x-final-url": "https://elsewhere.example/"}),
            },
        )

    def asked_text(self) -> str:
        return parse_qs(self.sent[-1].body.decode())["q"][0]

    def asked_filter(self) -> str | None:
        return parse_qs(self.sent[-1].body.decode()).get("df", [None])[0]


class SearXNG(OverHttp):
    failures: Mapping[str, tuple[Outcome, str]] = {
        "rate_limited": ("rate_limited", "provider_rate_limited"),
        "retry_after": ("rate_limited", "provider_rate_limited"),
        "quota": ("rate_limited", "provider_quota"),
        "json_off": ("refused", "provider_json_off"),
        "message": ("refused", "provider_message"),
        "engines_failed": ("failed", "provider_all_engines_failed"),
        "wrong_shape": ("failed", "provider_garbage"),
        "garbage": ("failed", "provider_garbage"),
        "page": ("failed", "provider_garbage"),
        "wall_of_refusal": ("bot_wall", "provider_challenge"),
        "too_large": ("too_large", "provider_too_large"),
        "too_deep": ("failed", "provider_garbage"),
        "truncated": ("failed", "provider_garbage"),
        "broken": ("failed", "provider_status"),
        "redirected": ("failed", "provider_redirected"),
        "redirect_followed": ("failed", "provider_redirected"),
    }

    def __init__(self, folder: Path) -> None:
        super().__init__(
            searxng.SearXNG(SEARXNG_URL),
            {
                "results": (200, "results.json", {}),
                "empty": (200, "empty.json", {}),
                "malformed_hit": (200, "malformed_hit.json", {}),
                "long_hit": (200, "long_hit.json", {}),
                "hostile": (200, "hostile.json", {}),
                "page": (200, "json_off.html", {}),
                "wall_of_refusal": (403, "../brave/wall.html", {}),
                "too_large": (200, b" " * (4 << 20) + b"{}", {}),
                "rate_limited": (429, "json_off.html", {}),
                "retry_after": (429, "json_off.html", {"retry-after": "120"}),
                "quota": (200, "quota.json", {}),
                "json_off": (403, "json_off.html", {}),
                "message": (200, "message.json", {}),
                "engines_failed": (200, "engines_failed.json", {}),
                "wrong_shape": (200, "wrong_shape.json", {}),
                "garbage": (200, "garbage.json", {}),
                "too_deep": (200, "too_deep.json", {}),
                "truncated": (200, "truncated.json", {}),
                "broken": (500, "garbage.json", {}),
                "redirected": (302, b"", {"location": "http://169.254.169.254/"}),
                "redirect_followed": (200, "results.json", {"x-final-url": "http://searx.test:81/search"}),
            },
        )

    def asked_text(self) -> str:
        return self._parameters()["q"][0]

    def asked_filter(self) -> str | None:
        return self._parameters().get("time_range", [None])[0]

    def _parameters(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.sent[-1].url).query)


class DdgsWorker:
    """The real worker process, in which a scripted module stands for ``ddgs``."""

    name = "ddgs"
    not_possible = frozenset({"truncated", "retry_after"})
    failures: Mapping[str, tuple[Outcome, str]] = {
        "rate_limited": ("rate_limited", "provider_rate_limited"),
        "refused": ("refused", "provider_refused"),
        "all_failed": ("failed", "provider_all_engines_failed"),
        "timeout": ("timeout", "provider_timeout"),
        "crash": ("failed", "provider_all_engines_failed"),
        "no_line": ("failed", "provider_garbage"),
        "garbage": ("failed", "provider_garbage"),
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._scenario = "results"
        self._n_asked = 0

    def set_up(self, scenario: str) -> None:
        self._scenario = scenario

    async def search(self, query: Query) -> Searched:
        script = DATA / "ddgs" / f"{self._scenario}.json"
        ddgs = Ddgs(worker_environment(script, self._folder / "asked.json"))
        timeout_s = 0.01 if self._scenario == "hang" else 15
        found = await Providers({}, ddgs, timeout_s=timeout_s).search_one("ddgs", query, _nothing_is_sent)
        self._n_asked += (self._folder / "asked.json").exists()
        return found

    def expected(self) -> list[tuple[str, str]]:
        # ddgs decodes addresses and writes "+" for a space; what is left is encoded again.
        lossy = {"%20": "+", "%2B": "+"}
        rows = []
        for url, title, _ in EXPECTED:
            for encoded, plain in lossy.items():
                url = url.replace(encoded, plain)
            rows.append((url, title))
        return rows

    def asked(self) -> dict[str, object]:
        asked: dict[str, object] = json.loads((self._folder / "asked.json").read_text())
        return asked

    def asked_text(self) -> str:
        return str(self.asked()["query"])

    def asked_filter(self) -> str | None:
        given = self.asked()["timelimit"]
        return None if given is None else str(given)

    def n_asked(self) -> int:
        return self._n_asked


def worker_environment(script: Path, asked: Path) -> dict[str, str]:
    """What a worker needs to import the scripted module; the proxies must not reach it."""
    return {
        "PYTHONPATH": str(DATA / "ddgs_scripted"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "DDGS_SCRIPT": str(script),
        "DDGS_ASKED": str(asked),
        "HTTPS_PROXY": "http://proxy.example:3128",
        "http_proxy": "http://proxy.example:3128",
        "DDGS_PROXY": "http://proxy.example:3128",
    }


async def _nothing_is_sent(request: HttpRequest) -> HttpResponse:
    raise AssertionError("ddgs sends by itself")


ADAPTERS: tuple[type[Adapter], ...] = (
    DuckDuckGo, SearXNG, DdgsWorker, MediaWiki, Brave, Exa, Tavily, Linkup, Parallel,
)  # fmt: skip
