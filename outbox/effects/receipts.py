"""Receipts of effects: noting what has to happen, taking it for a try, and writing how the try ended.

A try is counted when it is taken. Whoever takes one gets a lease, and only the holder of the lease may write: `lock_held_effects` is
the first statement of every settling transaction.
"""

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction

from outbox.db import load_sql, require_transaction
from outbox.effects.registry import Effect, Hint, list_effects
from outbox.models.effects import EffectState
from outbox.patience import limit_patience

LONGEST_ERROR = 2000


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One effect of one event for one target, as it travels: names and ids, never state."""

    event_id: UUID
    effect: str
    target: str
    pos: int
    correlation_id: UUID | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """A receipt in our hands until its lease ends. `tries` counts this one."""

    id: int
    event_id: UUID
    effect: str
    target: str
    pos: int
    tries: int
    lease_id: UUID


@dataclasses.dataclass(frozen=True, slots=True)
class Ending:
    """How a try ended; `wait` is how many seconds from now the next may begin, and `counts` whether it was one of its tries."""

    claim: Claim
    state: EffectState
    error: str = ""
    wait: float = 0.0
    counts: bool = True


def list_hints(positions: Sequence[int]) -> list[Hint]:
    """Return what the relay needs to know of the events at these positions (rising), in order."""
    parameters = {"positions": list(positions), "first": positions[0], "last": positions[-1]}
    return [Hint(*row) for row in _rows("list_hints", parameters)]


def note_effects(messages: Sequence[Message], *, resend_after: float) -> None:
    """Write down that these have to happen; what is noted already stays as it is. Needs a transaction."""
    require_transaction()
    if messages:
        with connection.cursor() as cursor:
            cursor.execute(load_sql("outbox", "note_effects"), _columns(messages) | {"seconds": resend_after})


def claim_effect(message: Message, effect: Effect, *, resend_after: float) -> Claim | None:
    """Take the one a message speaks of, noting it first if the message was faster than the relay's own commit.

    None: it is done, or somebody is at it, or it is not due.
    """
    with transaction.atomic(durable=True):
        limit_patience()
        note_effects([message], resend_after=resend_after)
        parameters = {name: getattr(message, name) for name in ("event_id", "effect", "target")}
        claims = _claim("claim_effect", parameters, effect.lease_seconds)
    return claims[0] if claims else None


def claim_due_effects(effects: Collection[Effect], *, at_most: int) -> list[Claim]:
    """Take some effects of these kinds that are due, or, when there are none, one whose try was lost."""
    lease = min(effect.lease_seconds for effect in effects)
    names = [effect.name for effect in effects]
    with transaction.atomic(durable=True):
        limit_patience()
        return _claim("claim_pending_effects", {"effects": names, "at_most": at_most}, lease)


def claim_lost_effect(effects: Collection[Effect]) -> list[Claim]:
    """Take one effect whose try was lost with its process, if there is any: alone, because it may be what the process died of."""
    lease = min(effect.lease_seconds for effect in effects)
    with transaction.atomic(durable=True):
        limit_patience()
        return _claim("claim_lost_effect", {"effects": [effect.name for effect in effects]}, lease)


def take_overdue_effects(*, at_most: int, resend_after: float) -> list[Message]:
    """Take effects whose message has to be sent again. Needs a transaction, to be committed once the broker has confirmed."""
    require_transaction()
    parameters: dict[str, Any] = {
        "effects": [effect.name for effect in list_effects()],
        "seconds": resend_after,
        "at_most": at_most,
    }
    return [Message(*row) for row in _rows("take_overdue_effects", parameters)]


def lock_held_effects(claims: Sequence[Claim]) -> list[Claim]:
    """Lock and return those of one lease that are still held. Needs a transaction."""
    require_transaction()
    limit_patience()
    held = {
        receipt_id
        for (receipt_id,) in _rows(
            "lock_held_effects",
            {"ids": [claim.id for claim in claims], "lease_id": claims[0].lease_id},
        )
    }
    return [claim for claim in claims if claim.id in held]


def settle_effects(endings: Sequence[Ending]) -> None:
    """Write how these tries ended, after `lock_held_effects` in the same transaction."""
    require_transaction()
    if not endings:
        return
    parameters: dict[str, Any] = {
        "ids": [ending.claim.id for ending in endings],
        "states": [str(ending.state) for ending in endings],
        "errors": [_storable(ending.error) for ending in endings],
        "waits": [ending.wait for ending in endings],
        "tries": [ending.claim.tries - (not ending.counts) for ending in endings],
    }
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "settle_effects"), parameters)


def _claim(statement: str, parameters: dict[str, Any], lease: float) -> list[Claim]:
    rows = _rows(statement, parameters | {"lease_id": uuid4(), "lease": lease})
    return sorted((Claim(*row) for row in rows), key=lambda claim: (claim.pos, claim.id))


def _columns(messages: Iterable[Message]) -> dict[str, list[Any]]:
    rows = list(messages)
    return {
        "event_ids": [each.event_id for each in rows],
        "effects": [each.effect for each in rows],
        "targets": [each.target for each in rows],
        "positions": [each.pos for each in rows],
    }


def _rows(statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", statement), parameters)
        return list(cursor.fetchall())


def _storable(error: str) -> str:
    """Return the words of an error as PostgreSQL can store them: it may quote what somebody wrote."""
    return error.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")[:LONGEST_ERROR]
