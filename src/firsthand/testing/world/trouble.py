"""The ways in which a world misbehaves: one table of names, what each does, and what a careful reader makes of it.

A trouble is written as a name with options, like an address with parameters: ``429``, ``429?retry_after_s=3``,
``delay?ms=800``, ``503?times=2``. With ``times`` it ends after so many requests. ``/trouble/NAME`` on any host of the
world behaves so too, with the options in the address.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of the table."""

    does: str
    page: str | None  # the outcome of fetching a page that behaves so (docs/reference/outcomes.md); None: it depends
    options: Mapping[str, str] = field(default_factory=dict)  # with their defaults


TROUBLES: Mapping[str, Kind] = {
    # -- a status
    "202": Kind("202 and a page that promises results later, as DuckDuckGo does when it has enough", "failed"),
    "401": Kind("401", "refused"),
    "402": Kind("402", "paywall"),
    "403": Kind("403 with a page of HTML, also where JSON was asked for", "refused"),
    "404": Kind("404", "not_found"),
    "429": Kind("429 with Retry-After", "rate_limited", {"retry_after_s": "7"}),
    "503": Kind("503", "failed", {"retry_after_s": ""}),
    "status": Kind("any status", None, {"code": "500"}),
    # -- an engine's own ways to give nothing
    "quota": Kind("200, and a message about a quota in place of results", None),
    "empty": Kind("200 and no results, said properly; for a page, no bytes", "empty"),
    "unresponsive": Kind(
        "200 and no results, because the engines behind it gave none (SearXNG; elsewhere a message)", None
    ),
    "challenge": Kind("DuckDuckGo's question whether a person asks; elsewhere a bot wall", "bot_wall"),
    "garbage": Kind("200 and bytes that are not what was asked for", None),
    # -- a page in place of the page
    "bot-wall": Kind("a check of the browser, with a script and few words", "bot_wall"),
    "cookie-wall": Kind("403 and a consent page without the article", "cookie_wall"),
    "paywall": Kind("the first lines of an article, and an offer", "paywall"),
    "login": Kind("a form for name and password", "refused"),
    "script-shell": Kind("90 KB of script and an empty body", "needs_javascript"),
    "soft-404": Kind("200, and words that say the page is not there", "not_found"),
    "captcha-article": Kind("a whole article that loads a captcha for its comment form: it is no wall", "ok"),
    "consent-article": Kind("a whole article under a consent banner, its footer says subscribe: it is no wall", "ok"),
    "wrong-charset": Kind("UTF-8 that its header calls ISO-8859-1", "ok"),
    # -- the wire
    "delay": Kind("waits, then answers well", "ok", {"ms": "1000"}),
    "hold": Kind("waits until World.release(), then answers well", "ok"),
    "hang": Kind("never answers", "timeout"),
    "drip": Kind("a byte at a time, without end", "timeout", {"every_ms": "50"}),
    "endless": Kind("a body without end", "too_large"),
    "bomb": Kind("a small gzip body that grows to gigabytes", "too_large", {"mib": "4096"}),
    "cut": Kind("half of the bytes that its head announces, then the end", "failed"),
    "reset": Kind("half of a body, then a reset of the connection", "failed"),
    "no-http": Kind("bytes that are no HTTP", "failed"),
    "redirect": Kind("302 to an address", None, {"to": "/"}),
    "redirect-loop": Kind("302 to itself, for ever", "blocked_by_policy"),
    "redirect-refused": Kind(
        "302 to an address that nobody may be led to", "blocked_by_policy", {"to": "http://169.254.169.254/latest/"}
    ),
}
ONWARD = frozenset({"delay", "hold"})  # after these comes the right answer


@dataclass(frozen=True, slots=True)
class Trouble:
    """One trouble with its options; ``times`` is None for one that does not end."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    times: int | None = None

    def option(self, name: str) -> str:
        """An option's value, or its default."""
        return self.options.get(name, TROUBLES[self.name].options[name])

    def seconds(self, name: str) -> float:
        """An option in milliseconds, in seconds."""
        return float(self.option(name)) / 1000

    def __str__(self) -> str:
        options = {**self.options, **({} if self.times is None else {"times": str(self.times)})}
        return f"{self.name}?{urlencode(options)}" if options else self.name


def parse(text: str) -> Trouble:
    """The trouble that *text* names. Raises: ValueError for a name or an option that is none."""
    name, _, rest = text.partition("?")
    return trouble(name, dict(parse_qsl(rest, keep_blank_values=True)))


def trouble(name: str, options: Mapping[str, str]) -> Trouble:
    """The trouble *name* with *options*. Raises: ValueError for a name or an option that is none."""
    kind = TROUBLES.get(name)
    if kind is None:
        raise ValueError(f"There is no trouble {name!r}; there are {', '.join(TROUBLES)}.")
    known = {*kind.options, "times"}
    if unknown := sorted(set(options) - known):
        raise ValueError(f"Trouble {name!r} has no option {unknown[0]!r}; it has {', '.join(sorted(known))}.")
    times = int(options["times"]) if "times" in options else None
    return Trouble(name, {key: value for key, value in options.items() if key != "times"}, times)


class Schedule:
    """Who misbehaves next: the troubles of a run, and how often each was had."""

    def __init__(self, troubles: Mapping[str, Iterable[Trouble]]) -> None:
        self._waiting = {where: [[one, one.times] for one in several] for where, several in troubles.items()}

    def next(self, places: Iterable[str]) -> Trouble | None:
        """The trouble of the first of *places* that has one left; one with ``times`` is counted down."""
        for place in places:
            for row in self._waiting.get(place, ()):
                one, left = row
                assert isinstance(one, Trouble)
                if left is None:
                    return one
                assert isinstance(left, int)
                if left > 0:
                    row[1] = left - 1
                    return one
        return None


def table() -> str:
    """The table as the command prints it."""
    width = max(len(name) for name in TROUBLES)
    lines = []
    for name, kind in TROUBLES.items():
        options = "".join(f" {key}={value}" for key, value in kind.options.items())
        lines.append(f"{name:<{width}}  {kind.page or '-':<17}  {kind.does}{';' if options else ''}{options}")
    return "\n".join(lines)
