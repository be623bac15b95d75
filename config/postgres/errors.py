"""What can stop the embedded server from starting, each in one line that says what is wrong and what to do."""

import errno
from pathlib import Path


class PostgresError(Exception):
    """The embedded database cannot be used; the message is one line for a person, never a traceback."""


def describe_os_error(error: OSError, path: Path) -> PostgresError:
    """Name the folder and the cure for a file system that refuses us."""
    cure = "Make room there" if error.errno in {errno.ENOSPC, errno.EDQUOT} else "Make it writable"
    reason = error.strerror or str(error)
    return PostgresError(
        f"Cannot write to {path}: {reason}. {cure}, or choose another folder with HANDOVER_DATA."
    )
