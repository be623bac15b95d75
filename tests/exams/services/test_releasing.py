"""That scores can be seen is said once for each release, when its time has come, whoever set it."""

import datetime as dt

import pytest

from exams.events import ScoresReleased
from exams.models import Exam, ScoreRelease
from exams.services.releasing import NEWS, announce_releases
from outbox.db import database_now
from outbox.models import Event
from tests import factories
from tests.exams.together import at_once

SOON, LATE = dt.timedelta(minutes=1), dt.timedelta(minutes=2)


def release(exam: Exam, ago: dt.timedelta) -> dt.datetime:
    exam.scores_released_at = database_now() - ago
    exam.save()
    return exam.scores_released_at


def said() -> list[tuple[str, int, dict[str, str]]]:
    events = Event.objects.filter(kind=ScoresReleased.kind).order_by("seq")
    return list(events.values_list("subject", "subject_version", "payload"))


def fact(exam: Exam, at: dt.datetime) -> tuple[str, int, dict[str, str]]:
    moment = at.astimezone(dt.UTC).isoformat(timespec="microseconds")
    payload = {"exam_id": str(exam.pk), "title": exam.title, "released_at": moment}
    return (f"release:{exam.pk}:{moment}", 1, payload)


@pytest.mark.django_db
def test_a_release_is_said_once(exam: Exam) -> None:
    at = release(exam, SOON)
    assert [announce_releases(), announce_releases()] == [1, 0]
    assert said() == [fact(exam, at)]
    assert Event.objects.get(kind=ScoresReleased.kind).tenant_id == exam.school_id


@pytest.mark.django_db
def test_what_is_not_released_or_long_known_is_not_said(exam: Exam) -> None:
    release(factories.exam(), -SOON)
    release(factories.exam(), NEWS)
    assert exam.scores_released_at is None
    assert (announce_releases(), said()) == (0, [])


@pytest.mark.django_db
def test_a_release_that_is_taken_back_and_made_again_is_said_again(exam: Exam) -> None:
    first = release(exam, LATE)
    announce_releases()
    Exam.objects.update(scores_released_at=None)
    assert announce_releases() == 0
    second = release(exam, SOON)
    assert announce_releases() == 1
    assert said() == [fact(exam, first), fact(exam, second)]


@pytest.mark.django_db(transaction=True)
def test_two_sweepers_at_once_say_it_once(exam: Exam) -> None:
    release(exam, SOON)
    assert sum(at_once(announce_releases, announce_releases)) == 1
    assert (len(said()), ScoreRelease.objects.count()) == (1, 1)
