"""An answer that names a file waits for a person; one whose file is not there waits with a note, and nothing is lost."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from exams.grading import MISSING_FILE
from exams.models import AttachmentVersion, Exam, Result, Submission
from exams.services.attempts import start_attempt
from gradebook.models import User
from tests.attachments import pictures
from tests.attachments.senders import Sender, photo_questions
from tests.exams.grading_room import grade_everything

pytestmark = pytest.mark.django_db(transaction=True)


def graded(submission: Submission) -> tuple[str, dict[str, Any]]:
    """Return the result's state and each question's entry."""
    grade_everything()
    result = Result.objects.get(pk=submission.pk)
    return result.state, result.breakdown["questions"]


def test_an_answer_that_names_a_file_waits_for_a_person(sender: Sender) -> None:
    version = sender.send_and_render(pictures.jpeg())
    first, second = map(str, photo_questions(sender.attempt))

    state, questions = graded(sender.hand_in({first: version.sha256}))

    assert state == "needs_marking"
    assert questions[first] == {"state": "needs_marking", "points": "0", "max_points": "4"}
    assert questions[second] == {"state": "blank", "points": "0", "max_points": "2"}


def test_a_file_that_could_not_be_shown_has_arrived_all_the_same(sender: Sender) -> None:
    version = sender.send_and_render(pictures.truncated_jpeg())
    first = str(photo_questions(sender.attempt)[0])
    assert version.state == "failed"

    _, questions = graded(sender.hand_in({first: version.sha256}))

    assert questions[first] == {"state": "needs_marking", "points": "0", "max_points": "4"}


@pytest.mark.parametrize("answer", ["0" * 64, "no digest", 42, True, ["a"], {"a": "b"}])
def test_an_answer_that_names_nothing_waits_with_a_note(sender: Sender, answer: Any) -> None:
    sender.send(pictures.jpeg())
    first = str(photo_questions(sender.attempt)[0])

    state, questions = graded(sender.hand_in({first: answer}))

    assert state == "needs_marking"
    assert questions[first] == {
        "state": "needs_marking",
        "points": "0",
        "max_points": "4",
        "note": MISSING_FILE,
    }


def test_a_file_that_has_not_arrived_whole_is_missing(sender: Sender) -> None:
    content = pictures.jpeg(2400, 1600, quality=95) + b"\0" * 70_000
    version = sender.announce(content).version
    sender.add(version, content, 0)
    first = str(photo_questions(sender.attempt)[0])

    _, questions = graded(sender.hand_in({first: version.sha256}))

    assert questions[first]["note"] == MISSING_FILE


def test_a_file_of_another_question_or_another_student_is_missing(
    sender: Sender, exam: Exam, other_student: User
) -> None:
    version = sender.send(pictures.jpeg())
    first, second = map(str, photo_questions(sender.attempt))
    theirs = start_attempt(exam_id=exam.pk, student_id=other_student.pk).attempt

    _, mine = graded(sender.hand_in({first: version.sha256, second: version.sha256}))
    _, copied = graded(Sender(theirs).hand_in({first: version.sha256}))

    assert ("note" in mine[first], mine[second]["note"]) == (False, MISSING_FILE)
    assert copied[first]["note"] == MISSING_FILE


def test_files_of_a_batch_are_looked_up_in_one_read(sender: Sender, exam: Exam, other_student: User) -> None:
    first = str(photo_questions(sender.attempt)[0])
    theirs = Sender(start_attempt(exam_id=exam.pk, student_id=other_student.pk).attempt)
    for each in (sender, theirs):
        each.hand_in({first: each.send(pictures.jpeg()).sha256})

    with CaptureQueriesContext(connection) as queries:
        grade_everything()

    reads = [
        query["sql"]
        for query in queries
        if query["sql"].startswith("SELECT") and "attachmentversion" in query["sql"]
    ]
    assert len(reads) == 1
    assert AttachmentVersion.objects.count() == 2
