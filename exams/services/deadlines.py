"""Moving deadlines: an extension, an accommodation or a changed window reaches the attempts it is for, also after their end.

The one thing to know: an attempt is opened again only if the server ended it (nobody's Submit is ever undone), only the
student's last one, and only if its new deadline is still to come. What the server handed in is then withdrawn.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from exams.deadlines import PersonalDeadline
from exams.events import AttemptFact, AttemptReopened, DeadlineMoved
from exams.local_time import write_utc
from exams.locks import lock_exam_times, lock_student_times
from exams.models import Accommodation, Attempt, AttemptState, Extension, ExtensionKind, Origin, Submission
from exams.queries.times import Times
from exams.services.facts import describe, event_of
from outbox.db import database_now, load_sql
from outbox.log.publish import Actor, NewEvent, publish
from outbox.models.log import ActorType


@dataclasses.dataclass(frozen=True, slots=True)
class Moved:
    """How many attempts got another deadline, and how many of them were opened again."""

    moved: int
    reopened: int


@transaction.atomic
def grant_extension(
    *,
    exam_id: UUID,
    kind: ExtensionKind,
    amount: int,
    reason: str,
    by: UUID,
    student_id: UUID | None = None,
    school_class_id: UUID | None = None,
) -> Extension:
    """Give more time to one student, one class, or (neither named) everybody; attempts under way or ended get it at once."""
    extension = Extension.objects.create(
        exam_id=exam_id,
        student_id=student_id,
        school_class_id=school_class_id,
        kind=kind,
        amount=amount,
        reason=reason,
        granted_by_id=by,
    )
    move_exam_deadlines(exam_id=exam_id, reason=reason, by=by)
    return extension


@transaction.atomic
def set_accommodation(*, student_id: UUID, factor: object, note: str = "", by: UUID) -> Accommodation:
    """Set a student's extra-time factor; attempts under way get it at once."""
    values = {"extra_time_factor": factor, "note": note}
    accommodation, _ = Accommodation.objects.update_or_create(student_id=student_id, defaults=values)
    move_student_deadlines(student_id=student_id, reason="accommodation", by=by)
    return accommodation


@transaction.atomic
def move_exam_deadlines(*, exam_id: UUID, reason: str, by: UUID) -> Moved:
    """Compute the deadlines of this exam's attempts anew; call it in the transaction that changed what they are made of.

    Waits for starts under way; locks the attempts that move, by id.
    """
    lock_exam_times(exam_id)
    return _move(Attempt.objects.filter(exam=exam_id), reason, by)


@transaction.atomic
def move_student_deadlines(*, student_id: UUID, reason: str, by: UUID) -> Moved:
    """Compute the deadlines of this student's attempts anew; call it in the transaction that changed the accommodation."""
    lock_student_times(student_id)
    return _move(Attempt.objects.filter(student=student_id), reason, by)


def _move(attempts: QuerySet[Attempt], reason: str, by: UUID) -> Moved:
    """Find who moves without a lock, then lock those and read them anew: times cannot change meanwhile, states can.

    Locking and reading are two statements on purpose: one that waited for a lock still sees the rest as it was before.
    """
    now = database_now()
    found = list(_movable(attempts))
    times = Times({attempt.exam for attempt in found}, {attempt.student_id for attempt in found})
    moving = [attempt.pk for attempt, _ in _decide(found, times, now)]
    locked = Attempt.objects.filter(pk__in=moving).order_by("id").select_for_update(no_key=True)
    moves = list(
        _decide(_movable(Attempt.objects.filter(pk__in=[attempt.pk for attempt in locked])), times, now)
    )
    withdrawn = _withdraw([attempt.pk for attempt, _ in moves], now)
    _write(moves)
    actor = Actor(ActorType.PERSON, by)
    publish(_event(*move, withdrawn=withdrawn.get(move[0].pk), reason=reason, by=actor) for move in moves)
    return Moved(moved=len(moves), reopened=sum(attempt.state != AttemptState.OPEN for attempt, _ in moves))


def _movable(attempts: QuerySet[Attempt]) -> QuerySet[Attempt]:
    """Return those under way, and those the server ended that no later attempt has followed."""
    same = Attempt.objects.filter(exam=OuterRef("exam"), student=OuterRef("student"))
    handed_in = Submission.objects.filter(attempt=OuterRef("pk"), withdrawn_at__isnull=True)
    is_ours_to_open = Q(state=AttemptState.NOT_TAKEN) | Exists(handed_in.filter(origin=Origin.SERVER))
    return attempts.filter(
        Q(state=AttemptState.OPEN) | is_ours_to_open & ~Exists(same.filter(number__gt=OuterRef("number")))
    ).select_related("exam__school")


def _decide(
    attempts: Iterable[Attempt], times: Times, now: datetime
) -> Iterator[tuple[Attempt, PersonalDeadline]]:
    """Yield the attempts that get another deadline, with it."""
    for attempt in attempts:
        deadline = times.of(attempt.exam_id, attempt.student_id).deadline(started_at=attempt.started_at)
        is_new = deadline != _deadline_of(attempt)
        if is_new if attempt.state == AttemptState.OPEN else deadline.closes_at > now:
            yield attempt, deadline


def _deadline_of(attempt: Attempt) -> PersonalDeadline:
    return PersonalDeadline(
        attempt.closes_at, attempt.grace_until, attempt.accepts_until, attempt.deadline_rule
    )


def _withdraw(attempt_ids: Collection[UUID], now: datetime) -> dict[UUID, UUID]:
    """Withdraw what the server handed in for these attempts; return the submission of each that had one."""
    submissions = Submission.objects.filter(
        attempt__in=attempt_ids, withdrawn_at__isnull=True, origin=Origin.SERVER
    )
    withdrawn = dict(submissions.values_list("attempt_id", "id"))
    submissions.update(withdrawn_at=now)
    return withdrawn


def _write(moves: Sequence[tuple[Attempt, PersonalDeadline]]) -> None:
    parameters: dict[str, Any] = {
        "ids": [attempt.pk for attempt, _ in moves],
        "closes": [deadline.closes_at for _, deadline in moves],
        "grace": [deadline.grace_until for _, deadline in moves],
        "accepts": [deadline.accepts_until for _, deadline in moves],
        "rules": [deadline.rule for _, deadline in moves],
    }
    with connection.cursor() as cursor:
        cursor.execute(load_sql("exams", "move_deadlines"), parameters)


def _event(
    attempt: Attempt, deadline: PersonalDeadline, *, withdrawn: UUID | None, reason: str, by: Actor
) -> NewEvent:
    new_closes_at = write_utc(deadline.closes_at)
    fact: AttemptFact
    if attempt.state == AttemptState.OPEN:
        old_closes_at = write_utc(attempt.closes_at)
        fact = DeadlineMoved(
            **describe(attempt),
            old_closes_at=old_closes_at,
            new_closes_at=new_closes_at,
            rule=deadline.rule,
            reason=reason,
        )
    else:
        fact = AttemptReopened(
            **describe(attempt), withdrawn_submission_id=withdrawn, new_closes_at=new_closes_at, reason=reason
        )
    return event_of(attempt, fact, by=by)
