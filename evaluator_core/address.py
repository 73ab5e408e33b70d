"""Where an address leads: a check of endpoint addresses that come with a request, before anything is sent there."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from enum import StrEnum
from urllib.parse import urlsplit

from evaluator_core.secret import redact

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str], Sequence[str]]
"""From a host name to the addresses it stands for; ``OSError`` when there are none."""


class Reach(StrEnum):
    """Who answers at an address."""

    PUBLIC = "public"
    """A machine of the open Internet."""
    PRIVATE = "private"
    """A machine of the local network."""
    LOOPBACK = "loopback"
    """This machine."""
    FORBIDDEN = "forbidden"
    """Nobody that serves models: link-local (cloud metadata among them), multicast, reserved, unspecified."""


# Cloud providers answer with credentials here; only the first of these addresses is link-local.
_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in ("169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192")
)
_NOWHERE = ipaddress.ip_network("0.0.0.0/8")
_SHARED = ipaddress.ip_network("100.64.0.0/10")
_SITE_LOCAL = ipaddress.ip_network("fec0::/10")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# What the system's resolver takes for an IPv4 address and nobody writes by accident: 2130706433, 0x7f.1, 0177.0.0.1, 127.1.
_ODD_NUMBER = re.compile(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+)){0,3}\.?", re.IGNORECASE)


def reach_of(address: IPAddress) -> Reach:
    """Who answers at an IP address. One that wraps another (IPv4 within IPv6) is judged by what it wraps."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return reach_of(inner)
    if address in _METADATA or address in _NOWHERE or address.is_link_local or address.is_multicast or address.is_unspecified:
        return Reach.FORBIDDEN
    if address.is_loopback:
        return Reach.LOOPBACK
    if address.is_reserved:
        return Reach.FORBIDDEN
    if address.is_private or address in _SHARED or address in _SITE_LOCAL:
        return Reach.PRIVATE
    return Reach.PUBLIC if address.is_global else Reach.FORBIDDEN


def form_problem(address: str) -> str | None:
    """What is wrong with the form of an endpoint's address, wherever it leads; ``None`` when nothing is."""
    shown = repr(redact(address)[:100])
    if re.search(r"[\s\\\x00-\x20\x7f]", address):
        return f"{shown} holds a blank, a backslash or a control character"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"{shown} is not an address"
    if parts.scheme not in ("http", "https") or not host:
        return f"{shown} does not begin with http:// or https:// and a host"
    if "@" in parts.netloc:
        return "it holds a user name or password; give the key by itself"
    if parts.query or parts.fragment or address.endswith(("?", "#")):
        return "it has a query or a fragment; give the part up to /v1"
    if "%" in host or not address.isascii():
        return f"{shown} has encoded or unusual characters; write it in plain ASCII"
    if _ODD_NUMBER.fullmatch(host) and not _is_plain_ipv4(host):
        return f"{shown} has a number for a host; write it as four decimal parts, such as 127.0.0.1"
    return None


def system_resolve(host: str) -> list[str]:
    """The addresses of a host name, as this machine's resolver tells them."""
    return [str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


def reaches(address: str, resolve: Resolve = system_resolve) -> frozenset[Reach]:
    """Everybody who may answer at an endpoint's address, by every IP address that its host stands for; empty for none."""
    host = urlsplit(address).hostname or ""
    try:
        return frozenset({reach_of(ipaddress.ip_address(host))})
    except ValueError:
        pass
    try:
        return frozenset(reach_of(ipaddress.ip_address(found)) for found in resolve(host.removesuffix(".")))
    except (OSError, ValueError, UnicodeError):
        return frozenset()


def request_problem(address: str, *, exposed: bool, resolve: Resolve = system_resolve) -> str | None:
    """What speaks against asking at an address that came with a request; ``None`` when nothing does.

    An exposed server takes none at all: whoever can reach it could otherwise reach into its network.
    """
    if exposed:
        return (
            "this server can be reached by others, and takes no address from a request; name one of its endpoints (GET /models)"
        )
    if problem := form_problem(address):
        return problem
    if Reach.FORBIDDEN in reaches(address, resolve):
        return f"{redact(address)[:100]!r} leads to a link-local or reserved address, where no model answers"
    return None


def _is_plain_ipv4(host: str) -> bool:
    try:
        ipaddress.IPv4Address(host)  # refuses leading zeros, fewer parts and hexadecimal
    except ValueError:
        return False
    return True
