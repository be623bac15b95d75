"""Who may see how the machine is: whoever has METRICS_TOKEN; where there is none, this machine alone.

Behind a proxy on the same machine everybody seems to come from it. So every address that the request is said to have come
through must be loopback; behind a proxy that does not say, set the token.
"""

import ipaddress

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare


def may_see_meters(request: HttpRequest) -> bool:
    """Decide by the request's token, or by where it comes from."""
    if settings.METRICS_TOKEN:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and constant_time_compare(token.strip(), settings.METRICS_TOKEN)
    through = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    if "Forwarded" in request.headers and not through:
        return False
    peer = (
        request.META.get("REMOTE_ADDR") or ""
    )  # empty for a Unix socket, whose other end must have said who asks
    addresses = [*through, peer] if peer else through
    return bool(addresses) and all(map(_is_loopback, addresses))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
