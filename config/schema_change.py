"""Changing the schema while others are at work: by one process at a time, and so that nobody waits behind it for long.

A statement that changes a table waits for everybody who is in it, and whoever comes later waits behind that statement: behind a
backup that has been reading for an hour, that would be every hand-in. So a change waits a moment, gives up, lets the others pass and comes again.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from django.db import OperationalError, connections

from outbox.db import LOCK_NOT_AVAILABLE, find_sqlstate, load_sql

KEY: Final = 0x736368656D61  # "schema"
PATIENCE: Final = "2s"  # so long a hand-in may wait behind a change that waits itself
TRIES: Final = 20
SECONDS_BETWEEN_TRIES: Final = 5.0

Say = Callable[[str], object]


class SchemaIsBusy(Exception):
    """Somebody has had a table in hand all the time; nothing of the change that waited for it was done."""


def change_schema(change: Callable[[], object], *, say: Say, using: str = "owner") -> None:
    """Run `change`, which must be safe to begin again, until it got every lock it needs; raise `SchemaIsBusy` after some minutes.

    Its own errors are raised as they are; what the session holds then ends with it.
    """
    _wait_for_turn(say, using)
    _ask("limit_session_lock_wait", using, patience=PATIENCE)
    in_the_way = _try_often(change, say, using)
    _ask("limit_session_lock_wait", using, patience="0")
    _ask("unlock_schema", using, key=KEY)
    if in_the_way is not None:
        raise SchemaIsBusy(
            f"A table was in use at each of {TRIES} tries ({in_the_way}). "
            "End that session, or wait for it (a backup?), then try again."
        )


def _wait_for_turn(say: Say, using: str) -> None:
    """Let two machines that start at once change the schema one after the other; the second finds nothing left to do."""
    (is_ours,) = _ask("try_lock_schema", using, key=KEY)
    if not is_ours:
        say("Another process is changing the schema; waiting for it.")
        _ask("lock_schema", using, key=KEY)


def _try_often(change: Callable[[], object], say: Say, using: str) -> str | None:
    """Return who was in the way to the end, None when it is done."""
    for tries_left in reversed(range(TRIES)):
        if _is_done(change):
            return None
        who = _name_sessions(using)
        if tries_left:
            say(f"A table is in use ({who}). Nobody is to wait behind us, so we let them pass and try again.")
            time.sleep(SECONDS_BETWEEN_TRIES)
    return who


def _is_done(change: Callable[[], object]) -> bool:
    try:
        change()
    except OperationalError as error:
        if find_sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        return False
    return True


def _name_sessions(using: str) -> str:
    with connections[using].cursor() as cursor:
        cursor.execute(load_sql("config", "list_sessions_in_tables"))
        found = cursor.fetchall()
    return ", ".join(f"session {pid} of {role}{program and f', {program}'}" for pid, role, program in found)


def _ask(name: str, using: str, **parameters: Any) -> tuple[Any, ...]:
    with connections[using].cursor() as cursor:
        cursor.execute(load_sql("config", name), parameters)
        row: tuple[Any, ...] = cursor.fetchone()
    return row
