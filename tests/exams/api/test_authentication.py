"""Who is asking: a page of ours by its session, everybody else by a bearer token."""

import pytest

from exams.models import Attempt, Draft, Exam
from gradebook.models import User
from tests.exams.api.callers import read, refused, with_session


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
