"""Robots files by RFC 9309, brought by a function that serves them from a table."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import FetchFailed
from firsthand.values import HttpResponse
from firsthand.web.address import Policy, Target, judge
from firsthand.web.limits import ROBOTS_BYTES, ROBOTS_CACHE_S, ROBOTS_RETRY_S
from firsthand.web.reply import failed
from firsthand.web.robots import Robots, parse, product_token

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


def allows(text: str | bytes, path: str, token: str = "Firsthand") -> bool:
    """Whether the file lets the product *token* read *path*."""
    body = text.encode() if isinstance(text, str) else text
    return parse(body, token).can_fetch(f"http://a.example.com{path}", "us")


@pytest.mark.parametrize(
    ("named", "is_us"),
    [
        ("firsthand", True),
        ("FirstHand", True),
        ("Firsthand/2.0", True),
        ("firsthand  # that one", True),
        ("firsthand crawler", True),
        ("first", False),  # the beginning of our name is another's
        ("hand", False),
        ("firsthand-news", False),
        ("firsthander", False),
        ("not-firsthand", False),
        ("Mozilla/5.0 (compatible; Firsthand/1.0)", False),  # a whole user agent names its first product
        ("", False),
        ("us", False),
        ("other", False),
        ("*", True),
        ("* # all", True),
        ("fi*", False),
    ],
)
def test_group_is_ours_by_the_whole_product_token_in_any_case(named: str, is_us: bool) -> None:
    assert allows(f"User-agent: {named}\nDisallow: /", "/x") is not is_us


@pytest.mark.parametrize(
    ("file", "path", "is_allowed"),
    [
        # RFC 9309, section 5.1 and 5.2, and what section 2.2 says beside them
        ("User-agent: firsthand\nDisallow: /*.gif$\nAllow: /pub/\nDisallow: /", "/pub/a.html", True),
        (
            "User-agent: firsthand\nDisallow: /*.gif$\nAllow: /pub/\nDisallow: /",
            "/pub/a.gif",
            False,
        ),  # the longest rule
        ("User-agent: firsthand\nAllow: /example/page/\nDisallow: /example/page/x.gif", "/example/page/x.gif", False),
        ("User-agent: firsthand\nAllow: /p\nDisallow: /p", "/p", True),  # as long: allow wins
        ("User-agent: firsthand\nDisallow: /p\nAllow: /p", "/p", True),
        ("User-agent: firsthand\nDisallow:", "/x", True),
        ("User-agent: firsthand\nDisallow: /a\n\nUser-agent: firsthand\nDisallow: /b", "/b", False),  # merged
        ("User-agent: firsthand\nDisallow: /a\n\nUser-agent: firsthand\nDisallow: /b", "/a", False),
        ("User-agent: firsthand\nUser-agent: x\nDisallow: /a", "/a", False),  # one group, two names
        ("User-agent: firsthand\nSitemap: http://a.example.com/s\nUser-agent: x\nDisallow: /a", "/a", False),
        ("User-agent: *\nDisallow: /\nUser-agent: firsthand\nAllow: /", "/x", True),  # ours, not everyone's
        ("User-agent: *\nDisallow: /\nUser-agent: first\nAllow: /", "/x", False),
        ("Disallow: /", "/x", True),  # a rule of no group
        ("User-agent: *\nDisallow: /foo/bar?baz=http://foo.bar", "/foo/bar?baz=http://foo.bar", False),
        ("User-agent: *\nDisallow: /%E3%83%84", "/%E3%83%84/x", False),
        ("User-agent: *\nDisallow: /ツ", "/%E3%83%84/x", False),
        ("User-agent: *\nDisallow: /a%3cd.html", "/a%3Cd.html", False),
        ("User-agent: *\nDisallow: /a$", "/ab", True),
        ("User-agent: *\nDisallow: /*/b", "/x/y/b/c", False),
        ("User-agent: *\nDisallow: /A", "/a", True),  # paths keep their case
        ("User-agent: *\nDisallow: /", "/robots.txt", True),  # the file itself may always be read
        ("uSeR-AgEnT : *\ndisALLOW:/x", "/x", False),
        ("User-agent: *\r\nDisallow: /x\r\n", "/x", False),
        ("User-agent: *\rDisallow: /x\r", "/x", False),
        ("<!doctype html><html><body>User-agent: *<br>Disallow: /</body></html>", "/x", True),
    ],
)
def test_rules_of_a_file_are_read_as_the_standard_says(file: str, path: str, is_allowed: bool) -> None:
    assert allows(file, path) is is_allowed


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_mark_at_the_start_of_a_file_hides_no_rule(charset: str) -> None:
    mark = b"\xfe\xff" if charset == "utf-16-be" else b""
    assert not allows(mark + "User-agent: *\nDisallow: /x".encode(charset), "/x")


def test_first_500_kib_count_and_the_line_that_they_cut_does_not() -> None:
    head = b"User-agent: *\nDisallow: /early\n"
    filler = b"#" + b"x" * (ROBOTS_BYTES - len(head) - 14) + b"\n"
    whole = head + filler + b"Disallow: /private/x\nDisallow: /late\n"
    assert ROBOTS_BYTES >= 500 * 1024
    assert whole[:ROBOTS_BYTES].endswith(b"Disallow: /p")  # which would forbid more than the site meant
    assert [allows(whole, path) for path in ("/early", "/pets", "/late")] == [False, True, True]


@pytest.mark.parametrize(
    ("asked", "delay_s"),
    [("7", 7.0), ("0.5", 0.5), ("31536000", 60.0), ("-3", 0.0), ("nan", 0.0), ("inf", 0.0), ("x", 0)],
)
async def test_crawl_delay_counts_up_to_a_minute_and_nonsense_does_not(asked: str, delay_s: float) -> None:
    site = Site({"http://a.example.com/robots.txt": rules(f"User-agent: *\nCrawl-delay: {asked}")})
    assert await Robots(POLICY, AGENT).permit(judge("http://a.example.com/x", POLICY), site.get) == delay_s


@given(st.binary(max_size=300) | st.text(st.sampled_from("user-agent:*dislow/$%#\n "), max_size=300).map(str.encode))
def test_any_bytes_are_a_robots_file(body: bytes) -> None:
    rules = parse(body, "Firsthand")
    assert rules.can_fetch("http://a.example.com/x", "us") in (True, False)
    assert (rules.crawl_delay("us") or 0.0) >= 0.0


@pytest.mark.parametrize("rule", ["*a" * 100_000, "/" + "*aaaaab" * 60_000, "/" + "%61" * 100_000, "/$" * 200])
def test_rule_made_to_stall_a_matcher_is_matched(rule: str) -> None:
    assert allows(f"User-agent: *\nDisallow: {rule}", "/" + "a" * 8_000)


async def test_file_is_brought_anew_where_another_policy_might_follow_another_redirect() -> None:
    site = Site({"http://a.example.com/robots.txt": HttpResponse("", 302, {"location": "http://b.example.com/r"}, b"")})
    robots = Robots(POLICY, AGENT)
    target = judge("http://a.example.com/x", POLICY)
    only = Policy(only=frozenset({("a.example.com", 80)}))
    with pytest.raises(FetchFailed, match=r"\(host-name\)"):
        await robots.permit(target, site.get, only)
    assert await robots.permit(target, site.get) == 0.0


def test_product_token_is_the_first_word_without_its_version() -> None:
    assert [product_token(agent) for agent in ("Firsthand/0.1 (+x)", "Acme", "acme bot/2", "")] == [
        "Firsthand",
        "Acme",
        "acme",
        "*",
    ]
