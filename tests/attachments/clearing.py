"""Time that passes over uploads, and the clean-up after it."""

import datetime as dt

from django.db.models import F

from exams.attachments.cleanup import sweep_doomed_objects, sweep_unused_attachments
from exams.models import AttachmentVersion, Attempt, StoredObject
from tests.attachments.senders import (
    Sender,
)


def let_time_pass(sender: Sender, passed: dt.timedelta) -> None:
    """Move everything there is into the past."""
    Attempt.objects.filter(pk=sender.attempt.pk, ended_at__isnull=False).update(
        ended_at=F("ended_at") - passed
    )
    AttachmentVersion.objects.update(touched_at=F("touched_at") - passed, review_at=F("review_at") - passed)
    StoredObject.objects.update(created_at=F("created_at") - passed)


def clean_up() -> tuple[int, int]:
    return sweep_unused_attachments(), sweep_doomed_objects()
