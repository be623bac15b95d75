"""Older versions of events, read as the newest: the log is never rewritten, so whoever reads must know every shape there was.

An app registers one step for each version it left behind; the steps are chained. The one thing to know: `outbox.log.reading` applies them to what
Python reads. A statement that reads payloads itself sees them as they were stored, and has to know every version by itself.

    register_upcaster(SubmissionGraded.kind, version=1, upcast=add_what_version_2_says)
"""

from collections.abc import Callable
from typing import Any

Payload = dict[str, Any]
Upcaster = Callable[[Payload], Payload]

_upcasters: dict[tuple[str, int], Upcaster] = {}


def register_upcaster(kind: str, *, version: int, upcast: Upcaster) -> None:
    """Make known how a payload of `version` is said in the version after it. A second way is a programming error."""
    if (kind, version) in _upcasters:
        raise ValueError(f"Two ways to read version {version} of {kind}.")
    _upcasters[kind, version] = upcast


def unregister_upcaster(kind: str, *, version: int) -> None:
    """Forget a step (tests register their own for a while)."""
    del _upcasters[kind, version]


def upcast(kind: str, version: int, payload: Payload) -> tuple[int, Payload]:
    """Return the newest version there is a way to, and the payload said in it. What was given is not changed."""
    while step := _upcasters.get((kind, version)):
        payload, version = step(payload), version + 1
    return version, payload
