"""The proctoring service is told that an attempt has ended, with a key that makes a second call harmless."""

import json
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from exams.effects.proctoring import tell_proctoring_service
from exams.effects.register import ENDED
from exams.events import AttemptNotTaken
from exams.models import Attempt
from outbox.effects import Effect, register_effect, unregister_effect
from outbox.models import EffectReceipt
from tests.exams.effects.happenings import list_ends, make_happen, note, only
from tests.receiver import Receiver, receiver
from tests.sitting import hand_in

__all__ = ["receiver"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def service(settings: Settings, receiver: Receiver) -> Iterator[None]:
    settings.PROCTORING_URL = receiver.url
    settings.PROCTORING_TOKEN = "known"
    register_effect(Effect("proctoring_finish", ENDED, tell_proctoring_service, outside=True))
    yield
    unregister_effect("proctoring_finish")


def test_service_is_told_which_attempt_ended_and_how(attempt: Attempt, receiver: Receiver) -> None:
    submission = hand_in(attempt, {"q1": "Never-tell-this"})
    make_happen()
    headers, body = only(receiver.received)
    assert headers["authorization"] == "Bearer known"
    assert headers["idempotency-key"] == str(submission.event_id)
    told = json.loads(body)
    assert told.pop("occurred_at")
    assert told == {
        "action": "finish",
        "attempt_id": str(attempt.pk),
        "exam_id": str(attempt.exam_id),
        "student_id": str(attempt.student_id),
        "cause": "SubmissionAccepted",
    }


def test_service_is_told_of_an_attempt_nobody_took(attempt: Attempt, receiver: Receiver) -> None:
    event_id = note(attempt, AttemptNotTaken)
    make_happen()
    headers, body = only(receiver.received)
    assert (headers["idempotency-key"], json.loads(body)["cause"]) == (str(event_id), "AttemptNotTaken")


@pytest.mark.parametrize(
    ("status", "state"),
    [(200, "done"), (404, "failed"), (422, "failed"), (408, "pending"), (429, "pending"), (500, "pending")],
)
def test_answer_decides_whether_it_is_called_again(
    attempt: Attempt, receiver: Receiver, status: int, state: str
) -> None:
    receiver.answers = [(status, {})]
    hand_in(attempt)
    make_happen()
    assert [end for _, end, _ in list_ends("proctoring_finish")] == [state]


def test_second_call_carries_the_same_key(attempt: Attempt, receiver: Receiver) -> None:
    receiver.answers = [(500, {}), (200, {})]
    hand_in(attempt)
    make_happen()
    EffectReceipt.objects.filter(state="pending").update(due_at="2000-01-01T00:00Z")
    make_happen()
    first, second = receiver.received
    assert first[0]["idempotency-key"] == second[0]["idempotency-key"]
    assert list_ends("proctoring_finish") == [("proctoring_finish", "done", "")]


def test_service_that_is_away_is_called_again(attempt: Attempt, settings: Settings) -> None:
    settings.PROCTORING_URL = "http://127.0.0.1:9/"
    hand_in(attempt)
    make_happen()
    ((_, state, error),) = list_ends("proctoring_finish")
    assert (state, "refused" in error) == ("pending", True)
