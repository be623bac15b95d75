"""The storage may be away, full or closed to us. To whoever waits for an answer that is "later", whatever the storage calls it.

What runs unattended (renderings, clean-up) keeps the storage's own words: it comes back by itself, and an operator reads them.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from exams.errors import StorageAway
from exams.gate.admission import draw_retry_after

logger = logging.getLogger(__name__)

# Installed only where a bucket is used, so their errors are known by where they come from.
_CLIENTS: Final = frozenset({"boto3", "botocore", "s3transfer", "urllib3"})


@contextmanager
def reaching_storage() -> Iterator[None]:
    """Turn the storage's failures in this block into `StorageAway`, and log them. A file that it has lost is none: that is no matter of time."""
    try:
        yield
    except Exception as error:
        if not is_away(error):
            raise
        logger.warning("The storage of photographed answers failed: %s", describe(error))
        raise StorageAway(retry_after=draw_retry_after()) from error


def is_away(error: Exception) -> bool:
    """Say whether an error is the storage's: the folder's, or that of a client of a bucket."""
    if isinstance(error, FileNotFoundError):
        return False
    packages = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, OSError) or not packages.isdisjoint(_CLIENTS)


def describe(error: Exception) -> str:
    """Say what went wrong, without the name of the file."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
