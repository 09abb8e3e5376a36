"""The one module that opens sockets for pages and search providers.

It is given addresses, never names: the connector's resolver refuses every look-up, and the peer of each connection is
compared with the address that was asked for before a byte is sent. Nothing of ours goes along: no cookies, no proxy
or netrc from the environment, no referrer. Connections are not reused, so nothing a server sent too much of can be
read for the next request. Bodies arrive raw and are decoded in bounded steps.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from firsthand import __version__
from firsthand.errors import AddressRefused, FetchFailed
from firsthand.values import HttpRequest, HttpResponse
from firsthand.web.address import Policy, judge
from firsthand.web.decode import Decoder, accepted_codings
from firsthand.web.gate import Admitted, Gate
from firsthand.web.limits import LIMITS, Limits
from firsthand.web.reply import failed
from firsthand.web.wire import Framing

if TYPE_CHECKING:
    import aiohttp

USER_AGENT = f"Firsthand/{__version__} (+https://github.com/firsthand-research/firsthand)"
ADDRESSES_TRIED_MAX = 4  # of one host: each may cost a connect time-out
_DROPPED = frozenset(
    {"set-cookie", "set-cookie2", "authorization", "proxy-authorization", "www-authenticate", "proxy-authenticate"}
)
_SINGLE = frozenset({"location", "content-type", "content-length"})  # two different ones mean two different readings


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
    """One HTTP client for the process. Opened by the first exchange, closed by ``aclose``."""

    def __init__(
        self,
        *,
        gate: Gate | None = None,
        limits: Limits = LIMITS,
        user_agent: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.gate = Gate(limits=limits) if gate is None else gate
        self.limits = limits
        self.user_agent = user_agent or USER_AGENT
        self._tls = tls
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: HttpRequest, policy: Policy) -> HttpResponse:
        """The response to *request*, whatever its status; redirects are not followed. For configured services.

        Raises: AddressRefused; FetchFailed if there is no whole response.
        """
        admitted = await self.gate.admit(judge(request.url, policy), policy)
        return await self.exchange(admitted, request)

    async def exchange(
        self, admitted: Admitted, request: HttpRequest, *, total_s: float | None = None, reading: Reading = WHOLE_BODY
    ) -> HttpResponse:
        """Send *request* to an address of *admitted* and read the whole response. Nothing is retried but connecting.

        Raises: FetchFailed (``timeout``, ``connect_failed``, ``tls_error``, ``connection_lost``, ``bad_response``,
        ``too_large``, ``decode_error``); AddressRefused if the peer is another than the one asked for.
        """
        import aiohttp

        session = self._open()
        try:
            async with asyncio.timeout(self.limits.total_s if total_s is None else total_s):
                return await self._try_addresses(session, admitted, request, reading)
        except TimeoutError as error:  # aiohttp's own are TimeoutErrors too
            raise failed("timeout", "The server took too long.") from error
        except (ssl.SSLError, aiohttp.ClientSSLError) as error:
            raise failed("tls_error", "No secure connection could be made to the server.") from error
        except aiohttp.ClientConnectorError as error:
            raise failed("connect_failed", "The server could not be connected to.") from error
        except aiohttp.ClientPayloadError as error:
            raise _payload_failure(error) from error
        except aiohttp.ClientResponseError as error:
            raise failed("bad_response", "The server's answer is not HTTP.") from error
        except (aiohttp.ClientConnectionError, OSError) as error:
            raise failed("connection_lost", "The connection was lost before the answer was complete.") from error
        except (aiohttp.ClientError, ValueError) as error:
            raise failed("bad_response", "The server's answer could not be read.") from error

    async def aclose(self) -> None:
        """Close the client. A second call does nothing; an exchange after it opens a new one."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = _make_session(self.limits, self._tls)
        return self._session

    async def _try_addresses(
        self, session: aiohttp.ClientSession, admitted: Admitted, request: HttpRequest, reading: Reading
    ) -> HttpResponse:
        import aiohttp

        addresses = admitted.addresses[:ADDRESSES_TRIED_MAX]
        for address in addresses[:-1]:
            try:
                return await self._exchange_at(session, address, admitted, request, reading)
            except (aiohttp.ClientSSLError, ssl.SSLError):
                raise
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
                continue  # nothing was sent yet
        return await self._exchange_at(session, addresses[-1], admitted, request, reading)

    async def _exchange_at(
        self, session: aiohttp.ClientSession, address: str, admitted: Admitted, request: HttpRequest, reading: Reading
    ) -> HttpResponse:
        target = admitted.target
        headers = {
            "Host": target.authority,
            "User-Agent": self.user_agent,
            "Accept": "text/html, application/xhtml+xml, application/pdf;q=0.9, text/*;q=0.8, */*;q=0.5",
            "Accept-Encoding": accepted_codings(),
            **request.headers,
        }
        async with session.request(
            request.method,
            _dialled(target.url, target.scheme, address, target.port),
            headers=headers,
            data=request.body or None,
            allow_redirects=False,
            server_hostname=None if target.is_literal or target.scheme == "http" else target.host,
        ) as response:
            head = _read_head(response.raw_headers, self.limits)
            reading.check_head(response.status, head)
            cut = reading.cut_at_bytes(response.status)
            try:
                body = await self._read_body(response, head, cut)
            finally:
                response.close()  # also drops what a server sent behind the body
        return HttpResponse(url=target.url, status=response.status, headers=_shown(head), body=body)

    async def _read_body(self, response: aiohttp.ClientResponse, head: Mapping[str, str], cut: int | None) -> bytes:
        if cut == 0:
            return b""
        limit = self.limits.wire_bytes if cut is None else cut
        length = head.get("content-length", "")
        if cut is None and length.isdigit() and int(length[:20]) > limit:
            raise failed("too_large", f"The body is larger than {limit} bytes.")
        decoder = Decoder(head.get("content-encoding", "").split(","), self.limits)
        n_read = 0
        async for piece in response.content.iter_any():
            n_read += len(piece)
            if n_read <= limit:
                decoder.feed(piece)
            elif cut is None:
                raise failed("too_large", f"The body is larger than {limit} bytes.")
            else:
                decoder.feed(piece[: len(piece) - (n_read - limit)])
                return decoder.cut_body()
        return decoder.body()


def _make_session(limits: Limits, tls: ssl.SSLContext | None) -> aiohttp.ClientSession:
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult

    class NoLookUp(AbstractResolver):
        """Names were looked up and judged at the gate; a name that gets here is a mistake."""

        async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
            raise AddressRefused("address", "The address was not asked: its name was not judged.")

        async def close(self) -> None:
            return None

    class JudgedConnector(aiohttp.TCPConnector):
        """Hands a connection over only if its peer is the address that was asked for."""

        async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109 - aiohttp's own name
            connection = await super().connect(req, traces, timeout)
            transport = connection.transport
            peer = transport.get_extra_info("peername") if transport is not None else None
            if peer is None or ip_address(str(peer[0])) != ip_address(req.url.raw_host):
                connection.close()
                raise AddressRefused("address", "The address was not asked: another peer answered.")
            return connection

    connector = JudgedConnector(
        resolver=NoLookUp(), use_dns_cache=False, force_close=True, limit=0, ssl=True if tls is None else tls
    )
    connector._factory = _protocol_factory(limits)  # type: ignore[assignment]  # the only way in; a test watches it
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(
            total=None, sock_connect=limits.connect_s, sock_read=max(limits.first_byte_s, limits.between_reads_s)
        ),
        max_line_size=limits.head_bytes,
        max_field_size=limits.head_bytes,
        max_headers=limits.n_headers,
    )


def _protocol_factory(limits: Limits) -> Callable[[], Any]:
    """Protocols that see each response's framing before the parser does, and know a reset from an end."""
    from aiohttp.client_proto import ResponseHandler

    class FramedHandler(ResponseHandler):
        def __init__(self) -> None:
            super().__init__(asyncio.get_running_loop())
            self._framing = Framing(limits)
            self._is_draining = False

        def data_received(self, data: bytes) -> None:
            if data and not self._is_draining:
                try:
                    data = self._framing.feed(data)
                except FetchFailed as error:
                    self._fail(error)
                    return
                if not data:
                    return
            super().data_received(data)

        def connection_lost(self, exc: BaseException | None) -> None:
            if exc is not None:
                self._fail(failed("connection_lost", "The connection was lost before the answer was complete."))
            super().connection_lost(exc)

        def _drain_tail(self) -> None:
            self._is_draining = True  # these bytes were fed before
            try:
                super()._drain_tail()
            finally:
                self._is_draining = False

        def _fail(self, error: FetchFailed) -> None:
            if self._payload is not None and not self._payload.is_eof():
                self._payload.set_exception(error)
            if self._payload is None:
                self.set_exception(error)
            if self.transport is not None:
                self.transport.abort()

    return FramedHandler


def _dialled(url: str, scheme: str, address: str, port: int) -> Any:
    """*url* with its host replaced by *address*: what the connector sees. The path goes out as it was judged."""
    from yarl import URL

    path = url.split("://", 1)[1]
    cut = min((i for i in (path.find("/"), path.find("?")) if i >= 0), default=len(path))
    host = f"[{address}]" if ":" in address else address
    return URL(f"{scheme}://{host}:{port}{path[cut:] or '/'}", encoded=True)


def _read_head(raw: Any, limits: Limits) -> dict[str, str]:
    """Header names in lower case, equal names joined with a comma.

    Raises: FetchFailed if the head is too large, or says one thing twice.
    """
    if len(raw) > limits.n_headers or sum(len(name) + len(value) + 4 for name, value in raw) > limits.head_bytes:
        raise failed("bad_response", "The server's answer has too large a head.")
    head: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name = raw_name.decode("latin-1").lower()
        value = _decoded(raw_value)
        if name in head and name in _SINGLE and head[name] != value:
            code = {"location": "bad_redirect", "content-type": "unsupported_type"}.get(name, "bad_response")
            raise failed(code, f"The server's answer has two different {name} headers.")
        head[name] = value if name not in head or name in _SINGLE else f"{head[name]}, {value}"
    return head


def _decoded(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _shown(head: Mapping[str, str]) -> dict[str, str]:
    """What leaves this module: no cookies, no credentials, and no control character that a terminal would obey."""
    return {
        name: value if name == "location" else "".join(c for c in value if c >= " " and c != "\x7f")
        for name, value in head.items()
        if name not in _DROPPED
    }


def _payload_failure(error: BaseException) -> FetchFailed:
    """A body that broke the protocol is a bad response; one that only stopped is a lost connection."""
    from aiohttp.http_exceptions import ContentLengthError, TransferEncodingError

    cause = error.__cause__
    text = f"{error} {cause}"
    if isinstance(cause, TransferEncodingError) and "Not enough" not in text:
        return failed("bad_response", "The server's answer breaks the rules of HTTP.")
    if isinstance(cause, ContentLengthError) or "Not enough" in text or cause is None or isinstance(cause, OSError):
        return failed("connection_lost", "The connection was lost before the answer was complete.")
    return failed("bad_response", "The server's answer breaks the rules of HTTP.")
