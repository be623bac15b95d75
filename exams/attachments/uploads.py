"""A file is announced: who may send it, for which question, and how far it has come. How it arrives is in `arriving`."""

import dataclasses
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q, Sum
from django.db.models.functions import Now

from exams.attachments.judging import LIVE
from exams.attachments.limits import (
    ATTEMPT_QUOTA,
    LARGEST_FILE,
    MIB,
    UPLOAD_PATIENCE,
    VERSIONS_PER_QUESTION,
)
from exams.attachments.objects import doom_objects
from exams.errors import (
    AttemptClosed,
    Malformed,
    NotFound,
    TooLarge,
    TooManyFiles,
)
from exams.local_time import write_local
from exams.models import (
    Attachment,
    AttachmentVersion,
    Attempt,
    AttemptState,
    QuestionKind,
    VersionState,
)
from exams.policies import attempts_of
from outbox.db import database_now


@dataclasses.dataclass(frozen=True, slots=True)
class Announcement:
    """What a sender says about a file beforehand. `sha256` in lower-case hex; `size` in bytes."""

    question_id: UUID
    file_name: str
    size: int
    sha256: str


@dataclasses.dataclass(frozen=True, slots=True)
class Started:
    """The upload to go on with, and whether it was begun just now."""

    version: AttachmentVersion
    is_new: bool


@transaction.atomic
def start_upload(*, attempt_id: UUID, announced: Announcement, by: UUID) -> Started:
    """Return the upload of this file for this question, the student's own: who has begun it may go on with it.

    Another file takes its place as a new version; an upload it interrupts is given up. Locks the attempt, then the attachment. Raises
    `NotFound`, `AttemptClosed`, `Malformed` (no such question), `TooLarge` or `TooManyFiles`.
    """
    arrived_at = database_now()
    attempt = _lock_attempt(attempt_id, by)
    check_open(attempt, at=arrived_at)
    _check_question(attempt, announced.question_id)
    if announced.size > LARGEST_FILE:
        raise TooLarge(f"A file has at most {LARGEST_FILE // MIB} MiB.")
    attachment = _lock_attachment(attempt, announced.question_id)
    latest = attachment.versions.filter(number=attachment.latest_number).first()
    if latest and latest.state in LIVE and (latest.sha256, latest.size) == (announced.sha256, announced.size):
        return Started(latest, is_new=False)
    if latest and latest.state == VersionState.PENDING:
        give_up(latest, VersionState.ABANDONED)
    _check_quota(attachment, announced.size)
    return Started(_create_version(attachment, announced), is_new=True)


def get_upload(*, attempt_id: UUID, version_id: UUID, by: UUID) -> AttachmentVersion:
    """Return the student's upload with its attempt, or raise `NotFound`."""
    mine = AttachmentVersion.objects.filter(attachment__attempt__in=attempts_of(by).filter(pk=attempt_id))
    found = (
        mine.exclude(state=VersionState.ABANDONED).select_related("attachment__attempt").filter(pk=version_id)
    )
    version = found.first()
    if version is None:
        raise NotFound
    return version


def _lock_attempt(attempt_id: UUID, student_id: UUID) -> Attempt:
    locked = attempts_of(student_id).select_for_update(no_key=True).filter(pk=attempt_id).first()
    if locked is None:
        raise NotFound
    return locked


def _lock_attachment(attempt: Attempt, question_id: UUID) -> Attachment:
    """Return the question's attachment, made if there is none. The attempt is locked, so nobody else makes it at this moment."""
    attachment, _ = Attachment.objects.select_for_update(no_key=True).get_or_create(
        attempt=attempt,
        question_id=question_id,
        defaults={"school_id": attempt.school_id, "exam_id": attempt.exam_id},
    )
    return attachment


def check_open(attempt: Attempt, *, at: datetime) -> None:
    """Raise `AttemptClosed` by the rule of Submit: what still could be handed in may still arrive."""
    if attempt.state == AttemptState.OPEN and at <= attempt.accepts_until:
        return
    zone = Attempt.objects.values_list("exam__school__time_zone", flat=True).get(pk=attempt.pk)
    closed_at = attempt.ended_at or attempt.accepts_until
    raise AttemptClosed(state=attempt.state, closed_at=write_local(closed_at, zone))


def _check_question(attempt: Attempt, question_id: UUID) -> None:
    asked = [{"id": str(question_id), "kind": QuestionKind.UPLOAD}]
    if not Attempt.objects.filter(pk=attempt.pk, revision__paper__contains=asked).exists():
        raise Malformed("This paper has no such question that asks for a file.", pointer="/question_id")


def _check_quota(attachment: Attachment, size: int) -> None:
    of_attempt = AttachmentVersion.objects.filter(attachment__attempt=attachment.attempt_id)
    takes_room = Q(state=VersionState.PENDING) | Q(completed_at__isnull=False)
    taken = of_attempt.filter(takes_room).exclude(state=VersionState.ABANDONED).aggregate(sum=Sum("size"))
    if (taken["sum"] or 0) + size > ATTEMPT_QUOTA:
        raise TooManyFiles(f"An attempt takes {ATTEMPT_QUOTA // MIB} MiB of files.")
    if attachment.latest_number >= VERSIONS_PER_QUESTION:
        raise TooManyFiles(f"A question takes {VERSIONS_PER_QUESTION} files, one after another.")


def _create_version(attachment: Attachment, announced: Announcement) -> AttachmentVersion:
    attachment.latest_number += 1
    attachment.save(update_fields=["latest_number"])
    return AttachmentVersion.objects.create(
        attachment=attachment,
        number=attachment.latest_number,
        sha256=announced.sha256,
        size=announced.size,
        file_name=announced.file_name,
        created_at=Now(),
        touched_at=Now(),
        review_at=Now() + UPLOAD_PATIENCE,
    )


def lock_version(version: AttachmentVersion) -> AttachmentVersion:
    """Lock the attachment, then read the version again under that lock."""
    attachment = Attachment.objects.select_for_update(no_key=True).get(pk=version.attachment_id)
    locked = AttachmentVersion.objects.select_for_update().get(pk=version.pk)
    locked.attachment = attachment
    return locked


def give_up(version: AttachmentVersion, state: VersionState) -> None:
    """End a version that nothing names: its objects go. Needs a transaction, with the version locked."""
    AttachmentVersion.objects.filter(pk=version.pk).update(state=state, review_at=None)
    doom_objects(version.pk)
