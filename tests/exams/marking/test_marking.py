"""Giving points: what it makes of the result, the attempt, the log and the mark sheet, and what a regrade leaves of it."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from pytest_django import DjangoAssertNumQueries

from exams.errors import InvalidPoints
from exams.models import Attempt, Exam, Result, Submission
from exams.policies import results_markable_by
from exams.services.marking import AnswerKey, MarkOutcome, mark_answers
from gradebook.models import Mark, User
from outbox.models import Event
from tests.exams.crowd import gather
from tests.exams.grading_room import post_everything
from tests.exams.marking.essays import (
    change,
    enrol,
    essay_exam,
    essays_of,
    mark,
    regrade,
    sit,
    stands,
)
from tests.exams.plans import explain_statement
from tests.people import World

EventsOf = Callable[[UUID], list[tuple[str, dict[str, Any]]]]

pytestmark = pytest.mark.django_db(transaction=True)


def saved(*keys: AnswerKey) -> MarkOutcome:
    return MarkOutcome(saved=list(keys), unchanged=[], conflicts=[], missing=[])


def test_the_last_points_make_the_result_graded(
    exam: Exam, world: World, submission: Submission, teacher: User, events_of: EventsOf
) -> None:
    first, second = essays_of(exam)
    assert stands(submission) == ("needs_marking", "needs_marking", Decimal(1), 1)

    assert mark(submission, first, "3.5", by=teacher) == saved(AnswerKey(submission.pk, first))
    assert stands(submission) == ("needs_marking", "needs_marking", Decimal("4.5"), 2)

    assert mark(submission, second, "0", by=teacher) == saved(AnswerKey(submission.pk, second))
    assert stands(submission) == ("graded", "graded", Decimal("4.5"), 3)

    kind, payload = events_of(submission.attempt_id)[-1]
    assert (kind, payload) == (
        "SubmissionGraded",
        {
            "attempt_id": str(submission.attempt_id),
            "exam_id": str(exam.pk),
            "student_id": str(submission.student_id),
            "number": 1,
            "submission_id": str(submission.pk),
            "state": "graded",
            "score": "4.5",
            "max_points": "7.5",
            "result_version": 3,
            "old_score": "4.5",
            "revision": 1,
            "points": ["1", "3.5", "0"],
            "out_of": ["1", "4", "2.5"],
            "classes": [{"id": str(world.school_class.pk), "name": world.school_class.name}],
        },
    )
    events = Event.objects.filter(kind="SubmissionGraded").order_by("seq")
    assert [(event.actor_type, event.actor_id) for event in events] == [
        ("worker", None),
        ("person", teacher.pk),
        ("person", teacher.pk),
    ]


def test_the_breakdown_keeps_points_who_when_and_version(
    exam: Exam, submission: Submission, teacher: User
) -> None:
    first, second = essays_of(exam)
    before = Result.objects.get().breakdown["questions"]

    mark(submission, first, "2.50", by=teacher)

    after = Result.objects.get().breakdown["questions"]
    given = after[first].pop("by_hand")
    assert after[first] == {"state": "marked", "points": "2.5", "max_points": "4"}
    assert (given["by"], given["version"]) == (str(teacher.pk), 2)
    assert dt.datetime.fromisoformat(given["at"]).utcoffset() == dt.timedelta(0)
    assert {name: entry for name, entry in after.items() if name != first} == {
        name: entry for name, entry in before.items() if name != first
    }
    assert after[second]["state"] == "needs_marking"


def test_the_mark_is_posted_when_all_is_marked_and_again_after_a_change(
    exam: Exam, submission: Submission, teacher: User
) -> None:
    first, second = essays_of(exam)
    mark(submission, first, "3.5", by=teacher)
    post_everything()
    assert not Mark.objects.exists()

    mark(submission, second, "2", by=teacher)
    post_everything()
    assert Mark.objects.get().value == Decimal("6.5")

    mark(submission, second, "2.25", version=3, by=teacher)
    post_everything()
    assert Mark.objects.get().value == Decimal("6.75")
    posted = Event.objects.filter(kind="MarkChanged").order_by("seq")
    caused_by = Event.objects.filter(event_id__in=[event.cause_id for event in posted]).order_by("seq")
    assert [event.actor_id for event in caused_by] == [teacher.pk, teacher.pk]


def test_points_taken_back_wait_again_and_say_so(
    exam: Exam, submission: Submission, teacher: User, events_of: EventsOf
) -> None:
    first, second = essays_of(exam)
    mark_answers(changes=[change(submission, first, "3"), change(submission, second, "1")], by=teacher)
    assert stands(submission) == ("graded", "graded", Decimal(5), 2)

    mark(submission, first, None, version=2, by=teacher)

    assert stands(submission) == ("needs_marking", "needs_marking", Decimal(2), 3)
    payload = events_of(submission.attempt_id)[-1][1]
    assert (payload["state"], payload["score"], payload["old_score"]) == ("needs_marking", "2", "5")


def test_giving_the_same_again_leaves_no_trace(exam: Exam, submission: Submission, teacher: User) -> None:
    first, second = essays_of(exam)
    mark(submission, first, "3", by=teacher)
    before = (Result.objects.values().get(), Event.objects.count())

    again = mark_answers(
        changes=[change(submission, first, "3.0", version=0), change(submission, second, None)], by=teacher
    )

    keys = [AnswerKey(submission.pk, first), AnswerKey(submission.pk, second)]
    assert again == MarkOutcome(saved=[], unchanged=keys, conflicts=[], missing=[])
    assert (Result.objects.values().get(), Event.objects.count()) == before


@pytest.mark.parametrize("points", ["-0.001", "4.001", "1.2345", "NaN", "Infinity", "1E+9"])
def test_points_that_do_not_fit_are_refused_and_nothing_of_the_page_is_saved(
    exam: Exam, submission: Submission, teacher: User, points: str
) -> None:
    first, second = essays_of(exam)
    before = Result.objects.values().get()

    with pytest.raises(InvalidPoints):
        mark_answers(changes=[change(submission, second, "1"), change(submission, first, points)], by=teacher)

    assert Result.objects.values().get() == before


def test_a_regrade_keeps_the_points_people_gave(exam: Exam, submission: Submission, teacher: User) -> None:
    """An older grader had given nothing for the machine's question."""
    first, second = essays_of(exam)
    mark_answers(changes=[change(submission, first, "3"), change(submission, second, "2")], by=teacher)
    machine = (exam.revisions.get().paper or [])[0]["id"]
    result = Result.objects.get()
    given = {name: result.breakdown["questions"][name] for name in (first, second)}
    result.breakdown["questions"][machine] |= {"state": "wrong", "points": "0"}
    Result.objects.update(score=5, breakdown=result.breakdown)

    regrade(submission)

    assert stands(submission) == ("graded", "graded", Decimal(6), 3)
    kept = Result.objects.get().breakdown["questions"]
    assert {name: kept[name] for name in (first, second)} == given
    assert kept[machine]["state"] == "right"
    assert mark(
        submission, first, "4", version=2, by=teacher
    ).saved  # a regrade makes no teacher's page stale


def test_a_regrade_that_finds_the_same_leaves_no_trace_on_a_marked_result(
    exam: Exam, submission: Submission, teacher: User
) -> None:
    first, second = essays_of(exam)
    mark(submission, first, "3", by=teacher)
    mark(submission, second, "2", by=teacher)
    mark(submission, second, None, version=3, by=teacher)
    before = (Result.objects.values().get(), Event.objects.count())

    regrade(submission)

    assert (Result.objects.values().get(), Event.objects.count()) == before


def test_what_a_teacher_marks_is_found_by_keys_only(
    exam: Exam, submission: Submission, teacher: User
) -> None:
    gather(Attempt.objects.get())
    read = results_markable_by(teacher).filter(exam_id=exam.pk).values_list("pk")
    statement, parameters = read.query.sql_with_params()

    assert explain_statement(statement, parameters) >= {"results_exam_idx", "exams_submission_pkey"}


@pytest.mark.parametrize("count", [1, 3])
def test_marking_costs_the_same_statements_however_many_answers(
    world: World, teacher: User, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    exam = essay_exam(world)
    first, _ = essays_of(exam)
    changes = [change(sit(exam, enrol(world)), first, "2") for _ in range(count)]
    # whom the teacher marks, the attempts, the submissions, the clock; results, attempts, classes, events
    with transaction.atomic(), django_assert_num_queries(8 + 2):  # and a savepoint's two
        outcome = mark_answers(changes=changes, by=teacher)
    assert len(outcome.saved) == count
