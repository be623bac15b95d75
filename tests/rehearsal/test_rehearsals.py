"""What a rehearsal leaves behind: nobody is shown it, and it can be closed, as nothing else can."""

import datetime as dt
import io
from typing import Any

import pytest
from django.contrib import admin as django_admin
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from config.console.overview import list_exams_in_progress
from config.rehearsal.keeping import NotPutAway, PutAway, put_away_rehearsal
from config.rehearsal.school import RehearsalSchool, begin_exam, find_real_exams, make_school
from exams.models import Attempt, Draft, Exam, Submission
from gradebook.models import Course, Notification, School, User
from outbox.db import database_now
from tests import factories
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)

SHOWN = [model for model in django_admin.site._registry if model._meta.app_label in {"gradebook", "exams"}]


@pytest.fixture
def made() -> RehearsalSchool:
    """A rehearsal of three students that has begun: one has handed in, one has a draft, one has been told something."""
    made = make_school(students=3)
    first, second, _ = begin_exam(made, closes_at=database_now() + dt.timedelta(minutes=1))
    hand_in(first)
    Draft.objects.create(attempt=second, answers="{}", token=made.exam.pk, saved_at=database_now())
    Notification.objects.create(
        recipient=made.students[0], topic="x", text="x", address="/", occurred_at=database_now()
    )
    return made


def end(made: RehearsalSchool) -> str:
    """Let the deadline pass; return the school's name."""
    Exam.objects.filter(pk=made.exam.pk).update(closes_at=database_now() - dt.timedelta(seconds=1))
    return made.exam.school.name


def run(*arguments: str) -> str:
    printed = io.StringIO()
    call_command("rehearsals", *arguments, stdout=printed)
    return printed.getvalue()


@pytest.mark.parametrize("model", SHOWN, ids=lambda model: model.__name__)
def test_operator_is_shown_no_row_of_a_rehearsal(client: Client, made: RehearsalSchool, model: Any) -> None:
    client.force_login(factories.admin(username="operator"))
    page = client.get(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"))
    assert page.status_code == 200
    assert "ehears" not in page.content.decode()
    assert [row for row in page.context["cl"].queryset if not isinstance(row, User)] == []


def test_rehearsal_is_in_the_console_until_it_ends_and_called_one(made: RehearsalSchool) -> None:
    running = [(exam.id, exam.is_rehearsal, exam.handed_in) for exam in list_exams_in_progress()]
    end(made)
    assert (running, list_exams_in_progress()) == ([(made.exam.pk, True, 1)], [])


def test_rehearsal_is_no_real_exam_and_an_exam_of_a_school_with_its_name_is_one(
    made: RehearsalSchool,
) -> None:
    school = factories.school(name="Rehearsal Street School")
    exam = factories.published_revision(factories.exam(school=school)).exam
    assert find_real_exams() == [f"{exam.title} (Rehearsal Street School)"]


def test_rehearsal_is_put_away_and_what_cannot_be_deleted_stays(made: RehearsalSchool) -> None:
    name = end(made)
    assert put_away_rehearsal(name) == PutAway(accounts=4, drafts=1, notifications=1)
    assert put_away_rehearsal(name) == PutAway(accounts=0, drafts=0, notifications=0)
    assert User.objects.filter(school=made.exam.school, is_active=True).count() == 0
    assert (Attempt.objects.count(), Submission.objects.count()) == (3, 1)
    with pytest.raises(DatabaseError, match="is immutable"), transaction.atomic():
        Submission.objects.all()._raw_delete(using="default")


def test_nothing_else_is_put_away(made: RehearsalSchool) -> None:
    school = factories.school(name="Rehearsal Street School")
    factories.student(school)
    for name, words in (
        (made.exam.school.name, "is still running"),
        (school.name, "is no rehearsal"),
        ("x", "no school"),
    ):
        with pytest.raises(NotPutAway, match=words):
            put_away_rehearsal(name)
    assert User.objects.filter(is_active=False).count() == 0
    assert (Draft.objects.count(), Notification.objects.count()) == (1, 1)


def test_command_says_that_there_is_none() -> None:
    assert run("list") == "There is no rehearsal in this database.\n"
    assert run("put-away", "--all") == "Every rehearsal has been put away.\n"


def test_command_lists_rehearsals_and_puts_them_away(made: RehearsalSchool) -> None:
    name = end(made)
    listed = run("list")
    assert (
        listed.startswith(f"{name}  closed "),
        listed.endswith(" UTC  3 attempts  4 accounts active\n"),
    ) == (True, True)
    said = run("put-away", "--all").splitlines()
    assert said[0] == f"{name}: 4 accounts deactivated, 1 drafts and 1 notifications deleted."
    assert "can be deleted by nobody" in said[1]
    assert run("list").endswith("  put away\n")
    assert run("put-away", "--all") == "Every rehearsal has been put away.\n"


@pytest.mark.parametrize("arguments", [[], ["--all", "x"], ["x"]])
def test_command_refuses_what_is_no_rehearsal(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        run("put-away", *arguments)


def test_schools_of_earlier_rehearsals_are_marked_and_no_other() -> None:
    """As the migration finds them: by the name they were given and their one course."""
    from importlib import import_module  # noqa: PLC0415 - a module whose name begins with a digit

    from django.apps import apps  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415

    names = (
        "Rehearsal 2026-11-29 10:00:00.000000",
        "Rehearsal 2026-11-29 11:00:00.000000",
        "Rehearsal Street",
    )
    old, _, other = [factories.school(name=name) for name in names]
    for school in (old, other):
        Course.objects.create(school=school, code="REHEARSAL", title="x")
    migration = import_module("gradebook.migrations.0005_mark_rehearsals")
    with connection.schema_editor() as editor:
        migration.mark_those_there_are(apps, editor)
    assert list(School.objects.filter(is_rehearsal=True)) == [old]
