"""The relay: a consumer of the log that sees to it that every effect of an event happens.

With a broker it publishes a hint for each effect, waits for the confirmation of every one, and only then notes the effects and moves its
cursor, in one transaction. Whatever goes wrong in between, the hints are sent again. Without a broker noting them is all: the
relay's own runners (`outbox.effects.runners`) find them there. Both ways the cursor and the receipts commit together, so behind the cursor
there is a receipt for every effect, and the sweeper needs no search for missing ones.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from outbox.consumers.consumer import Batch
from outbox.effects.publisher import Publisher, make_publisher
from outbox.effects.receipts import Message, list_hints, note_effects
from outbox.effects.registry import Hint, list_kinds, list_wanted
from outbox.effects.running import RESEND_AFTER
from outbox.faults import fault_point
from outbox.quorum import require_quorum

NAME = "relay"


class Relay:
    """Not a projection: what happened in the world cannot be thrown away and filled again."""

    name = NAME
    staleness_budget = timedelta(seconds=10)

    def __init__(self, make: Callable[[], Publisher | None] = make_publisher) -> None:
        self._make = make
        self._publisher: Publisher | None = None
        self._is_made = False

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of event that anything follows from."""
        return list_kinds()

    def apply(self, batch: Batch) -> None:
        """Publish and note what follows from these events. `Unavailable` is nobody's fault: the batch is done again."""
        messages = _as_messages(list_hints(batch.positions))
        require_quorum()  # without a broker too: what is noted here is done outside the database as well
        publisher = self._get_publisher()
        if publisher is None:
            note_effects(messages, resend_after=RESEND_AFTER)
            return
        publisher.publish(messages)
        fault_point("after_confirm")
        note_effects(messages, resend_after=RESEND_AFTER)

    def _get_publisher(self) -> Publisher | None:
        if not self._is_made:
            self._publisher, self._is_made = self._make(), True
        return self._publisher


def _as_messages(hints: Sequence[Hint]) -> list[Message]:
    return [
        Message(hint.event_id, effect.name, target, hint.pos, hint.correlation_id)
        for hint, effect, target in list_wanted(hints)
    ]
