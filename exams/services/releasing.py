"""Saying that an exam's scores can be seen: from its release time on, whoever set it and however long before.

The one thing to know: a release is a time in `Exam.scores_released_at`, and nobody has to be there when it comes. So the sweeper says it, once for
each time that came; a time that is moved is another release.
"""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now

from exams.events import ScoresReleased, release_subject
from exams.local_time import write_utc
from exams.models import Exam, ScoreRelease
from outbox.log.publish import Actor, NewEvent, publish
from outbox.models.log import ActorType

NEWS: Final = timedelta(days=7)  # a release of longer ago is no news
AT_ONCE: Final = 50


@transaction.atomic
def announce_releases() -> int:
    """Append a `ScoresReleased` for each release whose time has come; return how many. Locks those exams; passes over locked ones."""
    exams = list(_unannounced().select_for_update(no_key=True, skip_locked=True)[:AT_ONCE])
    due = [(exam, exam.scores_released_at) for exam in exams if exam.scores_released_at is not None]
    ScoreRelease.objects.bulk_create(ScoreRelease(exam=exam, released_at=at) for exam, at in due)
    publish([_event(exam, at) for exam, at in due])
    return len(due)


def _unannounced() -> QuerySet[Exam]:
    said = ScoreRelease.objects.filter(exam=OuterRef("pk"), released_at=OuterRef("scores_released_at"))
    news = Exam.objects.filter(scores_released_at__lte=Now(), scores_released_at__gt=Now() - NEWS)
    return news.filter(~Exists(said)).order_by(F("scores_released_at"), "pk")


def _event(exam: Exam, released_at: datetime) -> NewEvent:
    fact = ScoresReleased(exam_id=exam.pk, title=exam.title, released_at=write_utc(released_at))
    return NewEvent(
        kind=fact.kind,
        schema_version=fact.version,
        subject=release_subject(exam.pk, fact.released_at),
        subject_version=1,
        actor=Actor(ActorType.POLICY),
        tenant_id=exam.school_id,
        payload=fact.payload(),
    )
