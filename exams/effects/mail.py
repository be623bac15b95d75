"""The mail that confirms a submission, with the signed receipt attached. It never contains an answer.

It may be sent twice when a process dies between sending and noting that; both then have the same Message-ID.
"""

import json
from smtplib import SMTPRecipientsRefused, SMTPResponseException
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone

from exams.models import Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt, sign_receipt
from gradebook.models import User
from outbox.effects import Delivery, GiveUp, TryLater

PERMANENT = 500  # SMTP's codes from here on will be the same tomorrow (RFC 5321, 4.2.1)


def mail_receipt(delivery: Delivery) -> None:
    """Send it, unless the student has no address or the submission was withdrawn since. An effect outside."""
    submission = _find(UUID(delivery.event.payload["submission_id"]))
    if submission is None:
        return
    student = User.objects.get(pk=submission.student_id)
    if not student.email:
        return
    message = write_mail(submission, student, key=delivery.key)
    try:
        message.send()
    except SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        raise _judge(codes[0] if codes else PERMANENT) from error
    except SMTPResponseException as error:
        raise _judge(error.smtp_code) from error


def write_mail(submission: Submission, student: User, *, key: str) -> EmailMessage:
    """Return the mail for a submission, on the school's clock."""
    exam = submission.attempt.exam
    context = {"submission": submission, "exam": exam, "student": student, "site": settings.SITE_URL}
    with timezone.override(ZoneInfo(exam.school.time_zone)):
        body = render_to_string("exams/mail/receipt.txt", context)
    sender_domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].rstrip("> ")
    message = EmailMessage(
        subject=f"Received: {' '.join(exam.title.split())}",
        body=body,
        to=[student.email],
        headers={
            "Message-ID": f"<{key}@{sender_domain}>",
            "Auto-Submitted": "auto-generated",
        },
    )
    receipt = json.dumps(sign_receipt(Receipt.of(submission), get_key_ring()), indent=2)
    message.attach(f"receipt-{submission.pk}.json", receipt, "application/json")
    return message


def _find(submission_id: UUID) -> Submission | None:
    stands = Submission.objects.filter(pk=submission_id, withdrawn_at__isnull=True)
    return stands.select_related("attempt__exam__school").defer("answers").first()


def _judge(code: int) -> Exception:
    """Say whether a mail server's refusal is for good. Its words may name the address, so they are not kept."""
    if code >= PERMANENT:
        return GiveUp(f"The mail server refused for good ({code}).")
    return TryLater(f"The mail server said no for now ({code}).")
