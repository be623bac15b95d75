"""What is shown of a version: made outside any transaction, published in one, by the state and the number of the version.

The one thing to know: rendering takes seconds, and meanwhile the student may send a newer photo, the clean-up may give this one up, or a
second process may render the same. Only the transaction at the end decides; whoever comes too late leaves nothing but doomed objects.
"""

import io
from typing import Final
from uuid import UUID

from django.db import transaction

from exams.attachments.judging import Publication, judge_publication
from exams.attachments.objects import doom_written, keep_objects, open_object, write_object
from exams.attachments.renderer import Rendered, UnusableFile, render_file
from exams.attachments.uploads import lock_version
from exams.models import AttachmentVersion, ObjectRole, ObjectState, StoredObject, VersionState

GENERAL_PROBLEM: Final = "This file could not be prepared for showing."


def render_version(version_id: UUID) -> UnusableFile | None:
    """Make and publish what is shown of this version, if nobody has; return why not, where the file is at fault.

    May be repeated and may run twice at once. Raises what the storage raises, and `LookInterrupted`: then it may work later.
    """
    version = AttachmentVersion.objects.select_related("attachment").filter(pk=version_id).first()
    if version is None or version.state != VersionState.PROCESSING:
        return None
    original = version.stored_objects.get(role=ObjectRole.ORIGINAL, state=ObjectState.KEPT)
    with open_object(original) as content:
        outcome = render_file(content, version.file_type)
    if isinstance(outcome, UnusableFile):
        fail_version(version_id, outcome)
        return outcome
    _store(version, outcome)
    return None


@transaction.atomic
def reopen_version(version_id: UUID) -> bool:
    """Let a version that could not be shown be tried again; say whether there was one. Locks attachment and version.

    What was said of it is forgotten. One whose file was not what had been announced never was complete, and stays as it is.
    """
    failed = AttachmentVersion.objects.filter(
        pk=version_id, state=VersionState.FAILED, completed_at__isnull=False
    ).first()
    if failed is None or lock_version(failed).state != VersionState.FAILED:
        return False
    AttachmentVersion.objects.filter(pk=version_id).update(
        state=VersionState.PROCESSING, problem="", diagnosis=""
    )
    return True


def _store(version: AttachmentVersion, rendered: Rendered) -> None:
    written: list[StoredObject] = []
    try:
        for role, picture in rendered.pictures.items():
            attempt_id = version.attachment.attempt_id
            written.append(write_object(version, role, io.BytesIO(picture), attempt_id=attempt_id))
        publish_version(version, rendered, written)
    except Exception:
        doom_written(written)
        raise


@transaction.atomic
def publish_version(
    version: AttachmentVersion, rendered: Rendered, written: list[StoredObject]
) -> Publication:
    """Make a version ready with these objects, and show it unless a newer one is shown; say which it was.

    Locks the attachment, then the version. Raises `ObjectLost` if the objects were swept away meanwhile.
    """
    locked = lock_version(version)
    attachment = locked.attachment
    publication = judge_publication(
        state=locked.state,
        number=locked.number,
        published_number=attachment.published.number if attachment.published else None,
    )
    if publication is Publication.REFUSE:
        doom_written(written)
        return publication
    keep_objects(written)
    locked.state = VersionState.READY
    locked.width, locked.height, locked.pages = rendered.width, rendered.height, rendered.pages
    locked.save(update_fields=["state", "width", "height", "pages"])
    if publication is Publication.PUBLISH:
        attachment.published = locked
        attachment.save(update_fields=["published"])
    return publication


@transaction.atomic
def fail_version(version_id: UUID, why: UnusableFile) -> bool:
    """Note that nothing can be shown of a version, unless something is; say whether it was so. The original stays: it was handed in."""
    failed = AttachmentVersion.objects.filter(pk=version_id, state=VersionState.PROCESSING).update(
        state=VersionState.FAILED, problem=why.problem, diagnosis=why.diagnosis
    )
    return bool(failed)
