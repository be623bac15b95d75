"""What was handed in and what was published never changes: the database itself refuses, whoever asks."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from exams.errors import RevisionPublished
from exams.models import AnswerOption, Attempt, ExamRevision, Question, Submission
from exams.services.authoring import add_questions, lock_unpublished, publish_revision
from tests import factories


def submission_of(attempt: Attempt, **fields: Any) -> Submission:
    """A submission row as the gate writes one."""
    defaults = {
        "school_id": attempt.school_id,
        "exam_id": attempt.exam_id,
        "attempt": attempt,
        "student_id": attempt.student_id,
        "revision_id": attempt.revision_id,
        "exam_revision": 1,
        "attempt_key": attempt.key,
        "answers": "{}",
        "payload_sha256": "0" * 64,
        "accepted_at": timezone.now(),
        "deadline": attempt.closes_at,
        "decision": "on_time",
        "decision_rule": attempt.deadline_rule,
        "receipt_key_id": "k1",
        "event_id": uuid7(),
    }
    return Submission.objects.create(**defaults | fields)


def refuses(change: Callable[[], object]) -> bool:
    with pytest.raises(IntegrityError, match=r"immutable|never change"), transaction.atomic():
        change()
    return True


@pytest.mark.django_db
def test_submission_never_changes_and_never_goes() -> None:
    submission = submission_of(factories.attempt())
    rows = Submission.objects.filter(pk=submission.pk)

    assert refuses(lambda: rows.update(answers='{"a":1}'))
    assert refuses(lambda: rows.update(accepted_at=timezone.now()))
    assert refuses(rows.delete)
    assert rows.get().answers == "{}"


@pytest.mark.django_db
def test_submission_of_the_server_is_withdrawn_once_and_nothing_else() -> None:
    submission = submission_of(factories.attempt(), origin="server", decision="closed_by_server")
    rows = Submission.objects.filter(pk=submission.pk)
    now = timezone.now()

    assert refuses(lambda: rows.update(withdrawn_at=now, answers='{"a":1}'))
    assert rows.update(withdrawn_at=now) == 1
    assert refuses(lambda: rows.update(withdrawn_at=None))
    assert refuses(lambda: rows.update(withdrawn_at=timezone.now()))
    assert rows.get().withdrawn_at == now


@pytest.mark.django_db
def test_submission_of_a_student_cannot_be_withdrawn() -> None:
    submission = submission_of(factories.attempt())

    with pytest.raises(IntegrityError, match="only_the_servers_submission_is_withdrawn"):
        Submission.objects.filter(pk=submission.pk).update(withdrawn_at=timezone.now())


@pytest.mark.django_db
def test_published_revision_never_changes_and_never_goes() -> None:
    revision = factories.published_revision()
    revisions = ExamRevision.objects.filter(pk=revision.pk)
    questions = Question.objects.filter(revision=revision)
    options = AnswerOption.objects.filter(question__revision=revision)

    assert refuses(lambda: revisions.update(instructions="Other ones"))
    assert refuses(lambda: revisions.update(published_at=None, paper=None, key=None, max_points=None))
    assert refuses(lambda: questions.update(points=5))
    assert refuses(lambda: options.update(fraction=0))
    assert refuses(options.delete)
    assert refuses(questions.delete)
    assert refuses(revision.delete)
    assert refuses(
        lambda: Question.objects.create(revision=revision, position=99, kind="essay", text="One more")
    )
    assert refuses(lambda: AnswerOption.objects.create(question=questions[0], position=99, text="One more"))


@pytest.mark.django_db
def test_question_moves_neither_into_a_published_revision_nor_out_of_it() -> None:
    published, draft = factories.published_revision(), factories.draft_revision()

    assert refuses(lambda: draft.questions.update(revision=published))
    assert refuses(lambda: published.questions.update(revision=draft))


@pytest.mark.django_db
def test_unpublished_revision_may_change_and_go() -> None:
    revision = factories.draft_revision()

    Question.objects.filter(revision=revision).update(points=5)
    revision.delete()

    assert not ExamRevision.objects.filter(pk=revision.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_question_added_during_a_publication_waits_and_is_refused() -> None:
    revision = factories.draft_revision()
    outcomes: list[str] = []
    locked = threading.Event()

    def add_meanwhile() -> None:
        """Insert a row past the service, as any other door might."""
        locked.wait(10)
        try:
            Question.objects.create(revision=revision, position=99, kind="essay", text="Late")
            outcomes.append("added")
        except IntegrityError:
            outcomes.append("refused")
        finally:
            connection.close()

    adding = threading.Thread(target=add_meanwhile)
    adding.start()
    with transaction.atomic():
        lock_unpublished(revision)
        locked.set()
        _wait_until_somebody_waits_for_us()
        publish_revision(revision=revision, by=factories.teacher(revision.exam.school))
    adding.join(10)

    assert outcomes == ["refused"]
    assert len(ExamRevision.objects.get(pk=revision.pk).paper or []) == revision.questions.count() == 7


def _wait_until_somebody_waits_for_us() -> None:
    for _ in range(1000):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.01)")
            cursor.execute(
                "SELECT count(*) FROM pg_locks"
                " WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            )
            if cursor.fetchone()[0]:
                return
    raise AssertionError("Nobody waits for us.")


@pytest.mark.django_db
def test_adding_questions_is_refused_in_words_once_published() -> None:
    revision = factories.published_revision()

    with pytest.raises(RevisionPublished):
        add_questions(revision=revision, questions=factories.questions(1))
