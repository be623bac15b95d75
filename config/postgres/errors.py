"""What can stop the embedded server from starting, each in one line that says what is wrong and what to do."""

import errno
import re
from pathlib import Path

_REASON = re.compile(r"(?:error|fatal|panic|detail|hint): ", re.IGNORECASE)


class PostgresError(Exception):
    """The embedded database cannot be used; the message is one line for a person, never a traceback."""


def describe_os_error(error: OSError, path: Path) -> PostgresError:
    """Name the folder and the cure for a file system that refuses us."""
    cure = "Make room there" if error.errno in {errno.ENOSPC, errno.EDQUOT} else "Make it writable"
    reason = error.strerror or str(error)
    return PostgresError(
        f"Cannot write to {path}: {reason}. {cure}, or choose another folder with HANDOVER_DATA."
    )


def explain_failure(said: str) -> str:
    """Return the reason that one of PostgreSQL's programs gave for its failure: what it says last is how it cleaned up."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    reasons = [line for line in lines if _REASON.search(line)]
    return "; ".join(reasons or lines[-1:]) or "it said nothing"
