"""A student who sends files, in a test's words; and the exam that asks for them."""

import dataclasses
import hashlib
import io
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from uuid_utils.compat import uuid7

from exams.attachments.arriving import add_chunk
from exams.attachments.objects import get_storage, keep_objects, write_object
from exams.attachments.publication import render_version
from exams.attachments.uploads import Announcement, Started, start_upload
from exams.models import (
    Attachment,
    AttachmentVersion,
    Attempt,
    Exam,
    FileType,
    ObjectRole,
    StoredObject,
    Submission,
    VersionState,
)
from outbox.db import database_now
from tests import factories
from tests.factories.papers import a_question
from tests.people import World
from tests.sitting import hand_in

CHUNK = 64 * 1024


def photo_exam(world: World, **fields: object) -> Exam:
    """True or false for 1 point, and two photos for 4 and 2; given to the class."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period, **fields)
    papers = (
        a_question("true_false"),
        a_question("upload", points=4, text="Draw the graph on paper and photograph it."),
        a_question("upload", points=2, text="And its derivative."),
    )
    factories.published_revision(exam, papers)
    factories.target(exam, world.school_class)
    return exam


def keep_photo(attempt: Attempt, content: bytes) -> AttachmentVersion:
    """Give an attempt a file that has arrived, whatever its paper asks for."""
    attachment = Attachment.objects.create(
        school_id=attempt.school_id,
        exam_id=attempt.exam_id,
        attempt=attempt,
        question_id=uuid7(),
        latest_number=1,
    )
    version = AttachmentVersion.objects.create(
        attachment=attachment,
        number=1,
        state=VersionState.PROCESSING,
        sha256=sha256(content),
        size=len(content),
        received=len(content),
        file_type=FileType.JPEG,
        created_at=database_now(),
        touched_at=database_now(),
        completed_at=database_now(),
    )
    stored = write_object(version, ObjectRole.ORIGINAL, io.BytesIO(content), attempt_id=attempt.pk)
    with transaction.atomic():
        keep_objects([stored])
    return version


def photo_questions(attempt: Attempt) -> tuple[UUID, UUID]:
    """Return the ids of the two questions that ask for a photo."""
    paper = attempt.revision.paper or []
    first, second = (UUID(entry["id"]) for entry in paper if entry["kind"] == "upload")
    return first, second


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclasses.dataclass(frozen=True, slots=True)
class Sender:
    """The student of an attempt, sending files for its first photo question (or its second)."""

    attempt: Attempt

    def announce(
        self, content: bytes, *, second: bool = False, size: int | None = None, digest: str = ""
    ) -> Started:
        announced = Announcement(
            question_id=photo_questions(self.attempt)[second],
            file_name="IMG_0001.JPG",
            size=len(content) if size is None else size,
            sha256=digest or sha256(content),
        )
        return start_upload(attempt_id=self.attempt.pk, announced=announced, by=self.attempt.student_id)

    def add(self, version: AttachmentVersion, content: bytes, offset: int) -> AttachmentVersion:
        """Send bytes from this place of the file on, at most a chunk of them."""
        return add_chunk(
            attempt_id=self.attempt.pk,
            version_id=version.pk,
            offset=offset,
            content=content[offset : offset + CHUNK],
            arrived_at=database_now(),
            by=self.attempt.student_id,
        )

    def add_rest(self, version: AttachmentVersion, content: bytes, offset: int) -> None:
        """Send everything from this place of the file on, chunk by chunk."""
        for place in range(offset, len(content), CHUNK):
            self.add(version, content, place)

    def send(self, content: bytes, *, second: bool = False) -> AttachmentVersion:
        """Announce a file and send all of it."""
        version = self.announce(content, second=second).version
        self.add_rest(version, content, 0)
        return stands(version)

    def hand_in(self, answers: Mapping[str, Any]) -> Submission:
        """Hand in; every file that arrived has made a new version of the attempt."""
        self.attempt.refresh_from_db()
        return hand_in(self.attempt, answers)

    def send_and_render(self, content: bytes, *, second: bool = False) -> AttachmentVersion:
        version = self.send(content, second=second)
        render_version(version.pk)
        return stands(version)


def stands(version: AttachmentVersion) -> AttachmentVersion:
    """Return the version as it is in the database now."""
    return AttachmentVersion.objects.select_related("attachment__published").get(pk=version.pk)


def objects_of(version: AttachmentVersion) -> list[tuple[str, str]]:
    """Return role and state of its objects, in order of making."""
    return list(version.stored_objects.order_by("id").values_list("role", "state"))


def read_object(version: AttachmentVersion, role: str) -> bytes:
    """Return the bytes of the object that is kept in this role."""
    with get_storage().open(version.stored_objects.get(role=role, state="kept").name) as stored:
        return bytes(stored.read())


def names_in_storage() -> set[str]:
    """Return the names of all there is in the storage, whatever the database says."""
    storage = get_storage()
    folders, _ = storage.listdir("") if storage.exists("") else ([], [])
    return {f"{folder}/{name}" for folder in folders for name in storage.listdir(folder)[1]}


def names_in_ledger() -> set[str]:
    return set(StoredObject.objects.values_list("name", flat=True))
