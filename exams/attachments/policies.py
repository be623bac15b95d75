"""Who may see a photographed answer: its student, who marks it, and the administrators of its school. Nobody else learns that it is there.

A photo's original may say where it was taken; the copy that is shown does not. So whoever marks gets the original only of what cannot be
shown: a PDF, or a damaged photo.
"""

from django.db.models import QuerySet

from exams.models import AttachmentVersion, FileType, VersionState
from exams.policies import results_markable_by
from gradebook.models import Role, User


def versions_visible_to(person: User) -> QuerySet[AttachmentVersion]:
    """Return the versions this person may see, abandoned ones never."""
    versions = AttachmentVersion.objects.exclude(state=VersionState.ABANDONED)
    if not person.is_active:
        return versions.none()
    if person.is_operator:
        return versions
    if person.role == Role.STUDENT:
        return versions.filter(attachment__attempt__student=person)
    if person.role == Role.TEACHER:
        return versions.filter(attachment__attempt__in=results_markable_by(person).values("attempt_id"))
    if person.school_id and person.is_staff and person.has_perm("exams.view_attachmentversion"):
        return versions.filter(attachment__school_id=person.school_id)
    return versions.none()


def may_have_original(person: User, version: AttachmentVersion) -> bool:
    """Return whether this person, who may see the version, may have the file as it was sent."""
    return (
        person.role != Role.TEACHER
        or version.file_type == FileType.PDF
        or version.state != VersionState.READY
    )
