"""`manage.py`: Django's command line, and in one line what no command can say itself: unreadable settings, no database.

With `--traceback` the whole story is shown, as for every other error of a command.
"""

import sys
from collections.abc import Sequence

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db.utils import OperationalError

UNREADABLE = "A setting in the environment or in .env cannot be read: {}. See .env.example."
UNREACHABLE = "The database cannot be reached: {}. Is it running (`make run`), and are HANDOVER_DATA and DATABASE_URL right?"
# Refused at the door: wrong password, no such database, still starting. Without any state the server was not even met.
_NO_ENTRY = ("08", "28", "3D", "57P03")


def main(arguments: Sequence[str]) -> None:
    """Run one command."""
    try:
        import config.settings  # noqa: F401, PLC0415 - read here first, so that a fault in it can be said
    except (ImproperlyConfigured, ValueError) as error:
        sys.exit(f"handover: {UNREADABLE.format(error)}")
    try:
        execute_from_command_line(list(arguments))
    except OperationalError as error:
        if "--traceback" in arguments or not is_out_of_reach(error):
            raise
        sys.exit(f"handover: {UNREACHABLE.format(_first_line(error))}")


def is_out_of_reach(error: OperationalError) -> bool:
    """Say whether there was no connection, rather than trouble on one."""
    cause = error.__cause__
    state = cause.sqlstate if isinstance(cause, psycopg.Error) else None
    return state is None or state.startswith(_NO_ENTRY)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
