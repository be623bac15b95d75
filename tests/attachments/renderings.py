"""Renderings that come late, are published, and what is shown then."""

import io

from exams.attachments.judging import Publication
from exams.attachments.objects import write_object
from exams.attachments.publication import publish_version
from exams.attachments.renderer import Rendered
from exams.models import AttachmentVersion, ObjectRole, StoredObject
from tests.attachments.senders import (
    stands,
)

SIZE = Rendered(width=640, height=480)


def rendered_late(version: AttachmentVersion, content: bytes = b"a picture") -> list[StoredObject]:
    """What a renderer has written, and not yet published."""
    version = stands(version)
    attempt_id = version.attachment.attempt_id
    return [
        write_object(version, role, io.BytesIO(content), attempt_id=attempt_id)
        for role in (ObjectRole.PREVIEW, ObjectRole.THUMBNAIL)
    ]


def publish(version: AttachmentVersion, written: list[StoredObject]) -> Publication:
    return publish_version(stands(version), SIZE, written)


def shown(version: AttachmentVersion) -> int | None:
    """The number of the version that is shown for this question."""
    published = stands(version).attachment.published
    return published.number if published else None
