"""One exam counted along the whole path, stage by stage, and what is said when two counts are not alike."""

import dataclasses

import pytest

from config.console.reconciliation import Counts, Difference, list_differences, read_counts
from exams.models import Attempt, Exam, Result
from exams.services.attempts import start_attempt
from gradebook.models import User
from outbox.models import DeadLetter, Job
from tests import factories
from tests.exams.grading_room import grade_everything, post_everything
from tests.factories.papers import questions
from tests.people import World
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)

NOTHING = Counts(*[0] * len(dataclasses.fields(Counts)))
ALIKE = Counts(
    attempts=5, open=1, not_taken=1, handed_in=3, submissions=3, accepted_events=3, jobs=0, dead_letters=0,
    results=3, graded_events=3, posts=3, marks=3,
)  # fmt: skip


@pytest.fixture
def exam(world: World) -> Exam:
    """Open, marked by the machine alone, with a column its results go to."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    factories.published_revision(exam, [question for question in questions() if question.kind != "essay"])
    factories.target(exam, world.school_class, factories.column(world.sheet, source_id=exam.pk))
    return exam


def test_exam_is_counted_as_its_work_goes_along(attempt: Attempt, exam: Exam, other_student: User) -> None:
    begun = dataclasses.replace(NOTHING, attempts=1, open=1)
    assert read_counts(exam.pk) == begun

    start_attempt(exam_id=exam.pk, student_id=other_student.pk)
    hand_in(attempt)
    waiting = dataclasses.replace(begun, attempts=2, handed_in=1, submissions=1, accepted_events=1, jobs=1)
    assert read_counts(exam.pk) == waiting

    grade_everything()
    graded = dataclasses.replace(waiting, jobs=0, results=1, graded_events=1, posts=1)
    assert read_counts(exam.pk) == graded

    post_everything()
    posted = dataclasses.replace(graded, marks=1)
    assert read_counts(exam.pk) == posted
    assert [bool(list_differences(counts)) for counts in (begun, waiting, graded, posted)] == [
        False,
        True,
        True,
        False,
    ]


def test_job_that_was_given_up_is_counted(attempt: Attempt, exam: Exam) -> None:
    hand_in(attempt)
    job = Job.objects.get()
    names = ("tenant_id", "group_id", "job_id", "kind", "subject_id")
    DeadLetter.objects.create(cause="defect", tries=1, **{name: getattr(job, name) for name in names})
    Job.objects.all().delete()
    counts = read_counts(exam.pk)
    assert (counts.jobs, counts.dead_letters) == (0, 1)
    assert list_differences(counts) == [
        Difference("Jobs that were given up (see the dead letters): 1", is_fault=False)
    ]


def test_submission_without_a_job_is_a_fault(attempt: Attempt, exam: Exam) -> None:
    hand_in(attempt)
    Job.objects.all().delete()
    assert list_differences(read_counts(exam.pk)) == [
        Difference("Submissions with neither a result nor a job: 1", is_fault=True)
    ]


def test_exam_of_which_only_the_last_attempt_counts_owes_no_mark_while_that_one_failed(
    attempt: Attempt, exam: Exam
) -> None:
    Exam.objects.filter(pk=exam.pk).update(counting_attempt="last", attempts_allowed=2)
    hand_in(attempt)
    grade_everything()
    second = factories.attempt(attempt.revision, attempt.student, number=2)
    hand_in(second)
    grade_everything()
    assert read_counts(exam.pk).posts == 1
    Result.objects.filter(attempt_id=second.pk).update(state="failed", score=None)
    assert read_counts(exam.pk).posts == 0


def test_exam_that_nobody_sat_is_counted_as_nothing(exam: Exam) -> None:
    assert (read_counts(exam.pk), list_differences(NOTHING)) == (NOTHING, [])


@pytest.mark.parametrize(
    ("change", "differences"),
    [
        ({}, []),
        (
            {"submissions": 2, "accepted_events": 2, "results": 2, "graded_events": 2},
            ["Attempts that count as handed in and have no submission: 1"],
        ),
        ({"handed_in": 2}, ["Submissions of attempts that do not count as handed in: 1"]),
        ({"accepted_events": 1}, ["Submissions without an event in the log: 2"]),
        ({"results": 2, "graded_events": 2}, ["Submissions with neither a result nor a job: 1"]),
        ({"graded_events": 0}, ["Results without an event in the log: 3"]),
        ({"results": 1, "graded_events": 1, "jobs": 2}, ["Submissions that wait for a worker: 2"]),
        (
            {"results": 2, "graded_events": 2, "dead_letters": 1},
            ["Jobs that were given up (see the dead letters): 1"],
        ),
        ({"marks": 1}, ["Results that have not reached the marksheet (see the consumer gradebook_marks): 2"]),
        ({"jobs": 3}, []),
    ],
)
def test_every_difference_is_named(change: dict[str, int], differences: list[str]) -> None:
    """The last: jobs of submissions that have results are being done again, or about to be dropped."""
    assert [each.words for each in list_differences(dataclasses.replace(ALIKE, **change))] == differences
