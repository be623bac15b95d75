"""Time on the exam page: the server's clock, extensions that arrive while it is open, and the deadline itself."""

import datetime as dt

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from exams.models import Attempt, AttemptState, Decision, Exam, ExtensionKind, Origin, Submission
from exams.services.closing import close_overdue_attempts
from exams.services.deadlines import grant_extension
from gradebook.models import User
from tests import factories
from tests.journeys.sitting import (
    DRAFT,
    ESSAY,
    SHORT,
    Desk,
    OpenPage,
    cut,
    draft_of,
    expect_says,
    give_exam,
    now,
    open_desk,
    sit,
    submitted_by,
)
from tests.people import World
from tests.waiting import wait_until

SECOND, MINUTE = dt.timedelta(seconds=1), dt.timedelta(minutes=1)


@pytest.fixture
def exam(world: World) -> Exam:
    return give_exam(world, title="Geography")


def open_with_left(
    open_page: OpenPage,
    student: User,
    exam: Exam,
    left: dt.timedelta,
    *,
    late: dt.timedelta = dt.timedelta(0),
) -> Desk:
    """Open the page of an attempt whose personal deadline is so far away."""
    revision = exam.revisions.get()
    closes_at = now() + left
    attempt = factories.attempt(revision, student, closes_at=closes_at, accepts_until=closes_at + late)
    return open_desk(open_page, student, attempt)


def let_time_pass(attempt: Attempt) -> None:
    """Move the attempt into the past as far as the sweeper waits, and let the server close it."""
    past = now() - MINUTE
    Attempt.objects.filter(pk=attempt.pk).update(closes_at=past, grace_until=past, accepts_until=past)
    close_overdue_attempts()


def test_the_countdown_follows_the_server_and_not_the_devices_clock(
    open_page: OpenPage, exam: Exam, student: User
) -> None:
    attempt = factories.attempt(exam.revisions.get(), student, closes_at=now() + 30 * MINUTE)
    page = open_page(student)
    page.clock.install(time=now() + dt.timedelta(days=3))  # somebody set the laptop's clock
    page.goto(f"/exams/attempts/{attempt.pk}/")
    expect(page.get_by_role("timer")).to_contain_text("29:5")


@pytest.mark.parametrize(
    ("left", "words"), [(10, "10 minutes left."), (5, "5 minutes left."), (1, "One minute left.")]
)
def test_the_last_minutes_are_announced_politely(
    open_page: OpenPage, exam: Exam, student: User, left: int, words: str
) -> None:
    desk = open_with_left(open_page, student, exam, left * MINUTE + 3 * SECOND)
    expect(desk.page.locator('[aria-live="polite"]')).to_have_text(words, timeout=10_000)


def test_an_extension_reaches_the_open_page(
    open_page: OpenPage, exam: Exam, student: User, teacher: User, world: World
) -> None:
    desk = sit(open_page, student, exam)
    expect_says(desk.page.get_by_role("timer"), "59:")
    grant_extension(
        exam_id=exam.pk, kind=ExtensionKind.MINUTES, amount=15, reason="Fire alarm.", by=teacher.pk
    )
    come_back(desk.page)
    expect_says(desk.notice("new-end"), "The end has moved")
    expect_says(desk.page.get_by_role("timer"), "1:14:")
    with timezone.override(world.school.time_zone):
        until = timezone.localtime(Attempt.objects.get().closes_at)
    expect_says(desk.notice("new-end"), f"{until:%H:%M}")


def come_back(page: Page) -> None:
    """Switch to another window and back, some seconds after the page last asked."""
    page.wait_for_timeout(2_100)  # the page deliberately does not ask more often than each two seconds
    page.evaluate("window.dispatchEvent(new Event('focus'))")


def test_at_the_deadline_the_server_hands_in_what_was_saved_and_the_page_says_so(
    open_page: OpenPage, exam: Exam, student: User
) -> None:
    desk = open_with_left(open_page, student, exam, 9 * SECOND)
    desk.write(SHORT, "Paris")
    desk.expect_saved()
    expect_says(desk.outcome, "Time is up")
    expect_says(desk.outcome, "handing them in for you")
    assert submitted_by(student) == []

    let_time_pass(Attempt.objects.get())
    expect_says(desk.outcome, "The server holds your answers")
    submission = Submission.objects.get()
    assert (submission.origin, submission.decision) == (Origin.SERVER, Decision.CLOSED_BY_SERVER)
    desk.outcome.get_by_role("link", name="Open the receipt").click()
    desk.page.wait_for_url(f"**/exams/receipts/{submission.pk}/")
    expect(desk.page.locator("article")).to_contain_text("the server handed in what had been saved")


def test_what_is_not_saved_at_the_deadline_is_submitted_by_the_page_in_time(
    open_page: OpenPage, exam: Exam, student: User
) -> None:
    desk = open_with_left(open_page, student, exam, 7 * SECOND)
    desk.page.route(DRAFT, cut)
    desk.write(SHORT, "Paris")
    desk.page.wait_for_url("**/exams/receipts/*/", timeout=20_000)
    submission = Submission.objects.get()
    assert (submission.origin, submission.decision) == (Origin.STUDENT, Decision.ON_TIME)
    assert submitted_by(student) == [{SHORT: "Paris"}]


def test_what_could_not_be_sent_in_time_stays_on_the_page_and_is_named(
    open_page: OpenPage, exam: Exam, student: User
) -> None:
    desk = open_with_left(open_page, student, exam, 12 * SECOND)
    desk.write(SHORT, "Paris")
    desk.expect_saved()
    desk.page.context.set_offline(True)
    desk.write(ESSAY, "Too late")
    expect_says(desk.outcome, "Not submitted yet")
    let_time_pass(Attempt.objects.get())
    desk.page.context.set_offline(False)
    expect_says(desk.outcome, "The server holds your answers")
    expect_says(desk.outcome, "what this page shows for question 7")
    expect(desk.field(ESSAY)).to_have_value("Too late")
    assert submitted_by(student) == [{SHORT: "Paris"}]


def test_an_exam_with_nothing_saved_is_not_taken(open_page: OpenPage, exam: Exam, student: User) -> None:
    desk = open_with_left(open_page, student, exam, 4 * SECOND)
    expect_says(desk.outcome, "Nothing was saved")
    let_time_pass(Attempt.objects.get())
    expect_says(desk.outcome, "it counts as not taken")
    assert Attempt.objects.get().state == AttemptState.NOT_TAKEN


def test_more_time_granted_after_the_end_opens_the_page_again(
    open_page: OpenPage, exam: Exam, student: User, teacher: User
) -> None:
    desk = open_with_left(open_page, student, exam, 8 * SECOND)
    desk.write(SHORT, "Paris")
    desk.expect_saved()
    expect_says(desk.outcome, "Time is up")
    let_time_pass(Attempt.objects.get())
    expect_says(desk.outcome, "The server holds your answers")

    grant_extension(
        exam_id=exam.pk, kind=ExtensionKind.MINUTES, amount=30, reason="Power cut.", by=teacher.pk
    )
    come_back(desk.page)
    expect(desk.outcome).to_be_hidden(timeout=15_000)
    desk.write(SHORT, "!")
    desk.expect_saved()
    assert draft_of(student) == {SHORT: "Paris!"}


def test_more_time_granted_after_saving_was_refused_lets_the_page_save_again(
    open_page: OpenPage, exam: Exam, student: User, teacher: User
) -> None:
    desk = open_with_left(open_page, student, exam, 20 * MINUTE)
    desk.write(SHORT, "Par")
    desk.expect_saved()
    past = now() - SECOND  # over, but not closed yet
    Attempt.objects.update(closes_at=past, grace_until=past, accepts_until=past)
    desk.write(SHORT, "is")
    expect(desk.state).to_have_text("No longer saved", use_inner_text=True, timeout=15_000)

    grant_extension(
        exam_id=exam.pk, kind=ExtensionKind.MINUTES, amount=30, reason="Power cut.", by=teacher.pk
    )
    come_back(desk.page)
    expect_says(desk.notice("new-end"), "The end has moved")
    desk.expect_saved()
    assert draft_of(student) == {SHORT: "Paris"}


def test_where_late_work_is_accepted_the_page_offers_it_and_submits_only_on_a_press(
    open_page: OpenPage, exam: Exam, student: User
) -> None:
    desk = open_with_left(open_page, student, exam, 8 * SECOND, late=20 * MINUTE)
    desk.write(SHORT, "Paris")
    desk.expect_saved()
    expect_says(desk.outcome, "you may still submit changed answers instead; they count as late")
    desk.outcome.get_by_role("button", name="Go on and submit late").click()
    expect_says(desk.page.locator("[data-countdown]"), "late, accepted until")
    desk.write(SHORT, "!")
    wait_until(lambda: now() > Attempt.objects.get().closes_at)
    desk.submit()
    desk.page.wait_for_url("**/exams/receipts/*/", timeout=20_000)
    assert Submission.objects.get().decision == Decision.LATE
    assert submitted_by(student) == [{SHORT: "Paris!"}]


def test_work_kept_on_the_device_can_be_seen_after_the_end(
    open_page: OpenPage, exam: Exam, student: User
) -> None:
    desk = open_with_left(open_page, student, exam, 10 * MINUTE)
    desk.write(SHORT, "Paris")
    desk.expect_saved()
    context = desk.page.context
    context.set_offline(True)
    desk.write(ESSAY, "Never sent")
    expect(desk.trouble).to_be_visible()
    desk.page.close(run_before_unload=False)
    let_time_pass(Attempt.objects.get())

    context.set_offline(False)
    again = context.new_page()
    again.goto(f"/exams/receipts/{Submission.objects.get().pk}/")
    again.get_by_role("link", name="Look at them").click()
    expect(Desk(again).field(ESSAY)).to_have_value("Never sent")
    expect_says(Desk(again).outcome, "may not be part of what was handed in")
    Desk(again).outcome.get_by_role("button", name="Throw them away").click()
    again.wait_for_url("**/exams/receipts/*/")
    assert again.evaluate("Object.keys(localStorage)") == []
