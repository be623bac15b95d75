"""The same faults with real exams: one result, one event and one line of history for every submission, whatever happened."""

import signal
from collections import Counter
from decimal import Decimal

import pytest
from django.core.management import call_command

from exams.models import Attempt, AttemptState, Exam, ExamRevision, Result
from gradebook.models import Mark
from outbox.models import DeadLetter, Event, FinishedJob, Job
from projections.models import MarkHistory
from tests import factories
from tests.people import World
from tests.processes.workers import Start, nothing_is_running, start, sweep_until
from tests.sitting import hand_in

__all__ = ["start"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.timeout(300)]
POINTS = ["after_claim", "before_settle", "in_settle", "after_commit"]
STUDENTS = 12


@pytest.fixture
def exam(world: World) -> Exam:
    """Four points for a machine to give; the result goes to a column of the class's sheet."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    factories.published_revision(exam, factories.questions(4, ("single_choice", "true_false", "numeric")))
    column = factories.column(world.sheet, source_id=exam.pk, max_points=4, title="Exam")
    factories.target(exam, world.school_class, column)
    return exam


@pytest.fixture
def handed_in(exam: Exam, world: World) -> list[Attempt]:
    """The whole class has handed in, everything right."""
    revision = ExamRevision.objects.get(exam=exam)
    attempts = []
    for _ in range(STUDENTS):
        student = factories.student(world.school)
        factories.enrolment(student, world.school_class)
        attempts.append(factories.attempt(revision, student))
        hand_in(attempts[-1], factories.right_answers(revision))
    return attempts


def follow_the_log() -> None:
    """Let the marks reach the sheet and its history, by the commands that do it: in this process, nobody kills them."""
    call_command("run_sequencer", once=True)
    call_command("run_consumer", "gradebook_marks", once=True)
    call_command("run_sequencer", once=True)
    call_command("run_consumer", "marksheet_history", once=True)


def assert_each_graded_once(handed_in: list[Attempt]) -> None:
    keys = {attempt.pk for attempt in handed_in}
    assert set(Result.objects.values_list("attempt_id", "state", "score", "version")) == {
        (key, "graded", Decimal(4), 1) for key in keys
    }
    graded = Event.objects.filter(kind="SubmissionGraded").values_list("subject", flat=True)
    assert Counter(graded) == {f"attempt:{key}": 1 for key in keys}
    assert set(Attempt.objects.values_list("state", flat=True)) == {AttemptState.GRADED}
    assert (Job.objects.count(), DeadLetter.objects.count(), FinishedJob.objects.count()) == (0, 0, STUDENTS)


def assert_each_mark_has_one_line_of_history(handed_in: list[Attempt]) -> None:
    students = {attempt.student_id for attempt in handed_in}
    lines = MarkHistory.objects.values_list("student_id", "old_value", "new_value", "cell_version")
    assert sorted(lines) == sorted((student, None, Decimal(4), 1) for student in students)
    assert set(Mark.objects.values_list("student_id", "value")) == {
        (student, Decimal(4)) for student in students
    }


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_any_point_leaves_one_result_event_and_history_line(
    start: Start, handed_in: list[Attempt], point: str
) -> None:
    with start("run_worker", HANDOVER_FAULT_POINT=f"{point}:kill", JOB_LEASE_SECONDS="3600") as worker:
        assert worker.wait() == -signal.SIGKILL
    sweep_until(nothing_is_running)
    with start("run_worker", "--once") as other:
        assert other.wait() == 0
    assert_each_graded_once(handed_in)
    follow_the_log()
    assert_each_mark_has_one_line_of_history(handed_in)


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_frozen_past_its_lease_at_any_point_leaves_one_result_event_and_history_line(
    start: Start, handed_in: list[Attempt], point: str
) -> None:
    with start("run_worker", HANDOVER_FAULT_POINT=f"{point}:stop", JOB_LEASE_SECONDS="1") as frozen:
        frozen.wait_until_frozen()
        sweep_until(nothing_is_running)
        with start("run_worker", "--once") as other:
            assert other.wait() == 0
        assert_each_graded_once(handed_in)
        frozen.send(signal.SIGCONT)
        frozen.send(signal.SIGTERM)
        assert frozen.wait() == 0, frozen.output
    assert_each_graded_once(handed_in)
    follow_the_log()
    assert_each_mark_has_one_line_of_history(handed_in)
