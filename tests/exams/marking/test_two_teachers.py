"""Two teachers, and a teacher and a worker, at one attempt: one after the other and at the same instant."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from exams.jobs import regrading_job
from exams.models import Exam, Result, Submission
from exams.services.marking import AnswerKey, MarkOutcome, mark_answers
from gradebook.models import User
from outbox.queue.jobs import enqueue
from tests.exams.grading_room import grade_everything
from tests.exams.marking.essays import change, enrol, essays_of, mark, sit, stands
from tests.exams.together import at_once
from tests.people import World

EventsOf = Callable[[UUID], list[tuple[str, dict[str, Any]]]]

pytestmark = pytest.mark.django_db(transaction=True)


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
