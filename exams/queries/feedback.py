"""What the authors say to a student's answers, once it can help nobody to sit the exam.

The one thing to know: feedback tells what is right. It is shown with a released score, after the exam has closed, and while the student has no attempt
at it open; before that the key is not even read.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Exists

from exams.canonical import read_answers
from exams.grading.feedback import find_feedback
from exams.models import Attempt, AttemptState, Submission
from exams.queries.attempts import AttemptView


@dataclasses.dataclass(frozen=True, slots=True)
class QuestionFeedback:
    """What is said of one question; `number` is its place in the paper, `text` the question; `is_html` holds for all of it."""

    question_id: str
    number: int
    text: str
    is_html: bool
    to_answer: tuple[str, ...]
    general: str


def list_feedback(view: AttemptView) -> list[QuestionFeedback] | None:
    """Return what is said of each question, in the order of the paper; None while it may not be read. At most one read."""
    if view.released is None or view.submission is None or view.attempt.exam.closes_at > view.read_at:
        return None
    attempt = view.attempt
    is_sitting = Attempt.objects.filter(
        exam=attempt.exam_id, student=attempt.student_id, state=AttemptState.OPEN
    )
    answers, key, sits = (
        Submission.objects.filter(pk=view.submission.pk)
        .values_list("answers", "attempt__revision__key", Exists(is_sitting))
        .get()
    )
    return None if sits else _say(attempt.revision.paper or [], key, read_answers(answers))


def _say(
    paper: Sequence[Mapping[str, Any]], key: Mapping[str, Any], answers: Mapping[str, Any]
) -> list[QuestionFeedback]:
    found = (
        (number, question, find_feedback(key[question["id"]], answers.get(question["id"])))
        for number, question in enumerate(paper, start=1)
    )
    return [
        QuestionFeedback(
            question_id=question["id"],
            number=number,
            text=question["text"],
            is_html=question["text_format"] == "html",
            to_answer=feedback.to_answer,
            general=feedback.general,
        )
        for number, question, feedback in found
        if feedback is not None
    ]
