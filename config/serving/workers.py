"""The worker processes of the web server: those that hold the gate, and those of the pools behind it.

gunicorn imports this before it calls any hook of `config.serve`, so it must not import what counts (the gate): prometheus-client decides
when it is imported whether processes count together.
"""

import contextlib
import os
import resource
import signal
from typing import Any

from uvicorn_worker import UvicornWorker

from config.processes.tied import tie_to_parent

# The gate asks for settings before gunicorn loads the application, which says whose they are.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_MOST_FILES = 65_536
_KEPT_FILES = 256  # for everything that is no client: the database, the pools, log files


class PoolWorker(UvicornWorker):  # type: ignore[misc] # untyped
    """Uvicorn below gunicorn. It ends when gunicorn was killed, or it would keep the port for ever."""

    CONFIG_KWARGS: dict[str, Any] = {
        "loop": "uvloop",
        "http": "httptools",
        "ws": "none",  # nobody here speaks it, also where a library for it happens to be installed
        "lifespan": "on",
        "server_header": False,
    }

    def init_process(self) -> None:
        """Tie ourselves to gunicorn before anything can be answered."""
        tie_to_parent(self.ppid, signal.SIGTERM)
        from config.admission.timely import bound_statements  # noqa: PLC0415 - not before the fork, see above

        bound_statements()
        super().init_process()


class Worker(PoolWorker):
    """One that holds the gate and meets the world: as many connections as the machine lets us have, idle ones the first to go."""

    CONFIG_KWARGS: dict[str, Any] = {**PoolWorker.CONFIG_KWARGS, "http": "config.serving.express:ExpressHttp"}

    def init_process(self) -> None:
        """Make room for connections."""
        from config.serving.express import ExpressHttp  # noqa: PLC0415 - not before the fork, see above

        ExpressHttp.most_connections = max(64, raise_open_files() - _KEPT_FILES)
        super().init_process()


def raise_open_files() -> int:
    """Raise how many files we may have open as far as we may; return how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_FILES if soft == resource.RLIM_INFINITY else min(soft, _MOST_FILES)
