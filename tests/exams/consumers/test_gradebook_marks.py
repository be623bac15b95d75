"""Results become marks in the linked column, and a teacher's own mark always stays."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from pytest_django import DjangoAssertNumQueries

from exams.consumers.gradebook_marks import GradebookMarks
from exams.jobs import regrading_job
from exams.models import (
    AttemptState,
    CountingAttempt,
    Exam,
    ExamRevision,
    ExamTarget,
    ExtensionKind,
    Result,
    Submission,
)
from exams.services.attempts import start_attempt
from exams.services.deadlines import grant_extension
from exams.services.posting import post_exam_results
from gradebook.cells import CellChange, CellKey
from gradebook.entries import Entry
from gradebook.models import Column, Mark, User
from gradebook.services.marks import save_marks
from outbox.consumers import registry
from outbox.consumers.consumer import Batch
from outbox.log.reading import list_events_at
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, Event
from outbox.queue.jobs import enqueue
from tests import factories
from tests.exams.crowd import gather
from tests.exams.grading_room import grade_everything, post_everything
from tests.exams.plans import explain
from tests.people import World
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def exam(world: World) -> Exam:
    """Four questions of one point each; three attempts are allowed."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period, attempts_allowed=3)
    factories.published_revision(exam, factories.questions(4, ("true_false",)))
    return exam


@pytest.fixture
def column(exam: Exam, world: World) -> Column:
    """The exam's column in the sheet of the class."""
    column = factories.column(world.sheet, source_id=exam.pk, max_points=4, title="Exam")
    factories.target(exam, world.school_class, column)
    return column


def sit(exam: Exam, student: User, right: int) -> Submission:
    """Sit the exam with so many right answers, up to the grading."""
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    answers = factories.right_answers(ExamRevision.objects.get(pk=attempt.revision_id))
    submission = hand_in(attempt, dict(list(answers.items())[:right]))
    grade_everything()
    return submission


def shown(column: Column) -> Mapping[str, Any]:
    """Return what the only cell of a column shows."""
    return Mark.objects.filter(column=column).values("value", "code", "source", "automatic_value").get()


def automatic(value: str | None) -> dict[str, Any]:
    number = None if value is None else Decimal(value)
    return {"value": number, "code": "", "source": "automatic", "automatic_value": number}


def type_mark(column: Column, student: User, teacher: User, entry: Entry) -> None:
    version = (
        Mark.objects.filter(column=column, student=student).values_list("version", flat=True).first() or 0
    )
    change = CellChange(CellKey(column.pk, student.pk), version, entry)
    outcome = save_marks(sheet=column.sheet, changes=[change], by=teacher)
    assert not outcome.conflicts


def mark_events() -> list[tuple[str, str | None]]:
    """Return reason and automatic value of every change of a mark, in order."""
    payloads = Event.objects.filter(kind="MarkChanged").order_by("seq").values_list("payload", flat=True)
    return [(payload["reason"], payload["automatic_value"]) for payload in payloads]


def test_a_result_is_posted_to_the_linked_column(exam: Exam, column: Column, student: User) -> None:
    sit(exam, student, right=3)

    assert post_everything() == 1

    assert shown(column) == automatic("3")
    graded = Event.objects.get(kind="SubmissionGraded")
    posted = Event.objects.get(kind="MarkChanged")
    assert (posted.payload["reason"], posted.cause_id, posted.actor_type) == (
        "posted",
        graded.event_id,
        "worker",
    )


def test_the_consumer_is_known_and_is_not_something_to_be_thrown_away() -> None:
    consumer = registry.get_consumer("gradebook_marks")
    assert isinstance(consumer, GradebookMarks)
    assert not hasattr(consumer, "tables")


@pytest.mark.parametrize(
    ("policy", "mark"),
    [(CountingAttempt.BEST, "3"), (CountingAttempt.LAST, "2"), (CountingAttempt.AVERAGE, "2.333")],
)
def test_the_exams_policy_says_which_attempt_counts(
    exam: Exam, column: Column, student: User, policy: CountingAttempt, mark: str
) -> None:
    Exam.objects.update(counting_attempt=policy)
    for right in (2, 3, 2):
        sit(exam, student, right=right)
        post_everything()

    assert shown(column) == automatic(mark)


def test_a_better_result_counts_even_if_it_was_graded_before_the_one_posted_last(
    exam: Exam, column: Column, student: User
) -> None:
    """Two workers grade two attempts at once; the one with the earlier clock commits, and is read, second."""
    sit(exam, student, right=1)
    Result.objects.update(graded_at=dt.datetime.now(tz=dt.UTC) + dt.timedelta(minutes=1))
    post_everything()

    sit(exam, student, right=4)
    post_everything()

    assert shown(column) == automatic("4")


def test_reading_the_log_again_changes_nothing(exam: Exam, column: Column, student: User) -> None:
    for right in (1, 3, 2):
        sit(exam, student, right=right)
        post_everything()
    before = (Mark.objects.values().get(), mark_events())
    Consumer.objects.update(position=0)

    assert post_everything() == 3

    assert (Mark.objects.values().get(), mark_events()) == before


def test_a_teachers_own_mark_wins_and_the_result_stays_beside_it(
    exam: Exam, column: Column, student: User, teacher: User
) -> None:
    sit(exam, student, right=2)
    post_everything()
    type_mark(column, student, teacher, Entry(value=Decimal("2.5")))

    sit(exam, student, right=3)
    post_everything()

    assert shown(column) == {
        "value": Decimal("2.5"),
        "code": "",
        "source": "teacher",
        "automatic_value": Decimal(3),
    }
    assert mark_events() == [("posted", "2"), ("typed", "2"), ("kept_beside", "3")]


@pytest.mark.parametrize("code", ["absent", "excused"])
def test_a_code_is_a_teachers_own_mark_too(
    exam: Exam, column: Column, student: User, teacher: User, code: str
) -> None:
    type_mark(column, student, teacher, Entry(code=code))

    sit(exam, student, right=3)
    post_everything()

    assert shown(column) == {"value": None, "code": code, "source": "teacher", "automatic_value": Decimal(3)}


def regrade(submission: Submission) -> None:
    with transaction.atomic():
        enqueue([regrading_job(submission)])
    grade_everything()
    post_everything()


def test_a_regrade_never_replaces_a_teachers_own_mark(
    exam: Exam, column: Column, student: User, teacher: User
) -> None:
    """O13: an older grader had found 1; the teacher set 4; the regrade finds 3, which is kept beside."""
    submission = sit(exam, student, right=3)
    Result.objects.update(score=1)
    post_everything()
    type_mark(column, student, teacher, Entry(value=Decimal(4)))

    regrade(submission)

    assert shown(column) == {
        "value": Decimal(4),
        "code": "",
        "source": "teacher",
        "automatic_value": Decimal(3),
    }


@pytest.mark.parametrize("has_own_mark", [True, False])
def test_a_grading_that_fails_writes_no_mark(
    exam: Exam, column: Column, student: User, teacher: User, has_own_mark: bool
) -> None:
    """O13: a regrade whose grader fails must not leave 0, or nothing, where a mark was."""
    submission = sit(exam, student, right=2)
    post_everything()
    if has_own_mark:
        type_mark(column, student, teacher, Entry(value=Decimal(3)))
    before = Mark.objects.values().get()
    User.objects.filter(pk=student.pk).update(is_active=False)

    regrade(submission)

    assert Event.objects.filter(kind="GradingFailed").count() == 1
    assert Mark.objects.values().get() == before


def test_a_first_grading_that_fails_writes_no_mark(exam: Exam, column: Column, student: User) -> None:
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    hand_in(attempt, payload_sha256="0" * 64)
    grade_everything()
    post_everything()

    attempt.refresh_from_db()
    assert attempt.state == AttemptState.FAILED
    assert not Mark.objects.exists()


def test_a_result_that_waits_for_a_person_is_not_posted(world: World, student: User) -> None:
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    factories.published_revision(exam)
    column = factories.column(world.sheet, source_id=exam.pk, max_points=7, title="Exam")
    factories.target(exam, world.school_class, column)

    sit(exam, student, right=7)
    post_everything()

    assert Result.objects.get().state == "needs_marking"
    assert not Mark.objects.exists()


def test_an_exam_without_a_column_posts_nothing_until_one_is_linked(
    exam: Exam, world: World, student: User
) -> None:
    target = factories.target(exam, world.school_class)
    sit(exam, student, right=3)
    post_everything()
    assert not Mark.objects.exists()

    column = factories.column(world.sheet, source_id=exam.pk, max_points=4, title="Exam")
    ExamTarget.objects.filter(pk=target.pk).update(column=column)
    post_exam_results(exam_id=exam.pk)

    assert shown(column) == automatic("3")


def test_a_result_out_of_another_maximum_counts_by_its_share(
    exam: Exam, column: Column, student: User
) -> None:
    Column.objects.update(max_points=10)
    sit(exam, student, right=3)
    post_everything()

    assert shown(column) == automatic("7.5")


def test_a_student_of_two_classes_gets_the_mark_in_both_sheets(
    exam: Exam, column: Column, world: World, student: User
) -> None:
    other_class = factories.school_class(world.school)
    factories.enrolment(student, other_class)
    other_sheet = factories.sheet(other_class, world.course, world.period)
    other_column = factories.column(other_sheet, source_id=exam.pk, max_points=4, title="Exam")
    factories.target(exam, other_class, other_column)

    sit(exam, student, right=2)
    post_everything()

    assert shown(column) == shown(other_column) == automatic("2")


def test_what_the_server_handed_in_no_longer_counts_once_it_is_withdrawn(
    exam: Exam, column: Column, student: User, teacher: User
) -> None:
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    answers = factories.right_answers(attempt.revision)
    hand_in(attempt, answers, origin="server", decision="closed_by_server")
    grade_everything()
    post_everything()
    grant_extension(
        exam_id=exam.pk, kind=ExtensionKind.MINUTES, amount=5, reason="A fire alarm.", by=teacher.pk
    )
    post_everything()
    assert shown(column) == automatic("4")

    attempt.refresh_from_db()
    hand_in(attempt, dict(list(answers.items())[:1]))
    grade_everything()
    post_everything()

    assert shown(column) == automatic("1")


def test_a_batch_takes_the_same_number_of_statements_whatever_its_size(
    exam: Exam, column: Column, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (1, 3):
        for _ in range(count):
            student = factories.student(world.school)
            factories.enrolment(student, world.school_class)
            sit(exam, student, right=2)
        graded = sequence_events()
        events = list_events_at(range(graded.first_pos, graded.last_pos + 1))
        positions = [event.pos for event in events if event.kind == "SubmissionGraded"]
        assert len(positions) == count
        with transaction.atomic(), django_assert_num_queries(11):
            GradebookMarks().apply(Batch(positions))


def test_results_are_found_by_sitting(exam: Exam, column: Column, student: User) -> None:
    submission = sit(exam, student, right=2)
    gather(submission.attempt)

    used = explain("list_results_to_post", {"exams": [exam.pk], "students": [student.pk]})

    assert used >= {"one_submission_per_attempt", "exams_result_pkey"}
    assert used & {"attempt_numbers_unique_per_student", "exams_attempt_student_id_b8424c79"}
