"""Drafts over the API: nothing of an answer is lost, and a page that is out of date is told."""

from decimal import Decimal
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from exams.limits.buckets import Buckets
from exams.models import Attempt, Draft
from exams.services import drafts
from gradebook.models import User
from tests import factories
from tests.exams.api.callers import Caller, call_in_chunks, in_helsinki, look, read, refused, with_token
from tests.sitting import hand_in


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


def test_saves_of_one_person_are_bounded_and_nobody_elses(
    attempt: Attempt, caller: Caller, other_student: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may write a megabyte: a script that makes hundreds a second would be everybody's trouble."""
    monkeypatch.setattr(drafts, "saves", Buckets(capacity=1, per_second=1 / 30))
    read(caller.put(f"attempts/{attempt.pk}/draft", {"answers": {"q1": "a"}, "token": None}), 200)

    second = caller.put(f"attempts/{attempt.pk}/draft", {"answers": {"q1": "b"}, "token": None})

    assert refused(second, 429)["code"] == "rate_limited"
    assert 1 <= int(second["Retry-After"]) <= 30
    assert Draft.objects.get().answers == '{"q1":"a"}'
    theirs = factories.attempt(attempt.revision, other_student)
    body = {"answers": {"q1": "c"}, "token": None}
    read(with_token(other_student).put(f"attempts/{theirs.pk}/draft", body), 200)


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
