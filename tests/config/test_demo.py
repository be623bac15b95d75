"""The demo school: made whole through the real services, the same for the same seed, and never where it could do harm."""

import datetime as dt
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client

from config.demo.plan import SCHOOLS
from config.welcome import NO_WALK, WALK, find_walk, list_people
from exams.models import Attempt, Exam, ExamTarget, QuestionKind, Result, Submission
from exams.queries.exams import list_exams
from gradebook.models import Enrolment, Mark, Role, User
from outbox.models import Event, Job

pytestmark = pytest.mark.django_db(transaction=True)


def _load(**options: Any) -> str:
    out = StringIO()
    call_command(
        "load_demo", **{"students": 30, "seed": 3, "allow_known_passwords": True, "stdout": out} | options
    )
    return out.getvalue()


def _picture() -> list[tuple[str, ...]]:
    """Return what a seed decides, without ids and times."""
    marks = Mark.objects.order_by("column__title", "student__username", "sheet__school__name")
    people = User.objects.order_by("username").values_list("username", "first_name", "last_name")
    return [*people, *((str(mark.column), str(mark.student), str(mark.value), mark.code) for mark in marks)]


def test_demo_makes_people_exams_marks_and_submissions_with_their_events() -> None:
    said = _load()
    assert {role: User.objects.filter(role=role).count() for role in Role} == {
        "student": 30,
        "teacher": 8,
        "admin": 1,
    }
    assert Exam.objects.count() == 3 * len(SCHOOLS)
    assert Mark.objects.count() > 100
    handed_in = Submission.objects.count()
    assert handed_in > 25
    assert f"{handed_in} submissions" in said
    assert Job.objects.count() == handed_in
    assert Event.objects.filter(kind="SubmissionAccepted").count() == handed_in
    changes = Event.objects.filter(kind="MarkChanged")
    assert changes.count() == sum(Mark.objects.values_list("version", flat=True))
    assert Attempt.objects.filter(state="open").exists()
    assert not Result.objects.exists()  # grading is the worker's


def test_walk_that_is_printed_leads_from_student1_to_teacher1_without_anybody_marking() -> None:
    _load()
    student, teacher = User.objects.get(username="student1"), User.objects.get(username="teacher1")

    [view] = [each for each in list_exams(student_id=student.pk) if each.may_start and not each.attempts]

    kinds = {question["kind"] for question in view.exam.revisions.get().paper or []}
    assert (view.exam.title, kinds & {QuestionKind.ESSAY, QuestionKind.UPLOAD}) == (
        "Mathematics midterm",
        set(),
    )
    column = ExamTarget.objects.get(
        exam=view.exam, school_class=Enrolment.objects.get(student=student).school_class
    ).column
    assert column is not None
    assert str(column.sheet.school_class) == "9A"
    client = Client()
    client.force_login(teacher)
    assert view.exam.title in client.get(f"/marksheets/{column.sheet_id}/").content.decode()


@pytest.mark.parametrize(("hours", "said"), [(0, WALK), (9, NO_WALK)])
def test_start_sends_nobody_into_an_exam_that_has_closed(hours: int, said: str, database_url: str) -> None:
    _load(students=1)
    Exam.objects.update(
        closes_at=F("closes_at") - dt.timedelta(hours=hours),
        opens_at=F("opens_at") - dt.timedelta(hours=hours),
    )
    with psycopg.connect(database_url) as connection:
        lines = list_people("http://here", can_walk=find_walk(connection))
    assert lines[-1] == f"  the walk   {said}"


def test_start_names_nobody_where_there_is_no_demo_school(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        assert list_people("http://here", can_walk=find_walk(connection)) == []


def test_demo_is_the_same_for_the_same_seed() -> None:
    _load()
    first = _picture()
    call_command("flush", interactive=False, verbosity=0)
    _load()
    assert _picture() == first


def test_demo_accounts_sign_in_with_the_stated_password() -> None:
    _load(students=2)
    for username in ("admin", "teacher1", "student1"):
        assert Client().login(username=username, password="handover-demo")


def test_demo_works_with_a_single_student() -> None:
    _load(students=1)
    assert User.objects.filter(role=Role.STUDENT).count() == 1


def test_demo_is_refused_where_people_are_already() -> None:
    _load(students=1)
    with pytest.raises(CommandError, match="only loaded into an empty one"):
        _load()


def test_demo_is_refused_without_debug_or_the_flag(settings: Any) -> None:
    settings.DEBUG = False
    with pytest.raises(CommandError, match="--allow-known-passwords"):
        _load(allow_known_passwords=False)
    assert not User.objects.exists()


@pytest.mark.parametrize("students", [0, -1, 10**6])
def test_demo_is_refused_for_an_impossible_number_of_students(students: int) -> None:
    with pytest.raises(CommandError, match="must be between"):
        _load(students=students)
