"""Closing attempts whose time is over, whether or not a browser is still there: the server hands in the last draft.

The one thing to know: it waits `MARGIN` past the last moment at which a hand-in is accepted. A hand-in that came in time may
still stand in the gate's line; it must find its attempt open.
"""

import dataclasses
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from uuid_utils.compat import uuid7

from exams.canonical import digest
from exams.events import AttemptNotTaken, SubmissionAccepted
from exams.jobs import grading_job
from exams.local_time import write_utc
from exams.models import Attempt, AttemptState, Decision, Draft, Origin, Submission
from exams.receipt_keys import get_key_ring
from exams.services.facts import SERVER, describe, event_of
from outbox.db import is_transient
from outbox.log.publish import NewEvent, publish
from outbox.queue.jobs import enqueue

# Longer than a hand-in can be in the gate: its patience and one statement (a test compares).
MARGIN = timedelta(seconds=15)
_EMPTY = "{}"  # a draft without one answer in it counts as nothing saved

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Closed:
    """How many attempts were closed: handed in by the server, not taken at all, and those that refused to be closed."""

    handed_in: int = 0
    not_taken: int = 0
    failed: int = 0

    def __add__(self, other: "Closed") -> "Closed":
        return Closed(
            self.handed_in + other.handed_in, self.not_taken + other.not_taken, self.failed + other.failed
        )


def close_overdue_attempts(*, at_once: int = 500) -> Closed:
    """Close every attempt whose time is over, a batch at a time; return how many.

    Submission, job, event and state of an attempt commit together. Attempts that somebody else holds are passed over. One that
    cannot be closed (a defect) is logged and left, and its neighbours are closed one by one.
    """
    return sum((_close_batch(batch) for batch in _overdue_batches(at_once)), Closed())


def close_if_overdue(attempt_id: UUID) -> bool:
    """Close this attempt if it is overdue, in the caller's transaction; say whether it was. Locks it."""
    return _close([attempt_id]) != Closed()


def _overdue() -> QuerySet[Attempt]:
    return Attempt.objects.filter(state=AttemptState.OPEN, accepts_until__lt=Now() - MARGIN)


def _overdue_batches(at_once: int) -> Iterator[list[UUID]]:
    """Yield overdue attempts in order of their end, each once: what cannot be closed must not stand in front of the rest."""
    ahead = _overdue().order_by("accepts_until", "id").values_list("accepts_until", "id")
    batch = list(ahead[:at_once])
    while batch:
        yield [attempt_id for _, attempt_id in batch]
        ended_at, attempt_id = batch[-1]
        is_later = Q(accepts_until__gt=ended_at) | Q(accepts_until=ended_at, id__gt=attempt_id)
        batch = list(ahead.filter(is_later)[:at_once])


def _close_batch(attempt_ids: Sequence[UUID]) -> Closed:
    try:
        return _close(attempt_ids)
    except Exception as error:
        if is_transient(error):
            raise
        log.exception(
            "Could not close %d overdue attempts at once; closing them one by one.", len(attempt_ids)
        )
    return sum(map(_close_alone, attempt_ids), Closed())


def _close_alone(attempt_id: UUID) -> Closed:
    try:
        return _close([attempt_id])
    except Exception as error:
        if is_transient(error):
            raise
        log.exception("Could not close attempt %s.", attempt_id)
        return Closed(failed=1)


@transaction.atomic
def _close(attempt_ids: Collection[UUID]) -> Closed:
    """Close those that are still overdue. A constant number of statements; drafts are read once the attempts are locked."""
    attempts = list(
        _overdue()
        .filter(id__in=attempt_ids)
        .select_related("revision")
        .defer("revision__paper", "revision__key")
        .order_by("id")
        .select_for_update(skip_locked=True, of=("self",), no_key=True)
    )
    drafts = Draft.objects.filter(attempt__in=attempts).exclude(answers=_EMPTY).in_bulk()
    submissions = [
        _hand_in(attempt, drafts[attempt.pk].answers) for attempt in attempts if attempt.pk in drafts
    ]
    not_taken = [attempt for attempt in attempts if attempt.pk not in drafts]
    _store(submissions)
    _end(AttemptState.SUBMITTED, [submission.attempt for submission in submissions])
    _end(AttemptState.NOT_TAKEN, not_taken)
    publish([*map(_accepted, submissions), *map(_not_taken, not_taken)])
    return Closed(handed_in=len(submissions), not_taken=len(not_taken))


def _hand_in(attempt: Attempt, answers: str) -> Submission:
    """Return the submission the server makes for a student: it counts as handed in at the deadline itself."""
    return Submission(
        school_id=attempt.school_id,
        exam_id=attempt.exam_id,
        attempt=attempt,
        student_id=attempt.student_id,
        revision_id=attempt.revision_id,
        exam_revision=attempt.revision.number,
        attempt_key=attempt.key,
        answers=answers,
        payload_sha256=digest(answers),
        accepted_at=attempt.closes_at,
        deadline=attempt.closes_at,
        decision=Decision.CLOSED_BY_SERVER,
        decision_rule=attempt.deadline_rule,
        origin=Origin.SERVER,
        receipt_key_id=get_key_ring().signing_id,
        event_id=uuid7(),
    )


def _store(submissions: Sequence[Submission]) -> None:
    Submission.objects.bulk_create(submissions)
    enqueue(map(grading_job, submissions))


def _end(state: AttemptState, attempts: Iterable[Attempt]) -> None:
    ended = Attempt.objects.filter(pk__in=[attempt.pk for attempt in attempts])
    ended.update(state=state, ended_at=F("closes_at"), version=F("version") + 1)


def _accepted(submission: Submission) -> NewEvent:
    fact = SubmissionAccepted(
        **describe(submission.attempt),
        submission_id=submission.id,
        payload_sha256=submission.payload_sha256,
        accepted_at=write_utc(submission.accepted_at),
        deadline=write_utc(submission.deadline),
        decision=submission.decision,
        origin=submission.origin,
    )
    return event_of(submission.attempt, fact, by=SERVER, event_id=submission.event_id)


def _not_taken(attempt: Attempt) -> NewEvent:
    return event_of(attempt, AttemptNotTaken(**describe(attempt)), by=SERVER)
