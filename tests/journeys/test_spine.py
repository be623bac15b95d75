"""The whole way, once: a student's Submit becomes a mark, two teachers change it, and its history can be read and rebuilt.

Every part is a real process as `make run` starts it; nothing here calls one from inside.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import expect

from exams.models import Exam, Submission
from gradebook.models import Column, ColumnSource, Mark, User
from projections.models import MarkHistory
from tests import factories
from tests.journeys.conftest import OpenPage
from tests.journeys.marking import open_sheet
from tests.journeys.sitting import SUBMISSION, Desk, expect_says, lose_the_answer
from tests.people import World
from tests.processes.running import Running, everything_running
from tests.waiting import wait_until


@pytest.fixture
def processes(site: str, process_environment: Mapping[str, str], tmp_path: Path) -> Iterator[None]:
    """Everything `make run` starts beside the web server."""
    with everything_running(process_environment, tmp_path):
        yield


@pytest.fixture
def exam(world: World) -> Exam:
    """A short exam whose result goes to a column of the class's mark sheet."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period, title="Geography")
    factories.published_revision(exam, factories.questions(2, kinds=("short_text", "true_false")))
    factories.target(
        exam, world.school_class, factories.column(world.sheet, title="Geography", source_id=exam.pk)
    )
    return exam


@pytest.fixture
def colleague(world: World) -> User:
    """Teaches the same class in the same course and period."""
    person = factories.teacher(world.school, first_name="Maija", last_name="Virtanen")
    factories.assignment(person, world.school_class, world.course, world.period)
    return person


@pytest.mark.process
@pytest.mark.usefixtures("processes")
@pytest.mark.timeout(300)
def test_a_submission_becomes_a_mark_that_two_teachers_change_and_history_remembers(
    open_page: OpenPage,
    exam: Exam,
    student: User,
    teacher: User,
    colleague: User,
    process_environment: Mapping[str, str],
    tmp_path: Path,
) -> None:
    column = Column.objects.get(source=ColumnSource.EXAM)

    # A student sits the exam; the network breaks in the middle of Submit.
    page = open_page(student, f"/exams/{exam.pk}/")
    page.get_by_role("button", name="Start…").click()
    page.get_by_role("button", name="Start", exact=True).click()
    sitting = Desk(page)
    sitting.question(1).wait_for()
    sitting.write(1, "Paris")
    sitting.question(2).get_by_label("True").check()
    page.route(SUBMISSION, lose_the_answer, times=1)
    sitting.submit()
    expect_says(sitting.outcome, "Not submitted yet")
    page.wait_for_url("**/exams/receipts/*/", timeout=60_000)

    # The receipt is the first one's; it follows the grading and gets its place in the log.
    submission = Submission.objects.get()
    assert page.url.endswith(f"/exams/receipts/{submission.pk}/")
    expect_says(page.locator("article"), "The result is shown here once your school releases it", seconds=60)
    expect_says(page.locator("article"), "Digest of that tick", seconds=60)

    # The mark is in the sheet; one teacher changes it, another one's change is based on what is no longer there.
    wait_until(lambda: Mark.objects.filter(column=column, student=student).exists(), seconds=60)
    mine, theirs = open_sheet(open_page, teacher, column), open_sheet(open_page, colleague, column)
    mine.expect_cell(student, column, "10")  # both answers right: full marks of the column
    mine.go_to(student, column)
    theirs.go_to(student, column)
    mine.write("7")
    mine.expect_all_saved()
    theirs.write("8")
    expect(theirs.dialog.locator("[data-theirs]")).to_have_text("7")
    theirs.dialog.get_by_role("button", name="Use mine").click()
    theirs.expect_all_saved()

    # History shows all three, newest first; thrown away and rebuilt it says the same.
    wait_until(lambda: MarkHistory.objects.count() == 3, seconds=60)
    theirs.expect_cursor(student, column)
    theirs.press("h")
    drawer = theirs.page.locator("[data-history-drawer]")
    expect(drawer.locator(".history__line")).to_have_count(3)
    lines = drawer.locator(".history__line").all_inner_texts()
    authors = drawer.locator(".history__who").all_inner_texts()
    assert authors == [colleague.full_name, teacher.full_name, "Automatic grading"]

    rebuild = Running(
        "rebuild_projection",
        "marksheet_history",
        environment=process_environment,
        log=tmp_path / "rebuild.log",
    )
    with rebuild:
        assert rebuild.wait() == 0, rebuild.output
    theirs.press("Escape", "h")
    expect(drawer.locator(".history__line")).to_have_count(3)
    assert drawer.locator(".history__line").all_inner_texts() == lines
