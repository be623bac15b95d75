"""`manage.py … | head`: whoever read our output has gone, and that is no error worth a traceback.

The one thing to know: a `BrokenPipeError` may as well come from a socket (a broker, a mail server), which is an error like any other. So it is the
pipe that is asked whether anybody reads it.
"""

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

EXIT_CODE: Final = 128 + signal.SIGPIPE  # what a shell says of `cat` at the same place


@contextmanager
def ending_quietly() -> Iterator[None]:
    """End this process without a word where the block's output has lost its reader. What it printed is flushed here, not at the very end."""
    try:
        try:
            yield
        except SystemExit:
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except BrokenPipeError:
        closed = [stream for stream in (sys.stdout, sys.stderr) if not has_reader(stream)]
        if not closed:
            raise
        for stream in closed:
            _throw_away_what_is_left(stream)
        sys.exit(EXIT_CODE)


def has_reader(stream: TextIO) -> bool:
    """Say whether what is written can still be read; of anything but a pipe (a file, a terminal) it is true."""
    asked = select.poll()
    asked.register(stream, 0)  # of errors one is told without asking
    return not any(event & select.POLLERR for _, event in asked.poll(0))


def _throw_away_what_is_left(stream: TextIO) -> None:
    """Let the interpreter's own last flush succeed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
