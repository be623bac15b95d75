"""Starting an attempt, and what it says of itself while it is open: never its key."""

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from exams.models import Attempt, Exam, ExamRevision, Result, Submission
from tests import factories
from tests.exams.api.callers import Caller, in_helsinki, look, read
from tests.sitting import hand_in

MINUTE = dt.timedelta(minutes=1)


def test_starting_answers_with_the_whole_attempt(exam: Exam, caller: Caller) -> None:
    response = caller.post(f"exams/{exam.pk}/attempts")

    shown = read(response, 201)
    attempt = Attempt.objects.get()
    revision = ExamRevision.objects.get()
    now = dt.datetime.fromisoformat(shown.pop("server_now"))
    assert abs(now - dt.datetime.now(tz=dt.UTC)) < MINUTE
    assert shown == {
        "id": str(attempt.pk),
        "exam_id": str(exam.pk),
        "title": "Exam",
        "number": 1,
        "state": "open",
        "started_at": in_helsinki(attempt.started_at),
        "closes_at": in_helsinki(exam.closes_at),
        "accepts_until": in_helsinki(exam.closes_at),
        "deadline_rule": "exam close",
        "instructions": "",
        "questions": revision.paper,
        "draft": None,
        "submission": None,
        "queue_place": None,
        "failure_reason": "",
        "score": None,
        "max_points": 7,
        "feedback": None,
    }


def test_starting_again_answers_200_with_the_same_attempt_and_its_draft(exam: Exam, caller: Caller) -> None:
    first = read(caller.post(f"exams/{exam.pk}/attempts"), 201)
    saved = read(caller.put(f"attempts/{first['id']}/draft", {"answers": {"q1": "b"}, "token": None}), 200)

    again = read(caller.post(f"exams/{exam.pk}/attempts"), 200)

    assert again["id"] == first["id"]
    assert again["draft"] == {"answers": {"q1": "b"}} | saved


def secrets_of(key: Any) -> Iterator[str]:
    """Yield what the key knows and the paper must not tell: worths, patterns, ranges, pairs."""
    match key:
        case dict():
            for name, inner in key.items():
                if name in {"fractions", "patterns", "ranges", "pairs", "is_case_sensitive"}:
                    yield name
                yield from secrets_of(inner)
        case list():
            for inner in key:
                yield from secrets_of(inner)


def test_no_state_of_an_attempt_shows_the_key(exam: Exam, attempt: Attempt, caller: Caller) -> None:
    key = ExamRevision.objects.get().key
    assert set(secrets_of(key)) == {"fractions", "patterns", "ranges", "pairs", "is_case_sensitive"}
    bodies = [
        caller.get(f"attempts/{attempt.pk}"),
        caller.post(f"exams/{exam.pk}/attempts"),
        caller.get("exams"),
    ]
    hand_in(attempt, factories.right_answers(ExamRevision.objects.get()))
    bodies += [caller.get(f"attempts/{attempt.pk}"), caller.get("exams"), caller.get("receipts")]
    Result.objects.create(
        submission=Submission.objects.get(),
        school_id=attempt.school_id,
        exam_id=exam.pk,
        attempt_id=attempt.pk,
        state="graded",
        score=6,
        max_points=7,
        breakdown={"questions": {"q": {"state": "right"}}},
        graded_at=dt.datetime.now(tz=dt.UTC),
    )
    Attempt.objects.update(state="graded")
    Exam.objects.update(scores_released_at=dt.datetime.now(tz=dt.UTC))
    bodies.append(caller.get(f"attempts/{attempt.pk}"))

    for body in bodies:
        text = body.content.decode()
        assert set(secrets_of(json.loads(text))) == set()
        assert "breakdown" not in text
        assert "Pari*" not in text
        assert "33.33333" not in text


def test_looking_takes_one_read_while_open_and_three_while_graded(
    attempt: Attempt, caller: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        look(caller, attempt)
    hand_in(attempt)
    with django_assert_num_queries(3):
        look(caller, attempt)
    Attempt.objects.update(state="graded")
    with django_assert_num_queries(2):
        look(caller, attempt)


@pytest.mark.parametrize("state", ["open", "submitted", "graded", "not_taken"])
def test_standing_is_what_the_attempt_says_without_paper_and_answers(
    attempt: Attempt, caller: Caller, state: str
) -> None:
    read(caller.put(f"attempts/{attempt.pk}/draft", {"answers": {"q1": "b"}, "token": None}), 200)
    if state in {"submitted", "graded"}:
        hand_in(attempt)
    if state in {"graded", "not_taken"}:
        Attempt.objects.update(state=state, ended_at=attempt.closes_at)
    expected = look(caller, attempt)

    standing = read(caller.get(f"attempts/{attempt.pk}/standing"), 200)

    for left_out in ("title", "instructions", "questions", "feedback"):
        del expected[left_out]
    (expected["draft"] or {}).pop("answers", None)
    assert expected["state"] == state
    assert dt.datetime.fromisoformat(standing.pop("server_now")) > dt.datetime.fromisoformat(
        expected.pop("server_now")
    )
    assert standing == expected


def test_standing_reads_neither_paper_nor_answers(attempt: Attempt, caller: Caller) -> None:
    address = f"attempts/{attempt.pk}/standing"
    with CaptureQueriesContext(connection) as while_open:
        read(caller.get(address), 200)
    hand_in(attempt)
    with CaptureQueriesContext(connection) as afterwards:
        read(caller.get(address), 200)

    assert (len(while_open), len(afterwards)) == (1, 3)
    for each in [*while_open.captured_queries, *afterwards.captured_queries]:
        for wide in ('"paper"', '"key"', '"instructions"', '"answers"', '"breakdown"'):
            assert wide not in each["sql"]
