"""Autosave: the last state of an open attempt's answers, which the server hands in at the deadline if nobody else does."""

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from uuid_utils.compat import uuid7

from exams.canonical import canonical_answers
from exams.errors import AttemptClosed, NotFound, RateLimited, StaleDraft
from exams.limits import make_limit
from exams.local_time import write_local
from exams.models import AttemptState, Draft
from outbox.db import load_sql

# Saves of one person: a page makes at most one in two seconds. Each may write a megabyte, so a script that makes hundreds a second would
# fill the disk's log and everybody's places.
saves = make_limit(settings.REDIS_URL, name="drafts", capacity=30, per_second=1.0)


@dataclasses.dataclass(frozen=True, slots=True)
class SavedDraft:
    """What was kept: the token that the next save must name, and when, by the database's clock; `zone` is the school's."""

    token: UUID
    saved_at: datetime
    zone: str


@dataclasses.dataclass(frozen=True, slots=True)
class _Row:
    """What `save_draft.sql` returns."""

    is_open: bool
    state: str
    closed_at: datetime
    accepts_until: datetime
    zone: str
    token: UUID | None
    saved_at: datetime | None


def take_save(student_id: UUID) -> None:
    """Take one of this person's saves, or raise `RateLimited`. Memory only: asked before anything of the request is read."""
    if wait := saves.take(student_id):
        raise RateLimited(retry_after=wait)


def save_draft(
    *, attempt_id: UUID, student_id: UUID, answers: Mapping[str, Any], token: UUID | None
) -> SavedDraft:
    """Keep these answers if `token` names what was kept last (None: nothing was); return the next token.

    Answers equal to the kept ones are a success whatever the token: nothing could be lost. Raises `Malformed`, `NotFound`,
    `AttemptClosed` (also in the late time, when only Submit counts) or `StaleDraft`; then nothing was written.
    """
    row = _run(attempt_id, student_id, canonical_answers(answers), token)
    if row is None:
        raise NotFound
    if row.token is not None and row.saved_at is not None:
        return SavedDraft(row.token, row.saved_at, row.zone)
    if not row.is_open:
        raise _closed(row)
    raise _stale(attempt_id, row.zone)


def _run(attempt_id: UUID, student_id: UUID, answers: str, token: UUID | None) -> _Row | None:
    parameters: dict[str, Any] = {
        "attempt_id": attempt_id,
        "student_id": student_id,
        "answers": answers,
        "token": token,
        "next_token": uuid7(),
    }
    with connection.cursor() as cursor:
        cursor.execute(load_sql("exams", "save_draft"), parameters)
        found = cursor.fetchone()
    return None if found is None else _Row(*found)


def _closed(row: _Row) -> AttemptClosed:
    times: dict[str, Any] = {
        "closed_at": write_local(row.closed_at, row.zone),
        "accepts_until": write_local(row.accepts_until, row.zone),
    }
    may_be_late = row.state == AttemptState.OPEN and row.accepts_until > row.closed_at
    detail = (
        "Nothing more is saved; Submit is still accepted, as late, until `accepts_until`."
        if may_be_late
        else None
    )
    return AttemptClosed(detail, state=row.state, **times)


def _stale(attempt_id: UUID, zone: str) -> StaleDraft:
    """Tell the page what it does not know: the token and the time of what is kept now."""
    current = Draft.objects.filter(attempt=attempt_id).values_list("token", "saved_at").first()
    token, saved_at = current or (None, None)
    return StaleDraft(token=token and str(token), saved_at=saved_at and write_local(saved_at, zone))
