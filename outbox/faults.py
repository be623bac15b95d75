"""Named places where a process test may kill or freeze this very process. Does nothing unless DEBUG is on.

`HANDOVER_FAULT_POINT=settle:kill` sends SIGKILL at `fault_point("settle")`, `settle:stop` sends SIGSTOP; each place acts
once in a process, so that a resumed process goes on.
"""

import os
import signal

from django.conf import settings

_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
_acted: set[str] = set()


def fault_point(place: str) -> None:
    """Kill or stop this process here if the environment asks for it."""
    wanted, _, deed = os.environ.get("HANDOVER_FAULT_POINT", "").partition(":")
    if wanted == place and place not in _acted and settings.DEBUG:
        _acted.add(place)
        os.kill(os.getpid(), _SIGNALS[deed])
