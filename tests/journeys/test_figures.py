"""A teacher looks at how tests came out: from the sheet to its figures, to the table behind a picture, to the exam and back to one class."""

import pytest
from django.db import transaction
from playwright.sync_api import Page, expect

from exams.models import Exam
from gradebook.models import Column, User
from outbox.consumers.batches import run_batch
from outbox.log.publish import publish
from outbox.log.sequencer import sequence_events
from projections.analytics.projector import Analytics
from projections.models import ColumnExam, ExamGroup
from tests import factories
from tests.gradebook.marks import save
from tests.journeys.conftest import PHONE, OpenPage
from tests.people import World
from tests.projections.results import Sat, describe_column

pytestmark = pytest.mark.django_db(transaction=True)

MARKS = ["4", "6", "7.5", "7.5", "9", "absent"]


def catch_up() -> None:
    sequence_events()
    while run_batch(Analytics()).more:
        pass


@pytest.fixture
def essay(world: World, teacher: User) -> Column:
    """A column with marks, and one without."""
    essay, later = (factories.column(world.sheet, title=title, max_points=10) for title in ("Essay", "Later"))
    for text in MARKS:
        student = factories.student(world.school)
        factories.enrolment(student, world.school_class)
        save(essay, student, text, by=teacher)
    with transaction.atomic():
        publish([describe_column(each.pk, world.sheet.pk, title=each.title) for each in (essay, later)])
    catch_up()
    return essay


@pytest.fixture
def exam(world: World, essay: Column) -> Exam:
    """The exam behind the column, sat by the class and by somebody else."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period, title="Rivers")
    factories.target(exam, world.school_class)
    mine = (world.school_class.pk,)
    points = [("2", "2", "4"), ("2", "0", "3"), ("1", "1", "2"), ("0", "2", "1"), ("0", "1", "0")]
    with transaction.atomic():
        publish([Sat(exam.pk, classes=mine).grade(each) for each in points] + [Sat(exam.pk).grade(points[0])])
    catch_up()
    ExamGroup.objects.update(name="5B")
    ColumnExam.objects.create(column_id=essay.pk, exam_id=exam.pk)
    return exam


def expect_no_sideways_scroll(page: Page) -> None:
    width, room = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert width <= room


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE}], ids=["desk", "phone"])
def test_teacher_reads_the_figures_of_a_column_and_of_its_exam(
    open_page: OpenPage, world: World, exam: Exam, teacher: User, options: dict[str, object]
) -> None:
    page = open_page(teacher, f"/marksheets/{world.sheet.pk}/", **options)
    page.get_by_role("link", name="Figures").click()
    expect(page.get_by_text(str(world.sheet), exact=True)).to_be_visible()
    card = page.get_by_role("region", name="Essay")
    expect(card.get_by_text("Marks", exact=True).locator("xpath=following-sibling::dd")).to_have_text("5")
    expect(card.get_by_text("Mean", exact=True).locator("xpath=following-sibling::dd")).to_have_text(
        "6.8 of 10"
    )
    expect(card.get_by_role("img", name="How often each mark occurs")).to_be_visible()
    expect(card.get_by_text("No number: 1 absent.")).to_be_visible()
    expect(
        page.get_by_role("region", name="Later").get_by_text("No marks in this column yet.")
    ).to_be_visible()

    table = card.get_by_role("table")
    expect(table).to_be_hidden()
    card.get_by_text("The same as a table").focus()
    page.keyboard.press("Enter")
    expect(table).to_be_visible()
    rows = [row.split("\t") for row in table.locator("tbody tr").all_inner_texts()]
    assert [(low, number) for low, number in rows if number != "0"] == [
        ("4 to below 5", "1"),
        ("6 to below 7", "1"),
        ("7 to below 8", "2"),
        ("9 to 10", "1"),
    ]
    expect_no_sideways_scroll(page)

    card.get_by_role("link", name="The exam behind it").click()
    scores = page.get_by_role("region", name="Scores")
    expect(scores.get_by_text("Scores", exact=True).last.locator("xpath=following-sibling::dd")).to_have_text(
        "6"
    )
    page.get_by_role("link", name="5B").click()
    expect(scores.get_by_text("Scores", exact=True).last.locator("xpath=following-sibling::dd")).to_have_text(
        "5"
    )
    expect(page.get_by_role("link", name="5B")).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("region", name="Questions").get_by_role("row")).to_have_count(4)
    expect_no_sideways_scroll(page)


def test_teacher_is_told_that_there_are_no_figures_yet(
    open_page: OpenPage, world: World, teacher: User
) -> None:
    page = open_page(teacher, f"/marksheets/{world.sheet.pk}/analytics/", viewport=PHONE)
    expect(page.get_by_role("heading", name="Nothing yet")).to_be_visible()
    expect(page.get_by_role("img", name="How often")).to_have_count(0)
    page.get_by_role("link", name="Back to the mark sheet").click()
    expect(page.get_by_role("heading", name=world.school_class.name)).to_be_visible()
