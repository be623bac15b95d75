"""A sweeper that runs while a test looks on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from django.db import connection

from outbox.queue.sweeper import Sweeper
from outbox.stopping import Stop


@contextmanager
def sweeping_on() -> Iterator[None]:
    """Sweep as `manage.py sweep` does, for the length of the block; raise what stopped the sweeper, if anything did."""

    def run() -> None:
        try:
            Sweeper().run(stop)
        finally:
            connection.close()

    with Stop() as stop, ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        try:
            yield
        finally:
            stop.set()
            running.result(timeout=20)
