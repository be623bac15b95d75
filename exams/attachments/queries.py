"""Reads: the files of an attempt, those that answers name, and the one object somebody asks to see."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from exams.attachments.contents import EXTENSIONS
from exams.attachments.policies import may_have_original, versions_visible_to
from exams.errors import NotFound
from exams.models import (
    AttachmentVersion,
    FileType,
    ObjectRole,
    ObjectState,
    StoredObject,
    VersionState,
)
from exams.policies import attempts_of
from gradebook.models import User

_ARRIVED = (VersionState.PROCESSING, VersionState.READY, VersionState.FAILED)


class Named(NamedTuple):
    """What an answer names: a file of an attempt, for a question, by its digest."""

    attempt_id: UUID
    question_id: str
    sha256: str


class Showable(NamedTuple):
    """An object with what a browser has to be told about it."""

    stored: StoredObject
    content_type: str
    file_name: str


def list_uploads(*, attempt_id: UUID, student_id: UUID) -> list[AttachmentVersion]:
    """Return all versions of the student's own attempt, by question and number, abandoned ones aside. Two reads; raises `NotFound`."""
    if not attempts_of(student_id).filter(pk=attempt_id).exists():
        raise NotFound
    versions = AttachmentVersion.objects.filter(attachment__attempt=attempt_id)
    shown = versions.exclude(state=VersionState.ABANDONED).select_related("attachment")
    return list(shown.order_by("attachment__question_id", "number"))


def list_named(asked: Collection[Named]) -> Mapping[Named, AttachmentVersion]:
    """Return those files that have arrived and are kept, each as its latest version of that content. At most one read."""
    if not asked:
        return {}
    found = _arrived().filter(
        attachment__attempt__in={named.attempt_id for named in asked},
        sha256__in={named.sha256 for named in asked},
    )
    rows = found.select_related("attachment").order_by("number")
    return {_name(version): version for version in rows if _name(version) in set(asked)}


def name_files(attempt_id: UUID, answers: Mapping[str, object], questions: Iterable[str]) -> list[Named]:
    """Return what the answers to these questions name; one that is no text names a file that nobody has."""
    given = ((question, answers[question]) for question in questions if question in answers)
    return [
        Named(attempt_id, question, answer if isinstance(answer, str) else "") for question, answer in given
    ]


def get_showable(*, version_id: UUID, role: ObjectRole, by: User) -> Showable:
    """Return an object this person may see, or raise `NotFound`."""
    version = versions_visible_to(by).filter(pk=version_id).first()
    if version is None or (role == ObjectRole.ORIGINAL and not may_have_original(by, version)):
        raise NotFound
    stored = version.stored_objects.filter(role=role, state=ObjectState.KEPT).first()
    if stored is None or role == ObjectRole.PART:
        raise NotFound
    file_type = version.file_type if role == ObjectRole.ORIGINAL else FileType.JPEG
    extension = EXTENSIONS[FileType(file_type)]
    return Showable(stored, file_type, f"answer-{version.sha256[:12]}.{extension}")


def _arrived() -> QuerySet[AttachmentVersion]:
    return AttachmentVersion.objects.filter(state__in=_ARRIVED, completed_at__isnull=False)


def _name(version: AttachmentVersion) -> Named:
    attachment = version.attachment
    return Named(attachment.attempt_id, str(attachment.question_id), version.sha256)
