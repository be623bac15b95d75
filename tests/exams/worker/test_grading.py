"""Grading a claimed batch: verified from the source, written with its event in one transaction, and one fault spoils no neighbour."""

import datetime as dt
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pytest
from django.db import transaction
from pytest_django import DjangoAssertNumQueries
from uuid_utils.compat import uuid7

from exams.jobs import GRADE, grading_job
from exams.models import Attempt, AttemptState, Exam, ExtensionKind, Result, Submission
from exams.services.deadlines import grant_extension
from exams.worker import GradingHandler
from gradebook.models import Enrolment, User
from outbox.models import DeadLetter, Event, FinishedJob, Job
from outbox.queue.claim import Claim, Claimer
from outbox.queue.handlers import Done
from outbox.queue.jobs import enqueue
from outbox.queue.settle import Settled, prepare, settle
from tests import factories
from tests.exams.crowd import gather
from tests.exams.grading_room import grade_everything
from tests.exams.plans import explain
from tests.exams.together import at_once
from tests.exams.worker.by_machine import EventsOf, exam, right_answers, switch_the_student_off
from tests.people import World
from tests.sitting import hand_in

__all__ = ["exam"]
pytestmark = pytest.mark.django_db(transaction=True)


def claim() -> Claim:
    claimed = Claimer(kinds=[GRADE], lease=dt.timedelta(seconds=60)).claim(by=None)
    assert claimed is not None
    return claimed


def others(attempt: Attempt, world: World, count: int) -> list[Attempt]:
    attempts = []
    for _ in range(count):
        student = factories.student(world.school)
        factories.enrolment(student, world.school_class)
        attempts.append(factories.attempt(attempt.revision, student))
    return attempts


def test_a_graded_submission_has_its_result_state_and_event(
    attempt: Attempt, world: World, events_of: EventsOf
) -> None:
    submission = hand_in(attempt, right_answers(attempt))

    assert grade_everything() == Counter({Settled.FINISHED: 1})

    result = Result.objects.values().get()
    questions = [{"state": "right", "points": "1", "max_points": "1"} for _ in range(4)]
    assert list(result["breakdown"]["questions"].values()) == questions
    assert result | {"breakdown": None, "graded_at": None} == {
        "submission_id": submission.pk,
        "school_id": attempt.school_id,
        "exam_id": attempt.exam_id,
        "attempt_id": attempt.pk,
        "state": "graded",
        "score": Decimal(4),
        "max_points": Decimal(4),
        "breakdown": None,
        "reason": "",
        "version": 1,
        "graded_at": None,
    }
    attempt.refresh_from_db()
    assert (attempt.state, attempt.failure_reason, attempt.version) == (AttemptState.GRADED, "", 3)
    assert events_of(attempt.pk)[2:] == [
        (
            "SubmissionGraded",
            {
                "attempt_id": str(attempt.pk),
                "exam_id": str(attempt.exam_id),
                "student_id": str(attempt.student_id),
                "number": 1,
                "submission_id": str(submission.pk),
                "state": "graded",
                "score": "4",
                "max_points": "4",
                "result_version": 1,
                "old_score": None,
                "revision": 1,
                "points": ["1", "1", "1", "1"],
                "out_of": ["1", "1", "1", "1"],
                "classes": [{"id": str(world.school_class.pk), "name": world.school_class.name}],
            },
        )
    ]
    event = Event.objects.get(kind="SubmissionGraded")
    assert (event.actor_type, event.cause_id) == ("worker", submission.event_id)
    assert not Job.objects.exists()
    assert FinishedJob.objects.get().subject_id == submission.pk


def test_an_essay_waits_for_a_person(world: World, student: User, events_of: EventsOf) -> None:
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    revision = factories.published_revision(exam)
    factories.target(exam, world.school_class)
    attempt = factories.attempt(revision, student)
    hand_in(attempt, factories.right_answers(revision))

    grade_everything()

    result = Result.objects.get()
    attempt.refresh_from_db()
    assert (result.state, result.score, result.max_points) == ("needs_marking", Decimal(6), Decimal(7))
    assert attempt.state == AttemptState.NEEDS_MARKING


def take_the_exam_from_the_class(submission: Submission) -> None:
    submission.attempt.exam.targets.all().delete()


def enrol_the_student_tomorrow(submission: Submission) -> None:
    Enrolment.objects.update(starts_on=dt.datetime.now(tz=dt.UTC).date() + dt.timedelta(days=2))


def allow_fewer_attempts(submission: Submission) -> None:
    Attempt.objects.update(number=2)


def point_to_another_exam(submission: Submission) -> None:
    Attempt.objects.update(exam=factories.exam(school=submission.attempt.exam.school))


OBSTACLES: dict[Callable[[Submission], None], str] = {
    switch_the_student_off: "The student's account is not active.",
    take_the_exam_from_the_class: "The exam was not given to a class the student was in when the attempt was started.",
    enrol_the_student_tomorrow: "The exam was not given to a class the student was in when the attempt was started.",
    allow_fewer_attempts: "This is attempt 2, but only 1 may be made.",
    point_to_another_exam: "The submission does not belong to the attempt it names.",
}


@pytest.mark.parametrize("spoil", OBSTACLES, ids=lambda spoil: spoil.__name__)
def test_what_can_never_be_graded_fails_at_once_with_a_reason(
    attempt: Attempt, spoil: Callable[[Submission], None]
) -> None:
    submission = hand_in(attempt, right_answers(attempt))
    spoil(submission)

    assert grade_everything() == Counter({Settled.FINISHED: 1})

    assert_failed(attempt, OBSTACLES[spoil])


def assert_failed(attempt: Attempt, reason: str) -> None:
    attempt.refresh_from_db()
    result = Result.objects.get()
    assert (attempt.state, attempt.failure_reason) == (AttemptState.FAILED, reason)
    assert (result.state, result.score, result.max_points, result.reason) == ("failed", None, None, reason)
    event = Event.objects.get(kind="GradingFailed")
    assert (event.subject_version, event.payload["reason"]) == (attempt.version, reason)
    assert not Job.objects.exists()
    assert not DeadLetter.objects.exists()


def test_answers_that_are_not_those_of_the_receipt_are_not_graded(attempt: Attempt) -> None:
    hand_in(attempt, right_answers(attempt), payload_sha256="0" * 64)

    grade_everything()

    assert_failed(attempt, "The stored answers are not those the receipt was given for.")


def test_an_attempt_at_an_unpublished_paper_fails(attempt: Attempt) -> None:
    draft = factories.draft_revision(attempt.exam)
    Attempt.objects.update(revision=draft)
    attempt.refresh_from_db()
    hand_in(attempt, {})

    grade_everything()

    assert_failed(attempt, "The exam's paper is not published.")


def test_a_failure_spoils_nobody_elses_grading(attempt: Attempt, world: World) -> None:
    healthy = others(attempt, world, 3)
    hand_in(attempt, payload_sha256="0" * 64)
    for each in healthy:
        hand_in(each, right_answers(each))

    assert grade_everything() == Counter({Settled.FINISHED: 4})

    states = dict(Attempt.objects.values_list("pk", "state"))
    assert states == {attempt.pk: AttemptState.FAILED} | {each.pk: AttemptState.GRADED for each in healthy}


def test_a_job_without_a_submission_is_a_dead_letter_and_its_neighbours_are_graded(attempt: Attempt) -> None:
    submission = hand_in(attempt, right_answers(attempt))
    with transaction.atomic():
        submission.pk = uuid7()
        enqueue([grading_job(submission)])

    assert grade_everything() == Counter({Settled.FINISHED: 1, Settled.BURIED: 1})

    attempt.refresh_from_db()
    assert attempt.state == AttemptState.GRADED
    assert DeadLetter.objects.get().subject_id == submission.pk


def test_a_batch_costs_two_reads_and_a_constant_number_of_writes(
    attempt: Attempt, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    handler = GradingHandler(GRADE)
    for count, reads, writes in ((1, 2, 7), (3, 1, 6)):  # a revision's key, and its order, are read once
        for each in others(attempt, world, count):
            hand_in(each, right_answers(each))
        claimed = claim()
        assert len(claimed.jobs) == count
        with django_assert_num_queries(reads):
            outcomes = handler.prepare(claimed.jobs)
        with transaction.atomic(), django_assert_num_queries(writes):
            handler.write([outcome for outcome in outcomes if isinstance(outcome, Done)])
        settle(handler, prepare(handler, claimed.jobs))


@pytest.mark.parametrize("when", ["before it is judged", "after it was judged"])
def test_a_withdrawn_submission_is_not_graded(
    exam: Exam, attempt: Attempt, teacher: User, events_of: EventsOf, when: str
) -> None:
    hand_in(attempt, right_answers(attempt), origin="server", decision="closed_by_server")
    handler = GradingHandler(GRADE)
    claimed = claim()
    verdicts = prepare(handler, claimed.jobs) if when == "after it was judged" else None
    reopen(exam, teacher)

    ended = settle(handler, verdicts or prepare(handler, claimed.jobs))

    assert ended == Counter({Settled.FINISHED: 1})
    attempt.refresh_from_db()
    assert attempt.state == AttemptState.OPEN
    assert not Result.objects.exists()
    assert events_of(attempt.pk)[-1][0] == "AttemptReopened"


def reopen(exam: Exam, teacher: User) -> None:
    grant_extension(
        exam_id=exam.pk, kind=ExtensionKind.MINUTES, amount=5, reason="A fire alarm.", by=teacher.pk
    )


def test_nothing_is_claimable_before_the_hand_in_commits_nor_after_it_rolled_back(attempt: Attempt) -> None:
    """O12: work that is announced before its transaction commits."""

    class Rollback(Exception):
        """The transaction ends badly after the job was queued."""

    def hand_in_and_fail() -> None:
        with transaction.atomic():
            hand_in(attempt, right_answers(attempt))
            assert claim_elsewhere() is None
            raise Rollback

    with pytest.raises(Rollback):
        hand_in_and_fail()

    assert grade_everything() == Counter()
    assert not Submission.objects.exists()
    assert not Job.objects.exists()


def claim_elsewhere() -> Claim | None:
    claimed: Claim | None
    [claimed] = at_once(partial(Claimer(kinds=[GRADE], lease=dt.timedelta(seconds=60)).claim, by=None))
    return claimed


def test_grading_reads_by_keys_only(attempt: Attempt, world: World) -> None:
    gather(attempt)
    ids = [hand_in(each).pk for each in others(attempt, world, 3)]

    assert explain("read_submissions_to_grade", {"ids": ids}) >= {
        "exams_submission_pkey",
        "exams_attempt_pkey",
        "gradebook_user_pkey",
    }
