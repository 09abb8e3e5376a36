"""Robots files by RFC 9309, brought by a function that serves them from a table."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from firsthand.errors import FetchFailed
from firsthand.values import HttpResponse
from firsthand.web.address import Policy, Target, judge
from firsthand.web.limits import ROBOTS_CACHE_S, ROBOTS_RETRY_S
from firsthand.web.reply import failed
from firsthand.web.robots import Robots

POLICY = Policy()
AGENT = "Firsthand/0.1 (+https://example.org/)"


class Site:
    """Answers for robots files, by address; what is not there is 404. ``status`` answers for all."""

    def __init__(self, files: dict[str, HttpResponse] | None = None, status: int | None = None) -> None:
        self.files = files or {}
        self.status = status
        self.asked: list[str] = []

    async def get(self, target: Target) -> HttpResponse:
        self.asked.append(target.url)
        await asyncio.sleep(0)
        if self.status is not None:
            return HttpResponse(target.url, self.status, {}, b"User-agent: *\nDisallow: /")
        return self.files.get(target.url, HttpResponse(target.url, 404, {}, b""))


def rules(text: str) -> HttpResponse:
    return HttpResponse("", 200, {}, text.encode())


async def verdict(robots: Robots, site: Site, path: str = "/page", host: str = "a.example.com") -> str:
    try:
        await robots.permit(judge(f"http://{host}{path}", POLICY), site.get)
    except FetchFailed as refusal:
        assert refusal.outcome == "robots"
        return refusal.code
    return "ok"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (404, "ok"),
        (403, "ok"),
        (410, "ok"),
        (429, "robots_unreachable"),
        (500, "robots_unreachable"),
        (503, "robots_unreachable"),
    ],
)
async def test_missing_file_allows_and_unreachable_file_forbids(status: int, expected: str) -> None:
    assert await verdict(Robots(POLICY, AGENT), Site(status=status)) == expected


async def test_server_that_never_answers_forbids_until_it_is_asked_again() -> None:
    now = 0.0
    robots = Robots(POLICY, AGENT, clock=lambda: now)

    async def silent(target: Target) -> HttpResponse:
        raise failed("timeout", "The server took too long.")

    with pytest.raises(FetchFailed) as refusal:
        await robots.permit(judge("http://a.example.com/", POLICY), silent)
    assert refusal.value.code == "robots_unreachable"
    site = Site()
    assert await verdict(robots, site) == "robots_unreachable"
    now = ROBOTS_RETRY_S
    assert await verdict(robots, site) == "ok"
    assert len(site.asked) == 1


@pytest.mark.parametrize(("n_redirects", "expected"), [(5, "robots"), (6, "ok")])
async def test_five_redirects_are_followed_and_a_sixth_makes_the_file_absent(n_redirects: int, expected: str) -> None:
    chain = ["http://a.example.com/robots.txt", *(f"http://r{i}.example.com/robots.txt" for i in range(n_redirects))]
    files = {at: HttpResponse("", 302, {"location": to}, b"") for at, to in pairwise(chain)}
    files[chain[-1]] = rules("User-agent: *\nDisallow: /")
    assert await verdict(Robots(POLICY, AGENT), Site(files)) == expected


async def test_redirect_of_the_robots_file_to_a_private_address_is_not_followed() -> None:
    site = Site(
        {"http://a.example.com/robots.txt": HttpResponse("", 302, {"location": "http://127.0.0.1/robots.txt"}, b"")}
    )
    assert await verdict(Robots(POLICY, AGENT), site) == "robots_unreachable"
    assert site.asked == ["http://a.example.com/robots.txt"]


async def test_our_own_group_wins_over_everyone_elses_and_the_longest_rule_over_the_others() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: FIRSTHAND\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 7"
    site = Site({"http://a.example.com/robots.txt": rules("\ufeff" + text)})
    robots = Robots(POLICY, AGENT)
    assert [await verdict(robots, site, path) for path in ("/x", "/a/x", "/a/b/x")] == ["ok", "robots", "ok"]
    assert await robots.permit(judge("http://a.example.com/x", POLICY), site.get) == 7.0


async def test_file_is_brought_once_a_day_for_all_who_wait_and_for_each_site_of_its_own() -> None:
    now = 0.0
    robots, site = Robots(POLICY, AGENT, clock=lambda: now), Site()
    await asyncio.gather(*(verdict(robots, site) for _ in range(20)))
    await verdict(robots, site, host="b.example.com")
    assert len(site.asked) == 2
    now = ROBOTS_CACHE_S
    await verdict(robots, site)
    assert len(site.asked) == 3


async def test_crawl_delay_of_a_year_is_a_minute() -> None:
    site = Site({"http://a.example.com/robots.txt": rules("User-agent: *\nCrawl-delay: 31536000")})
    assert await Robots(POLICY, AGENT).permit(judge("http://a.example.com/x", POLICY), site.get) == 60.0
