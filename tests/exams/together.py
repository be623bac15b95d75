"""Several calls at the same instant, each in a thread with a database connection of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connection


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Let all calls begin together; return what each returned, or the exception it raised, in order."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            start.wait(timeout=30)
            return call()
        except Exception as error:  # noqa: BLE001 - the caller judges it
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
