"""Times given in the admin reach attempts under way; what students did can only be read; each school sees its own."""

from datetime import timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.contrib.admin import site
from django.test import Client
from django.utils import timezone

from exams.models import Accommodation, Exam, Extension
from gradebook.models import User
from outbox.models import Event
from tests import factories
from tests.exams.admin.forms import inline, page
from tests.people import World

pytestmark = pytest.mark.django_db

MODELS = sorted(
    (model._meta.model_name for model in site._registry if model._meta.app_label == "exams"), key=str
)


@pytest.fixture
def attempt_in_school(world: World, student: User) -> Any:
    """The student's open attempt at an exam with a time limit."""
    exam = factories.exam(course=world.course, period=world.period, time_limit=timedelta(minutes=30))
    factories.target(exam, world.school_class)
    revision = factories.published_revision(exam)
    attempt = factories.attempt(revision, student)
    type(attempt).objects.filter(pk=attempt.pk).update(
        closes_at=attempt.started_at + timedelta(minutes=30),
        grace_until=attempt.started_at + timedelta(minutes=30),
        accepts_until=attempt.started_at + timedelta(minutes=30),
        deadline_rule="time limit 30 min",
    )
    attempt.refresh_from_db()
    return attempt


def test_extension_moves_the_deadline_of_an_attempt_under_way(
    desk: Client, admin: User, attempt_in_school: Any
) -> None:
    data = {
        "exam": attempt_in_school.exam_id,
        "student": attempt_in_school.student_id,
        "school_class": "",
        "kind": "minutes",
        "amount": "10",
        "reason": "The heating broke down.",
    }
    before = attempt_in_school.closes_at

    response = desk.post(page("extension_add"), data)

    attempt_in_school.refresh_from_db()
    assert response.status_code == 302
    assert attempt_in_school.closes_at == before + timedelta(minutes=10)
    assert Extension.objects.get().granted_by == admin
    event = Event.objects.get(kind="DeadlineMoved")
    assert (event.actor_id, event.payload["reason"]) == (admin.pk, "The heating broke down.")


def test_extension_taken_back_moves_the_deadline_back(
    desk: Client, attempt_in_school: Any, admin: User
) -> None:
    before = attempt_in_school.closes_at
    extension = factories.extension(attempt_in_school.exam, admin)
    desk.post(page("extension_delete", extension.pk), {"post": "yes"})

    attempt_in_school.refresh_from_db()
    assert attempt_in_school.closes_at == before
    assert not Extension.objects.exists()


def test_extension_is_never_rewritten(desk: Client, attempt_in_school: Any, admin: User) -> None:
    extension = factories.extension(attempt_in_school.exam, admin)

    assert desk.post(page("extension_change", extension.pk), {"amount": "99"}).status_code == 403


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"amount": "0"}, "An extension adds time."),
        ({"amount": "100001"}, "An extension is at most 100,000 minutes or days."),
        (
            {"school_class": "own"},
            "An extension is for one student, for one class, or (neither named) for everybody.",
        ),
        ({"student": "other"}, "is not of the exam&#x27;s school."),
    ],
)
def test_extension_that_makes_no_sense_is_refused_in_words(
    desk: Client, world: World, attempt_in_school: Any, changes: dict[str, str], message: str
) -> None:
    ids: dict[str, UUID] = {"own": world.school_class.pk, "other": factories.student(world.other_school).pk}
    data = {
        "exam": attempt_in_school.exam_id,
        "student": attempt_in_school.student_id,
        "kind": "minutes",
        "amount": "10",
        "reason": "x",
    } | {name: ids.get(value, value) for name, value in changes.items()}

    assert message in desk.post(page("extension_add"), data).content.decode()
    assert not Extension.objects.exists()


def test_accommodation_moves_the_deadline_of_an_attempt_under_way(
    desk: Client, attempt_in_school: Any
) -> None:
    data = {"student": attempt_in_school.student_id, "extra_time_factor": "1.5", "note": ""}

    desk.post(page("accommodation_add"), data)

    attempt_in_school.refresh_from_db()
    assert attempt_in_school.closes_at == attempt_in_school.started_at + timedelta(minutes=45)
    desk.post(page("accommodation_delete", Accommodation.objects.get().pk), {"post": "yes"})
    attempt_in_school.refresh_from_db()
    assert attempt_in_school.closes_at == attempt_in_school.started_at + timedelta(minutes=30)


def test_closing_time_moved_in_the_admin_reaches_attempts_under_way(desk: Client, world: World) -> None:
    opens_at = timezone.now().replace(microsecond=0)
    exam = factories.exam(
        course=world.course, period=world.period, opens_at=opens_at, closes_at=opens_at + timedelta(hours=1)
    )
    attempt = factories.attempt(factories.published_revision(exam))
    later = exam.closes_at + timedelta(hours=1)
    target = exam.targets.get()
    times = {
        f"{name}_{part}": text
        for name, moment in (("opens_at", opens_at), ("closes_at", later))
        for part, text in enumerate(
            moment.astimezone(ZoneInfo("Europe/Helsinki")).isoformat()[:19].split("T")
        )
    }
    data = {
        "title": exam.title,
        "grace_seconds": "0",
        "late_seconds": "0",
        "attempts_allowed": "1",
        "counting_attempt": "best",
    }
    row = {"id": target.pk, "exam": exam.pk, "school_class": target.school_class_id}

    response = desk.post(page("exam_change", exam.pk), data | times | inline("targets", row, initial=1))

    attempt.refresh_from_db()
    assert (
        response.status_code == 302
    )  # course and period were not sent: they are fixed once somebody has begun
    assert attempt.closes_at == later
    assert Event.objects.get(kind="DeadlineMoved").payload["reason"] == "exam times changed"


def test_scores_are_released_for_the_exams_ticked_and_no_others(desk: Client) -> None:
    ticked, other = factories.exam(), factories.exam()
    released = factories.exam(scores_released_at=timezone.now())
    data = {"action": "release_scores", "_selected_action": [ticked.pk, released.pk]}

    desk.post(page("exam_changelist"), data)

    times = dict(Exam.objects.values_list("pk", "scores_released_at"))
    assert times[ticked.pk] is not None
    assert times[released.pk] == released.scores_released_at
    assert times[other.pk] is None


@pytest.mark.parametrize("model", MODELS)
def test_every_list_and_form_opens(desk: Client, model: str, attempt_in_school: Any) -> None:
    listed = desk.get(page(f"{model}_changelist"))
    added = desk.get(page(f"{model}_add"))

    assert listed.status_code == 200
    read_only = dict.fromkeys(("attempt", "attachmentversion", "examrevision", "result", "submission"), 403)
    expected = read_only | {"question": 302}
    assert added.status_code == expected.get(model, 200)


def test_attempt_is_shown_and_never_changed(desk: Client, attempt_in_school: Any) -> None:
    address = page("attempt_change", attempt_in_school.pk)

    assert desk.get(address).status_code == 200
    assert desk.post(address, {"state": "graded"}).status_code == 403
    assert desk.post(page("attempt_delete", attempt_in_school.pk), {"post": "yes"}).status_code == 403


def test_staff_of_another_school_see_and_change_nothing(
    school_desk: Client, world: World, attempt_in_school: Any
) -> None:
    exam, revision = attempt_in_school.exam, attempt_in_school.revision
    question = revision.questions.all()[0]
    draft = factories.draft_revision(exam)
    shown = [
        page("exam_change", exam.pk),
        page("examrevision_change", revision.pk),
        page("question_change", question.pk),
        page("attempt_change", attempt_in_school.pk),
    ]
    buttons = [
        page("exam_revise", exam.pk),
        page("exam_columns", exam.pk),
        page("examrevision_publish", draft.pk),
        page("examrevision_copy", revision.pk),
        page("examrevision_import", draft.pk),
    ]

    assert {school_desk.get(address).status_code for address in shown} == {
        302
    }  # to the index: there is no such row
    assert school_desk.get(page("examrevision_preview", revision.pk)).status_code == 404
    assert {school_desk.post(address).status_code for address in buttons} == {404}
    assert school_desk.get(f"{page('question_add')}?revision={draft.pk}").status_code == 302
    lists = [school_desk.get(page(f"{model}_changelist")).context["cl"].result_count for model in MODELS]
    assert lists == [0] * len(MODELS)
    choices = school_desk.get(page("extension_add")).context["adminform"].form.fields["exam"].queryset
    assert not choices.exists()
    assert exam.revisions.count() == 2


@pytest.mark.parametrize("who", ["student", "teacher", "nobody"])
def test_admin_pages_are_for_staff_only(who: str, request: pytest.FixtureRequest, world: World) -> None:
    revision = factories.draft_revision()
    client = Client()
    if person := request.getfixturevalue(who):
        client.force_login(person)

    preview = client.get(page("examrevision_preview", revision.pk))
    publish = client.post(page("examrevision_publish", revision.pk))

    assert [
        (answer.status_code, answer.headers["Location"].split("?")[0]) for answer in (preview, publish)
    ] == [(302, "/admin/login/")] * 2
    assert not Exam.objects.filter(revisions__published_at__isnull=False).exists()


def test_exam_list_takes_the_same_number_of_reads_for_one_and_for_three(
    desk: Client, django_assert_num_queries: Any
) -> None:
    factories.published_revision()
    with django_assert_num_queries(9):
        desk.get(page("exam_changelist"))
    factories.published_revision()
    factories.published_revision()
    with django_assert_num_queries(9):
        desk.get(page("exam_changelist"))
