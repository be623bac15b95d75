"""Giving points: who may, what it makes of result, attempt, log and mark sheet, and what two teachers are told."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from pytest_django import DjangoAssertNumQueries
from uuid_utils.compat import uuid7

from exams.errors import InvalidPoints
from exams.jobs import regrading_job
from exams.models import Attempt, Exam, ExtensionKind, Result, Submission
from exams.policies import results_markable_by
from exams.services.deadlines import grant_extension
from exams.services.marking import AnswerKey, MarkOutcome, PointsChange, mark_answers
from gradebook.models import Enrolment, Mark, TeachingAssignment, User
from outbox.jobs import enqueue
from outbox.models import Event
from tests import factories
from tests.exams.crowd import gather
from tests.exams.grading_room import grade_everything, post_everything
from tests.exams.marking.essays import change, essay_exam, essays_of, mark, points_given, sit, stands
from tests.exams.plans import explain_statement
from tests.exams.together import at_once
from tests.people import World

EventsOf = Callable[[UUID], list[tuple[str, dict[str, Any]]]]

pytestmark = pytest.mark.django_db(transaction=True)


def saved(*keys: AnswerKey) -> MarkOutcome:
    return MarkOutcome(saved=list(keys), unchanged=[], conflicts=[], missing=[])


def test_the_last_points_make_the_result_graded(
    exam: Exam, submission: Submission, teacher: User, events_of: EventsOf
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


@pytest.mark.parametrize("theirs", ["2", None])
def test_a_second_teacher_on_the_same_answer_is_told_and_overwrites_nothing(
    exam: Exam, submission: Submission, teacher: User, second_teacher: User, theirs: str | None
) -> None:
    first, _ = essays_of(exam)
    mark(submission, first, "3", by=teacher)
    mark(submission, first, theirs, version=2, by=second_teacher)
    before = Result.objects.values().get()

    outcome = mark(submission, first, "4", version=2, by=teacher)

    assert outcome == MarkOutcome([], [], conflicts=[AnswerKey(submission.pk, first)], missing=[])
    assert Result.objects.values().get() == before
    assert mark(submission, first, "4", version=3, by=teacher).saved  # having seen it, overruling is fine


def test_two_teachers_on_two_answers_of_one_attempt_do_not_disturb_each_other(
    exam: Exam, submission: Submission, teacher: User, second_teacher: User
) -> None:
    first, second = essays_of(exam)

    assert mark(submission, first, "3", version=1, by=teacher).saved
    assert mark(submission, second, "2", version=1, by=second_teacher).saved

    assert stands(submission) == ("graded", "graded", Decimal(6), 3)


def test_two_teachers_at_the_same_instant_one_wins_and_the_other_is_told(
    exam: Exam, submission: Submission, teacher: User, second_teacher: User, events_of: EventsOf
) -> None:
    first, _ = essays_of(exam)
    for version in range(1, 21):
        outcomes = at_once(
            lambda version=version: mark(submission, first, "1" if version % 2 else "2", version, by=teacher),  # type: ignore[misc]
            lambda version=version: mark(  # type: ignore[misc]
                submission, first, "3" if version % 2 else "4", version, by=second_teacher
            ),
        )
        told = sorted((len(outcome.saved), len(outcome.conflicts)) for outcome in outcomes)
        assert told == [(0, 1), (1, 0)]
        assert stands(submission)[-1] == version + 1
    scores = [payload["score"] for _, payload in events_of(submission.attempt_id)[2:]]
    olds = [payload["old_score"] for _, payload in events_of(submission.attempt_id)[2:]]
    assert olds == [None, *scores[:-1]]


def test_pages_marked_at_once_in_any_order_never_deadlock(
    exam: Exam, world: World, teacher: User, second_teacher: User
) -> None:
    first, second = essays_of(exam)
    submissions = [sit(exam, enrol(world)) for _ in range(8)]

    def mark_all(question: str, by: User, order: list[Submission]) -> Callable[[], int]:
        def run() -> int:
            return sum(
                len(
                    mark_answers(
                        changes=[change(each, question, str(n), version=99) for each in order], by=by
                    ).saved
                )
                for n in (1, 2)
            )

        return run

    results = at_once(
        mark_all(first, teacher, submissions), mark_all(second, second_teacher, submissions[::-1])
    )

    assert results == [16, 16]
    assert [stands(each) for each in submissions] == [("graded", "graded", Decimal(5), 5)] * 8


def enrol(world: World) -> User:
    student = factories.student(world.school)
    factories.enrolment(student, world.school_class)
    return student


@pytest.mark.parametrize("points", ["-0.001", "4.001", "1.2345", "NaN", "Infinity", "1E+9"])
def test_points_that_do_not_fit_are_refused_and_nothing_of_the_page_is_saved(
    exam: Exam, submission: Submission, teacher: User, points: str
) -> None:
    first, second = essays_of(exam)
    before = Result.objects.values().get()

    with pytest.raises(InvalidPoints):
        mark_answers(changes=[change(submission, second, "1"), change(submission, first, points)], by=teacher)

    assert Result.objects.values().get() == before


@pytest.mark.parametrize("person", ["other_teacher", "other_school_teacher", "admin", "student"])
def test_whoever_does_not_teach_the_class_marks_nothing(
    exam: Exam, submission: Submission, person: str, request: pytest.FixtureRequest
) -> None:
    first, _ = essays_of(exam)
    before = Result.objects.values().get()

    outcome = mark(submission, first, "3", by=request.getfixturevalue(person))

    assert outcome == MarkOutcome([], [], [], missing=[AnswerKey(submission.pk, first)])
    assert Result.objects.values().get() == before


@pytest.mark.parametrize("lost", ["the assignment", "the enrolment then", "the account"])
def test_who_teaches_the_class_no_more_marks_nothing(
    exam: Exam, submission: Submission, teacher: User, lost: str
) -> None:
    if lost == "the assignment":
        TeachingAssignment.objects.filter(teacher=teacher).delete()
    elif lost == "the enrolment then":
        Enrolment.objects.update(starts_on=dt.datetime.now(tz=dt.UTC).date() + dt.timedelta(days=2))
    else:
        teacher.is_active = False
    first, _ = essays_of(exam)

    assert mark(submission, first, "3", by=teacher).missing == [AnswerKey(submission.pk, first)]


def test_a_student_who_has_changed_class_since_is_still_marked_by_the_teacher_of_then(
    exam: Exam, submission: Submission, world: World, teacher: User, student: User
) -> None:
    today = dt.datetime.now(tz=dt.UTC).date()
    Enrolment.objects.update(starts_on=today - dt.timedelta(days=9), ends_on=today + dt.timedelta(days=1))
    factories.enrolment(student, factories.school_class(world.school))
    first, _ = essays_of(exam)

    assert mark(submission, first, "3", by=teacher).saved


@pytest.mark.parametrize("which", ["machine", "unknown", "blank", "nothing handed in"])
def test_what_no_person_marks_takes_no_points(
    exam: Exam, submission: Submission, other_student: User, teacher: User, which: str
) -> None:
    first, _ = essays_of(exam)
    machine = (exam.revisions.get().paper or [])[0]["id"]
    key = {
        "machine": AnswerKey(submission.pk, machine),
        "unknown": AnswerKey(submission.pk, "constructor"),
        "blank": AnswerKey(submission.pk, first),
        "nothing handed in": AnswerKey(uuid7(), first),
    }[which]
    if which == "blank":
        key = AnswerKey(sit(exam, other_student, first=" \n").pk, first)
    before = list(Result.objects.order_by("pk").values())

    outcome = mark_answers(changes=[PointsChange(key, Decimal(1), version=1)], by=teacher)

    assert outcome == MarkOutcome([], [], [], missing=[key])
    assert list(Result.objects.order_by("pk").values()) == before


def regrade(submission: Submission) -> None:
    with transaction.atomic():
        enqueue([regrading_job(submission)])
    grade_everything()


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


def test_a_regrade_and_a_teacher_at_the_same_instant_lose_nothing(
    exam: Exam, submission: Submission, teacher: User, events_of: EventsOf
) -> None:
    first, second = essays_of(exam)
    mark(submission, first, "3", by=teacher)
    for given in ("1", "2") * 5:
        Result.objects.update(score=0)  # so that the regrade has something to write
        with transaction.atomic():
            enqueue([regrading_job(submission)])
        version = stands(submission)[-1]
        graded, marked = at_once(
            grade_everything,
            lambda given=given, version=version: mark(submission, second, given, version, by=teacher),  # type: ignore[misc]
        )
        assert not isinstance(graded, Exception)
        assert marked.saved == [AnswerKey(submission.pk, second)]
        questions = Result.objects.get().breakdown["questions"]
        assert (questions[first]["points"], questions[second]["points"]) == ("3", given)
    assert len(events_of(submission.attempt_id)) >= 13  # dense, whoever wrote


def test_points_for_an_answer_that_was_withdrawn_never_reach_the_one_handed_in_after_it(
    exam: Exam, student: User, teacher: User
) -> None:
    """The server hands in a draft, a teacher reads it, an extension reopens the attempt, the student goes on and submits."""
    first, _ = essays_of(exam)
    withdrawn = sit(exam, student, first="A draft", origin="server", decision="closed_by_server")
    grant_extension(
        exam_id=exam.pk, kind=ExtensionKind.MINUTES, amount=5, reason="A fire alarm.", by=teacher.pk
    )
    assert mark(withdrawn, first, "3", by=teacher).missing == [AnswerKey(withdrawn.pk, first)]

    submitted = sit(exam, student, first="The whole story")

    assert mark(withdrawn, first, "3", by=teacher).missing == [AnswerKey(withdrawn.pk, first)]
    assert points_given(exam, first, teacher) == {"student": None}
    assert mark(submitted, first, "4", by=teacher).saved


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
    # whom the teacher marks, the attempts, the submissions, the clock; results, attempts, events
    with transaction.atomic(), django_assert_num_queries(7 + 2):  # and a savepoint's two
        outcome = mark_answers(changes=changes, by=teacher)
    assert len(outcome.saved) == count
