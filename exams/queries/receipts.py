"""A student's receipts as their pages show them: the submission, its exam, and its place in the log."""

from collections.abc import Sequence
from uuid import UUID

from exams.errors import NotFound
from exams.models import Submission
from exams.queries.safety import confirm_safe
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt, sign_receipt
from outbox.log.reading import LogEntry, find_entry

MOST_LISTED = 200


def list_receipts(*, student_id: UUID) -> Sequence[Submission]:
    """Return what was handed in by or for this student, with attempt and exam, the latest first; at most 200. One read.

    Raises `OutcomeUnknown` while it is not certain that all of it is safe.
    """
    handed_in = Submission.objects.filter(student_id=student_id, withdrawn_at__isnull=True)
    latest = handed_in.defer("answers").select_related("attempt__exam").order_by("-accepted_at")
    receipts = list(latest[:MOST_LISTED])
    confirm_safe()
    return receipts


def get_receipt(*, receipt_id: UUID, student_id: UUID) -> Submission:
    """Return this student's submission with attempt, exam and school, also a withdrawn one, or raise `NotFound`. One read.

    Raises `OutcomeUnknown` while it is not certain that it is safe.
    """
    mine = (
        Submission.objects.select_related("attempt__exam__school")
        .defer("answers")
        .filter(student_id=student_id)
    )
    submission = mine.filter(pk=receipt_id).first()
    if submission is None:
        raise NotFound
    confirm_safe()
    return submission


def describe_receipt(submission: Submission, entry: LogEntry | None) -> dict[str, object]:
    """Return the signed receipt, and its place in the log once it has one. The place is not signed: the log proves it."""
    document: dict[str, object] = {**sign_receipt(Receipt.of(submission), get_key_ring())}
    if entry is None:
        return document
    position = {"epoch": entry.position.epoch, "shard": entry.position.shard, "pos": entry.position.pos}
    return document | {"position": position, "tick": {"id": entry.tick_id, "digest": entry.tick_digest.hex()}}


def find_place(submission: Submission) -> LogEntry | None:
    """Return where the log holds this submission, None while it is not numbered. One read."""
    return find_entry(submission.event_id)
