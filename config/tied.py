"""Processes that must not outlive the one that started them, even when that one is killed with -9.

Linux only (`PR_SET_PDEATHSIG`); elsewhere it does nothing, and the next start finds the orphans by their recorded pid.
As a program, `python -m config.tied COMMAND…` ties itself and becomes the command.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(sign: signal.Signals) -> Callable[[], None]:
    """Return a `preexec_fn`: the new process gets `sign` as soon as the thread that started it ends."""
    parent = os.getpid()

    def tie() -> None:
        if _libc is None:
            return
        _libc.prctl(_PR_SET_PDEATHSIG, int(sign))
        if os.getppid() != parent:  # it died between fork and prctl: no signal would ever come
            os._exit(1)

    return tie
