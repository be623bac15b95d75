"""The pages on which a teacher marks what no machine can: my exams, and one exam question by question, student by student.

Plain forms: everything works without JavaScript, which only warns before something typed is left behind. The page may be kept by the
browser, so that Back brings typed points back also when a session had ended; what is stale in it, the versions show.
"""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods

from exams.queries.marking import Desk, get_desk, list_exams_to_mark
from exams.services.marking import mark_answers
from exams.web.doors import for_teachers
from exams.web.points import Row, Typed, draw, draw_again, read_changes, read_posted
from gradebook.models import User
from gradebook.web.grid import read_decimal_sign

PAGE_DIGITS = 6
LONGEST = 40  # what a field takes, and as much as is repeated of it
NOT_SAVED = 422


@require_GET
@for_teachers
def show_exams(request: HttpRequest, teacher: User) -> HttpResponse:
    """Show the exams in which this teacher marks answers by hand, with how many wait."""
    return render(request, "exams/marking/exams.html", {"exams": list_exams_to_mark(by=teacher)})


@require_http_methods(["GET", "POST"])
@for_teachers
def mark_exam(request: HttpRequest, teacher: User, exam_id: UUID) -> HttpResponse:
    """Show a page of answers with their points, or save the points that were typed."""
    question_id, page = request.GET.get("question"), _read_page(request)
    posted = read_posted(request.POST)
    if posted:
        desk = get_desk(exam_id=exam_id, by=teacher, question_id=question_id, only=posted)
        return _save(request, teacher, desk, posted, page)
    desk = get_desk(exam_id=exam_id, by=teacher, question_id=question_id, page=page)
    return _render(request, desk, draw(desk.answers, read_decimal_sign()), page=desk.page)


def _save(
    request: HttpRequest, teacher: User, desk: Desk, posted: dict[UUID, Typed], page: int
) -> HttpResponse:
    """Save what can be; go on to the fresh page if that was all, else show again what was not saved, with the reasons."""
    question_id = desk.question.id if desk.question else ""
    sign = read_decimal_sign()
    reading = read_changes(posted, desk.answers, question_id=question_id, decimal_sign=sign)
    outcome = mark_answers(changes=reading.changes, by=teacher)
    conflicts = {key.submission_id for key in outcome.conflicts}
    here = {answer.submission_id for answer in desk.answers} - {key.submission_id for key in outcome.missing}
    gone = [row for submission_id, row in posted.items() if row.is_change and submission_id not in here]
    _say(request, saved=len(outcome.saved) + len(outcome.unchanged), gone=gone)
    if not (reading.problems or conflicts):
        query = urlencode([("question", question_id), ("page", page)] if question_id else [])
        return redirect(f"{reverse('exams:marking-exam', args=[desk.exam.pk])}?{query}")
    now = get_desk(exam_id=desk.exam.pk, by=teacher, question_id=question_id, only=posted)
    rows = draw_again(draw(now.answers, sign), posted, reading.problems, conflicts)
    return _render(request, now, rows, page=page, status=NOT_SAVED)


def _say(request: HttpRequest, *, saved: int, gone: list[Typed]) -> None:
    if saved:
        messages.success(request, f"Points for {saved} answer{'s'[: saved != 1]} saved.")
    for row in gone:
        messages.error(
            request,
            f"“{row.text[:LONGEST]}” was not saved: that answer is not yours to mark any more. "
            "Its student may have been given more time.",
        )


def _render(
    request: HttpRequest, desk: Desk, rows: list[Row], *, page: int, status: int = 200
) -> HttpResponse:
    context = {
        "desk": desk,
        "rows": rows,
        "page": page,
        "failed": [row for row in rows if row.problem],
        "has_revisions": len({question.revision for question in desk.questions}) > 1,
        "next": next((each for each in desk.questions if each.waiting and each != desk.question), None),
    }
    return render(request, "exams/marking/exam.html", context, status=status)


def _read_page(request: HttpRequest) -> int:
    """Return the page that was asked for, or the first."""
    text = request.GET.get("page", "")
    is_number = text.isascii() and text.isdigit() and len(text) <= PAGE_DIGITS
    return max(1, int(text)) if is_number else 1
