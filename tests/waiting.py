"""Waiting for something another process or thread does: by looking, with a bound, never by sleeping and hoping."""

import contextlib
import time
from collections.abc import Callable

import psutil


def wait_until(condition: Callable[[], object], *, seconds: float = 20.0, look: float | None = None) -> None:
    """Return as soon as the condition holds; fail when it does not within the bound.

    Looks every `look` seconds; without one at once, and less often the longer it takes: who is waited for shares the processor with who looks.
    """
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        assert waited < seconds, f"Still not so after {seconds:g} s."
        time.sleep(look or min(max(0.01, waited / 20), 0.1))


def is_alive(process: psutil.Process) -> bool:
    """Say whether a process still runs. One that ends while it is looked at has ended, and so has a zombie."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False
