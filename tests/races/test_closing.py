"""The end of an exam: hand-ins that came in time are committed while the sweeper closes attempts and somebody grants more time.

Whoever gets an attempt first, it has one counting submission and a dense history, and nothing acknowledged is lost.
"""

import datetime as dt
import time
from collections import Counter
from functools import partial

import pytest
from django.db import transaction

from exams.canonical import digest
from exams.gate.durability import LocalDurability
from exams.gate.handin import HandIn, Outcome, Verdict
from exams.gate.session import Session
from exams.models import Attempt, AttemptState, Exam, ExtensionKind, Submission
from exams.receipt_keys import get_key_ring
from exams.services.closing import MARGIN, close_overdue_attempts
from exams.services.deadlines import grant_extension
from exams.services.drafts import save_draft
from gradebook.models import User
from outbox.models import Event, Job
from tests import factories
from tests.exams.together import at_once
from tests.people import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]

STUDENTS = 40
ROUNDS = 6
LATE_BY = MARGIN + dt.timedelta(seconds=1)


@pytest.fixture
def attempts(exam: Exam, world: World) -> list[Attempt]:
    """A class whose time has just been over for as long as the sweeper waits; half of them had saved something."""
    revision = exam.revisions.get()
    students = [factories.student(world.school) for _ in range(STUDENTS)]
    for student in students:
        factories.enrolment(student, world.school_class)
    made = [factories.attempt(revision, student) for student in students]
    for attempt in made[::2]:
        save_draft(attempt_id=attempt.pk, student_id=attempt.student_id, answers={"q": "draft"}, token=None)
    return made


def end_all(exam: Exam) -> None:
    over = dt.datetime.now(tz=dt.UTC) - LATE_BY
    Exam.objects.filter(pk=exam.pk).update(closes_at=over, opens_at=over - dt.timedelta(hours=1))
    Attempt.objects.update(closes_at=over, grace_until=over, accepts_until=over)


def hand_in_all(attempts: list[Attempt]) -> list[Verdict]:
    """Hand in what arrived a moment before the end and has been in the gate's line since then."""
    arrived_at = time.monotonic() - LATE_BY.total_seconds() - 5
    text = '{"q":"handed in"}'
    waiting = [
        HandIn(attempt.pk, attempt.student_id, text, digest(text), arrived_at=arrived_at)
        for attempt in attempts
    ]
    session = Session(durability=LocalDurability(), key_id=get_key_ring().signing_id)
    session.connect()
    verdicts: dict[HandIn, Verdict] = {}
    while waiting:
        decided = dict(zip(waiting, session.accept(waiting), strict=True))
        verdicts |= {
            each: verdict for each, verdict in decided.items() if verdict.outcome is not Outcome.BUSY
        }
        waiting = [each for each, verdict in decided.items() if verdict.outcome is Outcome.BUSY]
    session.close()
    return list(verdicts.values())


@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_an_attempt_ends_once_whoever_ends_it(
    exam: Exam, attempts: list[Attempt], teacher: User, round_number: int
) -> None:
    end_all(exam)
    grant = partial(
        grant_extension,
        exam_id=exam.pk,
        kind=ExtensionKind.MINUTES,
        amount=10,
        reason="A fire alarm.",
        by=teacher.pk,
    )

    first, second, closed, *granted = at_once(
        partial(hand_in_all, attempts[: STUDENTS // 2]),
        partial(hand_in_all, attempts[STUDENTS // 2 :]),
        partial(close_overdue_attempts, at_once=7),
        *([grant] if round_number % 2 else []),
    )

    failures = [outcome for outcome in (first, second, closed, *granted) if isinstance(outcome, Exception)]
    assert failures == []
    outcomes = Counter(verdict.outcome for verdict in first + second)
    assert set(outcomes) <= {Outcome.ACCEPTED, Outcome.CLOSED}
    assert_consistent(accepted=outcomes[Outcome.ACCEPTED])


def assert_consistent(accepted: int) -> None:
    counting = Submission.objects.filter(withdrawn_at__isnull=True)
    handed_in = counting.filter(origin="student")
    assert handed_in.count() == accepted
    assert set(handed_in.values_list("answers", flat=True)) <= {'{"q":"handed in"}'}
    assert set(Submission.objects.filter(origin="server").values_list("answers", flat=True)) <= {
        '{"q":"draft"}'
    }
    assert Job.objects.count() == Submission.objects.count()
    submitted = set(counting.values_list("attempt", flat=True))
    for attempt in Attempt.objects.all():
        assert (attempt.state == AttemptState.SUBMITTED) == (attempt.pk in submitted)
        assert attempt.state in {AttemptState.SUBMITTED, AttemptState.NOT_TAKEN, AttemptState.OPEN}
        versions = Event.objects.filter(subject=f"attempt:{attempt.pk}").values_list(
            "subject_version", flat=True
        )
        assert sorted(versions) == list(range(2, attempt.version + 1))  # the factory starts without an event
        assert attempt.version >= 2 or attempt.state == AttemptState.OPEN


def test_the_margin_is_counted_from_the_last_moment_a_hand_in_is_accepted(
    exam: Exam, attempts: list[Attempt]
) -> None:
    """With the sweeper held off by its margin, everybody who came in time is accepted, drafts or not."""
    end_all(exam)
    Attempt.objects.update(accepts_until=dt.datetime.now(tz=dt.UTC) - MARGIN + dt.timedelta(seconds=5))
    with transaction.atomic():
        assert close_overdue_attempts().handed_in == 0

    outcomes = Counter(verdict.outcome for verdict in hand_in_all(attempts))

    assert outcomes == Counter({Outcome.ACCEPTED: STUDENTS})
