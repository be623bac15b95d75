"""Stopping a long-running process in time: SIGTERM and SIGINT ask, the loop finishes what it holds and ends.

A signal handler runs between any two bytecodes, so it must not take a lock (`threading.Event.set()` there can hang for good).
It only sets a flag and writes one byte to a socket pair; sleeping is `select` on the other end. The byte stays unread on
purpose: every thread that sleeps on the same stop wakes up.
"""

import contextlib
import os
import select
import signal
import socket
from collections.abc import Iterator
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Stop:
    """A flag that can be slept on, from any number of threads."""

    def __init__(self) -> None:
        self.is_set = False
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()
        self._writer.close()

    def set(self) -> None:
        """Ask everybody who looks at this to end soon. Safe in a signal handler, and more than once."""
        self.is_set = True
        with contextlib.suppress(BlockingIOError):  # full: then there is a byte to wake up by
            self._writer.send(b"\0")

    def wait(self, seconds: float) -> bool:
        """Sleep, but no longer than until somebody asks to stop; return whether somebody did."""
        if not self.is_set:
            select.select([self._reader], [], [], seconds)
        return self.is_set


@contextlib.contextmanager
def stop_on_signals(signals: tuple[signal.Signals, ...] = SIGNALS, *, saying: str = "") -> Iterator[Stop]:
    """Give a Stop that is set by these signals; the handlers before it come back afterwards. Main thread only.

    `saying` goes to stdout with each of them at once, past every buffer and its lock, for somebody who waits at a terminal.
    """
    words = saying.encode()
    with Stop() as stop:

        def ask(_signal: int, _frame: FrameType | None) -> None:
            stop.set()
            with contextlib.suppress(OSError):  # the terminal may be what has gone
                os.write(1, words)

        before = {each: signal.signal(each, ask) for each in signals}
        try:
            yield stop
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
