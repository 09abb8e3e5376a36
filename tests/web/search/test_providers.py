"""Names, and one call that never raises what the world does."""

from __future__ import annotations

import pytest

from firsthand.errors import BrokenPromise, FetchFailed, InvalidInput, LimitReached
from firsthand.values import HttpRequest, HttpResponse, Query
from firsthand.web.search import Ddgs, Providers, codecs

WITH_SEARXNG = Providers(codecs(searxng_url="http://127.0.0.1:8888"), Ddgs({}))
WITHOUT = Providers(codecs(), Ddgs({}))


def test_duckduckgo_means_the_keyless_chain_with_searxng_last_if_there_is_one() -> None:
    assert WITHOUT.expand(["duckduckgo"]) == ("ddgs", "duckduckgo-html")
    assert WITH_SEARXNG.expand(["duckduckgo"]) == ("ddgs", "duckduckgo-html", "searxng")
    assert WITH_SEARXNG.expand(["searxng", "duckduckgo"]) == ("searxng", "ddgs", "duckduckgo-html")


def test_a_name_that_does_not_exist_is_the_callers_mistake_and_lists_the_names() -> None:
    with pytest.raises(InvalidInput, match=r"no search provider 'gogle'; there are duckduckgo, ddgs"):
        WITHOUT.expand(["gogle"])


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
    assert (searched.code, searched.detail) == ("provider_unreachable", "duckduckgo-html: could not be reached.")


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
