"""A program that looks into a file as the tests ask it to: `python -m tests.outbox.looking WHAT < FILE`."""

import os
import signal
import sys
from typing import IO, Any

from outbox.confined import limit_resources, say

MEMORY, SECONDS = 256 * 1024 * 1024, 1


def _spin(_: IO[bytes]) -> dict[str, Any]:
    while True:
        pass


def _grow(_: IO[bytes]) -> dict[str, Any]:
    return {"size": len(bytes(2 * MEMORY))}


def _repeat(_: IO[bytes]) -> dict[str, Any]:
    return {"rows": ["x" * 1024 * 1024] * 64}


def _die(_: IO[bytes]) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def _lack(_: IO[bytes]) -> dict[str, Any]:
    raise ImportError("No module named 'decoder'")


def _count(file: IO[bytes]) -> dict[str, Any]:
    return {"size": len(file.read()), "settings": "DJANGO_SETTINGS_MODULE" in os.environ}


if __name__ == "__main__":
    limit_resources(memory=MEMORY, seconds=SECONDS)
    say(
        {"spin": _spin, "grow": _grow, "repeat": _repeat, "die": _die, "lack": _lack, "count": _count}[
            sys.argv[1]
        ]
    )
