"""One attempt handed in by several at the same instant, a thousand times, over HTTP, to two web processes."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from exams.models import Attempt, Submission
from gradebook.models import User
from tests import factories
from tests.counting import count_stored
from tests.posting import Answer, Poster, Sitting, sitting_of
from tests.serving import serving

RACES = 1_000
RACERS = 4  # for one attempt at once
LANES = 8  # races that run side by side

HandIn = Callable[[Poster, Sitting, int], Answer]


@pytest.fixture
def poster(transactional_db: None, process_environment: dict[str, str]) -> Iterator[Poster]:
    """A client of a server with two web processes, each with a committer of its own."""
    with serving(process_environment, workers=2) as server, Poster(server.port) as poster:
        yield poster


@pytest.fixture
def sittings(transactional_db: None) -> list[Sitting]:
    """A thousand open attempts."""
    first = factories.attempt()
    school = first.exam.school
    people = [User(username=f"racer-{number}", school=school) for number in range(RACES - 1)]
    students = User.objects.bulk_create(people)
    fields = {
        name: getattr(first, name)
        for name in (
            *("school_id", "exam_id", "revision_id", "number", "started_at"),
            *("closes_at", "grace_until", "accepts_until", "deadline_rule"),
        )
    }
    others = Attempt.objects.bulk_create([Attempt(student=student, **fields) for student in students])
    return [sitting_of(attempt) for attempt in (first, *others)]


def race(poster: Poster, sittings: Sequence[Sitting], hand_in: HandIn) -> list[list[Answer]]:
    """Let RACERS threads hand in each attempt together; return the answers by attempt."""
    answers: list[list[Answer]] = [[] for _ in sittings]

    def run(racer: int, lane: int, start: threading.Barrier) -> None:
        for number in range(lane, len(sittings), LANES):
            start.wait(timeout=60)
            answers[number].append(hand_in(poster, sittings[number], racer))

    with ThreadPoolExecutor(RACERS * LANES) as pool:
        running = []
        for lane in range(LANES):
            start = threading.Barrier(RACERS)
            running += [pool.submit(run, racer, lane, start) for racer in range(RACERS)]
        for future in running:
            future.result()
    return answers


def count_gate_sessions() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'handover-gate' AND datname = current_database()"
        )
        return int(cursor.fetchone()[0])


def test_thousand_races_of_equal_answers_make_one_submission_and_equal_receipts(
    poster: Poster, sittings: list[Sitting]
) -> None:
    """O01: a double click, on several connections, costs nothing and is told the same."""

    def equal(poster: Poster, sitting: Sitting, racer: int) -> Answer:
        return poster.hand_in(sitting, {"q1": "a", "q2": ["x", "y"]})

    answered = race(poster, sittings, equal)

    assert count_gate_sessions() == 2
    for answers in answered:
        assert Counter(answer.status for answer in answers) == {202: 1, 200: RACERS - 1}
        assert all(answer.body == answers[0].body for answer in answers)
        replayed = [answer.headers.get("idempotent-replayed") for answer in answers if answer.status == 200]
        assert replayed == ["true"] * (RACERS - 1)
    assert count_stored() == (RACES, RACES, RACES)
    assert set(Attempt.objects.values_list("state", "version", "number")) == {("submitted", 2, 1)}


def test_thousand_races_of_different_answers_make_one_submission_and_tell_the_losers(
    poster: Poster, sittings: list[Sitting]
) -> None:
    """S4, the same key with another body: 409, and the losers are shown the winner's receipt, which is their own student's."""

    def different(poster: Poster, sitting: Sitting, racer: int) -> Answer:
        return poster.hand_in(sitting, {"q1": f"of racer {racer}"})

    answered = race(poster, sittings, different)

    stored = dict(Submission.objects.values_list("attempt_id", "payload_sha256"))
    for sitting, answers in zip(sittings, answered, strict=True):
        assert Counter(answer.status for answer in answers) == {202: 1, 409: RACERS - 1}
        [receipt] = [answer.body for answer in answers if answer.status == 202]
        assert receipt["payload_sha256"] == stored[sitting.attempt_id]
        for loser in (answer for answer in answers if answer.status == 409):
            _assert_loser_was_told(loser, receipt)
    assert count_stored() == (RACES, RACES, RACES)


def _assert_loser_was_told(answer: Answer, receipt: dict[str, Any]) -> None:
    assert answer.code == "different_answers"
    assert answer.body["receipt"] == receipt
    assert answer.body["stored_sha256"] == receipt["payload_sha256"] != answer.body["sent_sha256"]
