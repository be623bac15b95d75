"""What rehearsals leave behind: how it is found, and how as much of it is put away as may be.

Submissions, published papers and the log never change, for anybody (triggers say so), and what they point at stays with them: attempts,
results, marks, accounts, the school. So a rehearsal cannot be removed; it is closed and kept out of sight (ADR 0017).
"""

import dataclasses
import datetime as dt
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q

from exams.models import Attempt, Draft, Exam
from gradebook.models import Notification, School, User
from outbox.db import database_now


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """A rehearsal that was made here. `active`: accounts that could still sign in, none once it was put away."""

    name: str
    closed_at: dt.datetime
    attempts: int
    active: int


@dataclasses.dataclass(frozen=True, slots=True)
class PutAway:
    """What was done to one."""

    accounts: int
    drafts: int
    notifications: int


class NotPutAway(Exception):
    """Nothing was done; the message says why."""


def list_rehearsals() -> list[Kept]:
    """Return every rehearsal, the latest first."""
    active = Count("user", filter=Q(user__is_active=True))
    schools = dict(
        School.objects.filter(is_rehearsal=True).annotate(active=active).values_list("pk", "active")
    )
    exams = Exam.objects.filter(school__in=schools).select_related("school").order_by("-closes_at")
    attempts: dict[UUID, int] = dict(
        Attempt.objects.filter(exam__school__in=schools).values_list("exam").annotate(Count("pk"))
    )
    return [
        Kept(exam.school.name, exam.closes_at, attempts.get(exam.pk, 0), schools[exam.school_id])
        for exam in exams
    ]


def put_away_rehearsal(name: str) -> PutAway:
    """Close a rehearsal that is over. Raises `NotPutAway` for any other school, and while it runs."""
    school = School.objects.filter(name=name).first()
    if school is None:
        raise NotPutAway(f"There is no school named {name!r}.")
    if not school.is_rehearsal:
        raise NotPutAway(f"{name!r} is no rehearsal; people learn there.")
    if Exam.objects.filter(school=school, closes_at__gt=database_now()).exists():
        raise NotPutAway(f"{name!r} is still running.")
    return put_away(school.pk)


@transaction.atomic
def put_away(school_id: UUID) -> PutAway:
    """Deactivate everybody of a rehearsal, which takes their tokens too, and delete what nothing else refers to."""
    drafts, _ = Draft.objects.filter(attempt__exam__school=school_id).delete()
    notifications, _ = Notification.objects.filter(recipient__school=school_id).delete()
    accounts = User.objects.filter(school=school_id, is_active=True).update(is_active=False)
    return PutAway(accounts=accounts, drafts=drafts, notifications=notifications)
