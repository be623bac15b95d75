"""Which addresses we may be told to call: what an administrator types must not make us knock on doors inside our own network (SSRF).

The name is resolved once, every address it has is judged, and the connection goes to the one that was judged; asking the
resolver a second time would let it answer differently (DNS rebinding). TLS still verifies the name.
"""

import ipaddress
import socket
from urllib.parse import urlsplit, urlunsplit

from django.utils.encoding import iri_to_uri, punycode

# IPv6 networks whose last 32 bits are an IPv4 address: NAT64 (RFC 6052), and the old "IPv4-compatible" form (RFC 4291, 2.5.5.1).
CARRYING = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))


class ForbiddenAddress(Exception):
    """This address must not be called."""


def as_uri(address: str) -> str:
    """Return a web address the way it goes over the wire, in ASCII and without a fragment (RFC 3987, 3.1).

    Raises `ForbiddenAddress` for one that can never be called, and for a name and password in it, which would not be sent.
    """
    try:
        parts = urlsplit(address)
        host, port = punycode(parts.hostname or ""), parts.port
    except ValueError as error:
        raise ForbiddenAddress("This is no web address.") from error
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise ForbiddenAddress("A web address begins with https:// or http:// and names a host.")
    if parts.username is not None:
        raise ForbiddenAddress("A name and password in an address are not sent; leave them out.")
    bracketed = f"[{host}]" if ":" in host else host
    place = bracketed if port is None else f"{bracketed}:{port}"
    return str(iri_to_uri(urlunsplit((parts.scheme, place, parts.path, parts.query, ""))))


def is_public(address: str) -> bool:
    """Say whether an IP address belongs to the public internet (IANA's registries, as `ipaddress` has them).

    An IPv6 address that only carries an IPv4 one (mapped, 6to4, NAT64, Teredo) is judged by that as well.
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if not parsed.is_global or parsed.is_multicast:
        return False
    return isinstance(parsed, ipaddress.IPv4Address) or all(map(is_public, _list_carried(parsed)))


def _list_carried(parsed: ipaddress.IPv6Address) -> list[str]:
    carried = [parsed.ipv4_mapped, parsed.sixtofour, *(parsed.teredo or ())]
    if any(parsed in network for network in CARRYING):
        carried.append(ipaddress.IPv4Address(parsed.packed[-4:]))
    return [str(each) for each in carried if each is not None]


def resolve(host: str, port: int, *, private: bool) -> str:
    """Return an address of this host to connect to. Unless `private` is allowed, raise when any it has is not public.

    Which address that is, whoever typed the name is not told: they could ask for the names of our network one by one.
    """
    found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for address in found:
        if not (private or is_public(address)):
            raise ForbiddenAddress(f"{host} leads to an address that is not public.")
    return found[0]
