"""May this address be asked? Pure rules over its spelling, its host, its port and what its name resolved to.

One parser (WHATWG, ``ada_url``) decides what an address means; the checks before it refuse spellings that other
programs read differently, so that what is judged here is what is dialled later. A refusal's code is one word:
``scheme``, ``syntax``, ``control``, ``backslash``, ``userinfo``, ``host-form``, ``host-name``, ``port``, ``address``,
``too-long``, ``redirect-limit``.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import ada_url

from firsthand.errors import AddressRefused, InvalidInput
from firsthand.web import limits

Network = IPv4Network | IPv6Network
DEFAULT_PORTS = {"http": 80, "https": 443}
HOST_MAX_CHARS = 253  # RFC 1035, section 2.3.4
_TRIMMED = "".join(map(chr, range(0x21)))  # what the URL standard strips from both ends
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(?=:)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_UP_TO_QUERY = re.compile(r"[^?#]*")
_AUTHORITY = re.compile(r"[^/?#]*")
_NAME = re.compile(r"(?:[a-z0-9_\-]{1,63}\.)*[a-z0-9_\-]{1,63}")  # a dot is no part of a label: cannot run away
_LONE_IDN_LABEL = re.compile(r"xn--[A-Za-z0-9\-]*")
_DOTTED = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
# Most addresses: what the URL standard leaves of them as it stands. Neither "%" nor a segment that begins with a dot.
_PLAIN = re.compile(
    r"(https?://[a-z0-9\-.]{1,253}(?::[0-9]{1,5})?)(?:/(?!\.)[A-Za-z0-9_~.!$&()*+,;=:@\-]*)+"
    r"(?:\?[A-Za-z0-9_~.!$&()*+,;=:@/?\-]*)?"
)
_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_JOINERS = "\u200c\u200d\u00b7\u30fb"  # joiners and middle dots that belong to names of some scripts


@dataclass(frozen=True, slots=True)
class Policy:
    """Where requests may go. The defaults are for pages; ``operator_policy`` makes the one for configured services.

    ``allow_private`` lifts the rules about names, ports and addresses for exactly these (host, port) pairs, never for
    the metadata ranges. ``only`` closes everything else. ``own`` holds our own (address, port) pairs: no loops.
    """

    schemes: frozenset[str] = limits.SCHEMES
    ports: frozenset[int] = limits.PORTS
    allow_private: frozenset[tuple[str, int]] = frozenset()
    only: frozenset[tuple[str, int]] | None = None
    own: frozenset[tuple[str, int]] = frozenset()
    allow_ranges: tuple[Network, ...] = ()
    deny_ranges: tuple[Network, ...] = ()
    nat64: bool = False  # an IPv6-only network answers 64:ff9b::/96 for every IPv4 site


@dataclass(frozen=True, slots=True)
class Target:
    """An address that was judged by its spelling. ``host`` has no brackets; ``url`` has no fragment."""

    url: str
    scheme: str
    host: str
    port: int
    is_literal: bool

    @property
    def authority(self) -> str:
        """Host and port as the Host header spells them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS.get(self.scheme) else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self.authority}"


def judge(url: str, policy: Policy) -> Target:
    """*url* in canonical form, if its scheme, spelling, host and port may be asked. Names are not looked up here.

    Raises: AddressRefused with the code of the first rule it breaks.
    """
    target = _parse(url, policy.schemes)
    pair = (target.host, target.port)
    if policy.only is not None and pair not in policy.only:
        raise _refused("host-name", "is not one of the services that the operator named")
    if pair not in policy.allow_private:
        _judge_name(target)
        if target.port not in policy.ports:
            raise _refused("port", f"has port {target.port}; FIRSTHAND_ALLOW_PRIVATE=host:port allows one more")
    if target.is_literal:
        judge_answer(target.host, target, policy)
    return target


def judge_answer(address: str, target: Target, policy: Policy) -> None:
    """Return if *address*, a literal or an answer to a look-up of *target*'s host, may be connected to.

    Raises: AddressRefused (``address``); its message does not name the address.
    """
    try:
        standing = _standing(address)
    except ValueError as error:
        raise _refused("address", "resolves to something that is no address") from error
    if not _is_permitted(standing, target, policy):
        raise _refused("address", "leads to a private, reserved or refused network address")


def follow(location: str, base: Target, policy: Policy) -> Target:
    """The target of a redirect from *base*: resolved, then judged like a first address.

    Raises: AddressRefused; also (``scheme``) for a redirect from https to http.
    """
    location = location.strip(_TRIMMED)
    _check_characters(location)
    if _has_backslash(location, 0):
        raise _refused("backslash", "contains a backslash")
    if _SCHEME.match(location):
        target = judge(location, policy)
    elif location.startswith("//"):
        target = judge(f"{base.scheme}:{location}", policy)
    else:
        target = judge(_join(base.url, location), policy)
    if base.scheme == "https" and target.scheme == "http" and (target.host, target.port) not in policy.allow_private:
        raise _refused("scheme", "redirects from https to http")
    return target


def canonical_url(url: str) -> str:
    """The one spelling of *url*: WHATWG form, no root dot, no fragment. Ports and names are not judged.

    Raises: AddressRefused if it is not an http(s) address or its spelling is refused.
    """
    return _parse(url, limits.SCHEMES).url


def origin(url: str) -> str:
    """Scheme, host and port of *url*, default ports left out.

    Raises: AddressRefused, as ``canonical_url``.
    """
    return _parse(url, limits.SCHEMES).origin


def host_port_pairs(text: str) -> frozenset[tuple[str, int]]:
    """The pairs in *text*: ``host:port``, separated by commas; IPv6 in brackets.

    Raises: InvalidInput if one has no port or is no host.
    """
    pairs = set()
    for item in filter(None, (part.strip() for part in text.split(","))):
        host, _, port = item.rpartition(":")
        if not host or not (port.isascii() and port.isdigit()):
            raise InvalidInput("invalid_setting", f"{item!r} is not host:port.", setting="allow_private")
        try:
            target = _parse(f"http://{host}:{port}/", limits.SCHEMES)
        except AddressRefused as error:
            raise InvalidInput("invalid_setting", f"{item!r} is not host:port.", setting="allow_private") from error
        pairs.add((target.host, target.port))
    return frozenset(pairs)


def operator_policy(*, operator_urls: tuple[str, ...] = (), vendor_urls: tuple[str, ...] = ()) -> Policy:
    """The policy that allows exactly these services. What the operator named may be private; a vendor's may not.

    Raises: AddressRefused if one of them is not an http(s) address.
    """
    named = frozenset((t.host, t.port) for t in (_parse(url, limits.SCHEMES) for url in operator_urls))
    vendors = frozenset((t.host, t.port) for t in (_parse(url, limits.SCHEMES) for url in vendor_urls))
    return Policy(allow_private=named, only=named | vendors, ports=limits.PORTS | {port for _, port in vendors})


# -- Spelling


def _parse(url: str, schemes: frozenset[str]) -> Target:
    plain = _PLAIN.fullmatch(url) if len(url) <= limits.MAX_URL_CHARS else None
    if plain is not None:
        site = _site(plain[1], schemes)
        if site.url == f"{plain[1]}/":  # else it is not the one spelling of the host and the port
            return Target(url, site.scheme, site.host, site.port, site.is_literal)
    return _parse_any(url, schemes)


@lru_cache(maxsize=4096)
def _site(written: str, schemes: frozenset[str]) -> Target:
    """The root of a site: its name is parsed once for all its pages. A refusal is not remembered."""
    return _parse_any(f"{written}/", schemes)


def _parse_any(url: str, schemes: frozenset[str]) -> Target:
    if len(url) > limits.MAX_URL_CHARS:
        raise _refused("too-long", f"is longer than {limits.MAX_URL_CHARS} characters")
    url = url.strip(_TRIMMED)
    _check_characters(url)
    match = _SCHEME.match(url)
    if match is None:
        raise _refused("syntax", "has no scheme")
    scheme, at = match[0].lower(), match.end() + 3  # at: behind "://"
    if scheme not in schemes:
        raise _refused("scheme", "is not http or https")
    if not url.startswith("://", match.end()) or url[at : at + 1] in ("", "/", "\\", "?", "#"):
        raise _refused("syntax", "has no host after two slashes")
    if _has_backslash(url, at):
        raise _refused("backslash", "contains a backslash")
    authority = _matched(_AUTHORITY, url, at)
    if "@" in authority:
        raise _refused("userinfo", "carries a user name or a password")
    host_text, port_text = _split_port(authority)
    if port_text and not _is_port(port_text):
        raise _refused("port", "has a port that is no port")
    return _parse_host(url, scheme, host_text)


def _has_backslash(url: str, at: int) -> bool:
    """Whether one stands between *at* and the query, where programs disagree about it."""
    return "\\" in url and "\\" in _matched(_UP_TO_QUERY, url, at)


def _matched(pattern: re.Pattern[str], text: str, at: int) -> str:
    """What *pattern*, which matches anything, takes from *at*."""
    match = pattern.match(text, at)
    return match[0] if match is not None else ""


def _check_characters(url: str) -> None:
    if _CONTROL.search(url):
        raise _refused("control", "contains a control character")


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text.lstrip("0")) <= 5 and int(text[-5:]) <= 0xFFFF


def _split_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        literal, bracket, rest = authority.partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise _refused("host-form", "has brackets that are no IPv6 address")
        return literal + "]", rest[1:]
    host, _, port = authority.partition(":")
    if not host:
        raise _refused("host-form", "has an empty host")
    return host, port


def _parse_host(url: str, scheme: str, written: str) -> Target:
    bare = written.removesuffix(".")
    if not bare or "%" in written:
        raise _refused("host-form", "has an empty or percent-encoded host")
    if _LONE_IDN_LABEL.fullmatch(bare):
        raise _refused("host-name", "has a host of one label, which only an inner network knows")
    try:
        href, host, port_text = _read(url)
    except ValueError as error:
        raise _refused("host-form", "has a host that is not a valid name or address") from error
    is_literal = host.startswith("[") or _DOTTED.fullmatch(host) is not None
    if not is_literal:
        _check_name_form(host)
    port = int(port_text) if port_text else DEFAULT_PORTS.get(scheme, 0)
    if is_literal and not host.startswith("["):
        _check_written_ipv4(bare, host)
    return Target(href, scheme, host.strip("[]"), port, is_literal)


def _read(url: str) -> tuple[str, str, str]:
    """Address, host and port as the URL standard reads them, without fragment and root dot.

    Raises: ValueError if it is no address.
    """
    parts = ada_url.parse_url(url, ("href", "hostname", "port"))
    host = parts["hostname"].removesuffix(".")
    if "#" not in url and host == parts["hostname"]:
        return parts["href"], host, parts["port"]
    parsed = ada_url.URL(url)  # can be changed, and costs twice as much
    parsed.hash = ""
    if host != parts["hostname"]:
        parsed.hostname = host
    return parsed.href, host, parsed.port


def _check_written_ipv4(written: str, host: str) -> None:
    """Refuse an IPv4 address in any other form than four decimal parts: no page links so, parsers disagree on it."""
    if written == host:
        return
    if not written.isascii() and not _is_public(ip_address(host)):
        raise _refused("address", "leads to a private, reserved or refused network address")
    raise _refused("host-form", "spells a network address in an unusual form")


def _check_name_form(host: str) -> None:
    if len(host) > HOST_MAX_CHARS or not _NAME.fullmatch(host):
        raise _refused("host-form", "has a host that is not a valid name")
    if "xn--" not in host:
        return
    for label in host.split("."):
        if label.startswith("xn--"):
            try:
                shown = label[4:].encode("ascii").decode("punycode")
            except UnicodeError as error:
                raise _refused("host-form", "has a host that is not a valid name") from error
            # letters, marks, digits and symbols make names; a fraction slash or a hidden mark makes a fake
            if any(unicodedata.category(c) in _FAKES and c not in _JOINERS and c != "-" for c in shown):
                raise _refused("host-form", "has a host with a character that imitates another")


_FAKES = frozenset({"Sm", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"})


def _judge_name(target: Target) -> None:
    if target.is_literal:
        return
    labels = target.host.split(".")
    if len(labels) == 1:
        raise _refused("host-name", "has a host of one label, which only an inner network knows")
    if labels[-1] in limits.REFUSED_SUFFIXES or ".".join(labels[-2:]) in limits.REFUSED_SUFFIXES:
        raise _refused("host-name", "has a host that belongs to an inner network")


def _join(base: str, location: str) -> str:
    try:
        return ada_url.join_url(base, location)
    except ValueError as error:
        raise _refused("syntax", "redirects to something that is no address") from error


# -- Network addresses


@dataclass(frozen=True, slots=True)
class _Standing:
    """What is true of an address whatever the policy: worked out once, for the same few are judged again and again."""

    ip: IPv4Address | IPv6Address
    is_never: bool
    is_public: bool
    is_public_within: bool  # the same of every IPv4 address that it embeds


@lru_cache(maxsize=4096)
def _standing(address: str) -> _Standing:
    ip = ip_address(address)
    embedded = _embedded_ipv4(ip)
    is_never = any(_is_never(face) for face in (ip, *embedded))
    return _Standing(ip, is_never, _is_public(ip), all(_is_public(face) for face in embedded))


def _is_permitted(standing: _Standing, target: Target, policy: Policy) -> bool:
    ip = standing.ip
    if standing.is_never:
        return False
    if (policy.own and (str(ip), target.port) in policy.own) or any(_within(ip, block) for block in policy.deny_ranges):
        return False
    if (target.host, target.port) in policy.allow_private or any(_within(ip, block) for block in policy.allow_ranges):
        return True
    if policy.nat64 and ip in _NAT64:
        return standing.is_public_within
    return standing.is_public


def _is_public(ip: IPv4Address | IPv6Address) -> bool:
    if isinstance(ip, IPv4Address):
        return not any(ip in block for block in limits.REFUSED_IPV4)
    return ip in limits.ALLOWED_IPV6 and not any(ip in block for block in limits.REFUSED_IPV6)


def _is_never(ip: IPv4Address | IPv6Address) -> bool:
    blocks: tuple[Network, ...] = limits.NEVER_IPV4 if isinstance(ip, IPv4Address) else limits.NEVER_IPV6
    return any(_within(ip, block) for block in blocks)


def _within(ip: IPv4Address | IPv6Address, block: Network) -> bool:
    return ip.version == block.version and ip in block


def _embedded_ipv4(ip: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for in mapped, compatible, NAT64, 6to4 and Teredo forms."""
    if isinstance(ip, IPv4Address):
        return []
    low = IPv4Address(int(ip) & 0xFFFFFFFF)
    if int(ip) >> 32 in (0, 0xFFFF, 0xFFFF_0000):  # compatible, mapped, translated
        return [low]
    if ip in _NAT64 or ip in _NAT64_LOCAL:
        return [low]
    if ip.sixtofour is not None:
        return [ip.sixtofour]
    if ip.teredo is not None:
        return list(ip.teredo)
    return []


def _refused(code: str, reason: str) -> AddressRefused:
    return AddressRefused(code, f"The address was not asked: it {reason}.")
