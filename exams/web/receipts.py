"""A student's receipts: what was accepted, when, and how anybody can check that without us."""

import json
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from exams.queries.attempts import get_attempt
from exams.queries.feedback import list_feedback
from exams.queries.receipts import describe_receipt, find_place, get_receipt, list_receipts
from exams.web.doors import for_students
from gradebook.models import User


@require_GET
@for_students
def show_list(request: HttpRequest, student: User) -> HttpResponse:
    """Show this student's receipts, newest first."""
    return render(request, "exams/receipts.html", {"receipts": list_receipts(student_id=student.pk)})


@require_GET
@for_students
def show_one(request: HttpRequest, student: User, receipt_id: UUID) -> HttpResponse:
    """Show one receipt, and how far its grading is."""
    receipt = get_receipt(receipt_id=receipt_id, student_id=student.pk)
    view = get_attempt(attempt_id=receipt.attempt_id, student_id=student.pk)
    context = {
        "receipt": receipt,
        "document": describe_receipt(receipt, find_place(receipt)),
        "view": view,
        "feedback": None if receipt.withdrawn_at else list_feedback(view),
        "student": student,
    }
    return render(request, "exams/receipt.html", context)


@require_GET
@for_students
def download(request: HttpRequest, student: User, receipt_id: UUID) -> HttpResponse:
    """Hand out the receipt as a file, as the API gives it and `manage.py verify_receipt` reads it."""
    receipt = get_receipt(receipt_id=receipt_id, student_id=student.pk)
    document = describe_receipt(receipt, find_place(receipt))
    file = HttpResponse(json.dumps(document, indent=2), content_type="application/json")
    file["Content-Disposition"] = f'attachment; filename="receipt-{receipt_id}.json"'
    return file
