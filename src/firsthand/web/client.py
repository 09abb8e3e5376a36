"""The one way out for pages and search providers.

It is given addresses, never names: ``connection`` dials literals only, and compares the peer of each connection with the
address that was asked for before a byte is sent. Nothing of ours goes along: no cookies, no proxy
or netrc from the environment, no referrer. Connections are not reused, so nothing a server sent too much of can be
read for the next request. Bodies arrive raw and are decoded in bounded steps.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from firsthand import __version__
from firsthand.errors import FetchFailed, InvalidInput
from firsthand.values import HttpRequest, HttpResponse
from firsthand.web.address import Policy, Target, judge
from firsthand.web.connection import Deadline, Incoming, Silence, Wire, dial, parser_error
from firsthand.web.decode import Decoder, accepted_codings
from firsthand.web.gate import Admitted, Gate
from firsthand.web.limits import LIMITS, Limits
from firsthand.web.reply import failed

USER_AGENT = f"Firsthand/{__version__} (+https://github.com/firsthand-research/firsthand)"
ADDRESSES_TRIED_MAX = 4  # of one host: each may cost a connect time-out
_DROPPED = frozenset(
    {
        "set-cookie",
        "set-cookie2",
        "authorization",
        "proxy-authorization",
        "www-authenticate",
        "proxy-authenticate",
        "firsthand-rendered",  # our own note on a page; no server writes it
    }
)
_SINGLE = frozenset({"location", "content-type", "content-length"})  # two different ones mean two different readings
_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # would end a line, or be read differently by two programs


@dataclass(frozen=True, slots=True)
class Reading:
    """How one response is read, decided when its head is there.

    ``check_head`` may raise to refuse the response before its body is read. ``cut_at_bytes`` says where a body of this
    status is cut; None reads it whole, and then one that is too long is refused.
    """

    check_head: Callable[[int, Mapping[str, str]], None]
    cut_at_bytes: Callable[[int], int | None]


WHOLE_BODY = Reading(lambda status, head: None, lambda status: None)


class Client:
    """One HTTP client for the process. What is under way is dropped by ``aclose``."""

    def __init__(
        self,
        *,
        gate: Gate | None = None,
        limits: Limits = LIMITS,
        user_agent: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Raises: InvalidInput if *user_agent* cannot be sent as one line."""
        self.gate = Gate(limits=limits) if gate is None else gate
        self.limits = limits
        self.user_agent = user_agent or USER_AGENT
        if _UNSENDABLE.search(self.user_agent):
            message = "The user agent holds a line break or another control character."
            raise InvalidInput("invalid_setting", message, setting="user_agent")
        self._tls = tls
        self._wires: set[Wire] = set()
        self._fields = {
            "host": ("Host", ""),  # first, as RFC 9112 section 3.2 asks; its value is the target's
            "user-agent": ("User-Agent", self.user_agent),
            "accept": ("Accept", "text/html, application/xhtml+xml, application/pdf;q=0.9, text/*;q=0.8, */*;q=0.5"),
            "accept-encoding": ("Accept-Encoding", accepted_codings()),
            "connection": ("Connection", "close"),
        }
        self._common = "".join(f"{name}: {value}\r\n" for name, value in self._fields.values() if value) + "\r\n"

    async def send(self, request: HttpRequest, policy: Policy) -> HttpResponse:
        """The response to *request*, whatever its status; redirects are not followed. For configured services.

        Raises: AddressRefused; FetchFailed if there is no whole response.
        """
        admitted = await self.gate.admit(judge(request.url, policy), policy)
        return await self._bounded(admitted, request, None, WHOLE_BODY, n_tries=1)

    async def exchange(
        self, admitted: Admitted, request: HttpRequest, *, total_s: float | None = None, reading: Reading = WHOLE_BODY
    ) -> HttpResponse:
        """Send *request* to an address of *admitted* and read the whole response.

        A GET that the server hangs up on without a word is sent once more; nothing else is but connecting.
        Raises: FetchFailed (``timeout``, ``connect_failed``, ``tls_error``, ``connection_lost``, ``bad_response``,
        ``too_large``, ``decode_error``); AddressRefused if the peer is another than the one asked for.
        """
        n_tries = 2 if request.method == "GET" else 1  # a page costs nothing; source: web-qa 3.7
        return await self._bounded(admitted, request, total_s, reading, n_tries)

    async def aclose(self) -> None:
        """Drop every connection. A second call does nothing."""
        for wire in list(self._wires):
            wire.hang_up()
        await asyncio.sleep(0)  # what was hung up is taken down in the loop's next round

    async def _bounded(
        self, admitted: Admitted, request: HttpRequest, total_s: float | None, reading: Reading, n_tries: int
    ) -> HttpResponse:
        """One exchange within its time, whatever goes wrong as one of our errors."""
        try:
            with Deadline(self.limits.total_s if total_s is None else total_s) as deadline:
                for _ in range(n_tries - 1):
                    with contextlib.suppress(Silence):
                        return await self._exchange(admitted, request, reading, deadline)
                return await self._exchange(admitted, request, reading, deadline)
        except TimeoutError as error:
            raise failed("timeout", "The server took too long.") from error
        except ssl.SSLError as error:
            raise failed("tls_error", "The secure connection to the server broke.") from error
        except parser_error() as error:
            raise _broken_rule(error) from error
        except (Silence, OSError) as error:
            raise failed("connection_lost", "The connection was lost before the answer was complete.") from error
        except ValueError as error:
            raise failed("bad_response", "The server's answer could not be read.") from error

    async def _exchange(
        self, admitted: Admitted, request: HttpRequest, reading: Reading, deadline: Deadline
    ) -> HttpResponse:
        target = admitted.target
        sent = self._head(target, request) + request.body
        wire = await self._dial(admitted, deadline)
        self._wires.add(wire)
        try:
            deadline.step(self.limits.first_byte_s)
            await wire.send(sent)
            incoming = Incoming(wire, deadline, self.limits)
            message = await incoming.head()
            head = _read_head(message.raw_headers, self.limits)
            reading.check_head(message.code, head)
            body = await self._body_of(message.code, incoming, head, reading.cut_at_bytes(message.code))
        finally:
            self._wires.discard(wire)
            wire.close()  # also drops what a server sent behind the body
        return HttpResponse(url=target.url, status=message.code, headers=_shown(head), body=body)

    async def _dial(self, admitted: Admitted, deadline: Deadline) -> Wire:
        """A wire to the first address that answers."""
        target = admitted.target
        tls = self._tls_context() if target.scheme == "https" else None
        addresses = admitted.addresses[:ADDRESSES_TRIED_MAX]
        for address in addresses[:-1]:
            try:
                async with asyncio.timeout(self.limits.connect_s):
                    return await dial(address, target.port, tls=tls, name=target.host)
            except TimeoutError:
                continue
            except FetchFailed as error:
                if error.code == "tls_error":
                    raise
        deadline.step(self.limits.connect_s)
        return await dial(addresses[-1], target.port, tls=tls, name=target.host)

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(("http/1.1",))
        return self._tls

    def _head(self, target: Target, request: HttpRequest) -> bytes:
        """The request's line and headers.

        Raises: InvalidInput if a header would not stay one line.
        """
        path = target.url[target.url.index("/", len(target.scheme) + 3) :]
        if not (request.headers or request.body) and request.method == "GET":
            return f"GET {path} HTTP/1.1\r\nHost: {target.authority}\r\n{self._common}".encode()
        fields = {**self._fields, **{name.lower(): (name, value) for name, value in request.headers.items()}}
        fields["host"] = ("Host", target.authority)
        if request.body or request.method == "POST":
            fields["content-length"] = ("Content-Length", str(len(request.body)))
        lines = [f"{request.method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.values())]
        if any(_UNSENDABLE.search(line) for line in lines):
            raise InvalidInput("invalid_header", "A header to send holds a line break or another control character.")
        return "\r\n".join([*lines, "", ""]).encode("utf-8")

    async def _body_of(self, status: int, incoming: Incoming, head: Mapping[str, str], cut: int | None) -> bytes:
        """The body; nothing of a broken one whose status is a refusal: that stands, whatever the server says with it."""
        try:
            return await self._read_body(incoming, head, cut)
        except (FetchFailed, parser_error(), OSError):
            if status < 400:
                raise
            return b""

    async def _read_body(self, incoming: Incoming, head: Mapping[str, str], cut: int | None) -> bytes:
        if cut == 0:
            return b""
        limit = self.limits.wire_bytes if cut is None else cut
        length = head.get("content-length", "")
        if cut is None and length.isdigit() and int(length[:20]) > limit:
            raise failed("too_large", f"The body is larger than {limit} bytes.")
        codings = head.get("content-encoding")
        decoder = Decoder(codings.split(",") if codings else (), self.limits)
        n_read = 0
        while piece := await incoming.piece():
            n_read += len(piece)
            if n_read <= limit:
                decoder.feed(piece)
            elif cut is None:
                raise failed("too_large", f"The body is larger than {limit} bytes.")
            else:
                decoder.feed(piece[: len(piece) - (n_read - limit)])
                return decoder.cut_body()
        return decoder.body()


def _read_head(raw: Any, limits: Limits) -> dict[str, str]:
    """Header names in lower case, equal names joined with a comma.

    Raises: FetchFailed if the head is too large, or says one thing twice.
    """
    head: dict[str, str] = {}
    n_bytes = 0
    for raw_name, raw_value in raw:
        n_bytes += len(raw_name) + len(raw_value) + 4
        name = _name(raw_name)
        value = _decoded(raw_value)
        if name not in head:
            head[name] = value
        elif name not in _SINGLE:
            head[name] += f", {value}"
        elif head[name] != value:
            code = {"location": "bad_redirect", "content-type": "unsupported_type"}.get(name, "bad_response")
            raise failed(code, f"The server's answer has two different {name} headers.")
    if len(raw) > limits.n_headers or n_bytes > limits.head_bytes:
        raise failed("bad_response", "The server's answer has too large a head.")
    return head


@lru_cache(maxsize=512)  # most servers send the same few
def _name(raw: bytes) -> str:
    return raw.decode("latin-1").lower()


def _decoded(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _shown(head: Mapping[str, str]) -> dict[str, str]:
    """What leaves this module: no cookies, no credentials, and no control character that a terminal would obey."""
    return {
        name: value
        if name == "location" or value.isprintable()
        else "".join(c for c in value if c >= " " and c != "\x7f")
        for name, value in head.items()
        if name not in _DROPPED
    }


def _broken_rule(error: BaseException) -> FetchFailed:
    """A body that only stopped is a lost connection; anything else that the parser refuses is a bad response."""
    from aiohttp.http_exceptions import ContentLengthError, TransferEncodingError

    if isinstance(error, ContentLengthError) or (
        isinstance(error, TransferEncodingError) and "Not enough" in str(error)
    ):
        return failed("connection_lost", "The connection was lost before the answer was complete.")
    return failed("bad_response", "The server's answer breaks the rules of HTTP.")
