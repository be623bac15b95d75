"""What forms of the admin send."""

from typing import Any

from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from exams.models import ExamRevision


def inline(prefix: str, *rows: dict[str, Any], initial: int = 0) -> dict[str, Any]:
    """Return what an inline formset sends: these rows, of which the first `initial` exist already."""
    data: dict[str, Any] = {f"{prefix}-TOTAL_FORMS": len(rows), f"{prefix}-INITIAL_FORMS": initial}
    for index, row in enumerate(rows):
        data |= {f"{prefix}-{index}-{name}": value for name, value in row.items()}
    return data


def page(name: str, *args: object) -> str:
    """Return the address of a page of the exams in the admin."""
    return reverse(f"admin:exams_{name}", args=args)


def told(response: Any) -> list[str]:
    """Return what the page says above itself."""
    return [str(message) for message in get_messages(response.wsgi_request)]


def add_question(desk: Client, revision: ExamRevision, *options: dict[str, Any], **fields: Any) -> Any:
    """Send the form of a new question: single choice for a point, unless told otherwise."""
    data = {
        "place": 1,
        "kind": "single_choice",
        "text": "Which?",
        "text_format": "plain",
        "points": "1",
    } | fields
    address = f"{page('question_add')}?revision={revision.pk}"
    return desk.post(address, data | inline("options", *options))
