"""A submission as it goes over the wire, plain or with something odd about it."""

from uuid import uuid4

PATH = f"/api/v1/attempts/{uuid4()}/submission"
BODY = b'{"answers": {}}'


def request(
    path: str = PATH, *, method: str = "POST", version: str = "1.1", head: str = "", body: bytes = BODY
) -> bytes:
    """Return the bytes of a request; `head` is further lines of it, each with its end."""
    length = "" if "chunked" in head else f"Content-Length: {len(body)}\r\n"
    return f"{method} {path} HTTP/{version}\r\nHost: a\r\n{length}{head}\r\n".encode() + body
