"""Pages whose scripts did not start say so: nobody waits for questions that never come, while their time runs."""

from playwright.sync_api import Page, expect

from exams.services.attempts import start_attempt
from gradebook.models import User
from tests import factories
from tests.journeys.sitting import OpenPage, cut, give_exam
from tests.people import World

OLDER = "delete Array.prototype.findLast"


def expect_unstarted(page: Page, words: str) -> None:
    """The page, loaded again, says these words."""
    page.reload()
    expect(page.locator("[data-unstarted]")).to_contain_text(words, use_inner_text=True)


def test_exam_says_that_it_did_not_start_before_and_after_the_time_runs(
    open_page: OpenPage, world: World, student: User
) -> None:
    exam = give_exam(world)
    page = open_page(student, f"/exams/{exam.pk}/")
    expect(page.get_by_role("button", name="Start…")).to_be_visible()
    expect(page.locator("[data-unstarted]")).to_be_hidden()
    page.route("**/open-dialog*.js", cut)
    expect_unstarted(page, "cannot be started in this browser, and your time is not running yet")

    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    page.goto(f"/exams/attempts/{attempt.pk}/")
    expect(page.get_by_text("Question 1", exact=True)).to_be_visible()
    expect(page.locator("[data-unstarted]")).to_be_hidden()
    page.route("**/sitting/autosave*.js", cut)
    expect_unstarted(page, "your time is running")
    page.unroute("**/sitting/autosave*.js")
    page.add_init_script(OLDER)
    expect_unstarted(page, "your time is running")


def test_mark_sheet_that_cannot_be_typed_in_says_so(
    open_page: OpenPage, world: World, teacher: User, student: User
) -> None:
    factories.column(world.sheet, title="Essay")
    page = open_page(teacher, f"/marksheets/{world.sheet.pk}/")
    expect(page.locator("[data-unstarted]")).to_be_hidden()
    page.route("**/marksheet/saver*.js", cut)
    expect_unstarted(page, "entering them did not start")
