"""How the web server runs: gunicorn keeps the processes, uvicorn (uvloop, httptools) speaks HTTP and ASGI in each.

Two processes are the default: on two cores they take in a third more hand-ins than one, whose Python is the limit (ADR 0003).
"""

import gc
from importlib import import_module
from typing import Any

from config.environment import read_settings
from config.metrics.sharing import forget_process, share_counters
from config.processes.address import write_place

settings = read_settings()
bind = write_place(settings.HOST, settings.PORT)
workers = settings.WEB_CONCURRENCY
worker_class = "config.serving.workers.Worker"
backlog = 8192  # connections that came in the same moment and wait to be taken; the kernel's own limit may be lower (somaxconn)
# On a port `*` would let everybody say who they are: it is for pools.
forwarded_allow_ips = ",".join(peer for peer in settings.FORWARDED_ALLOW_IPS if peer != "*")
timeout = 60  # a process that does not come back to its loop for so long is replaced
graceful_timeout = 25  # shorter than the supervisor's grace: what was accepted is answered
keepalive = 30
accesslog = None
errorlog = "-"
loglevel = "warning"
logger_class = "config.logs.server.ServerLog"
control_socket_disable = True  # it would be put into the home folder, and the supervisor is control enough


def on_starting(server: Any) -> None:
    """Before any process is forked: what they count is added up, and what each of them needs and nothing configures is loaded for all."""
    share_counters(settings.METRICS_DIR)
    for library in ("django.contrib.admin", "psycopg"):
        import_module(library)


def post_fork(server: Any, worker: Any) -> None:
    """Before a process loads the application: all of that stays, so the collector need not look through it meanwhile."""
    gc.disable()


def post_worker_init(worker: Any) -> None:
    """After it: the gate freezes what is there once it is open."""
    gc.enable()


def child_exit(server: Any, worker: Any) -> None:
    """After a process of ours has ended: what it held, it holds no more."""
    forget_process(settings.METRICS_DIR, worker.pid)
