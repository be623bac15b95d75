import datetime as dt
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries
from uuid_utils.compat import uuid7

from exams.jobs import GRADE
from exams.models import Attempt, Draft, Exam, ExamRevision, Result, Submission
from gradebook.models import User
from outbox.models import DeadLetter, Job, JobState
from outbox.models.jobs import Cause
from tests import factories
from tests.exams.api.callers import Caller, call_in_chunks, read, refused, with_session, with_token
from tests.exams.crowd import gather
from tests.exams.plans import explain
from tests.sitting import hand_in

MINUTE = dt.timedelta(minutes=1)


@pytest.fixture
def caller(student: User) -> Caller:
    return with_token(student)


def in_helsinki(moment: dt.datetime) -> str:
    return moment.astimezone(ZoneInfo("Europe/Helsinki")).isoformat(timespec="milliseconds")


def look(caller: Caller, attempt: Attempt) -> dict[str, Any]:
    shown: dict[str, Any] = read(caller.get(f"attempts/{attempt.pk}"), 200)
    return shown


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


def test_after_submit_an_attempt_waits_in_its_place(attempt: Attempt, caller: Caller) -> None:
    submission = hand_in(attempt, {"q1": "b"})
    ahead = factories.attempt(attempt.revision)
    hand_in(ahead)
    Job.objects.filter(subject_id=ahead.submissions.get().pk).update(run_at=submission.accepted_at - MINUTE)

    shown = look(caller, attempt)

    assert (shown["state"], shown["queue_place"], shown["draft"]) == ("submitted", 2, None)
    assert shown["submission"] == {
        "id": str(submission.pk),
        "accepted_at": in_helsinki(submission.accepted_at),
        "deadline": in_helsinki(attempt.closes_at),
        "decision": "on_time",
        "origin": "student",
        "payload_sha256": submission.payload_sha256,
    }


def test_a_claimed_job_shows_as_grading(attempt: Attempt, caller: Caller) -> None:
    hand_in(attempt)
    Job.objects.update(
        state=JobState.RUNNING, lease_id=uuid7(), leased_until=dt.datetime.now(tz=dt.UTC) + MINUTE
    )

    shown = look(caller, attempt)

    assert (shown["state"], shown["queue_place"]) == ("grading", None)


def test_a_job_that_was_given_up_shows_as_failed_with_words_for_people(
    attempt: Attempt, caller: Caller
) -> None:
    hand_in(attempt)
    job = Job.objects.get()
    DeadLetter.objects.create(
        id=uuid7(),
        job_id=job.job_id,
        tenant_id=job.tenant_id,
        group_id=job.group_id,
        kind=GRADE,
        subject_id=job.subject_id,
        cause=Cause.EXHAUSTED,
        error_detail="Traceback: secret",
        tries=3,
    )
    Job.objects.all().delete()

    shown = look(caller, attempt)

    assert shown["state"] == "failed"
    assert "Your work is safe" in shown["failure_reason"]
    assert "secret" not in json.dumps(shown)


def test_a_failed_grading_says_why(attempt: Attempt, caller: Caller) -> None:
    hand_in(attempt)
    Attempt.objects.update(state="failed", failure_reason="The student's account is not active.")

    shown = look(caller, attempt)

    assert (shown["state"], shown["failure_reason"]) == ("failed", "The student's account is not active.")


def graded(attempt: Attempt, state: str = "graded") -> None:
    submission = hand_in(attempt)
    Result.objects.create(
        submission=submission,
        school_id=attempt.school_id,
        exam_id=attempt.exam_id,
        attempt_id=attempt.pk,
        state=state,
        score=Decimal("5.333"),
        max_points=7,
        graded_at=dt.datetime.now(tz=dt.UTC),
    )
    Attempt.objects.filter(pk=attempt.pk).update(state=state)


@pytest.mark.parametrize(
    ("state", "released_in", "score"),
    [
        ("graded", None, None),
        ("graded", MINUTE, None),
        ("graded", -MINUTE, 5.333),
        ("needs_marking", -MINUTE, None),
    ],
)
def test_a_score_is_shown_once_it_is_complete_and_released(
    attempt: Attempt, caller: Caller, state: str, released_in: dt.timedelta | None, score: float | None
) -> None:
    graded(attempt, state)
    now = dt.datetime.now(tz=dt.UTC)
    Exam.objects.update(scores_released_at=None if released_in is None else now + released_in)

    shown = look(caller, attempt)

    assert (shown["state"], shown["score"], shown["max_points"]) == (state, score, 7)


def test_an_attempt_not_taken_has_neither_submission_nor_score(attempt: Attempt, caller: Caller) -> None:
    Attempt.objects.update(state="not_taken", ended_at=attempt.closes_at)

    shown = look(caller, attempt)

    assert (shown["state"], shown["submission"], shown["score"]) == ("not_taken", None, None)


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


def test_the_place_in_the_queue_is_counted_from_the_ready_index(attempt: Attempt) -> None:
    submission = hand_in(attempt)
    gather(attempt)
    job = Job.objects.get(subject_id=submission.pk)
    parameters = {
        "group_id": job.group_id,
        "subject_id": submission.pk,
        "kind": GRADE,
        "most": 1000,
    }
    used = explain("find_progress", parameters)
    assert "jobs_ready_idx" in used
    assert used & {"outbox_job_pkey", "one_job_per_subject_and_kind"}
    assert used & {"dead_letters_subject_idx", "dead_letters_open_idx"}


@pytest.mark.parametrize("number", ["1", "0.1", "3.14159", "12345678901234567890", "0.12345678901234567891"])
def test_a_draft_comes_back_without_a_digit_lost(attempt: Attempt, caller: Caller, number: str) -> None:
    body = f'{{"answers": {{"q": {number}}}, "token": null}}'.encode()
    read(caller.put(f"attempts/{attempt.pk}/draft", body), 200)

    answer = look(caller, attempt)["draft"]["answers"]["q"]

    assert Decimal(str(answer)) == Decimal(number)


def test_a_draft_keeps_every_kind_of_answer(attempt: Attempt, caller: Caller) -> None:
    answers = {"a": "ä 🎓 \u202e", "b": ["x", "y"], "c": True, "d": 2, "e": {"p": "m"}, "f": "line\nline"}
    read(caller.put(f"attempts/{attempt.pk}/draft", {"answers": answers, "token": None}), 200)

    assert look(caller, attempt)["draft"]["answers"] == answers


def test_saving_a_draft_is_one_statement(
    attempt: Attempt, caller: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        saved = read(caller.put(f"attempts/{attempt.pk}/draft", {"answers": {"q1": "a"}, "token": None}), 200)
    draft = Draft.objects.get()
    assert saved == {"token": str(draft.token), "saved_at": in_helsinki(draft.saved_at)}


def test_a_stale_draft_is_told_the_token_it_missed(attempt: Attempt, caller: Caller) -> None:
    saved = read(caller.put(f"attempts/{attempt.pk}/draft", {"answers": {"q1": "a"}, "token": None}), 200)

    problem = refused(
        caller.put(f"attempts/{attempt.pk}/draft", {"answers": {"q1": "b"}, "token": None}), 409
    )

    assert (
        problem
        == {
            "type": "urn:handover:problem:stale_draft",
            "title": "Another page saved this attempt after yours did; nothing was overwritten.",
            "status": 409,
            "detail": "Another page saved this attempt after yours did; nothing was overwritten.",
            "code": "stale_draft",
        }
        | saved
    )


def test_a_closed_attempt_keeps_no_more_drafts(attempt: Attempt, caller: Caller) -> None:
    hand_in(attempt)

    problem = refused(
        caller.put(f"attempts/{attempt.pk}/draft", {"answers": {"q1": "b"}, "token": None}), 409
    )

    assert (problem["code"], problem["state"]) == ("attempt_closed", "submitted")


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        (None, ["/answers", "/token"]),
        ([], [""]),
        ({"answers": {}}, ["/token"]),
        ({"answers": {}, "token": "not-a-token"}, ["/token"]),
        ({"answers": {}, "token": 1}, ["/token"]),
        ({"answers": None, "token": None}, ["/answers"]),
        ({"answers": [], "token": None}, ["/answers"]),
        ({"answers": {"q": [[]]}, "token": None}, ["/answers/q/0"]),
    ],
)
def test_a_draft_of_the_wrong_shape_is_refused_by_its_places(
    attempt: Attempt, caller: Caller, body: Any, pointers: list[str]
) -> None:
    problem = refused(caller.put(f"attempts/{attempt.pk}/draft", body), 400)

    assert problem["code"] == "malformed"
    assert [error["pointer"] for error in problem["errors"]] == pointers
    assert not Draft.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_body_of_unknown_length_is_read_too(attempt: Attempt, caller: Caller) -> None:
    """`Transfer-Encoding: chunked`: there is a body and no Content-Length."""
    chunks = [b'{"answers": {"q1": ', b'"b"}, "token": null}', b""]

    status = call_in_chunks("PUT", f"/api/v1/attempts/{attempt.pk}/draft", chunks, caller.token)

    assert (status, Draft.objects.get().answers) == (200, '{"q1":"b"}')


def test_a_students_own_page_may_use_the_session(exam: Exam, student: User) -> None:
    assert len(read(with_session(student).get("exams"), 200)) == 1


def test_a_session_without_a_csrf_token_changes_nothing(attempt: Attempt, student: User) -> None:
    caller = with_session(student)
    response = caller.put(f"attempts/{attempt.pk}/draft", {"answers": {"q1": "b"}, "token": None})
    assert refused(response, 403)["code"] == "permission_denied"
    assert not Draft.objects.exists()


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer x", "bearer a.b.c", "Bearer \xff\xfe"])
def test_a_bad_token_is_refused_even_with_a_session(student: User, header: str) -> None:
    caller = with_session(student)
    response = caller.call("GET", "exams", authorization=header)
    assert refused(response, 401)["code"] == "invalid_token"
    assert response["WWW-Authenticate"] == "Bearer"


def test_receipts_are_listed_latest_first(attempt: Attempt, caller: Caller, student: User) -> None:
    first = hand_in(attempt)
    second_exam = factories.attempt(factories.published_revision(), student)
    second = hand_in(second_exam)
    withdrawn_exam = factories.attempt(factories.published_revision(), student)
    withdrawn = hand_in(withdrawn_exam, origin="server", decision="closed_by_server")
    with transaction.atomic():
        Submission.objects.filter(pk=withdrawn.pk).update(withdrawn_at=withdrawn.accepted_at)

    receipts = read(caller.get("receipts"), 200)

    assert [receipt["id"] for receipt in receipts] == [str(second.pk), str(first.pk)]
    assert receipts[1]["payload_sha256"] == first.payload_sha256


def test_the_list_of_receipts_is_one_read(
    attempt: Attempt, caller: Caller, student: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    hand_in(attempt)
    with django_assert_num_queries(1):
        assert len(read(caller.get("receipts"), 200)) == 1
    for _ in range(2):
        hand_in(factories.attempt(factories.published_revision(), student))
    with django_assert_num_queries(1):
        assert len(read(caller.get("receipts"), 200)) == 3
