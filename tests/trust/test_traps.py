"""P3: nothing of ours goes along."""

from __future__ import annotations

import os
from dataclasses import dataclass
from unittest.mock import patch

import aiohttp
import pytest

from firsthand.errors import FetchFailed
from tests.trust import traps


def test_no_trap_is_sprung_and_no_credential_is_sent() -> None:
    sprung = traps.spring()
    assert (sprung["trap_connections"], sprung["credentials"], sprung["certificates"]) == (0, [], 0)
    ends = [row["end"] for row in sprung["rows"]]
    assert ends.count("200") == 2 * 11 + 1  # pages and redirects of two sites, and the one with TLS
    assert ends.count("http_status") == 2 * (2 * len(traps.CHALLENGES) + 1)
    assert ends.count("userinfo") == 2
    assert {"url": "provider", "end": "307", "sent": 1} in sprung["rows"]


@dataclass
class Fetched:
    status: int


class Obliging:
    """A fetcher as a client makes one that trusts its environment, or keeps cookies."""

    trust_env = keeps_cookies = False

    def __init__(self, *_: object) -> None:
        jar = aiohttp.CookieJar(unsafe=True) if self.keeps_cookies else aiohttp.DummyCookieJar()
        self.session = aiohttp.ClientSession(trust_env=self.trust_env, cookie_jar=jar)

    async def fetch(self, url: str) -> Fetched:
        try:
            async with self.session.get(url, ssl=False) as answered:
                return Fetched(answered.status)
        except (aiohttp.ClientError, UnicodeError) as error:
            raise FetchFailed("failed", "any", "any") from error

    async def aclose(self) -> None:
        await self.session.close()


class TrustsTheEnvironment(Obliging):
    trust_env = True


class KeepsCookies(Obliging):
    keeps_cookies = True


@pytest.mark.parametrize("kind", [TrustsTheEnvironment, KeepsCookies])
async def test_an_obliging_client_springs_them(kind: type[Obliging], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traps, "Fetcher", kind)
    monkeypatch.setattr(traps, "_with_tls", lambda sprung: _nothing())
    with patch.dict(os.environ):
        sprung = await traps.run()
    if kind is TrustsTheEnvironment:
        assert sprung.trap_connections
    else:
        assert traps.COOKIE in sprung.credentials and "cookie" in sprung.credentials


async def _nothing() -> None:
    return None
