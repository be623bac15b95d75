"""A teacher asks what a sheet looked like: when its term was locked, before a large save, on a report card, before there was anything."""

import pytest
from playwright.sync_api import Page, expect

from gradebook.models import Column, User
from gradebook.services.marks import save_marks
from gradebook.services.terms import lock_term, open_term
from outbox.consumers.batches import run_batch
from outbox.log.reading import get_head
from outbox.log.sequencer import sequence_events
from projections.history.projector import MarksheetHistory
from tests import factories
from tests.gradebook.marks import change, save
from tests.journeys.conftest import PHONE, OpenPage
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)


def catch_up() -> None:
    sequence_events()
    while run_batch(MarksheetHistory()).more:
        pass


@pytest.fixture
def students(world: World) -> list[User]:
    names = ("Ada Abiola", "Björn Åkesson-Lindström", "Chen Li", "Dana Novák", "Eve Okafor")
    found = [
        factories.student(world.school, first_name=first, last_name=last)
        for first, last in (name.split(" ") for name in names)
    ]
    for student in found:
        factories.enrolment(student, world.school_class)
    return found


@pytest.fixture
def column(world: World, students: list[User], teacher: User) -> Column:
    """All marked in one save; the term locked, opened again, and one mark changed."""
    column = factories.column(world.sheet, title="Essay on rivers and lakes", max_points=20)
    save_marks(sheet=world.sheet, changes=[change(column, each, "12") for each in students], by=teacher)
    head = factories.admin(school=world.school)
    lock_term(period_id=world.period.pk, by=head)
    open_term(period_id=world.period.pk, reason="A recount.", by=head)
    save(column, students[0], "17", 1, by=teacher)
    lock_term(period_id=world.period.pk, by=head)
    catch_up()
    return column


def expect_grid(page: Page, *marks: str) -> None:
    """Wait until the sheet shows these marks, from top to bottom: a click does not wait for the page it leads to."""
    expect(page.locator(".asof__grid tbody td")).to_have_text(marks)


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE}], ids=["desk", "phone"])
def test_teacher_looks_back_at_a_sheet(
    open_page: OpenPage,
    world: World,
    column: Column,
    students: list[User],
    teacher: User,
    options: dict[str, object],
) -> None:
    card_position = str(get_head())
    page = open_page(teacher, f"/marksheets/{world.sheet.pk}/", **options)
    page.get_by_role("link", name="What has changed since").click()
    expect(page.get_by_text("Every cell shows the same at both moments.")).to_be_visible()
    expect(page.get_by_text(str(world.sheet), exact=True)).to_be_visible()
    page.get_by_role("link", name="The sheet before it").click()
    expect_grid(page, "17", "12", "12", "12", "12")  # at lock

    save_region = page.get_by_role("region", name="Around a large save")
    expect(save_region.get_by_text("5 cells")).to_be_visible()
    save_region.get_by_role("link", name="before it").click()
    expect(page.get_by_role("heading", name="No marks yet")).to_be_visible()
    page.get_by_role("link", name="after it").click()
    expect_grid(page, *["12"] * 5)
    page.get_by_role("link", name="what it changed").click()
    expect(page.get_by_text("5 cells show something else.")).to_be_visible()

    page.get_by_label("From").fill("2020-01-01T00:00:00")
    page.get_by_role("button", name="Compare").click()
    row = page.locator(".asof__differences tbody tr").first
    for words in (
        "Ada Abiola",
        "Essay on rivers and lakes",
        "—",
        "17",
        f"{teacher.full_name}, typed in the sheet",
    ):
        expect(row.get_by_text(words, exact=True)).to_be_in_viewport()

    page.get_by_label("Log position").fill(card_position)
    page.get_by_role("button", name="Show the sheet").last.click()
    expect_grid(page, "17", "12", "12", "12", "12")
    width, room = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert width <= room


def test_teacher_is_told_what_is_no_moment_and_what_was_before_everything(
    open_page: OpenPage, world: World, column: Column, teacher: User
) -> None:
    page = open_page(teacher, f"/marksheets/{world.sheet.pk}/as-of/")
    page.get_by_label("Log position").fill("yesterday")
    page.get_by_role("button", name="Show the sheet").last.click()
    expect(page.get_by_role("alert")).to_contain_text("“yesterday” is neither a time")
    page.get_by_label("At", exact=True).fill("2020-01-01T00:00:00")
    page.get_by_role("button", name="Show the sheet").first.click()
    expect(page.get_by_text("At that moment there was no mark in this sheet.")).to_be_visible()
