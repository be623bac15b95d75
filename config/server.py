"""The worker process of the web server."""

import signal
from typing import Any

from uvicorn_worker import UvicornWorker

from config.express import ExpressHttp
from config.tied import tie_to_parent


class Worker(UvicornWorker):  # type: ignore[misc] # untyped
    """Uvicorn below gunicorn. It ends when gunicorn was killed, or it would keep the port for ever."""

    CONFIG_KWARGS: dict[str, Any] = {
        "loop": "uvloop",
        "http": ExpressHttp,
        "lifespan": "on",
        "server_header": False,
    }

    def init_process(self) -> None:
        """Tie ourselves to gunicorn before anything can be answered."""
        tie_to_parent(self.ppid, signal.SIGTERM)
        super().init_process()
