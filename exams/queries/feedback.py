"""What the authors say to a student's answers, once it can help nobody to sit the exam.

The one thing to know: feedback tells what is right. It is shown with a released score, after the exam has closed, and not while anybody sits
it or may still begin it: who has more time than others would be told by those who had less. Before the close the key is not even read.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from exams.canonical import read_answers
from exams.grading.feedback import find_feedback
from exams.models import Submission
from exams.queries.attempts import AttemptView
from exams.queries.ending import has_extensions, is_sat, may_anybody_begin


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
    """Return what is said of each question, in the order of the paper; None while it may not be read.

    At most one read; five more where somebody was granted more time for the exam.
    """
    exam = view.attempt.exam
    if view.released is None or view.submission is None or exam.closes_at > view.read_at:
        return None
    answers, key, sits, extends = (
        Submission.objects.filter(pk=view.submission.pk)
        .values_list("answers", "attempt__revision__key", is_sat(exam.pk), has_extensions(exam.pk))
        .get()
    )
    if sits or (extends and may_anybody_begin(exam, at=view.read_at)):
        return None
    return _say(view.attempt.revision.paper or [], key, read_answers(answers))


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
