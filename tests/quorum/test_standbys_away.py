"""Both standbys are away and nobody hangs: what can be done again goes on, what a person would be told is said to be unsafe, all end in time."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from config.command_line import UNSAFE
from exams.attachments.objects import delete_doomed, get_storage
from exams.gate.session import Session
from exams.models import Attempt, ObjectState, Result, StoredObject
from gradebook.models import Column, Mark, MarkSheet, User
from outbox.models import Event, EventPosition
from outbox.quorum import get_watch
from tests import factories
from tests.attachments.senders import keep_photo
from tests.exams.gate.sessions import MakeHandIn, make_handin  # noqa: F401 - a fixture
from tests.posting import Poster, sitting_of
from tests.processes.running import Running, list_commands
from tests.quorum.rig import Rig
from tests.quorum.rigged import rig, rig_environment, rigs, session, template  # noqa: F401 - fixtures
from tests.serving import serving
from tests.waiting import wait_until

pytestmark = pytest.mark.process

GRACE = 15  # seconds: half of what the supervisor gives


@pytest.fixture
def teachers_sheet(rig: Rig) -> tuple[User, MarkSheet]:
    """A teacher with a mark sheet of their own."""
    sheet = factories.sheet()
    teacher = factories.teacher(sheet.school)
    factories.assignment(teacher, sheet.school_class, sheet.course, sheet.period)
    return teacher, sheet


@pytest.fixture
def processes(rig: Rig, rig_environment: dict[str, str], tmp_path: Path) -> Iterator[dict[str, Running]]:
    """All that works behind the gate, begun while both standbys are away already."""
    rig.freeze("b", "c")
    with ExitStack() as running:
        yield {
            name: running.enter_context(
                Running(*command, environment=rig_environment, log=tmp_path / f"{name}.log")
            )
            for name, command in list_commands().items()
        }


def await_ends(processes: dict[str, Running]) -> dict[str, int]:
    """Return with what each of them ended, within the grace."""
    wait_until(lambda: all(process.has_ended for process in processes.values()), seconds=GRACE)
    return {name: process.wait() for name, process in processes.items()}


@pytest.fixture
def acknowledged(rig: Rig, session: Session, make_handin: MakeHandIn) -> Attempt:
    """An attempt whose receipt was given while all was well."""
    attempt = factories.attempt()
    school_class = factories.school_class(attempt.student.school)
    factories.enrolment(attempt.student, school_class)
    factories.target(attempt.exam, school_class)
    session.accept([make_handin(attempt, factories.right_answers(attempt.revision))])
    return attempt


def test_what_was_acknowledged_is_graded_meanwhile_and_every_process_ends_when_told(
    rig: Rig, acknowledged: Attempt, processes: dict[str, Running]
) -> None:
    def is_graded_and_numbered() -> bool:
        graded = Result.objects.filter(attempt_id=acknowledged.pk)
        return graded.exists() and EventPosition.objects.count() == Event.objects.count()

    wait_until(is_graded_and_numbered)
    waiting = rig.list_waiting("a")
    wait_until(lambda: all(process.catches(signal.SIGTERM) for process in processes.values()))
    for process in processes.values():
        process.send(signal.SIGTERM)

    assert await_ends(processes) == dict.fromkeys(processes, 0)
    assert waiting == []
    assert [name for name, process in processes.items() if UNSAFE in process.output] == []


def test_gate_ends_in_time_with_a_hand_in_that_waits_for_its_standbys(
    rig: Rig, rig_environment: dict[str, str]
) -> None:
    sittings = [sitting_of(factories.attempt()) for _ in range(2)]
    with serving(rig_environment) as gate, Poster(gate.port) as poster, ThreadPoolExecutor(1) as client:
        poster.hand_in(sittings[0], {"q1": "a"})
        rig.freeze("b", "c")
        asking = client.submit(poster.hand_in, sittings[1], {"q1": "a"})
        wait_until(lambda: rig.list_waiting("a"))
        assert gate.process is not None
        gate.process.terminate()

        assert gate.process.wait(timeout=GRACE) == 0
        assert (asking.result().status, asking.result().code) == (503, "outcome_unknown")


def test_marks_are_said_to_be_saved_only_once_a_standby_has_them(
    rig: Rig, client: Client, teachers_sheet: tuple[User, MarkSheet]
) -> None:
    teacher, sheet = teachers_sheet
    student = factories.student(sheet.school)
    factories.enrolment(student, sheet.school_class)
    columns = [factories.column(sheet), factories.column(sheet)]
    client.force_login(teacher)

    def save(column: Column) -> tuple[int, Any]:
        change = {"column": str(column.pk), "student": str(student.pk), "version": 0, "entry": "7"}
        body = {"by": str(teacher.pk), "term": 1, "decimal_sign": ".", "changes": [change]}
        answer = client.post(reverse("gradebook:marks", args=[sheet.pk]), body, "application/json")
        return answer.status_code, answer.json()

    assert get_watch().find_problem() is None
    rig.freeze("b", "c")
    unknown = save(columns[0])
    wait_until(lambda: get_watch().find_problem() is not None)
    refused = save(columns[1])
    kept = list(Mark.objects.values_list("column_id", flat=True))
    rig.thaw()
    wait_until(lambda: get_watch().find_problem() is None)
    again, later = save(columns[0]), save(columns[1])

    assert (unknown[0], unknown[1]["code"], kept) == (503, "outcome_unknown", [columns[0].pk])
    assert (refused[0], refused[1]["code"]) == (503, "overloaded")
    assert [code for code, _ in (again, later)] == [200, 200], (again, later)
    assert Mark.objects.count() == 2


def test_pages_say_that_nothing_can_be_saved_and_still_let_people_in_and_out(
    rig: Rig, client: Client, teachers_sheet: tuple[User, MarkSheet]
) -> None:
    teacher, sheet = teachers_sheet
    get_watch().start()
    rig.freeze("b", "c")
    wait_until(lambda: get_watch().find_problem() is not None)

    entered = client.post(reverse("login"), {"username": teacher.username, "password": factories.PASSWORD})
    read = client.get(reverse("gradebook:sheet", args=[sheet.pk]))
    refused = client.post(
        reverse("gradebook:add_column", args=[sheet.pk]), {"title": "Essay", "max_points": "9"}
    )
    left = client.post(reverse("logout"))
    given = client.post(
        reverse("api-tokens"),
        {"username": teacher.username, "password": factories.PASSWORD},
        content_type="application/json",
    )

    answers = (entered, read, refused, left, given)
    assert [answer.status_code for answer in answers] == [302, 200, 503, 302, 201]
    assert "Nothing can be saved right now" in refused.content.decode()
    assert int(refused.headers["Retry-After"]) in range(1, 6)
    assert not Column.objects.exists()


def test_command_ends_in_time_and_says_that_its_work_is_not_safe_yet(
    rig: Rig, rig_environment: dict[str, str], tmp_path: Path
) -> None:
    rig.freeze("b", "c")
    chosen = {
        "DJANGO_SUPERUSER_PASSWORD": "a-long-enough-password",
        "DJANGO_SUPERUSER_EMAIL": "a@example.org",
    }

    def make_superuser(name: str) -> tuple[int, list[str]]:
        words = ("createsuperuser", "--noinput", "--username", name)
        with Running(*words, environment=rig_environment | chosen, log=tmp_path / name) as command:
            return command.wait(), command.output.splitlines()

    unsafe = make_superuser("ann")
    rig.thaw()
    safe = make_superuser("ben")

    done = "Superuser created successfully."
    said = [
        line for line in unsafe[1] if "outbox.quorum.watch" not in line
    ]  # which may have noticed it by then
    assert (unsafe[0], sorted(said)) == (0, [done, f"handover: {UNSAFE}"])
    assert safe == (0, [done])
    assert set(User.objects.values_list("username", flat=True)) == {"ann", "ben"}


def test_no_file_is_deleted_before_a_standby_knows_that_nobody_needs_it(rig: Rig) -> None:
    version = keep_photo(factories.attempt(), b"a photo")
    StoredObject.objects.update(state=ObjectState.DOOMED)
    rig.freeze("b", "c")
    StoredObject.objects.update(created_at=Now())

    assert delete_doomed(at_most=10) == 0
    kept = [get_storage().exists(stored.name) for stored in StoredObject.objects.all()]
    rig.thaw()
    wait_until(lambda: delete_doomed(at_most=10) == 1)

    assert kept == [True]
    assert not StoredObject.objects.filter(version=version).exists()
