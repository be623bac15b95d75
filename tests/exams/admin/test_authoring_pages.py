"""From nothing to a published paper in the admin, and what is refused on the way."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from exams.models import Exam, ExamRevision, Question
from exams.services.authoring import list_drafts
from gradebook.models import Column, User
from tests import factories
from tests.exams.admin.forms import inline
from tests.factories.papers import option
from tests.people import World

pytestmark = pytest.mark.django_db


def page(name: str, *args: object) -> str:
    return reverse(f"admin:exams_{name}", args=args)


def told(response: Any) -> list[str]:
    return [str(message) for message in get_messages(response.wsgi_request)]


@pytest.fixture
def revision(world: World) -> ExamRevision:
    """An empty revision of an exam in the school."""
    return factories.draft_revision(factories.exam(course=world.course, period=world.period), [])


def add_question(desk: Client, revision: ExamRevision, *options: dict[str, Any], **fields: Any) -> Any:
    data = {
        "place": 1,
        "kind": "single_choice",
        "text": "Which?",
        "text_format": "plain",
        "points": "1",
    } | fields
    address = f"{page('question_add')}?revision={revision.pk}"
    return desk.post(address, data | inline("options", *options))


def worths(revision: ExamRevision) -> dict[str, Decimal]:
    (draft,) = list_drafts(revision)
    return {option.text: option.fraction for option in draft.options}


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


def test_single_choice_needs_only_a_tick(desk: Client, revision: ExamRevision) -> None:
    add_question(
        desk,
        revision,
        {"text": "Right", "is_right": "on"},
        {"text": "Wrong"},
        {"text": "Half", "fraction": "50"},
    )

    assert worths(revision) == {"Right": Decimal(100), "Wrong": Decimal(0), "Half": Decimal(50)}


def test_multiple_choice_shares_weights_evenly(desk: Client, revision: ExamRevision) -> None:
    ticked = [{"text": text, "is_right": "on"} for text in "abc"]

    add_question(desk, revision, *ticked, {"text": "x"}, {"text": "y"}, kind="multiple_choice")

    third = Decimal("33.33333")
    assert worths(revision) == {"a": third, "b": third, "c": third, "x": Decimal(-50), "y": Decimal(-50)}


def test_multiple_choice_shares_anew_when_a_tick_changes(desk: Client, revision: ExamRevision) -> None:
    add_question(
        desk, revision, {"text": "a", "is_right": "on"}, {"text": "x"}, {"text": "y"}, kind="multiple_choice"
    )
    question = revision.questions.get()
    rows = [
        {
            "id": o.pk,
            "question": question.pk,
            "order": o.position,
            "text": o.text,
            "fraction": f"{o.fraction:f}",
        }
        for o in question.options.all()
    ]
    rows[0]["is_right"] = rows[1]["is_right"] = "on"
    data = {"place": 1, "kind": "multiple_choice", "text": "Which?", "text_format": "plain", "points": "1"}

    desk.post(page("question_change", question.pk), data | inline("options", *rows, initial=3))

    assert worths(revision) == {"a": Decimal(50), "x": Decimal(50), "y": Decimal(-100)}


def test_true_false_is_one_choice_for_its_author(desk: Client, revision: ExamRevision) -> None:
    add_question(desk, revision, kind="true_false", truth="false")

    assert worths(revision) == {"true": Decimal(0), "false": Decimal(100)}


def test_true_false_without_its_truth_is_asked_for_it(desk: Client, revision: ExamRevision) -> None:
    response = add_question(desk, revision, kind="true_false")

    assert "Say whether the statement is true." in response.content.decode()
    assert not revision.questions.exists()


def test_numeric_answer_may_be_one_number(desk: Client, revision: ExamRevision) -> None:
    add_question(
        desk,
        revision,
        {"low": "1822", "is_right": "on"},
        {"low": "1820", "high": "1824", "fraction": "50"},
        kind="numeric",
    )

    options = list(revision.questions.get().options.values_list("low", "high", "fraction"))
    assert [[int(number or 0) for number in row] for row in options] == [[1822, 1822, 100], [1820, 1824, 50]]


def test_answers_are_kept_in_the_order_asked_for(desk: Client, revision: ExamRevision) -> None:
    add_question(
        desk,
        revision,
        {"text": "third", "order": 3},
        {"text": "first", "order": 1, "is_right": "on"},
        {"text": "last"},
        {"text": "second", "order": 2},
    )

    assert list(worths(revision)) == ["first", "second", "third", "last"]


def test_question_goes_to_its_place_and_the_others_move(desk: Client, revision: ExamRevision) -> None:
    for place, text in ((1, "b"), (2, "c"), (1, "a")):
        add_question(desk, revision, text=text, place=place, kind="essay")
    last = revision.questions.get(text="c")
    data = {"place": 1, "kind": "essay", "text": "c", "text_format": "plain", "points": "1"}

    desk.post(page("question_change", last.pk), data | inline("options"))

    assert list(revision.questions.values_list("position", "text")) == [(1, "c"), (2, "a"), (3, "b")]


def test_saving_a_question_says_what_is_still_wrong(desk: Client, revision: ExamRevision) -> None:
    response = add_question(desk, revision, {"text": "a"}, {"text": "b"})

    assert response.headers["Location"] == page("examrevision_change", revision.pk)
    assert "The question “Which?” has no answer worth 100 %." in told(response)
    assert (
        "This question has no answer worth 100 %." in desk.get(response.headers["Location"]).content.decode()
    )


def test_publishing_names_every_problem_and_changes_nothing(desk: Client, revision: ExamRevision) -> None:
    add_question(desk, revision, {"text": "a"}, {"text": "b"}, title="One")
    add_question(desk, revision, title="Two", kind="numeric", place=2)

    response = desk.post(page("examrevision_publish", revision.pk))

    assert told(response)[-2:] == [
        "Question 1 (One): has no answer worth 100 %.",
        "Question 2 (Two): has no answer worth 100 %.",
    ]
    revision.refresh_from_db()
    assert revision.published_at is None


def test_publishing_freezes_paper_and_key(desk: Client, revision: ExamRevision, admin: User) -> None:
    add_question(desk, revision, {"text": "a", "is_right": "on"}, {"text": "b"}, points="2.5")

    response = desk.post(page("examrevision_publish", revision.pk))

    revision.refresh_from_db()
    question = revision.questions.get()
    assert told(response)[-1] == "Published: 2.5 points. It never changes from here on."
    assert (revision.published_by, revision.max_points) == (admin, Decimal("2.5"))
    (entry,) = revision.paper or []
    assert (entry["id"], entry["points"], [choice["text"] for choice in entry["choices"]]) == (
        str(question.pk),
        2.5,
        ["a", "b"],
    )
    assert (revision.key or {})[entry["id"]]["fractions"] == {
        choice["id"]: worth for choice, worth in zip(entry["choices"], ("100", "0"), strict=True)
    }


def test_empty_revision_is_not_published(desk: Client, revision: ExamRevision) -> None:
    assert told(desk.post(page("examrevision_publish", revision.pk))) == ["The revision has no questions."]


def test_published_revision_is_shown_and_never_changed(desk: Client, world: World) -> None:
    revision = factories.published_revision()
    question = revision.questions.all()[0]

    assert (
        "Published: it never changes." in desk.get(page("examrevision_change", revision.pk)).content.decode()
    )
    assert desk.post(page("examrevision_change", revision.pk), {"instructions": "x"}).status_code == 403
    assert desk.post(page("examrevision_delete", revision.pk), {"post": "yes"}).status_code == 403
    assert desk.post(page("question_change", question.pk), {"text": "x"}).status_code == 403
    assert desk.post(page("question_delete", question.pk), {"post": "yes"}).status_code == 403
    assert told(desk.post(page("examrevision_publish", revision.pk)))[-1].startswith(
        "A published revision never changes"
    )
    assert add_question(desk, revision, kind="essay").headers["Location"] == page("examrevision_changelist")
    assert revision.questions.count() == 7


def test_question_saved_after_the_publication_is_refused_in_words(
    desk: Client, revision: ExamRevision
) -> None:
    """The page was opened before the publication; the row is locked and looked at again when it is saved."""
    add_question(desk, revision, kind="essay")
    question = revision.questions.get()
    request_page = page("question_change", question.pk)
    assert desk.get(request_page).status_code == 200
    desk.post(page("examrevision_publish", revision.pk))

    data = {"place": 1, "kind": "essay", "text": "Another", "text_format": "plain", "points": "1"}
    response = desk.post(request_page, data | inline("options"))

    assert response.status_code == 403
    assert Question.objects.get(pk=question.pk).text == "Which?"


def test_published_revision_is_corrected_by_a_copy(desk: Client, world: World) -> None:
    revision = factories.published_revision()

    response = desk.post(page("examrevision_copy", revision.pk))

    copied = ExamRevision.objects.get(number=2)
    assert response.headers["Location"] == page("examrevision_change", copied.pk)
    assert copied.published_at is None
    texts = [[q.text for q in list_drafts(each)] for each in (revision, copied)]
    assert texts[0] == texts[1]
    assert not {q.id for q in list_drafts(revision)} & {q.id for q in list_drafts(copied)}


def test_preview_shows_the_paper_and_for_staff_the_key(desk: Client, world: World) -> None:
    choices = [option("<b>bold</b><script>alert(1)</script>", 100), option("<i>other</i>")]
    question = factories.a_question(
        "single_choice", *choices, text="<p onclick=x>Which?</p>", text_format="html"
    )
    revision = factories.draft_revision(questions=[question, *factories.questions()])

    response = desk.get(page("examrevision_preview", revision.pk))

    (shown, *_) = response.context["paper"]
    assert shown["text"] == "<p>Which?</p>"
    assert [choice["text"] for choice in shown["choices"]] == ["<b>bold</b>", "<i>other</i>"]
    content = response.content.decode()
    assert "<script>alert" not in content
    assert "France → Paris" in content
    assert "3.13 to 3.15" in content


def test_preview_of_a_broken_question_says_what_is_wrong(desk: Client, world: World) -> None:
    revision = factories.draft_revision(questions=[factories.a_question("numeric", option("x"))])

    content = desk.get(page("examrevision_preview", revision.pk)).content.decode()

    assert "has an answer without a number." in content
    assert "no number" in content


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
