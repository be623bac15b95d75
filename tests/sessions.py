"""Second connections for scripted interleavings: each step happens exactly where the test says, without any sleep."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

INSERT = """
    INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload)
    VALUES (gen_random_uuid(), 'ThingNoted', %s, %s, 'policy', '{}')
    RETURNING seq
"""


class Session:
    """A connection that stays in its transaction until told otherwise; bound parameters as Django binds them."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, cursor_factory=psycopg.ClientCursor)

    @property
    def cursor(self) -> Any:
        """A fresh cursor; Any because our functions are typed for Django's wrapper around the same thing."""
        return self.connection.cursor()

    def run(self, statement: str, *parameters: object) -> Any:
        """Run a statement and return the first column of its first row, if it gives one."""
        cursor = self.connection.execute(statement, parameters)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None

    def take_xid(self) -> int:
        """Get a transaction id now, before anything is written."""
        return int(self.run("SELECT pg_current_xact_id()::text"))

    def append(self, subject: str = "thing:1", version: int = 1) -> int:
        """Insert an event and return its sequence number."""
        return int(self.run(INSERT, subject, version))

    def commit(self) -> None:
        self.connection.commit()

    def rollback(self) -> None:
        self.connection.rollback()


class Sessions:
    """Opens sessions on the test's database and closes them all at the end."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._stack = contextlib.ExitStack()

    def open(self, url: str | None = None) -> Session:
        session = Session(url or self.url)
        self._stack.callback(session.connection.close)
        return session

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def sessions(transactional_db: None, database_url: str) -> Iterator[Sessions]:
    """Second connections to the test's database."""
    opened = Sessions(database_url)
    yield opened
    opened.close()


class Background:
    """A thread whose exception is the test's: `result()` waits for it and raises what it raised."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._outcome: object = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        from django.db import connections  # noqa: PLC0415 - settings exist only after pytest_configure

        try:
            self._outcome = self._work()
        except BaseException as error:  # noqa: BLE001 - handed over to the test
            self._error = error
        finally:
            connections.close_all()

    def result(self, seconds: float = 30) -> Any:
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "the background work does not end"
        if self._error:
            raise self._error
        return self._outcome


def count_lock_waiters(session: Session) -> int:
    """Return how many sessions of this database wait for a lock right now."""
    waiting = session.run(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    session.commit()
    return int(waiting)
