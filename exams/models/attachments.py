"""Photographed answers: one attachment a question of an attempt, its versions, and every object they put into the storage.

The one thing to know: the storage holds nothing that `StoredObject` does not know. A row is committed before its object is written and
deleted after it, so whatever dies in between leaves a row to clean up by, and nothing that a row in use names is ever deleted.
"""

from django.db import models
from django.db.models import F, Q
from uuid_utils.compat import uuid7


class VersionState(models.TextChoices):
    """How far a version is. The first four are told to students; an abandoned one is being deleted."""

    PENDING = "pending"  # arriving, chunk by chunk
    PROCESSING = "processing"  # complete; nobody has made what is shown of it yet
    READY = "ready"
    FAILED = "failed"
    ABANDONED = "abandoned"


class FileType(models.TextChoices):
    """What may be handed in, as found in the content: a name proves nothing."""

    JPEG = "image/jpeg"
    PNG = "image/png"
    WEBP = "image/webp"
    PDF = "application/pdf"


class Attachment(models.Model):
    """What was photographed for one question of one attempt. This row is locked by whoever adds, publishes or abandons a version.

    `published` is what is shown: it only ever moves to a higher number.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school_id = models.UUIDField()
    exam_id = models.UUIDField()
    attempt = models.ForeignKey(
        "exams.Attempt", on_delete=models.PROTECT, related_name="attachments", db_index=False
    )
    question_id = models.UUIDField()
    latest_number = models.PositiveIntegerField(default=0)
    published = models.ForeignKey(
        "exams.AttachmentVersion", on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "question_id"], name="one_attachment_per_question"),
        ]

    def __str__(self) -> str:
        return f"question {self.question_id} of {self.attempt_id}"


class AttachmentVersion(models.Model):
    """One file. Its bytes never change; `sha256` is what the answer names, and so what the receipt's digest covers."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    attachment = models.ForeignKey(
        Attachment, on_delete=models.PROTECT, related_name="versions", db_index=False
    )
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=VersionState, default=VersionState.PENDING)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    received = models.PositiveBigIntegerField(default=0)
    file_name = models.CharField(max_length=200)
    file_type = models.CharField(max_length=20, choices=FileType, blank=True, default="")
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    pages = models.PositiveIntegerField(null=True)
    problem = models.CharField(max_length=200, blank=True, default="")  # for the student
    diagnosis = models.TextField(blank=True, default="")  # for staff
    created_at = models.DateTimeField()
    touched_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)
    # When the clean-up looks at it next; empty once it is known to be kept for good, or is gone.
    review_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attachment", "number"], name="attachment_versions_are_numbered"),
            models.UniqueConstraint(
                fields=["attachment"], condition=Q(state="pending"), name="one_upload_at_a_time_per_question"
            ),
            models.CheckConstraint(
                condition=Q(state__in=VersionState.values), name="attachment_versions_state_known"
            ),
            models.CheckConstraint(
                condition=Q(received__lte=F("size"), size__gt=0), name="uploads_stay_within_their_size"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["processing", "ready"]) | Q(completed_at__isnull=False),
                name="what_is_processed_has_arrived",
            ),
        ]
        indexes = [
            models.Index(
                fields=["review_at"], condition=Q(review_at__isnull=False), name="attachments_review_idx"
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.number} of {self.attachment}"


class ObjectRole(models.TextChoices):
    """What an object is of its version."""

    PART = "part"
    ORIGINAL = "original"
    PREVIEW = "preview"
    THUMBNAIL = "thumbnail"


class ObjectState(models.TextChoices):
    """A row begins as `writing`; only `kept` objects are part of a version, and only `doomed` ones are deleted."""

    WRITING = "writing"
    KEPT = "kept"
    DOOMED = "doomed"


class StoredObject(models.Model):
    """An object in the storage. Names are made once and never used again, so an object never changes."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    version = models.ForeignKey(
        AttachmentVersion, on_delete=models.PROTECT, related_name="stored_objects", db_index=False
    )
    role = models.CharField(max_length=9, choices=ObjectRole)
    state = models.CharField(max_length=7, choices=ObjectState, default=ObjectState.WRITING)
    name = models.CharField(max_length=200, unique=True)
    offset = models.PositiveBigIntegerField(default=0)  # of a part
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "role", "offset"],
                condition=Q(state="kept"),
                name="a_version_keeps_one_object_of_each",
            ),
            models.CheckConstraint(condition=Q(role__in=ObjectRole.values), name="stored_objects_role_known"),
            models.CheckConstraint(
                condition=Q(state__in=ObjectState.values), name="stored_objects_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["version"], name="stored_objects_version_idx"),
            models.Index(
                fields=["created_at"], condition=~Q(state="kept"), name="stored_objects_leaving_idx"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.name}"
