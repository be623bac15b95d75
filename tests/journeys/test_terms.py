"""The end of a term in a browser: locked while a page is open, one mark amended with two signatures, its card issued anew."""

import pytest
from playwright.sync_api import Page, expect

from gradebook.models import Column, User
from outbox.log.sequencer import sequence_events
from tests import factories
from tests.gradebook.marks import save, shown
from tests.journeys.conftest import OpenPage
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def head(world: World) -> User:
    return factories.admin(school=world.school, first_name="Helmi", last_name="Rehtori")


@pytest.fixture
def column(world: World, student: User, teacher: User) -> Column:
    column = factories.column(world.sheet, title="Essay", max_points=20)
    save(column, student, "17", by=teacher)
    return column


def _open(page: Page, site: str, path: str) -> Page:
    page.goto(f"{site}{path}")
    return page


def test_locked_term_is_amended_and_the_stale_card_is_issued_anew(
    site: str, open_page: OpenPage, world: World, column: Column, student: User, teacher: User, head: User
) -> None:
    sheet = _open(open_page(teacher), site, f"/marksheets/{world.sheet.pk}/")
    office = _open(open_page(head), site, f"/terms/{world.period.pk}/")
    office.get_by_role("button", name=f"Lock {world.period.name}").click()
    expect(office.get_by_role("heading", name="The marks of this term stand still")).to_be_visible()

    # A page that was open before: what is typed is refused, in words, and not lost.
    cell = sheet.locator("td").first
    cell.click()
    sheet.keyboard.type("19")
    sheet.keyboard.press("Enter")
    expect(sheet.locator("[data-status-text]")).to_contain_text("This term is locked")
    expect(cell).to_contain_text("19")
    assert shown(column, student) == "17"

    sequence_events()
    cards = _open(office, site, f"/terms/{world.period.pk}/cards/{world.school_class.pk}/")
    cards.get_by_role("button", name="Issue cards").click()
    expect(cards.get_by_text("1 issued, 0 replaced, 0 still hold.")).to_be_visible()

    sheet.on("dialog", lambda dialog: dialog.accept())  # "leave this page?": something typed is not saved
    desk = _open(sheet, site, f"/marksheets/{world.sheet.pk}/")
    expect(desk.locator("[data-notice=unsaved]")).to_contain_text(f"{student.full_name}, Essay: 19")
    desk.locator("header").get_by_role("link", name="Propose an amendment").click()
    desk.get_by_label("Student").select_option(label=student.full_name)
    desk.get_by_label("Column").select_option(value=str(column.pk))
    desk.get_by_label("New mark").fill("18")
    desk.get_by_label("Reason").fill("Miscounted.")
    desk.get_by_role("button", name="Propose").click()
    expect(desk.get_by_text("somebody else signs it")).to_be_visible()
    proposal = desk.url.removeprefix(site)

    office = _open(office, site, proposal)
    expect(office.get_by_text(f"the report card of {student.full_name}")).to_be_visible()
    office.get_by_role("button", name="Sign: change the mark").click()
    expect(office.get_by_text("Signed: the mark is changed.")).to_be_visible()
    assert shown(column, student) == "18"

    sequence_events()
    cards = _open(office, site, f"/terms/{world.period.pk}/cards/{world.school_class.pk}/")
    expect(cards.get_by_text("out of date")).to_be_visible()
    expect(cards.get_by_text("Essay: 17 of 20 → 18 of 20")).to_be_visible()
    cards.get_by_role("button", name="Issue cards").click()
    expect(cards.get_by_text("0 issued, 1 replaced, 0 still hold.")).to_be_visible()
    expect(cards.get_by_text("holds", exact=True)).to_be_visible()
