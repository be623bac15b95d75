"""The operators' console in a browser: it refreshes itself without taking the keyboard away, and its deeds work without a mouse or JavaScript."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from exams.models import Attempt
from gradebook.models import User
from outbox.models import DeadLetter, Job
from tests.journeys.conftest import PHONE
from tests.outbox.queue.burying import bury
from tests.sitting import hand_in
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 20_000  # ms: a refresh, and the seconds the server keeps what it saw


def test_console_shows_what_happens_without_being_reloaded_and_leaves_the_focus_alone(
    open_page: Callable[..., Page], admin: User, attempt: Attempt
) -> None:
    page = open_page(admin, "/console/")
    exam = page.get_by_role("link", name=attempt.exam.title)
    exam.focus()
    expect(page.get_by_text("No job was given up.")).to_be_visible()
    bury(2)
    alarm = "2 jobs were given up and wait for a person."
    expect(page.get_by_role("listitem").filter(has_text=alarm)).to_be_visible(timeout=PATIENCE)
    expect(page.locator("[data-console-news]")).to_contain_text(alarm)  # for who listens to it
    expect(exam).to_be_focused()
    assert page.title().startswith("(")


def test_console_says_when_it_gets_no_answer_and_stops_when_told(
    open_page: Callable[..., Page], admin: User
) -> None:
    page = open_page(admin, "/console/")
    page.context.set_offline(True)
    expect(page.get_by_role("status")).to_have_text(
        "Not refreshed: no answer. What you see is old.", timeout=PATIENCE
    )
    page.context.set_offline(False)
    expect(page.get_by_role("status")).to_have_text("", timeout=PATIENCE)
    page.get_by_role("button", name="Stop refreshing").press("Enter")
    expect(page.get_by_role("button", name="Go on refreshing")).to_be_focused()


def test_dead_letter_is_replayed_by_keyboard_without_javascript(
    open_page: Callable[..., Page], admin: User
) -> None:
    bury()
    page = open_page(admin, "/console/", java_script_enabled=False)
    expect(page.get_by_role("link", name="Reload")).to_be_visible()
    # What the site has just read for somebody else it shows for a moment longer: a letter of another test, about the same subject.
    letter = page.locator(f"a[href$='/dead-letters/{DeadLetter.objects.get().pk}/']")
    wait_until(lambda: page.reload() is not None and letter.is_visible())
    letter.press("Enter")
    page.get_by_role("button", name="Replay").press("Enter")
    expect(page.get_by_text("It is queued again.")).to_be_visible()
    assert Job.objects.count() == 1


@pytest.mark.parametrize("path", ["", "dead-letters/", "consumers/gradebook_marks/"])
def test_console_fits_a_phone(
    open_page: Callable[..., Page], admin: User, attempt: Attempt, path: str
) -> None:
    hand_in(attempt)
    bury(3)
    page = open_page(admin, f"/console/{path}", viewport=PHONE)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow == 0


def test_picture_is_read_out_and_stands_on_a_phone(open_page: Callable[..., Page], admin: User) -> None:
    page = open_page(admin, "/console/")
    picture = page.get_by_role("img", name="Gate: acknowledging. at once; Job queue: 0 ready, 0 running.")
    expect(picture).to_have_count(1)
    lying = picture.bounding_box()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(picture).to_have_count(1)
    standing = picture.bounding_box()
    assert lying is not None
    assert standing is not None
    assert lying["width"] > lying["height"]
    assert standing["width"] < standing["height"]
