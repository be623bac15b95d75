"""The exam page when the network or the server lets it down: nothing is lost, and nothing is called done that is not."""

import re

import httpx
import pytest
from playwright.sync_api import Page, Request, Route, expect

from exams.models import Attempt, Submission
from exams.services.sign_in import issue_for
from gradebook.models import User
from tests.journeys.sitting import (
    DRAFT,
    ESSAY,
    NUMERIC,
    SHORT,
    SUBMISSION,
    Desk,
    OpenPage,
    cut,
    draft_of,
    expect_says,
    give_exam,
    lose_the_answer,
    open_desk,
    sit,
    submitted_by,
)
from tests.people import World
from tests.waiting import wait_until

SUBMITTED = re.compile(r"\bSubmitted\b")


@pytest.fixture
def desk(open_page: OpenPage, world: World, student: User) -> Desk:
    """An exam of seven questions, just started."""
    return sit(open_page, student, give_exam(world, title="Geography"))


def bodies_sent(page: Page) -> list[str | None]:
    """Return a list that grows with the body of every submission the page sends."""
    bodies: list[str | None] = []

    def note(request: Request) -> None:
        if request.url.endswith("/submission"):
            bodies.append(request.post_data)

    page.on("request", note)
    return bodies


def test_a_submission_whose_answer_is_lost_is_sent_again_and_brings_the_same_receipt(
    desk: Desk, student: User
) -> None:
    page, bodies = desk.page, bodies_sent(desk.page)
    desk.write(SHORT, "Paris")
    page.route(SUBMISSION, lose_the_answer, times=1)
    desk.submit()
    expect_says(desk.outcome, "Not submitted yet")
    expect_says(desk.outcome, re.compile(r"kept on this device, trying again in \d+ s"))
    expect(desk.outcome).not_to_contain_text(SUBMITTED, use_inner_text=True)
    stored = Submission.objects.get()  # it had arrived, which the page cannot know

    page.wait_for_url(f"**/exams/receipts/{stored.pk}/", timeout=30_000)
    assert [submission.pk for submission in Submission.objects.all()] == [stored.pk]
    assert bodies == [bodies[0]] * 2
    assert submitted_by(student) == [{SHORT: "Paris"}]


def test_a_submission_pressed_while_offline_is_sent_when_the_network_is_back(
    desk: Desk, student: User
) -> None:
    desk.write(SHORT, "Paris")
    desk.expect_saved()
    desk.page.context.set_offline(True)
    desk.submit()
    expect_says(desk.outcome, "Not submitted yet")
    assert submitted_by(student) == []

    desk.page.context.set_offline(False)
    desk.page.wait_for_url("**/exams/receipts/*/", timeout=30_000)
    assert submitted_by(student) == [{SHORT: "Paris"}]


def test_a_failed_save_says_nothing_more_once_the_answers_are_being_submitted(
    desk: Desk, student: User
) -> None:
    page = desk.page
    page.route(DRAFT, cut)
    desk.write(SHORT, "Paris")
    expect_says(desk.trouble, "Your last changes are not saved.")
    page.route(SUBMISSION, cut)
    desk.submit()
    expect_says(desk.outcome, "Not submitted yet")
    expect(desk.trouble).to_be_hidden()
    expect(page.locator("[data-save-state]")).to_have_text("", use_inner_text=True)
    assert page.title() == "Geography · Handover"

    page.unroute(SUBMISSION)
    page.wait_for_url("**/exams/receipts/*/", timeout=30_000)
    assert submitted_by(student) == [{SHORT: "Paris"}]


def test_a_page_closed_while_submitting_goes_on_with_the_same_answers_when_it_is_opened_again(
    open_page: OpenPage, desk: Desk, student: User
) -> None:
    desk.write(SHORT, "Paris")
    desk.page.route(SUBMISSION, cut)
    desk.submit()
    expect_says(desk.outcome, "Not submitted yet")

    desk.page.unroute(SUBMISSION)
    desk.page.on("dialog", lambda dialog: dialog.accept())  # "leave this page?"
    desk.page.reload()
    desk.page.wait_for_url("**/exams/receipts/*/", timeout=30_000)
    assert submitted_by(student) == [{SHORT: "Paris"}]


def test_a_busy_server_is_asked_again_no_sooner_than_it_said(desk: Desk, student: User) -> None:
    def shed(route: Route) -> None:
        problem = '{"code": "overloaded", "status": 503, "title": "Busy", "detail": "Busy."}'
        route.fulfill(
            status=503, body=problem, headers={"Retry-After": "7", "Content-Type": "application/problem+json"}
        )

    desk.write(SHORT, "Paris")
    desk.page.route(SUBMISSION, shed, times=1)
    desk.submit()
    expect_says(desk.outcome, re.compile(r"trying again in [789] s"))
    desk.outcome.get_by_role("button", name="Try now").click()  # not before the server allows
    expect_says(desk.outcome, re.compile(r"trying again in \d s"))
    assert submitted_by(student) == []
    desk.page.wait_for_url("**/exams/receipts/*/", timeout=30_000)
    assert submitted_by(student) == [{SHORT: "Paris"}]


def test_a_200_that_is_no_receipt_is_not_believed(desk: Desk, student: User) -> None:
    """A school's network may answer in the server's place until somebody signs in to it."""
    desk.page.route(
        SUBMISSION, lambda route: route.fulfill(status=200, json={"welcome": "to our network"}), times=1
    )
    desk.write(SHORT, "Paris")
    desk.submit()
    expect_says(desk.outcome, "Not submitted yet")
    desk.page.wait_for_url("**/exams/receipts/*/", timeout=30_000)
    assert submitted_by(student) == [{SHORT: "Paris"}]


def test_other_answers_submitted_from_elsewhere_stand_and_are_explained(
    desk: Desk, student: User, site: str
) -> None:
    desk.write(SHORT, "Paris")
    desk.expect_saved()
    attempt = Attempt.objects.get()
    question = (attempt.revision.paper or [])[SHORT - 1]["id"]
    bearer = {"Authorization": f"Bearer {issue_for(user_id=student.pk).access}"}
    url = f"{site}/api/v1/attempts/{attempt.pk}/submission"
    httpx.post(url, json={"answers": {question: "Rome"}}, headers=bearer).raise_for_status()

    desk.submit()
    expect_says(desk.outcome, "Other answers were already submitted")
    expect_says(desk.outcome, str(Submission.objects.get().pk))
    expect(desk.field(SHORT)).to_have_value("Paris")
    assert submitted_by(student) == [{SHORT: "Rome"}]
    desk.outcome.get_by_role("link", name="Open the receipt").click()
    desk.page.wait_for_url("**/exams/receipts/*/")


def test_a_submission_that_is_refused_says_why_and_the_student_goes_on(desk: Desk, student: User) -> None:
    problem = {
        "code": "too_large",
        "status": 413,
        "title": "Too large",
        "detail": "The answers are too large.",
    }
    desk.page.route(SUBMISSION, lambda route: route.fulfill(status=413, json=problem), times=1)
    desk.write(ESSAY, "Much too long")
    desk.submit()
    expect_says(desk.outcome, "Not submitted")
    expect_says(desk.outcome, "The answers are too large. Change that answer and submit again.")

    desk.field(ESSAY).fill("Short")
    desk.expect_saved()
    assert draft_of(student) == {ESSAY: "Short"}
    desk.submit()
    desk.page.wait_for_url("**/exams/receipts/*/", timeout=30_000)
    assert submitted_by(student) == [{ESSAY: "Short"}]


def test_a_failed_save_is_loud_and_the_next_good_one_is_quiet_again(desk: Desk, student: User) -> None:
    page = desk.page
    page.route(DRAFT, cut)
    desk.write(SHORT, "Paris")
    expect_says(desk.trouble, "Your last changes are not saved.")
    expect_says(desk.trouble, re.compile(r"kept on this device. Trying again in \d+ s"))
    expect(page.locator('[aria-live="assertive"]')).to_contain_text("not saved")
    assert page.title().startswith("Not saved!")
    assert draft_of(student) == {}

    page.unroute(DRAFT)
    desk.expect_saved()
    expect(desk.trouble).to_be_hidden()
    assert page.title() == "Geography · Handover"
    assert draft_of(student) == {SHORT: "Paris"}


def test_unsaved_answers_are_back_after_a_reload_and_are_saved(desk: Desk, student: User) -> None:
    page = desk.page
    page.route(DRAFT, cut)
    desk.write(SHORT, "Paris")
    expect(desk.trouble).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect_says(desk.notice("restored"), "question 5")
    expect(desk.field(SHORT)).to_have_value("Paris")
    page.unroute(DRAFT)  # not before: a try between this and the reload would have saved it
    desk.expect_saved()
    assert draft_of(student) == {SHORT: "Paris"}
    assert page.evaluate("Object.keys(localStorage)") == []


def test_a_crashed_browser_gives_back_what_was_typed_a_moment_before(
    open_page: OpenPage, desk: Desk, student: User
) -> None:
    page, context = desk.page, desk.page.context
    context.set_offline(True)
    desk.write(ESSAY, "Last words")
    page.close(run_before_unload=False)
    context.set_offline(False)
    again = context.new_page()
    again.goto(f"/exams/attempts/{Attempt.objects.get().pk}/")
    expect(Desk(again).field(ESSAY)).to_have_value("Last words")
    Desk(again).expect_saved()
    assert draft_of(student) == {ESSAY: "Last words"}


def test_a_save_whose_answer_is_lost_does_not_make_the_page_stale(desk: Desk, student: User) -> None:
    desk.page.route(DRAFT, lose_the_answer, times=1)
    desk.write(SHORT, "Par")
    expect(desk.trouble).to_be_visible()
    desk.write(SHORT, "is")
    desk.expect_saved()
    expect(desk.notice("stale")).to_be_hidden()
    assert draft_of(student) == {SHORT: "Paris"}


def test_a_stale_page_is_refused_keeps_its_text_and_can_go_on(
    open_page: OpenPage, desk: Desk, student: User
) -> None:
    newer = open_desk(open_page, student, Attempt.objects.get())
    newer.write(SHORT, "Rome")
    newer.expect_saved()

    desk.write(SHORT, "Paris")
    expect_says(desk.notice("stale"), "question 5")
    expect(desk.field(SHORT)).to_have_value("Paris")
    expect(desk.state).to_have_text("Not saving", use_inner_text=True)
    assert draft_of(student) == {SHORT: "Rome"}

    desk.notice("stale").get_by_role("button", name="Go on with the answers on this page").click()
    desk.expect_saved()
    assert draft_of(student) == {SHORT: "Paris"}


def test_a_stale_page_that_shows_the_newer_answers_keeps_its_own_at_hand(
    open_page: OpenPage, desk: Desk, student: User
) -> None:
    newer = open_desk(open_page, student, Attempt.objects.get())
    newer.write(SHORT, "Rome")
    newer.expect_saved()
    desk.write(SHORT, "Paris")
    desk.notice("stale").get_by_role("button", name="Show the newer answers").click()
    expect(desk.field(SHORT)).to_have_value("Rome")

    desk.page.reload()  # what was here survives that too
    desk.notice("other-work").get_by_role("button", name="Use those instead").click()
    expect(desk.field(SHORT)).to_have_value("Paris")
    wait_until(lambda: draft_of(student) == {SHORT: "Paris"})


def test_a_stale_page_does_not_submit(open_page: OpenPage, desk: Desk, student: User) -> None:
    newer = open_desk(open_page, student, Attempt.objects.get())
    newer.write(SHORT, "Rome")
    newer.expect_saved()
    desk.write(SHORT, "Paris")
    expect(desk.notice("stale")).to_be_visible()
    desk.page.get_by_role("button", name="Submit…").click()
    expect(desk.page.get_by_role("dialog")).to_be_hidden()
    assert submitted_by(student) == []


def test_text_that_no_database_can_keep_does_not_stop_the_saving(desk: Desk, student: User) -> None:
    desk.field(ESSAY).evaluate(
        r"""(area) => {
            area.value = "a\0b \ud83d c \ud83d\ude00";
            area.dispatchEvent(new InputEvent("input", { bubbles: true }));
        }"""
    )
    desk.expect_saved()
    assert draft_of(student) == {ESSAY: "ab \ufffd c 😀"}


def test_somebody_signed_out_in_another_tab_is_told_and_goes_on_after_signing_in(
    desk: Desk, student: User, site: str
) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=401, json={"code": "invalid_token", "status": 401, "detail": "Sign in."})

    session = desk.page.context.cookies(site)
    desk.page.context.clear_cookies(name="sessionid")
    desk.page.route(DRAFT, refuse, times=1)  # the token ran out as well
    desk.write(NUMERIC, "42")
    expect_says(desk.trouble, "You are signed out, so nothing is saved.")
    expect_says(desk.trouble, "Your answers are kept on this device.")
    assert draft_of(student) == {}

    desk.page.context.add_cookies(session)  # type: ignore[arg-type] # what it gave is what it takes
    desk.expect_saved()
    assert draft_of(student) == {NUMERIC: "42"}
