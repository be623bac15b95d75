"""Ask a running Handover whether it is up: `python -m config.probe` prints what is missing; exit code 0 when all is well.

It asks where the product that runs on this HANDOVER_DATA listens; while none runs, where HOST and PORT say.
With the names of pools (`student`, `pages`) it asks only whether these answer on their sockets.
"""

import http.client
import json
import socket
import sys
from collections.abc import Mapping

from config.environment import read_settings
from config.processes.address import find_listening, reachable
from config.serving.sockets import POOLS, socket_of

settings = read_settings()


def find_missing(host: str, port: int) -> list[str]:
    """Ask /healthz what is not up yet; ["web"] while nobody answers there."""
    connection = http.client.HTTPConnection(reachable(host), port, timeout=5)  # /healthz takes up to three
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


def main(*pools: str) -> int:
    """Ask this installation's own web process, or these pools of its."""
    sockets = {
        name: getattr(settings, POOLS[name]) or str(socket_of(settings.DATA_DIR, name)) for name in pools
    }
    here = find_listening(settings.DATA_DIR, host=settings.HOST, port=settings.PORT)
    missing = find_missing_pools(sockets) if pools else find_missing(here.host, here.port)
    print(f"missing: {', '.join(missing)}" if missing else "up")
    if missing == ["web"]:
        print(
            f"Nobody answers at {here.url}. Is it running (`make run`), and are HANDOVER_DATA and PORT right?"
        )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
