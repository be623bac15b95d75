"""A file arrives: sent in chunks, checked, kept. Everything may be repeated, and a cut network loses at most one chunk.

Bytes are written outside of any transaction and become part of the upload in a short one, by the offset they continue: of two senders
of one chunk exactly one is heard. The attempt is locked only when the file is whole, so that no file work ever holds up a hand-in.
"""

import hashlib
import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import IO, Final
from uuid import UUID

from django.db import transaction

from exams.attachments.contents import HEAD, describe_refusal, find_file_type
from exams.attachments.judging import check_chunk
from exams.attachments.objects import doom_objects, doom_written, keep_objects, open_object, write_object
from exams.attachments.uploads import check_open, get_upload, give_up, lock_version
from exams.errors import DigestMismatch, UnsuitableFile
from exams.events import AttachmentStored
from exams.models import (
    AttachmentVersion,
    Attempt,
    ObjectRole,
    ObjectState,
    StoredObject,
    VersionState,
)
from exams.services.facts import describe, event_of
from outbox.db import database_now
from outbox.log.publish import Actor, publish
from outbox.models.log import ActorType

LONGEST_PROBLEM: Final = 200


def add_chunk(
    *, attempt_id: UUID, version_id: UUID, offset: int, content: bytes, arrived_at: datetime, by: UUID
) -> AttachmentVersion:
    """Add these bytes to the student's upload; with the last ones the file is checked and kept. `arrived_at` is by the database's clock.

    An empty chunk at the end asks for the check again, should its answer have been lost. Raises `NotFound`, `AttemptClosed`, what
    `check_chunk` raises, `UnsuitableFile` or `DigestMismatch` (then the upload has failed).
    """
    version = get_upload(attempt_id=attempt_id, version_id=version_id, by=by)
    if version.completed_at and offset == version.size:
        return version  # the answer to the last chunk was lost
    check_open(version.attachment.attempt, at=arrived_at)
    _check(version, offset, content)
    if offset == 0:
        _check_type(version, content[:HEAD])
    if content:
        version = _store_part(version, content, offset)
    return version if version.received < version.size else _finish(version, arrived_at)


def _check(version: AttachmentVersion, offset: int, content: bytes) -> None:
    check_chunk(
        state=version.state,
        received=version.received,
        size=version.size,
        offset=offset,
        length=len(content),
    )


def _check_type(version: AttachmentVersion, head: bytes) -> None:
    """Note what the first bytes say the file is, or end the upload: nobody shall send 20 MB to be told then."""
    file_type = find_file_type(head)
    if file_type is None:
        problem = describe_refusal(head)
        _refuse(version, problem=problem, diagnosis=f"It begins with {head.hex(' ')}.")
        raise UnsuitableFile(problem)
    version.file_type = file_type
    AttachmentVersion.objects.filter(pk=version.pk).update(file_type=file_type)


def _store_part(version: AttachmentVersion, content: bytes, offset: int) -> AttachmentVersion:
    part = write_object(
        version,
        ObjectRole.PART,
        io.BytesIO(content),
        attempt_id=version.attachment.attempt_id,
        offset=offset,
    )
    with _or_doomed(part), transaction.atomic():
        locked = lock_version(version)
        _check(locked, offset, content)
        keep_objects([part])
        locked.received = offset + len(content)
        locked.touched_at = database_now()
        locked.save(update_fields=["received", "touched_at"])
    return locked


def _finish(version: AttachmentVersion, arrived_at: datetime) -> AttachmentVersion:
    """Put the parts together, and keep them as the original if they are what was announced."""
    with tempfile.TemporaryFile() as whole:
        found = _assemble(version, whole)
        if found != version.sha256:
            return _end_mismatch(version, found)
        original = write_object(version, ObjectRole.ORIGINAL, whole, attempt_id=version.attachment.attempt_id)
    with _or_doomed(original):
        return _keep_original(version, original, arrived_at)


def _assemble(version: AttachmentVersion, whole: IO[bytes]) -> str:
    """Write the parts one after another and return the digest of it all; of as many as there are, should any be gone."""
    digest = hashlib.sha256()
    parts = version.stored_objects.filter(role=ObjectRole.PART, state=ObjectState.KEPT).order_by("offset")
    with suppress(FileNotFoundError):
        for part in parts:
            with open_object(part) as stored:
                content = stored.read()
            digest.update(content)
            whole.write(content)
    whole.seek(0)
    return digest.hexdigest()


def _end_mismatch(version: AttachmentVersion, found: str) -> AttachmentVersion:
    """Fail the upload; or, if another request has finished it meanwhile (and so taken the parts away), return what it became."""
    refusal = DigestMismatch()
    diagnosis = f"Announced {version.sha256}, arrived {found}."
    if _refuse(version, problem=refusal.detail, diagnosis=diagnosis):
        raise refusal
    return AttachmentVersion.objects.select_related("attachment__attempt").get(pk=version.pk)


@transaction.atomic
def _keep_original(
    version: AttachmentVersion, original: StoredObject, arrived_at: datetime
) -> AttachmentVersion:
    """Make the file part of the attempt, with its event. Locks the attempt, then attachment and version, as everywhere."""
    attempt = Attempt.objects.select_for_update(no_key=True).get(pk=version.attachment.attempt_id)
    check_open(attempt, at=arrived_at)
    locked = lock_version(version)
    if locked.state != VersionState.PENDING:
        doom_written([original])  # somebody else finished it with the same bytes
        return locked
    keep_objects([original])
    doom_objects(locked.pk, roles=[ObjectRole.PART])
    locked.state, locked.completed_at = VersionState.PROCESSING, database_now()
    locked.save(update_fields=["state", "completed_at"])
    publish([event_of(attempt, _fact(attempt, locked), by=Actor(ActorType.PERSON, attempt.student_id))])
    attempt.version += 1
    attempt.save(update_fields=["version"])
    return locked


def _fact(attempt: Attempt, version: AttachmentVersion) -> AttachmentStored:
    return AttachmentStored(
        **describe(attempt),
        question_id=version.attachment.question_id,
        version_id=version.pk,
        version_number=version.number,
        sha256=version.sha256,
        size=version.size,
        file_type=version.file_type,
    )


@transaction.atomic
def _refuse(version: AttachmentVersion, *, problem: str, diagnosis: str) -> bool:
    """End an upload that can come to nothing; say whether it was pending: the first verdict stands."""
    locked = lock_version(version)
    if locked.state != VersionState.PENDING:
        return False
    locked.problem, locked.diagnosis = problem[:LONGEST_PROBLEM], diagnosis
    locked.save(update_fields=["problem", "diagnosis"])
    give_up(locked, VersionState.FAILED)
    return True


@contextmanager
def _or_doomed(written: StoredObject) -> Iterator[None]:
    """Leave the object to the sweep at once if it comes to nothing."""
    try:
        yield
    except Exception:
        doom_written([written])
        raise
