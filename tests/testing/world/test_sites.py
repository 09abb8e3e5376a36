"""Sites of the world over real HTTP: pages, conditional requests, robots.txt, and every trouble on the wire."""

from __future__ import annotations

import http.client
import socket
import zlib
from urllib.parse import urlsplit

import pytest

from firsthand.testing.world import TROUBLES, Reply, World
from tests.testing.asking import Answer, Wrong, ask

ENDLESS = ("drip", "endless", "bomb")
HANGING = ("hang", "hold")


def test_a_page_comes_with_a_tag_and_is_not_sent_again_to_who_has_it(world: World) -> None:
    url = world.url("tides.html")
    first = ask(url)
    assert (first.status, first.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "GMT" in first.headers["last-modified"] and "turns at noon" in first.text
    again = ask(url, if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    world.put("tides.html", "<p>The tide turns later.")
    assert ask(url, if_none_match=first.headers["etag"]).text == "<p>The tide turns later."


def test_a_page_without_a_tag_is_known_by_its_date_until_it_changes() -> None:
    def reply(words: str) -> Reply:
        return Reply(words.encode(), headers={"ETag": ""})

    with World({"a.html": reply("<p>One.")}, hosts=1) as world:
        url = world.url("a.html")
        first = ask(url)
        assert "etag" not in first.headers
        date = first.headers["last-modified"]
        assert ask(url, if_modified_since=date).status == 304
        assert ask(url, if_modified_since=date, if_none_match='"other"').status == 200
        assert ask(url, if_modified_since="some day").status == 200
        world.put("a.html", reply("<p>Two."))
        again = ask(url, if_modified_since=date)
        assert (again.status, again.text) == (200, "<p>Two.") and again.headers["last-modified"] != date


def test_a_head_brings_the_head_alone(world: World) -> None:
    head, got = ask(world.url("tides.html"), method="HEAD"), ask(world.url("tides.html"))
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(got.body))


def test_a_connection_goes_on_after_a_head_a_304_and_a_404(world: World) -> None:
    tag = ask(world.url("tides.html")).headers["etag"]
    connection = http.client.HTTPConnection(urlsplit(world.url("tides.html")).netloc, timeout=20)
    found = []
    for method, path, headers in [
        ("HEAD", "/site/tides.html", {}),
        ("HEAD", "/robots.txt", {}),
        ("HEAD", "/trouble/403", {}),
        ("GET", "/site/tides.html", {"if-none-match": tag}),
        ("GET", "/site/none.html", {}),
        ("GET", "/site/tides.html", {}),
    ]:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        response.read()
        found.append(response.status)
    connection.close()
    assert found == [200, 200, 403, 304, 404, 200]


def test_a_page_is_on_every_host_and_below_the_root_too(world: World) -> None:
    urls = [world.url("tides.html", host=n) for n in range(2)]
    assert len({urlsplit(url).hostname for url in urls}) == 2
    assert {ask(url).text for url in [*urls, urls[0].replace("/site/", "/")]} == {ask(urls[0]).text}


def test_a_name_that_needs_escapes_is_found_again(world: World) -> None:
    assert "Moor at" in ask(world.url("manual & more/a b.html")).text


def test_what_is_not_there_is_404(world: World) -> None:
    assert [ask(world.url(path)).status for path in ("none.html", "../../etc/passwd", "")] == [404, 404, 404]


def test_a_page_can_be_any_response() -> None:
    moved = Reply(status=301, headers={"Location": "/site/a.html", "X-Note": "moved"})
    with World({"old": moved, "a.html": "<p>Here."}) as world:
        answer = ask(world.url("old"))
    assert (answer.status, answer.headers["location"], answer.headers["x-note"]) == (301, "/site/a.html", "moved")


def test_a_page_can_be_on_one_host_alone_and_is_found_there() -> None:
    pages = {
        "plans": "<p>Everywhere the same harbour.",
        "//127.0.0.3/plans": "<title>Review</title><p>A review of the harbour by others.",
        "//127.0.0.3/robots.txt": "User-agent: *\nDisallow: /",
    }
    with World(pages, hosts=2) as world:
        one, other = (f"http://127.0.0.{n}:{world.port}" for n in (2, 3))
        assert "Everywhere" in ask(f"{one}/plans").text and "by others" in ask(f"{other}/plans").text
        assert ("Allow: /" in ask(f"{one}/robots.txt").text, "Disallow: /" in ask(f"{other}/robots.txt").text) == (
            True,
            True,
        )
        assert ask(f"{other}/robots.txt").headers["content-type"].startswith("text/plain")
        (hit,) = ask(f"{world.search_url}/search?q=review&format=json").json()["results"]
        assert hit["url"] == world.url("//127.0.0.3/plans") == f"{other}/plans"


def test_robots_txt_is_what_was_set_and_can_misbehave_on_one_host(world: World) -> None:
    one, other = (f"{world.url('', host=n).removesuffix('/site/')}/robots.txt" for n in range(2))
    assert ask(one).text == "User-agent: *\nAllow: /\n"
    host = urlsplit(other).hostname
    world.set(robots="User-agent: *\nDisallow: /private\n", trouble={f"{host}/robots.txt": "503"})
    assert ("Disallow: /private" in ask(one).text, ask(other).status) == (True, 503)
    world.set(robots="")
    assert ask(one).status == 404
    assert [seen.kind for seen in world.requests()] == ["robots"] * 4


def test_a_page_comes_at_the_pace_that_was_set_and_the_trace_counts_it() -> None:
    with World({"a.html": "x" * 20_000}, page_ms=30, page_kbps=8_000) as world:
        ask(world.url("a.html"))
        stats = world.stats()
    assert stats["page"]["wait_s"] == pytest.approx(0.03 + 20_000 * 8 / 8e6)
    assert stats["in_flight_s"] >= 0.049


# -- Troubles


def head_of(url: str) -> bytes:
    """The first bytes of an answer that may never end."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.sendall(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        found = b""
        while len(found) < 400 and (piece := connection.recv(400)):
            found += piece
        return found


@pytest.mark.parametrize("name", [name for name in TROUBLES if name not in (*ENDLESS, *HANGING)])
def test_a_trouble_by_its_address_and_one_by_setting_behave_alike(world: World, name: str) -> None:
    def outcome(url: str) -> tuple[int, str, int] | str:
        try:
            answer = ask(url)
        except Wrong as error:
            return type(error).__name__
        return answer.status, answer.headers.get("location", "").split("?")[-1], len(answer.body)

    options = "?ms=1" if name == "delay" else ""
    world.misbehave("/site/tides.html", name + options)
    by_setting, by_address = outcome(world.url("tides.html")), outcome(world.trouble_url(name) + options)
    if name == "delay":
        assert "turns at noon" in ask(world.url("tides.html")).text
    else:
        assert by_setting == by_address
    assert world.requests()[0].trouble.startswith(name)
    assert ask(world.url("dunes.html")).status == 200


@pytest.mark.parametrize(
    ("name", "error"),
    [("cut", http.client.IncompleteRead), ("reset", ConnectionResetError), ("no-http", http.client.BadStatusLine)],
)
def test_a_conversation_breaks_in_its_own_way(world: World, name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        ask(world.trouble_url(name))


@pytest.mark.parametrize("name", ENDLESS)
def test_a_body_without_end_begins_and_ends_when_its_reader_leaves(world: World, name: str) -> None:
    found = head_of(f"{world.trouble_url(name)}?{'every_ms=1' if name == 'drip' else ''}")
    assert found.startswith(b"HTTP/1.1 200 OK\r\n") and len(found) >= 400
    assert ask(world.url("dunes.html")).status == 200


def test_a_bomb_is_small_on_the_wire_and_what_it_says_it_is(world: World) -> None:
    answer = ask(world.trouble_url("bomb", mib=3))
    assert answer.headers["content-encoding"] == "gzip" and len(answer.body) < 10_000
    assert zlib.decompress(answer.body, 31) == bytes(3 << 20)


def test_what_hangs_answers_nobody_and_what_is_held_answers_on_release(world: World) -> None:
    world.misbehave("/site/tides.html", "hold")
    connection = http.client.HTTPConnection(urlsplit(world.url("tides.html")).netloc, timeout=20)
    connection.request("GET", "/site/tides.html")
    assert world.wait_for("/site/tides.html").status == 0
    world.release()
    assert b"turns at noon" in connection.getresponse().read()
    connection.close()
    with socket.create_connection((urlsplit(world.origin).hostname, world.port), timeout=20) as hanging:
        hanging.sendall(b"GET /trouble/hang HTTP/1.1\r\nHost: a\r\n\r\n")
        world.wait_for("/trouble/hang")
        hanging.settimeout(0.05)
        with pytest.raises(TimeoutError):
            hanging.recv(1)


def test_a_redirect_loop_never_shows_the_same_address_twice(world: World) -> None:
    seen: list[str] = []
    url = world.trouble_url("redirect-loop")
    for _ in range(5):
        answer: Answer = ask(url)
        seen.append(answer.headers["location"])
        url = world.trouble_url("redirect-loop").split("/trouble")[0] + answer.headers["location"]
    assert len(set(seen)) == 5


def test_a_trouble_with_times_ends(world: World) -> None:
    world.misbehave("page", "503?times=2", "429?times=1")
    assert [ask(world.url("tides.html")).status for _ in range(4)] == [503, 503, 429, 200]


def test_an_address_that_names_no_trouble_says_which_there_are(world: World) -> None:
    answer = ask(world.trouble_url("429").replace("429", "tea"))
    assert answer.status == 400 and "bot-wall" in answer.json()["error"]["message"]
