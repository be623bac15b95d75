"""Two people have the same page of the administration open: the later save does not put older values back (O17), and loses nothing typed."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from exams.admin.exam_forms import ExamForm
from exams.models import Exam, ExamRevision, Question
from gradebook.errors import ChangedMeanwhile
from tests.exams.admin.forms import add_question, inline, page

pytestmark = pytest.mark.django_db


def _open(desk: Client, address: str) -> dict[str, Any]:
    """Return what the form of a page sends when nothing is touched."""
    form = desk.get(address).context["adminform"].form
    sent: dict[str, Any] = {}
    for bound in form:
        value = bound.value()
        parts = bound.field.widget.decompress(value) if hasattr(bound.field.widget, "decompress") else [value]
        names = [f"{bound.name}_{place}" for place in range(len(parts))] if len(parts) > 1 else [bound.name]
        sent |= {
            name: part
            for name, part in zip(names, parts, strict=True)
            if part is not None and part is not False
        }
    return sent


def test_exam_keeps_the_close_that_a_colleague_has_moved(desk: Client, exam: Exam) -> None:
    address = page("exam_change", exam.pk)
    target = exam.targets.get()
    classes = inline(
        "targets", {"id": target.pk, "exam": exam.pk, "school_class": target.school_class_id}, initial=1
    )
    mine = _open(desk, address) | classes | {"title": "Renamed"}
    moved_to = exam.closes_at + timedelta(hours=1)
    Exam.objects.filter(pk=exam.pk).update(closes_at=moved_to)

    refused = desk.post(address, mine)

    assert refused.context["adminform"].form.non_field_errors() == [ChangedMeanwhile().detail]
    assert 'value="Renamed"' in refused.content.decode()
    exam.refresh_from_db()
    assert (exam.title, exam.closes_at) == ("Exam", moved_to)
    assert desk.post(address, _open(desk, address) | classes | {"title": "Renamed"}).status_code == 302
    exam.refresh_from_db()
    assert exam.title == "Renamed"


def test_exam_that_changes_while_it_is_being_saved_is_not_overwritten(exam: Exam) -> None:
    form = ExamForm(instance=Exam.objects.get(pk=exam.pk))
    form.require_unchanged()
    Exam.objects.filter(pk=exam.pk).update(grace_seconds=30)
    with pytest.raises(ChangedMeanwhile):
        form.require_unchanged()


@pytest.mark.parametrize("theirs", ["text", "answer"])
def test_question_keeps_what_a_colleague_has_written(
    desk: Client, revision: ExamRevision, theirs: str
) -> None:
    for text in ("First?", "Second?"):
        add_question(desk, revision, {"text": "a", "is_right": "on"}, {"text": "b"}, text=text)
    question, other = Question.objects.order_by("position")
    address = page("question_change", question.pk)
    rows = [
        {"id": each.pk, "question": question.pk, "text": each.text, "order": each.position}
        for each in question.options.all()
    ]
    mine = _open(desk, address) | inline("options", *rows, initial=2) | {"title": "Mine"}
    Question.objects.filter(pk=other.pk).update(position=7)  # of no matter here
    if theirs == "text":
        Question.objects.filter(pk=question.pk).update(text="Theirs?")
    else:
        question.options.filter(text="b").update(text="Theirs")

    refused = desk.post(address, mine)

    assert refused.context["adminform"].form.non_field_errors() == [ChangedMeanwhile().detail]
    assert 'value="Mine"' in refused.content.decode()
    question.refresh_from_db()
    assert question.title == ""


def test_page_for_reading_does_not_show_what_was_seen(desk: Client, exam: Exam) -> None:
    question = Question.objects.first()
    assert question is not None
    assert "field-seen" not in desk.get(page("question_change", question.pk)).content.decode()
    assert 'name="seen"' in desk.get(page("exam_change", exam.pk)).content.decode()
