"""The confirmation mail: once, with the signed receipt, never with an answer."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from smtplib import SMTPDataError, SMTPRecipientsRefused

import pytest
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.message import EmailMessage
from pytest_django import Settings

from exams.models import Attempt, Origin, Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import verify_receipt
from gradebook.models import User
from tests.exams.effects.happenings import list_ends, make_happen, only
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)
SECRET_ANSWER = "Mitochondria-are-the-powerhouse"
ACCEPTED_AT = datetime(2026, 11, 29, 16, 0, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def address(student: User) -> str:
    student.email = "ann@school.test"
    student.save()
    return student.email


class RefusingBackend(BaseEmailBackend):
    """A mail server that refuses everything, as smtplib reports it."""

    error: Exception

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        raise self.error


def test_mail_tells_what_was_accepted_on_the_schools_clock_with_the_receipt_attached(
    attempt: Attempt,
) -> None:
    submission = hand_in(attempt, {"q1": SECRET_ANSWER}, accepted_at=ACCEPTED_AT)
    make_happen()
    message = only(mail.outbox)
    assert message.to == ["ann@school.test"]
    assert message.subject == f"Received: {attempt.exam.title}"
    assert message.extra_headers["Message-ID"] == f"<{submission.event_id}@localhost>"
    assert "Accepted    Sun 29 Nov 2026, 18:00:05 UTC+02:00" in message.body
    assert f"http://127.0.0.1:8000/exams/receipts/{submission.pk}/" in message.body
    name, document, kind = only(message.attachments)
    assert (name, kind) == (f"receipt-{submission.pk}.json", "application/json")
    verify_receipt(json.loads(document), get_key_ring().public_keys())


def test_mail_never_contains_an_answer(attempt: Attempt) -> None:
    hand_in(attempt, {"q1": SECRET_ANSWER, "q2": [SECRET_ANSWER]})
    make_happen()
    raw = only(mail.outbox).message().as_string()
    assert SECRET_ANSWER not in raw
    assert "Your answers are not in it." in raw


def test_mail_is_sent_once_however_often_the_relay_looks(attempt: Attempt) -> None:
    hand_in(attempt)
    make_happen()
    make_happen()
    assert len(mail.outbox) == 1
    assert list_ends("mail_receipt") == [("mail_receipt", "done", "")]


def test_mail_of_the_servers_own_submission_says_so(attempt: Attempt) -> None:
    hand_in(attempt, origin=Origin.SERVER)
    make_happen()
    assert "your time was over, and what you had saved was handed in for you" in only(mail.outbox).body


def test_nobody_gets_a_mail_who_has_no_address_or_whose_submission_was_withdrawn(
    attempt: Attempt, student: User
) -> None:
    submission = hand_in(attempt, origin=Origin.SERVER)
    Submission.objects.filter(pk=submission.pk).update(withdrawn_at=ACCEPTED_AT)
    make_happen()
    assert (mail.outbox, list_ends("mail_receipt")) == ([], [("mail_receipt", "done", "")])


def test_title_with_a_line_break_cannot_add_a_header(attempt: Attempt) -> None:
    attempt.exam.title = "Physics\r\nBcc: everybody@school.test"
    attempt.exam.save()
    hand_in(attempt)
    make_happen()
    message = only(mail.outbox)
    assert message.subject == "Received: Physics Bcc: everybody@school.test"
    assert message.recipients() == ["ann@school.test"]


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (
            SMTPDataError(451, b"ann@school.test: later"),
            ("pending", "The mail server said no for now (451)."),
        ),
        (
            SMTPRecipientsRefused({"ann@school.test": (550, b"unknown")}),
            ("failed", "The mail server refused for good (550)."),
        ),
        (ConnectionRefusedError(111, "refused"), ("pending", "ConnectionRefusedError: [Errno 111] refused")),
    ],
)
def test_mail_server_that_refuses_is_asked_again_unless_it_says_for_good(
    attempt: Attempt, settings: Settings, error: Exception, end: tuple[str, str]
) -> None:
    RefusingBackend.error = error
    settings.EMAIL_BACKEND = f"{__name__}.RefusingBackend"
    hand_in(attempt)
    make_happen()
    assert list_ends("mail_receipt") == [("mail_receipt", *end)]
