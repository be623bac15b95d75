"""What an operator may do from the console. Each deed is written into Django's log of administration, with who did it."""

from collections.abc import Iterable
from uuid import UUID

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model

from config.console.overview import DONE_HERE, forget_overview
from gradebook.models import User
from outbox.consumers import registry
from outbox.consumers.cursors import adopt_epoch, pause_consumer, resume_consumer
from outbox.consumers.parking import release_subject
from outbox.effects.failures import replay_effects
from outbox.models import Consumer, DeadLetter, EffectReceipt
from outbox.queue.dead_letters import Replayed, replay_dead_letters

SENTENCES = {
    Replayed.QUEUED: "It is queued again.",
    Replayed.ALREADY_WAITING: "The same job is in the queue already; this letter is closed.",
    Replayed.ALREADY_REPLAYED: "It was replayed before; nothing was done.",
    Replayed.UNKNOWN: "There is no such dead letter.",
}


def replay_letter(letter: DeadLetter, *, by: User) -> str:
    """Queue one job again; return what came of it."""
    outcome = replay_dead_letters(ids=[letter.pk], by=by.pk)[letter.pk]
    _write_down(letter, words=f"replayed a dead letter ({outcome})", by=by)
    return SENTENCES[outcome]


def replay_letters(ids: Iterable[UUID], *, by: User) -> str:
    """Queue these jobs again, behind fresh work; return how many there were."""
    outcomes = replay_dead_letters(ids=ids, by=by.pk)
    queued = [each for each, outcome in outcomes.items() if outcome is Replayed.QUEUED]
    _write_down(*DeadLetter.objects.filter(pk__in=queued), words="replayed a dead letter (queued)", by=by)
    return f"{len(queued)} of {len(outcomes)} are queued again."


def replay_effect(receipt: EffectReceipt, *, by: User) -> str:
    """Let an effect that failed or was refused be tried again; return what came of it."""
    if not replay_effects(ids=[receipt.pk]):
        return "It is being tried again already, or has happened; nothing was done."
    _write_down(receipt, words=f"let a {receipt.state} effect be tried again", by=by)
    return "It will be tried again."


def pause(consumer: Consumer, *, by: User) -> str:
    """Stop a consumer after its running batch."""
    pause_consumer(consumer.name)
    _write_down(consumer, words="paused the consumer", by=by)
    return f"{consumer.name} is paused."


def resume(consumer: Consumer, *, by: User) -> str:
    """Let a consumer go on."""
    resume_consumer(consumer.name)
    _write_down(consumer, words="let the consumer go on", by=by)
    return f"{consumer.name} goes on."


def adopt(consumer: Consumer, *, by: User) -> str:
    """Let a consumer go on at its position in the log's new epoch. Raises OutboxError where the log has no such position."""
    position = adopt_epoch(consumer.name)
    _write_down(consumer, words=f"let the consumer go on in the log's new epoch ({position})", by=by)
    return f"{consumer.name} goes on at {position}."


def release(consumer: Consumer, subject: str, *, by: User) -> str:
    """Replay what waits for a parked subject. Raises ParkedSubject.DoesNotExist."""
    outcome = release_subject(registry.get_consumer(consumer.name), subject)
    _write_down(consumer, words=f"released {subject} ({outcome.replayed} events replayed)", by=by)
    if outcome.poison:
        return f"{outcome.replayed} events were replayed, then position {outcome.poison.pos} failed again: it stays set aside."
    return f"{outcome.replayed} events were replayed; {subject} is free."


def _write_down(*things: Model, words: str, by: User) -> None:
    LogEntry.objects.bulk_create(
        LogEntry(
            user=by,
            content_type=ContentType.objects.get_for_model(thing),
            object_id=str(thing.pk),
            object_repr=str(thing)[:200],
            action_flag=CHANGE,
            change_message=f"{DONE_HERE}{words}",
        )
        for thing in things
    )
    forget_overview()
