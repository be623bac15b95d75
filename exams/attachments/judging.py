"""The decisions about uploads and versions, without a database: what a chunk may do, which version is shown, what may go."""

import enum
from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from exams.attachments.limits import LARGEST_CHUNK, SMALLEST_CHUNK, UNUSED_KEPT, UPLOAD_PATIENCE
from exams.errors import Malformed, TooLarge, UploadOver, WrongOffset
from exams.models import AttemptState, VersionState

LIVE: Collection[str] = {VersionState.PENDING, VersionState.PROCESSING, VersionState.READY}


class Publication(enum.Enum):
    """What becomes of a version whose rendering is done."""

    PUBLISH = enum.auto()
    KEEP = enum.auto()  # ready, but a newer one is shown
    REFUSE = enum.auto()  # it was given up, or is done already: what was rendered is thrown away


class Fate(NamedTuple):
    """What the clean-up does with a version: abandon it, or look at it again then (never: it is kept for good)."""

    is_abandoned: bool = False
    review_at: datetime | None = None


def check_chunk(*, state: str, received: int, size: int, offset: int, length: int) -> None:
    """Raise `UploadOver`, `WrongOffset`, `TooLarge` or `Malformed` unless these bytes continue the upload."""
    if state != VersionState.PENDING:
        raise UploadOver(state=state)
    if offset != received:
        raise WrongOffset(offset=received)
    if length > min(LARGEST_CHUNK, size - received):
        raise TooLarge(f"A chunk has at most {LARGEST_CHUNK:,} bytes, and the file ends after {size:,}.")
    if length < min(SMALLEST_CHUNK, size - received):
        raise Malformed(f"A chunk that is not the last one has at least {SMALLEST_CHUNK:,} bytes.")


def judge_publication(*, state: str, number: int, published_number: int | None) -> Publication:
    """Decide by the version's own state and the number of what is shown now: an older one never takes a newer one's place."""
    if state != VersionState.PROCESSING:
        return Publication.REFUSE
    if published_number is not None and published_number > number:
        return Publication.KEEP
    return Publication.PUBLISH


def judge_fate(
    *,
    state: str,
    touched_at: datetime,
    attempt_state: str,
    ended_at: datetime | None,
    is_named: bool,
    now: datetime,
) -> Fate:
    """Decide about one version; `is_named` says whether a submission (withdrawn ones too) or the draft of its attempt names it.

    An open attempt loses nothing but uploads nobody goes on with: its student may still come back to any version.
    """
    if state == VersionState.ABANDONED:
        return Fate()
    is_open = attempt_state == AttemptState.OPEN
    if state == VersionState.PENDING:
        is_over = not is_open or touched_at + UPLOAD_PATIENCE <= now
        return Fate(is_abandoned=is_over, review_at=None if is_over else touched_at + UPLOAD_PATIENCE)
    if is_named and not is_open:
        return Fate()
    if is_open or ended_at is None:
        return Fate(review_at=now + UNUSED_KEPT)
    is_over = ended_at + UNUSED_KEPT <= now
    return Fate(is_abandoned=is_over, review_at=None if is_over else ended_at + UNUSED_KEPT)
