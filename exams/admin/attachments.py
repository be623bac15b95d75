"""Photographed answers in the administration: which files came, how far they are, and what was wrong with them, in a decoder's words."""

from django.contrib import admin
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from exams.admin.records import ReadOnly
from exams.models import AttachmentVersion, FileType, ObjectRole, VersionState


@admin.register(AttachmentVersion)
class AttachmentVersionAdmin(ReadOnly[AttachmentVersion]):
    """Files that were sent; what the student sees of each, and the original to be saved."""

    school_path = "attachment__attempt__exam__school"
    list_display = ["student", "exam", "number", "state", "file_type", "how_large", "problem", "created_at"]
    list_filter = ["state", "file_type", ("attachment__attempt__exam", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["attachment__attempt__student", "attachment__attempt__exam"]
    search_fields = ["id", "sha256", "attachment__attempt__id", "attachment__attempt__student__username"]
    ordering = ["-created_at"]
    fields = (
        *("student", "exam", "attempt", "question", "number", "state", "is_shown", "file_name", "file_type"),
        *("how_large", "received", "width", "height", "pages", "sha256", "problem", "diagnosis"),
        *("created_at", "touched_at", "completed_at", "review_at", "content"),
    )
    readonly_fields = fields

    @admin.display(ordering="attachment__attempt__student")
    def student(self, version: AttachmentVersion) -> str:
        """Who sent it."""
        return str(version.attachment.attempt.student)

    @admin.display(ordering="attachment__attempt__exam")
    def exam(self, version: AttachmentVersion) -> str:
        """For which exam."""
        return str(version.attachment.attempt.exam)

    @admin.display
    def attempt(self, version: AttachmentVersion) -> SafeString:
        """The attempt it belongs to."""
        attempt_id = version.attachment.attempt_id
        return format_html(
            '<a href="{}">{}</a>', reverse("admin:exams_attempt_change", args=[attempt_id]), attempt_id
        )

    @admin.display
    def question(self, version: AttachmentVersion) -> str:
        """The question it answers."""
        return str(version.attachment.question_id)

    @admin.display(boolean=True, description="shown")
    def is_shown(self, version: AttachmentVersion) -> bool:
        """Whether it is the version that is shown for its question."""
        return version.attachment.published_id == version.pk

    @admin.display(description="size", ordering="size")
    def how_large(self, version: AttachmentVersion) -> str:
        """Its size in units people read."""
        return filesizeformat(version.size)

    @admin.display
    def content(self, version: AttachmentVersion) -> SafeString | str:
        """The picture as it is shown, and the way to the original."""
        if version.completed_at is None or version.state == VersionState.ABANDONED:
            return "-"
        original = format_html(
            '<a href="{}" download>Save the original</a>', _url(version, ObjectRole.ORIGINAL)
        )
        if version.state != VersionState.READY or version.file_type == FileType.PDF:
            return original
        return format_html(
            '<p><img src="{}" alt="The picture as it is shown"></p>{}',
            _url(version, ObjectRole.THUMBNAIL),
            original,
        )


def _url(version: AttachmentVersion, role: ObjectRole) -> str:
    return reverse("api-attachment-content", args=[version.pk, role])
