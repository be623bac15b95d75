"""What becomes of files that nobody needs: versions are judged, those to go are abandoned, and then their objects are deleted.

The one thing to know: a version is abandoned under the locks that publication and hand-in take, after its attempt was looked at again
under them. What was abandoned cannot be published any more, and only objects that were given up are ever deleted.
"""

import dataclasses
import logging
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from exams.attachments.judging import Fate, judge_fate
from exams.attachments.limits import WRITING_PATIENCE
from exams.attachments.objects import delete_doomed, doom_forgotten
from exams.attachments.uploads import give_up, lock_version
from exams.models import Attachment, AttachmentVersion, Attempt, VersionState
from outbox.db import load_sql
from outbox.queue.settle import raise_if_disconnected
from outbox.queue.sweeper import AT_ONCE

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class _Candidate:
    """A row of `list_versions_to_review.sql`."""

    version_id: UUID
    state: str
    touched_at: datetime
    attempt_state: str
    ended_at: datetime | None
    is_named: bool
    now: datetime

    @property
    def fate(self) -> Fate:
        """Return what is to be done with it."""
        return judge_fate(
            state=self.state,
            touched_at=self.touched_at,
            attempt_state=self.attempt_state,
            ended_at=self.ended_at,
            is_named=self.is_named,
            now=self.now,
        )


def sweep_unused_attachments() -> int:
    """Abandon versions nobody needs; return how many. One that makes trouble is logged, and the rest go on."""
    return sum(_try_review(candidate.version_id) for candidate in _list_candidates(at_most=AT_ONCE))


def sweep_doomed_objects() -> int:
    """Delete the objects of abandoned, replaced and refused versions from the storage; return how many."""
    doom_forgotten(WRITING_PATIENCE)
    return delete_doomed(at_most=AT_ONCE)


def _try_review(version_id: UUID) -> int:
    try:
        return int(review_version(version_id))
    except Exception as error:
        raise_if_disconnected(error)
        log.exception("Could not decide about attachment version %s.", version_id)
        return 0


@transaction.atomic
def review_version(version_id: UUID) -> bool:
    """Decide about a version and say whether it was abandoned. Locks attempt, attachment and version, in that order."""
    version = AttachmentVersion.objects.select_related("attachment").get(pk=version_id)
    Attempt.objects.select_for_update(no_key=True).get(pk=version.attachment.attempt_id)
    locked = lock_version(version)
    for candidate in _list_candidates(at_most=1, version_id=version_id):
        if candidate.fate.is_abandoned:
            _unpublish(locked)
            give_up(locked, VersionState.ABANDONED)
            return True
        AttachmentVersion.objects.filter(pk=version_id).update(review_at=candidate.fate.review_at)
    return False


def _unpublish(version: AttachmentVersion) -> None:
    Attachment.objects.filter(pk=version.attachment_id, published=version).update(published=None)


def _list_candidates(*, at_most: int, version_id: UUID | None = None) -> list[_Candidate]:
    with connection.cursor() as cursor:
        cursor.execute(
            load_sql("exams", "list_versions_to_review"), {"at_most": at_most, "version_id": version_id}
        )
        return [_Candidate(*row) for row in cursor.fetchall()]
