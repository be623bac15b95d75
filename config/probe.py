"""Ask a running Handover whether it is up: `python -m config.probe` prints what is missing; exit code 0 when all is well.

With the names of pools (`student`, `pages`) it asks only whether these answer on their sockets.
"""

import http.client
import json
import socket
import sys
from collections.abc import Mapping

from config import settings
from config.sockets import POOLS


def find_missing(host: str, port: int) -> list[str]:
    """Ask /healthz what is not up yet; ["web"] while nobody answers there."""
    connection = http.client.HTTPConnection(reachable(host), port, timeout=2)
    try:
        connection.request("GET", "/healthz", headers={"Host": "localhost"})
        answer = json.load(connection.getresponse())
        return list(answer["missing"])
    except (OSError, http.client.HTTPException, ValueError, KeyError):
        return ["web"]
    finally:
        connection.close()


def find_missing_pools(sockets: Mapping[str, str]) -> list[str]:
    """Return the names of the pools that do not answer on their sockets."""
    return [name for name, path in sockets.items() if not _answers(path)]


def _answers(path: str) -> bool:
    connection = http.client.HTTPConnection("localhost", timeout=2)
    try:
        with socket.socket(socket.AF_UNIX) as connection.sock:
            connection.sock.settimeout(2)
            connection.sock.connect(path)
            connection.request("GET", "/favicon.ico")
            connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    return True


def reachable(host: str) -> str:
    """Return a name to reach a server by that listens on this address."""
    if host in {"0.0.0.0", "::", "[::]"}:  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return host


def main(*pools: str) -> int:
    """Ask this installation's own web process, or these pools of its."""
    sockets = {name: getattr(settings, POOLS[name]) for name in pools}
    missing = find_missing_pools(sockets) if pools else find_missing(settings.HOST, settings.PORT)
    print(f"missing: {', '.join(missing)}" if missing else "up")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
