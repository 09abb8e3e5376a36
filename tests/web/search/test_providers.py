"""Names, and one call that never raises what the world does."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from firsthand.errors import AddressRefused, BrokenPromise, FetchFailed, InvalidInput, LimitReached
from firsthand.values import Category, HttpRequest, HttpResponse, Query, TimeFilter
from firsthand.web.search import FACTS, Ddgs, Providers, codecs
from firsthand.web.search.brave import Brave
from firsthand.web.search.codec import Hits
from firsthand.web.search.providers import fitted

WITH_SEARXNG = Providers(codecs(searxng_url="http://127.0.0.1:8888"), Ddgs({}))
WITHOUT = Providers(codecs(), Ddgs({}))


def test_duckduckgo_means_the_keyless_chain_with_searxng_last_if_there_is_one() -> None:
    assert WITHOUT.orders(["duckduckgo"]) == (("ddgs", "duckduckgo-html"),)
    assert WITH_SEARXNG.orders(["duckduckgo"]) == (("ddgs", "duckduckgo-html", "searxng"),)


@pytest.mark.parametrize(
    ("names", "orders"),
    [
        (["searxng", "mediawiki"], (("searxng",), ("mediawiki",))),
        (["searxng/mediawiki"], (("searxng", "mediawiki"),)),
        (["searxng/duckduckgo", "mediawiki"], (("searxng", "ddgs", "duckduckgo-html"), ("mediawiki",))),
        (["duckduckgo", "searxng"], (("ddgs", "duckduckgo-html"), ("searxng",))),
        (["searxng", "searxng/mediawiki", "searxng"], (("searxng",), ("mediawiki",))),
        ([" searxng / mediawiki "], (("searxng", "mediawiki"),)),
        ([], ()),
    ],
)
def test_several_names_are_several_chains_and_no_provider_is_in_two(
    names: list[str], orders: tuple[tuple[str, ...], ...]
) -> None:
    assert WITH_SEARXNG.orders(names) == orders


def test_a_name_that_does_not_exist_is_the_callers_mistake_and_lists_the_names() -> None:
    with pytest.raises(InvalidInput, match=r"no search provider 'gogle'; there are duckduckgo, ddgs"):
        WITHOUT.orders(["searxng/gogle"])


@pytest.mark.parametrize("name", ["brave", "exa", "tavily", "linkup", "parallel"])
def test_a_provider_without_its_key_names_the_variable(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"FIRSTHAND_{name.upper()}_API_KEY"):
        WITHOUT.orders([name])
    assert Providers(codecs(keys={name: "k"}), Ddgs({})).orders([name]) == ((name,),)


async def test_searxng_without_an_address_says_which_setting_is_missing() -> None:
    async def send(request: HttpRequest) -> HttpResponse:
        raise AssertionError("nothing is sent")

    searched = await WITHOUT.search_one("searxng", Query("q"), send)
    assert (searched.outcome, searched.code) == ("failed", "provider_not_configured")
    assert "FIRSTHAND_SEARXNG_URL" in searched.detail


async def test_what_the_sender_met_is_the_outcome() -> None:
    async def send(request: HttpRequest) -> HttpResponse:
        raise FetchFailed("too_large", "body_too_large", "The body is longer than 2 MiB.", retry_after_s=7)

    searched = await WITHOUT.search_one("duckduckgo-html", Query("q"), send)
    assert (searched.outcome, searched.code, searched.detail, searched.retry_after_s) == (
        "too_large",
        "body_too_large",
        "The body is longer than 2 MiB.",
        7,
    )


async def test_a_connection_error_of_the_transport_is_a_failure() -> None:
    async def send(request: HttpRequest) -> HttpResponse:
        raise ConnectionResetError("to 10.0.0.1")

    searched = await WITHOUT.search_one("duckduckgo-html", Query("q"), send)
    assert (searched.code, searched.detail) == ("provider_unreachable", "could not be reached.")


@pytest.mark.parametrize(
    "error", [LimitReached("searches", 9, 8, "No more searches."), BrokenPromise("x", "Stop.")], ids=["limit", "broken"]
)
async def test_our_own_limits_and_broken_promises_pass(error: Exception) -> None:
    async def send(request: HttpRequest) -> HttpResponse:
        raise error

    with pytest.raises(type(error)):
        await WITHOUT.search_one("duckduckgo-html", Query("q"), send)


def test_a_time_limit_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput):
        Providers({}, Ddgs({}), timeout_s=0)


# -- What a call took


def paid(**settings: object) -> Providers:
    return Providers(codecs(keys=dict.fromkeys(["brave", "exa", "tavily"], "canary")), Ddgs({}), **settings)  # type: ignore[arg-type]


class Sender:
    """Answers with what it was given, in turn, and remembers what was sent."""

    def __init__(self, *answers: HttpResponse | Exception) -> None:
        self.answers = list(answers)
        self.sent: list[HttpRequest] = []

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        self.sent.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return replace(answer, url=request.url)


def response(status: int, body: bytes = b"{}", **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse("", status, {"content-type": "application/json", **named}, body)


ROW = {"url": "https://example.org/", "title": "T", "description": "D"}
BRAVE_ROWS = json.dumps({"type": "search", "query": {}, "web": {"results": [ROW]}}).encode()


async def test_what_a_paid_call_cost_is_its_price_or_what_the_provider_says() -> None:
    called = await paid().call("brave", Query("q"), Sender(response(200, BRAVE_ROWS)))
    assert (called.searched.outcome, called.cost_microusd, called.n_bytes) == ("ok", 5_000, len(BRAVE_ROWS))
    said = json.dumps({"results": [{"url": "https://example.org/"}], "costDollars": {"total": 0.0123}}).encode()
    assert (await paid().call("exa", Query("q"), Sender(response(200, said)))).cost_microusd == 12_300
    free = await WITHOUT.call("mediawiki", Query("q"), Sender(response(200, b'{"query": {"search": []}}')))
    assert (free.searched.outcome, free.cost_microusd) == ("empty", 0)


@pytest.mark.parametrize(
    ("met", "outcome"),
    [
        (response(429), "rate_limited"),
        (response(429, retry_after="0"), "rate_limited"),
        (response(403), "refused"),
        (response(402), "refused"),
        (response(400), "failed"),
        (response(404), "failed"),
        (response(200, b'{"message": "quota"}'), "rate_limited"),
        (FetchFailed("failed", "connect_failed", "No."), "failed"),
        (FetchFailed("failed", "dns", "No."), "failed"),
        (AddressRefused("address", "No."), "blocked_by_policy"),
    ],
)
async def test_a_paid_call_that_was_refused_or_never_left_is_known_to_cost_nothing_and_is_not_sent_again(
    met: HttpResponse | Exception, outcome: str
) -> None:
    sender = Sender(met, response(200, BRAVE_ROWS))
    called = await paid().call("brave", Query("q"), sender)
    assert (called.searched.outcome, called.is_known, called.cost_microusd) == (outcome, True, 0)
    assert len(sender.sent) == 1 and "charged" not in called.searched.detail


@pytest.mark.parametrize(
    "met",
    [
        response(500),
        response(503, retry_after="0"),
        response(408),
        response(302),
        response(200, b"<html>"),
        response(200, b'{"web": 1}'),
        FetchFailed("timeout", "timeout", "Late."),
        FetchFailed("failed", "connection_lost", "Lost."),
        FetchFailed("too_large", "too_large", "Large."),
        ConnectionResetError(),
    ],
)
async def test_a_paid_call_whose_end_nobody_knows_says_that_it_may_have_been_charged(
    met: HttpResponse | Exception,
) -> None:
    sender = Sender(met, response(200, BRAVE_ROWS))
    called = await paid().call("brave", Query("q"), sender)
    assert not called.is_known and len(sender.sent) == 1
    assert called.searched.detail.endswith("It may have been charged.")


class Broken(Brave):
    """A codec with a fault."""

    def __init__(self, error: Exception, at: str) -> None:
        super().__init__("canary")
        self.error, self.at = error, at

    def request(self, query: Query) -> HttpRequest:
        if self.at == "request":
            raise self.error
        return super().request(query)

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [KeyError("words of the page"), ModuleNotFoundError("words"), RecursionError(), OSError("words"), TimeoutError()],
    ids=lambda error: type(error).__name__,
)
async def test_a_codec_that_breaks_on_an_answer_is_a_failure_of_its_provider_that_is_settled_and_paid(
    error: Exception,
) -> None:
    broken = Providers({"brave": Broken(error, "hits")}, Ddgs({}))
    called = await broken.call("brave", Query("q"), Sender(response(200, BRAVE_ROWS)))
    assert (called.searched.outcome, called.searched.code) == ("failed", "provider_bad_response")
    assert (called.is_known, called.cost_microusd, called.n_bytes) == (True, 5_000, len(BRAVE_ROWS))
    assert f"({type(error).__name__} in firsthand.web.search.providers:" in called.searched.detail
    assert "words" not in called.searched.detail and "charged" not in called.searched.detail


@pytest.mark.parametrize(("status", "is_known"), [(403, True), (500, False)])
async def test_a_codec_that_breaks_on_a_refusal_says_of_the_money_what_the_status_says(
    status: int, is_known: bool
) -> None:
    broken = Providers({"brave": Broken(KeyError(), "hits")}, Ddgs({}))
    called = await broken.call("brave", Query("q"), Sender(response(status)))
    assert (called.searched.code, called.is_known, called.cost_microusd) == ("provider_bad_response", is_known, 0)


async def test_a_codec_that_breaks_before_anything_is_sent_costs_nothing() -> None:
    broken = Providers({"brave": Broken(KeyError("words"), "request")}, Ddgs({}))
    sender = Sender()
    called = await broken.call("brave", Query("q"), sender)
    assert (called.searched.outcome, called.is_known, called.cost_microusd, sender.sent) == ("failed", True, 0, [])
    assert "KeyError" in called.searched.detail and "words" not in called.searched.detail


async def test_a_sender_that_breaks_leaves_a_paid_call_in_doubt() -> None:
    called = await paid().call("brave", Query("q"), Sender(ZeroDivisionError("words")))
    assert (called.searched.outcome, called.is_known) == ("failed", False)
    assert "ZeroDivisionError" in called.searched.detail and "words" not in called.searched.detail


async def test_what_went_wrong_names_its_provider_beside_it_and_not_in_it() -> None:
    called = await WITHOUT.call("mediawiki", Query("q"), Sender(response(500)))
    assert (called.searched.provider, called.searched.detail) == ("mediawiki", "answers with HTTP 500.")


async def test_a_paid_call_that_is_late_may_have_been_charged() -> None:
    async def never(request: HttpRequest) -> HttpResponse:
        await asyncio.Event().wait()
        raise AssertionError

    called = await paid(timeout_s=0.01).call("brave", Query("q"), never)
    assert (called.searched.outcome, called.is_known) == ("timeout", False)


@pytest.mark.parametrize(("retry_after", "n_sent"), [("0", 2), ("3", 2), ("4", 1), ("later", 1)])
async def test_a_free_provider_that_says_come_back_at_once_is_asked_once_more(retry_after: str, n_sent: int) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    providers = Providers(codecs(), Ddgs({}), sleep=sleep)
    refused = response(429, retry_after=retry_after)
    sender = Sender(refused, refused, refused)
    called = await providers.call("mediawiki", Query("q"), sender)
    assert (called.searched.outcome, called.n_calls, len(sender.sent)) == ("rate_limited", n_sent, n_sent)
    assert [f"{seconds:g}" for seconds in slept] == [retry_after] * (n_sent - 1)


async def test_no_failure_of_a_provider_repeats_its_key(capsys: pytest.CaptureFixture[str]) -> None:
    for status in (200, 302, 400, 401, 403, 422, 429, 500):
        sender = Sender(response(status, b'{"error": {"detail": "bad key canary", "code": "canary"}}'))
        for name in ("brave", "exa", "tavily"):
            sender.answers = [response(status, b'{"error": {"detail": "bad key canary", "code": "canary"}}')]
            called = await paid().call(name, Query("q"), sender)
            assert "canary" not in repr(called) + repr(sender.sent)
            assert "canary" in "".join(sender.sent[-1].headers.values())  # it did go along


async def test_one_idempotency_key_goes_along_where_the_provider_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sender = Sender(response(200, BRAVE_ROWS), response(200, BRAVE_ROWS))
    await paid().call("brave", Query("q"), sender, "turn-1-search")
    keyed = {**FACTS, "brave": replace(FACTS["brave"], has_idempotency_key=True)}
    monkeypatch.setattr("firsthand.web.search.providers.FACTS", keyed)
    assert paid().takes_key("brave")
    await paid().call("brave", Query("q"), sender, "turn-1-search")
    assert [request.headers.get("idempotency-key") for request in sender.sent] == [None, "turn-1-search"]


# -- How a query is fitted to a provider


@pytest.mark.parametrize(
    ("name", "query", "text", "time_filter", "category"),
    [
        ("searxng", Query("q", category="news"), "q", None, "news"),
        ("brave", Query("q", category="news"), "q", "month", None),
        ("brave", Query("q", category="news", time_filter="day"), "q", "day", None),
        ("mediawiki", Query("q", category="news"), "q news", None, None),
        ("mediawiki", Query("q", category="academic"), "q academic", None, None),
        ("mediawiki", Query("q site:github.com"), "q github", None, None),
        ("mediawiki", Query("q site:www.x.com and insite:x"), "q x and insite:x", None, None),
        ("brave", Query("q site:github.com"), "q site:github.com", None, None),
    ],
)
def test_what_a_provider_cannot_say_becomes_a_filter_or_a_plain_word(
    name: str, query: Query, text: str, time_filter: TimeFilter | None, category: Category | None
) -> None:
    assert fitted(query, FACTS[name]) == replace(query, text=text, time_filter=time_filter, category=category)


def test_scholars_are_looked_for_at_their_sites_where_there_is_no_such_category() -> None:
    by_operator = fitted(Query("q", category="academic"), FACTS["brave"]).text
    assert by_operator.startswith("q (site:arxiv.org OR site:") and by_operator.endswith(")")
    assert fitted(Query("q", category="academic"), FACTS["linkup"]).text.startswith("q site:arxiv.org site:")
