"""The bell: a student sees that work was received, reads it, and the number goes."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.db import transaction
from playwright.sync_api import Page, expect

from exams.models import Attempt
from gradebook.models import User
from gradebook.services.notifications import notify
from tests.exams.effects.happenings import make_happen
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_student_follows_the_bell_to_the_receipt(
    site: str, open_page: Callable[..., Page], student: User, attempt: Attempt
) -> None:
    hand_in(attempt)
    make_happen()
    page = open_page(student)
    page.goto(f"{site}/exams/")
    bell = page.get_by_role("link", name="Notifications, 1 unread")
    expect(bell).to_be_visible()
    expect(bell.locator("[data-count]")).to_have_text("1")

    bell.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name=f"Your work for {attempt.exam.title} was received.").click()
    expect(page).to_have_url(f"{site}/exams/receipts/{attempt.submissions.get().pk}/")
    expect(page.get_by_role("link", name="Notifications", exact=True)).to_be_visible()


def test_teacher_notes_everything_as_read(site: str, open_page: Callable[..., Page], teacher: User) -> None:
    with transaction.atomic():
        for number in range(3):
            notify(
                recipients=[teacher.pk],
                topic=f"topic {number}",
                text=f"Answers in Physics {number} wait for marking.",
                address="/exams/marking/",
                occurred_at=datetime(2026, 11, 29, 12, number, tzinfo=UTC),
            )
    page = open_page(teacher)
    page.goto(f"{site}/notifications/")
    expect(page.get_by_text("new", exact=True)).to_have_count(3)
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text("new", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Mark all as read")).to_have_count(0)
