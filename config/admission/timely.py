"""How long somebody waits for an answer of Django's: as long as PAGE_SECONDS, whatever the database does.

A view runs in a thread and cannot be broken off, and nothing on a frozen server bounds it. So there are two bounds: the server ends a
statement that takes too long, if it still can; and where no answer has begun by then, the client hears what is true. The thread goes on, and
with it the place it holds.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any
from weakref import WeakSet

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from outbox.db import load_sql

Send = Callable[[Any], Awaitable[None]]

log = logging.getLogger(__name__)
_seen: WeakSet[psycopg.Connection] = WeakSet()


class TimelyAnswer:
    """An application's answer on its way out. Where it does not begin in time `give_up` answers, and what comes later is dropped.

    The time runs from `since()`: when the whole request was there, by the loop's clock, None until then. A slow client is bounded elsewhere.
    """

    def __init__(
        self,
        send: Send,
        *,
        seconds: float,
        since: Callable[[], float | None],
        give_up: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._send = send
        self._seconds = seconds
        self._since = since
        self._give_up = give_up
        self._loop = asyncio.get_running_loop()
        self._refusal: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(seconds, self._end_waiting)

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Pass on a message of the application's."""
        if self._refusal is None:
            self._timer.cancel()
            await self._send(message)

    async def close(self) -> None:
        """Wait for nothing more: the application has ended."""
        self._timer.cancel()
        if self._refusal is not None:
            await self._refusal

    def _end_waiting(self) -> None:
        now = self._loop.time()
        left = (self._since() or now) + self._seconds - now
        if left > 0:
            self._timer = self._loop.call_later(left, self._end_waiting)
            return
        log.warning(
            "An answer has not begun in time; its client was told so, and its place is held until it ends."
        )
        self._refusal = self._loop.create_task(self._give_up())


def bound_statements() -> None:
    """Let the server end statements of this process's pages: for web processes, and before the first connection is made."""
    connection_created.connect(_meet, dispatch_uid=__name__)


def _meet(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """See to a session once: the pool hands it out again and again."""
    session = connection.connection
    if connection.alias == DEFAULT_DB_ALIAS and session not in _seen:
        bound_session(connection)
        _seen.add(session)


def bound_session(connection: BaseDatabaseWrapper) -> None:
    """Bound the statements of this session. By a statement: a pooler in between takes no settings at the start (PgBouncer)."""
    with connection.cursor() as cursor:
        cursor.execute(
            load_sql("config", "bound_statements"), {"limit": f"{round(settings.PAGE_SECONDS * 1000)}ms"}
        )
