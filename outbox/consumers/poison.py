"""Finding the event that cannot be applied: everything before it is applied, it alone is named.

A batch that fails is halved until one event is left, each half in a savepoint, so a thousand healthy neighbours cost ten tries
more and are not touched. What is nobody's fault (a lost connection, a deadlock) is not poison and goes up to the loop.
"""

import dataclasses
from collections.abc import Callable, Sequence

from django.db import transaction

from outbox.db import check_deferred_constraints, is_transient

MOST_TRIES = 3

Apply = Callable[[Sequence[int]], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Poison:
    """The first event that fails, and how."""

    pos: int
    error: Exception

    @property
    def description(self) -> str:
        """What a person reads: the error's class and words, within reason."""
        return f"{type(self.error).__name__}: {self.error}"[:2000].replace("\x00", "�")

    @property
    def headline(self) -> str:
        """Its first line, for logs: what follows may quote the row, and rows hold people's names and marks."""
        return self.description.partition("\n")[0]


def apply_until_poison(apply: Apply, positions: Sequence[int]) -> Poison | None:
    """Apply the positions in order up to the first that fails; return that one, None when all are applied.

    Needs a transaction. Transient errors are raised, and then nothing of the transaction may be kept.
    """
    if not positions:
        return None
    error = _try_apply(apply, positions)
    if error is None:
        return None
    if len(positions) == 1:
        return Poison(positions[0], error)
    middle = len(positions) // 2
    return apply_until_poison(apply, positions[:middle]) or apply_until_poison(apply, positions[middle:])


def count_tries(poison: Poison, *, failing_pos: int | None, failing_tries: int) -> int:
    """Return how often this event has failed now, with what the consumer's row remembers of the time before."""
    return failing_tries + 1 if failing_pos == poison.pos else 1


def _try_apply(apply: Apply, positions: Sequence[int]) -> Exception | None:
    try:
        with transaction.atomic():
            apply(positions)
            check_deferred_constraints()
    except Exception as error:
        if is_transient(error):
            raise
        return error
    return None
