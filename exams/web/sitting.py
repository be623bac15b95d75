"""The page an exam is sat on. The server gives out a shell; questions, saving and submitting go through the student API."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_POST

from exams.errors import NoAttemptsLeft, NotOpen
from exams.queries.attempts import get_attempt
from exams.services.attempts import start_attempt
from exams.web.doors import for_students
from gradebook.models import User

NO_ID = UUID(int=0)  # the page's script puts the receipt's id in its place


@require_POST
@for_students
def start(request: HttpRequest, student: User, exam_id: UUID) -> HttpResponse:
    """Start an attempt, or go on with the one under way."""
    try:
        started = start_attempt(exam_id=exam_id, student_id=student.pk)
    except (NotOpen, NoAttemptsLeft) as refusal:
        messages.error(request, refusal.detail)
        return redirect("exams:exam", exam_id=exam_id)
    return redirect("exams:sitting", attempt_id=started.attempt.pk)


@require_GET
@never_cache
@ensure_csrf_cookie
@for_students
def show(request: HttpRequest, student: User, attempt_id: UUID) -> HttpResponse:
    """Show an attempt: to be worked on while it is open, else its receipt.

    With `?kept` the page itself is shown also when all is over, for it alone can show what the browser still keeps.
    """
    view = get_attempt(attempt_id=attempt_id, student_id=student.pk)
    if view.submission is not None and "kept" not in request.GET:
        return redirect("exams:receipt", receipt_id=view.submission.pk)
    context = {
        "attempt": view.attempt,
        "exam": view.attempt.exam,
        "instructions": view.attempt.revision.instructions,
        "time_zone": view.attempt.exam.school.time_zone,
        "api_root": "/api/v1/",
        "receipt_url": reverse("exams:receipt", args=[NO_ID]),
        "exam_url": reverse("exams:exam", args=[view.attempt.exam_id]),
    }
    return render(request, "exams/sitting.html", context)
