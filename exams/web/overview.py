"""The student's exams, and the page before an exam: its rules, and what starting now would mean."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from exams.queries.exams import confirm_what_is_over, get_exam, list_exams
from exams.queries.papers import get_current_paper
from exams.web.cards import Card, sort_exams
from exams.web.doors import for_students
from gradebook.models import User


@require_GET
@for_students
def show_mine(request: HttpRequest, student: User) -> HttpResponse:
    """Show the exams this student may sit, sorted into now, later and over."""
    return render(request, "exams/mine.html", {"board": sort_exams(list_exams(student_id=student.pk))})


@require_GET
@for_students
def show_one(request: HttpRequest, student: User, exam_id: UUID) -> HttpResponse:
    """Show one exam's rules, the personal deadline of an attempt begun now, and the button that begins it."""
    view = get_exam(exam_id=exam_id, student_id=student.pk)
    confirm_what_is_over([view])
    deadline = view.times.deadline(started_at=view.read_at) if view.may_start else None
    context = {
        "card": Card(view),
        "view": view,
        "exam": view.exam,
        "paper": get_current_paper(exam_id),
        "deadline": deadline,
        "working_time": deadline and deadline.closes_at - view.read_at,
    }
    return render(request, "exams/exam.html", context)
