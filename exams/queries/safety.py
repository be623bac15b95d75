"""The barrier in front of everything that tells a student "we have your work": no plain read may outrun its durability (ADR 0011)."""

import random

from exams.errors import NotYetCertain
from outbox.quorum import await_quorum

_SOON = (1, 5)  # seconds, drawn so that those refused together do not come back together


def confirm_safe() -> None:
    """Raise `NotYetCertain`, an `OutcomeUnknown`, unless all that this connection has read so far is as durable as promised. Waits up to a second.

    Call it after the read whose content is told, outside a transaction. Free at the level `local`; one read more with `quorum`.
    """
    if not await_quorum():
        raise NotYetCertain(
            "Whether your work is safe cannot be said at this moment; please ask again after Retry-After.",
            retry_after=random.randint(*_SOON),  # noqa: S311 - spreads tries, keeps no secret
        )
