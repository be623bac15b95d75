"""Processes that must not outlive the one that started them, even when that one is killed with -9.

Linux only (`PR_SET_PDEATHSIG`); elsewhere it does nothing, and the next start finds the orphans by their recorded pid.
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
    return lambda: tie_to_parent(parent, sign)


def tie_to_parent(parent: int, sign: signal.Signals) -> None:
    """Ask the kernel to send us `sign` when `parent`, which must be our parent, ends."""
    if _libc is None:
        return
    _libc.prctl(_PR_SET_PDEATHSIG, int(sign))
    if os.getppid() != parent:  # it ended before we asked: no signal would ever come
        os._exit(1)
