"""Trying effects: those of the database together in one transaction, those outside one by one without any.

An expected end of a race (done already, somebody else's lease) is a return value. A lost database is raised: the loop or Celery begins again,
and the lease ends by itself.
"""

import logging
import random
from collections.abc import Sequence
from contextlib import AbstractContextManager

from django.db import transaction

from outbox.correlation import correlated
from outbox.db import check_deferred_constraints, is_transient
from outbox.effects.receipts import (
    Claim,
    Ending,
    Message,
    claim_due_effects,
    claim_effect,
    claim_lost_effect,
    lock_held_effects,
    settle_effects,
)
from outbox.effects.registry import Delivery, Effect, GiveUp, NotNow, Refuse, TryLater, find_effect
from outbox.faults import fault_point
from outbox.log.reading import list_events_at
from outbox.models.effects import EffectState

logger = logging.getLogger(__name__)

AT_ONCE = 50  # effects of the database that share a transaction
RESEND_AFTER = 60.0  # seconds until a message whose effect has not happened is sent again
JITTER = 0.2
STRAY = "This log has no such event: the message is from before a restore, or from another installation."
LOST = "Nobody noted how try {}, the last one, ended: its process died, or took longer than its lease."


def run_message(message: Message) -> EffectState | None:
    """Try the one effect a message speaks of; return how it ended, None when there was nothing to do."""
    effect = find_effect(message.effect)
    if effect is None:
        logger.warning(
            "No effect is called %s here; the message waits for a process that knows it.", message.effect
        )
        return None
    claim = claim_effect(message, effect, resend_after=RESEND_AFTER)
    if claim is None:
        return None
    fault_point("after_effect_claim")
    return run_claims([claim]).get(claim.id)


def run_due_effects(effects: Sequence[Effect], *, at_most: int = AT_ONCE) -> int:
    """Try some effects that are due, and one whose try was lost; return how many were taken."""
    claims = claim_due_effects(effects, at_most=at_most)
    lost = claim_lost_effect(effects)
    for some in (claims, lost):
        if some:
            fault_point("after_effect_claim")
            run_claims(some)
    return len(claims) + len(lost)


def run_claims(claims: Sequence[Claim]) -> dict[int, EffectState]:
    """Try these, taken together; return how each ended (those whose lease was lost meanwhile are not in it)."""
    ended: dict[int, EffectState] = {}
    inside: list[Try] = []
    outside: list[Try] = []
    tries, strays = _prepare(claims)
    ended |= _give_up_strays(strays)
    for one in tries:
        claim, effect, _ = one
        if is_spent(claim, effect):
            ended |= _note_end(*one, GiveUp(LOST.format(claim.tries - 1)))
        else:
            (outside if effect.outside else inside).append(one)
    ended |= _run_inside(inside)
    for one in outside:
        ended |= _run_outside(*one)
    return ended


Try = tuple[Claim, Effect, Delivery]


def _prepare(claims: Sequence[Claim]) -> tuple[list[Try], list[Claim]]:
    """Return each claim with its effect and what the effect is given; and those whose event this log does not have."""
    events = {event.pos: event for event in list_events_at(sorted({claim.pos for claim in claims}))}
    tries, strays = [], []
    for claim in claims:
        effect, event = find_effect(claim.effect), events.get(claim.pos)
        assert effect is not None, "Only known effects are claimed."
        if event is None or event.event_id != claim.event_id:
            strays.append(claim)
        else:
            tries.append((claim, effect, Delivery(event, claim.target, claim.tries)))
    return tries, strays


def _give_up_strays(claims: Sequence[Claim]) -> dict[int, EffectState]:
    """End those that were tried as often as their effect allows: the log is not the one they were written for.

    Until then their leases end by themselves: the event may be on its way to the server we read. After a restore of an older backup
    it never comes, and a broker that kept the message would send it for ever.
    """
    spent = [claim for claim in claims if (effect := find_effect(claim.effect)) and is_spent(claim, effect)]
    if not spent:
        return {}
    with transaction.atomic(durable=True):
        held = set(lock_held_effects(spent))
        endings = [Ending(claim, EffectState.FAILED, STRAY) for claim in spent if claim in held]
        settle_effects(endings)
    return {ending.claim.id: ending.state for ending in endings}


def _run_inside(tries: Sequence[Try]) -> dict[int, EffectState]:
    """Do effects and receipts in one transaction, each in a savepoint of its own so that one cannot spoil the others."""
    if not tries:
        return {}
    with transaction.atomic(durable=True):
        held = set(lock_held_effects([claim for claim, *_ in tries]))
        endings = [_try_inside(*one) for one in tries if one[0] in held]
        settle_effects(endings)
        fault_point("in_effect")
    return {ending.claim.id: ending.state for ending in endings}


def _try_inside(claim: Claim, effect: Effect, delivery: Delivery) -> Ending:
    try:
        with _about(delivery), transaction.atomic():
            effect.run(delivery)
            check_deferred_constraints()
    except Exception as error:
        if is_transient(error):
            raise
        return _end_badly(claim, effect, delivery, error)
    return Ending(claim, EffectState.DONE)


def _run_outside(claim: Claim, effect: Effect, delivery: Delivery) -> dict[int, EffectState]:
    """Do it without a transaction, then note how it ended, if the lease is still ours."""
    failure: Exception | None = None
    try:
        with _about(delivery):
            effect.run(delivery)
    except Exception as error:  # noqa: BLE001 - the outermost handler: the error is noted on the receipt
        failure = error
    fault_point("after_effect")
    return _note_end(claim, effect, delivery, failure)


def _note_end(
    claim: Claim, effect: Effect, delivery: Delivery, failure: Exception | None
) -> dict[int, EffectState]:
    """Write how one ended that ran outside, or was not begun, if the lease is still ours."""
    with transaction.atomic(durable=True):
        if not lock_held_effects([claim]):
            return {}
        ending = (
            Ending(claim, EffectState.DONE)
            if failure is None
            else _end_badly(claim, effect, delivery, failure)
        )
        settle_effects([ending])
    return {claim.id: ending.state}


def _end_badly(claim: Claim, effect: Effect, delivery: Delivery, error: Exception) -> Ending:
    """Decide what becomes of a failed try, and let the effect's own app know when it was the last."""
    ending = decide_ending(claim, effect, error)
    if ending.counts:
        level = logging.INFO if ending.state == EffectState.REFUSED else logging.WARNING
        with _about(delivery):
            logger.log(level, "%s of %s: %s", claim.effect, claim.event_id, type(error).__name__)
    if ending.state != EffectState.PENDING and effect.failed is not None:
        effect.failed(delivery, ending.error)
    return ending


def _about(delivery: Delivery) -> AbstractContextManager[None]:
    """Join what is logged and published to the event, or to what that was joined to."""
    return correlated(delivery.event.correlation_id or delivery.event.event_id)


def is_spent(claim: Claim, effect: Effect) -> bool:
    """Say whether the last try was made already, and taken along by the process that made it: one that kills is not begun for ever."""
    return claim.tries > len(effect.retries) + 1


def decide_ending(claim: Claim, effect: Effect, error: Exception) -> Ending:
    """Say whether a failed try is repeated, and when: by the effect's own table, spread by a fifth, or later if we are asked to."""
    if isinstance(error, NotNow):
        return Ending(claim, EffectState.PENDING, str(error), _spread(error.seconds), counts=False)
    words = str(error) if isinstance(error, GiveUp | TryLater) else f"{type(error).__name__}: {error}"
    if isinstance(error, Refuse):
        return Ending(claim, EffectState.REFUSED, words)
    if isinstance(error, GiveUp) or claim.tries > len(effect.retries):
        return Ending(claim, EffectState.FAILED, words)
    wait = _spread(effect.retries[claim.tries - 1])
    if isinstance(error, TryLater) and error.seconds is not None:
        wait = max(wait, error.seconds)
    return Ending(claim, EffectState.PENDING, words, wait)


def _spread(seconds: float) -> float:
    return seconds * random.uniform(1, 1 + JITTER)  # noqa: S311 - jitter, not a secret
