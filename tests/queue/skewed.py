"""A wrong clock for one process: libfaketime, with the monotonic clock left alone, as it is on a machine whose clock is wrong."""

import shutil
from pathlib import Path

LIBRARY = "libfaketimeMT.so.1"
PLACES = ("/usr/lib/*/faketime", "/usr/lib/faketime", "/usr/lib64/faketime", "/opt/homebrew/lib/faketime")


def skewed_by(seconds: int) -> dict[str, str]:
    """Return the environment of a process whose wall clock is wrong by so many seconds. Fails where the library is missing."""
    found = [path for place in PLACES for path in Path("/").glob(f"{place[1:]}/{LIBRARY}")]
    assert found, f"{LIBRARY} is missing ({shutil.which('faketime') or 'apt-get install faketime'})."
    return {"LD_PRELOAD": str(found[0]), "FAKETIME": f"{seconds:+d}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
