"""Where a benchmark runs: a PostgreSQL server and a data folder of its own, so that it neither sees nor harms anybody's data."""

import atexit
import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
from django.apps import apps

from config.keys import ensure_keys
from config.postgres import Cluster
from config.postgres.place import SUPERUSER

_results = Path(os.environ.get("HANDOVER_DATA", Path(__file__).parents[2] / ".data"))
_cluster: Cluster | None = None
_given = dict(os.environ)  # before anything was set for the benchmark of this process
MOST_CONNECTIONS = 320  # pgbench with 256 clients, and ours
_INSIDE = "HANDOVER_INSIDE_BENCHMARK"


def set_up_django() -> None:
    """Point Django at a server that will be started later.

    Not where Django is set up already (under pytest), nor in a process that a benchmark has started: that one has its server.
    """
    global _cluster  # noqa: PLW0603 - one per process, as Django's settings are
    if apps.ready:
        return
    if _INSIDE in os.environ:
        django.setup()
        return
    _cluster = Cluster(
        Path(tempfile.mkdtemp(prefix="handover-bench-")), options={"max_connections": str(MOST_CONNECTIONS)}
    )
    atexit.register(_remove, _cluster.place.folder, os.getpid())
    folder = _cluster.place.folder / "handover"
    ensure_keys(folder / "keys")
    os.environ.update(
        DJANGO_SETTINGS_MODULE="config.settings",
        ENV_FILE=os.devnull,
        DEBUG="false",  # with DEBUG Django keeps every query it ran
        LOG_LEVEL="WARNING",  # or a reference that passes through Django would write a line a request, and ours would not
        HANDOVER_DATA=str(folder),
        HANDOVER_KEYS=str(folder / "keys"),
        DATABASE_URL=_cluster.url(SUPERUSER),
        **{_INSIDE: "1"},
        DATABASE_OWNER_URL=_cluster.url(SUPERUSER),
    )
    django.setup()


def get_given_environment() -> dict[str, str]:
    """Return the environment this process was started with: what another benchmark, with a server of its own, is started with."""
    return dict(_given)


def get_results_folder() -> Path:
    """Return the folder for `bench.json`: the developer's `HANDOVER_DATA`, not the benchmark's own."""
    return _results


@contextlib.contextmanager
def own_server() -> Iterator[Cluster]:
    """Run the server for the length of the block; its folder goes when the process ends."""
    if _cluster is None:
        raise RuntimeError("Start a benchmark with python -m tests.benchmarks.NAME, not from within a test.")
    try:
        _cluster.start()
        yield _cluster
    finally:
        _cluster.stop(seconds=5)


def _remove(folder: Path, owner: int) -> None:
    """Remove the folder, unless this is only a child of the process that made it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
