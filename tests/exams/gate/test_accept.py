"""The rule of the gate, told by its one statement on a real database."""

import datetime as dt
from uuid import uuid4

import pytest

from exams.gate.handin import Outcome
from exams.gate.session import Session
from exams.models import Attempt, Submission
from exams.receipts import Receipt
from outbox.jobs import job_id_for
from outbox.models import Event, Job
from tests import factories
from tests.exams.gate.sessions import KEY_ID, MakeHandIn, make_handin, session  # noqa: F401


def test_accept_stores_submission_job_event_and_attempt_together(
    session: Session, make_handin: MakeHandIn
) -> None:
    attempt = factories.attempt()
    handin = make_handin(attempt, {"q1": "a"})

    [verdict] = session.accept([handin])

    submission = Submission.objects.get()
    assert verdict.outcome is Outcome.ACCEPTED
    assert verdict.receipt == Receipt.of(submission)
    print(verdict)
