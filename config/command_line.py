"""`manage.py`: Django's command line, and in one line what no command can say itself: unreadable settings, no database, not safe yet.

With `--traceback` the whole story is shown, as for every other error of a command. Where nobody reads on (`| head`) it ends without a word.
"""

import gc
import sys
from collections.abc import Sequence
from typing import Any

import django
import psycopg
from django.core.management import execute_from_command_line
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.utils import OperationalError

from config.closed_pipe import ending_quietly
from config.environment import read_settings

UNREACHABLE = "The database cannot be reached: {}. Is it running (`make run`), and are HANDOVER_DATA and DATABASE_URL right?"
UNSAFE = (
    "Too few standbys have what this command has read or written. It is on the primary's disk; should that be lost now, look whether it "
    "is there before you go on."
)
_SECONDS_TO_BE_SAFE = 2.5
# What these write follows from what is safe, and is done again where it was lost.
_LOOPS = frozenset({"run_worker", "run_sequencer", "run_consumer", "run_relay", "sweep"})
# Refused at the door: wrong password, no such database, still starting. Without any state the server was not even met.
_NO_ENTRY = ("08", "28", "3D", "57P03")


def main(arguments: Sequence[str]) -> None:
    """Run one command."""
    _load()
    spoken_with: set[str] = set()

    def note(connection: BaseDatabaseWrapper, **_: Any) -> None:
        spoken_with.add(connection.alias)

    connection_created.connect(note)
    try:
        with ending_quietly():
            execute_from_command_line(list(arguments))
    except OperationalError as error:
        if "--traceback" in arguments or not is_out_of_reach(error):
            raise
        sys.exit(f"handover: {UNREACHABLE.format(_first_line(error))}")
    if spoken_with and _LOOPS.isdisjoint(arguments[1:2]) and not _is_safe():
        sys.stderr.write(f"handover: {UNSAFE}\n")


def _load() -> None:
    """Load settings and apps. All of it stays, so the collector looks through none of it: not meanwhile (a sixth of the time) nor later."""
    gc.disable()
    read_settings()
    django.setup()
    gc.freeze()
    gc.enable()


def _is_safe() -> bool:
    """Say whether all that was committed will outlive the primary, as far as HANDOVER_DURABILITY promises it: no commit waited for that."""
    from outbox.quorum import await_quorum  # noqa: PLC0415 - needs settings that were read

    return await_quorum(seconds=_SECONDS_TO_BE_SAFE)


def is_out_of_reach(error: OperationalError) -> bool:
    """Say whether there was no connection, rather than trouble on one."""
    cause = error.__cause__
    state = cause.sqlstate if isinstance(cause, psycopg.Error) else None
    return state is None or state.startswith(_NO_ENTRY)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
