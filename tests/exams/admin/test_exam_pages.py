"""Exams and their files in the admin: created on the clock of their school, imported whole or not at all, with columns for their results."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from exams.models import Exam, ExamRevision
from gradebook.models import Column
from tests import factories
from tests.exams.admin.forms import inline, page, told
from tests.people import World

pytestmark = pytest.mark.django_db


def test_exam_is_created_on_the_clock_of_its_courses_school(desk: Client, world: World) -> None:
    data = {
        "title": "Geography",
        "course": world.course.pk,
        "period": world.period.pk,
        "opens_at_0": "2026-12-01",
        "opens_at_1": "09:00",
        "closes_at_0": "2026-12-01",
        "closes_at_1": "11:00",
        "time_limit": "45",
        "grace_seconds": "30",
        "late_seconds": "0",
        "attempts_allowed": "1",
        "counting_attempt": "best",
    }
    response = desk.post(page("exam_add"), data | inline("targets", {"school_class": world.school_class.pk}))

    exam = Exam.objects.get()
    assert response.status_code == 302
    assert (exam.school, exam.targets.get().school_class) == (world.school, world.school_class)
    assert exam.opens_at.isoformat() == "2026-12-01T07:00:00+00:00"  # Helsinki is two hours ahead
    assert exam.time_limit is not None
    assert exam.time_limit.total_seconds() == 45 * 60
    shown = desk.get(page("exam_change", exam.pk)).content.decode()
    assert 'value="09:00:00"' in shown
    assert "On the clock of Hill School, Europe/Helsinki." in shown
    assert 'name="time_limit" value="45"' in shown


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"closes_at_1": "08:00"}, "An exam closes after it opens."),
        ({"period": "other"}, "This period belongs to another school"),
        ({"attempts_allowed": "0"}, "At least one attempt must be allowed."),
        ({"time_limit": "0"}, "greater than or equal to 1"),
        ({"opens_at_0": "0001-01-01", "opens_at_1": "00:00"}, "A year from 2000 to 2199."),
        ({"closes_at_0": "9999-12-31"}, "A year from 2000 to 2199."),
        ({"grace_seconds": "2147483647"}, "At most 2,592,000 seconds, which is 30 days."),
        ({"late_seconds": "2592001"}, "At most 2,592,000 seconds, which is 30 days."),
    ],
)
def test_exam_that_makes_no_sense_is_refused_in_words(
    desk: Client, world: World, changes: dict[str, Any], message: str
) -> None:
    other = factories.period(world.other_school)
    data: dict[str, Any] = {
        "title": "Geography",
        "course": world.course.pk,
        "period": world.period.pk,
        "opens_at_0": "2026-12-01",
        "opens_at_1": "09:00",
        "closes_at_0": "2026-12-01",
        "closes_at_1": "11:00",
        "grace_seconds": "0",
        "late_seconds": "0",
        "attempts_allowed": "1",
        "counting_attempt": "best",
    } | {name: other.pk if value == "other" else value for name, value in changes.items()}

    response = desk.post(page("exam_add"), data | inline("targets"))

    assert message in response.content.decode()
    assert not Exam.objects.exists()


def test_saving_an_exam_unchanged_moves_nothing(desk: Client, world: World) -> None:
    opens_at = timezone.now().replace(microsecond=0)
    exam = factories.exam(
        course=world.course, period=world.period, opens_at=opens_at, closes_at=opens_at + timedelta(hours=2)
    )
    attempt = factories.attempt(factories.published_revision(exam))
    shown = desk.get(page("exam_change", exam.pk)).context["adminform"].form
    data: dict[str, Any] = {
        name: shown.get_initial_for_field(field, name) for name, field in shown.fields.items()
    }
    for name in ("opens_at", "closes_at"):
        moment = data.pop(name).astimezone(ZoneInfo("Europe/Helsinki"))
        data |= {f"{name}_0": moment.date(), f"{name}_1": moment.time()}
    target = exam.targets.get()
    row = {"id": target.pk, "exam": exam.pk, "school_class": target.school_class_id}
    sent = {name: "" if value is None else value for name, value in data.items()}

    response = desk.post(page("exam_change", exam.pk), sent | inline("targets", row, initial=1))

    assert response.status_code == 302
    before = (exam.opens_at, exam.closes_at, exam.course_id)
    exam.refresh_from_db()
    attempt.refresh_from_db()
    assert (exam.opens_at, exam.closes_at, exam.course_id) == before
    assert attempt.version == 1


def test_revision_is_started_from_its_exam(desk: Client, revision: ExamRevision) -> None:
    response = desk.post(page("exam_revise", revision.exam_id))

    started = ExamRevision.objects.get(number=2)
    assert response.headers["Location"] == page("examrevision_change", started.pk)
    assert started.exam == revision.exam


def test_file_is_imported_into_the_revision(desk: Client, revision: ExamRevision) -> None:
    file = SimpleUploadedFile("q.gift", b"Read well.\n\n::A:: a? {=b ~c}\n\nd? {T}\n")

    response = desk.post(page("examrevision_import", revision.pk), {"file": file})

    revision.refresh_from_db()
    assert response.headers["Location"] == page("examrevision_change", revision.pk)
    assert told(response) == [
        "Line 1, “Read well.”: has no answers, so it became the instructions.",
        "2 questions imported.",
    ]
    assert (revision.instructions, revision.questions.count()) == ("Read well.", 2)


def test_file_with_a_fault_is_refused_whole(desk: Client, revision: ExamRevision) -> None:
    file = SimpleUploadedFile("q.gift", b"::A:: a? {=b ~c}\n\n::B:: d? {1:SA:=x}\n")

    content = desk.post(page("examrevision_import", revision.pk), {"file": file}).content.decode()

    assert "Nothing was imported. 1 fault in the file:" in content
    assert "Line 3, “B”: this is a question with gaps (cloze), which is not supported." in content
    assert not revision.questions.exists()


def test_columns_are_opened_for_every_class_and_take_the_results(desk: Client, world: World) -> None:
    exam = factories.exam(course=world.course, period=world.period, title="Geography")
    factories.target(exam, world.school_class)
    factories.target(exam)

    assert told(desk.post(page("exam_columns", exam.pk)))[-1].startswith("Publish the exam first")
    factories.published_revision(exam)
    desk.post(page("exam_columns", exam.pk))
    again = desk.post(page("exam_columns", exam.pk))

    columns = Column.objects.filter(source_id=exam.pk)
    assert {(c.title, c.max_points, c.source) for c in columns} == {("Geography", Decimal(7), "exam")}
    assert {target.column for target in exam.targets.all()} == set(columns)
    assert columns.filter(sheet=world.sheet).count() == 1
    assert told(again)[-1] == "0 columns opened in the mark sheets."


def test_static_files_of_these_pages_are_where_their_templates_say() -> None:
    folder = Path("exams/static/exams")

    missing = [
        name
        for name in ("authoring.css", "preview.css", "preview.js", "question.js")
        if not (folder / "admin" / name).exists()
    ]
    assert missing == []
    assert (folder / "sitting" / "question-form.js").exists()
