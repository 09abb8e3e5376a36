"""What every search provider is: a codec from a query to a request, and from a response to hits.

A codec decides and never acts: no socket, no clock of its own. A key is handed to it and goes into one header, nowhere
else. Text that came from a provider goes into hits and nowhere else; what a failure says is always our own sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import ada_url

from firsthand.errors import InvalidInput, ProviderFailed
from firsthand.values import Hit, HttpRequest, HttpResponse, JsonValue, Outcome, Query
from firsthand.web.search.facts import FACTS, EngineFacts
from firsthand.web.search.reading import clean as clean
from firsthand.web.search.reading import hit_url, instant, text_of

MAX_TITLE_CHARS = 256
MAX_SNIPPET_CHARS = 2048
MAX_ROWS = 1_000  # of one response, looked at; no provider gives a tenth of it
MAX_BODY_BYTES = 4 << 20  # answer-engine specification, search: response cap; twenty full hits are 50 KiB

# The one table of codes that a search can end with, and the outcome each means.
OUTCOMES: dict[str, Outcome] = {
    "provider_rate_limited": "rate_limited",
    "provider_quota": "rate_limited",
    "provider_resting": "rate_limited",
    "provider_broken": "failed",
    "provider_refused": "refused",
    "provider_key_refused": "refused",
    "provider_no_credit": "refused",
    "provider_json_off": "refused",
    "provider_message": "refused",
    "provider_no_results_container": "refused",
    "provider_challenge": "bot_wall",
    "provider_timeout": "timeout",
    "provider_too_large": "too_large",
    "provider_unreachable": "failed",
    "provider_status": "failed",
    "provider_bad_request": "failed",
    "provider_redirected": "failed",
    "provider_garbage": "failed",
    "provider_bad_response": "failed",
    "provider_all_engines_failed": "failed",
    "provider_missing": "failed",
    "provider_not_configured": "failed",
}
_RETRYABLE: frozenset[Outcome] = frozenset({"rate_limited", "timeout"})


class Hits(list[Hit]):
    """Hits, best first, and how many rows of the response had no usable address and were left out.

    ``cost_microusd`` is what the provider itself says the call cost; None if it does not say.
    """

    def __init__(self, hits: Iterable[Hit] = (), *, n_dropped: int = 0, cost_microusd: int | None = None) -> None:
        super().__init__(hits)
        self.n_dropped = n_dropped
        self.cost_microusd = cost_microusd


class Codec(Protocol):
    """One provider that is asked over HTTP."""

    @property
    def name(self) -> str: ...

    @property
    def max_hits(self) -> int: ...

    @property
    def facts(self) -> EngineFacts: ...

    def request(self, query: Query) -> HttpRequest:
        """The request that asks for *query*, shortened to what the provider takes."""
        ...

    def hits(self, query: Query, response: HttpResponse) -> Hits:
        """The hits in *response*, best first; empty if the provider says that it found nothing.

        Raises: ProviderFailed if it refused, or if the body is not what it promises.
        """
        ...

    def time_filter(self, query: Query) -> str | None:
        """The filter that the provider really applies; weaker than asked where it has no such filter."""
        ...


class Secret(str):
    """A header value that no ``repr`` shows, so that neither a log line nor a traceback can. It is sent as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


def api_key(provider: str, key: str, prefix: str = "") -> Secret:
    """*key*, behind *prefix*, as a header value.

    Raises: InvalidInput for a key that is empty or that no header can carry; the message does not repeat it.
    """
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        message = f"{_key_variable(provider)} must be one word of plain letters, digits and signs."
        raise InvalidInput("invalid_api_key", message)
    return Secret(prefix + key)


def _key_variable(provider: str) -> str:
    return f"FIRSTHAND_{FACTS[provider].key_setting.upper()}"


def base_address(raw: str, what: str, example: str) -> str:
    """*raw* as a base address without a slash at its end.

    Raises: InvalidInput for an address that is not plain http(s) without credentials, query and fragment.
    """
    try:
        url = ada_url.URL(raw.strip())
    except ValueError:
        url = None
    if url is None or url.protocol not in ("http:", "https:") or url.username or url.password or url.search or url.hash:
        raise InvalidInput(
            f"invalid_{what.lower()}_url",
            f"The {what} address must look like {example}, without a password, query or fragment.",
        )
    href: str = url.href
    return href.rstrip("/")


def json_request(url: str, headers: Mapping[str, str], payload: Mapping[str, JsonValue]) -> HttpRequest:
    """A POST of *payload* as JSON; entries that are None are left out."""
    given = {name: value for name, value in payload.items() if value is not None}
    body = json.dumps(given, ensure_ascii=False).encode()
    return HttpRequest("POST", url, {"content-type": "application/json", "accept": "application/json", **headers}, body)


# -- What a response means


def failure(
    provider: str, code: str, sentence: str, *, status: int | None = None, retry_after_s: float | None = None
) -> ProviderFailed:
    """The failure with *code*; *sentence* is ours and holds nothing that the provider sent."""
    outcome = OUTCOMES[code]
    return ProviderFailed(
        outcome,
        code,
        f"{provider}: {sentence}",
        retryable=outcome in _RETRYABLE,
        retry_after_s=retry_after_s,
        status=status,
        provider=provider,
    )


def check_status(provider: str, request_url: str, response: HttpResponse) -> None:
    """Return if *response* is a 200 from the address that was asked.

    A redirect is an error wherever it points: a search service that sends us elsewhere does not answer.
    Raises: ProviderFailed.
    """
    status, wait_s = response.status, retry_after_s(response)
    if status in (202, 429):  # 202: DuckDuckGo's way to say "too many"
        raise failure(
            provider,
            "provider_rate_limited",
            f"asks us to slow down (HTTP {status}); wait some minutes or name another provider with --search.",
            status=status,
            retry_after_s=wait_s,
        )
    if status in _WALLED:
        check_wall(provider, response)
    if status in (401, 403):
        if provider in FACTS and FACTS[provider].needs_key:
            raise key_refused(provider, status)
        raise failure(provider, "provider_refused", f"refuses this client (HTTP {status}).", status=status)
    if status == 402:
        raise no_credit(provider, status)
    if 300 <= status < 400 or not _same_origin(request_url, response.url):
        raise failure(
            provider, "provider_redirected", "sends us to another address; redirects are not followed.", status=status
        )
    if status in (400, 422):
        sentence = f"does not take our request (HTTP {status}); try a shorter question or another provider."
        raise failure(provider, "provider_bad_request", sentence, status=status)
    if status != 200:
        sentence = f"answers with HTTP {status}."
        raise failure(provider, "provider_status", sentence, status=status, retry_after_s=wait_s)
    if len(response.body) > MAX_BODY_BYTES:
        raise failure(provider, "provider_too_large", f"answers with more than {MAX_BODY_BYTES >> 20} MiB.")


def no_credit(provider: str, status: int) -> ProviderFailed:
    """The failure for an account that has nothing left to spend: waiting does not help."""
    sentence = (
        f"says that the account of this key has no credit left (HTTP {status}); top it up or name another provider."
    )
    return failure(provider, "provider_no_credit", sentence, status=status)


def key_refused(provider: str, status: int) -> ProviderFailed:
    """The failure for a key that the provider does not know."""
    sentence = f"does not accept the key in {_key_variable(provider)} (HTTP {status}); check it."
    return failure(provider, "provider_key_refused", sentence, status=status)


def stated_code(response: HttpResponse, *path: str) -> str:
    """The code that the body of a refusal names under *path*, for comparing with known ones; empty if there is none."""
    if response.status < 400 or len(response.body) > MAX_BODY_BYTES:
        return ""
    try:
        at: JsonValue = json.loads(response.body)
    except (ValueError, RecursionError):
        return ""
    for key in path:
        at = at.get(key) if isinstance(at, dict) else None
    return at if isinstance(at, str) else ""


def retry_after_s(response: HttpResponse) -> float | None:
    """The seconds that a Retry-After header asks for; its date form counts from the response's own Date.

    Source: RFC 9110, 10.2.3. A codec has no clock, so a date without a Date header is ignored.
    """
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value) if len(value) <= 6 else None
    then, now = instant(value), instant(response.headers.get("date", ""))
    return max(0.0, (then - now).total_seconds()) if then and now else None


_WALLED = (401, 403, 405, 406, 503)  # the statuses that checks for robots come with, beside a good one


def check_wall(provider: str, response: HttpResponse) -> None:
    """Return if *response* is not a check for robots, which stands in front of the service and knows no keys.

    Raises: ProviderFailed.
    """
    from firsthand.web.recognise import recognise  # patterns and phrases: 4 ms that only a search pays

    wall = recognise(response)
    if wall is not None and wall.code == "bot_wall":
        sentence = "asks whether we are human; wait an hour or name another provider with --search."
        raise failure(provider, "provider_challenge", sentence, status=response.status)


def parse_json(provider: str, response: HttpResponse) -> JsonValue:
    """The JSON value in the body of *response*.

    Raises: ProviderFailed, also for nesting that is too deep to parse.
    """
    try:
        value: JsonValue = json.loads(response.body)
    except (ValueError, RecursionError):
        check_wall(provider, response)
        raise failure(provider, "provider_garbage", "answers with something that is not JSON.") from None
    return value


_QUOTA_WORDS = re.compile(r"quota|rate.?limit|too many|limit exceeded|throttl|exceed|credit", re.IGNORECASE)
_MESSAGE_KEYS = ("message", "error", "detail", "errors")


def result_list(provider: str, value: JsonValue, *path: str) -> list[JsonValue]:
    """The list that stands under *path* in *value*.

    Raises: ProviderFailed if there is none: what a service says instead is a refusal, not "nothing found".
    """
    at: JsonValue = value
    for key in path:
        at = at.get(key) if isinstance(at, dict) else None
    if isinstance(at, list):
        return at
    said = [str(value[key]) for key in _MESSAGE_KEYS if value.get(key)] if isinstance(value, dict) else []
    if any(_QUOTA_WORDS.search(words[:1000]) for words in said):
        raise failure(provider, "provider_quota", "says that its quota or rate limit is used up.")
    if said:
        raise failure(provider, "provider_message", "answers with a message instead of results.")
    raise failure(provider, "provider_garbage", "answers with JSON that has no result list.")


# -- Rows


@dataclass(frozen=True, slots=True)
class Row:
    """One row as a provider gave it, unchecked."""

    url: str
    title: str
    snippet: str
    published: str = ""  # a date in any of the forms that ``instant`` reads


def row_of(result: JsonValue, *, url: str, title: str, snippet: str, published: str = "") -> Row:
    """The row in *result*, by the names of its fields; a field that is absent or no text is empty."""
    if not isinstance(result, dict):
        return Row("", "", "")
    return Row(*(text_of(result.get(name)) for name in (url, title, snippet, published)))


def hits_of(provider: str, rows: Iterable[Row], limit: int) -> Hits:
    """Hits from *rows*, at most *limit*; a row without a usable address is dropped and counted, and keeps its rank.

    Raises: ProviderFailed if there were rows and none was usable: that is a changed layout, not "nothing found".
    """
    found = Hits()
    for rank, row in enumerate(islice(rows, MAX_ROWS), start=1):
        url = hit_url(row.url)
        if url is None:
            found.n_dropped += 1
        elif len(found) < limit:
            title, snippet = clean(row.title, MAX_TITLE_CHARS), clean(row.snippet, MAX_SNIPPET_CHARS)
            found.append(Hit(url, title, snippet, rank, provider, instant(row.published)))
    if found.n_dropped and not found:
        raise failure(provider, "provider_garbage", "answers with rows that hold no usable address.")
    return found


def _same_origin(asked: str, answered: str) -> bool:
    try:
        return bool(ada_url.URL(asked).origin == ada_url.URL(answered).origin)
    except ValueError:
        return False
